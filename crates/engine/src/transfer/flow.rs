//! Flow of a transfer: moves body bytes from their source to the application inside one poll, at the rate
//! that the settings allow. One receive buffer is lent to the framing and then to the writer, so that the
//! usual path copies nothing.

use std::future::{Future, poll_fn};
use std::hint::cold_path;
use std::pin::Pin;
use std::task::{self, Poll, ready};

use net::exchange::BodyStep;
use runtime::Sleep;
use tables::{Code, EasyOption as O};

use super::body::{BodySource, FAIR_SHARE};
use super::client_writer::ClientWriter;
use super::handles::Handles;
use super::rate_limit::RateLimit;
use crate::error::{Error, Result};
use crate::scratch::{LARGE, SMALL, with_scratch};

/// The bytes of a transfer and their pace.
pub struct Flow {
    /// Where received bytes go.
    pub writer: ClientWriter,
    /// Pace of receiving.
    pub receive_rate: RateLimit,
    /// Pace of sending.
    pub send_rate: RateLimit,
    handles: Handles,
}

impl Flow {
    /// Creates the flow of a transfer with the limits of its settings.
    #[inline]
    pub fn new(handles: Handles) -> Flow {
        let settings = handles.easy.settings.borrow();
        let receive_rate = RateLimit::new(settings.long(O::MaxRecvSpeedLarge));
        let send_rate = RateLimit::new(settings.long(O::MaxSendSpeedLarge));
        drop(settings);
        Flow { writer: ClientWriter::new(handles.easy.clone()), receive_rate, send_rate, handles }
    }

    /// Receives a body to its end.
    pub async fn pump_body(&mut self, source: &mut dyn BodySource) -> Result<()> {
        let mut pause: Option<Sleep> = None;
        poll_fn(|cx| self.poll_pump(cx, source, &mut pause)).await?;
        self.writer.body_end()
    }

    fn poll_pump(
        &mut self,
        cx: &mut task::Context<'_>,
        source: &mut dyn BodySource,
        pause: &mut Option<Sleep>,
    ) -> Poll<Result<()>> {
        let mut moved = 0;
        loop {
            source.poll_beside(cx)?;
            if self.poll_may_receive(cx, pause)?.is_pending() {
                cold_path();
                source.forget_read(cx);
                return Poll::Pending;
            }
            if moved > FAIR_SHARE {
                cold_path();
                self.handles.multi.runtime.wake_later(cx.waker().clone());
                return Poll::Pending;
            }
            let short = source.left().is_some_and(|left| left < SMALL as u64);
            let size = if short { SMALL } else { LARGE };
            let step = match self.poll_lent(cx, source) {
                Some(step) => step,
                None => with_scratch(size, |buf| self.poll_piece(cx, source, buf)),
            };
            match ready!(step)? {
                Some(n) => {
                    moved += n;
                    if self.receive_rate.limited()
                        && let Some(at) = self.receive_rate.moved(n, self.handles.now())
                    {
                        *pause = Some(self.handles.multi.runtime.reactor().sleep_until(at));
                    }
                }
                // The end may be reached while the application is paused: held back data goes first.
                None => return self.writer.poll_ready(cx),
            }
        }
    }

    /// Waits until the application takes bytes and the receive rate allows more.
    #[inline]
    fn poll_may_receive(
        &mut self,
        cx: &mut task::Context<'_>,
        pause: &mut Option<Sleep>,
    ) -> Poll<Result<()>> {
        ready!(self.writer.poll_ready(cx))?;
        if self.receive_rate.adopt(self.handles.long(O::MaxRecvSpeedLarge)) {
            *pause = None;
        }
        if let Some(timer) = pause {
            cold_path();
            ready!(Pin::new(timer).poll(cx));
            *pause = None;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads one piece directly into memory that the application lends; `None` if it lends none.
    #[inline]
    fn poll_lent(
        &mut self,
        cx: &mut task::Context<'_>,
        source: &mut dyn BodySource,
    ) -> Option<Poll<Result<Option<usize>>>> {
        if !self.handles.easy.callbacks.lends() {
            return None;
        }
        let left = source.left().filter(|left| *left > 0 && self.writer.passes_on(*left))?;
        if source.converted().is_some() {
            return None;
        }
        let most = self.receive_rate.piece(LARGE);
        let mut came = None;
        self.handles.easy.callbacks.lend(left, &mut |buf| {
            let room = most.min(buf.len());
            let step = source.poll_body(cx, &mut buf[..room]);
            let n = if let Poll::Ready(Ok(BodyStep::Bytes(n))) = &step { *n } else { 0 };
            came = Some(step);
            n
        });
        Some(match came? {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(e)) => Poll::Ready(Err(self.perhaps_partial(e))),
            Poll::Ready(Ok(BodyStep::End)) => {
                self.handles.note_first_byte();
                Poll::Ready(Ok(None))
            }
            Poll::Ready(Ok(BodyStep::Bytes(n))) => {
                self.handles.note_first_byte();
                let mut info = self.handles.easy.info.borrow_mut();
                info.delivered += n as i64;
                info.downloaded += n as i64;
                Poll::Ready(Ok(Some(n)))
            }
        })
    }

    /// Reads one piece and passes it to the writer. Returns its length, or none at the end of the body.
    #[inline]
    fn poll_piece(
        &mut self,
        cx: &mut task::Context<'_>,
        source: &mut dyn BodySource,
        buf: &mut [u8],
    ) -> Poll<Result<Option<usize>>> {
        let room = self.receive_rate.piece(buf.len());
        let before = source.converted();
        let step = ready!(source.poll_body(cx, &mut buf[..room]));
        let came = source.converted().zip(before).map(|(after, before)| (after - before) as usize);
        match step {
            Ok(BodyStep::Bytes(n)) => {
                self.handles.note_first_byte();
                let before = self.handles.easy.info.borrow().delivered;
                let taken = self.take(&buf[..n], source.chunk_ends());
                // Bytes that the application refused or that could not be decoded do not count, as in curl.
                let count = match &taken {
                    Ok(()) => came.unwrap_or(n),
                    Err(_) if self.writer.decodes() => 0,
                    Err(_) => (self.handles.easy.info.borrow().delivered - before) as usize,
                };
                self.handles.easy.info.borrow_mut().downloaded += count as i64;
                Poll::Ready(taken.map(|()| Some(n)))
            }
            Ok(BodyStep::End) => {
                self.handles.note_first_byte();
                came.filter(|came| *came > 0).into_iter().for_each(|came| self.handles.received(came));
                Poll::Ready(Ok(None))
            }
            Err(e) => Poll::Ready(Err(self.perhaps_partial(e))),
        }
    }

    /// Returns the error of a stream that failed after some data: the file is partial.
    #[cold]
    fn perhaps_partial(&self, error: Error) -> Error {
        let partial = error.code() == Code::Http2 && self.handles.easy.info.borrow().downloaded > 0;
        if partial { error.with_code(Code::PartialFile) } else { error }
    }

    /// Delivers a piece of the body, in the chunks in which it was received.
    fn take(&mut self, bytes: &[u8], chunk_ends: &[usize]) -> Result<()> {
        let mut at = 0;
        for &end in chunk_ends.iter().filter(|end| **end < bytes.len()) {
            self.writer.body(&bytes[at..end])?;
            at = end;
        }
        self.writer.body(&bytes[at..])
    }
}
