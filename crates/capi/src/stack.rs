//! Whether a frame that this thread has been in may still be there, for [`crate::guard`].
//!
//! A stack grows downwards, so a frame below the caller's is gone when both are on one stack. A program may run on several
//! (fibres, ucontext, Coro): then the place says nothing, and only what stands in the frame does.

use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Nested calls come from no further down, nearly always: so near, the memory is known to be there.
const NEAR: usize = 64 << 10;
/// How far below the caller what a frame has left is wiped out. The library needs more than that to do anything.
const WIPED: usize = 12 << 10;

/// Whether a frame at that address may still be there, its memory at least. What it holds says whether it is.
#[inline(never)]
pub fn may_stand(frame: usize) -> bool {
    let local = 0_u8;
    let here = (&raw const local).addr();
    if frame > here {
        return frame - here < NEAR || is_mapped(frame);
    }
    if let Some((start, end)) = own_stack()
        && (start..end).contains(&frame)
        && (start..end).contains(&here)
    {
        return false;
    }
    if here - frame < WIPED - (1 << 10) {
        wipe_below();
    }
    is_mapped(frame)
}

/// Overwrites the stack below the caller: a frame that was there is gone, and no longer looks as if it were not.
#[inline(never)]
fn wipe_below() {
    let mut room = [0_u8; WIPED];
    black_box(&mut room);
}

/// The stack that the system gave this thread.
#[cold]
fn own_stack() -> Option<(usize, usize)> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut size) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: the attributes are initialised by the first call when it succeeds, read by the second and ended by the third.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    Some((start.addr(), start.addr() + size))
}

/// Whether there is memory: a fibre's stack may have been given back.
#[cold]
fn is_mapped(at: usize) -> bool {
    // SAFETY: sysconf has no preconditions.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let mut resident = 0_u8;
    let start = std::ptr::without_provenance_mut(at & !(page - 1));
    // SAFETY: only looked up by the kernel; the answer has room for the one page.
    unsafe { libc::mincore(start, page, &mut resident) == 0 }
}
