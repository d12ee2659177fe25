//! The task's side of a transfer: sends the upload, waits for head and body.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tables::Code;

use super::body::Source;
use super::call::{Call, Order, Prepared, State};
use super::error::{Error, ErrorKind};
use super::head::Head;
use super::host::Host;
use super::shared::Shared;
use super::timings::Timings;
use crate::Why;

/// The task's side of a transfer. Dropping it aborts the transfer.
pub(super) struct Running {
    client: Arc<Shared>,
    call: Arc<Call>,
    source: Option<Source>,
    /// Whether the transfer has ended, so that there is nothing to abort.
    over: bool,
}

impl Running {
    pub fn start(client: Arc<Shared>, prepared: Prepared, source: Option<Source>) -> Running {
        let call = Arc::<Call>::default();
        client.order(Order::Start(Box::new(prepared), call.clone()));
        Running { client, call, source, over: false }
    }

    /// Returns the last head, or the error that occurred before one was complete.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Box<Head>, Error>> {
        if let Err(error) = self.send(cx) {
            return Poll::Ready(Err(error));
        }
        let mut state = self.call.lock();
        // A failure before any body was received is an error of the request, unless the body itself fails.
        // Whether that arrives together with the head is chance.
        let is_of_body = |error: &Error| state.body_follows && error.is_of_receiving();
        if state.body.is_empty() && matches!(&state.ended, Some(Err(error)) if !is_of_body(error)) {
            self.over = true;
            return Poll::Ready(Err(state
                .ended
                .take()
                .and_then(Result::err)
                .unwrap_or_else(|| Error::no_driver("the transfer has ended before"))));
        }
        match state.head.take() {
            Some(head) => Poll::Ready(Ok(head)),
            None => self.pend(&mut state, cx),
        }
    }

    /// Returns the next piece of the body. The last item is an error, or the end with its timings and
    /// trailers.
    pub fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece, Error>> {
        if let Err(error) = self.send(cx) {
            return Poll::Ready(Err(error));
        }
        let mut state = self.call.lock();
        if !state.body.is_empty() && (!state.collects || state.ended.is_some()) {
            let body = std::mem::take(&mut state.body);
            let more = state.ended.is_none();
            drop(state);
            if more {
                self.client.order(Order::Take(self.call.clone()));
            }
            return Poll::Ready(Ok(Piece::Body(body)));
        }
        match state.ended.take() {
            Some(ended) => {
                self.over = true;
                let (trailers, why) = (std::mem::take(&mut state.trailers), state.why.take());
                Poll::Ready(ended.map(|timings| Piece::End(timings, trailers, why)))
            }
            None => self.pend(&mut state, cx),
        }
    }

    /// Makes [`poll_body`](Self::poll_body) wait for all of the rest, which then comes as one piece.
    pub fn collect(&mut self) {
        let mut state = self.call.lock();
        state.collects = state.ended.is_none();
        if state.collects {
            drop(state);
            self.client.order(Order::Collect(self.call.clone()));
        }
    }

    fn pend<T>(&self, state: &mut State, cx: &Context<'_>) -> Poll<Result<T, Error>> {
        if let Some(lost) = self.client.lost() {
            return Poll::Ready(Err(lost));
        }
        wait(state, cx);
        Poll::Pending
    }

    /// Returns the engine that a waiting thread runs.
    pub fn host(&self) -> Option<Arc<Host>> {
        self.client.host.clone()
    }

    /// Passes pieces from the caller's stream to the engine while it accepts them.
    pub fn send(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        while let Some(source) = &mut self.source {
            let mut state = self.call.lock();
            if state.ended.is_some() {
                self.source = None; // the server needs no more of it
                return Ok(());
            }
            if !state.wants_upload {
                wait(&mut state, cx);
                return Ok(());
            }
            drop(state);
            let piece = match Pin::new(source).poll_next(cx) {
                Poll::Pending => return Ok(()),
                Poll::Ready(None) => None,
                Poll::Ready(Some(Ok(bytes))) if bytes.is_empty() => continue,
                Poll::Ready(Some(Ok(bytes))) => Some(bytes),
                Poll::Ready(Some(Err(error))) => {
                    self.source = None;
                    self.cancel();
                    let message = format!("the source of the body failed: {error}");
                    return Err(Error::new(ErrorKind::Body, Code::ReadError, message).because(error));
                }
            };
            if piece.is_none() {
                self.source = None;
            }
            let mut state = self.call.lock();
            (state.wants_upload, state.upload_is_queued) = (false, true);
            drop(state);
            self.client.order(Order::Feed(self.call.clone(), piece));
        }
        Ok(())
    }

    /// Waits until the engine has taken all of the upload and wants more, or the transfer has ended.
    pub fn poll_all_sent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.send(cx).is_err() {
            return Poll::Ready(());
        }
        let mut state = self.call.lock();
        if state.wants_upload || state.ended.is_some() {
            return Poll::Ready(());
        }
        if self.client.lost().is_some() {
            return Poll::Ready(());
        }
        wait(&mut state, cx);
        Poll::Pending
    }

    /// Returns whether nothing more can be sent.
    pub fn has_ended(&self) -> bool {
        self.over || self.call.lock().ended.is_some()
    }

    fn cancel(&mut self) {
        if !std::mem::replace(&mut self.over, true) {
            self.client.order(Order::Cancel(self.call.clone()));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// The parts after a head: body, then the end.
pub(super) enum Piece {
    Body(Vec<u8>),
    End(Timings, Vec<u8>, Option<Box<Why>>),
}

fn wait(state: &mut State, cx: &Context<'_>) {
    match &mut state.waker {
        Some(waker) => waker.clone_from(cx.waker()),
        none => *none = Some(cx.waker().clone()),
    }
}
