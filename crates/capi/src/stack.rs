//! Whether a frame that this thread has been in may still be there, for [`crate::guard`].
//!
//! A stack grows downwards, so a frame below the caller's is gone when both are on one stack. A program may run on several
//! (fibres, ucontext, Coro): then the place says nothing, and only what stands in the frame does.

use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr;

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

/// Whether there is memory that can be read: a fibre's stack may have been given back, or be locked away for a later one.
fn can_be_read(at: usize, size: usize) -> bool {
    [at, at + size - size_of::<u64>()].into_iter().all(word_can_be_read)
}

/// The kernel copies a set of signals before it looks at what is to be done with it. That is nonsense here, so that nothing
/// is done: the answer is EINVAL, or EFAULT when there was nothing to copy.
fn word_can_be_read(at: usize) -> bool {
    const NONSENSE: libc::c_int = -1;
    let set = ptr::without_provenance::<u64>(at);
    // SAFETY: the kernel alone looks at the address; errno is this thread's, and an application's callback may be about to
    // ask for it.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let none = ptr::null_mut::<u64>();
        libc::syscall(libc::SYS_rt_sigprocmask, NONSENSE, set, none, size_of::<u64>());
        let fault = *errno == libc::EFAULT;
        *errno = before;
        !fault
    }
}
