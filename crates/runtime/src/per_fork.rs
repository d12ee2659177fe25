//! Values made on first use that a forked child can always have.

use std::sync::OnceLock;

use crate::fork_generation;

/// Forks in a row after which children share a slot with their parents.
const SLOTS: usize = 16;

/// A value of the process, made on first use. A forked child makes its own: the thread that was making its
/// parent's does not exist in the child, which would wait for it forever.
#[derive(Debug)]
pub struct PerFork<T>([OnceLock<T>; SLOTS]);

impl<T> PerFork<T> {
    /// Returns an empty one.
    pub const fn new() -> PerFork<T> {
        PerFork([const { OnceLock::new() }; SLOTS])
    }

    /// Returns the value of this process, created by `make` on first use.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.of(fork_generation()).get_or_init(make)
    }

    fn of(&self, generation: u64) -> &OnceLock<T> {
        let last = SLOTS - 1;
        &self.0[usize::try_from(generation).map_or(last, |generation| generation.min(last))]
    }
}

impl<T> Default for PerFork<T> {
    fn default() -> PerFork<T> {
        PerFork::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// A child asks while a thread of its parent's is making the value, and never ends.
    #[test]
    fn a_child_waits_for_no_thread_of_its_parents() {
        let value = PerFork::new();
        let (begun, has_begun) = mpsc::channel();
        let (end, may_end) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let value = &value;
            scope.spawn(move || {
                value.of(0).get_or_init(|| {
                    begun.send(()).unwrap();
                    let _ = may_end.recv();
                    1
                })
            });
            has_begun.recv().unwrap();
            assert_eq!(value.of(1).get_or_init(|| 2), &2);
            assert_eq!(value.of(u64::MAX).get_or_init(|| 3), &3);
            end.send(()).unwrap();
        });
        assert_eq!(value.of(0).get(), Some(&1));
        assert_eq!(value.get_or_init(|| 4), &1);
    }
}
