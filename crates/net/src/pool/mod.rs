//! The pool of one handle, with curl's limits, and the queue for free slots.
//!
//! A table by connection key (`table`): taking a connection, returning it and waking a waiter take
//! constant time, however many are idle and however many wait (`queue`). Idle connections stay registered
//! with the handle's reactor but nobody waits on them, so the application hears nothing of them. A connection
//! that is alone, idle or leased, has no entry in the table until somebody asks for more than that connection
//! ([`Inner::state`]): most handles have one, and many programs close the handle after one request. On a miss
//! the shared pool behind it is searched; a shared pool in front (a share handle) gets every connection back
//! at once. Connections are closed only after the pool's own borrow has ended: closing calls the application.

mod chain;
mod lease;
mod neighbours;
mod pooled;
mod queue;
mod request;
mod shared;
mod state;
mod table;
#[cfg(test)]
mod tests;

use runtime::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use runtime::Reactor;

use queue::{KeyOf, QueuePlace};
use state::Inner;

pub use lease::{Lease, Share, Slot, Whole};
pub use pooled::{Ahead, Broker, GiveOutcome, PoolKey, Pooled, PooledAs, Session};
pub use request::{AcquireRequest, Ages, Counters, Eviction, Limits, Neighbour, NoneFromBroker, Refusal};
pub use shared::{GIVEN_AFTER, Rest, SharedPool};

/// The connections of one handle. Clones are the same pool.
pub struct Pool<S: Session + ?Sized>(Rc<Inner<S>>);

impl<S: Session + ?Sized> Clone for Pool<S> {
    fn clone(&self) -> Self {
        Pool(self.0.clone())
    }
}

/// The result of [`Pool::acquire`].
pub enum Acquired<S: Session + ?Sized> {
    /// An idle connection of that key, known to be alive, or a stream of a session.
    Reused(Lease<S>),
    /// None: one may be opened.
    Vacant(Slot<S>),
}

impl<S: Session + ?Sized> Pool<S> {
    /// An empty pool on a handle's reactor.
    pub fn new(reactor: &Arc<Reactor>) -> Self {
        Pool(Rc::new(Inner { reactor: reactor.clone(), cell: RefCell::default() }))
    }

    /// Sets the limits and closes surplus connections. Cheap if nothing changes, so it may be called before
    /// each transfer.
    pub fn set_limits(&self, limits: Limits) {
        let before = std::mem::replace(&mut self.0.cell.borrow_mut().limits, limits);
        if before == limits {
            return;
        }
        let mut state = self.0.state();
        let waits_differ = (before.per_host, before.total) != (limits.per_host, limits.total);
        if waits_differ {
            state.relist_all();
        }
        drop(state);
        self.0.trim(self.0.reactor.now());
        if waits_differ {
            self.0.wake_next();
        }
    }

    /// The limits as they are.
    pub fn limits(&self) -> Limits {
        self.0.cell.borrow().limits
    }

    /// Sets the pool that is searched on a miss and receives idle connections at cleanup (the process's).
    pub fn set_behind(&self, shared: Option<Arc<SharedPool<S::Connection>>>) {
        self.0.cell.borrow_mut().behind = shared;
    }

    /// A pool that has all idle connections at once (a share handle's).
    pub fn set_in_front(&self, shared: Option<Arc<SharedPool<S::Connection>>>) {
        self.0.cell.borrow_mut().in_front = shared;
    }

    /// A connection as wished for, or the permission to open one; waits while the limits forbid both.
    pub async fn acquire(&self, wish: AcquireRequest<'_, KeyOf<S>>) -> Acquired<S> {
        let mut place = QueuePlace::new(&self.0, wish);
        poll_fn(|cx| match self.try_acquire_at(wish, place.ticket(), self.now()) {
            Some(acquired) => {
                place.leave();
                Poll::Ready(acquired)
            }
            None => {
                place.take(cx.waker());
                Poll::Pending
            }
        })
        .await
    }

    /// Returns the time by the clock of the handle's reactor.
    pub fn now(&self) -> Instant {
        self.0.reactor.now()
    }

    /// Like [`Pool::acquire`], without waiting. The ages of idle connections are judged by `now`, which the
    /// caller needs as well: so the clock is read once.
    pub fn try_acquire(&self, wish: AcquireRequest<'_, KeyOf<S>>, now: Instant) -> Option<Acquired<S>> {
        self.try_acquire_at(wish, None, now)
    }

