//! What `ready.rs` shares between threads is made of: std's. tests/interleavings.rs puts others in their
//! place.

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic};
