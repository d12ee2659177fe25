//! A readable descriptor of the reactor, as an event by itself: with one entry alone, a call that asks
//! epoll would only name that entry.

use std::task::Waker;

use super::{Reactor, Report, Table};
use crate::wait::{Descriptor, Wakers};

impl Descriptor {
    /// States that the loop which watches this is edge-triggered. It then runs the tasks for each event of
    /// the only connection without asking epoll first. A loop that asks for levels would find the descriptor
    /// readable for as long as epoll was not asked.
    pub fn watch_by_edges(&self) {
        self.reactor().table().is_watched_by_edges = true;
    }
}

impl Reactor {
    /// Returns whether [`descriptor`](Self::descriptor) is readable only because new waits were added since
    /// the last check.
    pub fn has_unasked(&self) -> bool {
        self.table().unasked
    }

    /// Lets the only entry be read, if it alone can have made the descriptor readable. Returns false if epoll
    /// has to be asked.
    pub(crate) fn report_only_reader(&self) -> bool {
        let mut table = self.table();
        let Some(slot) = table.only_reader() else { return false };
        // Bytes and an end may have come together. Datagrams have no end.
        let edge = !table.entries[slot].is_datagram;
        let mut wakers = Wakers::new();
        table.report(slot, Report { read: true, write: false, ended: false, edge }, &mut wakers);
        drop(table);
        wakers.into_iter().for_each(Waker::wake);
        true
    }
}

impl Table {
    /// Returns the only entry, if an edge-triggered loop watches it and a task waits to read it and not to
    /// write. With a second entry, an event of that one could be left unreported.
    fn only_reader(&self) -> Option<usize> {
        if !self.is_watched_by_edges || self.unasked || self.entries.len() != 1 {
            return None;
        }
        let (slot, entry) = self.entries.iter().next()?;
        let waits = entry.want();
        (entry.in_epoll && waits.reads() && !waits.writes()).then_some(slot)
    }
}
