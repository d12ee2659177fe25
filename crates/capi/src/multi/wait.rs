//! Waiting for a multi handle: poll, wait, fdset, waitfds, timeout. All use the engine's table of waits.

use std::ffi::{c_int, c_long, c_short, c_uint, c_void};
use std::time::Duration;

use engine::ExtraFd;
use tables::constant::{CURL_WAIT_POLLIN, CURL_WAIT_POLLOUT};
use tables::{Entry, MultiCode};

use super::{MultiHandle, run};
use crate::sys::{self, BorrowedSocket, FdSet, RawSocket};

/// `struct curl_waitfd`; its event bits are those of poll(2).
#[repr(C)]
pub struct WaitFd {
    fd: RawSocket,
    events: c_short,
    revents: c_short,
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_wait(
    handle: *mut c_void,
    extra: *mut WaitFd,
    count: c_uint,
    timeout_ms: c_int,
    ready: *mut c_int,
) -> c_int {
    run(handle, Entry::MultiWait, |multi, _| {
        // SAFETY: the caller vouches for the array and the count.
        unsafe { wait(multi, extra, count, timeout_ms, ready, false) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_poll(
    handle: *mut c_void,
    extra: *mut WaitFd,
    count: c_uint,
    timeout_ms: c_int,
    ready: *mut c_int,
) -> c_int {
    run(handle, Entry::MultiPoll, |multi, _| {
        // SAFETY: the caller vouches for the array and the count.
        unsafe { wait(multi, extra, count, timeout_ms, ready, true) }
    })
}

/// # Safety
/// `extra` has `count` elements; `ready` is NULL or writable.
unsafe fn wait(
    multi: &MultiHandle,
    extra: *mut WaitFd,
    count: c_uint,
    timeout_ms: c_int,
    ready: *mut c_int,
    may_wake: bool,
) -> MultiCode {
    let Ok(timeout_ms) = u64::try_from(timeout_ms) else {
        return MultiCode::BadFunctionArgument;
    };
    // SAFETY: the caller's promise.
    let given: &mut [WaitFd] = unsafe {
        match extra.is_null() || count == 0 {
            true => &mut [],
            false => std::slice::from_raw_parts_mut(extra, count as usize),
        }
    };
    let mut found = 0;
    // curl_multi_wait returns at once if there is nothing to wait for; curl_multi_poll sleeps.
    if may_wake || !given.is_empty() || !multi.multi.interests().is_empty() {
        let mut fds: Vec<ExtraFd> = given.iter().map(extra_fd).collect();
        match multi.multi.wait(&mut fds, Duration::from_millis(timeout_ms), may_wake) {
            Ok(count) => found = count,
            Err(_) => return MultiCode::UnrecoverablePoll,
        }
        let revents: Vec<i16> = fds.iter().map(|fd| fd.revents).collect();
        for (given, revents) in given.iter_mut().zip(revents) {
            given.revents = revents;
        }
    }
    if !ready.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *ready = c_int::try_from(found).unwrap_or(c_int::MAX) };
    }
    MultiCode::Ok
}

fn extra_fd(given: &WaitFd) -> ExtraFd<'_> {
    // SAFETY: the application keeps its descriptors open while it waits for them; -1 is no descriptor.
    let fd = sys::is_given(given.fd).then(|| unsafe { BorrowedSocket::borrow_raw(given.fd) });
    ExtraFd { fd, events: given.events, revents: 0 }
}

/// Fills the sets. As in curl, descriptors that an fd_set cannot hold are omitted.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_fdset(
    handle: *mut c_void,
    read: *mut FdSet,
    write: *mut FdSet,
    _except: *mut FdSet,
    max: *mut c_int,
) -> c_int {
    run(handle, Entry::MultiFdset, |multi, _| {
        let mut highest = -1;
        for (fd, interest) in multi.multi.descriptors_to_watch() {
            let mut left_out = false;
            for (wanted, set) in [(interest.reads(), read), (interest.writes(), write)] {
                if wanted && !set.is_null() {
                    // SAFETY: the application's set.
                    left_out |= !unsafe { sys::enter(set, fd) };
                }
            }
            if !left_out {
                highest = highest.max(sys::number_for_select(fd));
            }
        }
        if !max.is_null() {
            // SAFETY: not NULL, so writable.
            unsafe { *max = highest };
        }
        MultiCode::Ok
    })
}

/// How many there are, and as many of them as there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_waitfds(
    handle: *mut c_void,
    out: *mut WaitFd,
    size: c_uint,
    count: *mut c_uint,
) -> c_int {
    run(handle, Entry::MultiWaitfds, |multi, _| {
        if out.is_null() && (size > 0 || count.is_null()) {
            return MultiCode::BadFunctionArgument;
        }
        let interests = multi.multi.descriptors_to_watch();
        for (index, (fd, interest)) in interests.iter().enumerate().take(size as usize) {
            let mut events = 0;
            if interest.reads() {
                events |= CURL_WAIT_POLLIN as c_short;
            }
            if interest.writes() {
                events |= CURL_WAIT_POLLOUT as c_short;
            }
            // SAFETY: the caller vouches for `size` elements.
            unsafe { out.add(index).write(WaitFd { fd: *fd, events, revents: 0 }) };
        }
        if !count.is_null() {
            // SAFETY: not NULL, so writable.
            unsafe { *count = interests.len() as c_uint };
        }
        if interests.len() > size as usize && !out.is_null() { MultiCode::OutOfMemory } else { MultiCode::Ok }
    })
}

/// Returns the milliseconds until a timer is due; -1 without one.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_timeout(handle: *mut c_void, timeout_ms: *mut c_long) -> c_int {
    run(handle, Entry::MultiTimeout, |multi, _| {
        if timeout_ms.is_null() {
            return MultiCode::BadFunctionArgument;
        }
        // Rounded up: waking too early finds nothing due and wastes a turn.
        let left = multi
            .multi
            .timeout()
            .map_or(-1, |left| c_long::try_from(left.as_micros().div_ceil(1000)).unwrap_or(c_long::MAX));
        // SAFETY: not NULL, so writable.
        unsafe { *timeout_ms = left };
        MultiCode::Ok
    })
}
