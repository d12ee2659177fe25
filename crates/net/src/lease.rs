//! Leases as transfers use them: the description of the connection, and the exchange, channel or stream on
//! it. The type of a lease says what it holds.

use std::rc::Rc;

use crate::carrier::Carrier;
use crate::connection::{About, AnyConnection, Connection};
use crate::connection_key::HashedKey;
use crate::exchange::{BufferPool, Exchange, Replayed, ReplySource, http1::Http1};
use crate::http2;
use crate::pool;
use crate::session::{
    Adopt, Granted, HttpLease, Lease, Pool, QuicWhole, Session, SessionPlace, Whole, WholeConnection,
};
use crate::ssh::ChannelSlot;

/// Makes leases of streams that a peer has opened.
pub struct Adopter {
    session: Rc<dyn Session>,
    adopts: Rc<dyn Adopt>,
}

impl Adopter {
    /// Returns a lease of that stream.
    pub fn lease(&self, stream: http2::Stream) -> HttpLease {
        HttpLease::adopted(self.session.clone(), self.adopts.clone().adopt(stream))
    }
}

/// A lease by what carries the connection.
pub enum ByCarrier {
    /// A connection of bytes, or a stream of a session.
    Bytes(Lease),
    /// A connection over QUIC, on which a session of HTTP/3 runs.
    Quic(QuicWhole),
}

impl Granted {
    /// Returns the public description of the connection.
    pub fn about(&self) -> &About {
        match self {
            pool::Lease::Whole(whole) => whole.held().about(),
            pool::Lease::Stream(share) => share.session.about(),
        }
    }

    /// Closes politely, as [`Lease::retire`] does.
    pub fn retire(self) {
        match self.by_carrier() {
            ByCarrier::Bytes(lease) => lease.retire(),
            ByCarrier::Quic(whole) => whole.retire(),
        }
    }

    /// Returns the lease as what its connection was opened for.
    pub fn by_carrier(self) -> ByCarrier {
        match self {
            pool::Lease::Stream(share) => ByCarrier::Bytes(pool::Lease::Stream(share)),
            pool::Lease::Whole(mut whole) => match whole.take() {
                AnyConnection::Bytes(connection) => ByCarrier::Bytes(whole.with(connection).into()),
                AnyConnection::Quic(connection) => ByCarrier::Quic(whole.with(connection)),
            },
        }
    }
}

impl<P> Lease<P> {
    /// Returns the public description of the connection.
    pub fn about(&self) -> &About {
        match self {
            pool::Lease::Whole(whole) => whole.about(),
            pool::Lease::Stream(share) => share.session.about(),
        }
    }
}

impl Lease {
    /// Returns the lease for HTTP; `None` for a channel of SSH's, which is closed.
    pub fn into_http(self) -> Option<HttpLease> {
        match self {
            pool::Lease::Whole(whole) => Some(pool::Lease::Whole(whole)),
            pool::Lease::Stream(share) => {
                let stream = |place| match place {
                    SessionPlace::Stream(stream) => Some(stream),
                    SessionPlace::Channel(_) => None,
                };
                share.filter_map(stream).map(pool::Lease::Stream)
            }
        }
    }

    /// Returns the place in an SSH session.
    pub fn channel_slot(self) -> Option<ChannelSlot> {
        match self {
            pool::Lease::Stream(pool::Share { place: SessionPlace::Channel(slot), .. }) => Some(slot),
            _ => None,
        }
    }

    /// Closes politely. In a session only this transfer's stream ends; the session opens no more, and closes
    /// after the last one.
    pub fn retire(self) {
        match self {
            pool::Lease::Whole(whole) => whole.retire(),
            pool::Lease::Stream(pool::Share { place: SessionPlace::Stream(mut stream), .. }) => {
                stream.retire()
            }
            pool::Lease::Stream(pool::Share { place: SessionPlace::Channel(mut slot), .. }) => slot.retire(),
        }
    }
}

impl HttpLease {
    /// Returns the adopter for streams that the peer opens in the same session; `None` without one.
    pub fn adopter(&self) -> Option<Adopter> {
        let pool::Lease::Stream(share) = self else { return None };
        Some(Adopter { session: share.session.clone(), adopts: share.place.adopts()? })
    }

    /// Starts an exchange, which owns the connection or the stream until [`HttpLease::end`].
    pub fn begin(&mut self, buffers: &BufferPool) -> Box<dyn Exchange> {
        match self {
            pool::Lease::Whole(whole) => Box::new(Http1::new(whole.take(), buffers)),
            pool::Lease::Stream(share) => share.place.begin(buffers),
        }
    }

    /// Starts an exchange that is answered from a record; `None` on a stream of a session.
    pub fn replay(&mut self, source: Box<dyn ReplySource>) -> Option<Box<dyn Exchange>> {
        match self {
            pool::Lease::Whole(whole) => Some(Box::new(Replayed::new(whole.take(), source))),
            pool::Lease::Stream(_) => None,
        }
    }

    /// Ends an exchange that was begun here, and returns whether another may follow.
    pub fn end(&mut self, exchange: Box<dyn Exchange>) -> bool {
        let finished = exchange.finish();
        if let (pool::Lease::Whole(whole), Some(connection)) = (self, finished.connection) {
            whole.restore(connection);
        }
        finished.clean
    }
}

impl From<HttpLease> for Lease {
    fn from(lease: HttpLease) -> Lease {
        match lease {
            pool::Lease::Whole(whole) => pool::Lease::Whole(whole),
            pool::Lease::Stream(share) => pool::Lease::Stream(share.map(SessionPlace::Stream)),
        }
    }
}

impl<C: Carrier + ?Sized + 'static> WholeConnection<C> {
    /// Returns the public description of the connection.
    pub fn about(&self) -> &About {
        &self.held().about
    }
}

impl Whole {
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
