//! What unwinds through the library: a panic of ours stops at the entry and becomes a code; anything else is
//! the application's own business and passes.
//!
//! An exception of C++ that is thrown in a callback, `pthread_exit` and `pthread_cancel` go through C's
//! libcurl as through any frames. `catch_unwind` aborts the process instead: it stops all that unwinds and
//! knows what to do with panics only. So the frame that stops panics is one of our own, in assembly, with a
//! personality routine (Itanium C++ ABI, Exception Handling §2.5) that looks at whose exception it is. The
//! frames between run their destructors for either, which close gates, end runs, and take the transfer out of
//! whose callback it came.

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

/// std counts the panics of a thread: it must be the one that ends this.
fn end_panic(exception: *mut c_void) {
    // SAFETY: a panic's exception object that our frame has stopped, and that nobody else has.
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
        /// An address within `attempt`, which nobody calls.
        #[cfg(windows)]
        fn warmwire_goes_on();
    }

    /// Where the frame goes on: its language-specific data.
    #[cfg(unix)]
    unsafe fn goes_on(context: *mut c_void) -> usize {
        // SAFETY: the unwinder's context of the frame above.
        unsafe { _Unwind_GetLanguageSpecificData(context) }
    }

    #[cfg(windows)]
    unsafe fn goes_on(_: *mut c_void) -> usize {
        warmwire_goes_on as *const () as usize
    }

    // 0x1b: addresses relative to where they stand, 32 bits.
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

    // Windows unwinds by tables of its own (x64 exception handling, structured exceptions): 32 bytes for what
    // is called, 8 so that the stack is aligned.
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

    /// What Windows calls for the frame: GCC's library looks through its structured exceptions for ours.
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
        // SAFETY: what the system has handed over.
        unsafe { _GCC_specific_handler(exception, frame, context, dispatcher, personality) }
    }

    const SEARCH: c_int = 1;
    const HANDLER_FRAME: c_int = 4;
    const FORCED: c_int = 8;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE_UNWIND: c_int = 8;
    /// What Rust's exceptions say of themselves, which std has written down in either order.
    const RUST: [u64; 2] = [u64::from_be_bytes(*b"MOZ\0RUST"), u64::from_le_bytes(*b"MOZ\0RUST")];
    /// Where the exception object is handed over: rax.
    const RESULT: c_int = 0;

    /// Stops panics of this library's. A program in Rust has a std of its own, whose panics ours doesn't know
    /// of.
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

/// Elsewhere there is no such frame yet, nor for Miri, which knows no assembly: panics are stopped, and an
/// exception of the application's ends the process.
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
