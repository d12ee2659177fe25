//! One stream: a request is sent and its response received. Dropping it before both have ended resets it.

use std::task::{Context, Poll};

use wire::h2::{ErrorCode, Field, Fields, Priority, Session, StreamId};

use super::inbox::Inbox;
use super::{Http2, State, StreamError, Trace};
use crate::exchange::{BodyStep, Head};

/// A stream of a session.
pub struct Stream {
    http2: Http2,
    id: StreamId,
    inbox: usize,
    /// Body bytes returned by the last read. They count as consumed when more is requested, so that a pause
    /// in between stops the peer at the window.
    handed: usize,
}

/// A server push (RFC 9113 §8.4). Dropping its stream refuses it.
pub struct Pushed {
    /// The request that it answers, pseudo-fields first.
    pub fields: Fields,
    pub stream: Stream,
}

impl Stream {
    pub(super) fn new(http2: Http2, id: StreamId, inbox: usize) -> Stream {
        Stream { http2, id, inbox, handed: 0 }
    }

    /// Its number on the wire.
    pub fn number(&self) -> u32 {
        self.id.number()
    }

    /// Traces its frames, and possibly those of the connection, from now on.
    pub fn watch(&self, trace: Trace) {
        self.http2.0.borrow_mut().watchers.enter(self.number(), trace);
    }

    /// The next head: of status 1xx, or the reply's.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, StreamError>> {
        self.with(|_, _, inbox| match inbox.head() {
            Some(head) => Poll::Ready(Ok(head)),
            None => inbox.wait(cx),
        })
    }

    /// Reads body bytes into `buf`. An unread body stops the peer at the window.
    pub fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, StreamError>> {
        let used = std::mem::take(&mut self.handed);
        let step = {
            let mut state = self.http2.0.borrow_mut();
            let State { session, inboxes, spares, .. } = &mut *state;
            let inbox = &mut inboxes[self.inbox];
            if used > 0 {
                session.consume(self.id, used);
            }
            match inbox.take(buf, spares) {
                0 if inbox.ended => Poll::Ready(Ok(BodyStep::End)),
                0 => inbox.wait(cx),
                n => Poll::Ready(Ok(BodyStep::Bytes(n))),
            }
        };
        if let Poll::Ready(Ok(BodyStep::Bytes(n))) = step {
            self.handed = n;
        }
        self.http2.0.borrow_mut().wake_driver_to_send();
        step
    }

    /// Whether any byte of a reply has arrived.
    pub fn any_received(&self) -> bool {
        let state = self.http2.0.borrow();
        state.inboxes.get(self.inbox).is_some_and(|inbox| inbox.any)
    }

    /// Returns whether the response is complete and the peer wants nothing more of the request.
    pub fn is_over(&self) -> bool {
        let state = self.http2.0.borrow();
        state.inboxes.get(self.inbox).is_none_or(|inbox| inbox.over && inbox.ended)
    }

    /// The next reply that the peer has promised on this stream.
    pub fn take_promise(&mut self) -> Option<Pushed> {
        let promise = self.with(|_, _, inbox| inbox.promises.pop_front())?;
        let stream = Stream::new(self.http2.clone(), promise.id, promise.inbox);
        Some(Pushed { fields: promise.fields, stream })
    }

    /// Takes the trailer fields.
    pub fn take_trailers(&mut self) -> Option<Fields> {
        self.with(|_, _, inbox| inbox.trailers.take())
    }

    /// Returns whether the peer's windows keep the stream from sending.
    pub fn is_kept_by_window(&self) -> bool {
        self.http2.0.borrow().session.is_kept_by_window(self.id)
    }

    /// How many bytes of the request's body may be queued: at least one, once it is ready.
    pub fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, StreamError>> {
        self.with(|session, id, inbox| match session.want_room(id) {
            0 if inbox.over => inbox.wait(cx),
            0 => {
                inbox.writer = Some(cx.waker().clone());
                Poll::Pending
            }
            room => Poll::Ready(Ok(room)),
        })
    }

    /// Returns ready when the whole request has been written, including its end, or the peer wants nothing
    /// more of it.
    pub fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.with(|session, id, inbox| match inbox.over || session.want_sent(id) {
            true => Poll::Ready(()),
            false => {
                inbox.writer = Some(cx.waker().clone());
                Poll::Pending
            }
        })
    }

    /// Returns ready when the queued part of the request has been written, or the peer wants nothing more of
    /// it.
    pub fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.with(|session, id, inbox| match inbox.over || session.queued(id) == 0 || session.want_sent(id) {
            true => Poll::Ready(()),
            false => {
                inbox.writer = Some(cx.waker().clone());
                Poll::Pending
            }
        })
    }

    /// Queues as much of `storage[start..end]` as there is room for, and returns the length. If that is all
    /// of it, the buffer may have been swapped for another.
    pub fn queue(&mut self, storage: &mut Vec<u8>, start: usize, end: usize) -> usize {
        let n = self.with(|session, id, _| match session.trade(id, storage, start, end) {
            true => end - start,
            false => session.queue(id, &storage[start..end]),
        });
        self.http2.0.borrow_mut().wake_driver_to_send();
        n
    }

    /// Ends the request's body.
    pub fn end(&mut self) {
        let mut state = self.http2.0.borrow_mut();
        state.session.end(self.id);
        state.wake_driver_to_send();
    }

    /// Ends the request's body with these trailers.
    pub fn end_with<'a>(&mut self, trailers: impl IntoIterator<Item = Field<'a>>) {
        let mut state = self.http2.0.borrow_mut();
        state.session.end_with(self.id, trailers);
        state.wake_driver_to_send();
    }

    /// Returns the number of queued bytes of the request's body.
    pub fn queued(&self) -> usize {
        self.http2.0.borrow().session.queued(self.id)
    }

    /// Moves the stream in the order of importance.
    pub fn prioritise(&mut self, priority: Priority) {
        let mut state = self.http2.0.borrow_mut();
        state.session.prioritise(self.id, priority);
        state.wake_driver();
    }

    /// Sends another priority of the request.
    pub fn update_priority(&mut self, value: &str) {
        let mut state = self.http2.0.borrow_mut();
        state.session.update_priority(self.id, value);
        state.wake_driver();
    }

    /// Resets the stream.
    pub fn reset(&mut self, code: ErrorCode) {
        let mut state = self.http2.0.borrow_mut();
        state.session.reset(self.id, code);
        state.wake_driver();
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Session, StreamId, &mut Inbox) -> T) -> T {
        let mut state = self.http2.0.borrow_mut();
        let State { session, inboxes, .. } = &mut *state;
        act(session, self.id, &mut inboxes[self.inbox])
    }
}

impl Drop for Stream {
    /// A reply that has ended makes the rest of an upload pointless (RFC 9113 §8.1); otherwise this is a
    /// cancel.
    fn drop(&mut self) {
        let mut state = self.http2.0.borrow_mut();
        let inbox = state.take_inbox(self.id, self.inbox);
        let code = if inbox.ended { ErrorCode::NO_ERROR } else { ErrorCode::CANCEL };
        state.watchers.leave(self.id.number());
        state.session.reset(self.id, code);
        state.tell_of_vacancies();
        // It may have been the last.
        state.wake_driver();
    }
}

impl Inbox {
    /// Returns the fault of the stream, or waits for more. Both sending and reading use it.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, StreamError>> {
        match &self.fault {
            Some(fault) => Poll::Ready(Err(fault.copy())),
            None if self.over => Poll::Ready(Err(StreamError::Closed)),
            None => {
                self.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
