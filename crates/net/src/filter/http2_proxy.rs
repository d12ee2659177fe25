//! A tunnel through an HTTP/2 proxy: one CONNECT on a separate session (RFC 9113 §8.5). Written bytes become
//! DATA of that stream, received DATA can be read, and a reader that stops blocks the proxy by the stream's
//! window.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use runtime::{Idle, Reactor, Socket};
use wire::h2::{Config, ErrorCode, Event, Failure, Fields, Opening, Session, StreamId};

use super::Filter;
use super::tunnels::{TunnelPayload, field, fields_of, unknown_to_proxy};
use crate::Carrier;
use crate::exchange::RequestHead;

/// Size of a read; room for a whole TLS record.
const READ: usize = 32 << 10;
/// Size of a write.
const WRITE: usize = 64 << 10;

/// A connection to a proxy with a session on it, which becomes a tunnel.
pub struct Http2TunnelFilter {
    below: Box<dyn Filter>,
    session: Session,
    out: Vec<u8>,
    sent: usize,
    buf: Box<[u8]>,
    stream: Option<StreamId>,
    /// The reply to the last CONNECT.
    head: Option<(u16, Fields)>,
    /// Data received on the stream and not yet read.
    inbox: Vec<u8>,
    taken: usize,
    end: Option<End>,
}

/// Why no more data will arrive.
#[derive(Clone, Copy)]
enum End {
    /// The stream has ended.
    Clean,
    Reset(ErrorCode),
    /// The connection has ended.
    Closed,
    Failed(Failure),
}

impl Http2TunnelFilter {
    /// Uses a connection on which both sides have agreed on HTTP/2.
    pub fn new(below: Box<dyn Filter>) -> Http2TunnelFilter {
        Http2TunnelFilter {
            below,
            session: Session::client(Config::default()),
            out: Vec::new(),
            sent: 0,
            buf: vec![0; READ].into(),
            stream: None,
            head: None,
            inbox: Vec::new(),
            taken: 0,
            end: None,
        }
    }

    /// Sends a CONNECT on a new stream and gives up one that was refused before. Returns the status of the
    /// reply and its fields.
    pub async fn connect(
        &mut self,
        request: &RequestHead,
        asked: TunnelPayload<'_>,
    ) -> io::Result<(u16, Fields)> {
        if let Some(refused) = self.stream.take() {
            self.session.reset(refused, ErrorCode::CANCEL);
        }
        (self.taken, self.end) = (0, None);
        self.inbox.clear();
        if asked.is_extended() && !poll_fn(|cx| self.poll_extended(cx)).await? {
            return Err(unknown_to_proxy());
        }
        let fields = fields_of(request, asked);
        let opened = self.session.open(fields.iter().map(field), Opening::default());
        self.stream = Some(opened.ok_or(io::ErrorKind::ConnectionRefused)?);
        poll_fn(|cx| self.poll_head(cx)).await
    }

    /// Waits for the proxy's SETTINGS; returns whether it supports extended CONNECT (RFC 8441).
    fn poll_extended(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            if let Some(supported) = self.session.takes_extended_connect() {
                return Poll::Ready(Ok(supported));
            }
            self.check_end()?;
            let _ = self.poll_send(cx)?;
            ready!(self.poll_receive(cx))?;
        }
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(u16, Fields)>> {
        loop {
            if let Some(head) = self.head.take() {
                return Poll::Ready(Ok(head));
            }
            self.check_end()?;
            let _ = self.poll_send(cx)?;
            ready!(self.poll_receive(cx))?;
        }
    }

    /// A clean end is an error for a caller that waits for a reply or writes.
    fn check_end(&self) -> io::Result<()> {
        match self.end {
            None => Ok(()),
            Some(End::Clean | End::Closed) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(End::Reset(code)) => Err(io::Error::other(format!("proxy reset the tunnel: {code:?}"))),
            Some(End::Failed(failure)) => Err(io::Error::other(failure.why)),
        }
    }

