//! Multi handles (libcurl-multi.md): adding, running, messages. How they are waited for stands in `wait`, how they are
//! driven by an event loop and set up in `events`.

mod events;
mod wait;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use runtime::cell::RefCell;

use engine::Multi;
use tables::constant::*;
use tables::{Entry, MultiCode, Where};

use crate::easy;
use crate::guard::{Denied, Gate, entry};
use crate::handles::{Slab, Slot};
use crate::push::Push;
use crate::sys::RawSocket;
use crate::{memory, unwind};

static MULTIS: Slab<MultiHandle> = Slab::new();

/// What a `CURLM *` points to.
pub struct MultiHandle {
    pub multi: Multi,
    /// The handle as C knows it.
    handle: Cell<*mut c_void>,
    /// curl_multi_wakeup comes from any thread, past the gate.
    waker: Box<dyn Fn() + Send + Sync>,
    callbacks: events::EventCallbacks,
    /// Sockets that the application was told of, and what curl_multi_assign tied to them.
    told: RefCell<HashMap<RawSocket, *mut c_void>>,
    notify: Notify,
    pub push: Push,
    /// Handles ever added.
    added: Cell<usize>,
}

/// `struct CURLMsg`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Message {
    kind: c_int,
    easy: *mut c_void,
    /// A union of a pointer and a CURLcode.
    data: Data,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Data {
    pointer: *mut c_void,
    result: c_int,
}

impl Default for Message {
    fn default() -> Message {
        Message { kind: CURLMSG_NONE, easy: ptr::null_mut(), data: Data { pointer: ptr::null_mut() } }
    }
}

pub type NotifyFn = unsafe extern "C-unwind" fn(*mut c_void, c_uint, *mut c_void, *mut c_void);

