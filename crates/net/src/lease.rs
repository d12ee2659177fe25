//! Leases as transfers use them: the facts about the connection, and the exchange, channel or stream on it.

use std::rc::Rc;

use crate::connection::{About, Connection};
use crate::connection_key::HashedKey;
use crate::exchange::{Exchange, Spares, http1::Http1};
use crate::http2;
use crate::pool;
use crate::session::{Lease, Place, Pool, Session, Whole};
use crate::ssh::Seat;

/// Makes leases of streams that a peer has opened.
pub struct Adopter(Rc<dyn Session>);

impl Adopter {
    /// Returns a lease of that stream.
    pub fn lease(&self, stream: http2::Stream) -> Lease {
        Lease::adopted(self.0.clone(), self.0.clone().adopt(stream))
    }
}

impl Lease {
    /// Returns the public description of the connection.
    pub fn about(&self) -> &About {
        match self {
            Lease::Whole(whole) => whole.about(),
            Lease::Stream(share) => share.session.about(),
        }
    }

    /// Returns the adopter for streams that the peer opens in the same session; `None` without a session.
    pub fn adopter(&self) -> Option<Adopter> {
        match self {
            Lease::Whole(_) => None,
            Lease::Stream(share) => Some(Adopter(share.session.clone())),
        }
    }

    /// Starts an exchange, which owns the connection or the stream until [`Lease::end`].
    pub fn begin(&mut self, spares: &Spares) -> Box<dyn Exchange> {
        match self {
            Lease::Whole(whole) => Box::new(Http1::new(whole.take(), spares)),
            Lease::Stream(pool::Share { place: Place::Stream(stream), .. }) => stream.begin(spares),
            Lease::Stream(_) => unreachable!("HTTP asks for no connection of SSH's: their keys differ"),
        }
    }

    /// Returns the place in an SSH session.
    pub fn seat(self) -> Option<Seat> {
        match self {
            Lease::Stream(pool::Share { place: Place::Channel(seat), .. }) => Some(seat),
            _ => None,
        }
    }

    /// Ends an exchange that was begun here, and returns whether another may follow.
    pub fn end(&mut self, exchange: Box<dyn Exchange>) -> bool {
        let finished = exchange.finish();
        if let (Lease::Whole(whole), Some(connection)) = (self, finished.connection) {
            whole.restore(connection);
        }
        finished.clean
    }

    /// Closes politely. In a session only this transfer's stream ends; the session opens no more, and closes
    /// after the last one.
    pub fn retire(self) {
        match self {
            Lease::Whole(whole) => whole.retire(),
            Lease::Stream(pool::Share { place: Place::Stream(mut stream), .. }) => stream.retire(),
            Lease::Stream(pool::Share { place: Place::Channel(mut seat), .. }) => seat.retire(),
        }
    }
}

impl Whole {
    /// Returns the public description of the connection.
    pub fn about(&self) -> &About {
        &self.held().about
    }

    /// Binds the connection to a login: only the same key finds it from now on.
    pub fn bind(&mut self, key: HashedKey) {
        self.connection().about.key = key;
    }

    /// Takes the connection away from the pool (CONNECT_ONLY, an upgraded protocol). The slot ends with the
    /// lease.
    pub fn into_connection(mut self) -> Connection {
        *self.take()
    }
}

impl Pool {
    /// Returns the descriptors of connections on which sessions run.
    pub fn session_sockets(&self) -> Vec<i64> {
        self.sessions().iter().map(|session| session.about().socket).collect()
    }
}
