//! The right of one transfer to something in a pool: a slot while a connection is being opened, then the
//! whole connection, or one place in a shared session.
//!
//! Each counts against the pool's limits until it is dropped. Dropping a whole connection closes it, dropping
//! a place leaves the session. Releasing makes the connection idle; retiring closes it in an orderly way.

use std::rc::{Rc, Weak};

use super::pooled::{Pooled, PooledAs, Session};
use super::queue::KeyOf;
use super::request::AcquireRequest;
use super::state::{ALONE, Inner, OpenResult};

/// The permission to open one connection. Other requests may wait for the result.
pub struct Slot<S: Session + ?Sized> {
    pool: Weak<Inner<S>>,
    /// The bundle in which it counts; held as long as the slot exists.
    bundle: usize,
    /// The connection is not open yet.
    opening: bool,
    /// The number of the connection that is being opened. One that fails has used up its number, as in curl.
    id: u64,
    /// The number of a connection on which a session runs.
    hosts: Option<u64>,
}

/// A connection in use by one transfer.
pub enum Lease<S: Session + ?Sized, C = <S as Session>::Connection, P = <S as Session>::Place> {
    /// All of it.
    Whole(Whole<S, C>),
    /// One of the streams that it carries.
    Stream(Share<S, P>),
}

/// A connection that has one user: a transfer, or the session that runs on it.
pub struct Whole<S: Session + ?Sized, C = <S as Session>::Connection> {
    connection: Option<C>,
    slot: Slot<S>,
    reused: bool,
}

/// A place in a session.
pub struct Share<S: Session + ?Sized, P = <S as Session>::Place> {
    // Before the session, because leaving a place may end its session.
    pub(crate) place: P,
    pub(crate) session: Rc<S>,
    /// The session has served before.
    reused: bool,
}

impl<S: Session + ?Sized> Slot<S> {
    /// Takes over the reference to that bundle.
    pub(super) fn new(pool: &Rc<Inner<S>>, bundle: usize, opening: bool) -> Self {
        pool.occupy(bundle, opening);
        let id = if opening { pool.next_id() } else { 0 };
        Slot { pool: Rc::downgrade(pool), bundle, opening, id, hosts: None }
    }

    /// Fills the only slot of an empty pool with an idle connection.
    pub(super) fn refill_alone(
        pool: &Rc<Inner<S>>,
        wish: AcquireRequest<'_, KeyOf<S>>,
        connection: S::Connection,
    ) -> Lease<S> {
        pool.cell.borrow_mut().lease_alone(wish);
        let slot = Slot { pool: Rc::downgrade(pool), bundle: ALONE, opening: false, id: 0, hosts: None };
        slot.refill(connection)
    }

    /// Returns the number of the connection that is opened with this permission.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Turns the connection that was opened with this permission into a lease for one transfer at a time.
    pub fn fill<C: PooledAs<S::Connection>>(self, connection: C) -> Lease<S, C> {
        Lease::Whole(self.number(connection, OpenResult::ForOne))
    }

    /// Runs a session on the connection that was opened with this permission; the transfer gets its first
    /// place.
    pub fn host<C: PooledAs<S::Connection>, D>(
        self,
        connection: C,
        run: impl FnOnce(Whole<S, C>) -> Rc<S>,
    ) -> Lease<S, D> {
        self.number(connection, OpenResult::ForMany).host(run)
    }

    /// Fills the slot with an idle connection.
    pub(super) fn refill(self, mut connection: S::Connection) -> Lease<S> {
        Pooled::count_use(&mut connection);
        Lease::Whole(Whole { connection: Some(connection), slot: self, reused: true })
    }

    fn number<C: PooledAs<S::Connection>>(mut self, mut connection: C, opened: OpenResult) -> Whole<S, C> {
        if let Some(pool) = self.pool.upgrade() {
            connection.set_number(self.id);
            pool.opened(self.bundle, opened);
        }
        self.opening = false;
        connection.count_use();
        Whole { connection: Some(connection), slot: self, reused: false }
    }
}

impl<S: Session + ?Sized> Drop for Slot<S> {
    fn drop(&mut self) {
        let Some(pool) = self.pool.upgrade() else { return };
        if self.opening {
            pool.opened(self.bundle, OpenResult::Nothing);
        }
        pool.vacate(self.bundle, self.hosts);
    }
}

impl<S: Session + ?Sized, C, P> From<Whole<S, C>> for Lease<S, C, P> {
    fn from(whole: Whole<S, C>) -> Self {
        Lease::Whole(whole)
    }
}

impl<S: Session + ?Sized> Lease<S> {
    /// Takes a place in a session that others use, too.
    pub(super) fn of(session: Rc<S>) -> Self {
        Lease::Stream(Share { place: session.clone().place(), session, reused: true })
    }
}

