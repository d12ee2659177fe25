//! Idle connections that several handles, and threads, take from: a share handle's, or the whole process's.
//!
//! The connections are detached: no reactor, no waker, no timer. The lock is held only while searching and
//! inserting; liveness checks and goodbyes happen outside it.
//!
//! tests/pool_interleavings.rs compiles this file and the table once more, with a lock whose order of steps
//! is decided by a seed.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::pooled::{Broker, GiveOutcome, PoolKey, Pooled};
use super::request::{AcquireRequest, Neighbour, Refusal};
use super::table::Table;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Idle time after which a connection is given to the broker: a process that goes on using it finds it here
/// for less.
pub const GIVEN_AFTER: Duration = Duration::from_secs(1);
/// Most connections that one call gives, and how long it may take: the call belongs to a transfer.
const GIVEN_AT_ONCE: usize = 8;
const GIVEN_WITHIN: Duration = Duration::from_millis(5);
/// Most connections that one request takes from the broker, because those before it had died.
const TAKEN_AT_ONCE: usize = 3;

/// How long the pool has nothing to give to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The next connection is to be given after that time.
    For(Duration),
    /// No connection waits to be given. Those that cannot leave the process do not wait.
    Done,
    /// The broker does not accept connections.
    NoBroker,
}

/// Connections without an owner.
pub struct SharedPool<C: Pooled> {
    table: Mutex<Table<C, (), ()>>,
    kept: usize,
    idle_age: Duration,
    next_id: AtomicU64,
    broker: OnceLock<Box<dyn Broker<C>>>,
}

impl<C: Pooled> SharedPool<C> {
    /// Creates a pool that keeps that many connections, each for that long.
    pub fn new(kept: usize, idle_age: Duration) -> SharedPool<C> {
        let (next_id, broker) = (AtomicU64::new(0), OnceLock::new());
        SharedPool { table: Mutex::default(), kept, idle_age, next_id, broker }
    }

    /// Puts a broker behind the pool, unless there is one.
    pub fn set_broker(&self, broker: impl FnOnce() -> Box<dyn Broker<C>>) {
        self.broker.get_or_init(broker);
    }

    /// Returns whether a broker is behind the pool.
    pub fn has_broker(&self) -> bool {
        self.broker.get().is_some()
    }

    /// Returns the next connection number. A pool in front of this one takes its numbers from here
    /// (CURLINFO_CONN_ID(3)).
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes a live connection that matches the request; those that are older than it allows are closed.
    pub fn take(&self, wish: AcquireRequest<'_, C::Key>, now: Instant) -> Option<C> {
        loop {
            let mut connection = self.take_any(wish)?;
            if !self.admits(&connection, now) {
                wish.refuse(Refusal::Idle(now.saturating_duration_since(connection.last_used())));
            } else if wish.accepts(&mut connection, now) {
                return Some(connection);
            }
            drop(connection);
        }
    }

    /// Takes a connection that matches the request, alive or not.
    fn take_any(&self, wish: AcquireRequest<'_, C::Key>) -> Option<C> {
        let mut table = self.lock();
        if let Some(alone) = table.take_alone(wish) {
            return Some(alone);
        }
        table.settle();
        let bundle = table.find(wish.key)?;
        let best = table.best(bundle, wish)?;
        table.take(best)
    }

    /// Takes a live connection that matches the request out of the broker.
    pub(super) fn take_from_broker(&self, wish: AcquireRequest<'_, C::Key>, now: Instant) -> Option<C> {
        let broker = self.broker.get()?;
        for _ in 0..TAKEN_AT_ONCE {
            let mut connection = match broker.take(wish.key, now) {
                Ok(connection) => connection,
                Err(why) => {
                    wish.refuse_by_broker(why);
                    return None;
                }
            };
            let fits = wish.admits(connection.is_by_quic()) && wish.ages.allow(&connection, now);
            if fits && self.admits(&connection, now) && connection.is_alive() {
                return Some(connection);
            }
            wish.refuse(Refusal::Dead);
        }
        None
    }

