//! The count of calls of curl_global_init without their cleanup.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use crate::sync::{AtomicU64, AtomicUsize, fork_generation, yield_now};

/// A counter whose first user's work completes before any other continues: otherwise a second thread could
/// allocate with functions that are being replaced. There is no lock: a child may be forked while a thread of
/// its parent does that work.
#[derive(Default)]
pub struct Users {
    count: AtomicUsize,
    /// The fork generation, plus one, of the process in which a thread does the first user's work; 0 if none
    /// does.
    busy: AtomicU64,
}

impl Users {
    pub const fn new() -> Users {
        Users { count: AtomicUsize::new(0), busy: AtomicU64::new(0) }
    }

    /// Counts one more, after `first` where there was none.
    pub fn enter(&self, first: impl FnOnce()) {
        let own = fork_generation() + 1;
        let join = || self.count.fetch_update(AcqRel, Acquire, |n| (n > 0).then_some(n + 1)).is_ok();
        loop {
            if join() {
                return;
            }
            let busy = self.busy.load(Acquire);
            if busy != own && self.busy.compare_exchange(busy, own, AcqRel, Acquire).is_ok() {
                break;
            }
            yield_now();
        }
        // Only the busy thread changes the count from 0.
        if !join() {
            first();
            self.count.fetch_add(1, AcqRel);
        }
        self.busy.store(0, Release);
    }

    /// Decrements the count, and returns whether it is zero. A caller that never entered counts as the last
    /// one.
    pub fn leave(&self) -> bool {
        let before = self.count.fetch_update(AcqRel, Acquire, |n| Some(n.saturating_sub(1)));
        before.unwrap_or_default() <= 1
    }
}
