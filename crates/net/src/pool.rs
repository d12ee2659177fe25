//! The pool of one handle, with curl's limits, and the queue of those who wait for a free slot.
//!
//! Idle connections stay registered with the handle's reactor but nobody waits on them, so the application hears
//! nothing of them. On a miss the shared pool behind it is asked; a shared pool in front (a share handle) gets every
//! connection back at once. Connections are closed only after the pool's own borrow has ended: closing calls the
//! application.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use runtime::Reactor;

use crate::connection::{Ahead, Connection};
use crate::identity::{Identity, Origin};
use crate::lease::{Lease, Slot};
use crate::shared_pool::SharedPool;

/// Limits of a pool; zero in a count means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections kept, idle and used together, before the oldest idle one goes (CURLOPT_MAXCONNECTS).
    pub kept: usize,
    /// CURLMOPT_MAX_HOST_CONNECTIONS
    pub per_host: usize,
    /// CURLMOPT_MAX_TOTAL_CONNECTIONS
    pub total: usize,
    /// CURLOPT_MAXAGE_CONN: how long one may have been idle.
    pub idle_age: Duration,
    /// CURLOPT_MAXLIFETIME_CONN: how old one may be; zero is no limit.
    pub lifetime: Duration,
}

/// The connections of one handle. Clones are the same pool.
#[derive(Clone)]
pub struct Pool(Rc<Inner>);

/// What [`Pool::acquire`] found.
pub enum Acquired {
    /// An idle connection of that identity, known to be alive.
    Reused(Lease),
    /// None: one may be opened.
    Vacant(Slot),
}

/// One row of [`Pool::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: u64,
    /// The protocol family: "http" stands for https too.
    pub scheme: String,
    /// The connection is protected by TLS.
    pub tls: bool,
    pub origin: Origin,
    pub age: Duration,
    pub idle: Duration,
    pub uses: u64,
}

/// What a pool has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub opened: u64,
    pub reused: u64,
    /// Found closed, talkative or too old when wanted again.
    pub dead: u64,
    pub evicted: u64,
}

pub(crate) struct Inner {
    reactor: Arc<Reactor>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    limits: Limits,
    /// The longest idle first.
    idle: VecDeque<Box<Connection>>,
    /// Slots and leases by origin.
    used: BTreeMap<Origin, usize>,
    used_total: usize,
    /// In the order of arrival.
    waiting: BTreeMap<u64, Waiter>,
    tickets: u64,
    next_id: u64,
    counters: Counters,
    behind: Option<Arc<SharedPool>>,
    in_front: Option<Arc<SharedPool>>,
}

struct Waiter {
    origin: Origin,
    waker: Waker,
}

/// Origins that nobody uses and that are counted all the same.
const KEPT_COUNTS: usize = 16;

impl Default for Limits {
    /// As an easy handle has them.
    fn default() -> Limits {
        Limits {
            kept: 5,
            per_host: 0,
            total: 0,
            idle_age: Duration::from_secs(118),
            lifetime: Duration::ZERO,
        }
    }
}

impl Pool {
    /// An empty pool on a handle's reactor.
    pub fn new(reactor: &Arc<Reactor>) -> Pool {
        Pool(Rc::new(Inner { reactor: reactor.clone(), state: RefCell::default() }))
    }

    /// Changes the limits; what is too many is closed.
    pub fn set_limits(&self, limits: Limits) {
        self.0.state.borrow_mut().limits = limits;
        self.0.trim(self.0.reactor.now());
        self.0.wake_next();
    }

    /// The limits as they are.
    pub fn limits(&self) -> Limits {
        self.0.state.borrow().limits
    }

    /// A pool to ask on a miss, and to leave idle connections to at cleanup (the process's).
    pub fn set_behind(&self, shared: Option<Arc<SharedPool>>) {
        self.0.state.borrow_mut().behind = shared;
    }

    /// A pool that has all idle connections at once (a share handle's).
    pub fn set_in_front(&self, shared: Option<Arc<SharedPool>>) {
        self.0.state.borrow_mut().in_front = shared;
    }

