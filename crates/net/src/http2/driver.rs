//! The task of a session: writes what its streams and the protocol have to say, reads, and gives each stream
//! its own.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use runtime::Socket;
use wire::h2::Session;

use super::{Http2, Lost, Parked};
use crate::Connection;
use crate::session::{self, Buffer, READ};

/// One write.
const WRITE: usize = 64 << 10;
/// What one poll reads before the streams have their turn: what they take then is still in the caches.
const FAIR_SHARE: usize = READ;

/// Drives a session as long as it has streams.
pub struct Driver {
    http2: Http2,
    connection: Option<Box<Connection>>,
    out: Vec<u8>,
    sent: usize,
    buffer: Buffer,
    /// What was received before the session began.
    early: Vec<u8>,
    /// The peer hears nothing any more. What it has said by then is read to its end: replies, and which
    /// streams it never began.
    unheard: Option<Lost>,
}

/// What is left when no stream is.
pub type Rested = session::Rested<Parked>;

impl Driver {
    pub(super) fn new(http2: Http2, connection: Box<Connection>, out: Vec<u8>) -> Driver {
        let buffer = Buffer::default();
        Driver { http2, connection: Some(connection), out, sent: 0, buffer, early: Vec::new(), unheard: None }
    }

    /// The same with a buffer that others use, too.
    pub fn with_buffer(mut self, buffer: Buffer) -> Driver {
        self.buffer = buffer;
        self
    }

    /// These bytes come first.
    pub(super) fn has_received(&mut self, bytes: Vec<u8>) {
        self.early = bytes;
    }

    /// Writes until there is nothing to write, or no room for it.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(())) };
        loop {
            if self.sent == self.out.len() {
                self.sent = 0;
                self.out.clear();
                let mut state = self.http2.0.borrow_mut();
                state.session.write_into(&mut self.out, WRITE);
                // What leaves makes room, of which no byte of the peer's may ever tell.
                let _ = state.take_in(&[]); // faults come with what is read
                state.watchers.sent(&self.out);
                drop(state);
                if self.out.is_empty() {
                    return connection.filter().poll_flush(cx).map_err(Lost::from);
                }
            }
            match ready!(connection.filter().poll_write(cx, &self.out[self.sent..])) {
                Ok(0) => return Poll::Ready(Err(Lost::Io(std::io::ErrorKind::WriteZero))),
                Ok(n) => self.sent += n,
                Err(e) => return Poll::Ready(Err(e.into())),
            }
        }
    }

    /// Reads once and gives each stream its own.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, Lost>> {
        let Some(connection) = &mut self.connection else { return Poll::Pending };
        if !self.early.is_empty() {
            let early = std::mem::take(&mut self.early);
            self.http2.0.borrow_mut().watch(&early);
            let taken = self.http2.0.borrow_mut().take_in(&early);
            return Poll::Ready(taken.map(|()| early.len()).map_err(Lost::Failed));
        }
        let (http2, unheard) = (&self.http2, self.unheard.is_some());
        self.buffer.lend(READ, |buf| {
            let mut read = connection.filter().poll_read(cx, buf);
            if unheard && read.is_pending() {
                // What is there now is all that will come, and the reactor need not have told of it yet.
                read = connection.filter().try_read(buf);
            }
            match ready!(read) {
                Ok(0) => Poll::Ready(Err(Lost::Closed)),
                Ok(n) => {
                    let mut state = http2.0.borrow_mut();
                    state.watch(&buf[..n]);
                    tell_time(&mut state.session, connection.carrier.socket(), connection.created);
                    let taken = state.take_in(&buf[..n]);
                    state.tell_of_vacancies();
                    Poll::Ready(taken.map(|()| n).map_err(Lost::Failed))
                }
                Err(e) => Poll::Ready(Err(e.into())),
            }
        })
    }

    /// Whether nobody has a stream. What a stream had to say last has been written.
    fn is_done(&self) -> bool {
        let state = self.http2.0.borrow();
        state.inboxes.is_empty()
            && state.promised == 0
            && self.sent == self.out.len()
            && !state.session.has_output()
    }

    fn rest(&mut self, cx: &mut Context<'_>) -> Poll<Rested> {
        let mut state = self.http2.0.borrow_mut();
        let good = state.lost.is_none() && !state.session.is_closing() && state.session.is_idle();
        // Whoever still has the session finds it lost: the next one begins another on what is handed over
        // here.
        state.lost.get_or_insert(Lost::Abandoned);
        let session = std::mem::replace(&mut state.session, Session::taken_away());
        drop(state);
        match self.connection.take() {
            Some(connection) => {
                let session = good.then(|| Parked::new(session, Vec::new(), connection.created));
                Poll::Ready(Rested { connection, session })
            }
            None => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    /// The connection is lost. A goodbye that is owed gets one try, and the streams hear of it.
    fn lose(&mut self, cx: &mut Context<'_>, lost: Lost) {
        self.http2.0.borrow_mut().lose(lost);
        if matches!(lost, Lost::Failed(_)) {
            let _ = self.poll_write(cx);
        }
    }
}

impl Future for Driver {
    type Output = Rested;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Rested> {
        let mut moved = 0;
        loop {
            let lost = self.http2.0.borrow().lost.is_some();
            if lost {
                return if self.http2.streams() == 0 { self.rest(cx) } else { self.sleep(cx) };
            }
            if self.unheard.is_none()
                && let Poll::Ready(Err(lost)) = self.poll_write(cx)
            {
                match lost {
                    Lost::Os(_) | Lost::Io(_) => self.unheard = Some(lost),
                    _ => self.lose(cx, lost),
                }
                continue;
            }
            if self.unheard.is_none() && self.is_done() {
                return self.rest(cx);
            }
            match (self.poll_read(cx), self.unheard) {
                (Poll::Ready(Ok(n)), _) => moved += n,
                (Poll::Ready(Err(lost)), None) => self.lose(cx, lost),
                (Poll::Pending, None) => return self.sleep(cx),
                (_, Some(lost)) => self.lose(cx, lost),
            }
            if moved >= FAIR_SHARE {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}

impl Driver {
    /// Until there is something to read, or a stream has something to say.
    fn sleep(&mut self, cx: &mut Context<'_>) -> Poll<Rested> {
        self.http2.0.borrow_mut().driver = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Driver {
    /// With the multi handle that ran it: no stream waits for ever, and the peer is told in one try.
    fn drop(&mut self) {
        let Ok(mut state) = self.http2.0.try_borrow_mut() else { return };
        let good = state.lost.is_none();
        state.lose(Lost::Abandoned);
        let session = std::mem::replace(&mut state.session, Session::taken_away());
        drop(state);
        if let Some(mut connection) = self.connection.take().filter(|_| good) {
            let unsent = self.out.split_off(self.sent);
            connection.state = Some(Box::new(Parked::new(session, unsent, connection.created)));
            connection.retire();
        }
    }
}

/// Tells a session what time it is for the reactor of its connection, counted from when that was opened.
pub(super) fn tell_time(session: &mut Session, socket: &Socket, opened: Instant) {
    if let Some(now) = socket.now() {
        session.tell_time(now.saturating_duration_since(opened).as_millis() as u64);
    }
}
