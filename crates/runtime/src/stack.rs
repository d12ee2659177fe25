//! What work leaves on the stack below its caller, for those who may leave nothing: optimised code keeps what it hashes in
//! frames that nobody wipes, and a shallow program never writes over them again.

use std::hint::black_box;

/// More than any work here reaches down; a tenth of the smallest stack that a thread is given in practice.
const REACH: usize = 32 << 10;

/// Does the work, then overwrites the stack that it had.
pub fn without_trace<R>(work: impl FnOnce() -> R) -> R {
    let result = apart(work);
    wipe_below::<REACH>();
    result
}

/// In a frame of its own, so that all that the work keeps on the stack is below the caller's.
#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    black_box(work)()
}

/// Overwrites that many bytes of the stack below the caller.
#[inline(never)]
pub fn wipe_below<const SIZE: usize>() {
    let mut room = [0_u8; SIZE];
    black_box(&mut room);
}