    /// A connection of that identity, or the permission to open one; waits while the limits forbid both. With `fresh`
    /// idle connections are passed over (CURLOPT_FRESH_CONNECT).
    pub async fn acquire(&self, identity: &Identity, fresh: bool, owner: u64) -> Acquired {
        let mut place = Place { pool: &self.0, ticket: None };
        poll_fn(|cx| match self.try_acquire(identity, fresh, owner) {
            Some(acquired) => {
                place.leave();
                Poll::Ready(acquired)
            }
            None => {
                place.take(identity, cx.waker());
                Poll::Pending
            }
        })
        .await
    }

    /// The same without waiting.
    pub fn try_acquire(&self, identity: &Identity, fresh: bool, owner: u64) -> Option<Acquired> {
        if !fresh && let Some(lease) = self.reuse_own(identity, owner) {
            return Some(Acquired::Reused(lease));
        }
        if !self.0.make_room(&identity.origin) {
            return None;
        }
        if !fresh && let Some(lease) = self.reuse_shared(identity, owner) {
            return Some(Acquired::Reused(lease));
        }
        self.0.state.borrow_mut().counters.opened += 1;
        Some(Acquired::Vacant(Slot::new(&self.0, identity.origin.clone())))
    }

    /// An idle connection with this identity, if there is one; never a new one.
    pub fn try_reuse(&self, identity: &Identity, owner: u64) -> Option<Lease> {
        self.reuse_own(identity, owner).or_else(|| self.reuse_shared(identity, owner))
    }

    /// Whether somebody waits for a slot.
    pub fn has_waiters(&self) -> bool {
        !self.0.state.borrow().waiting.is_empty()
    }

    /// How many wait for a slot.
    pub fn waiting(&self) -> usize {
        self.0.state.borrow().waiting.len()
    }

    /// Looks at the idle connections that nobody has looked at for `interval`, and closes those that have ended.
    pub fn upkeep(&self, interval: Duration) {
        let now = self.0.reactor.now();
        let mut alive = std::mem::take(&mut self.0.state.borrow_mut().idle);
        let dead = crate::connection::take_dead(&mut alive, interval, now);
        let mut state = self.0.state.borrow_mut();
        state.counters.dead += dead.len() as u64;
        alive.append(&mut state.idle);
        state.idle = alive;
        drop(state);
        drop(dead);
        self.0.wake_next();
    }

    /// The idle connections, the longest idle first.
    pub fn list(&self) -> Vec<Listed> {
        let now = self.0.reactor.now();
        self.0.state.borrow().idle.iter().map(|c| Listed::of(c, now)).collect()
    }

    /// Shows each idle connection of that identity, and closes those that are not to stay.
    pub fn visit_idle(&self, identity: &Identity, mut stays: impl FnMut(&mut Connection) -> bool) {
        let all = std::mem::take(&mut self.0.state.borrow_mut().idle);
        let mut left = VecDeque::with_capacity(all.len());
        let mut gone = Vec::new();
        for mut connection in all {
            match !connection.identity.is(identity) || stays(&mut connection) {
                true => left.push_back(connection),
                false => gone.push(connection),
            }
        }
        let mut state = self.0.state.borrow_mut();
        left.append(&mut state.idle);
        state.idle = left;
        drop(state);
        drop(gone);
    }

    /// What it has done so far.
    pub fn counters(&self) -> Counters {
        self.0.state.borrow().counters
    }

    /// Slots and leases that are out.
    pub fn in_use(&self) -> usize {
        self.0.state.borrow().used_total
    }

    /// Nobody has a slot or a lease any more: those that are counted were lost with the frames that held them.
    pub fn forget_leases(&self) {
        let mut state = self.0.state.borrow_mut();
        state.used.clear();
        state.used_total = 0;
        drop(state);
        self.0.wake_next();
    }

    /// Closes every idle connection politely.
    pub fn close_all(&self) {
        let idle = std::mem::take(&mut self.0.state.borrow_mut().idle);
        idle.into_iter().for_each(|connection| connection.retire());
    }

