//! The end of a reactor, and its table made as new for another user.

use super::{Reactor, Table};

impl Reactor {
    /// Releases the reactor's own descriptors when the runtime ends.
    pub fn end(&self) {
        self.table().forget_epoll();
        self.ready.forget_descriptor();
    }

    /// Makes the table as new, but for its storage. Returns false if anything in it is left.
    pub(crate) fn renew(&self) -> bool {
        self.ready.is_unused() && self.table().renew()
    }
}

impl Table {
    /// Event keys and timers are numbered on: a late event of an earlier use must not find a later entry.
    fn renew(&mut self) -> bool {
        let unused = self.entries.is_empty() && self.timers.next().is_none() && self.hook.is_none();
        if unused {
            self.doubtful.clear();
            (self.doubts, self.check_at, self.unasked) = (0, None, false);
            self.dirty.clear();
            self.wake_told = false;
        }
        unused
    }
}