    /// Gives all connections to the broker, until the deadline, and closes the rest politely. Does nothing
    /// without a broker, or while another thread holds the lock.
    pub fn give_all(&self, now: Instant, until: Instant) {
        let Some(broker) = self.broker.get() else { return };
        let mut is_open = true;
        let drain = |mut table: MutexGuard<'_, Table<C, (), ()>>| {
            table.settle();
            table.drain()
        };
        let Ok(all) = self.table.try_lock().map(drain) else { return };
        for connection in all {
            let given = match is_open {
                true => broker.give(connection, now, until),
                false => GiveOutcome::Unavailable(connection),
            };
            match given {
                GiveOutcome::Gone => {}
                GiveOutcome::Stays(connection) => connection.retire(),
                GiveOutcome::Unavailable(connection) => {
                    is_open = false;
                    connection.retire();
                }
            }
        }
    }

    /// Gives connections to the broker that have been idle for a while. Others keep their places.
    pub fn give_idle(&self, now: Instant) -> Rest {
        let Some(broker) = self.broker.get() else { return Rest::Done };
        let rests = |c: &C| now.saturating_duration_since(c.last_used()) >= GIVEN_AFTER;
        let places = {
            let table = self.table();
            if table.all().next().is_none_or(|oldest| !rests(oldest)) {
                return rest(&table, now);
            }
            table.places()
        };
        let (until, mut given) = (Instant::now() + GIVEN_WITHIN, 0);
        for at in places {
            let lent = {
                let mut table = self.table();
                if table.examine(at).is_some_and(rests) { table.lend(at) } else { None }
            };
            let Some((loan, connection)) = lent else { continue };
            let (stays, is_open) = match broker.give(connection, now, until) {
                GiveOutcome::Gone => (None, true),
                GiveOutcome::Stays(connection) => (Some(connection), true),
                GiveOutcome::Unavailable(connection) => (Some(connection), false),
            };
            given += usize::from(stays.is_none());
            let left_over = self.table().put_back(loan, stays);
            if let Some(connection) = left_over {
                connection.retire();
            }
            if !is_open {
                return Rest::NoBroker;
            }
            if given == GIVEN_AT_ONCE {
                return Rest::For(Duration::ZERO);
            }
        }
        rest(&self.table(), now)
    }

    /// Adds a connection. One that may not be shared is closed in an orderly way; so is the one idle for
    /// longest if there are too many.
    pub fn put(&self, connection: C, now: Instant) {
        self.put_as_used_at(connection, now, now);
    }

    fn put_as_used_at(&self, mut connection: C, last_used: Instant, now: Instant) {
        if !connection.is_shareable() || connection.is_inherited() {
            return connection.retire();
        }
        connection.detach();
        connection.set_last_used(last_used);
        self.give_idle(now);
        let stays = self.kept > 0 && self.admits(&connection, now);
        let alone = self.enter(connection) && stays;
        if let Some(broker) = self.broker.get() {
            broker.expect_idle();
        }
        while !alone && let Some(connection) = self.surplus(now) {
            connection.retire();
        }
    }

    /// Adds a connection, and returns whether it is the only one.
    fn enter(&self, connection: C) -> bool {
        let mut table = self.lock();
        let Err(connection) = table.put_alone(connection) else { return true };
        table.settle();
        table.put(connection);
        false
    }

    /// Checks the connections that were not checked for `interval`, and closes those that have ended.
    pub fn upkeep(&self, interval: Duration, now: Instant) {
        let places = self.table().places();
        for at in places {
            let lent = self.table().lend(at);
            let Some((loan, mut connection)) = lent else { continue };
            let alive = connection.keep_up(interval, now).then_some(connection);
            let left_over = self.table().put_back(loan, alive);
            if let Some(connection) = left_over {
                connection.retire();
            }
        }
    }

    /// Lists its connections, the longest idle first.
    pub fn list(&self, now: Instant) -> Vec<C::Listed> {
        self.table().all().map(|c| c.listed(now)).collect()
    }

    /// Returns its connections to one origin, by key.
    pub(crate) fn neighbours(&self, origin: &<C::Key as PoolKey>::Origin) -> Vec<Neighbour<C::Key>> {
        self.table().neighbours(origin)
    }

    /// How many are in it.
    pub fn len(&self) -> usize {
        self.table().idle_len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Connections that it has looked at so far, to find one.
    pub fn looks(&self) -> u64 {
        self.table().looks
    }

    /// Closes everything politely.
    pub fn close_all(&self) {
        let all = self.table().drain();
        all.into_iter().for_each(|connection| connection.retire());
    }

    /// Moves everything to another pool.
    pub fn move_to(&self, heir: &SharedPool<C>, now: Instant) {
        let all = self.table().drain();
        for mut connection in all {
            let last_used = connection.last_used();
            Pooled::set_number(&mut connection, heir.next_id());
            heir.put_as_used_at(connection, last_used, now);
        }
    }

    /// Closes the connections to the wanted origins in an orderly way; returns their number.
    pub fn close_where(&self, wanted: impl Fn(&<C::Key as PoolKey>::Origin) -> bool) -> usize {
        let (count, chosen): (usize, Vec<_>) = {
            let mut table = self.table();
            let mut places = table.places();
            places.retain(|at| table.name_of(*at).is_some_and(&wanted));
            // A connection that is being checked is closed after the check.
            (places.len(), places.into_iter().filter_map(|at| table.take(at)).collect())
        };
        chosen.into_iter().for_each(|connection| connection.retire());
        count
    }

    /// Takes the longest idle connection that is not being checked, if it is too old or there are too many.
    fn surplus(&self, now: Instant) -> Option<C> {
        let mut table = self.table();
        let oldest = table.oldest_at_hand()?;
        let stays =
            table.idle_len() <= self.kept && table.examine(oldest).is_some_and(|c| self.admits(c, now));
        if stays { None } else { table.take(oldest) }
    }

    fn admits(&self, connection: &C, now: Instant) -> bool {
        !connection.is_inherited() && now.saturating_duration_since(connection.last_used()) <= self.idle_age
    }

    /// The table, with an entry for each connection.
    fn table(&self) -> MutexGuard<'_, Table<C, (), ()>> {
        let mut table = self.lock();
        table.settle();
        table
    }

    fn lock(&self) -> MutexGuard<'_, Table<C, (), ()>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns when the first of the connections that have been idle for less than the limit reaches it.
fn rest<C: Pooled>(table: &Table<C, (), ()>, now: Instant) -> Rest {
    let idle = table.all().map(|c| now.saturating_duration_since(c.last_used()));
    let next = idle.filter_map(|idle| GIVEN_AFTER.checked_sub(idle)).filter(|left| !left.is_zero()).min();
    next.map_or(Rest::Done, Rest::For)
}
