//! The shared primitives of `ready.rs`, from std. tests/interleavings.rs substitutes others.

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic};
