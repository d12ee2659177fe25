//! How a reactor notices that it was inherited by a forked child.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// To be called in the child of a fork, before anything else of this crate. Async-signal-safe: one atomic
/// addition. Reactors of the parent then leave the parent's epoll instance and wake-up descriptor alone.
pub fn after_fork_in_child() {
    GENERATION.fetch_add(1, Relaxed);
}

/// How many forks lie between this process and the one that loaded the library.
pub fn generation() -> u64 {
    GENERATION.load(Relaxed)
}