    /// At a handle's cleanup: what others may use goes to the pool behind, the rest is closed politely.
    pub fn give_up(&self) {
        let idle = std::mem::take(&mut self.0.state.borrow_mut().idle);
        let behind = self.0.state.borrow().behind.clone();
        for connection in idle {
            match &behind {
                Some(shared) => shared.put(connection, self.0.reactor.now()),
                None => connection.retire(),
            }
        }
    }

    fn reuse_own(&self, identity: &Identity, owner: u64) -> Option<Lease> {
        while let Some(mut connection) = self.0.take_idle(identity) {
            if self.0.is_usable(&mut connection) {
                connection.filter.socket().set_owner(owner);
                return Some(self.lease(connection));
            }
            self.0.state.borrow_mut().counters.dead += 1;
            drop(connection);
        }
        None
    }

    fn reuse_shared(&self, identity: &Identity, owner: u64) -> Option<Lease> {
        let mut connection = self.0.ask_shared(identity)?;
        connection.attach(&self.0.reactor, owner);
        Some(self.lease(connection))
    }

    fn lease(&self, connection: Box<Connection>) -> Lease {
        self.0.state.borrow_mut().counters.reused += 1;
        Slot::new(&self.0, connection.identity.origin.clone()).refill(connection)
    }
}

impl Listed {
    pub(crate) fn of(connection: &Connection, now: Instant) -> Listed {
        Listed {
            id: connection.id,
            scheme: connection.identity.scheme.clone(),
            tls: connection.filter.tls().is_some(),
            origin: connection.identity.origin.clone(),
            age: now.saturating_duration_since(connection.created),
            idle: now.saturating_duration_since(connection.last_used),
            uses: connection.uses,
        }
    }
}

impl Limits {
    pub(crate) fn allow(&self, connection: &Connection, now: Instant) -> bool {
        let age = now.saturating_duration_since(connection.created);
        let idle = now.saturating_duration_since(connection.last_used);
        !connection.is_inherited()
            && idle <= self.idle_age
            && (self.lifetime.is_zero() || age <= self.lifetime)
    }
}

impl Inner {
    pub(crate) fn occupy(&self, origin: &Origin) {
        let mut state = self.state.borrow_mut();
        state.used_total += 1;
        match state.used.get_mut(origin) {
            Some(count) => *count += 1,
            None => drop(state.used.insert(origin.clone(), 1)),
        }
    }

    pub(crate) fn vacate(&self, origin: &Origin) {
        let mut state = self.state.borrow_mut();
        state.used_total = state.used_total.saturating_sub(1);
        if let Some(count) = state.used.get_mut(origin) {
            *count = count.saturating_sub(1);
            // A few are kept at zero: a handle that asks the same hosts again and again finds them.
            if *count == 0 && state.used.len() > KEPT_COUNTS {
                state.used.remove(origin);
            }
        }
        drop(state);
        self.wake_next();
    }

    pub(crate) fn next_id(&self) -> u64 {
        let mut state = self.state.borrow_mut();
        state.next_id += 1;
        state.next_id - 1
    }

    pub(crate) fn give_back(&self, mut connection: Box<Connection>) {
        let now = self.reactor.now();
        connection.last_used = now;
        connection.quieten();
        let shared = self.state.borrow().in_front.clone().filter(|_| connection.is_shareable());
        match shared {
            Some(shared) => shared.put(connection, now),
            None => self.state.borrow_mut().idle.push_back(connection),
        }
        self.trim(now);
        self.wake_next();
    }

    /// The most recently used one of that identity; of those for which something was done ahead, the one that is ready,
    /// or had most time to become so.
    fn take_idle(&self, identity: &Identity) -> Option<Box<Connection>> {
        let mut state = self.state.borrow_mut();
        let latest = state.idle.iter().rposition(|c| c.identity.is(identity))?;
        if state.idle[latest].ahead == Ahead::Nothing {
            return state.idle.remove(latest);
        }
        let all = state.idle.iter().enumerate().rev().filter(|(_, c)| c.identity.is(identity));
        let best = all.max_by_key(|(_, c)| c.ahead)?.0;
        state.idle.remove(best)
    }

