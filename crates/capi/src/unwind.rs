//! Unwinding through the library: a panic of ours stops at the entry and becomes a code; anything else
//! belongs to the application and passes.
//!
//! A C++ exception thrown in a callback, `pthread_exit` and `pthread_cancel` pass through C's libcurl as
//! through any frames. `catch_unwind` would abort the process: it stops everything that unwinds and supports
//! only panics. So the frame that stops panics is our own, in assembly, with a personality routine (Itanium
//! C++ ABI, Exception Handling §2.5) that checks the origin of the exception. The frames in between run their
//! destructors in both cases: they release gates, end runs, and remove the transfer whose callback unwound.

use std::ffi::{c_int, c_void};
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of `body`; None when it panicked.
pub fn catch<R>(body: impl FnOnce() -> R) -> Option<R> {
    let mut call = Call { body: Some(body), result: None };
    // SAFETY: `run` gets the call it is made for, which outlives it.
    let exception = unsafe { frame::attempt(run_call(&call), (&raw mut call).cast()) };
    if !exception.is_null() {
        end_panic(exception);
    }
    call.result
}

struct Call<F, R> {
    body: Option<F>,
    result: Option<R>,
}

type Run = unsafe extern "C-unwind" fn(*mut c_void);

/// The function that makes this call.
fn run_call<R, F: FnOnce() -> R>(_: &Call<F, R>) -> Run {
    unsafe extern "C-unwind" fn run<R, F: FnOnce() -> R>(call: *mut c_void) {
        // SAFETY: the caller's promise.
        let call = unsafe { &mut *call.cast::<Call<F, R>>() };
        call.result = call.body.take().map(|body| body());
    }
    run::<R, F>
}

/// Ends a panic. std counts the panics of a thread, so std must end this one.
fn end_panic(exception: *mut c_void) {
    // SAFETY: a panic's exception object that our frame has stopped, and that has no other owner.
    let resumed = catch_unwind(AssertUnwindSafe(|| unsafe { _Unwind_RaiseException(exception) }));
    forget(resumed); // the payload's destructor might panic again
}

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(exception: *mut c_void) -> c_int;
}

#[cfg(all(target_arch = "x86_64", any(unix, all(windows, target_env = "gnu")), not(miri)))]
mod frame {
    use std::ffi::{c_int, c_void};

    use super::Run;

    unsafe extern "C-unwind" {
        /// `run(data)`; NULL, or the exception object of the panic that ended it.
        #[link_name = "warmwire_attempt"]
        pub fn attempt(run: Run, data: *mut c_void) -> *mut c_void;
    }

    unsafe extern "C" {
        fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
        fn _Unwind_SetIP(context: *mut c_void, address: usize);
        #[cfg(unix)]
        fn _Unwind_GetLanguageSpecificData(context: *mut c_void) -> usize;
        /// An address within `attempt`; never called.
        #[cfg(windows)]
        fn warmwire_goes_on();
    }

    /// Returns the address where the frame continues: its language-specific data.
    #[cfg(unix)]
    unsafe fn goes_on(context: *mut c_void) -> usize {
        // SAFETY: the unwinder's context of the frame above.
        unsafe { _Unwind_GetLanguageSpecificData(context) }
    }

    #[cfg(windows)]
    unsafe fn goes_on(_: *mut c_void) -> usize {
        warmwire_goes_on as *const () as usize
    }

    // 0x1b: 32-bit addresses relative to their own position.
    #[cfg(unix)]
    std::arch::global_asm!(
        ".pushsection .text.warmwire_attempt,\"ax\",@progbits",
        ".globl warmwire_attempt",
        ".hidden warmwire_attempt",
        ".type warmwire_attempt,@function",
        "warmwire_attempt:",
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        ".cfi_lsda 0x1b, .Lwarmwire_goes_on",
        "sub rsp, 8",
        ".cfi_def_cfa_offset 16",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "xor eax, eax",
        ".Lwarmwire_goes_on:",
        "add rsp, 8",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        ".size warmwire_attempt, .-warmwire_attempt",
        ".popsection",
        personality = sym personality,
    );

