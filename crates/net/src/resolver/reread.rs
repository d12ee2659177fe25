//! A file of the system's that is read again when it has changed.

use std::convert::Infallible;
use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use crate::kept::Kept;

/// More of a file is not read.
const LONGEST: u64 = 64 << 20;

/// As long as the file has this time and length, it is what it was.
type Stamp = (Option<SystemTime>, u64);

/// What a file says, kept.
pub(super) struct Reread<T> {
    path: &'static str,
    read: fn(&str) -> T,
    known: Kept<(), Stamp, T>,
}

impl<T> Reread<T> {
    pub(super) const fn new(path: &'static str, read: fn(&str) -> T) -> Reread<T> {
        Reread { path, read, known: Kept::new() }
    }

    /// What it says now. One that is not there, or is too long, is empty.
    pub(super) fn now(&self) -> Arc<T> {
        let length = || fs::metadata(self.path).map_or(0, |about| about.len());
        let stamp = || {
            let about = fs::metadata(self.path).ok();
            about.map_or((None, 0), |about| (about.modified().ok(), about.len()))
        };
        let read = || {
            let text = if length() <= LONGEST { fs::read(self.path).unwrap_or_default() } else { Vec::new() };
            Ok::<_, Infallible>((self.read)(&String::from_utf8_lossy(&text)))
        };
        let Ok(said) = self.known.get(&(), None, stamp, read);
        said
    }
}
