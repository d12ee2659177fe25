//! The contents and counts of a pool, and what happens when a slot is taken, left, or returned with its
//! connection.

use runtime::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use runtime::Reactor;

use super::neighbours::Evictions;
use super::pooled::{Pooled, Session};
use super::queue::{Counts, KeyOf, Live, Queue};
use super::request::{AcquireRequest, Ages, Counters, Eviction, Limits};
use super::shared::SharedPool;
use super::table::Table;

pub(crate) struct Inner<S: Session + ?Sized> {
    pub(super) reactor: Arc<Reactor>,
    /// Read by [`Inner::state`], but for what concerns a pool with one connection alone.
    pub(super) cell: RefCell<State<S>>,
}

/// The bundle of a lease that is the only content of its pool. It has no entry in the table.
pub(super) const ALONE: usize = usize::MAX;

/// The lease of the only connection.
pub(super) enum LeaseAlone<K> {
    /// There is none.
    None,
    /// There is nothing but this lease of a connection with that key.
    Out(K),
    /// The lease has got an entry, in this bundle.
    Entered(usize),
}

pub(super) struct State<S: Session + ?Sized> {
    pub limits: Limits,
    /// The largest limit on idle time among the handles: older connections are useful to nobody.
    pub longest_idle: Duration,
    pub table: Table<S::Connection, Live<S>, Counts>,
    /// While it is out, the table is empty.
    pub lease_alone: LeaseAlone<KeyOf<S>>,
    /// Slots and leases.
    pub used: usize,
    pub queue: Queue,
    pub next_id: u64,
    pub counters: Counters,
    pub behind: Option<Arc<SharedPool<S::Connection>>>,
    pub in_front: Option<Arc<SharedPool<S::Connection>>>,
    /// Set if somebody asks why connections were closed.
    pub evictions: Option<Box<Evictions<KeyOf<S>>>>,
}

/// The result of opening a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenResult {
    /// One that serves one transfer at a time.
    ForOne,
    /// One on which a session will run.
    ForMany,
    Nothing,
}

impl<S: Session + ?Sized> Default for State<S> {
    fn default() -> Self {
        State {
            limits: Limits::default(),
            longest_idle: Duration::ZERO,
            table: Table::default(),
            lease_alone: LeaseAlone::None,
            used: 0,
            queue: Queue::default(),
            next_id: 0,
            counters: Counters::default(),
            behind: None,
            in_front: None,
            evictions: None,
        }
    }
}

