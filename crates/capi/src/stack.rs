//! Whether a frame that this thread has been in may still be there, for [`crate::guard`].
//!
//! A stack grows downwards, so a frame below the caller's is gone when both are on one stack. A program may
//! run on several (fibres, ucontext, Coro): then the place says nothing, and only what stands in the frame
//! does.

use std::hint::black_box;

use crate::sys::{own_stack, word_can_be_read};

/// How far below the caller a frame on an unknown stack counts as gone. The library needs more than that to
/// do anything.
const NEAR: usize = 11 << 10;

/// A frame that this thread has been in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// It was left, or its memory is gone.
    Gone,
    /// Its memory is there; what it holds says whether it stands.
    Readable,
    /// It lies right below the caller on a stack that the system knows nothing of. What it holds is a
    /// remnant, which the caller must erase where it still looks like a frame.
    Remnant,
}

/// Returns what the frame of `size` bytes at that address may be.
///
/// However near it is, the kernel is asked: a fibre's stack may lie right below that of another which was
/// given back. Nothing is written here: the bounds of a fibre's stack are unknown, and below a small one lies
/// somebody else's memory.
#[inline(never)]
pub fn frame_at(frame: usize, size: usize) -> Frame {
    // Nobody jumps under Miri, whose stacks have no places and whose kernel can't be asked.
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

/// What a frame that may be gone has left at that address.
///
/// AddressSanitizer's build leaves this function alone (`link.sh` sets the cfg): another frame may have taken
/// the place, and its guards forbid what is meant here.
///
/// # Safety
/// The memory is readable and nobody writes it meanwhile.
#[cfg_attr(warmwire_sanitized, sanitize(address = "off"))]
#[inline(never)]
pub unsafe fn left_word(at: *const usize) -> usize {
    // SAFETY: the caller's promise. Not `read_volatile`, which is a function of its own and would be checked.
    unsafe { *black_box(at) }
}

/// Whether there is memory that can be read: a fibre's stack may have been given back, or be locked away for
/// a later one.
fn can_be_read(at: usize, size: usize) -> bool {
    [at, at + size - size_of::<u64>()].into_iter().all(word_can_be_read)
}
