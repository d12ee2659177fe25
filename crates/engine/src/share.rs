//! The share handle: data that several easy handles share, from any thread. Each kind of data has its own
//! mutex, so that sharing is safe even if the application set no lock functions. Those that it set are called
//! around our own locking, because its code may rely on them.
//!
//! tests/share_interleavings.rs compiles this file once more, with locks whose order of steps is decided by a
//! seed.

use std::time::{Duration, Instant};

use net::{ResolveCache, SessionStore, SharedPool};
use tables::share::LockData;
use wire::cookie::Jar;
use wire::hsts;

use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, held, none_is_borrowed};

/// The application's lock functions (CURLSHOPT_LOCKFUNC and CURLSHOPT_UNLOCKFUNC).
pub trait Locks: Send + Sync {
    /// Called before data of this kind is used on behalf of a handle, known by its tag.
    fn lock(&self, data: LockData, handle: usize);
    /// Called after.
    fn unlock(&self, data: LockData, handle: usize);
}

/// A share handle.
#[derive(Clone)]
pub struct Share(Arc<ShareState>);

/// Maximum number and age of a share's idle connections.
pub(crate) const KEPT: usize = 1024;
const IDLE_AGE: Duration = Duration::from_secs(118);

struct ShareState {
    kinds: AtomicU32,
    users: AtomicUsize,
    locks: Mutex<Option<Arc<dyn Locks>>>,
    pool: Arc<SharedPool>,
    resolved: Arc<ResolveCache>,
    sessions: SessionStore,
    cookies: Mutex<Option<Jar>>,
    hsts: Mutex<hsts::Cache>,
}

impl Drop for ShareState {
    /// The last user is gone.
    fn drop(&mut self) {
        self.give_up_connections();
    }
}

impl ShareState {
    /// Moves idle connections to the pool of the process, or closes them in an orderly way (QUIT for FTP).
    fn give_up_connections(&self) {
        match crate::process_pool::heir() {
            Some(heir) => self.pool.move_to(&heir, Instant::now()),
            None => self.pool.close_all(),
        }
    }
}

impl Default for Share {
    fn default() -> Self {
        Share::with_idle_limit(KEPT)
    }
}

impl Share {
    /// Creates a share that keeps at most this number of idle connections.
    pub fn with_idle_limit(most: usize) -> Share {
        Share(Arc::new(ShareState {
            kinds: AtomicU32::new(0),
            users: AtomicUsize::new(0),
            locks: Mutex::default(),
            pool: Arc::new(SharedPool::new(most, IDLE_AGE)),
            resolved: Arc::default(),
            sessions: SessionStore::new(),
            // A share with cookies always has a jar: the cookie engine is on for its handles.
            cookies: Mutex::new(Some(Jar::new())),
            hsts: Mutex::default(),
        }))
    }
    /// Starts or ends the sharing of one kind of data. Data that is no longer shared is dropped, except for
    /// connections and names.
    pub fn set_kind(&self, data: LockData, on: bool) {
        let bit = 1 << data as u32;
        if on {
            self.0.kinds.fetch_or(bit, Ordering::Relaxed);
            return;
        }
        self.0.kinds.fetch_and(!bit, Ordering::Relaxed);
        match data {
            LockData::Cookie => *self.0.cookies.lock().unwrap_or_else(|e| e.into_inner()) = Some(Jar::new()),
            LockData::Hsts => *self.0.hsts.lock().unwrap_or_else(|e| e.into_inner()) = hsts::Cache::default(),
            _ => {}
        }
    }

    /// Whether this kind of data is shared.
    pub fn shares(&self, data: LockData) -> bool {
        self.0.kinds.load(Ordering::Relaxed) & (1 << data as u32) != 0
    }

    /// Installs the application's lock functions.
    pub fn set_locks(&self, locks: Option<Arc<dyn Locks>>) {
        *self.0.locks.lock().unwrap_or_else(|e| e.into_inner()) = locks;
    }

    /// Returns whether easy handles use it: then it can be neither changed nor freed.
    pub fn in_use(&self) -> bool {
        self.0.users.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn attach_handle(&self) {
        self.0.users.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn detach_handle(&self) {
        self.0.users.fetch_sub(1, Ordering::Relaxed);
    }

    /// The connections, when they are shared.
    pub fn pool(&self) -> Option<&Arc<SharedPool>> {
        self.shares(LockData::Connect).then_some(&self.0.pool)
    }

    /// Moves the connections to the pool of the process, or closes them in an orderly way, when the last
    /// handle has left. Like curl, it calls the application's lock functions for them, although there is no
    /// other user.
    pub fn close(&self) {
        if self.pool().is_some() {
            self.around(LockData::Connect, 0, || self.0.give_up_connections());
        }
    }

    /// Looks after the idle connections, when they are shared.
    pub(crate) fn upkeep(&self, interval: Duration, handle: usize) {
        if let Some(pool) = self.pool() {
            self.around(LockData::Connect, handle, || pool.upkeep(interval, Instant::now()));
        }
    }

    /// Looked-up names, when they are shared.
    pub fn resolved(&self) -> Option<&Arc<ResolveCache>> {
        self.shares(LockData::Dns).then_some(&self.0.resolved)
    }

    /// TLS sessions, when they are shared.
    pub fn sessions(&self) -> Option<&SessionStore> {
        self.shares(LockData::SslSession).then_some(&self.0.sessions)
    }

    /// Runs `f` on the shared cookies.
    pub fn with_cookies<R>(&self, handle: usize, f: impl FnOnce(&mut Option<Jar>) -> R) -> R {
        self.around(LockData::Cookie, handle, || {
            let _held = held();
            f(&mut self.0.cookies.lock().unwrap_or_else(|e| e.into_inner()))
        })
    }

    /// Runs `f` on the shared HSTS cache.
    pub fn with_hsts<R>(&self, handle: usize, f: impl FnOnce(&mut hsts::Cache) -> R) -> R {
        self.around(LockData::Hsts, handle, || {
            let _held = held();
            f(&mut self.0.hsts.lock().unwrap_or_else(|e| e.into_inner()))
        })
    }

    /// Calls the application's lock functions around `f`, which works for the handle of that tag (0 for
    /// none).
    pub fn around<R>(&self, data: LockData, handle: usize, f: impl FnOnce() -> R) -> R {
        let locks = self.0.locks.lock().unwrap_or_else(|e| e.into_inner()).clone();
        if let Some(locks) = &locks {
            none_is_borrowed();
            locks.lock(data, handle);
        }
        let result = f();
        if let Some(locks) = &locks {
            none_is_borrowed();
            locks.unlock(data, handle);
        }
        result
    }
}
