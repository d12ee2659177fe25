//! Windows: Winsock's sockets are the descriptors.

pub(crate) mod calls;
pub(crate) mod epoll;
pub(crate) mod eventfd;
pub(crate) mod host;
pub(crate) mod privilege;
pub(crate) mod threads;

/// Makes a type one that lends a descriptor, in the system's way.
macro_rules! lend {
    ($type:ty, $one:ident => $descriptor:expr) => {
        impl std::os::windows::io::AsSocket for $type {
            fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
                let $one = self;
                std::os::windows::io::AsSocket::as_socket($descriptor)
            }
        }

        impl std::os::windows::io::AsRawSocket for $type {
            fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
                let $one = self;
                std::os::windows::io::AsRawSocket::as_raw_socket($descriptor)
            }
        }
    };
}
pub(crate) use lend;
