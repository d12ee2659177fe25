//! Work on a stack of its own: what optimised code hashes stays in frames that nobody wipes, and a shallow program never writes
//! over them again. The caller's stack cannot be wiped below the caller: it may be a coroutine's, whose bounds nobody knows, and
//! below a small one lies somebody else's memory.

use std::hint::black_box;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

use crate::sys::threads::without_signals;

/// More than any work here reaches down.
const REACH: usize = 32 << 10;
/// The stack of the thread: twice that, and much more for a build that is not optimised.
const STACK: usize = if cfg!(debug_assertions) { 2 << 20 } else { 256 << 10 };

/// Does the work on the stack of a helper thread, waits for it, and overwrites what that stack held. Where no thread can be had
/// the work is done on the caller's stack, and its remnants stay.
pub fn without_trace<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let mut work = Some(work);
    let theirs = &mut work;
    let done = scope(|threads| {
        let body = move || {
            let result = theirs.take().map(|work| apart(work));
            wipe_below::<REACH>();
            result
        };
        let thread =
            || Builder::new().name("secret".to_owned()).stack_size(STACK).spawn_scoped(threads, body);
        without_signals(thread).ok().map(|thread| thread.join())
    });
    match done {
        Some(Ok(Some(result))) => return result,
        Some(Err(panic)) => resume_unwind(panic),
        Some(Ok(None)) | None => {}
    }
    work.take().expect("no thread has taken it")()
}

/// In a frame of its own, so that all that the work keeps on the stack is below the caller's.
#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    black_box(work)()
}

/// Overwrites that many bytes of the stack below the caller, who knows that they are the stack's.
#[inline(never)]
fn wipe_below<const SIZE: usize>() {
    let mut room = [0_u8; SIZE];
    black_box(&mut room);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn work_is_done_elsewhere_and_its_result_comes_back() {
        let here = std::thread::current().id();
        let text = "borrowed".to_owned();
        let (there, length) = without_trace(|| (std::thread::current().id(), text.len()));
        assert!(there != here && length == 8);
    }

    #[test]
    fn a_panic_comes_back() {
        let caught = catch_unwind(AssertUnwindSafe(|| without_trace(|| resume_unwind(Box::new(7)))));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
    }
}
