//! Share handles (libcurl-share.md). Many threads use them at once: there is no gate, because the engine's
//! share has its own mutexes.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::Share;
use engine::share::Locks;
use tables::{LockAccess, LockData, ShareCode, ShareOption};

use crate::guard::entry;
use crate::handles::Slab;

static SHARES: Slab<ShareHandle> = Slab::new();

type LockFn = unsafe extern "C-unwind" fn(*mut c_void, c_int, c_int, *mut c_void);
type UnlockFn = unsafe extern "C-unwind" fn(*mut c_void, c_int, *mut c_void);

/// The object behind a `CURLSH *`.
struct ShareHandle {
    share: Share,
    functions: Arc<Functions>,
}

/// The application's lock functions, of which the engine has a reference once there are any.
#[derive(Default)]
struct Functions {
    pair: Mutex<(Option<LockFn>, Option<UnlockFn>)>,
    user: AtomicPtr<c_void>,
}

impl Locks for Functions {
    fn lock(&self, data: LockData, handle: usize) {
        let (lock, _) = *self.pair.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = lock {
            let user = self.user.load(Ordering::Acquire);
            // SAFETY: the application's function, made for any thread.
            unsafe { lock(easy(handle), data.id(), LockAccess::Single as c_int, user) }
        }
    }

    fn unlock(&self, data: LockData, handle: usize) {
        let (_, unlock) = *self.pair.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unlock) = unlock {
            let user = self.user.load(Ordering::Acquire);
            // SAFETY: the application's function, made for any thread.
            unsafe { unlock(easy(handle), data.id(), user) }
        }
    }
}

/// The easy handle of that tag; NULL for a call that concerns none.
fn easy(tag: usize) -> *mut c_void {
    ptr::with_exposed_provenance_mut(tag)
}

/// The engine's share behind a handle.
pub fn find(handle: *const c_void) -> Option<Share> {
    with(handle, |share| share.share.clone())
}

fn with<R>(handle: *const c_void, body: impl FnOnce(&ShareHandle) -> R) -> Option<R> {
    let slot = SHARES.find(handle)?;
    // SAFETY: alive; everything in it is made for many threads, and cleanup is refused while handles use it.
    Some(body(unsafe { slot.value() }))
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_share_init() -> *mut c_void {
    entry(ptr::null_mut(), || {
        SHARES.insert(Box::new(ShareHandle { share: Share::default(), functions: Arc::default() }))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_share_cleanup(handle: *mut c_void) -> c_int {
    entry(ShareCode::Nomem.id(), || {
        let Some(share) = find(handle) else { return ShareCode::Invalid.id() };
        // Between the lock functions, as in C: for no easy handle.
        let end = || match share.in_use() {
            true => ShareCode::InUse,
            false => {
                drop(SHARES.remove(handle));
                ShareCode::Ok
            }
        };
        let code = share.around(LockData::Share, 0, end);
        if matches!(code, ShareCode::Ok) {
            share.close();
        }
        code.id()
    })
}

/// The shim's `curl_share_setopt`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_share_setopt(
    handle: *mut c_void,
    option: c_int,
    number: i64,
    pointer: *mut c_void,
) -> c_int {
    entry(ShareCode::Nomem.id(), || {
        let set = |share: &ShareHandle| {
            if share.share.in_use() {
                return ShareCode::InUse;
            }
            match ShareOption::from_id(option) {
                Some(option) => share.set(option, number, pointer),
                None => ShareCode::BadOption,
            }
        };
        with(handle, set).unwrap_or(ShareCode::Invalid).id()
    })
}

impl ShareHandle {
    fn set(&self, option: ShareOption, number: i64, pointer: *mut c_void) -> ShareCode {
        match option {
            ShareOption::Share => return self.set_kind(number, true),
            ShareOption::Unshare => return self.set_kind(number, false),
            ShareOption::UserData => self.functions.user.store(pointer, Ordering::Release),
            ShareOption::LockFunction => {
                // SAFETY: the option's argument is a function of this type, as the manual demands; NULL is
                // None.
                self.functions.pair().0 =
                    unsafe { std::mem::transmute::<*mut c_void, Option<LockFn>>(pointer) };
            }
            ShareOption::UnlockFunction => {
                // SAFETY: as above.
                self.functions.pair().1 =
                    unsafe { std::mem::transmute::<*mut c_void, Option<UnlockFn>>(pointer) };
            }
        }
        self.share.set_locks(Some(self.functions.clone()));
        ShareCode::Ok
    }

    fn set_kind(&self, number: i64, on: bool) -> ShareCode {
        let data = i32::try_from(number).ok().and_then(LockData::from_id);
        match data {
            // The public suffix list is compiled in: everybody shares it anyway.
            Some(
                data @ (LockData::Cookie
                | LockData::Dns
                | LockData::SslSession
                | LockData::Connect
                | LockData::Psl
                | LockData::Hsts),
            ) => {
                self.share.set_kind(data, on);
                ShareCode::Ok
            }
            _ => ShareCode::BadOption,
        }
    }
}

impl Functions {
    fn pair(&self) -> std::sync::MutexGuard<'_, (Option<LockFn>, Option<UnlockFn>)> {
        self.pair.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
