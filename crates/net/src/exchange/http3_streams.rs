//! The interface of an exchange to a stream of HTTP/3.

use std::io;
use std::task::{Context, Poll};

use wire::h2::Fields;

use super::body::BodyStep;
use super::head::Head;
use super::streams::{Opens, Stream, Streams, field};
use crate::http3::{self, Http3};

impl Streams for Http3 {
    type Stream = http3::Stream;
    const VERSION: u8 = 30;

    fn promise(&self, more: isize) {
        self.promised(more);
    }

    fn open(&self, request: &Fields, opens: Opens) -> Option<http3::Stream> {
        let opening = http3::Opening { end: opens.ends, head_only: opens.head_only };
        Http3::open(self, request.iter().map(field), opening)
    }

    fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<()> {
        Http3::poll_vacancy(self, cx)
    }

    /// Returns an error: extended CONNECT is not supported here, and HTTP/1.1 is used.
    fn poll_extended(&self, _: &mut Context<'_>) -> Poll<Result<(), http3::StreamError>> {
        let code = wire::h3::ErrorCode::VERSION_FALLBACK;
        Poll::Ready(Err(http3::StreamError::Reset { code, why: None, within_body: false }))
    }

    fn is_closing(&self) -> bool {
        Http3::is_closing(self)
    }

    fn refusal() -> http3::StreamError {
        http3::StreamError::Refused
    }

    fn break_off(&self) {
        Http3::break_off(self);
    }

    fn failed(&self, stream: u32, fault: http3::StreamError) -> io::Error {
        use http3::StreamError;
        if let StreamError::Io(e) = fault {
            return e;
        }
        if matches!(
            fault,
            StreamError::Refused | StreamError::Reset { code: wire::h3::ErrorCode::VERSION_FALLBACK, .. }
        ) {
            self.leave();
        }
        io::Error::other(http3::NumberedError { stream: u64::from(stream), fault })
    }
}

impl Stream for http3::Stream {
    type Error = http3::StreamError;

    fn number(&self) -> u32 {
        u32::try_from(http3::Stream::number(self)).unwrap_or(u32::MAX)
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, http3::StreamError>> {
        http3::Stream::poll_head(self, cx)
    }

    fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<Result<BodyStep, http3::StreamError>> {
        http3::Stream::poll_body(self, cx, buf)
    }

    fn update_priority(&mut self, value: &str) {
        http3::Stream::update_priority(self, value);
    }

    fn any_received(&self) -> bool {
        http3::Stream::any_received(self)
    }

    fn is_over(&self) -> bool {
        http3::Stream::is_over(self)
    }

    fn take_trailers(&mut self) -> Option<Fields> {
        http3::Stream::take_trailers(self)
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), http3::StreamError>> {
        http3::Stream::poll_room(self, cx)
    }

    fn queue(&mut self, storage: &mut Vec<u8>, start: usize, end: usize) -> usize {
        http3::Stream::queue(self, &storage[start..end])
    }

    fn end_with(&mut self, trailers: &Fields) {
        match trailers.is_empty() {
            true => self.end(),
            false => http3::Stream::end_with(self, trailers.iter().map(field)),
        }
    }

    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        http3::Stream::poll_sent(self, cx)
    }
}
