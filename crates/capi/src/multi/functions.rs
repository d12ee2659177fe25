//! The functions on multi handles (libcurl-multi.md): adding, running, messages.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use runtime::cell::RefCell;

use engine::Multi;
use tables::constant::*;
use tables::{Entry, MultiCode};

use super::{EventCallbacks, MULTIS, MultiHandle, Notify, Push, find, run, store_running, with};
use crate::easy;
use crate::easy::outputs::{Data, Message};
use crate::guard::entry;
use crate::memory;

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
            callbacks: EventCallbacks::default(),
            pointers: RefCell::default(),
            added: Cell::new(0),
            notify: Notify::default(),
            push: Push::default(),
        }));
        if let Some(slot) = find(handle) {
            // SAFETY: just created, and unknown to anybody else.
            let multi = unsafe { slot.value() };
            multi.handle.set(handle);
            multi.watch_finished(slot);
        }
        handle
    })
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
        // SAFETY: alive; it is driven by this multi, whose gate we are inside, or by none.
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
        unsafe { store_running(running, count) };
        code
    })
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
            unsafe { store_running(left, next.as_ref().map_or(0, |(_, left)| *left)) };
            let Some((message, _)) = next else { return ptr::null() };
            let easy = easy::handle_of(&message.easy);
            let Some(slot) = easy::find(easy) else { return ptr::null() };
            // SAFETY: alive, and driven by this multi, whose gate we are inside.
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
