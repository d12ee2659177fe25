//! One stream: a request is sent and its response received. Dropping it before both have ended resets it.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::Bytes;
use quinn_proto::{StreamId, VarInt};
use wire::h3::{ErrorCode, Event, Failure, Field, Fields, Reply, Scope};

use super::outgoing::OutgoingBytes;
use super::{Http3, StreamError};
use crate::exchange::{BodyStep, Head};
use crate::quic::{Machine, Readable};

/// Size of one read.
const PIECE: usize = 64 << 10;
/// Maximum number of unread heads: interim ones cost a peer nothing.
const HEADS: usize = 16;

/// How a stream is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// The head is all there is.
    pub end: bool,
    /// Whether the response has no body, whatever length it announces (HEAD).
    pub head_only: bool,
}

/// A stream of a session.
pub struct Stream {
    http3: Http3,
    id: StreamId,
    reply: Reply,
    /// Received bytes that were not processed.
    input: Bytes,
    heads: VecDeque<Head>,
    /// A piece of body in `input` that was looked at: so many bytes from its front.
    body: usize,
    trailers: Option<Fields>,
    ended: bool,
    /// Some of a body was handed out.
    handed: bool,
    /// A fault after some bytes of body; the next read returns it.
    fault: Option<StreamError>,
    any: bool,
    outgoing: OutgoingBytes,
}

impl Stream {
    pub(super) fn new(http3: Http3, id: StreamId, head_only: bool) -> Stream {
        Stream {
            http3,
            id,
            reply: Reply::new(head_only),
            input: Bytes::new(),
            heads: VecDeque::new(),
            body: 0,
            trailers: None,
            ended: false,
            handed: false,
            fault: None,
            any: false,
            outgoing: OutgoingBytes::default(),
        }
    }