    fn is_usable(&self, connection: &mut Connection) -> bool {
        let limits = self.state.borrow().limits;
        limits.allow(connection, self.reactor.now()) && connection.is_alive()
    }

    fn ask_shared(&self, identity: &Identity) -> Option<Box<Connection>> {
        let (front, behind) = {
            let state = self.state.borrow();
            (state.in_front.clone(), state.behind.clone())
        };
        let limits = self.state.borrow().limits;
        let now = self.reactor.now();
        let from = |pool: Option<Arc<SharedPool>>| pool.and_then(|pool| pool.take(identity, &limits, now));
        from(front).or_else(|| from(behind))
    }

    /// Whether one more connection to that origin may exist, after an idle one was closed for it if need be.
    fn make_room(&self, origin: &Origin) -> bool {
        loop {
            let mut state = self.state.borrow_mut();
            let idle_there = || state.idle.iter().position(|c| c.identity.origin == *origin);
            let victim = match () {
                () if state.host_is_full(origin) => idle_there(),
                () if state.is_full() => (!state.idle.is_empty()).then_some(0),
                () => return true,
            };
            let Some(connection) = victim.and_then(|at| state.idle.remove(at)) else { return false };
            state.counters.evicted += 1;
            drop(state);
            connection.retire();
        }
    }

    /// Closes what is too old or too many.
    fn trim(&self, now: Instant) {
        loop {
            let mut state = self.state.borrow_mut();
            let Some(oldest) = state.idle.front() else { return };
            let many = state.limits.kept != 0 && state.idle.len() + state.used_total > state.limits.kept;
            if !many && state.limits.allow(oldest, now) {
                return;
            }
            let connection = state.idle.pop_front();
            state.counters.evicted += 1;
            drop(state);
            connection.into_iter().for_each(|connection| connection.retire());
        }
    }

    /// Wakes the first in the queue who can go on now.
    fn wake_next(&self) {
        let mut state = self.state.borrow_mut();
        let can_go = |waiter: &Waiter| match () {
            () if state.host_is_full(&waiter.origin) => {
                state.idle.iter().any(|c| c.identity.origin == waiter.origin)
            }
            () => !state.is_full() || !state.idle.is_empty(),
        };
        let Some(ticket) = state.waiting.iter().find(|(_, w)| can_go(w)).map(|(ticket, _)| *ticket) else {
            return;
        };
        let waiter = state.waiting.remove(&ticket);
        drop(state);
        if let Some(waiter) = waiter {
            waiter.waker.wake();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut self.state.get_mut().idle);
        idle.into_iter().for_each(|connection| connection.retire());
    }
}

impl State {
    fn host_is_full(&self, origin: &Origin) -> bool {
        let limit = self.limits.per_host;
        let idle = || self.idle.iter().filter(|c| c.identity.origin == *origin).count();
        limit != 0 && self.used.get(origin).copied().unwrap_or(0) + idle() >= limit
    }

    fn is_full(&self) -> bool {
        self.limits.total != 0 && self.used_total + self.idle.len() >= self.limits.total
    }
}

/// A place in the queue. Whoever leaves it, served or cancelled, lets the next one look.
struct Place<'a> {
    pool: &'a Rc<Inner>,
    ticket: Option<u64>,
}

impl Place<'_> {
    fn take(&mut self, identity: &Identity, waker: &Waker) {
        let mut state = self.pool.state.borrow_mut();
        let ticket = *self.ticket.get_or_insert_with(|| {
            state.tickets += 1;
            state.tickets
        });
        state.waiting.insert(ticket, Waiter { origin: identity.origin.clone(), waker: waker.clone() });
    }

    fn leave(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.pool.state.borrow_mut().waiting.remove(&ticket);
            self.pool.wake_next();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
