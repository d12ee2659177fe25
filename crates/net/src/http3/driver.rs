//! The driver task of a session: moves datagrams, owns the timer, and notifies the streams.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::Reactor;
use runtime::cell::RefCell;

use super::Http3;
use super::session::{Parked, Session, SessionError};
use crate::quic::{MachineTimer, Quic, ROOM};
use crate::session::{self, Buffer};
use crate::{Connection, Memory};

/// Amount received in one turn before the streams run.
const FAIR_SHARE: usize = 256 << 10;

/// Drives a session as long as it has streams.
pub struct Driver {
    http3: Http3,
    reactor: Arc<Reactor>,
    due: MachineTimer,
    buffer: Buffer,
}

/// The state after the last stream.
pub type Rested = session::Rested<Parked, Quic>;

impl Http3 {
    /// Starts or resumes a session on its connection; returns it and its driver task.
    pub fn resume(
        connection: Box<Connection<Quic>>,
        parked: Option<Parked>,
        reactor: &Arc<Reactor>,
        buffer: Buffer,
    ) -> (Http3, Driver) {
        let session = Session::resume(connection, parked);
        let http3 = Http3(Rc::new(RefCell::new(session)));
        let driver =
            Driver { http3: http3.clone(), reactor: reactor.clone(), due: MachineTimer::default(), buffer };
        (http3, driver)
    }
}

impl Driver {
    /// Receives once.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, SessionError>> {
        let mut session = self.http3.0.borrow_mut();
        let Some(quic) = session.quic() else { return Poll::Pending };
        self.buffer.lend(ROOM, |buf| quic.poll_receive(cx, buf)).map_err(lost)
    }

    /// Sends pending datagrams, as far as there is room.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SessionError>> {
        let mut session = self.http3.0.borrow_mut();
        let Some(quic) = session.quic() else { return Poll::Ready(Ok(())) };
        quic.poll_send(cx).map_err(lost)
    }

    /// Processes expired timers; ready if there were any.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut session = self.http3.0.borrow_mut();
        let Some(machine) = session.machine() else { return Poll::Pending };
        self.due.poll(cx, machine, &self.reactor)
    }

    /// Everything that can be done now; whether there may be more at once.
    fn turn(&mut self, cx: &mut Context<'_>) -> Result<bool, SessionError> {
        let mut received = 0;
        while received < FAIR_SHARE
            && let Poll::Ready(n) = self.poll_receive(cx)?
        {
            received += n;
        }
        while self.poll_timer(cx).is_ready() {}
        let taken = self.http3.0.borrow_mut().take_in();
        if let Err(failure) = taken {
            self.http3.0.borrow_mut().fail(failure);
        }
        let _ = self.poll_send(cx)?;
        // Sending has changed the timer.
        while self.poll_timer(cx).is_ready() {
            let _ = self.poll_send(cx)?;
        }
        Ok(received >= FAIR_SHARE)
    }
}

impl Future for Driver {
    type Output = Rested;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Rested> {
        let lost = self.http3.0.borrow().lost.is_some();
        let turned = if lost {
            self.poll_send(cx).map_ok(|()| ()).map(|_| Ok(false))
        } else {
            Poll::Ready(self.turn(cx))
        };
        match turned {
            Poll::Ready(Err(lost)) => self.http3.0.borrow_mut().lose(lost),
            Poll::Ready(Ok(true)) => cx.waker().wake_by_ref(),
            _ => {}
        }
        let rested = self.http3.0.borrow_mut().rest();
        if let Some(rested) = rested {
            return Poll::Ready(rested);
        }
        self.http3.0.borrow_mut().driver_sleeps(cx.waker());
        Poll::Pending
    }
}

impl Drop for Driver {
    /// Dropped with the multi handle: all streams fail, and the peer gets a goodbye in one try.
    fn drop(&mut self) {
        let Ok(mut session) = self.http3.0.try_borrow_mut() else { return };
        let left = session.abandon();
        drop(session);
        if let Some((mut connection, parked)) = left {
            connection.state = Some(Box::new(parked) as Box<dyn Memory<Quic>>);
            connection.retire();
        }
    }
}

fn lost(e: io::Error) -> SessionError {
    SessionError::Io(e.kind(), e.raw_os_error())
}
