//! One stream: a request goes out and its reply comes in. Dropping it before both have ended resets it.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::Bytes;
use quinn_proto::{StreamId, VarInt};
use wire::h3::{ErrorCode, Event, Failure, Field, Fields, Reply, Scope, data_header, request_head, trailers};

use super::{Fault, Http3};
use crate::exchange::BodyStep;
use crate::exchange::streams::Head;
use crate::quic::Readable;

/// One piece of what came.
const PIECE: usize = 64 << 10;
/// So many heads wait at most: interim ones cost a peer nothing.
const HEADS: usize = 16;

/// How a stream is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// The head is all there is.
    pub end: bool,
    /// The reply will have no body, whatever length it announces (HEAD).
    pub head_only: bool,
}

/// A stream of a session.
pub struct Stream {
    http3: Http3,
    id: StreamId,
    reply: Reply,
    /// What was received and not looked at.
    input: Bytes,
    heads: VecDeque<Head>,
    /// A piece of body in `input` that was looked at: so many bytes from its front.
    body: usize,
    trailers: Option<Fields>,
    ended: bool,
    any: bool,
    /// Frame headers and fields that wait for room.
    out: Vec<u8>,
    /// What is still to come of the DATA frame that was begun.
    frame: usize,
    /// The last piece of body found no room.
    blocked: bool,
    /// Nothing follows of the request.
    closing: bool,
    finished: bool,
    /// The peer wants nothing more of the request.
    stopped: Option<u64>,
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
            any: false,
            out: Vec::new(),
            frame: 0,
            blocked: false,
            closing: false,
            finished: false,
            stopped: None,
        }
    }

    /// Queues the request's head.
    pub(super) fn begin<'a>(&mut self, fields: impl IntoIterator<Item = Field<'a>>, end: bool) {
        request_head(&mut self.out, fields);
        self.closing = end;
        self.push();
    }

    /// Its number on the wire.
    pub fn number(&self) -> u64 {
        VarInt::from(self.id).into_inner()
    }

    /// The next head: of status 1xx, or the reply's.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, Fault>> {
        loop {
            if let Some(head) = self.heads.pop_front() {
                return Poll::Ready(Ok(head));
            }
            if self.ended || self.body > 0 {
                return Poll::Ready(Err(Fault::Closed("no head".to_owned())));
            }
            std::task::ready!(self.poll_step(cx))?;
        }
    }

    /// Reads body bytes into `buf`. Who does not read holds the peer to the window.
    pub fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, Fault>> {
        loop {
            if self.body > 0 {
                let n = self.body.min(buf.len());
                buf[..n].copy_from_slice(&self.input.split_to(n));
                self.body -= n;
                return Poll::Ready(Ok(BodyStep::Bytes(n)));
            }
            if self.ended {
                return Poll::Ready(Ok(BodyStep::End));
            }
            std::task::ready!(self.poll_step(cx))?;
        }
    }

    /// Goes on by one event, one piece, or to the end.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        if self.input.is_empty() {
            return self.poll_receive(cx);
        }
        match self.read_event() {
            Ok(()) => Poll::Ready(Ok(())),
            Err(failure) => Poll::Ready(Err(self.broken(failure))),
        }
    }

    /// Looks at the next of what was received.
    fn read_event(&mut self) -> Result<(), Failure> {
        let input = self.input.clone();
        let step = self.reply.next(&input)?;
        let used = step.used;
        match step.event {
            None => {}
            Some(Event::Data(data)) => {
                // The piece is the last of what was used.
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

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        let mut session = self.http3.0.borrow_mut();
        let read = session.machine().map_or(Readable::Blocked, |machine| machine.read(self.id, PIECE));
        if !matches!(read, Readable::Blocked) {
            session.wake_driver(); // the window may have grown
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
                ErrorCode::REQUEST_REJECTED => Fault::Refused,
                code => Fault::Reset { code, why: None },
            })),
            Readable::Blocked => {
                if !self.reply.has_head() && session.is_unprocessed(self.id) {
                    return Poll::Ready(Err(Fault::Refused));
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
    fn broken(&mut self, failure: Failure) -> Fault {
        let mut session = self.http3.0.borrow_mut();
        match failure.scope {
            Scope::Stream => session.machine().into_iter().for_each(|m| m.abandon(self.id, failure.code.0)),
            Scope::Connection => {
                session.fail(failure, std::time::Instant::now());
                return Fault::Failed(failure);
            }
        }
        session.wake_driver();
        Fault::Reset { code: failure.code, why: Some(failure.why) }
    }

    /// Whether any of a reply has come.
    pub fn any_received(&self) -> bool {
        self.any
    }

    /// Whether the reply is whole and the peer wants nothing more of the request.
    pub fn is_over(&self) -> bool {
        self.stopped.is_some() && self.ended
    }

    /// Fields that came behind the body.
    pub fn take_trailers(&mut self) -> Option<Fields> {
        self.trailers.take()
    }

    /// Ready when some of the request's body may be queued: at once when the peer wants nothing more of it, which then goes
    /// nowhere. What became of the request is what the reply says, or the reset.
    pub fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.push();
        if self.out.is_empty() && !std::mem::take(&mut self.blocked) {
            return Poll::Ready(Ok(()));
        }
        let mut session = self.http3.0.borrow_mut();
        if let Some(fault) = session.fault() {
            return Poll::Ready(Err(fault));
        }
        session.waiting(self.id).writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Queues what there is room for of a piece of body and tells how much that was.
    pub fn queue(&mut self, bytes: &[u8]) -> usize {
        if self.stopped.is_some() {
            return bytes.len();
        }
        if self.frame == 0 {
            data_header(&mut self.out, bytes.len());
            self.frame = bytes.len();
        }
        self.push();
        if !self.out.is_empty() {
            return 0;
        }
        let mut session = self.http3.0.borrow_mut();
        let Some(machine) = session.machine() else { return 0 };
        match machine.write(self.id, &bytes[..bytes.len().min(self.frame)]) {
            Ok(n) => {
                self.frame -= n;
                self.blocked = n == 0;
                session.wake_driver();
                n
            }
            Err(code) => {
                self.stopped = Some(code);
                bytes.len()
            }
        }
    }

    /// Nothing follows of the request's body.
    pub fn end(&mut self) {
        self.closing = true;
        self.push();
    }

    /// Nothing but these fields follows of it.
    pub fn end_with<'a>(&mut self, fields: impl IntoIterator<Item = Field<'a>>) {
        trailers(&mut self.out, fields);
        self.end();
    }

    /// Ready when all of the request has been handed over, its end included, or when nothing of it is wanted any more.
    pub fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.push();
        let mut session = self.http3.0.borrow_mut();
        if self.finished || self.stopped.is_some() || session.lost.is_some() {
            return Poll::Ready(());
        }
        session.waiting(self.id).writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Hands over what waits, as far as there is room.
    fn push(&mut self) {
        let mut session = self.http3.0.borrow_mut();
        let Some(machine) = session.machine() else { return };
        if !self.out.is_empty() {
            match machine.write(self.id, &self.out) {
                Ok(n) => drop(self.out.drain(..n)),
                Err(code) => {
                    self.stopped = Some(code);
                    self.out.clear();
                }
            }
        }
        if self.closing && self.out.is_empty() && !self.finished {
            self.finished = true;
            machine.finish(self.id);
        }
        session.wake_driver();
    }
}

impl Drop for Stream {
    /// A reply that has ended makes the rest of an upload pointless (RFC 9114 §4.1); otherwise this is a cancel.
    fn drop(&mut self) {
        let mut session = self.http3.0.borrow_mut();
        if !(self.ended && self.finished) {
            let code = if self.ended { ErrorCode::NO_ERROR } else { ErrorCode::REQUEST_CANCELLED };
            session.machine().into_iter().for_each(|m| m.abandon(self.id, code.0));
        }
        session.close(self.id);
    }
}
