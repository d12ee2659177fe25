//! A connection that carries many transfers at once, each on its own stream: the interface of HTTP/2 to a
//! pool, and of SSH with its channels.
//!
//! A session owns its connection as a whole lease ([`Whole`]) and is in the pool's table beside the idle
//! connections of the same key. As long as it has a stream it belongs to its multi handle, whose
//! executor runs its driver. When the last stream has ended it parks: its state is stored in the connection
//! ([`Memory`](crate::connection::Memory)), the connection becomes idle like any other, may move to a share
//! or to the process's pool, and nothing drives it. The next user runs a session on it again.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use runtime::cell::RefCell;

use crate::carrier::{Carrier, Stack};
use crate::connection::{About, AnyConnection, Connection, Memory};
use crate::connection_key::HashedKey;
use crate::exchange::{BufferPool, Exchange};
use crate::http2;
use crate::pool;
use crate::quic::Quic;
use crate::ssh::ChannelSlot;

/// A session that runs on a connection.
pub trait Session: pool::Session<Connection = AnyConnection, Place = SessionPlace> {
    /// Returns the public description of the connection.
    fn about(&self) -> &About;
}

/// The connections of one handle.
pub type Pool = pool::Pool<dyn Session>;
/// Idle connections that several handles share.
pub type SharedPool = pool::SharedPool<AnyConnection>;
/// The result of a request to the pool.
pub type Acquired = pool::Acquired<dyn Session>;
/// The permission to open one connection.
pub type Slot = pool::Slot<dyn Session>;
/// A connection or a stream as the pool grants it.
pub type Granted = pool::Lease<dyn Session>;
/// A connection of bytes or a stream in use by one transfer.
pub type Lease<P = SessionPlace> = pool::Lease<dyn Session, Box<Connection>, P>;
/// A connection of bytes or a stream on which a transfer speaks HTTP.
pub type HttpLease = Lease<Box<dyn Stream>>;
/// A connection that has one user, with that carrier.
pub type WholeConnection<C> = pool::Whole<dyn Session, Box<Connection<C>>>;
/// A connection of bytes that has one user.
pub type Whole = WholeConnection<Stack>;
/// A connection over QUIC that has one user.
pub type QuicWhole = WholeConnection<Quic>;
/// A transfer's request for a connection or a stream.
pub type AcquireRequest<'a> = pool::AcquireRequest<'a, HashedKey>;

/// A transfer's part of a session.
pub enum SessionPlace {
    /// A stream on which an exchange of HTTP takes place.
    Stream(Box<dyn Stream>),
    /// A channel of SSH's.
    Channel(ChannelSlot),
}

/// A place in a session. Dropping it resets its stream, unless that has ended.
pub trait Stream {
    /// Starts the exchange of this place.
    fn begin(&mut self, buffers: &BufferPool) -> Box<dyn Exchange>;

    /// Closes the session for new transfers (CURLOPT_FORBID_REUSE). Existing ones continue.
    fn retire(&mut self) {}

    /// Returns what takes streams that the peer opens in the session; `None` where no peer may.
    fn adopts(&self) -> Option<Rc<dyn Adopt>> {
        None
    }
}

/// A session in which a peer may open streams (server push).
pub trait Adopt {
    /// Takes a place for a stream that is open already.
    fn adopt(self: Rc<Self>, stream: http2::Stream) -> Box<dyn Stream>;
}

/// Calls its argument once, inside a wrapper: for returning a connection to its pool where the application
/// wraps that (a share's lock functions).
pub type ReturnWrapper = Rc<dyn Fn(&mut dyn FnMut())>;

/// Size of one read: what TLS returns without a copy.
pub(crate) const READ: usize = 64 << 10;

/// A receive buffer, lent to one driver at a time: one for all sessions of a multi handle is enough, and a
/// resumed session needs no allocation.
#[derive(Clone, Default)]
pub struct Buffer(Rc<Cell<Vec<u8>>>);

impl Buffer {
    /// Frees its storage.
    pub fn forget(&self) {
        drop(self.0.take());
    }

    /// Number of bytes in it.
    pub(crate) fn lend<R>(&self, size: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
        let mut bytes = self.0.take();
        if bytes.len() < size {
            bytes = vec![0; size];
        }
        let result = f(&mut bytes[..size]);
        self.0.set(bytes);
        result
    }
}

/// The state after the last stream.
pub struct Rested<M, C: Carrier + ?Sized = Stack> {
    pub connection: Box<Connection<C>>,
    /// The session, with which others may go on on this connection; none when it is lost or about to be.
    pub session: Option<M>,
}

/// Drives a session, step by step, until no stream is left. Wakes the waiters for a stream when there may be
/// one.
pub(crate) async fn drive<R, C>(
    session: &dyn Session,
    whole: &RefCell<Option<pool::Whole<dyn Session, C>>>,
    mut step: impl FnMut(&mut Context<'_>) -> Poll<R>,
) -> R {
    poll_fn(|cx| {
        let step = step(cx);
        if step.is_pending() && session.vacancies() > 0 {
            whole.borrow().iter().for_each(pool::Whole::tell_room);
        }
        step
    })
    .await
}

/// Returns the remains to the pool: an idle connection with its session, or a closed one. Facts that the
/// session's description has learnt go back to that of the connection.
pub(crate) fn give_back<M: Memory<C>, C: Carrier + ?Sized + 'static>(
    whole: &RefCell<Option<WholeConnection<C>>>,
    about: &About,
    left: Rested<M, C>,
    around: Option<&ReturnWrapper>,
) where
    Box<Connection<C>>: pool::PooledAs<AnyConnection>,
{
    let Some(mut whole) = whole.take() else { return };
    left.connection.about.address_fresh_until.set(about.address_fresh_until.get());
    whole.restore(left.connection);
    let stays = left.session.is_some();
    whole.connection().state = left.session.map(|session| Box::new(session) as Box<dyn Memory<C>>);
    let mut whole = Some(whole);
    let mut give = || match whole.take() {
        Some(whole) if stays => whole.release(),
        other => other.into_iter().for_each(pool::Whole::retire),
    };
    match around {
        Some(around) => around(&mut give),
        None => give(),
    }
}