    /// Like [`Pool::try_acquire`], for a waiter with this place in the queue.
    fn try_acquire_at(
        &self,
        wish: AcquireRequest<'_, KeyOf<S>>,
        ticket: Option<u64>,
        now: Instant,
    ) -> Option<Acquired<S>> {
        let (only, searched) = if wish.fresh { (None, false) } else { self.only(wish, now) };
        if let Some(lease) = only {
            return Some(Acquired::Reused(lease));
        }
        if !wish.fresh
            && let Some(lease) = self.stream(wish).or_else(|| self.reuse_own(wish, now))
        {
            return Some(Acquired::Reused(lease));
        }
        if self.0.state().expects_session(wish, ticket) {
            return None;
        }
        let bundle = self.0.state().hold(wish);
        if !self.0.make_room(bundle) {
            self.0.state().table.let_go(bundle);
            return None;
        }
        if !wish.fresh
            && !searched
            && let Some(connection) = self.ask_shared(wish, now)
        {
            return Some(Acquired::Reused(self.lease(Slot::new(&self.0, bundle, false), connection)));
        }
        self.0.state().counters.opened += 1;
        Some(Acquired::Vacant(Slot::new(&self.0, bundle, true)))
    }

    /// A connection as wished for that is open, idle or with room for a stream; never a new one.
    pub fn try_reuse(&self, wish: AcquireRequest<'_, KeyOf<S>>, now: Instant) -> Option<Lease<S>> {
        let (only, searched) = self.only(wish, now);
        if only.is_some() || searched {
            return only;
        }
        self.stream(wish).or_else(|| self.reuse_own(wish, now)).or_else(|| {
            let connection = self.ask_shared(wish, now)?;
            let bundle = self.0.state().hold(wish);
            Some(self.lease(Slot::new(&self.0, bundle, false), connection))
        })
    }

    /// Takes the next number of a connection, for a transfer that needs none but is counted (`file:`).
    pub fn next_number(&self) -> u64 {
        self.0.next_id()
    }

    /// Returns whether anybody waits for a slot.
    pub fn has_waiters(&self) -> bool {
        self.waiting() > 0
    }

    /// How many wait for a slot.
    pub fn waiting(&self) -> usize {
        self.0.cell.borrow().queue.len()
    }

    /// Checks the idle connections that were not checked for `interval`, and closes those that have ended.
    /// Running sessions check their own.
    pub fn upkeep(&self, interval: Duration) {
        let now = self.0.reactor.now();
        let sessions = self.0.state().sessions();
        sessions.iter().for_each(|session| session.keep_up(interval, now));
        let places = self.0.state().table.places();
        let dead = self.0.visit(places, |connection| connection.keep_up(interval, now));
        self.0.state().counters.dead += dead;
    }

    /// The idle connections, the longest idle first.
    pub fn list(&self) -> Vec<<S::Connection as Pooled>::Listed> {
        let now = self.0.reactor.now();
        self.0.state().table.all().map(|c| c.listed(now)).collect()
    }

    /// Shows each idle connection of that key, and closes those for which `stays` returns false.
    pub fn visit_idle(&self, key: &KeyOf<S>, stays: impl FnMut(&mut S::Connection) -> bool) {
        let places = {
            let state = self.0.state();
            state.table.find(key).map(|bundle| state.table.places_of(bundle))
        };
        self.0.visit(places.unwrap_or_default(), stays);
    }

    /// Returns whether the connection with this number is idle and alive. Closes it if its peer has.
    pub fn has_idle(&self, number: u64) -> bool {
        let place = self.0.state().table.place_of(number);
        place.is_some_and(|place| self.0.visit(vec![place], |connection| connection.is_alive()) == 0)
    }

    /// The pool's own copy of an equal key: ten thousand transfers to one host have one between
    /// them.
    pub fn known(&self, key: KeyOf<S>) -> KeyOf<S> {
        let state = self.0.cell.borrow();
        let alone = state.key_alone().filter(|known| **known == key).cloned();
        alone.or_else(|| state.table.known(&key)).unwrap_or(key)
    }

    /// Returns its counters.
    pub fn counters(&self) -> Counters {
        let state = self.0.cell.borrow();
        Counters { looks: state.table.looks, ..state.counters }
    }

    /// How many connections are idle.
    pub fn idle(&self) -> usize {
        self.0.state().table.idle_len()
    }

    /// Slots and leases that are out.
    pub fn in_use(&self) -> usize {
        self.0.state().used
    }