    /// Sends the session's output.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.sent == self.out.len() {
                self.sent = 0;
                self.out.clear();
                self.session.write_into(&mut self.out, WRITE);
                if self.out.is_empty() {
                    return self.below.poll_flush(cx);
                }
            }
            match ready!(self.below.poll_write(cx, &self.out[self.sent..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => self.sent += n,
            }
        }
    }

    /// Receives once and processes the data.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let n = ready!(self.below.poll_read(cx, &mut self.buf))?;
        self.received(n);
        Poll::Ready(Ok(()))
    }

    fn received(&mut self, n: usize) {
        if n == 0 {
            self.end.get_or_insert(End::Closed);
            return;
        }
        let mut at = 0;
        loop {
            let step = match self.session.next(&self.buf[at..n]) {
                Ok(step) => step,
                Err(failure) => {
                    self.end.get_or_insert(End::Failed(failure));
                    return;
                }
            };
            at += step.used;
            let own = self.stream;
            match step.event {
                None => return,
                Some(Event::Head { stream, status, fields, end }) if Some(stream) == own => {
                    self.head = Some((status, fields.clone()));
                    self.end = self.end.or(end.then_some(End::Clean));
                }
                Some(Event::Data { stream, data, end }) if Some(stream) == own => {
                    self.inbox.extend_from_slice(data);
                    self.end = self.end.or(end.then_some(End::Clean));
                }
                Some(Event::Trailers { stream, .. }) if Some(stream) == own => {
                    self.end.get_or_insert(End::Clean);
                }
                Some(Event::Reset { stream, code, .. }) if Some(stream) == own => {
                    self.end.get_or_insert(End::Reset(code));
                }
                Some(Event::Refused { stream }) if Some(stream) == own => {
                    self.end.get_or_insert(End::Reset(ErrorCode::REFUSED_STREAM));
                }
                Some(_) => {}
            }
        }
    }

    /// Copies received data into `buf`.
    fn take(&mut self, buf: &mut [u8]) -> usize {
        let rest = &self.inbox[self.taken..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.inbox.len() {
            self.taken = 0;
            self.inbox.clear();
        }
        if let Some(stream) = self.stream {
            self.session.consume(stream, n);
        }
        n
    }

    fn is_empty(&self) -> bool {
        self.taken == self.inbox.len()
    }
}

impl Carrier for Http2TunnelFilter {
    fn retire(&mut self) {
        if let Some(stream) = self.stream {
            self.session.end(stream);
        }
        self.session.go_away(ErrorCode::NO_ERROR);
        let _ = self.poll_send(&mut Context::from_waker(Waker::noop()));
        self.below.retire();
    }

    fn idle_state(&mut self) -> Idle {
        while self.is_empty() && self.end.is_none() {
            match self.below.try_read(&mut self.buf) {
                Poll::Pending => {
                    let sent = self.poll_send(&mut Context::from_waker(Waker::noop()));
                    return if matches!(sent, Poll::Ready(Err(_))) { Idle::Closed } else { Idle::Alive };
                }
                Poll::Ready(Ok(n)) => self.received(n),
                Poll::Ready(Err(_)) => return Idle::Closed,
            }
        }
        if self.is_empty() { Idle::Closed } else { Idle::Data }
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.below.attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.below.detach();
    }

    fn socket(&self) -> &Socket {
        self.below.socket()
    }
}

impl Filter for Http2TunnelFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            if !self.is_empty() {
                let n = self.take(buf);
                let _ = self.poll_send(cx)?; // room for more; what does not fit now goes with what is written
                return Poll::Ready(Ok(n));
            }
            match self.end {
                Some(End::Clean | End::Closed) => return Poll::Ready(Ok(0)),
                Some(_) => return Poll::Ready(self.check_end().map(|()| 0)),
                None => {}
            }
            let _ = self.poll_send(cx)?;
            ready!(self.poll_receive(cx))?;
        }
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        while self.is_empty() {
            if self.end.is_some() {
                return Poll::Ready(Ok(0));
            }
            let n = ready!(self.below.try_read(&mut self.buf))?;
            self.received(n);
            let _ = self.poll_send(&mut Context::from_waker(Waker::noop()))?;
        }
        Poll::Ready(Ok(self.take(buf)))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.below.forget_read(cx);
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            self.check_end()?;
            let Some(stream) = self.stream else {
                return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
            };
            // Sent before more is queued, so that at most one write waits.
            ready!(self.poll_send(cx))?;
            match self.session.queue(stream, buf) {
                // Only a frame from the proxy opens the window.
                0 => ready!(self.poll_receive(cx))?,
                n => {
                    let _ = self.poll_send(cx)?;
                    return Poll::Ready(Ok(n));
                }
            }
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_send(cx))?;
            match self.stream.is_some_and(|stream| self.session.queued(stream) > 0) {
                true => ready!(self.poll_receive(cx))?,
                false => return Poll::Ready(Ok(())),
            }
            self.check_end()?;
        }
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_flush(cx))?;
        if let Some(stream) = self.stream {
            self.session.end(stream);
        }
        self.poll_send(cx)
    }
}
