//! How a reactor notices that it was inherited by a forked child.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Must be called in the child of a fork, before anything else of this crate. Async-signal-safe: one atomic
/// addition. Reactors of the parent then do not use the parent's epoll instance and wake-up descriptor.
pub fn after_fork_in_child() {
    GENERATION.fetch_add(1, Relaxed);
}

/// Returns the number of forks between this process and the one that loaded the library.
pub fn generation() -> u64 {
    GENERATION.load(Relaxed)
}
