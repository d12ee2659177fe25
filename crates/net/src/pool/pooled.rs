//! The traits of the pool's contents: connections, their keys, and sessions that run on them.
//!
//! The pool names no protocol, no socket and no TLS; `pool::tests` runs it with numbers.

use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::Reactor;

use super::request::NoneFromBroker;

/// Work that a protocol has done on an idle connection ahead of its next use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ahead {
    #[default]
    Nothing,
    /// A question was sent: a reply that arrives is no sign of a broken connection.
    Asked,
    /// The reply has arrived, and the next use is cheaper here than elsewhere.
    Ready,
}

/// The key of a connection: two connections with equal keys serve the same requests.
///
/// Its `Hash` writes one precomputed `u64`.
pub trait PoolKey: Clone + Eq + Hash {
    /// The host and port that limits count by.
    type Origin: Clone + Eq + Hash;

    /// Returns the origin to which a connection with this key leads.
    fn origin(&self) -> &Self::Origin;
}

/// A connection as a pool sees it. Dropping it closes it.
pub trait Pooled: Sized {
    type Key: PoolKey;
    /// A row of a list of idle connections.
    type Listed;

    /// Returns the key under which it is found.
    fn key(&self) -> &Self::Key;

    /// Returns its number in the pool that opened it.
    fn number(&self) -> u64;

    /// Sets that number.
    fn set_number(&mut self, number: u64);

    /// Counts one more use.
    fn count_use(&mut self);

    /// Returns when it was opened.
    fn created(&self) -> Instant;

    /// Returns when it was used last.
    fn last_used(&self) -> Instant;

    /// Notes that it was used until now.
    fn set_last_used(&mut self, now: Instant);

    /// Returns the work done ahead of its next use.
    fn ahead(&self) -> Ahead;

    /// Returns whether QUIC carries it.
    fn is_by_quic(&self) -> bool;

    /// Returns whether it was opened before a fork, by the parent.
    fn is_inherited(&self) -> bool;

    /// Returns whether other handles may use it.
    fn is_shareable(&self) -> bool;

    /// Returns whether the connection must never be reused.
    fn is_for_one_use(&self) -> bool;

    /// Looks whether an idle one may be used again.
    fn is_alive(&mut self) -> bool;

    /// Checks a connection that was idle for `interval`, and returns whether it is still alive.
    fn keep_up(&mut self, interval: Duration, now: Instant) -> bool;

    /// Registers it with a reactor on behalf of an owner.
    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64);

    /// Changes the owner for whom the reactor waits.
    fn set_owner(&mut self, owner: u64);

    /// Removes it from its reactor.
    fn detach(&mut self);

    /// Withdraws every interest in its readiness.
    fn quieten(&mut self);

    /// Closes it politely.
    fn retire(self);

    /// Describes it for a list.
    fn listed(&self, now: Instant) -> Self::Listed;
}

/// A connection of one kind among those that a pool holds.
pub trait PooledAs<C: Pooled>: Into<C> {
    /// Returns its number in the pool that opened it.
    fn number(&self) -> u64;

    /// Sets that number.
    fn set_number(&mut self, number: u64);

    /// Counts one more use.
    fn count_use(&mut self);

    /// Returns whether it must not be reused, whatever asks for it.
    fn is_for_one_use(&self) -> bool;
}

impl<C: Pooled> PooledAs<C> for C {
    fn number(&self) -> u64 {
        Pooled::number(self)
    }

    fn set_number(&mut self, number: u64) {
        Pooled::set_number(self, number);
    }

    fn count_use(&mut self) {
        Pooled::count_use(self);
    }

    fn is_for_one_use(&self) -> bool {
        Pooled::is_for_one_use(self)
    }
}

/// A store of idle connections outside the process.
pub trait Broker<C: Pooled>: Send + Sync {
    /// Takes a connection with that key. It may have died meanwhile.
    fn take(&self, key: &C::Key, now: Instant) -> Result<C, NoneFromBroker>;

    /// Notes that the pool has an idle connection, which is to be given with
    /// [`SharedPool::give_idle`](super::SharedPool::give_idle) when it has rested.
    fn expect_idle(&self) {}

    /// Gives a connection away, before the deadline.
    fn give(&self, connection: C, now: Instant, until: Instant) -> GiveOutcome<C>;
}

/// The outcome of giving a connection away.
pub enum GiveOutcome<C> {
    Gone,
    /// The connection cannot leave the process.
    Stays(C),
    /// No broker accepts connections.
    Unavailable(C),
}

/// A session that runs on a connection and has places for several transfers at once.
pub trait Session {
    type Connection: Pooled;
    /// The part of a session that one transfer has.
    type Place;

    /// Returns whether QUIC carries its connection.
    fn is_by_quic(&self) -> bool;

    /// Returns how many more places may be taken now: none at the peer's limit or our own, or when the peer
    /// is about to leave. When the number grows, the session reports it with
    /// [`Whole::tell_room`](super::Whole::tell_room).
    fn vacancies(&self) -> usize;

    /// Checks the connection (curl_easy_upkeep): after `interval` without a sign of life the peer is probed.
    fn keep_up(&self, _interval: Duration, _now: Instant) {}

    /// Takes a place for one transfer. It counts from now on, and until it is dropped.
    fn place(self: Rc<Self>) -> Self::Place;
}
