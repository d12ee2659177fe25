//! The driver task of a session: writes queued frames, reads, and distributes events to the streams.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use runtime::Socket;
use wire::h2::Session;

use super::{Http2, Parked, SessionError};
use crate::Connection;
use crate::session::{self, Buffer, READ};

/// One write.
const WRITE: usize = 64 << 10;
/// Amount read in one poll before the streams run: they find the data still in the CPU cache.
const FAIR_SHARE: usize = READ;
/// For so many shares at most, one after the other, updates of windows wait for more of them.
const SHARES_PER_UPDATE: usize = 4;
/// Streams that get about half of their smallest window in one share. That much is left when an update is
/// due.
const STREAMS_PER_SHARE: usize = 2;

/// Drives a session as long as it has streams.
pub struct Driver {
    http2: Http2,
    connection: Option<Box<Connection>>,
    out: Vec<u8>,
    sent: usize,
    buffer: Buffer,
    /// Shares that were read since the last write, if there is more to read.
    shares: usize,
    /// Bytes that were received before the session started.
    early: Vec<u8>,
    /// Set when nothing can be sent to the peer any more. What it has sent is still read to the end:
    /// responses, and which requests it never processed.
    unheard: Option<SessionError>,
}

/// The state after the last stream.
pub type Rested = session::Rested<Parked>;

impl Driver {
    pub(super) fn new(http2: Http2, connection: Box<Connection>, out: Vec<u8>) -> Driver {
        let buffer = Buffer::default();
        Driver {
            http2,
            connection: Some(connection),
            out,
            sent: 0,
            buffer,
            shares: 0,
            early: Vec::new(),
            unheard: None,
        }
    }

    /// Uses a buffer that others share.
    pub fn with_buffer(mut self, buffer: Buffer) -> Driver {
        self.buffer = buffer;
        self
    }

    /// These bytes come first.
    pub(super) fn has_received(&mut self, bytes: Vec<u8>) {
        self.early = bytes;
    }

