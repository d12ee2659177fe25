//! A connection: its carrier, its key, and the memory of its protocol. Plain `Send` data.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::sync::{Arc, Weak};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use runtime::{Direction, Idle, Reactor, fork_generation};
use zeroize::Zeroizing;

use crate::carrier::{Carrier, Stack};
use crate::connect::Endpoints;
use crate::connection_key::{HashedKey, Origin};
use crate::http3::ALPN;
use crate::pool::{Ahead, PoolKey, Pooled, PooledAs};
use crate::quic::Quic;
use crate::tls::TlsInfo;

/// The facts about a connection that a transfer may know.
#[derive(Clone)]
pub struct About {
    /// Its number in the pool that opened it (CURLINFO_CONN_ID).
    pub id: u64,
    pub key: HashedKey,
    pub endpoints: Endpoints,
    /// The number of its socket's descriptor.
    pub socket: i64,
    /// Parameters of the topmost TLS layer.
    pub tls: Option<Arc<TlsInfo>>,
    /// Its server's last answer was one of HTTP/1.0: requests speak it here.
    pub answers_http10: bool,
    /// When the answer becomes stale that named the address of its peer; `None` if the address was given, or
    /// is no host's. The name is looked up again before a later use, where handles follow names.
    pub address_fresh_until: Cell<Option<Instant>>,
    /// Whether it is still there.
    pub presence: Presence,
}

/// Tells whether a connection still exists, without keeping it alive.
#[derive(Clone, Debug, Default)]
pub struct Presence(Weak<()>);

impl About {
    /// Returns whether the answer that named the peer's address is stale.
    pub fn is_address_stale(&self, now: Instant) -> bool {
        self.address_fresh_until.get().is_some_and(|until| now >= until)
    }

    /// Returns whether QUIC carries the connection.
    pub(crate) fn is_by_quic(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.alpn.as_deref() == Some(ALPN))
    }
}

/// A row of a list of idle connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: u64,
    /// The protocol family: "http" includes https.
    pub scheme: String,
    /// The connection is protected by TLS.
    pub tls: bool,
    pub origin: Origin,
    pub age: Duration,
    pub idle: Duration,
    pub uses: u64,
}

