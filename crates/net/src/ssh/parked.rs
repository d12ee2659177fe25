//! A session that nobody drives, on an idle connection: before it is used again it takes what has come for
//! itself, new keys or a question whether we are there.

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use runtime::Idle;
use ssh::Session;

use super::{CHANNELS, Spare, State};
use crate::{Carried, Connection, Filter, Memory};

/// More in one look is not what an idle peer has to say.
const LOOKS: usize = 16;

/// What is left of a session without seats. It can be moved between threads with its connection.
pub struct Parked {
    session: Session,
    spare: Vec<Spare>,
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

    /// Writes what there is to say as far as it fits.
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
    /// Looks at the idle connection without waiting. One whose peer says goodbye, or breaks the protocol, has
    /// ended; so has one whose spare channel was closed.
    fn idle_state(&mut self, carrier: &mut Carried) -> Idle {
        let filter = carrier.filter();
        for _ in 0..LOOKS {
            match filter.try_read(self.session.transport().space()) {
                Poll::Pending => {
                    let gone =
                        |spare: &Spare| self.session.channel(spare.channel).is_none_or(|c| c.has_ended());
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

    /// Says goodbye (RFC 4253 §11.1, SSH_DISCONNECT_BY_APPLICATION), with what has come taken first: the
    /// system answers what nobody took with a reset.
    fn retire(&mut self, carrier: &mut Carried) {
        if let Idle::Alive = self.idle_state(carrier) {
            self.session.transport().disconnect(11, "Shutdown");
            self.answer(carrier.filter());
        }
    }
}
