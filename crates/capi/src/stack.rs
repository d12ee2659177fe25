//! Whether a frame that this thread has been in may still be there, for [`crate::guard`].
//!
//! A stack grows downwards, so a frame below the caller's is gone when both are on one stack. A program may run on several
//! (fibres, ucontext, Coro): then the place says nothing, and only what stands in the frame does.

use std::hint::black_box;

use crate::sys::{own_stack, word_can_be_read};

/// How far below the caller what a frame has left is wiped out. The library needs more than that to do anything.
const WIPED: usize = 12 << 10;

/// Whether what a frame holds at that address, `size` bytes, may still be there, its memory at least. What it holds says
/// whether it is.
///
/// However near it is, the kernel is asked: a fibre's stack may lie right below that of another which was given back.
#[inline(never)]
pub fn may_stand(frame: usize, size: usize) -> bool {
    // Nobody jumps under Miri, whose stacks have no places and whose kernel can't be asked.
    if cfg!(miri) {
        return true;
    }
    let local = 0_u8;
    let here = (&raw const local).addr();
    if frame > here {
        return can_be_read(frame, size);
    }
    if let Some((start, end)) = own_stack()
        && (start..end).contains(&frame)
        && (start..end).contains(&here)
    {
        return false;
    }
    // A frame that was there is gone, and shall no longer look as if it were not.
    if here - frame < WIPED - (1 << 10) {
        runtime::stack::wipe_below::<WIPED>();
    }
    can_be_read(frame, size)
}

/// What a frame that may be gone has left at that address.
///
/// AddressSanitizer's build leaves this function alone (`link.sh` sets the cfg): another frame may have taken the place, and
/// its guards forbid what is meant here.
///
/// # Safety
/// The memory is readable and nobody writes it meanwhile.
#[cfg_attr(warmwire_sanitized, sanitize(address = "off"))]
#[inline(never)]
pub unsafe fn left_word(at: *const usize) -> usize {
    // SAFETY: the caller's promise. Not `read_volatile`, which is a function of its own and would be checked.
    unsafe { *black_box(at) }
}

/// Whether there is memory that can be read: a fibre's stack may have been given back, or be locked away for a later one.
fn can_be_read(at: usize, size: usize) -> bool {
    [at, at + size - size_of::<u64>()].into_iter().all(word_can_be_read)
}
