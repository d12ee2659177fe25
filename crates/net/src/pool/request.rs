//! The terms of a pool as plain values: limits, demands on a connection, requests and counters.

use std::cell::Cell;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::pooled::Pooled;

/// Limits of a pool; zero means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of connections, idle and used together, above which the oldest idle one is closed
    /// (CURLOPT_MAXCONNECTS).
    pub kept: usize,
    /// CURLMOPT_MAX_HOST_CONNECTIONS
    pub per_host: usize,
    /// CURLMOPT_MAX_TOTAL_CONNECTIONS
    pub total: usize,
}

/// The demands of one handle on the age of an idle connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ages {
    /// The longest idle time (CURLOPT_MAXAGE_CONN).
    pub idle: Duration,
    /// The greatest age (CURLOPT_MAXLIFETIME_CONN); zero means none.
    pub lifetime: Duration,
}

/// A transfer's request for a connection or a stream.
pub struct AcquireRequest<'a, K> {
    pub key: &'a K,
    /// Skips idle connections and sessions (CURLOPT_FRESH_CONNECT).
    pub fresh: bool,
    /// Accepts a stream of a session.
    pub streams: bool,
    /// Refuses HTTP/3, which an origin may have announced to other transfers with the same key.
    pub by_tcp: bool,
    /// How many requests wait for each connection that is being opened, because it may become a session
    /// (CURLOPT_PIPEWAIT).
    pub patience: usize,
    pub ages: Ages,
    /// The owner for whom the reactor waits.
    pub owner: u64,
    /// Receives the reason why the last connection that was found could not be used.
    pub refusal: Option<&'a Cell<Option<Refusal>>>,
}

/// The reason why an idle connection of the right key was closed instead of reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A fork inherited it: the parent still uses it.
    Inherited,
    /// It was idle for that long, and the request allows less (CURLOPT_MAXAGE_CONN).
    Idle(Duration),
    /// It was opened that long ago, and the request allows less (CURLOPT_MAXLIFETIME_CONN).
    Aged(Duration),
    /// The peer had closed it or sent something unexpected.
    Dead,
    /// The host's name does not resolve to its peer's address any more.
    Moved(IpAddr),
    /// This process has none, and the broker of the user gave none.
    Broker(NoneFromBroker),
}

/// The reason why the broker of the user gave no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoneFromBroker {
    /// It has none of that key.
    Nothing,
    /// No broker runs yet.
    NotRunning,
    /// It did not answer within the time limit of a transfer.
    Slow,
    /// It speaks another version of the protocol.
    OtherVersion,
    /// It belongs to another user, has no private folder, or failed.
    Unusable,
    /// Connections of that key stay in their process; the text says why.
    Stays(&'static str),
}

/// The reason why an idle connection was closed although nobody asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// The pool keeps that many (CURLOPT_MAXCONNECTS, CURLMOPT_MAXCONNECTS).
    Kept(usize),
    /// Another connection needed its place (CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_MAX_HOST_CONNECTIONS).
    Limit,
    /// It was idle for longer than any handle allows.
    Idle,
}

/// Connections of one key to an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour<K> {
    pub key: K,
    pub idle: usize,
    /// Slots, leases and sessions.
    pub used: usize,
}

/// Counters of a pool's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub opened: u64,
    pub reused: u64,
    /// Connections found closed, unexpectedly readable or too old.
    pub dead: u64,
    pub evicted: u64,
    /// Idle connections examined in the search for one.
    pub looks: u64,
    /// Wake-ups of waiting requests.
    pub wakes: u64,
}

impl Default for Limits {
    /// Returns the limits of an easy handle.
    fn default() -> Limits {
        Limits { kept: 5, per_host: 0, total: 0 }
    }
}

impl Default for Ages {
    /// Returns the demands of an easy handle.
    fn default() -> Ages {
        Ages { idle: Duration::from_secs(118), lifetime: Duration::ZERO }
    }
}

impl<K> Clone for AcquireRequest<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for AcquireRequest<'_, K> {}

impl<K> AcquireRequest<'_, K> {
    /// Returns whether a connection over QUIC, or one over TCP, is acceptable.
    pub(crate) fn admits(&self, by_quic: bool) -> bool {
        !(self.by_tcp && by_quic)
    }

    /// Records why a connection of the right key is not used.
    pub fn refuse(&self, why: Refusal) {
        if let Some(refusal) = self.refusal {
            refusal.set(Some(why));
        }
    }

    /// Records why the broker has no connection, unless a better reason is known.
    pub(crate) fn refuse_by_broker(&self, why: NoneFromBroker) {
        if let Some(refusal) = self.refusal {
            refusal.set(refusal.get().or(Some(Refusal::Broker(why))));
        }
    }

    /// Returns whether the request may use this idle connection, and records why not.
    pub(crate) fn accepts<C: Pooled>(&self, connection: &mut C, now: Instant) -> bool {
        let refusal = self.ages.refusal(connection, now);
        let refusal = refusal.or_else(|| (!connection.is_alive()).then_some(Refusal::Dead));
        if let Some(why) = refusal {
            self.refuse(why);
        }
        refusal.is_none()
    }
}

impl Ages {
    pub(crate) fn allow(&self, connection: &impl Pooled, now: Instant) -> bool {
        self.refusal(connection, now).is_none()
    }

    /// Returns why a connection is too old, if it is.
    fn refusal(&self, connection: &impl Pooled, now: Instant) -> Option<Refusal> {
        let age = || now.saturating_duration_since(connection.created());
        let idle = now.saturating_duration_since(connection.last_used());
        if connection.is_inherited() {
            Some(Refusal::Inherited)
        } else if idle > self.idle {
            Some(Refusal::Idle(idle))
        } else if !self.lifetime.is_zero() && age() > self.lifetime {
            Some(Refusal::Aged(age()))
        } else {
            None
        }
    }
}
