//! A connection that carries many transfers at once, each on a stream of its own: what HTTP/2 is to a pool,
//! and SSH with its channels.
//!
//! A session has its connection as a whole lease ([`Whole`]) and stands in the pool's table beside the idle
//! connections of the same identity. As long as it has a stream it belongs to its multi handle, whose
//! executor runs its driver. When the last stream has ended it parks: what it remembers goes into the
//! connection ([`Memory`](crate::connection::Memory)), the connection becomes an idle one like any other,
//! which may go to a share or to the process's pool, and nobody drives it. Whoever takes it from there runs a
//! session on it again.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use runtime::cell::RefCell;

use crate::connection::{About, Connection, Memory};
use crate::exchange::{Exchange, Spares};
use crate::http2;
use crate::identity::Key;
use crate::pool;
use crate::ssh::Seat;

/// A session that runs on a connection.
pub trait Session: pool::Session<Connection = Box<Connection>, Place = Place> {
    /// Returns the public description of the connection.
    fn about(&self) -> &About;

    /// Takes a place for a stream that is open already, because the peer has pushed it.
    fn adopt(self: Rc<Self>, stream: http2::Stream) -> Place;
}

/// The connections of one handle.
pub type Pool = pool::Pool<dyn Session>;
/// Idle connections that several handles share.
pub type SharedPool = pool::SharedPool<Box<Connection>>;
/// The result of a request to the pool.
pub type Acquired = pool::Acquired<dyn Session>;
/// The permission to open one connection.
pub type Slot = pool::Slot<dyn Session>;
/// A connection or a stream in use by one transfer.
pub type Lease = pool::Lease<dyn Session>;
/// A connection that has one user.
pub type Whole = pool::Whole<dyn Session>;
/// A transfer's request for a connection or a stream.
pub type AcquireRequest<'a> = pool::AcquireRequest<'a, Key>;

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
    fn begin(&mut self, spares: &Spares) -> Box<dyn Exchange>;

    /// No other transfer gets a place in its session from now on (CURLOPT_FORBID_REUSE). Those that have one
    /// keep it.
    fn retire(&mut self) {}
}

/// Calls what it is given, once: stands around what gives a connection back to its pool, where somebody wants
/// to know of that (a share's lock functions).
pub type Around = Rc<dyn Fn(&mut dyn FnMut())>;

/// One read; what TLS hands out without a copy.
pub(crate) const READ: usize = 64 << 10;

/// What is read into, lent to one driver at a time: one for all sessions of a multi handle is enough, and one
/// that was parked goes on without an allocation.
#[derive(Clone, Default)]
pub struct Buffer(Rc<Cell<Vec<u8>>>);

impl Buffer {
    /// So many bytes of it.
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

/// What is left when no stream is.
pub struct Rested<M> {
    pub connection: Box<Connection>,
    /// The session, with which others may go on on this connection; none when it is lost or about to be.
    pub session: Option<M>,
}

/// Drives a session, step by step, to its rest. Whoever waits for a stream is told when there may be one.
pub(crate) async fn drive<R>(
    session: &dyn Session,
    whole: &RefCell<Option<Whole>>,
    mut step: impl FnMut(&mut Context<'_>) -> Poll<R>,
) -> R {
    poll_fn(|cx| {
        let step = step(cx);
        if step.is_pending() && session.vacancies() > 0 {
            whole.borrow().iter().for_each(Whole::tell_room);
        }
        step
    })
    .await
}

/// Gives what is left back to the pool: an idle connection with its session, or one that is closed.
pub(crate) fn give_back<M: Memory>(whole: &RefCell<Option<Whole>>, left: Rested<M>, around: Option<&Around>) {
    let Some(mut whole) = whole.take() else { return };
    whole.restore(left.connection);
    let stays = left.session.is_some();
    whole.connection().state = left.session.map(|session| Box::new(session) as Box<dyn Memory>);
    let mut whole = Some(whole);
    let mut give = || match whole.take() {
        Some(whole) if stays => whole.release(),
        other => other.into_iter().for_each(Whole::retire),
    };
    match around {
        Some(around) => around(&mut give),
        None => give(),
    }
}
