//! How many have initialised the library and not yet cleaned up.

use std::sync::PoisonError;

use crate::sync::Mutex;

/// A count of which the first one's work is done before anybody else goes on: a thread that comes second would otherwise allocate
/// with functions that are replaced beneath it.
#[derive(Default)]
pub struct Users(Mutex<usize>);

impl Users {
    pub const fn new() -> Users {
        Users(Mutex::new(0))
    }

    /// One more; where there was none, with `first` done.
    pub fn enter(&self, first: impl FnOnce()) {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *users == 0 {
            first();
        }
        *users += 1;
    }

    /// One less; whether none is left. Who never entered leaves as the last one does.
    pub fn leave(&self) -> bool {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *users = users.saturating_sub(1);
        *users == 0
    }
}