    /// Writes until there is nothing to write, or no room for it.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SessionError>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(())) };
        loop {
            if self.sent == self.out.len() {
                self.sent = 0;
                self.out.clear();
                let mut state = self.http2.0.borrow_mut();
                state.session.write_into(&mut self.out, WRITE);
                // Sending makes room in the streams' queues, which no byte of the peer may ever report.
                let _ = state.take_in(&[]); // faults are reported when reading
                state.watchers.sent(&self.out);
                drop(state);
                if self.out.is_empty() {
                    return connection.filter().poll_flush(cx).map_err(SessionError::from);
                }
            }
            match ready!(connection.filter().poll_write(cx, &self.out[self.sent..])) {
                Ok(0) => return Poll::Ready(Err(SessionError::Io(std::io::ErrorKind::WriteZero))),
                Ok(n) => self.sent += n,
                Err(e) => return Poll::Ready(Err(e.into())),
            }
        }
    }

    /// Returns whether the output may wait until more has been read. A few streams would use up their windows
    /// meanwhile, and the peer would have to stop.
    fn may_wait(&self) -> bool {
        let state = self.http2.0.borrow();
        let most = SHARES_PER_UPDATE.min(state.inboxes.len() / STREAMS_PER_SHARE);
        (1..most).contains(&self.shares) && self.sent == self.out.len() && state.session.has_only_updates()
    }

    /// Reads once and distributes the events to the streams.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, SessionError>> {
        let Some(connection) = &mut self.connection else { return Poll::Pending };
        if !self.early.is_empty() {
            let early = std::mem::take(&mut self.early);
            self.http2.0.borrow_mut().watch(&early);
            let taken = self.http2.0.borrow_mut().take_in(&early);
            return Poll::Ready(taken.map(|()| early.len()).map_err(SessionError::Failed));
        }
        let (http2, unheard) = (&self.http2, self.unheard.is_some());
        self.buffer.lend(READ, |buf| {
            let mut read = connection.filter().poll_read(cx, buf);
            if unheard && read.is_pending() {
                // Everything that will ever arrive is available now, and the reactor may not have reported it
                // yet.
                read = connection.filter().try_read(buf);
            }
            match ready!(read) {
                Ok(0) => Poll::Ready(Err(SessionError::Closed)),
                Ok(n) => {
                    connection.carrier.socket().settle(); // frames have lengths
                    let mut state = http2.0.borrow_mut();
                    state.watch(&buf[..n]);
                    tell_time(&mut state.session, connection.carrier.socket(), connection.created);
                    let taken = state.take_in(&buf[..n]);
                    state.tell_of_vacancies();
                    Poll::Ready(taken.map(|()| n).map_err(SessionError::Failed))
                }
                Err(e) => Poll::Ready(Err(e.into())),
            }
        })
    }

    /// Returns whether no stream is left. The last frames of streams have been written.
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
        // Remaining users of the session find it lost: the next one starts another on the connection returned
        // here.
        state.lost.get_or_insert(SessionError::Abandoned);
        let session = state.take_session();
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
    fn lose(&mut self, cx: &mut Context<'_>, lost: SessionError) {
        self.http2.0.borrow_mut().lose(lost);
        if matches!(lost, SessionError::Failed(_)) {
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
            let waits = self.may_wait();
            if self.unheard.is_none()
                && !waits
                && let Poll::Ready(Err(lost)) = self.poll_write(cx)
            {
                match lost {
                    SessionError::Os(_) | SessionError::Io(_) => self.unheard = Some(lost),
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
                (Poll::Pending, None) if waits => self.shares = 0,
                (Poll::Pending, None) => return self.sleep(cx),
                (_, Some(lost)) => self.lose(cx, lost),
            }
            if moved >= FAIR_SHARE {
                self.shares = if waits { self.shares + 1 } else { 1 };
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}

impl Driver {
    /// Waits until there is something to read, or a stream has something to send.
    fn sleep(&mut self, cx: &mut Context<'_>) -> Poll<Rested> {
        self.shares = 0;
        self.http2.0.borrow_mut().driver = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Driver {
    /// Dropped with the multi handle: all streams fail, and the peer gets a goodbye in one try.
    fn drop(&mut self) {
        let Ok(mut state) = self.http2.0.try_borrow_mut() else { return };
        let good = state.lost.is_none();
        state.lose(SessionError::Abandoned);
        let connection = self.connection.take();
        let session = (good && connection.is_some()).then(|| state.take_session());
        drop(state);
        if let (Some(session), Some(mut connection)) = (session, connection) {
            let unsent = self.out.split_off(self.sent);
            connection.state = Some(Box::new(Parked::new(session, unsent, connection.created)));
            connection.retire();
        }
    }
}

/// Passes the reactor's time to a session, counted from when the connection was opened.
pub(super) fn tell_time(session: &mut Session, socket: &Socket, opened: Instant) {
    if let Some(now) = socket.now() {
        session.tell_time(now.saturating_duration_since(opened).as_millis() as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::task::Waker;

    use wire::h2::{Config, Field, Opening};

    use super::super::Stream;
    use super::*;
    use crate::exchange::BodyStep;
    use crate::filter::scripted::{Script, Scripted};
    use crate::{ConnectionKey, HashedKey};

    const STREAMS: usize = 40;
    /// A body that is worth one update of its stream's window.
    const BODY: usize = 36_000;

    /// A server that has sent all its responses already. Remembers what is written to it.
    struct Server {
        responses: Vec<u8>,
        written: Arc<Mutex<Vec<Vec<u8>>>>,
    }

    impl Script for Server {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
            self.written.lock().unwrap().push(bytes.to_vec());
            Ok(())
        }

        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            let length = buf.len().min(self.responses.len());
            buf[..length].copy_from_slice(&self.responses[..length]);
            self.responses.drain(..length);
            Ok(length)
        }
    }

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    fn responses() -> Vec<u8> {
        let response = |number: usize| {
            let stream = 2 * number as u32 + 1;
            let head = frame(1, 4, stream, &[0x88]); // HEADERS: status 200
            let data = frame(0, 0, stream, &[7; BODY / 3]);
            [head, data.clone(), data.clone(), data].concat()
        };
        let settings = frame(4, 0, 0, &[]);
        [settings].into_iter().chain((0..STREAMS).map(response)).flatten().collect()
    }

    /// Reads what has come of a body, and returns its length.
    fn read(stream: &mut Stream, cx: &mut Context<'_>) -> usize {
        let (mut buf, mut all) = ([0; 16 << 10], 0);
        while let Poll::Ready(Ok(BodyStep::Bytes(n))) = stream.poll_body(cx, &mut buf) {
            all += n;
        }
        all
    }

    #[test]
    fn updates_of_windows_wait_for_more_while_there_is_more_to_read() {
        let written = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let server = Scripted::new(Server { responses: responses(), written: written.clone() }).unwrap();
        let key = HashedKey::from(ConnectionKey::default());
        let connection = Connection::new(key, Box::new(server) as _, Default::default(), Instant::now());
        let (http2, driver) = Http2::new(Box::new(connection), Config::default());
        let field = Field { name: b":method", value: b"GET", sensitive: false };
        let open = |_| http2.open([field], Opening { end: true, ..Opening::default() }).unwrap();
        let mut streams: Vec<Stream> = (0..STREAMS).map(open).collect();
        let mut cx = Context::from_waker(Waker::noop());
        let (mut driver, mut received, mut polls) = (std::pin::pin!(driver), 0, 0);
        while received < STREAMS * BODY {
            assert!(driver.as_mut().poll(&mut cx).is_pending() && polls < 1000);
            polls += 1;
            received += streams.iter_mut().map(|stream| read(stream, &mut cx)).sum::<usize>();
        }
        let written = written.lock().unwrap();
        let updates = written[1..].iter().map(|bytes| bytes.len() / 13).sum::<usize>(); // after the requests
        assert!(updates > STREAMS * 3 / 4, "{updates} updates");
        assert!(
            (polls / 6..=polls / 3).contains(&written.len()),
            "{} writes in {polls} polls",
            written.len()
        );
    }
}