impl Presence {
    /// Returns whether the connection is open, in use or idle; false without a connection.
    pub fn is_there(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// State that a protocol keeps on a connection between two transfers: FTP's directory, HTTP's authenticated
/// login, a parked session.
pub trait Memory<C: Carrier + ?Sized = Stack>: Any + Send {
    /// Checks the idle connection before reuse, and processes input for the protocol itself.
    fn idle_state(&mut self, carrier: &mut C) -> Idle {
        carrier.idle_state()
    }

    /// Checks a connection during upkeep (curl_easy_upkeep): the peer may be probed.
    fn keep_up(&mut self, carrier: &mut C) -> Idle {
        self.idle_state(carrier)
    }

    /// Encodes the state for another process; `None` if it has a meaning in this one alone.
    fn encode(&self) -> Option<Zeroizing<Vec<u8>>> {
        None
    }

    /// Sends the protocol's last message before the connection is closed: one try, without waiting.
    fn retire(&mut self, _carrier: &mut C) {}
}

impl<C: Carrier + ?Sized + 'static> dyn Memory<C> {
    /// Downcasts to the type `T`.
    pub fn take<T: Memory<C>>(self: Box<Self>) -> Option<Box<T>> {
        (self as Box<dyn Any>).downcast().ok()
    }

    /// Downcasts to the type `T` in place.
    pub fn see<T: Memory<C>>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// A connection. Dropping it closes it; [`Connection::retire`] says goodbye first.
pub struct Connection<C: Carrier + ?Sized = Stack> {
    pub about: About,
    pub carrier: Box<C>,
    pub created: Instant,
    pub last_used: Instant,
    /// When it was last looked after while idle (curl_easy_upkeep).
    pub kept_up: Instant,
    /// How many transfers have used it.
    pub uses: u64,
    /// The state that its protocol keeps between transfers.
    pub state: Option<Box<dyn Memory<C>>>,
    /// Commands that were sent ahead of the next use.
    pub ahead: Ahead,
    /// The protocol's last message before closing (`QUIT`), sent in one try.
    pub farewell: Vec<u8>,
    /// Whether it was made through the application's callbacks: then it never leaves its handle's pool.
    pub private: bool,
    fork_generation: u64,
    /// The counter that [`Presence`] checks.
    _present: Arc<()>,
}

impl<C: Carrier + ?Sized + 'static> Connection<C> {
    /// Creates an unused connection; the pool assigns its number.
    pub fn new(key: HashedKey, carrier: Box<C>, endpoints: Endpoints, now: Instant) -> Connection<C> {
        let (socket, tls) = (carrier.socket().raw_fd() as i64, carrier.tls().cloned());
        let present = Arc::new(());
        let presence = Presence(Arc::downgrade(&present));
        Connection {
            about: About {
                id: 0,
                key,
                endpoints,
                socket,
                tls,
                answers_http10: false,
                address_fresh_until: Cell::new(None),
                presence,
            },
            carrier,
            created: now,
            last_used: now,
            kept_up: now,
            uses: 0,
            state: None,
            ahead: Ahead::Nothing,
            farewell: Vec::new(),
            private: false,
            fork_generation: fork_generation(),
            _present: present,
        }
    }

    /// Lets the layers process input if the connection has been idle for `interval`, and returns whether it
    /// is still alive.
    pub(crate) fn keep_up(&mut self, interval: Duration, now: Instant) -> bool {
        if now.saturating_duration_since(self.kept_up) < interval {
            return true;
        }
        self.kept_up = now;
        !self.is_inherited() && self.is_alive_by(|memory, carrier| memory.keep_up(carrier))
    }

    /// A layer was put on top, or taken off.
    pub fn note_layers(&mut self) {
        self.about.tls = self.carrier.tls().cloned();
    }

    /// Sends the protocol's last message, in one try.
    fn retire_memory(&mut self) {
        if let Some(memory) = &mut self.state {
            memory.retire(&mut self.carrier);
        }
    }

    /// Whether it was opened before a fork, by the parent.
    pub fn is_inherited(&self) -> bool {
        self.fork_generation != fork_generation()
    }

    /// Whether other handles may have it.
    pub fn is_shareable(&self) -> bool {
        let key = &self.about.key;
        !self.private && key.owner.is_none() && !key.is_judged()
    }

    /// Whether an idle one can be used.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.is_alive_by(|memory, carrier| memory.idle_state(carrier))
    }

    /// Describes it for a list.
    fn listed(&self, now: Instant) -> Listed {
        Listed {
            id: self.about.id,
            scheme: self.about.key.protocol.name().to_owned(),
            tls: self.about.tls.is_some(),
            origin: self.about.key.origin.clone(),
            age: now.saturating_duration_since(self.created),
            idle: now.saturating_duration_since(self.last_used),
            uses: self.uses,
        }
    }

    fn is_alive_by(&mut self, look: impl FnOnce(&mut dyn Memory<C>, &mut C) -> Idle) -> bool {
        let idle = match &mut self.state {
            Some(memory) => look(memory.as_mut(), &mut self.carrier),
            None => self.carrier.idle_state(),
        };
        match idle {
            Idle::Alive => true,
            Idle::Data => self.ahead == Ahead::Asked,
            Idle::Closed => false,
        }
    }
}

impl Connection {
    /// The topmost layer, for a protocol that speaks on one stream of bytes.
    pub fn filter(&mut self) -> &mut Stack {
        self.carrier.as_mut()
    }

    /// Reads once; 0 is a clean end.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.filter().read(buf).await
    }

    /// Writes everything and flushes it.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.filter().write_all(bytes).await
    }

    /// Flushes the filters.
    pub async fn flush(&mut self) -> io::Result<()> {
        self.filter().write_all(&[]).await
    }

    /// Says goodbye in one non-blocking try and closes. A connection inherited by a fork is closed silently:
    /// the parent still uses it.
    pub fn retire(mut self) {
        if self.is_inherited() {
            return;
        }
        self.retire_memory();
        if !self.farewell.is_empty() {
            let mut cx = Context::from_waker(Waker::noop());
            let _ = self.carrier.poll_write(&mut cx, &self.farewell);
            let _ = self.carrier.poll_flush(&mut cx);
        }
        self.carrier.retire();
    }
}

