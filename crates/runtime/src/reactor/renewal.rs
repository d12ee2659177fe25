//! The end of a reactor, and its table made as new for another user.

use super::{Reactor, Table};
use crate::sys::fork;

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
            self.wake_announced = false;
        }
        unused
    }

    /// Drops the epoll instance untouched in a forked child: the parent has it, too. It is replaced when it
    /// is needed.
    pub(super) fn leave_parent(&mut self) {
        self.fork_generation = fork::generation();
        self.forget_epoll();
    }

    pub(super) fn forget_epoll(&mut self) {
        self.epoll = None;
        self.wake_in_epoll = false;
        self.stragglers.clear();
        self.entries.iter_mut().for_each(|(_, entry)| entry.in_epoll = false);
    }
}
