//! A connection that carries many transfers at once, each on a stream of its own: what HTTP/2 is to a pool, and SSH
//! with its channels.
//!
//! A session has its connection as a whole lease ([`Whole`](crate::lease::Whole)) and stands in the pool's table beside
//! the idle connections of the same identity. As long as it has a stream it belongs to its multi handle, whose executor
//! runs its driver. When the last stream has ended it parks: what it remembers goes into the connection
//! ([`Memory`](crate::connection::Memory)), the connection becomes an idle one like any other, which may go to a share or
//! to the process's pool, and nobody drives it. Whoever takes it from there runs a session on it again.

use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::connection::About;
use crate::exchange::{Exchange, Storage};
use crate::http2;
use crate::ssh::Seat;

/// A session that runs.
pub trait Session {
    /// What may be known of its connection.
    fn about(&self) -> &About;

    /// How many more streams may be opened now: none at the peer's limit or our own, or once the peer is about to leave.
    /// When it grows, the session tells ([`Whole::tell_room`](crate::lease::Whole::tell_room)).
    fn vacancies(&self) -> usize;

    /// Looked after while it runs (curl_easy_upkeep): when that has not happened for `interval`, the peer is asked whether it
    /// is there.
    fn keep_up(&self, _interval: Duration, _now: Instant) {}

    /// A place for one transfer. It counts from now on, and until it is dropped.
    fn place(self: Rc<Self>) -> Place;

    /// The same for a stream of it that is open already: the peer has pushed it.
    fn adopt(self: Rc<Self>, stream: http2::Stream) -> Place;
}

/// What one transfer has of a session.
pub enum Place {
    /// A stream on which an exchange of HTTP takes place.
    Stream(Box<dyn Stream>),
    /// A channel of SSH's.
    Channel(Seat),
}

/// A place in a session. Dropping it resets its stream, unless that has ended.
pub trait Stream {
    /// Begins the exchange for which it is.
    fn begin(&mut self, storage: Storage) -> Box<dyn Exchange>;

    /// No other transfer gets a place in its session from now on (CURLOPT_FORBID_REUSE). Those that have one keep it.
    fn retire(&mut self) {}
}
