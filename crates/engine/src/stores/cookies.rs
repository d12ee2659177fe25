//! The cookie engine of a handle or a share: which cookies go with a request, what a reply sets, and
//! the files they are read from and written to.

use crate::easy::EasyState;
use crate::transfer::Transfer;

/// A handle's own cookies.
#[derive(Default)]
pub struct Store {}

impl Store {
    /// Takes over another handle's cookies.
    pub fn copy_from(&self, _other: &Store) {}
}

/// The Cookie field for the current request.
pub fn header_for(_t: &Transfer) -> Option<Vec<u8>> {
    None
}

/// A reply sets a cookie.
pub fn received(_t: &Transfer, _value: &[u8]) {}

/// Writes the jar file.
pub fn save(_easy: &EasyState) {}