    /// Returns the sessions that run.
    pub fn sessions(&self) -> Vec<Rc<S>> {
        self.0.state().sessions()
    }

    /// Resets the counts when no slot or lease can exist any more and no session is driven: those that are
    /// counted were lost with frames that were jumped over.
    pub fn forget_leases(&self) {
        let sessions = self.0.state().take_sessions();
        drop(sessions);
        self.0.state().forget_used();
        self.0.wake_next();
    }

    /// Closes every idle connection politely.
    pub fn close_all(&self) {
        let idle = self.0.state().drain();
        idle.into_iter().for_each(|connection| connection.retire());
    }

    /// At a handle's cleanup: moves connections that others may use to the pool behind, and closes the rest
    /// in an orderly way.
    pub fn give_up(&self) {
        let (only, idle, sessions, behind) = {
            let mut state = self.0.cell.borrow_mut();
            let only = state.table.take_only();
            (only, state.table.idle_len(), state.take_sessions(), state.behind.clone())
        };
        drop(sessions);
        let give = |connection: S::Connection| match &behind {
            Some(shared) => shared.put(connection, self.0.reactor.now()),
            None => connection.retire(),
        };
        only.into_iter().for_each(give);
        for _ in 0..idle {
            let connection = self.0.state().take_oldest();
            connection.into_iter().for_each(give);
        }
    }

    /// Makes the pool as new, and keeps its storage for another user. Returns false, and changes nothing, if
    /// a connection, lease or waiter is left, or another reference to the pool.
    pub fn renew(&self) -> bool {
        let mut state = self.0.cell.borrow_mut();
        let unused = state.is_empty() && state.table.is_unused() && state.used == 0 && state.queue.len() == 0;
        let renewed = unused && Rc::strong_count(&self.0) == 1;
        if renewed {
            state.renew();
        }
        renewed
    }

    /// The only connection of the pool or, in an empty pool, one of the pools that are searched; and whether
    /// those were searched.
    fn only(&self, wish: AcquireRequest<'_, KeyOf<S>>, now: Instant) -> (Option<Lease<S>>, bool) {
        let mut state = self.0.cell.borrow_mut();
        let alone = state.table.take_alone(wish);
        if alone.is_none() && !state.is_empty() {
            return (None, false);
        }
        drop(state);
        if let Some(mut connection) = alone {
            if wish.accepts(&mut connection, now) {
                connection.set_owner(wish.owner);
                return (Some(Slot::refill_alone(&self.0, wish, connection)), false);
            }
            self.0.cell.borrow_mut().counters.dead += 1;
        }
        let found = self.ask_shared(wish, now);
        (found.map(|connection| Slot::refill_alone(&self.0, wish, connection)), true)
    }

    /// A stream of a session that has room for one.
    fn stream(&self, wish: AcquireRequest<'_, KeyOf<S>>) -> Option<Lease<S>> {
        let session = self.0.state().find_session(wish)?;
        self.0.state().counters.reused += 1;
        Some(Lease::of(session))
    }

    fn reuse_own(&self, wish: AcquireRequest<'_, KeyOf<S>>, now: Instant) -> Option<Lease<S>> {
        while let Some((bundle, mut connection)) = self.0.take_idle(wish) {
            if wish.accepts(&mut connection, now) {
                connection.set_owner(wish.owner);
                return Some(self.lease(Slot::new(&self.0, bundle, false), connection));
            }
            let mut state = self.0.state();
            state.table.let_go(bundle);
            state.counters.dead += 1;
            drop(state);
            drop(connection);
        }
        None
    }

    fn ask_shared(&self, wish: AcquireRequest<'_, KeyOf<S>>, now: Instant) -> Option<S::Connection> {
        let pools = {
            let state = self.0.cell.borrow();
            [state.in_front.clone(), state.behind.clone()]
        };
        let pools = || pools.iter().flatten();
        let of_broker = || {
            let mut found = pools().find_map(|pool| pool.take_from_broker(wish, now))?;
            Pooled::set_number(&mut found, self.0.next_id());
            Some(found)
        };
        let mut found = pools().find_map(|pool| pool.take(wish, now)).or_else(of_broker)?;
        found.attach(&self.0.reactor, wish.owner);
        Some(found)
    }

    fn lease(&self, slot: Slot<S>, connection: S::Connection) -> Lease<S> {
        self.0.cell.borrow_mut().counters.reused += 1;
        slot.refill(connection)
    }
}
