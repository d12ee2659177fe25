//! The contents and counts of a pool, and what happens when a slot is taken, left, or returned with its
//! connection.

use runtime::cell::RefCell;
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
    pub(super) state: RefCell<State<S>>,
}

pub(super) struct State<S: Session + ?Sized> {
    pub limits: Limits,
    /// The largest limit on idle time among the handles: older connections are useful to nobody.
    pub longest_idle: Duration,
    pub table: Table<S::Connection, Live<S>, Counts>,
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
    /// Counts a slot in a bundle that is held for it.
    pub(crate) fn occupy(&self, bundle: usize, opening: bool) {
        let mut state = self.state.borrow_mut();
        state.count(bundle, true);
        if let Some(bundle) = state.table.bundle(bundle).filter(|_| opening) {
            bundle.live.opening += 1;
        }
    }

    /// A slot is free again, and with it the session for which it was.
    pub(crate) fn vacate(&self, bundle: usize, session: Option<u64>) {
        let mut state = self.state.borrow_mut();
        state.count(bundle, false);
        let ended = session.and_then(|id| state.remove_session(bundle, id));
        state.table.let_go(bundle);
        drop(state);
        drop(ended);
        self.wake_next();
    }

    /// Informs the waiters of the result of opening a connection.
    pub(crate) fn opened(&self, bundle: usize, opened: OpenResult) {
        let wakers = self.state.borrow_mut().opened(bundle, opened);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// A session runs on the connection of that number.
    pub(crate) fn announce(&self, at: usize, id: u64, session: Rc<S>) {
        if let Some(bundle) = self.state.borrow_mut().table.bundle(at) {
            bundle.live.sessions.push((id, session));
        }
        self.wake_for_stream(at);
    }

    /// Wakes the first of a bundle, if a session there has room for one more.
    pub(crate) fn wake_for_stream(&self, bundle: usize) {
        let waker = self.state.borrow_mut().next_for_stream(bundle);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns a connection number that is unique among all pools that share connections.
    pub(crate) fn next_id(&self) -> u64 {
        let mut state = self.state.borrow_mut();
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
        let mut state = self.state.borrow_mut();
        let shared = state.in_front.clone().filter(|_| connection.is_shareable());
        state.count(bundle, false);
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

    /// An idle connection of the wanted key, and its bundle, which is held.
    pub(super) fn take_idle(&self, wish: AcquireRequest<'_, KeyOf<S>>) -> Option<(usize, S::Connection)> {
        let mut state = self.state.borrow_mut();
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
            let mut state = self.state.borrow_mut();
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
            let mut state = self.state.borrow_mut();
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
            let lent = self.state.borrow_mut().table.lend(at);
            let Some((loan, mut connection)) = lent else { continue };
            let stays = stays(&mut connection).then_some(connection);
            gone += u64::from(stays.is_none());
            let left_over = self.state.borrow_mut().table.put_back(loan, stays);
            drop(left_over);
        }
        if gone > 0 {
            self.state.borrow_mut().relist_all();
            self.wake_next();
        }
        gone
    }

    /// Wakes the first in the queue who can go on now.
    pub(super) fn wake_next(&self) {
        let waker = self.state.borrow_mut().next_waker();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<S: Session + ?Sized> Drop for Inner<S> {
    fn drop(&mut self) {
        let idle = self.state.get_mut().drain();
        idle.into_iter().for_each(|connection| connection.retire());
    }
}

impl<S: Session + ?Sized> State<S> {
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
        let is_old = self.table.look(at).is_some_and(|connection| !old.allow(connection, now));
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
