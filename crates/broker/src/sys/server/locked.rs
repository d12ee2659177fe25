//! Bytes in memory that is not swapped out, and is wiped when it is freed.
//!
//! Each value has pages of its own: mlock(2) counts pages, and unlocking a page would unlock its other
//! values. A system with a small RLIMIT_MEMLOCK may refuse; the memory is then used without the lock, since
//! the alternative is a broker that keeps nothing.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zeroize::Zeroize;

/// Bytes in locked memory.
#[derive(Debug, Default)]
pub(super) struct Locked {
    /// None for no bytes.
    pages: Option<MmapMut>,
}

impl Locked {
    pub fn new(length: usize) -> io::Result<Locked> {
        if length == 0 {
            return Ok(Locked::default());
        }
        let pages = MmapMut::map_anon(length)?;
        let _ = pages.lock();
        Ok(Locked { pages: Some(pages) })
    }

    /// Returns a copy of the bytes.
    pub fn of(bytes: &[u8]) -> io::Result<Locked> {
        let mut locked = Locked::new(bytes.len())?;
        locked.copy_from_slice(bytes);
        Ok(locked)
    }

    /// Overwrites the first bytes.
    pub fn wipe(&mut self, length: usize) {
        self[..length].zeroize();
    }
}

impl Deref for Locked {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.pages.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.pages.as_deref_mut().unwrap_or_default()
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let length = self.len();
        self.wipe(length);
    }
}
