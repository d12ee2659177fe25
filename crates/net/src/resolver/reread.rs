//! A file of the system's that is read again when it has changed.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// More of a file is not read.
const LONGEST: u64 = 64 << 20;

/// As long as the file has this time and length, it is what it was.
type Stamp = (Option<SystemTime>, u64);

/// What a file says, kept.
pub(super) struct Reread<T> {
    path: &'static str,
    read: fn(&str) -> T,
    known: Mutex<Option<(Stamp, Arc<T>)>>,
}

impl<T> Reread<T> {
    pub(super) const fn new(path: &'static str, read: fn(&str) -> T) -> Reread<T> {
        Reread { path, read, known: Mutex::new(None) }
    }

    /// What it says now. One that is not there is empty.
    pub(super) fn now(&self) -> Arc<T> {
        let about = fs::metadata(self.path).ok();
        let stamp = about.map_or((None, 0), |about| (about.modified().ok(), about.len()));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, said)) = known.as_ref().filter(|(of, _)| *of == stamp) {
            return said.clone();
        }
        let text = if stamp.1 <= LONGEST { fs::read(self.path).unwrap_or_default() } else { Vec::new() };
        let said = Arc::new((self.read)(&String::from_utf8_lossy(&text)));
        *known = Some((stamp, said.clone()));
        said
    }
}
