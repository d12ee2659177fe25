//! The right of one transfer to a connection of a pool: a slot while it is being made; then the whole of it, or one stream
//! of a session that others use as well.
//!
//! All count against the pool's limits until they are dropped. Dropping what is whole closes the connection, dropping a
//! stream resets it (cancel); releasing makes it idle or leaves the stream; retiring closes politely.

use std::rc::{Rc, Weak};

use crate::connection::{About, Connection};
use crate::exchange::{Exchange, Spares, http1::Http1};
use crate::http2;
use crate::identity::Key;
use crate::pool::{Inner, Opened};
use crate::session::{Place, Session};
use crate::ssh::Seat;

/// Permission to open one connection. Others who want the same may wait for what comes of it.
pub struct Slot {
    pool: Weak<Inner>,
    /// Where in the pool's table it counts; held as long as the slot is.
    bundle: usize,
    /// Nothing has come of it yet.
    opening: bool,
    /// The number of the connection that is being opened. One that fails has used up its number, as in curl.
    id: u64,
    /// The number of a connection on which a session runs.
    hosts: Option<u64>,
}

/// A connection in use by one transfer.
pub enum Lease {
    /// All of it.
    Whole(Whole),
    /// One of the streams that it carries.
    Stream(Share),
}

/// A connection that somebody has to himself: a transfer, or the session that runs on it.
pub struct Whole {
    /// Boxed, because it changes hands a dozen times per request.
    connection: Option<Box<Connection>>,
    slot: Slot,
    reused: bool,
}

/// A stream of a session.
pub struct Share {
    place: Place,
    session: Rc<dyn Session>,
    /// The session has served before.
    reused: bool,
}

/// Makes leases of streams that a peer has opened.
pub struct Adopter(Rc<dyn Session>);

impl Adopter {
    /// The right to that stream.
    pub fn lease(&self, stream: http2::Stream) -> Lease {
        let session = self.0.clone();
        Lease::Stream(Share { place: session.clone().adopt(stream), session, reused: false })
    }
}

impl Slot {
    /// Takes over the hold on that bundle.
    pub(crate) fn new(pool: &Rc<Inner>, bundle: usize, opening: bool) -> Slot {
        pool.occupy(bundle, opening);
        let id = if opening { pool.next_id() } else { 0 };
        Slot { pool: Rc::downgrade(pool), bundle, opening, id, hosts: None }
    }

    /// Returns the number of the connection that is opened with this permission.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Turns the connection that was opened with this permission into a lease for one transfer at a time.
    pub fn fill(self, connection: Connection) -> Lease {
        Lease::Whole(self.number(connection, Opened::ForOne))
    }

    /// The connection that was opened with this permission, on which a session runs. The transfer has its first stream.
    pub fn host(self, connection: Connection, run: impl FnOnce(Whole) -> Rc<dyn Session>) -> Lease {
        self.number(connection, Opened::ForMany).host(run)
    }

    /// An idle connection has this place from now on.
    pub(crate) fn refill(self, mut connection: Box<Connection>) -> Lease {
        connection.uses += 1;
        Lease::Whole(Whole { connection: Some(connection), slot: self, reused: true })
    }

    fn number(mut self, mut connection: Connection, opened: Opened) -> Whole {
        if let Some(pool) = self.pool.upgrade() {
            connection.about.id = self.id;
            pool.opened(self.bundle, opened);
        }
        self.opening = false;
        connection.uses += 1;
        Whole { connection: Some(Box::new(connection)), slot: self, reused: false }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(pool) = self.pool.upgrade() else { return };
        if self.opening {
            pool.opened(self.bundle, Opened::Nothing);
        }
        pool.vacate(self.bundle, self.hosts);
    }
}

impl From<Whole> for Lease {
    fn from(whole: Whole) -> Lease {
        Lease::Whole(whole)
    }
}

impl Lease {
    /// What a transfer may know of its connection.
    pub fn about(&self) -> &About {
        match self {
            Lease::Whole(whole) => whole.about(),
            Lease::Stream(share) => share.session.about(),
        }
    }

    /// A stream of a session that others use, too.
    pub(crate) fn of(session: Rc<dyn Session>) -> Lease {
        Lease::Stream(Share { place: session.clone().place(), session, reused: true })
    }

    /// For streams of the same session that the peer opens; `None` where there is no session.
    pub fn adopter(&self) -> Option<Adopter> {
        match self {
            Lease::Whole(_) => None,
            Lease::Stream(share) => Some(Adopter(share.session.clone())),
        }
    }

    /// Whether the connection has served before: a request that dies on it at once may be sent again on a fresh one.
    pub fn is_reused(&self) -> bool {
        match self {
            Lease::Whole(whole) => whole.reused,
            Lease::Stream(share) => share.reused,
        }
    }