impl Connection<Quic> {
    /// Says goodbye in one non-blocking try and closes, unless a fork inherited it.
    pub fn retire(mut self) {
        if !self.is_inherited() {
            self.retire_memory();
            self.carrier.retire();
        }
    }
}

/// An open connection as a pool holds it. What carries it was decided when it was opened.
///
/// Boxed, because a connection changes owners a dozen times per request.
pub enum AnyConnection {
    Bytes(Box<Connection>),
    Quic(Box<Connection<Quic>>),
}

impl From<Box<Connection>> for AnyConnection {
    fn from(connection: Box<Connection>) -> AnyConnection {
        AnyConnection::Bytes(connection)
    }
}

impl From<Box<Connection<Quic>>> for AnyConnection {
    fn from(connection: Box<Connection<Quic>>) -> AnyConnection {
        AnyConnection::Quic(connection)
    }
}

impl From<Connection> for AnyConnection {
    fn from(connection: Connection) -> AnyConnection {
        AnyConnection::Bytes(Box::new(connection))
    }
}

impl<C: Carrier + ?Sized + 'static> PooledAs<AnyConnection> for Box<Connection<C>>
where
    Box<Connection<C>>: Into<AnyConnection>,
{
    fn number(&self) -> u64 {
        self.about.id
    }

    fn set_number(&mut self, number: u64) {
        self.about.id = number;
    }

    fn count_use(&mut self) {
        self.uses += 1;
    }

    fn is_for_one_use(&self) -> bool {
        self.about.key.by_ticket
    }
}

/// Evaluates one expression on a connection of either kind.
macro_rules! either {
    ($any:expr, $connection:ident => $result:expr) => {
        match $any {
            AnyConnection::Bytes($connection) => $result,
            AnyConnection::Quic($connection) => $result,
        }
    };
}

impl AnyConnection {
    /// Returns the public description of the connection.
    pub fn about(&self) -> &About {
        either!(self, c => &c.about)
    }
}

impl PoolKey for HashedKey {
    type Origin = Origin;

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl Pooled for AnyConnection {
    type Key = HashedKey;
    type Listed = Listed;

    fn key(&self) -> &HashedKey {
        &self.about().key
    }

    fn number(&self) -> u64 {
        self.about().id
    }

    fn set_number(&mut self, number: u64) {
        either!(self, c => c.about.id = number);
    }

    fn count_use(&mut self) {
        either!(self, c => c.uses += 1);
    }

    fn created(&self) -> Instant {
        either!(self, c => c.created)
    }

    fn last_used(&self) -> Instant {
        either!(self, c => c.last_used)
    }

    fn set_last_used(&mut self, now: Instant) {
        either!(self, c => c.last_used = now);
    }

    fn ahead(&self) -> Ahead {
        either!(self, c => c.ahead)
    }

    fn is_by_quic(&self) -> bool {
        matches!(self, AnyConnection::Quic(_))
    }

    fn is_inherited(&self) -> bool {
        either!(self, c => c.is_inherited())
    }

    fn is_shareable(&self) -> bool {
        either!(self, c => c.is_shareable())
    }

    fn is_for_one_use(&self) -> bool {
        self.about().key.by_ticket
    }

    fn is_alive(&mut self) -> bool {
        either!(self, c => c.is_alive())
    }

    fn keep_up(&mut self, interval: Duration, now: Instant) -> bool {
        either!(self, c => c.keep_up(interval, now))
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        either!(self, c => c.carrier.attach(reactor, owner));
    }

    fn set_owner(&mut self, owner: u64) {
        either!(self, c => c.carrier.socket().set_owner(owner));
    }

    fn detach(&mut self) {
        either!(self, c => c.carrier.detach());
    }

    fn quieten(&mut self) {
        let socket = either!(self, c => c.carrier.socket());
        socket.forget(Direction::Read);
        socket.forget(Direction::Write);
    }

    fn retire(self) {
        either!(self, c => c.retire());
    }

    fn listed(&self, now: Instant) -> Listed {
        either!(self, c => c.listed(now))
    }
}