impl<S: Session + ?Sized> Inner<S> {
    /// Borrows the state, with an entry in the table for everything.
    #[track_caller]
    pub(super) fn state(&self) -> RefMut<'_, State<S>> {
        let mut state = self.cell.borrow_mut();
        state.settle();
        state
    }

    /// Counts a slot in a bundle that is held for it.
    pub(crate) fn occupy(&self, bundle: usize, opening: bool) {
        let mut state = self.state();
        state.count(bundle, true);
        if let Some(bundle) = state.table.bundle(bundle).filter(|_| opening) {
            bundle.live.opening += 1;
        }
    }

    /// A slot is free again, and with it the session for which it was.
    pub(crate) fn vacate(&self, bundle: usize, session: Option<u64>) {
        let mut state = self.cell.borrow_mut();
        let Some(bundle) = state.end_lease(bundle) else { return };
        state.count(bundle, false);
        let ended = session.and_then(|id| state.remove_session(bundle, id));
        state.table.let_go(bundle);
        drop(state);
        drop(ended);
        self.wake_next();
    }

    /// Informs the waiters of the result of opening a connection.
    pub(crate) fn opened(&self, bundle: usize, opened: OpenResult) {
        let wakers = self.state().opened(bundle, opened);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// A session runs on the connection of that number.
    pub(crate) fn announce(&self, at: usize, id: u64, session: Rc<S>) {
        let mut state = self.state();
        let entered = state.entered(at);
        if let Some(bundle) = state.table.bundle(entered) {
            bundle.live.sessions.push((id, session));
        }
        drop(state);
        self.wake_for_stream(at);
    }

    /// Wakes the first of a bundle, if a session there has room for one more.
    pub(crate) fn wake_for_stream(&self, bundle: usize) {
        let mut state = self.state();
        let bundle = state.entered(bundle);
        let waker = state.next_for_stream(bundle);
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns a connection number that is unique among all pools that share connections.
    pub(crate) fn next_id(&self) -> u64 {
        let mut state = self.cell.borrow_mut();
        if let Some(shared) = &state.in_front {
            return shared.next_id();
        }
        state.next_id += 1;
        state.next_id - 1
    }

    /// A connection becomes idle, and its slot in that bundle free: one step, so that one who waits is woken
    /// for it.
    pub(crate) fn give_back(&self, bundle: usize, session: Option<u64>, mut connection: S::Connection) {
        let now = self.reactor.now();
        connection.set_last_used(now);
        connection.quieten();
        let mut state = self.cell.borrow_mut();
        let shared = state.in_front.clone().filter(|_| connection.is_shareable());
        let bundle = match state.end_lease(bundle) {
            Some(bundle) => bundle,
            None => return self.give_back_alone(state, connection, shared, now),
        };
        state.count(bundle, false);
        if shared.is_none() && session.is_none() && state.table.has_only(bundle) {
            state.table.let_go(bundle);
            return self.give_back_alone(state, connection, shared, now);
        }
        let for_share = match shared {
            Some(shared) => Some((shared, connection)),
            None => {
                let bundle = state.table.put(connection);
                state.relist(bundle);
                None
            }
        };
        let parked = session.and_then(|id| state.remove_session(bundle, id));
        state.table.let_go(bundle);
        drop(state);
        drop(parked);
        if let Some((shared, connection)) = for_share {
            shared.put(connection, now);
        }
        self.trim(now);
        self.wake_next();
    }

    /// The only connection becomes idle. Nobody waits for it, and it is neither too old nor too many.
    fn give_back_alone(
        &self,
        mut state: RefMut<'_, State<S>>,
        connection: S::Connection,
        shared: Option<Arc<SharedPool<S::Connection>>>,
        now: Instant,
    ) {
        let inherited = connection.is_inherited();
        let left_over = match &shared {
            Some(_) => Err(connection),
            None => state.table.put_alone(connection),
        };
        drop(state);
        match (left_over, shared) {
            (Err(connection), Some(shared)) => shared.put(connection, now),
            (Err(connection), None) => connection.retire(),
            (Ok(()), _) if inherited => self.trim(now),
            (Ok(()), _) => {}
        }
    }

    /// An idle connection of the wanted key, and its bundle, which is held.
    pub(super) fn take_idle(&self, wish: AcquireRequest<'_, KeyOf<S>>) -> Option<(usize, S::Connection)> {
        let mut state = self.state();
        let best = state.table.find(wish.key).and_then(|bundle| state.table.best(bundle, wish))?;
        let bundle = state.hold(wish);
        let connection = state.table.take(best);
        state.relist(bundle);
        if connection.is_none() {
            state.table.let_go(bundle);
        }
        Some((bundle, connection?))
    }

    /// Whether one more connection of that bundle may exist, after an idle one was closed for it if need be.
    pub(super) fn make_room(&self, bundle: usize) -> bool {
        loop {
            let mut state = self.state();
            let Some(origin) = state.table.bundle(bundle).map(|b| b.origin) else { return false };
            let victim = if state.host_is_full(origin) {
                state.table.oldest_of(origin)
            } else if state.is_full() {
                state.table.oldest()
            } else {
                return true;
            };
            let evicted = victim.and_then(|at| state.evict(at, Eviction::Limit));
            let Some(connection) = evicted else { return false };
            drop(state);
            connection.retire();
        }
    }

    /// Closes connections that are too old or too many.
    pub(super) fn trim(&self, now: Instant) {
        loop {
            let mut state = self.state();
            let Some(oldest) = state.table.oldest() else { return };
            let surplus = state.surplus(oldest, now);
            let Some(gone) = surplus.and_then(|why| state.evict(oldest, why)) else { return };
            drop(state);
            gone.retire();
        }
    }

    /// Shows idle connections, each of which keeps its place if it stays; returns how many did not.
    pub(super) fn visit(&self, places: Vec<usize>, mut stays: impl FnMut(&mut S::Connection) -> bool) -> u64 {
        let mut gone = 0;
        for at in places {
            let lent = self.state().table.lend(at);
            let Some((loan, mut connection)) = lent else { continue };
            let stays = stays(&mut connection).then_some(connection);
            gone += u64::from(stays.is_none());
            let left_over = self.state().table.put_back(loan, stays);
            drop(left_over);
        }
        if gone > 0 {
            self.state().relist_all();
            self.wake_next();
        }
        gone
    }

    /// Wakes the first in the queue who can go on now.
    pub(super) fn wake_next(&self) {
        let waker = self.state().next_waker();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<S: Session + ?Sized> Drop for Inner<S> {
    fn drop(&mut self) {
        let state = self.cell.get_mut();
        state.settle();
        let idle = state.drain();
        idle.into_iter().for_each(|connection| connection.retire());
    }
}

impl<S: Session + ?Sized> State<S> {
    /// Makes the state of an unused pool as new, and keeps the storage of its table.
    pub(super) fn renew(&mut self) {
        // Every field is named here: a new one must not carry something of one handle to another.
        let State {
            limits,
            longest_idle,
            table,
            lease_alone: _,
            used: _,
            queue,
            next_id,
            counters,
            behind,
            in_front,
            evictions,
        } = self;
        (*limits, *longest_idle) = (Limits::default(), Duration::ZERO);
        table.renew();
        *queue = Queue::default();
        (*next_id, *counters) = (0, Counters::default());
        (*behind, *in_front, *evictions) = (None, None, None);
    }

    /// Returns whether there is no connection, lease, session or waiter.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.lease_alone, LeaseAlone::None) && self.table.is_empty()
    }

    /// Returns the key of the only connection, idle or leased, if it has no entry in the table.
    pub(super) fn key_alone(&self) -> Option<&KeyOf<S>> {
        match &self.lease_alone {
            LeaseAlone::Out(key) => Some(key),
            _ => self.table.only().map(Pooled::key),
        }
    }

    /// Gives the only connection, idle or leased, its entry in the table.
    #[inline]
    fn settle(&mut self) {
        self.table.settle();
        if matches!(self.lease_alone, LeaseAlone::Out(_)) {
            self.enter_lease();
        }
    }

    #[cold]
    fn enter_lease(&mut self) {
        if let LeaseAlone::Out(key) = std::mem::replace(&mut self.lease_alone, LeaseAlone::None) {
            let bundle = self.table.hold(&key);
            self.count(bundle, true);
            self.lease_alone = LeaseAlone::Entered(bundle);
        }
    }

    /// Returns the bundle in which a lease is counted.
    fn entered(&self, bundle: usize) -> usize {
        match self.lease_alone {
            LeaseAlone::Entered(entered) if bundle == ALONE => entered,
            _ => bundle,
        }
    }

    /// A lease ends. Returns the bundle in which it is counted; `None` if it has no entry.
    fn end_lease(&mut self, bundle: usize) -> Option<usize> {
        if bundle != ALONE {
            return Some(bundle);
        }
        match std::mem::replace(&mut self.lease_alone, LeaseAlone::None) {
            LeaseAlone::Entered(bundle) => Some(bundle),
            LeaseAlone::Out(_) | LeaseAlone::None => None,
        }
    }

    /// Begins the lease of the only connection.
    pub(super) fn lease_alone(&mut self, wish: AcquireRequest<'_, KeyOf<S>>) {
        self.longest_idle = self.longest_idle.max(wish.ages.idle);
        self.lease_alone = LeaseAlone::Out(wish.key.clone());
        self.counters.reused += 1;
    }

    pub(super) fn host_is_full(&mut self, origin: usize) -> bool {
        let limit = self.limits.per_host;
        limit != 0 && self.table.origin(origin).map_or(0, |c| c.used) + self.table.idle_of(origin) >= limit
    }

    pub(super) fn is_full(&self) -> bool {
        self.limits.total != 0 && self.used + self.table.idle_len() >= self.limits.total
    }

    /// Returns why an idle connection is to be closed, if it is.
    fn surplus(&mut self, at: usize, now: Instant) -> Option<Eviction> {
        if self.limits.kept != 0 && self.table.idle_len() + self.used > self.limits.kept {
            return Some(Eviction::Kept(self.limits.kept));
        }
        let old = Ages { idle: self.longest_idle, lifetime: Duration::ZERO };
        let is_old = self.table.examine(at).is_some_and(|connection| !old.allow(connection, now));
        is_old.then_some(Eviction::Idle)
    }

    /// Counts a slot of that bundle, or ceases to.
    fn count(&mut self, bundle: usize, more: bool) {
        let Some(origin) = self.table.bundle(bundle).map(|b| b.origin) else { return };
        let Some(counts) = self.table.origin(origin) else { return };
        match more {
            true => (counts.used, self.used) = (counts.used + 1, self.used + 1),
            false => {
                (counts.used, self.used) = (counts.used.saturating_sub(1), self.used.saturating_sub(1));
            }
        }
        self.relist(bundle);
    }

    /// The bundle in which a wish is to be met.
    pub(super) fn hold(&mut self, wish: AcquireRequest<'_, KeyOf<S>>) -> usize {
        self.longest_idle = self.longest_idle.max(wish.ages.idle);
        self.table.hold(wish.key)
    }

    pub(super) fn forget_used(&mut self) {
        self.used = 0;
        self.table.origins().for_each(|(_, counts)| counts.used = 0);
        self.relist_all();
    }

    fn evict(&mut self, at: usize, why: Eviction) -> Option<S::Connection> {
        let origin = self.table.origin_of(at)?;
        let connection = self.table.take(at)?;
        if let Some(evictions) = &mut self.evictions {
            evictions.note(connection.key().clone(), why);
        }
        self.counters.evicted += 1;
        self.relist_origin(origin);
        Some(connection)
    }

    /// Takes out the connection that has been idle for longest.
    pub(super) fn take_oldest(&mut self) -> Option<S::Connection> {
        let oldest = self.table.oldest()?;
        let origin = self.table.origin_of(oldest);
        let connection = self.table.take(oldest);
        origin.into_iter().for_each(|origin| self.relist_origin(origin));
        connection
    }

    pub(super) fn drain(&mut self) -> VecDeque<S::Connection> {
        let idle = self.table.drain();
        self.relist_all();
        idle
    }
}
