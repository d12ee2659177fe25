//! A connection: a stack of filters, what it is for, and what its protocol remembers. Plain `Send` data.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use runtime::{Direction, Idle, Reactor, fork_generation};

use crate::connect::Endpoints;
use crate::filter::Filter;
use crate::identity::Key;

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

/// One connection. Dropping it closes it; [`Connection::retire`] says goodbye first.
pub struct Connection {
    /// Its number in the pool that opened it (CURLINFO_CONN_ID).
    pub id: u64,
    pub identity: Key,
    pub filter: Box<dyn Filter>,
    pub created: Instant,
    pub last_used: Instant,
    /// When it was last looked after while idle (curl_easy_upkeep).
    pub kept_up: Instant,
    /// How many transfers have used it.
    pub uses: u64,
    pub endpoints: Endpoints,
    /// What its protocol keeps between transfers: FTP's directory, an HTTP/2 session.
    pub state: Option<Box<dyn Any + Send>>,
    /// Its server's last answer was one of HTTP/1.0: requests speak it here.
    pub answers_http10: bool,
    /// What was done ahead of the next use.
    pub ahead: Ahead,
    /// What the protocol says before closing (`QUIT`), sent in one try.
    pub farewell: Vec<u8>,
    /// Made through the application's callbacks: never leaves its handle's pool.
    pub private: bool,
    fork_generation: u64,
}

impl Connection {
    /// A connection that nobody has used yet; its number is given by the pool.
    pub fn new(identity: Key, filter: Box<dyn Filter>, endpoints: Endpoints, now: Instant) -> Connection {
        Connection {
            id: 0,
            identity,
            filter,
            created: now,
            last_used: now,
            kept_up: now,
            uses: 0,
            endpoints,
            state: None,
            answers_http10: false,
            ahead: Ahead::Nothing,
            farewell: Vec::new(),
            private: false,
            fork_generation: fork_generation(),
        }
    }

    /// When it has been left alone for `interval`: whether it is still alive, after its layers took what had come for
    /// themselves.
    pub(crate) fn keep_up(&mut self, interval: Duration, now: Instant) -> bool {
        if now.saturating_duration_since(self.kept_up) < interval {
            return true;
        }
        self.kept_up = now;
        !self.is_inherited() && self.filter.idle_state() == Idle::Alive
    }

    /// Reads once; 0 is a clean end.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.filter.read(buf).await
    }

    /// Writes everything and flushes it.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.filter.write_all(bytes).await
    }

    /// Pushes out what the filters hold.
    pub async fn flush(&mut self) -> io::Result<()> {
        self.filter.write_all(&[]).await
    }

    /// Says goodbye in one non-blocking try and closes. What was inherited by a fork is closed without a word: the
    /// parent still speaks on it.
    pub fn retire(mut self) {
        if self.is_inherited() {
            return;
        }
        if !self.farewell.is_empty() {
            let mut cx = Context::from_waker(Waker::noop());
            let _ = self.filter.poll_write(&mut cx, &self.farewell);
            let _ = self.filter.poll_flush(&mut cx);
        }
        self.filter.retire();
    }

    /// Whether it was opened before a fork, by the parent.
    pub fn is_inherited(&self) -> bool {
        self.fork_generation != fork_generation()
    }

    /// Whether other handles may have it.
    pub fn is_shareable(&self) -> bool {
        !self.private && self.identity.owner.is_none()
    }

    /// Whether an idle one can be used.
    pub(crate) fn is_alive(&mut self) -> bool {
        match self.filter.idle_state() {
            Idle::Alive => true,
            Idle::Data => self.ahead == Ahead::Asked,
            Idle::Closed => false,
        }
    }

    pub(crate) fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.filter.attach(reactor, owner);
    }

    /// Nobody waits on it: an application's loop must not hear of it.
    pub(crate) fn quieten(&mut self) {
        self.filter.socket().forget(Direction::Read);
        self.filter.socket().forget(Direction::Write);
    }
}
