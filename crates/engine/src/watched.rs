//! In a debug build, checks at every call of the application that nothing is borrowed ([`runtime::cell`]).
//! This file has the callbacks of an easy handle; those of event loops and shares call the check themselves.

use std::rc::Rc;

use crate::callbacks::Callbacks;

#[cfg(debug_assertions)]
pub fn watched(callbacks: Rc<dyn Callbacks>) -> Rc<dyn Callbacks> {
    Rc::new(watch::Watched(callbacks))
}

#[cfg(not(debug_assertions))]
pub fn watched(callbacks: Rc<dyn Callbacks>) -> Rc<dyn Callbacks> {
    callbacks
}

#[cfg(debug_assertions)]
mod watch {
    use runtime::fd::BorrowedFd;
    use std::rc::Rc;

    use runtime::cell::none_is_borrowed;

    use crate::callbacks::*;

    pub struct Watched(pub Rc<dyn Callbacks>);

    /// Functions that call the application.
    macro_rules! entries {
        ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
            $(fn $name(&self, $($argument: $type),*) $(-> $result)? {
                none_is_borrowed();
                self.0.$name($($argument),*)
            })*
        };
    }

    /// Implements the callbacks that only check what is set.
    macro_rules! looks {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
            $(fn $name(&self, $($argument: $type),*) -> $result {
                self.0.$name($($argument),*)
            })*
        };
    }

    impl Callbacks for Watched {
        entries! {
            write(data: &[u8]) -> WriteAnswer;
            interleaved(packet: &[u8]) -> WriteAnswer;
            header(line: &[u8]) -> Option<WriteAnswer>;
            read(buf: &mut [u8]) -> ReadAnswer;
            read_now(buf: &mut [u8]) -> ReadAnswer;
            seek(offset: u64) -> SeekAnswer;
            progress(counts: ProgressCounts) -> bool;
            debug(kind: DebugKind, data: &[u8]);
            prereq(ends: &Endpoints) -> bool;
            resolver_start() -> bool;
            trailers() -> Option<Vec<Rc<[u8]>>>;
            hsts_read() -> HstsAnswer;
            hsts_write(entry: &HstsEntry, index: usize, total: usize) -> bool;
            chunk_begin(entry: &FileInfo, remaining: usize) -> ChunkAnswer;
            chunk_end() -> bool;
            tls_context(address: usize) -> Result<(), i32>;
            fnmatch(pattern: &[u8], name: &[u8]) -> Option<MatchAnswer>;
            before_request(request: PlannedRequest<'_>) -> CacheAnswer;
            before_body(status: Option<u16>) -> ReplyAnswer;
            ssh_host_key(found: &HostKey) -> Option<bool>;
            ssh_known_host(known: Option<&HostKey>, found: &HostKey, matches: HostMatch) -> Option<HostVerdict>;
        }
        looks! {
            post_fields_len() -> Option<u64>;
            host_key_judge() -> Option<HostKeyFunctions>;
            post_fields(offset: u64, buf: &mut [u8]) -> usize;
            wants_progress() -> bool;
            wants_debug() -> bool;
            traces(layer: &str) -> bool;
            has_cache() -> bool;
        }

        fn fail(&self, message: &str) {
            self.0.fail(message);
        }

        fn sockets(&self) -> Option<&dyn SocketCallbacks> {
            self.0.sockets().is_some().then_some(self)
        }
    }

    impl Watched {
        fn with_sockets<R>(&self, f: impl FnOnce(&dyn SocketCallbacks) -> R) -> Option<R> {
            self.0.sockets().map(f)
        }
    }

    impl SocketCallbacks for Watched {
        fn open(&self, purpose: Purpose, target: &mut Target, transport: Transport) -> OpenSocketAnswer {
            none_is_borrowed();
            self.with_sockets(|s| s.open(purpose, target, transport)).unwrap_or(OpenSocketAnswer::BySystem)
        }

        fn configure(&self, fd: BorrowedFd<'_>, purpose: Purpose) -> SockoptAnswer {
            none_is_borrowed();
            self.with_sockets(|s| s.configure(fd, purpose)).unwrap_or(SockoptAnswer::Ok)
        }

        fn close_hook(&self) -> Option<CloseHook> {
            let hook = self.with_sockets(|s| s.close_hook()).flatten()?;
            Some(Box::new(move |fd| {
                none_is_borrowed();
                hook(fd);
            }))
        }

        fn kin(&self) -> Option<[usize; 2]> {
            self.with_sockets(|s| s.kin()).flatten()
        }
    }
}