impl<S: Session + ?Sized, C, P> Lease<S, C, P> {
    /// Wraps a place that the peer has opened in a session.
    pub(crate) fn adopted(session: Rc<S>, place: P) -> Self {
        Lease::Stream(Share { place, session, reused: false })
    }

    /// Returns whether the connection has served before: a request that dies on it at once may be sent
    /// again on a new one.
    pub fn is_reused(&self) -> bool {
        match self {
            Lease::Whole(whole) => whole.reused,
            Lease::Stream(share) => share.reused,
        }
    }

    /// Returns the whole connection; `None` for a stream, which is reset.
    pub fn into_whole(self) -> Option<Whole<S, C>> {
        match self {
            Lease::Whole(whole) => Some(whole),
            Lease::Stream(_) => None,
        }
    }

    /// Returns the whole connection, if it is one.
    pub fn whole(&mut self) -> Option<&mut Whole<S, C>> {
        match self {
            Lease::Whole(whole) => Some(whole),
            Lease::Stream(_) => None,
        }
    }
}

impl<S: Session + ?Sized, C: PooledAs<S::Connection>, P> Lease<S, C, P> {
    /// Returns a whole connection to the pool for the next transfer; leaves a stream.
    pub fn release(self) {
        if let Lease::Whole(whole) = self {
            whole.release();
        }
    }
}

impl<S: Session + ?Sized, P> Share<S, P> {
    /// Returns the session.
    pub fn session(&self) -> &Rc<S> {
        &self.session
    }

    /// Returns the place as another type.
    pub(crate) fn map<Q>(self, f: impl FnOnce(P) -> Q) -> Share<S, Q> {
        Share { place: f(self.place), session: self.session, reused: self.reused }
    }

    /// Returns the place as another type if it is one.
    pub(crate) fn filter_map<Q>(self, f: impl FnOnce(P) -> Option<Q>) -> Option<Share<S, Q>> {
        Some(Share { place: f(self.place)?, session: self.session, reused: self.reused })
    }
}

impl<S: Session + ?Sized, C> Whole<S, C> {
    /// Returns the connection to look at.
    pub fn held(&self) -> &C {
        self.connection.as_ref().expect("a lease holds its connection until it is given up")
    }

    /// Returns the connection.
    pub fn connection(&mut self) -> &mut C {
        self.connection.as_mut().expect("a lease holds its connection until it is given up")
    }

    /// Returns whether the connection has served before.
    pub fn is_reused(&self) -> bool {
        self.reused
    }

    /// Takes the connection out for a new owner; [`Whole::restore`] puts it back. The slot stays.
    pub fn take(&mut self) -> C {
        self.connection.take().expect("a lease holds its connection until it is given up")
    }

    /// Puts back the connection that [`Whole::take`] took out.
    pub fn restore(&mut self, connection: C) {
        self.connection = Some(connection);
    }

    /// Puts in a connection in place of the one that [`Whole::take`] took out, by a more exact type.
    pub(crate) fn with<D>(self, connection: D) -> Whole<S, D> {
        Whole { connection: Some(connection), slot: self.slot, reused: self.reused }
    }

    /// Reports that the session that owns it has room for one more place, and wakes the first request that
    /// waits for one.
    pub fn tell_room(&self) {
        if let Some(pool) = self.slot.pool.upgrade() {
            pool.wake_for_stream(self.slot.bundle);
        }
    }
}

impl<S: Session + ?Sized, C: PooledAs<S::Connection>> Whole<S, C> {
    /// Runs a session on the connection, in which other transfers may have places; this one gets the first.
    /// The session owns the connection and returns it to the pool with [`Whole::release`] when its last place
    /// is left.
    pub fn host<D>(mut self, run: impl FnOnce(Whole<S, C>) -> Rc<S>) -> Lease<S, D> {
        let (pool, bundle, reused) = (self.slot.pool.clone(), self.slot.bundle, self.reused);
        let (id, for_one_use) = (self.held().number(), self.held().is_for_one_use());
        self.slot.hosts = Some(id);
        let session = run(self);
        let place = session.clone().place();
        if let Some(pool) = pool.upgrade().filter(|_| !for_one_use) {
            pool.announce(bundle, id, session.clone());
        }
        Lease::Stream(Share { place, session, reused })
    }

    /// Returns the connection to the pool, for the next transfer.
    pub fn release(mut self) {
        let Some(connection) = self.connection.take() else { return };
        let connection: S::Connection = connection.into();
        let pool = self.slot.pool.upgrade().filter(|_| !Pooled::is_for_one_use(&connection));
        match pool {
            Some(pool) => {
                self.slot.pool = Weak::new(); // `give_back` ends the slot as well
                pool.give_back(self.slot.bundle, self.slot.hosts, connection);
            }
            None => connection.retire(),
        }
    }

    /// Closes the connection politely.
    pub fn retire(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.into().retire();
        }
    }
}
