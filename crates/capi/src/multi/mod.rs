//! The multi handle behind a `CURLM *`: finding it, the gate of each call on it, and its callbacks.
//! `functions` adds and runs, `wait` waits, `events` is driven by an event loop.

mod events;
pub mod functions;
mod wait;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr;

use runtime::cell::RefCell;

use engine::Multi;
use tables::constant::*;
use tables::{Entry, MultiCode, Where};

use crate::easy;
use crate::guard::{Denied, Gate, entry};
use crate::handles::{Slab, Slot};
use crate::sys::RawSocket;
use crate::unwind;

static MULTIS: Slab<MultiHandle> = Slab::new();

/// The object behind a `CURLM *`.
pub struct MultiHandle {
    pub multi: Multi,
    /// The handle as C knows it.
    handle: Cell<*mut c_void>,
    /// For curl_multi_wakeup, which may be called from any thread and bypasses the gate.
    waker: Box<dyn Fn() + Send + Sync>,
    callbacks: EventCallbacks,
    /// The pointers of curl_multi_assign, for each socket that was reported to the application.
    pointers: RefCell<HashMap<RawSocket, *mut c_void>>,
    notify: Notify,
    pub push: Push,
    /// Handles ever added.
    added: Cell<usize>,
}

pub type NotifyFn = unsafe extern "C-unwind" fn(*mut c_void, c_uint, *mut c_void, *mut c_void);

/// CURLMOPT_NOTIFYFUNCTION and its pending notifications.
#[derive(Default)]
struct Notify {
    function: Cell<Option<NotifyFn>>,
    user: Cell<Option<ptr::NonNull<c_void>>>,
    /// Bits of the enabled notifications.
    enabled: Cell<u32>,
    /// Handles that finished since the last notification, and whether messages were added to an empty queue.
    finished: RefCell<Vec<*mut c_void>>,
    messages: Cell<bool>,
}

pub type SocketFn =
    unsafe extern "C-unwind" fn(*mut c_void, RawSocket, c_int, *mut c_void, *mut c_void) -> c_int;
pub type TimerFn = unsafe extern "C-unwind" fn(*mut c_void, c_long, *mut c_void) -> c_int;

/// The callbacks of an event loop, as C gave them.
pub struct EventCallbacks {
    pub socket: Cell<Option<SocketFn>>,
    pub socket_data: Cell<*mut c_void>,
    pub timer: Cell<Option<TimerFn>>,
    pub timer_data: Cell<*mut c_void>,
    /// A callback answered -1.
    pub refused: Cell<bool>,
}

impl Default for EventCallbacks {
    fn default() -> EventCallbacks {
        EventCallbacks {
            socket: Cell::new(None),
            socket_data: Cell::new(ptr::null_mut()),
            timer: Cell::new(None),
            timer_data: Cell::new(ptr::null_mut()),
            refused: Cell::new(false),
        }
    }
}

pub type PushFn =
    unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, usize, *mut c_void, *mut c_void) -> c_int;

/// CURLMOPT_PUSHFUNCTION and CURLMOPT_PUSHDATA.
#[derive(Default)]
pub struct Push {
    pub function: Cell<Option<PushFn>>,
    pub user: Cell<Option<ptr::NonNull<c_void>>>,
}

/// The slot of a living multi handle.
fn find(handle: *const c_void) -> Option<&'static Slot<MultiHandle>> {
    MULTIS.find(handle)
}

/// Pass the gate of a handle and run `body` on it.
fn with<R>(
    handle: *const c_void,
    what: Entry,
    refuse: impl Fn(MultiCode) -> R,
    body: impl FnOnce(&MultiHandle, &'static Gate) -> R,
) -> R {
    entry(refuse(MultiCode::InternalError), || {
        let Some(slot) = find(handle) else {
            return refuse(MultiCode::BadHandle);
        };
        let gate = slot.gate();
        let inside = |nested: bool| {
            // SAFETY: alive, and inside its gate; cleanup is refused from inside.
            let multi = unsafe { slot.value() };
            if !nested && multi.multi.in_run() {
                easy::close_lost(multi.multi.abandon_run()); // the application jumped out of a callback
            }
            body(multi, gate)
        };
        match gate.enter(what, inside) {
            Ok(result) => result,
            Err(Denied::Recursive) => refuse(MultiCode::RecursiveApiCall),
            Err(Denied::Busy) => refuse(MultiCode::BadHandle),
        }
    })
}

/// Like [`with`], for functions that return a CURLMcode.
fn run(
    handle: *const c_void,
    what: Entry,
    body: impl FnOnce(&MultiHandle, &'static Gate) -> MultiCode,
) -> c_int {
    with(handle, what, MultiCode::id, |multi, gate| body(multi, gate).id())
}

impl MultiHandle {
    /// Returns the result of a run, unless the socket callback failed meanwhile: then nothing runs any more.
    pub fn unless_refused(&self, done: (MultiCode, usize)) -> (MultiCode, usize) {
        if !self.callbacks.refused.take() {
            return done;
        }
        self.multi.stop();
        self.multi.report_changes();
        self.callbacks.refused.set(false); // its result for the sockets removed now does not matter
        (MultiCode::AbortedByCallback, 0)
    }

    /// Counts an added handle, however it was added.
    pub fn count_added(&self) {
        self.added.set(self.added.get() + 1);
    }

    /// Collects notifications for the notify callback.
    fn watch_finished(&self, slot: &'static Slot<MultiHandle>) {
        self.multi.set_completed(Some(std::rc::Rc::new(move |easy: &engine::Easy| {
            // SAFETY: called by the engine's multi, which ends with this handle.
            let this = unsafe { slot.value() };
            this.notify.finished.borrow_mut().push(easy::handle_of(easy));
            this.notify.messages.set(true);
        })));
    }

    /// Returns the result of a run. After a panic, the run is repeated without the transfer that panicked.
    fn outlasting(&self, run: impl Fn() -> (MultiCode, usize)) -> (MultiCode, usize) {
        loop {
            let before = self.multi.running();
            match unwind::catch(&run) {
                Some(done) => return done,
                None if self.multi.running() < before => {}
                None => return (MultiCode::InternalError, self.multi.running()),
            }
        }
    }

    /// Calls the notify callback, inside the gate and outside the run.
    fn notify(&self, gate: &Gate) {
        let finished = self.notify.finished.take();
        let messages = self.notify.messages.replace(false);
        let Some(function) = self.notify.function.get() else { return };
        let user = self.notify.user.get().map_or(ptr::null_mut(), |user| user.as_ptr());
        let enabled = |kind: c_uint| self.notify.enabled.get() & 1 << kind != 0;
        let notify = |kind: c_uint, easy: *mut c_void| {
            let handle = self.handle.get();
            // SAFETY: the application's function.
            gate.calling_back(Where::Notify, || unsafe { function(handle, kind, easy, user) });
        };
        const INFO_READ: c_uint = CURLMNOTIFY_INFO_READ as c_uint;
        const EASY_DONE: c_uint = CURLMNOTIFY_EASY_DONE as c_uint;
        for easy in &finished {
            if enabled(EASY_DONE) && easy::find(*easy).is_some() {
                notify(EASY_DONE, *easy);
            }
        }
        if messages && enabled(INFO_READ) {
            notify(INFO_READ, finished.last().copied().unwrap_or(ptr::null_mut()));
        }
    }
}

/// # Safety
/// `running` is NULL or writable.
unsafe fn store_running(running: *mut c_int, count: usize) {
    if !running.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *running = c_int::try_from(count).unwrap_or(c_int::MAX) }
    }
}
