//! The entry of a program that starts often, in place of std's.
//!
//! std's runtime prepares a handler that names a stack overflow before the process dies. For that it
//! reads /proc/self/maps, maps another stack and installs two signal handlers: 20 system calls and 8
//! page faults, 0.08 ms of the 0.26 ms by which a start exceeded that of `true`. Without the handler
//! an overflow is a plain SIGSEGV.
//!
//! Two things of std's runtime remain, because programs rely on them: the standard descriptors are
//! open, and a broken pipe is an error instead of a signal. Arguments need glibc, which passes them
//! to std before `main`. Other systems keep std's entry.

/// Makes a function without arguments and result the entry of the program. Its crate has the attribute
/// `#![cfg_attr(all(not(test), target_os = "linux", target_env = "gnu"), no_main)]`.
#[macro_export]
macro_rules! program {
    ($function:path) => {
        // The C library calls the only function of this name.
        #[cfg(all(not(test), target_os = "linux", target_env = "gnu"))]
        #[unsafe(no_mangle)]
        extern "C" fn main(_: i32, _: *const *const u8) -> i32 {
            $crate::run($function)
        }

        #[cfg(not(all(not(test), target_os = "linux", target_env = "gnu")))]
        fn main() {
            $function()
        }
    };
}

/// Runs the function as the body of `main`; returns the exit code. A panic ends the process with 101, as
/// under std's runtime.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub fn run(function: fn()) -> i32 {
    start::open_standard_descriptors();
    start::ignore_broken_pipes();
    match std::panic::catch_unwind(function) {
        Ok(()) => 0,
        Err(_) => 101,
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod start {
    /// Opens /dev/null in place of each standard descriptor that the caller has closed. Otherwise the first
    /// socket or file would be taken for standard output, and be written to.
    pub fn open_standard_descriptors() {
        for descriptor in 0..3 {
            // SAFETY: it reads flags of a descriptor, open or not.
            let is_open = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } != -1;
            // SAFETY: the path is a C string. The system chooses the lowest number: this one.
            if !is_open && unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) } == -1 {
                std::process::abort();
            }
        }
    }

    pub fn ignore_broken_pipes() {
        // SAFETY: no other thread runs, and no handler is installed.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    }
}
