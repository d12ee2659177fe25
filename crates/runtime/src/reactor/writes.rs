//! Events of writability, which a socket of datagrams has after each send.

use super::{Registration, Table, key};

impl Registration {
    /// Lets no event tell that the descriptor is writable until a write waits for one. The system reports it
    /// of a datagram socket whenever a packet has left: an event for each send.
    pub fn expect_no_write_events(&self) {
        let mut table = self.reactor.table();
        table.entries[self.slot].is_datagram = true;
        if table.entries[self.slot].tells_writable {
            table.tell_writable(self.slot, false);
        }
    }
}

impl Table {
    /// Sets whether epoll reports that an entry is writable.
    #[cold]
    pub(super) fn tell_writable(&mut self, slot: usize, on: bool) {
        let entry = &mut self.entries[slot];
        entry.tells_writable = on;
        let Some(epoll) = self.epoll.as_ref().filter(|_| entry.in_epoll) else { return };
        if epoll.modify(&entry.fd, key(slot, entry.generation), on).is_err() {
            epoll.delete(&entry.fd);
            entry.in_epoll = false;
            self.stragglers.insert(slot);
        }
        self.unasked = true;
    }
}