    /// The whole connection; `None` for a stream, which is reset.
    pub fn into_whole(self) -> Option<Whole> {
        match self {
            Lease::Whole(whole) => Some(whole),
            Lease::Stream(_) => None,
        }
    }

    /// The whole connection.
    pub fn whole(&mut self) -> Option<&mut Whole> {
        match self {
            Lease::Whole(whole) => Some(whole),
            Lease::Stream(_) => None,
        }
    }

    /// The same as [`Whole::host`]; a stream stays what it is.
    pub fn host(self, run: impl FnOnce(Whole) -> Rc<dyn Session>) -> Lease {
        match self {
            Lease::Whole(whole) => whole.host(run),
            stream => stream,
        }
    }

    /// Begins an exchange, which has the connection or the stream until [`Lease::end`].
    pub fn begin(&mut self, spares: &Spares) -> Box<dyn Exchange> {
        match self {
            Lease::Whole(whole) => Box::new(Http1::new(whole.take(), spares)),
            Lease::Stream(Share { place: Place::Stream(stream), .. }) => stream.begin(spares),
            Lease::Stream(_) => unreachable!("HTTP asks for no connection of SSH's: their identities differ"),
        }
    }

    /// The place in a session of SSH's.
    pub fn seat(self) -> Option<Seat> {
        match self {
            Lease::Stream(Share { place: Place::Channel(seat), .. }) => Some(seat),
            _ => None,
        }
    }

    /// Ends an exchange that was begun here: whether another may follow.
    pub fn end(&mut self, exchange: Box<dyn Exchange>) -> bool {
        let finished = exchange.finish();
        if let (Lease::Whole(whole), Some(connection)) = (self, finished.connection) {
            whole.restore(connection);
        }
        finished.clean
    }

    /// Back to the pool, for the next transfer; the stream is left.
    pub fn release(self) {
        if let Lease::Whole(whole) = self {
            whole.release();
        }
    }

    /// Closes politely. Of a session this transfer's stream alone ends; the session opens no more, and closes after the last.
    pub fn retire(self) {
        match self {
            Lease::Whole(whole) => whole.retire(),
            Lease::Stream(Share { place: Place::Stream(mut stream), .. }) => stream.retire(),
            Lease::Stream(Share { place: Place::Channel(mut seat), .. }) => seat.retire(),
        }
    }
}

impl Whole {
    /// What may be known of it.
    pub fn about(&self) -> &About {
        let connection = self.connection.as_ref();
        &connection.expect("a lease holds its connection until it is given up").about
    }

    /// The connection, for who has all of it.
    pub fn connection(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("a lease holds its connection until it is given up")
    }

    /// Whether it has served before.
    pub fn is_reused(&self) -> bool {
        self.reused
    }

    /// Takes the connection out for somebody who wants to own it; [`Whole::restore`] puts it back. The slot stays.
    pub fn take(&mut self) -> Box<Connection> {
        self.connection.take().expect("a lease holds its connection until it is given up")
    }

    /// Puts back what [`Whole::take`] took out.
    pub fn restore(&mut self, connection: Box<Connection>) {
        self.connection = Some(connection);
    }

    /// Somebody is logged in on it from now on: only the same identity finds it.
    pub fn bind(&mut self, identity: Key) {
        self.connection().about.identity = identity;
    }

    /// Runs a session on it, of which the others of its pool may have streams; the first is this transfer's. The session
    /// has the connection, and gives it back to the pool with [`Whole::release`] when no stream is left.
    pub fn host(mut self, run: impl FnOnce(Whole) -> Rc<dyn Session>) -> Lease {
        let (pool, bundle, reused) = (self.slot.pool.clone(), self.slot.bundle, self.reused);
        let (id, by_ticket) = (self.about().id, self.about().identity.by_ticket);
        self.slot.hosts = Some(id);
        let session = run(self);
        let place = session.clone().place();
        if let Some(pool) = pool.upgrade().filter(|_| !by_ticket) {
            pool.announce(bundle, id, session.clone());
        }
        Lease::Stream(Share { place, session, reused })
    }

    /// For a session that has it: a stream may be opened now, and whoever waits for one is told.
    pub fn tell_room(&self) {
        if let Some(pool) = self.slot.pool.upgrade() {
            pool.wake_for_stream(self.slot.bundle);
        }
    }

    /// Back to the pool, for the next transfer.
    pub fn release(mut self) {
        let Some(connection) = self.connection.take() else { return };
        let pool = self.slot.pool.upgrade().filter(|_| !connection.about.identity.by_ticket);
        match pool {
            Some(pool) => {
                self.slot.pool = Weak::new(); // it ends with what follows
                pool.give_back(self.slot.bundle, self.slot.hosts, connection);
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
