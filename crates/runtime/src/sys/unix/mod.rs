//! Linux and similar systems.

pub(crate) mod calls;
pub(crate) mod epoll;
pub(crate) mod eventfd;
pub(crate) mod host;
pub(crate) mod privilege;
pub(crate) mod threads;

/// Makes a type one that lends a descriptor, in the system's way.
macro_rules! lend {
    ($type:ty, $one:ident => $descriptor:expr) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                let $one = self;
                std::os::fd::AsFd::as_fd($descriptor)
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                let $one = self;
                std::os::fd::AsRawFd::as_raw_fd($descriptor)
            }
        }
    };
}
pub(crate) use lend;