    // Windows unwinds by its own tables (x64 exception handling, structured exceptions): 32 bytes of shadow
    // space for the callee, 8 to align the stack.
    #[cfg(windows)]
    std::arch::global_asm!(
        ".pushsection .text$warmwire_attempt,\"xr\"",
        ".globl warmwire_attempt",
        ".seh_proc warmwire_attempt",
        "warmwire_attempt:",
        "sub rsp, 40",
        ".seh_stackalloc 40",
        ".seh_endprologue",
        ".seh_handler {handler}, @unwind, @except",
        "mov rax, rcx",
        "mov rcx, rdx",
        "call rax",
        "xor eax, eax",
        ".globl warmwire_goes_on",
        "warmwire_goes_on:",
        "add rsp, 40",
        "ret",
        ".seh_endproc",
        ".popsection",
        handler = sym handler,
    );

    /// The handler that Windows calls for the frame: GCC's library finds our exceptions among its structured
    /// ones.
    #[cfg(windows)]
    unsafe extern "C" fn handler(
        exception: *mut c_void,
        frame: *mut c_void,
        context: *mut c_void,
        dispatcher: *mut c_void,
    ) -> c_int {
        type Personality = unsafe extern "C" fn(c_int, c_int, u64, *mut c_void, *mut c_void) -> c_int;
        unsafe extern "C" {
            fn _GCC_specific_handler(
                exception: *mut c_void,
                frame: *mut c_void,
                context: *mut c_void,
                dispatcher: *mut c_void,
                personality: Personality,
            ) -> c_int;
        }
        // SAFETY: the arguments of the system.
        unsafe { _GCC_specific_handler(exception, frame, context, dispatcher, personality) }
    }

    const SEARCH: c_int = 1;
    const HANDLER_FRAME: c_int = 4;
    const FORCED: c_int = 8;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE_UNWIND: c_int = 8;
    /// The class of Rust's exceptions, which std has written in both byte orders.
    const RUST: [u64; 2] = [u64::from_be_bytes(*b"MOZ\0RUST"), u64::from_le_bytes(*b"MOZ\0RUST")];
    /// Where the exception object is handed over: rax.
    const RESULT: c_int = 0;

    /// Stops panics of this library. A Rust program has its own std, whose panics ours does not know.
    unsafe extern "C" fn personality(
        _version: c_int,
        actions: c_int,
        class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int {
        if !RUST.contains(&class) || actions & FORCED != 0 || !std::thread::panicking() {
            return CONTINUE_UNWIND;
        }
        if actions & SEARCH != 0 {
            return HANDLER_FOUND;
        }
        if actions & HANDLER_FRAME == 0 {
            return CONTINUE_UNWIND;
        }
        // SAFETY: the unwinder's context of the frame above.
        unsafe {
            _Unwind_SetGR(context, RESULT, exception.addr());
            _Unwind_SetIP(context, goes_on(context));
        }
        INSTALL_CONTEXT
    }
}

/// Other platforms have no such frame yet, nor does Miri, which does not support assembly: panics are
/// stopped, and an exception of the application ends the process.
#[cfg(any(not(all(target_arch = "x86_64", any(unix, all(windows, target_env = "gnu")))), miri))]
mod frame {
    use std::ffi::c_void;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::Run;

    /// `run(data)`; a panic that ends it has been ended already.
    pub unsafe fn attempt(run: Run, data: *mut c_void) -> *mut c_void {
        // SAFETY: the caller's promise.
        std::mem::forget(catch_unwind(AssertUnwindSafe(|| unsafe { run(data) })));
        std::ptr::null_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quietly, for the output of the tests.
    fn panics() -> Option<i32> {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let result = catch(|| panic!("inside"));
        std::panic::set_hook(hook);
        result
    }

    #[test]
    fn panics_stop_and_are_over() {
        let text = String::from("kept");
        assert_eq!(catch(|| text.len()), Some(4));
        for _ in 0..3 {
            assert_eq!(panics(), None);
            assert!(!std::thread::panicking());
        }
        assert_eq!(catch(|| catch(panics)), Some(Some(None)));
    }
}
