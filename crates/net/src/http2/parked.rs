//! A session without a driver, on an idle connection. Before reuse it processes what has arrived for the
//! connection itself: a ping, new settings, a goodbye.

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use runtime::Idle;
use wire::h2::{ErrorCode, Event, Session};
use zeroize::Zeroizing;

use super::driver::tell_time;
use super::encoding::encode;
use crate::{Connection, Filter, Memory, Stack};

/// Maximum number of reads in one check: an idle peer has no more to say.
const MAX_READS: usize = 128;
/// Bytes of one read, on the stack.
const READ: usize = 2 << 10;

/// A session without streams. It can be moved between threads with its connection.
pub struct Parked {
    /// In a box: it moves with each rest and each resumption.
    session: Box<Session>,
    /// Answers that did not fit into the socket.
    out: Vec<u8>,
    /// When its connection was opened.
    opened: Instant,
}

impl Parked {
    pub(super) fn new(session: Box<Session>, out: Vec<u8>, opened: Instant) -> Parked {
        Parked { session, out, opened }
    }

    pub(super) fn into_parts(self) -> (Box<Session>, Vec<u8>) {
        (self.session, self.out)
    }

    /// Asks whether the peer is there; its answer is taken by the next look (curl_easy_upkeep).
    pub fn ping(&mut self, filter: &mut Stack, bytes: [u8; 8]) -> Idle {
        self.session.ping(bytes);
        self.answer(filter)
    }

    /// Processes input and returns whether the session is usable. Without streams only the connection's own
    /// frames are expected.
    fn take_in(&mut self, input: &[u8]) -> bool {
        let mut at = 0;
        loop {
            let Ok(step) = self.session.next(&input[at..]) else { return false };
            at += step.used;
            match step.event {
                None => return !self.session.is_closing(),
                Some(Event::Settings | Event::Pong(_)) => {}
                Some(_) => return false,
            }
        }
    }

    /// Writes pending replies, as far as they fit.
    fn answer(&mut self, filter: &mut dyn Filter) -> Idle {
        self.session.write_into(&mut self.out, usize::MAX);
        let mut cx = Context::from_waker(Waker::noop());
        while !self.out.is_empty() {
            match filter.poll_write(&mut cx, &self.out) {
                Poll::Ready(Ok(n)) if n > 0 => drop(self.out.drain(..n)),
                Poll::Pending => break,
                Poll::Ready(_) => return Idle::Closed,
            }
        }
        match filter.poll_flush(&mut cx) {
            Poll::Ready(Err(_)) => Idle::Closed,
            _ => Idle::Alive,
        }
    }
}

/// Whether a session is parked on the connection.
pub fn is_parked(connection: &mut Connection) -> bool {
    connection.state.as_mut().is_some_and(|memory| memory.see::<Parked>().is_some())
}

impl Memory for Parked {
    /// Checks the idle connection without waiting. If the peer said goodbye or violated the protocol, it has
    /// ended.
    fn idle_state(&mut self, filter: &mut Stack) -> Idle {
        let mut buf = [0; READ];
        tell_time(&mut self.session, filter.socket(), self.opened);
        for _ in 0..MAX_READS {
            match filter.try_read(&mut buf) {
                Poll::Pending => return self.answer(filter),
                Poll::Ready(Ok(n)) if n > 0 && self.take_in(&buf[..n]) => {}
                Poll::Ready(_) => break,
            }
        }
        self.answer(filter);
        Idle::Closed
    }

    /// curl sends a PING of zeros.
    fn keep_up(&mut self, filter: &mut Stack) -> Idle {
        match self.idle_state(filter) {
            Idle::Alive => self.ping(filter, [0; 8]),
            ended => ended,
        }
    }

    /// A session whose last reset or unsent answer is open stays with its connection.
    fn encode(&self) -> Option<Zeroizing<Vec<u8>>> {
        let snapshot = self.session.snapshot().filter(|_| self.out.is_empty())?;
        Some(encode(&snapshot))
    }

    /// Announces that no more streams follow. Input is read first: closing a socket with unread data makes
    /// the system send a reset, which would overtake the goodbye.
    fn retire(&mut self, filter: &mut Stack) {
        if let Idle::Alive = self.idle_state(filter) {
            self.session.go_away(ErrorCode::NO_ERROR);
            self.answer(filter);
        }
    }
}
