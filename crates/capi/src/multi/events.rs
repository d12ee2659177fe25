//! A multi handle driven by the application's event loop: socket and timer callbacks, socket_action, assign;
//! and curl_multi_setopt, which installs them.

use std::ffi::{c_int, c_long, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use engine::{Interest, SocketHook};
use tables::constant::*;
use tables::{Entry, MultiCode, MultiOption, Where};

use super::{MultiHandle, NotifyFn, PushFn, SocketFn, TimerFn, find, run, store_running};
use crate::easy;
use crate::handles::Slot;
use crate::sys::{RawSocket, is_given};

/// Calls the application's socket callback.
struct Hook(&'static Slot<MultiHandle>);

// SAFETY: the reactor calls on the thread that is inside the multi handle's gate; the slot itself is never
// freed.
unsafe impl Send for Hook {}
// SAFETY: as above.
unsafe impl Sync for Hook {}

impl SocketHook for Hook {
    fn changed(&self, fd: RawSocket, interest: Interest, owner: u64) {
        // SAFETY: the engine's multi, which calls, ends with this handle; calls come on the thread that is
        // inside.
        let multi = unsafe { self.0.value() };
        let Some(function) = multi.callbacks.socket.get() else { return };
        let what = match (interest.reads(), interest.writes()) {
            (true, true) => CURL_POLL_INOUT,
            (true, false) => CURL_POLL_IN,
            (false, true) => CURL_POLL_OUT,
            (false, false) => CURL_POLL_REMOVE,
        } as c_int;
        let assigned = *multi.pointers.borrow_mut().entry(fd).or_insert(ptr::null_mut());
        let easy = multi.owner(owner);
        let user = multi.callbacks.socket_data.get();
        let call = || {
            // SAFETY: the application's function.
            unsafe { function(easy, fd, what, user, assigned) }
        };
        if self.0.gate().calling_back(Where::SocketOrTimer, call) == -1 {
            multi.callbacks.refused.set(true);
        }
        if what == CURL_POLL_REMOVE as c_int {
            multi.pointers.borrow_mut().remove(&fd);
        }
    }
}

impl MultiHandle {
    /// The easy handle that a socket belongs to; for one that none owns (the wake-up descriptor), any that is
    /// here.
    fn owner(&self, owner: u64) -> *mut c_void {
        let handle = ptr::with_exposed_provenance_mut(owner as usize);
        if easy::find(handle).is_some() {
            return handle;
        }
        self.multi.any_member().as_ref().map_or(ptr::null_mut(), easy::handle_of)
    }

    fn install_socket(&self, function: *mut c_void) {
        // SAFETY: the option's argument is a function of this type, as the manual demands; NULL is None.
        let function = unsafe { std::mem::transmute::<*mut c_void, Option<SocketFn>>(function) };
        self.callbacks.socket.set(function);
        let slot = find(self.handle.get()).filter(|_| function.is_some());
        self.multi.set_socket_hook(slot.map(|slot| Arc::new(Hook(slot)) as Arc<dyn SocketHook>));
    }

    fn install_timer(&self, function: *mut c_void) {
        // SAFETY: as above.
        let function = unsafe { std::mem::transmute::<*mut c_void, Option<TimerFn>>(function) };
        self.callbacks.timer.set(function);
        let slot = find(self.handle.get()).filter(|_| function.is_some());
        self.multi.set_timer(slot.map(|slot| Rc::new(move |due| tell_timer(slot, due)) as Rc<_>));
    }
}

/// The application's timer callback; -1 stops everything.
fn tell_timer(slot: &'static Slot<MultiHandle>, due_ms: Option<u64>) -> bool {
    // SAFETY: as in `Hook::changed`.
    let multi = unsafe { slot.value() };
    let Some(function) = multi.callbacks.timer.get() else { return true };
    let due = due_ms.map_or(-1, |due| c_long::try_from(due).unwrap_or(c_long::MAX));
    let (handle, user) = (multi.handle.get(), multi.callbacks.timer_data.get());
    let call = || {
        // SAFETY: the application's function.
        unsafe { function(handle, due, user) }
    };
    slot.gate().calling_back(Where::SocketOrTimer, call) != -1
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_socket_action(
    handle: *mut c_void,
    fd: RawSocket,
    bits: c_int,
    running: *mut c_int,
) -> c_int {
    action(handle, Entry::MultiSocketAction, Some(fd), bits, running)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_socket(
    handle: *mut c_void,
    fd: RawSocket,
    running: *mut c_int,
) -> c_int {
    action(handle, Entry::MultiSocket, Some(fd), 0, running)
}

/// Processes all sockets, whether ready or not.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_socket_all(handle: *mut c_void, running: *mut c_int) -> c_int {
    action(handle, Entry::MultiSocketAll, None, 0, running)
}

fn action(
    handle: *mut c_void,
    what: Entry,
    fd: Option<RawSocket>,
    bits: c_int,
    running: *mut c_int,
) -> c_int {
    run(handle, what, |multi, gate| {
        let has = |bit: i64| i64::from(bits) & bit != 0;
        let (mut reads, mut writes) = (has(CURL_CSELECT_IN.into()), has(CURL_CSELECT_OUT.into()));
        let failed = has(CURL_CSELECT_ERR.into());
        if !reads && !writes && !failed {
            (reads, writes) = (true, true); // the library has to find out
        }
        let mut interest = Interest::NONE;
        if reads {
            interest |= Interest::READ;
        }
        if writes {
            interest |= Interest::WRITE;
        }
        let done = multi.outlasting(|| match fd {
            None => multi.multi.perform(),
            Some(fd) => multi.multi.socket_action(is_given(fd).then_some(fd), interest, failed),
        });
        let (code, count) = multi.unless_refused(done);
        multi.notify(gate);
        // SAFETY: the caller vouches for `running`.
        unsafe { store_running(running, count) };
        code
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_multi_assign(
    handle: *mut c_void,
    fd: RawSocket,
    user: *mut c_void,
) -> c_int {
    run(handle, Entry::MultiAssign, |multi, _| match multi.pointers.borrow_mut().get_mut(&fd) {
        Some(place) => {
            *place = user;
            MultiCode::Ok
        }
        None => MultiCode::BadSocket,
    })
}

/// The shim's `curl_multi_setopt`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_multi_setopt(
    handle: *mut c_void,
    option: c_int,
    number: i64,
    pointer: *mut c_void,
) -> c_int {
    run(handle, Entry::MultiSetopt, |multi, _| match MultiOption::from_id(option) {
        Some(option) => set(multi, option, number, pointer),
        None => MultiCode::UnknownOption,
    })
}

// exhaustive: options
fn set(multi: &MultiHandle, option: MultiOption, number: i64, pointer: *mut c_void) -> MultiCode {
    use MultiOption as M;
    let count = usize::try_from(number).unwrap_or(0);
    let mut limits = multi.multi.limits();
    match option {
        M::SocketFunction => multi.install_socket(pointer),
        M::SocketData => multi.callbacks.socket_data.set(pointer),
        M::TimerFunction => multi.install_timer(pointer),
        M::TimerData => multi.callbacks.timer_data.set(pointer),
        M::Maxconnects => limits.max_connects = count,
        M::MaxHostConnections => limits.max_host = count,
        M::MaxTotalConnections => limits.max_total = count,
        M::NotifyFunction => {
            // SAFETY: the option's argument is a function of this type, as the manual demands; NULL is None.
            let function = unsafe { std::mem::transmute::<*mut c_void, Option<NotifyFn>>(pointer) };
            multi.notify.function.set(function);
        }
        M::NotifyData => multi.notify.user.set(ptr::NonNull::new(pointer)),
        M::NetworkChanged => {
            if number & (CURLMNWC_CLEAR_ALL | CURLMNWC_CLEAR_CONNS) != 0 {
                multi.multi.close_idle();
            }
            if number & (CURLMNWC_CLEAR_ALL | CURLMNWC_CLEAR_DNS) != 0 {
                multi.multi.forget_names();
            }
        }
        M::Pipelining => multi.multi.set_multiplexing(number & CURLPIPE_MULTIPLEX != 0),
        // A value out of range resets to the default, as in curl.
        M::MaxConcurrentStreams => {
            multi.multi.set_max_streams(if (1..=0x7fff_ffff).contains(&number) { count } else { 100 });
        }
        M::PushFunction => {
            // SAFETY: the option's argument is a function of this type, as the manual demands; NULL is None.
            let function = unsafe { std::mem::transmute::<*mut c_void, Option<PushFn>>(pointer) };
            if let Some(slot) = find(multi.handle.get()) {
                multi.install_push(slot, function);
            }
        }
        M::PushData => multi.push.user.set(ptr::NonNull::new(pointer)),
        // curl has removed HTTP/1 pipelining: accepted without effect, as in curl.
        M::MaxPipelineLength
        | M::ContentLengthPenaltySize
        | M::ChunkLengthPenaltySize
        | M::PipeliningSiteBl
        | M::PipeliningServerBl => {}
        M::ResolveThreadsMax | M::QuickExit => {}
    }
    multi.multi.set_limits(limits);
    MultiCode::Ok
}
