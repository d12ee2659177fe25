//! The primitives of a share: std's, and the runtime's count of borrows. tests/share_interleavings.rs
//! substitutes others.

pub(crate) use runtime::cell::{held, none_is_borrowed};
pub(crate) use std::sync::{Arc, Mutex, atomic};
