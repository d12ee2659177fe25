//! Decides whether a frame that this thread has been in may still exist, for [`crate::guard`].
//!
//! A stack grows downwards, so a frame below the caller's is gone if both are on one stack. A program may run
//! on several stacks (fibres, ucontext, Coro): then the address proves nothing, and only the contents of the
//! frame do.

use std::hint::black_box;

use crate::sys::{own_stack, word_can_be_read};

/// Distance below the caller within which a frame on an unknown stack counts as gone. The library needs more
/// than that to do anything.
const NEAR: usize = 11 << 10;

/// A frame that this thread has been in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The frame was left, or its memory is gone.
    Gone,
    /// Its memory exists; its contents decide whether the frame does.
    Readable,
    /// It is right below the caller on a stack of unknown bounds. Its contents are a remnant, which the
    /// caller must erase if they still look like a frame.
    Remnant,
}

/// Returns the possible state of the frame of `size` bytes at that address.
///
/// However near it is, the kernel is asked: a fibre's stack may be right below that of another one that was
/// freed. Nothing is written here: the bounds of a fibre's stack are unknown, and other memory may be below a
/// small one.
#[inline(never)]
pub fn frame_at(frame: usize, size: usize) -> Frame {
    // There are no jumps under Miri, whose stacks have no addresses and whose kernel cannot be asked.
    if cfg!(miri) {
        return Frame::Readable;
    }
    let local = 0_u8;
    let here = (&raw const local).addr();
    let below = frame <= here;
    if below
        && let Some((start, end)) = own_stack()
        && (start..end).contains(&frame)
        && (start..end).contains(&here)
    {
        return Frame::Gone;
    }
    match can_be_read(frame, size) {
        false => Frame::Gone,
        true if below && here - frame < NEAR => Frame::Remnant,
        true => Frame::Readable,
    }
}

/// Reads what a frame that may be gone has left at that address.
///
/// The build for AddressSanitizer does not instrument this function (`link.sh` sets the cfg): another frame
/// may have taken the place, and the sanitizer's guards would forbid the read.
///
/// # Safety
/// The memory is readable, and nobody writes it meanwhile.
#[cfg_attr(warmwire_sanitized, sanitize(address = "off"))]
#[inline(never)]
pub unsafe fn left_word(at: *const usize) -> usize {
    // SAFETY: the caller's promise. Not `read_volatile`, which is a separate function and would be
    // instrumented.
    unsafe { *black_box(at) }
}

/// Returns whether the memory can be read: a fibre's stack may have been freed, or protected for later reuse.
fn can_be_read(at: usize, size: usize) -> bool {
    [at, at + size - size_of::<u64>()].into_iter().all(word_can_be_read)
}
