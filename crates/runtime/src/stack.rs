//! Runs work on the stack of a helper thread: if the caller's stack is too small, or if secrets must not stay
//! on it.
//!
//! A program may call from a thread with a small stack or from a coroutine, whose stack may end without a
//! guard page. The library needs at most 24 KiB of it. Some functions of the cryptography crates need more
//! (ML-KEM has frames of 26 KiB) and go through [`with_room`].

use std::hint::black_box;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::thread::{Builder, Result, scope};

use crate::sys::threads::without_signals;

/// Bytes that no work here reaches further down; builds that are not optimised have far larger frames.
const ROOM: usize = if cfg!(debug_assertions) { 512 << 10 } else { 96 << 10 };
/// Bytes of a helper thread's stack.
const STACK: usize = if cfg!(debug_assertions) { 2 << 20 } else { 256 << 10 };
/// Bytes that work on secrets reaches down in an optimised build.
const TRACES: usize = 32 << 10;

/// Returns the bounds of the stack that the system gave the calling thread, if they are known.
pub type Bounds = fn() -> Option<Range<usize>>;

static BOUNDS: OnceLock<Bounds> = OnceLock::new();

/// Sets the function that [`with_room`] asks for the bounds of stacks. Without one every stack counts as
/// large enough: the threads of a Rust program have 2 MiB.
pub fn set_bounds(bounds: Bounds) {
    // The first call decides; there is one caller in a process.
    let _ = BOUNDS.set(bounds);
}

/// Runs `work` in place if the calling thread's stack has room for it, and otherwise on a helper thread while
/// the caller waits.
///
/// A stack that the system did not allocate for the thread (a coroutine's) has unknown bounds and counts as
/// too small. The helper thread ends with the work, so that a forked child needs nothing. If no thread can be
/// started, the work runs in place.
pub fn with_room<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if has_room() { in_own_frame(work) } else { elsewhere(work) }
}

fn has_room() -> bool {
    let Some(bounds) = BOUNDS.get() else { return true };
    let local = 0_u8;
    fits(bounds(), (&raw const local).addr())
}

/// Returns whether a stack with these bounds has room below `here`.
fn fits(bounds: Option<Range<usize>>, here: usize) -> bool {
    bounds.is_some_and(|stack| stack.contains(&here) && here - stack.start >= ROOM)
}

/// Runs `work` on the stack of a helper thread, waits for it, and overwrites that stack.
///
/// Optimised frames retain what they hashed, and a shallow program never overwrites them. The caller's stack
/// cannot be wiped below the caller: it may belong to a coroutine with unknown bounds, and other memory may
/// follow a small one. If no thread can be started, the work runs in place, and its remnants stay.
pub fn without_trace<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    elsewhere(|| {
        let result = in_own_frame(work);
        wipe_below::<TRACES>();
        result
    })
}

/// Runs `work` on a helper thread, or in place if none can be started.
#[cold]
#[inline(never)]
fn elsewhere<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let mut work = Some(work);
    let mut result: Option<Result<R>> = None;
    let (taken, returned) = (&mut work, &mut result);
    // The scope waits by a futex. Joining would be a cancellation point: a cancelled thread unwinds, which
    // ends the process in the scope's frame.
    scope(|threads| {
        let body = || {
            if let Some(work) = taken.take() {
                *returned = Some(catch_unwind(AssertUnwindSafe(work)));
            }
        };
        let thread = || Builder::new().name("stack".to_owned()).stack_size(STACK).spawn_scoped(threads, body);
        drop(without_signals(thread));
    });
    match result {
        Some(Ok(result)) => result,
        Some(Err(panic)) => resume_unwind(panic),
        None => in_own_frame(work.take().expect("no thread has taken it")),
    }
}

/// Runs `work` in a separate frame, so that everything it keeps on the stack is below the caller's frame.
#[inline(never)]
fn in_own_frame<R>(work: impl FnOnce() -> R) -> R {
    black_box(work)()
}

/// Overwrites that many bytes below the caller, on a stack that has them.
#[inline(never)]
fn wipe_below<const SIZE: usize>() {
    let mut room = [0_u8; SIZE];
    black_box(&mut room);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::current;

    #[test]
    fn work_is_done_elsewhere_and_its_result_comes_back() {
        let here = current().id();
        let text = "borrowed".to_owned();
        let (there, length) = without_trace(|| (current().id(), text.len()));
        assert!(there != here && length == 8);
    }

    #[test]
    fn a_panic_comes_back() {
        let caught = catch_unwind(AssertUnwindSafe(|| without_trace(|| resume_unwind(Box::new(7)))));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
    }

    #[test]
    fn a_stack_fits_if_it_is_the_threads_own_and_has_room_below() {
        let end = ROOM * 3;
        for (bounds, here, expected) in [
            (Some(ROOM..end), ROOM * 2, true),
            (Some(ROOM..end), end - 1, true),
            (Some(ROOM..end), ROOM * 2 - 1, false),
            (Some(ROOM..end), ROOM, false),
            (Some(ROOM..end), end, false),
            (Some(ROOM..end), ROOM - 1, false),
            (None, ROOM * 2, false),
        ] {
            assert_eq!(fits(bounds.clone(), here), expected, "{bounds:?} {here}");
        }
    }

    #[test]
    fn work_moves_to_a_helper_thread_where_the_stack_is_small_or_unknown() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static KIND: AtomicUsize = AtomicUsize::new(0);
        let here = current().id();
        assert_eq!(with_room(|| current().id()), here, "no bounds are set");
        set_bounds(|| match KIND.load(Ordering::Relaxed) {
            0 => Some(0..usize::MAX),
            1 => Some(usize::MAX - 1..usize::MAX),
            _ => None,
        });
        assert_eq!(with_room(|| current().id()), here);
        for kind in [1, 2] {
            KIND.store(kind, Ordering::Relaxed);
            assert_ne!(with_room(|| current().id()), here);
        }
    }
}
