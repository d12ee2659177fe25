//! Ctrl-C is not watched on Windows: the process ends at once, without its reports.

use std::time::Duration;

/// A watch that is never set up.
pub enum Interrupt {}

impl Interrupt {
    /// Returns nothing.
    pub fn watch(_: impl Fn() + Send + 'static) -> Option<Interrupt> {
        None
    }

    /// Returns whether the signal has arrived.
    pub fn has_come(&self) -> bool {
        match *self {}
    }

    /// Sleeps until the signal comes, but no longer than this.
    pub fn sleep(&self, _: Duration) {
        match *self {}
    }
}

/// Does nothing: nothing is watched.
pub fn end_process() {}
