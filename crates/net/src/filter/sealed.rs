//! The protection of RFC 1961 on a connection through a SOCKS proxy: every piece of data is wrapped by the
//! security context. An invalid message ends the connection, because nothing after it can be trusted.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use runtime::{Idle, Reactor, Socket};
use wire::socks_gssapi::{HEAD, Kind, Level, data_length, message};

use super::Filter;
use super::socks_gssapi::Security;
use crate::Carrier;
use crate::tls::TlsInfo;

/// Data in one message. The size added by wrapping is far below the rest of the length's range.
const PIECE: usize = 32 * 1024;
/// Most consecutive messages without data.
const MAX_EMPTY: u32 = 64;

/// A filter that passes bytes through a security context.
pub struct SealedFilter {
    below: Box<dyn Filter>,
    security: Box<dyn Security>,
    level: Level,
    /// A partly received message: `inbox[..filled]`.
    inbox: Vec<u8>,
    filled: usize,
    /// Unwrapped data that is not yet read: `plain[start..]`.
    plain: Vec<u8>,
    start: usize,
    /// Wrapped data that is not yet sent: `outbox[sent..]`.
    outbox: Vec<u8>,
    sent: usize,
}

impl SealedFilter {
    /// Protects the data through `below` at this level.
    pub fn new(below: Box<dyn Filter>, security: Box<dyn Security>, level: Level) -> SealedFilter {
        SealedFilter {
            below,
            security,
            level,
            inbox: Vec::new(),
            filled: 0,
            plain: Vec::new(),
            start: 0,
            outbox: Vec::new(),
            sent: 0,
        }
    }

    /// Copies the data of a message, after receiving one if needed.
    fn fill(
        &mut self,
        buf: &mut [u8],
        mut receive: impl FnMut(&mut dyn Filter, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        for _ in 0..MAX_EMPTY {
            if self.start < self.plain.len() {
                let n = buf.len().min(self.plain.len() - self.start);
                buf[..n].copy_from_slice(&self.plain[self.start..self.start + n]);
                self.start += n;
                return Poll::Ready(Ok(n));
            }
            match self.receive(&mut receive) {
                Poll::Ready(Ok(true)) => self.open()?,
                Poll::Ready(Ok(false)) => return Poll::Ready(Ok(0)),
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Err(unfit("messages without data".to_owned())))
    }

    /// Receives a whole message; returns false if the connection ended between two.
    fn receive(
        &mut self,
        receive: &mut impl FnMut(&mut dyn Filter, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<bool>> {
        loop {
            let wanted = self.wanted()?;
            if self.filled == wanted {
                return Poll::Ready(Ok(true));
            }
            self.inbox.resize(wanted, 0);
            match receive(self.below.as_mut(), &mut self.inbox[self.filled..]) {
                Poll::Ready(Ok(0)) if self.filled == 0 => return Poll::Ready(Ok(false)),
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Poll::Ready(Ok(n)) => self.filled += n,
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Returns the message's length as far as it is known.
    fn wanted(&self) -> io::Result<usize> {
        match self.inbox[..self.filled].first_chunk::<HEAD>() {
            None => Ok(HEAD),
            Some(head) => match data_length(*head) {
                Some(length) => Ok(HEAD + length),
                None => Err(unfit(format!("what is no data message ({} {})", head[0], head[1]))),
            },
        }
    }

    /// Unwraps the received message.
    fn open(&mut self) -> io::Result<()> {
        let token = &self.inbox[HEAD..self.filled];
        let (plain, confidential) = self.security.unwrap(token).map_err(|e| unfit(e.to_string()))?;
        if self.level == Level::Confidentiality && !confidential {
            return Err(unfit("a message that is not encrypted".to_owned()));
        }
        (self.plain, self.start, self.filled) = (plain, 0, 0);
        Ok(())
    }

    /// Sends wrapped data.
    fn push(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.outbox.len() {
            match self.below.poll_write(cx, &self.outbox[self.sent..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(n)) => self.sent += n,
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.outbox.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}

impl Carrier for SealedFilter {
    fn retire(&mut self) {
        self.below.retire();
    }

    fn idle_state(&mut self) -> Idle {
        if self.start < self.plain.len() || self.filled > 0 { Idle::Data } else { self.below.idle_state() }
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

    fn tls(&self) -> Option<&Arc<TlsInfo>> {
        self.below.tls()
    }
}

impl Filter for SealedFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let _ = self.push(cx); // reading neither waits for it nor fails with it
        self.fill(buf, |below, room| below.poll_read(cx, room))
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.outbox.is_empty() {
            let _ = self.push(&mut Context::from_waker(Waker::noop()));
        }
        self.fill(buf, |below, room| below.try_read(room))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.below.forget_read(cx);
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.push(cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
            Poll::Pending => return Poll::Pending,
        }
        let piece = &buf[..buf.len().min(PIECE)];
        let token = self.security.wrap(piece, self.level != Level::Integrity);
        let token = token.map_err(|e| unfit(e.to_string()))?;
        self.outbox = message(Kind::Data, &token).map_err(|e| unfit(e.to_string()))?;
        match self.push(cx) {
            Poll::Ready(Err(e)) => Poll::Ready(Err(e)),
            _ => Poll::Ready(Ok(piece.len())),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.push(cx) {
            Poll::Ready(Ok(())) => self.below.poll_flush(cx),
            other => other,
        }
    }
}

fn unfit(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("SOCKS5 GSS-API: {what}"))
}
