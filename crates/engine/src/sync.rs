//! What a share is made of: std's, and the runtime's count of borrows. tests/share_interleavings.rs puts others in their place.

pub(crate) use runtime::cell::{held, none_is_borrowed};
pub(crate) use std::sync::{Arc, Mutex, atomic};
