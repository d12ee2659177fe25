//! What `lookup` shares between threads is made of, and its clock: std's. tests/resolver_interleavings.rs puts others in their
//! place.

pub(super) use runtime::spawn_helper;
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
pub(super) use std::time::Instant;
