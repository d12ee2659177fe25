//! Idle connections that several handles, and threads, take from: a share handle's, or the whole process's.
//!
//! What is here is detached: no reactor, no waker, no timer. The lock is held for finding and putting only; whether a
//! connection is alive is seen, and goodbyes are said, outside it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::identity::{Identity, Origin};
use crate::pool::{Limits, Listed};

/// Connections that belong to nobody at the moment.
pub struct SharedPool {
    idle: Mutex<VecDeque<Box<Connection>>>,
    kept: usize,
    idle_age: Duration,
}

impl SharedPool {
    /// A pool that keeps so many connections, each for so long.
    pub fn new(kept: usize, idle_age: Duration) -> SharedPool {
        SharedPool { idle: Mutex::default(), kept, idle_age }
    }

    /// A live connection of that identity.
    pub fn take(&self, identity: &Identity, limits: &Limits, now: Instant) -> Option<Box<Connection>> {
        loop {
            let mut connection = {
                let mut idle = self.idle();
                let at = idle.iter().rposition(|c| c.identity.is(identity))?;
                idle.remove(at)?
            };
            let fresh_enough = limits.allow(&connection, now) && self.admits(&connection, now);
            if fresh_enough && connection.is_alive() {
                return Some(connection);
            }
            drop(connection);
        }
    }

    /// Leaves a connection to whoever wants it. One that may not be shared is closed politely; so is the one idle for
    /// longest when there are too many.
    pub fn put(&self, mut connection: Box<Connection>, now: Instant) {
        if !connection.is_shareable() || connection.is_inherited() {
            return connection.retire();
        }
        connection.filter.detach();
        connection.last_used = now;
        let too_many: VecDeque<_> = {
            let mut idle = self.idle();
            idle.push_back(connection);
            let old = idle.iter().take_while(|c| !self.admits(c, now)).count();
            let surplus = old.max(idle.len().saturating_sub(self.kept));
            idle.drain(..surplus).collect()
        };
        too_many.into_iter().for_each(|connection| connection.retire());
    }

    /// Looks at the connections that nobody has looked at for `interval`, and closes those that have ended.
    pub fn upkeep(&self, interval: Duration, now: Instant) {
        let mut all = std::mem::take(&mut *self.idle());
        let dead = crate::connection::take_dead(&mut all, interval, now);
        let mut idle = self.idle();
        all.append(&mut idle);
        *idle = all;
        drop(idle);
        drop(dead);
    }

    /// What is in it, the longest idle first.
    pub fn list(&self, now: Instant) -> Vec<Listed> {
        self.idle().iter().map(|c| Listed::of(c, now)).collect()
    }

    /// Closes everything politely.
    pub fn close_all(&self) {
        let all = std::mem::take(&mut *self.idle());
        all.into_iter().for_each(|connection| connection.retire());
    }

    /// Closes politely what belongs to the origins that are asked for; how many those were.
    pub fn close_where(&self, wanted: impl Fn(&Origin) -> bool) -> usize {
        let chosen = {
            let mut idle = self.idle();
            let (chosen, others) =
                std::mem::take(&mut *idle).into_iter().partition(|c| wanted(&c.identity.origin));
            *idle = others;
            chosen as VecDeque<Box<Connection>>
        };
        let count = chosen.len();
        chosen.into_iter().for_each(|connection| connection.retire());
        count
    }

    fn admits(&self, connection: &Connection, now: Instant) -> bool {
        !connection.is_inherited() && now.saturating_duration_since(connection.last_used) <= self.idle_age
    }

    fn idle(&self) -> MutexGuard<'_, VecDeque<Box<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
