//! A value that belongs to one process: a forked child begins with a new one.

use std::sync::{Mutex, TryLockError};

use runtime::fork_generation;

/// How often a thread tries for the lock.
const TRIES: usize = 1000;

/// A value behind a lock that no thread waits for: the thread that holds it may not exist in a forked child.
///
/// The last entry is the value of this process, with its fork generation. The entries before it are those of
/// its parents: threads that do not exist here may hold what they own, so they are never dropped.
pub struct PerProcess<T>(Mutex<Vec<(u64, T)>>);

impl<T> PerProcess<T> {
    pub const fn new() -> PerProcess<T> {
        PerProcess(Mutex::new(Vec::new()))
    }

    /// Runs `f` on the value, which `make` creates on first use. Returns `None` if other threads hold it for
    /// long.
    pub fn with<R>(&self, make: impl FnOnce() -> T, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        for _ in 0..TRIES {
            let mut values = match self.0.try_lock() {
                Ok(values) => values,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    std::thread::yield_now();
                    continue;
                }
            };
            let generation = fork_generation();
            if values.last().is_none_or(|(known, _)| *known != generation) {
                values.push((generation, make()));
            }
            return values.last_mut().map(|(_, value)| f(value));
        }
        None
    }
}
