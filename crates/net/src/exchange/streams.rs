//! The interface of an exchange to a multiplexed stream, for HTTP/2 and HTTP/3.

use std::io;
use std::task::{Context, Poll};

use wire::h2::{ErrorCode, Field, Fields, Opening, Priority};

use super::body::BodyStep;
use super::head::Head;
use crate::http2::{self, Http2};

/// How a stream is opened.
#[derive(Clone, Copy)]
pub struct Opens {
    /// Whether nothing follows the head.
    pub ends: bool,
    /// Whether the response has no body, whatever length it announces (HEAD).
    pub head_only: bool,
    pub priority: Option<Priority>,
    /// No more than this is to be on its way at once, in bytes.
    pub rate: Option<u64>,
}

/// A session that opens streams.
pub trait Streams {
    type Stream: Stream;

    /// Of the protocol, in tenths.
    const VERSION: u8;

    /// So many streams more, or fewer, are promised and not open yet.
    fn promise(&self, more: isize);

    /// Opens a stream; `None` when there is no vacancy.
    fn open(&self, request: &Fields, opens: Opens) -> Option<Self::Stream>;

    /// Ready when one may be opened, or none can be any more.
    fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Returns ready when the peer has announced support for CONNECT with `:protocol` (RFC 8441, RFC 9220),
    /// or cannot any more.
    fn poll_extended(&self, cx: &mut Context<'_>) -> Poll<Result<(), <Self::Stream as Stream>::Error>>;

    /// Whether none can.
    fn is_closing(&self) -> bool;

    /// Returns the fault for a session that cannot open a stream.
    fn refusal() -> <Self::Stream as Stream>::Error;

    /// The connection ends, with every stream on it.
    fn break_off(&self);

    /// Converts a stream's fault to an error of the operation. After a refusal the session is closed for new
    /// streams: the request goes elsewhere.
    fn failed(&self, number: u32, fault: <Self::Stream as Stream>::Error) -> io::Error;
}

/// A stream: a request is sent and its response received.
pub trait Stream {
    type Error;

    /// Its number on the wire.
    fn number(&self) -> u32;

    /// The next head: of status 1xx, or the reply's.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, Self::Error>>;

    /// Reads body bytes into `buf`.
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, Self::Error>>;

    /// Whether any byte of a reply has arrived.
    fn any_received(&self) -> bool;

    /// Returns whether the response is complete and the peer wants nothing more of the request.
    fn is_over(&self) -> bool;

    /// Takes the trailer fields.
    fn take_trailers(&mut self) -> Option<Fields>;

    /// Ready when some of the request's body may be queued.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>>;

    /// Returns whether the peer's windows keep the stream from sending, where the protocol counts that here.
    fn is_kept_by_window(&self) -> bool {
        false
    }

    /// Queues as much of `storage[start..end]` as there is room for, and returns the length. If that is all
    /// of it, the buffer may have been swapped for another.
    fn queue(&mut self, storage: &mut Vec<u8>, start: usize, end: usize) -> usize;

    /// Ends the request's body with these trailers.
    fn end_with(&mut self, trailers: &Fields);

    /// Returns ready when the whole request has been sent, including its end, or the peer wants nothing more
    /// of it.
    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Returns ready when the queued data has been sent, or the peer wants nothing more of it.
    fn poll_left(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Takes a server push that was promised with this stream and not taken, if the protocol has push.
    fn take_promise(&mut self) -> Option<http2::Pushed> {
        None
    }

    /// Traces its frames from now on, if it has frames.
    fn watch(&mut self, _trace: http2::Trace) {}

    /// Moves it in the order of importance, where there is one.
    fn prioritise(&mut self, _priority: Priority) {}

    /// Sends another priority of the request (RFC 9218 §7).
    fn update_priority(&mut self, value: &str);
}

/// Converts a field. Credentials are kept out of the compression tables (RFC 7541 §7.1.3, RFC 9204 §7.1.3).
pub(super) fn field<'a>((name, value): (&'a [u8], &'a [u8])) -> Field<'a> {
    Field { name, value, sensitive: matches!(name, b"authorization" | b"proxy-authorization") }
}

impl Streams for Http2 {
    type Stream = http2::Stream;
    const VERSION: u8 = 20;

    fn promise(&self, more: isize) {
        self.promised(more);
    }

    fn open(&self, request: &Fields, opens: Opens) -> Option<http2::Stream> {
        let opening = Opening {
            end: opens.ends,
            head_only: opens.head_only,
            priority: opens.priority,
            max_window: opens.rate.map(|rate| u32::try_from(rate).unwrap_or(u32::MAX)),
        };
        Http2::open(self, request.iter().map(field), opening)
    }

    fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<()> {
        Http2::poll_vacancy(self, cx)
    }

    fn poll_extended(&self, cx: &mut Context<'_>) -> Poll<Result<(), http2::StreamError>> {
        self.poll_extended_connect(cx).map(|supported| match supported {
            Some(true) => Ok(()),
            Some(false) => Err(http2::StreamError::NotExtended),
            None => Err(http2::StreamError::Refused),
        })
    }

    fn is_closing(&self) -> bool {
        Http2::is_closing(self)
    }

    fn refusal() -> http2::StreamError {
        http2::StreamError::Refused
    }

    fn break_off(&self) {
        Http2::break_off(self);
    }

    fn failed(&self, stream: u32, mut fault: http2::StreamError) -> io::Error {
        use http2::StreamError;
        let begun = self.has_begun(stream);
        if let (StreamError::Io(e), false) = (&mut fault, begun) {
            return std::mem::replace(e, io::ErrorKind::Other.into());
        }
        if matches!(
            fault,
            StreamError::Refused | StreamError::Reset { code: ErrorCode::HTTP_1_1_REQUIRED, .. }
        ) {
            self.leave();
        }
        io::Error::other(http2::NumberedError { stream, fault, begun })
    }
}

impl Stream for http2::Stream {
    type Error = http2::StreamError;

    fn number(&self) -> u32 {
        http2::Stream::number(self)
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, http2::StreamError>> {
        http2::Stream::poll_head(self, cx)
    }

    fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<Result<BodyStep, http2::StreamError>> {
        http2::Stream::poll_body(self, cx, buf)
    }

    fn any_received(&self) -> bool {
        http2::Stream::any_received(self)
    }

    fn is_over(&self) -> bool {
        http2::Stream::is_over(self)
    }

    fn take_trailers(&mut self) -> Option<Fields> {
        http2::Stream::take_trailers(self)
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), http2::StreamError>> {
        http2::Stream::poll_room(self, cx).map_ok(drop)
    }

    fn is_kept_by_window(&self) -> bool {
        http2::Stream::is_kept_by_window(self)
    }

    fn queue(&mut self, storage: &mut Vec<u8>, start: usize, end: usize) -> usize {
        http2::Stream::queue(self, storage, start, end)
    }

    fn end_with(&mut self, trailers: &Fields) {
        match trailers.is_empty() {
            true => self.end(),
            false => http2::Stream::end_with(self, trailers.iter().map(field)),
        }
    }

    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        http2::Stream::poll_sent(self, cx)
    }

    fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        http2::Stream::poll_left(self, cx)
    }

    fn take_promise(&mut self) -> Option<http2::Pushed> {
        http2::Stream::take_promise(self)
    }

    fn watch(&mut self, trace: http2::Trace) {
        http2::Stream::watch(self, trace);
    }

    fn prioritise(&mut self, priority: Priority) {
        http2::Stream::prioritise(self, priority);
    }

    fn update_priority(&mut self, value: &str) {
        http2::Stream::update_priority(self, value);
    }
}
