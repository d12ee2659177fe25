//! The right to one connection of a pool: a slot while it is being made, a lease while it is used.
//!
//! Both count against the pool's limits until they are dropped. Dropping a lease closes its connection (cancel);
//! releasing it makes the connection idle; retiring it closes politely.

use std::ops::{Deref, DerefMut};
use std::rc::{Rc, Weak};

use crate::connection::Connection;
use crate::pool::Inner;

/// Permission to open one connection.
pub struct Slot {
    pool: Weak<Inner>,
    /// Where in the pool's table it counts; held as long as the slot is.
    bundle: usize,
}

/// A connection in use by one transfer.
pub struct Lease {
    /// Boxed, because it changes hands a dozen times per request.
    connection: Option<Box<Connection>>,
    slot: Slot,
    reused: bool,
}

impl Slot {
    /// Takes over the hold on that bundle.
    pub(crate) fn new(pool: &Rc<Inner>, bundle: usize) -> Slot {
        pool.occupy(bundle);
        Slot { pool: Rc::downgrade(pool), bundle }
    }

    /// The connection that was opened with this permission. It gets its number.
    pub fn fill(self, mut connection: Connection) -> Lease {
        if let Some(pool) = self.pool.upgrade() {
            connection.id = pool.next_id();
        }
        connection.uses += 1;
        Lease { connection: Some(Box::new(connection)), slot: self, reused: false }
    }

    pub(crate) fn refill(self, mut connection: Box<Connection>) -> Lease {
        connection.uses += 1;
        Lease { connection: Some(connection), slot: self, reused: true }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.vacate(self.bundle);
        }
    }
}

impl Lease {
    /// Whether the connection has served before: a request that dies on it at once may be sent again on a fresh one.
    pub fn is_reused(&self) -> bool {
        self.reused
    }

    /// Takes the connection out for an exchange that wants to own it; [`Lease::restore`] puts it back. The slot stays.
    pub fn take(&mut self) -> Box<Connection> {
        self.connection.take().expect("a lease holds its connection until it is given up")
    }

    /// Puts back what [`Lease::take`] took out.
    pub fn restore(&mut self, connection: Box<Connection>) {
        self.connection = Some(connection);
    }

    /// Back to the pool, for the next transfer.
    pub fn release(mut self) {
        let Some(connection) = self.connection.take() else { return };
        let pool = self.slot.pool.upgrade().filter(|_| !connection.identity.unnamed);
        match pool {
            Some(pool) => {
                self.slot.pool = Weak::new(); // it ends with what follows
                pool.give_back(self.slot.bundle, connection);
            }
            None => connection.retire(),
        }
    }

    /// Closes politely.
    pub fn retire(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.retire();
        }
    }

    /// Takes the connection out of the pool's sight (CONNECT_ONLY, an upgraded protocol). The slot goes with the lease.
    pub fn into_connection(mut self) -> Connection {
        *self.take()
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a lease holds its connection until it is given up")
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("a lease holds its connection until it is given up")
    }
}