    /// Queues the request's head.
    pub(super) fn begin<'a>(&mut self, fields: impl IntoIterator<Item = Field<'a>>, end: bool) {
        self.outgoing.fields(fields);
        if end {
            self.outgoing.end();
        }
        self.push();
    }

    /// Its number on the wire.
    pub fn number(&self) -> u64 {
        VarInt::from(self.id).into_inner()
    }

    /// The next head: of status 1xx, or the reply's.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, StreamError>> {
        loop {
            if let Some(head) = self.heads.pop_front() {
                return Poll::Ready(Ok(head));
            }
            if self.ended || self.body > 0 {
                return Poll::Ready(Err(StreamError::Closed("no head".to_owned())));
            }
            std::task::ready!(self.poll_step(cx))?;
        }
    }

    /// Reads body bytes into `buf`. An unread body stops the peer at the window.
    pub fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, StreamError>> {
        let mut filled = 0;
        loop {
            if self.body > 0 {
                let n = self.body.min(buf.len() - filled);
                buf[filled..filled + n].copy_from_slice(&self.input.split_to(n));
                (self.body, filled, self.handed) = (self.body - n, filled + n, true);
            }
            if filled == buf.len() || filled > 0 && self.ended {
                return Poll::Ready(Ok(BodyStep::Bytes(filled)));
            }
            if self.ended {
                return Poll::Ready(Ok(BodyStep::End));
            }
            match self.poll_step(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(fault)) if filled > 0 => {
                    self.fault = Some(fault);
                    return Poll::Ready(Ok(BodyStep::Bytes(filled)));
                }
                Poll::Pending if filled > 0 => return Poll::Ready(Ok(BodyStep::Bytes(filled))),
                Poll::Ready(Err(fault)) => return Poll::Ready(Err(fault)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Continues by one event, one piece, or to the end.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamError>> {
        if let Some(fault) = self.fault.take() {
            return Poll::Ready(Err(fault));
        }
        if self.input.is_empty() {
            return self.poll_receive(cx);
        }
        match self.read_event() {
            Ok(()) => Poll::Ready(Ok(())),
            Err(failure) => Poll::Ready(Err(self.broken(failure))),
        }
    }

    /// Processes the next received bytes.
    fn read_event(&mut self) -> Result<(), Failure> {
        let input = self.input.clone();
        let step = self.reply.next(&input)?;
        let used = step.used;
        match step.event {
            None => {}
            Some(Event::Data(data)) => {
                // The piece is the last of the used bytes.
                self.body = data.len();
                self.input = self.input.slice(used - data.len()..);
                return Ok(());
            }
            Some(Event::Informational { status, fields }) => {
                self.heads.push_back(Head { status, fields: fields.clone(), end: false });
            }
            Some(Event::Head { status, fields }) => {
                self.heads.push_back(Head { status, fields: fields.clone(), end: false });
            }
            Some(Event::Trailers(fields)) => self.trailers = Some(fields.clone()),
        }
        self.any |= !self.heads.is_empty();
        self.input = self.input.slice(used..);
        match self.heads.len() > HEADS {
            true => {
                Err(Failure { scope: Scope::Stream, code: ErrorCode::EXCESSIVE_LOAD, why: "too many heads" })
            }
            false => Ok(()),
        }
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamError>> {
        let mut session = self.http3.0.borrow_mut();
        let read = session.machine().map_or(Readable::Blocked, |machine| machine.read(self.id, PIECE));
        if session.machine().is_some_and(Machine::take_stirred) {
            session.wake_driver();
        }
        match read {
            Readable::Bytes(bytes) => {
                drop(session);
                self.input = bytes;
                Poll::Ready(Ok(()))
            }
            Readable::End => {
                drop(session);
                self.ended = true;
                let whole = self.reply.end();
                Poll::Ready(whole.map_err(|failure| self.broken(failure)))
            }
            Readable::Reset(code) => Poll::Ready(Err(match ErrorCode(code) {
                ErrorCode::REQUEST_REJECTED => StreamError::Refused,
                code => StreamError::Reset { code, why: None, within_body: self.handed },
            })),
            Readable::Blocked => {
                if !self.reply.has_head() && session.is_unprocessed(self.id) {
                    return Poll::Ready(Err(StreamError::Refused));
                }
                if let Some(fault) = session.fault() {
                    return Poll::Ready(Err(fault));
                }
                session.waiting(self.id).reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// The peer broke the rules: the stream ends for it, or everything does.
    fn broken(&mut self, failure: Failure) -> StreamError {
        let mut session = self.http3.0.borrow_mut();
        match failure.scope {
            Scope::Stream => session.machine().into_iter().for_each(|m| m.abandon(self.id, failure.code.0)),
            Scope::Connection => {
                session.fail(failure);
                return StreamError::Failed(failure);
            }
        }
        session.wake_driver();
        StreamError::Reset { code: failure.code, why: Some(failure.why), within_body: self.handed }
    }

    /// Whether any byte of a reply has arrived.
    pub fn any_received(&self) -> bool {
        self.any
    }

    /// Returns whether the response is complete and the peer wants nothing more of the request.
    pub fn is_over(&self) -> bool {
        self.outgoing.stopped.is_some() && self.ended
    }

    /// Takes the trailer fields.
    pub fn take_trailers(&mut self) -> Option<Fields> {
        self.trailers.take()
    }

    /// Returns ready when a piece of the request's body may be queued; also if the peer wants nothing more of
    /// it, which is then dropped. The response, or the reset, shows what became of the request.
    pub fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamError>> {
        self.push();
        if self.outgoing.has_room() {
            return Poll::Ready(Ok(()));
        }
        let mut session = self.http3.0.borrow_mut();
        if let Some(fault) = session.fault() {
            return Poll::Ready(Err(fault));
        }
        session.waiting(self.id).writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Queues as much of a piece of body as there is room for, and returns the length.
    pub fn queue(&mut self, bytes: &[u8]) -> usize {
        let mut session = self.http3.0.borrow_mut();
        let Some(machine) = session.machine() else { return 0 };
        let n = self.outgoing.queue(machine, self.id, bytes);
        session.wake_driver();
        n
    }

    /// Ends the request's body.
    pub fn end(&mut self) {
        self.outgoing.end();
        self.push();
    }

    /// Sends another priority of the request.
    pub fn update_priority(&mut self, value: &str) {
        let mut session = self.http3.0.borrow_mut();
        session.update_priority(self.id, value);
        session.wake_driver();
    }

    /// Ends the request's body with these trailers.
    pub fn end_with<'a>(&mut self, fields: impl IntoIterator<Item = Field<'a>>) {
        self.outgoing.fields(fields);
        self.end();
    }

    /// Returns ready when the whole request has been passed on, including its end, or the peer wants nothing
    /// more of it.
    pub fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.push();
        let mut session = self.http3.0.borrow_mut();
        if self.outgoing.finished || self.outgoing.stopped.is_some() || session.lost.is_some() {
            return Poll::Ready(());
        }
        session.waiting(self.id).writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Passes on queued data, as far as there is room.
    fn push(&mut self) {
        let mut session = self.http3.0.borrow_mut();
        let Some(machine) = session.machine() else { return };
        self.outgoing.push(machine, self.id);
        session.wake_driver();
    }
}

impl Drop for Stream {
    /// A reply that has ended makes the rest of an upload pointless (RFC 9114 §4.1); otherwise this is a
    /// cancel.
    fn drop(&mut self) {
        let mut session = self.http3.0.borrow_mut();
        if !(self.ended && self.outgoing.finished) {
            let code = if self.ended { ErrorCode::NO_ERROR } else { ErrorCode::REQUEST_CANCELLED };
            session.machine().into_iter().for_each(|m| m.abandon(self.id, code.0));
        }
        session.close(self.id);
    }
}
