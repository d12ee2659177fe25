//! A session without a driver, on an idle connection. Before reuse it processes what has arrived for the
//! transport itself: new keys, or a keep-alive request.

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use runtime::Idle;
use ssh::Session;

use super::{CHANNELS, IdleChannel, State};
use crate::{Connection, Filter, Memory, Stack};

/// Maximum number of reads in one check: an idle peer has no more to say.
const MAX_READS: usize = 16;

/// A session without slots. It can be moved between threads with its connection.
pub struct Parked {
    session: Session,
    spare: Vec<IdleChannel>,
    most: usize,
    keyed: Option<Instant>,
}

/// Parks a new session.
pub fn park(connection: &mut Connection, session: Session) {
    connection.state = Some(Box::new(Parked { session, spare: Vec::new(), most: CHANNELS, keyed: None }));
}

/// Whether a session is parked on the connection.
pub fn is_parked(connection: &mut Connection) -> bool {
    connection.state.as_mut().is_some_and(|memory| memory.see::<Parked>().is_some())
}

impl Parked {
    pub(super) fn of(state: State) -> Parked {
        Parked { session: state.session, spare: state.spare, most: state.most, keyed: Some(state.keyed) }
    }

    pub(super) fn into_state(self, now: Instant) -> State {
        let served = self.keyed.is_some();
        State { served, ..State::new(self.session, self.spare, self.most, self.keyed.unwrap_or(now), None) }
    }

    /// Writes pending replies, as far as they fit.
    fn answer(&mut self, filter: &mut dyn Filter) -> Idle {
        let mut cx = Context::from_waker(Waker::noop());
        let transport = self.session.transport();
        while !transport.output().is_empty() {
            match filter.poll_write(&mut cx, transport.output()) {
                Poll::Ready(Ok(n)) if n > 0 => transport.sent(n),
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

impl Memory for Parked {
    /// Checks the idle connection without waiting. It has ended if the peer said goodbye or violated the
    /// protocol, or if its spare channel was closed.
    fn idle_state(&mut self, filter: &mut Stack) -> Idle {
        for _ in 0..MAX_READS {
            match filter.try_read(self.session.transport().space()) {
                Poll::Pending => {
                    let gone = |spare: &IdleChannel| {
                        self.session.channel(spare.channel).is_none_or(|c| c.has_ended())
                    };
                    let gone = self.spare.iter().any(gone);
                    return if gone { Idle::Closed } else { self.answer(filter) };
                }
                Poll::Ready(Ok(n)) if n > 0 => {
                    self.session.transport().received(n);
                    if self.session.take_in().is_err() {
                        break;
                    }
                    self.session.news();
                }
                Poll::Ready(_) => break,
            }
        }
        self.answer(filter);
        Idle::Closed
    }

    /// Says goodbye (RFC 4253 §11.1, SSH_DISCONNECT_BY_APPLICATION). Input is read first: closing a socket
    /// with unread data makes the system send a reset.
    fn retire(&mut self, filter: &mut Stack) {
        if let Idle::Alive = self.idle_state(filter) {
            self.session.transport().disconnect(11, "Shutdown");
            self.answer(filter);
        }
    }
}
