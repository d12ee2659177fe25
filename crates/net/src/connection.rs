//! A connection: what carries it, what it is for, and what its protocol remembers. Plain `Send` data.

use std::any::Any;
use std::io;
use std::sync::{Arc, Weak};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use runtime::{Direction, Idle, Reactor, fork_generation};

use crate::Filter;
use crate::carrier::Carried;
use crate::connect::Endpoints;
use crate::identity::Key;
use crate::tls::TlsInfo;

/// What a protocol did on an idle connection ahead of its next use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ahead {
    #[default]
    Nothing,
    /// It asked something: an answer that comes is no sign of a connection gone wrong.
    Asked,
    /// It was answered, and the next use costs less here than elsewhere.
    Ready,
}

/// What a transfer may know of its connection.
#[derive(Clone)]
pub struct About {
    /// Its number in the pool that opened it (CURLINFO_CONN_ID).
    pub id: u64,
    pub identity: Key,
    pub endpoints: Endpoints,
    /// The number of its socket's descriptor.
    pub socket: i64,
    /// What the topmost TLS layer agreed on.
    pub tls: Option<Arc<TlsInfo>>,
    /// Its server's last answer was one of HTTP/1.0: requests speak it here.
    pub answers_http10: bool,
    /// Whether it is still there.
    pub presence: Presence,
}

/// Knows of a connection whether it has been closed, and holds nothing of it.
#[derive(Clone, Debug, Default)]
pub struct Presence(Weak<()>);

impl Presence {
    /// Whether the connection is open, in use or idle. Of no connection at all it says no.
    pub fn is_there(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// What a protocol keeps on a connection between two transfers: FTP's folder, what HTTP knows of the one who is logged in,
/// a session that is parked.
pub trait Memory: Any + Send {
    /// Looks at the idle connection before it is used again, and takes what came for the protocol itself.
    fn idle_state(&mut self, carrier: &mut Carried) -> Idle {
        carrier.idle_state()
    }

    /// The same for one that is looked after while nobody uses it (curl_easy_upkeep): the peer may be asked whether it is
    /// there.
    fn keep_up(&mut self, carrier: &mut Carried) -> Idle {
        self.idle_state(carrier)
    }

    /// One try, without waiting, to say what the protocol says before its connection is closed.
    fn retire(&mut self, _carrier: &mut Carried) {}
}

impl dyn Memory {
    /// What it is, if it is that.
    pub fn take<T: Memory>(self: Box<Self>) -> Option<Box<T>> {
        (self as Box<dyn Any>).downcast().ok()
    }

    /// The same, left in its place.
    pub fn see<T: Memory>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// One connection. Dropping it closes it; [`Connection::retire`] says goodbye first.
pub struct Connection {
    pub about: About,
    pub carrier: Carried,
    pub created: Instant,
    pub last_used: Instant,
    /// When it was last looked after while idle (curl_easy_upkeep).
    pub kept_up: Instant,
    /// How many transfers have used it.
    pub uses: u64,
    /// What its protocol keeps between transfers.
    pub state: Option<Box<dyn Memory>>,
    /// What was done ahead of the next use.
    pub ahead: Ahead,
    /// What the protocol says before closing (`QUIT`), sent in one try.
    pub farewell: Vec<u8>,
    /// Made through the application's callbacks: never leaves its handle's pool.
    pub private: bool,
    fork_generation: u64,
    /// What [`Presence`] looks at.
    _present: Arc<()>,
}

impl Connection {
    /// A connection that nobody has used yet; its number is given by the pool.
    pub fn new(identity: Key, carrier: impl Into<Carried>, endpoints: Endpoints, now: Instant) -> Connection {
        let carrier = carrier.into();
        let (socket, tls) = (carrier.socket().raw_fd() as i64, carrier.tls().cloned());
        let present = Arc::new(());
        let presence = Presence(Arc::downgrade(&present));
        Connection {
            about: About { id: 0, identity, endpoints, socket, tls, answers_http10: false, presence },
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

    /// When it has been left alone for `interval`: whether it is still alive, after its layers took what had come for
    /// themselves.
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

    /// The topmost layer, for a protocol that speaks on one stream of bytes.
    pub fn filter(&mut self) -> &mut (dyn Filter + 'static) {
        self.carrier.filter()
    }

    /// Reads once; 0 is a clean end.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.filter().read(buf).await
    }

    /// Writes everything and flushes it.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.filter().write_all(bytes).await
    }

    /// Pushes out what the filters hold.
    pub async fn flush(&mut self) -> io::Result<()> {
        self.filter().write_all(&[]).await
    }

    /// Says goodbye in one non-blocking try and closes. What was inherited by a fork is closed without a word: the
    /// parent still speaks on it.
    pub fn retire(mut self) {
        if self.is_inherited() {
            return;
        }
        if let Some(memory) = &mut self.state {
            memory.retire(&mut self.carrier);
        }
        if !self.farewell.is_empty() {
            let mut cx = Context::from_waker(Waker::noop());
            let _ = self.carrier.filter().poll_write(&mut cx, &self.farewell);
            let _ = self.filter().poll_flush(&mut cx);
        }
        self.carrier.retire();
    }

    /// Whether it was opened before a fork, by the parent.
    pub fn is_inherited(&self) -> bool {
        self.fork_generation != fork_generation()
    }

    /// Whether other handles may have it.
    pub fn is_shareable(&self) -> bool {
        let identity = &self.about.identity;
        !self.private && identity.owner.is_none() && !identity.is_judged()
    }

    /// Whether an idle one can be used.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.is_alive_by(|memory, carrier| memory.idle_state(carrier))
    }

    fn is_alive_by(&mut self, look: impl FnOnce(&mut dyn Memory, &mut Carried) -> Idle) -> bool {
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

    pub(crate) fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.carrier.attach(reactor, owner);
    }

    /// Nobody waits on it: an application's loop must not hear of it.
    pub(crate) fn quieten(&mut self) {
        self.carrier.socket().forget(Direction::Read);
        self.carrier.socket().forget(Direction::Write);
    }
}
