//! Callbacks of an easy handle that pass by the engine on their way to the application.
//!
//! In a debug build, each call of the application checks that nothing is borrowed ([`runtime::cell`]); those
//! of event loops and shares call the check themselves. For an archive (WARMWIRE_HAR), heads are collected.

use std::rc::Rc;

use runtime::cell::none_is_borrowed;
use runtime::fd::BorrowedFd;

use crate::callbacks::*;
use crate::why::Heads;

/// Returns the callbacks, wrapped where something watches them.
pub fn watched(callbacks: Rc<dyn Callbacks>, heads: Option<Rc<Heads>>) -> Rc<dyn Callbacks> {
    match heads.is_some() || cfg!(debug_assertions) {
        true => Rc::new(Watched { inner: callbacks, heads }),
        false => callbacks,
    }
}

struct Watched {
    inner: Rc<dyn Callbacks>,
    heads: Option<Rc<Heads>>,
}

/// Functions that call the application.
macro_rules! entries {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self, $($argument: $type),*) $(-> $result)? {
            none_is_borrowed();
            self.inner.$name($($argument),*)
        })*
    };
}

/// Implements the callbacks that only check what is set.
macro_rules! looks {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $result {
            self.inner.$name($($argument),*)
        })*
    };
}

impl Callbacks for Watched {
    entries! {
        write(data: &[u8]) -> WriteAnswer;
        lend(left: u64, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> bool;
        interleaved(packet: &[u8]) -> WriteAnswer;
        header(line: &[u8]) -> Option<WriteAnswer>;
        read(buf: &mut [u8]) -> ReadAnswer;
        read_now(buf: &mut [u8]) -> ReadAnswer;
        seek(offset: u64) -> SeekAnswer;
        progress(counts: ProgressCounts) -> bool;
        prereq(ends: &Endpoints) -> bool;
        resolver_start() -> bool;
        trailers() -> Option<Vec<Rc<[u8]>>>;
        hsts_read() -> HstsAnswer;
        hsts_write(entry: &HstsEntry, index: usize, total: usize) -> bool;
        chunk_begin(entry: &FileInfo, remaining: usize) -> ChunkAnswer;
        chunk_end() -> bool;
        tls_context(address: usize) -> Result<(), i32>;
        fnmatch(pattern: &[u8], name: &[u8]) -> Option<MatchAnswer>;
        redirected(url: &[u8]);
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
        lends() -> bool;
        has_cache() -> bool;
    }

    fn wants_debug(&self) -> bool {
        self.heads.is_some() || self.inner.wants_debug()
    }

    fn traces(&self, layer: &str) -> bool {
        self.inner.wants_debug() && self.inner.traces(layer)
    }

    fn debug(&self, kind: DebugKind, data: &[u8]) {
        if let Some(heads) = self.heads.as_deref().filter(|heads| !heads.paused.get()) {
            let mut exchanges = heads.exchanges.borrow_mut();
            match kind {
                DebugKind::Text => exchanges.noted(data),
                DebugKind::HeaderOut => exchanges.asked(data),
                DebugKind::DataOut => exchanges.sent(data),
                DebugKind::HeaderIn => exchanges.answered(data),
                DebugKind::DataIn | DebugKind::TlsDataIn | DebugKind::TlsDataOut => {}
            }
        }
        if self.heads.is_none() || self.inner.wants_debug() {
            none_is_borrowed();
            self.inner.debug(kind, data);
        }
    }

    fn fail(&self, message: &str) {
        self.inner.fail(message);
    }

    fn sockets(&self) -> Option<&dyn SocketCallbacks> {
        self.inner.sockets().is_some().then_some(self)
    }
}

impl Watched {
    fn with_sockets<R>(&self, f: impl FnOnce(&dyn SocketCallbacks) -> R) -> Option<R> {
        self.inner.sockets().map(f)
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
