//! The task of a session: moves datagrams, has the timer, and tells the streams what has happened.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use runtime::{Reactor, Sleep};

use super::Http3;
use super::session::{Lost, Parked};
use crate::{Connection, Memory};

/// The largest datagram.
const DATAGRAM: usize = 65_535;
/// How many of them one turn takes before the streams have theirs.
const FAIR_SHARE: usize = 64;

/// Drives a session as long as it has streams.
pub struct Driver {
    http3: Http3,
    connection: Option<Box<Connection>>,
    reactor: Arc<Reactor>,
    due: Option<Sleep>,
    buf: Box<[u8]>,
}

/// What is left when no stream is.
pub struct Rested {
    pub connection: Box<Connection>,
    /// The session, with which others may go on on this connection; none when it is lost or about to be.
    pub session: Option<Parked>,
}

impl Http3 {
    /// Begins or goes on with a session on its connection, and the task that drives it.
    pub fn resume(
        connection: Box<Connection>,
        parked: Option<Parked>,
        reactor: &Arc<Reactor>,
    ) -> (Http3, Driver) {
        let session = super::Session::resume(parked);
        let http3 = Http3(std::rc::Rc::new(std::cell::RefCell::new(session)));
        let buf = vec![0; DATAGRAM].into();
        let driver = Driver {
            http3: http3.clone(),
            connection: Some(connection),
            reactor: reactor.clone(),
            due: None,
            buf,
        };
        (http3, driver)
    }
}

impl Driver {
    /// Receives one datagram.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        let Some(connection) = &mut self.connection else { return Poll::Pending };
        let n = ready!(connection.filter.poll_read(cx, &mut self.buf)).map_err(lost)?;
        if let Some(machine) = self.http3.0.borrow_mut().machine() {
            machine.receive(&self.buf[..n], self.reactor.now());
        }
        Poll::Ready(Ok(()))
    }

    /// Sends what there is to send, or as much as there is room for.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        let Some(connection) = &mut self.connection else { return Poll::Pending };
        let mut session = self.http3.0.borrow_mut();
        let Some(machine) = session.machine() else { return Poll::Ready(Ok(())) };
        while let Some(datagram) = machine.next_datagram(self.reactor.now()) {
            ready!(connection.filter.poll_write(cx, datagram)).map_err(lost)?;
            machine.datagram_sent();
        }
        Poll::Ready(Ok(()))
    }

    /// Does what is due; ready when there was something.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timeout = self.http3.0.borrow_mut().machine().and_then(|machine| machine.timeout());
        let Some(at) = timeout else { return Poll::Pending };
        let due = self.due.get_or_insert_with(|| self.reactor.sleep_until(at));
        if due.deadline() != at {
            due.reset(at);
        }
        ready!(Pin::new(due).poll(cx));
        if let Some(machine) = self.http3.0.borrow_mut().machine() {
            machine.tick(self.reactor.now());
        }
        Poll::Ready(())
    }

    /// Everything that can be done now; whether there may be more at once.
    fn turn(&mut self, cx: &mut Context<'_>) -> Result<bool, Lost> {
        let mut received = 0;
        while received < FAIR_SHARE && self.poll_read(cx)?.is_ready() {
            received += 1;
        }
        while self.poll_timer(cx).is_ready() {}
        let taken = self.http3.0.borrow_mut().take_in();
        if let Err(failure) = taken {
            self.http3.0.borrow_mut().fail(failure, self.reactor.now());
        }
        let _ = self.poll_write(cx)?;
        // What was sent has moved the timer.
        while self.poll_timer(cx).is_ready() {
            let _ = self.poll_write(cx)?;
        }
        Ok(received == FAIR_SHARE)
    }

    fn rest(&mut self) -> Option<Rested> {
        let mut connection = self.connection.take()?;
        let (parked, good) = self.http3.0.borrow_mut().take();
        let session = parked.and_then(|mut parked| {
            if !good {
                parked.retire(connection.filter.as_mut());
            }
            good.then_some(parked)
        });
        Some(Rested { connection, session })
    }
}

impl Future for Driver {
    type Output = Rested;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Rested> {
        let lost = self.http3.0.borrow().lost.is_some();
        let turned = if lost {
            self.poll_write(cx).map_ok(|()| ()).map(|_| Ok(false))
        } else {
            Poll::Ready(self.turn(cx))
        };
        match turned {
            Poll::Ready(Err(lost)) => self.http3.0.borrow_mut().lose(lost),
            Poll::Ready(Ok(true)) => cx.waker().wake_by_ref(),
            _ => {}
        }
        if self.http3.streams() == 0
            && let Some(rested) = self.rest()
        {
            return Poll::Ready(rested);
        }
        self.http3.0.borrow_mut().driver_sleeps(cx.waker());
        Poll::Pending
    }
}

impl Drop for Driver {
    /// With the multi handle that ran it; no stream waits for ever.
    fn drop(&mut self) {
        if let Ok(mut session) = self.http3.0.try_borrow_mut() {
            session.lose(Lost::Abandoned);
        }
    }
}

fn lost(e: std::io::Error) -> Lost {
    Lost::Io(e.kind(), e.raw_os_error())
}
