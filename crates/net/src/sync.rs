//! Primitives for data shared by threads, the clock and fork detection: std's and the runtime's. Tests
//! that decide the order of threads' steps (tests/*_interleavings.rs) compile the files that use it once
//! more, with others in their place.

pub(crate) use runtime::{LockFreeOnce, fork_generation, spawn_helper};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, atomic};
pub(crate) use std::thread::sleep as pause;
pub(crate) use std::time::Instant;