/// CURLMOPT_NOTIFYFUNCTION and what it is told of.
#[derive(Default)]
struct Notify {
    function: Cell<Option<NotifyFn>>,
    user: Cell<Option<ptr::NonNull<c_void>>>,
    /// Bits of the enabled notifications.
    enabled: Cell<u32>,
    /// Handles that finished since the last time, and whether messages came to an empty queue.
    finished: RefCell<Vec<*mut c_void>>,
    messages: Cell<bool>,
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

/// The same for functions that answer a CURLMcode.
fn run(
    handle: *const c_void,
    what: Entry,
    body: impl FnOnce(&MultiHandle, &'static Gate) -> MultiCode,
) -> c_int {
    with(handle, what, MultiCode::id, |multi, gate| body(multi, gate).id())
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_multi_init() -> *mut c_void {
    entry(ptr::null_mut(), || {
        crate::global::prepare_process();
        let multi = Multi::default();
        let waker = Box::new(multi.waker());
        let handle = MULTIS.insert(Box::new(MultiHandle {
            multi,
            handle: Cell::new(ptr::null_mut()),
            waker,
            callbacks: events::EventCallbacks::default(),
            told: RefCell::default(),
            added: Cell::new(0),
            notify: Notify::default(),
            push: Push::default(),
        }));
        if let Some(slot) = find(handle) {
            // SAFETY: just made, known to nobody else.
            let multi = unsafe { slot.value() };
            multi.handle.set(handle);
            multi.watch_finished(slot);
        }
        handle
    })
}

impl MultiHandle {
    /// One more handle was added, by whatever way.
    pub fn count_added(&self) {
        self.added.set(self.added.get() + 1);
    }

    /// Collect what the notify callback is to be told.
    fn watch_finished(&self, slot: &'static Slot<MultiHandle>) {
        self.multi.set_completed(Some(std::rc::Rc::new(move |easy: &engine::Easy| {
            // SAFETY: called by the engine's multi, which ends with this handle.
            let this = unsafe { slot.value() };
            this.notify.finished.borrow_mut().push(easy::handle_of(easy));
            this.notify.messages.set(true);
        })));
    }

    /// What a run comes to. One that a panic ends is begun again without the transfer that it came out of.
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

    /// Tell the notify callback, inside the gate and outside the run.
    fn notify(&self, gate: &Gate) {
        let finished = self.notify.finished.take();
        let messages = self.notify.messages.replace(false);
        let Some(function) = self.notify.function.get() else { return };
        let user = self.notify.user.get().map_or(ptr::null_mut(), |user| user.as_ptr());
        let enabled = |kind: c_uint| self.notify.enabled.get() & 1 << kind != 0;
        let tell = |kind: c_uint, easy: *mut c_void| {
            let handle = self.handle.get();
            // SAFETY: the application's function.
            gate.calling_back(Where::Notify, || unsafe { function(handle, kind, easy, user) });
        };
        const INFO_READ: c_uint = CURLMNOTIFY_INFO_READ as c_uint;
        const EASY_DONE: c_uint = CURLMNOTIFY_EASY_DONE as c_uint;
        for easy in &finished {
            if enabled(EASY_DONE) && easy::find(*easy).is_some() {
                tell(EASY_DONE, *easy);
            }
        }
        if messages && enabled(INFO_READ) {
            tell(INFO_READ, finished.last().copied().unwrap_or(ptr::null_mut()));
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_add_handle(handle: *mut c_void, easy: *mut c_void) -> c_int {
    run(handle, Entry::MultiAddHandle, |multi, gate| {
        let Some(slot) = easy::find(easy) else {
            return MultiCode::BadEasyHandle;
        };
        // SAFETY: alive; a handle that another thread works on is refused below.
        let easy = unsafe { slot.value() };
        if slot.gate().in_use_elsewhere() {
            return MultiCode::BadEasyHandle;
        }
        if easy.easy.multi().is_some() {
            return MultiCode::AddedAlready;
        }
        easy.begin();
        slot.gate().drive(Some(gate));
        let code = multi.multi.add(&easy.easy);
        if code == MultiCode::Ok {
            multi.count_added();
        } else {
            slot.gate().drive(None);
        }
        code
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_remove_handle(handle: *mut c_void, easy: *mut c_void) -> c_int {
    run(handle, Entry::MultiRemoveHandle, |multi, _| {
        let Some(slot) = easy::find(easy) else {
            return MultiCode::BadEasyHandle;
        };
        // SAFETY: alive; it is driven by this multi, inside whose gate we are, or by none.
        let easy = unsafe { slot.value() };
        let mine = easy.easy.multi().is_some();
        let code = multi.multi.remove(&easy.easy);
        if mine && matches!(code, MultiCode::Ok | MultiCode::AbortedByCallback) {
            slot.gate().drive(None);
        }
        code
    })
}

/// # Safety
/// `running` is NULL or writable, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_perform(handle: *mut c_void, running: *mut c_int) -> c_int {
    run(handle, Entry::MultiPerform, |multi, gate| {
        let (code, count) = multi.unless_refused(multi.outlasting(|| multi.multi.perform()));
        multi.notify(gate);
        // SAFETY: the caller's promise.
        unsafe { tell_running(running, count) };
        code
    })
}

/// # Safety
/// `running` is NULL or writable.
unsafe fn tell_running(running: *mut c_int, count: usize) {
    if !running.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *running = c_int::try_from(count).unwrap_or(c_int::MAX) }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_cleanup(handle: *mut c_void) -> c_int {
    let code = run(handle, Entry::MultiCleanup, |multi, _| {
        for easy in multi.multi.members() {
            if let Some(slot) = easy::find(easy::handle_of(&easy)) {
                slot.gate().drive(None);
            }
        }
        multi.multi.close();
        MultiCode::Ok
    });
    if code == MultiCode::Ok.id() {
        entry((), || drop(MULTIS.remove(handle)));
    }
    code
}

/// The message belongs to its easy handle and lives as long.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_info_read(
    handle: *mut c_void,
    left: *mut c_int,
) -> *const Message {
    with(
        handle,
        Entry::MultiInfoRead,
        |_| ptr::null(),
        |multi, _| {
            let next = multi.multi.next_message();
            // SAFETY: the caller's promise.
            unsafe { tell_running(left, next.as_ref().map_or(0, |(_, left)| *left)) };
            let Some((message, _)) = next else { return ptr::null() };
            let easy = easy::handle_of(&message.easy);
            let Some(slot) = easy::find(easy) else { return ptr::null() };
            // SAFETY: alive, and driven by this multi, inside whose gate we are.
            let place = unsafe { &slot.value().message };
            place.set(Message { kind: CURLMSG_DONE, easy, data: Data { result: message.code.id() } });
            place.as_ptr().cast_const()
        },
    )
}

/// A NULL-terminated array for curl_free.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_get_handles(handle: *mut c_void) -> *mut *mut c_void {
    with(
        handle,
        Entry::MultiGetHandles,
        |_| ptr::null_mut(),
        |multi, _| {
            let members = multi.multi.members();
            let array =
                memory::allocate((members.len() + 1) * size_of::<*mut c_void>()).cast::<*mut c_void>();
            if !array.is_null() {
                let handles = members.iter().map(easy::handle_of).chain([ptr::null_mut()]);
                for (index, easy) in handles.enumerate() {
                    // SAFETY: room was made for all members and the end.
                    unsafe { array.add(index).write(easy) };
                }
            }
            array
        },
    )
}

/// Past the gate: from any thread, while another one waits.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_wakeup(handle: *mut c_void) -> c_int {
    entry(MultiCode::WakeupFailure.id(), || {
        let Some(slot) = find(handle) else {
            return MultiCode::BadHandle.id();
        };
        // SAFETY: alive, and only the waker is used, which is made for any thread.
        unsafe { (slot.value().waker)() };
        MultiCode::Ok.id()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_get_offt(
    handle: *mut c_void,
    info: c_int,
    out: *mut i64,
) -> c_int {
    run(handle, Entry::MultiGetOfft, |multi, _| {
        if out.is_null() {
            return MultiCode::BadFunctionArgument;
        }
        let members = multi.multi.members().len();
        let (running, pending) = (multi.multi.running(), multi.multi.pending());
        let value = match info {
            CURLMINFO_XFERS_CURRENT => members,
            CURLMINFO_XFERS_RUNNING => running - pending,
            CURLMINFO_XFERS_PENDING => pending,
            CURLMINFO_XFERS_DONE => members - running,
            CURLMINFO_XFERS_ADDED => multi.added.get(),
            _ => return MultiCode::UnknownOption,
        };
        // SAFETY: not NULL, so writable by the caller's promise.
        unsafe { *out = value as i64 };
        MultiCode::Ok
    })
}

fn enable(handle: *mut c_void, what: Entry, kind: c_uint, on: bool) -> c_int {
    run(handle, what, |multi, _| {
        if kind > CURLMNOTIFY_EASY_DONE as c_uint {
            return MultiCode::UnknownOption;
        }
        let bit = 1 << kind;
        let enabled = multi.notify.enabled.get();
        multi.notify.enabled.set(if on { enabled | bit } else { enabled & !bit });
        MultiCode::Ok
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_notify_enable(handle: *mut c_void, kind: c_uint) -> c_int {
    enable(handle, Entry::MultiNotifyEnable, kind, true)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_notify_disable(handle: *mut c_void, kind: c_uint) -> c_int {
    enable(handle, Entry::MultiNotifyDisable, kind, false)
}
