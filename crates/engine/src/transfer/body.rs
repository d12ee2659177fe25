//! Sources of body bytes, and curl's error texts for reading them.

use std::task::{Context, Poll};

use net::exchange::{BodyError, BodyStep, RecordedError};
use net::http2::{NumberedError, StreamError};
#[cfg(feature = "http3")]
use net::http3;
use tables::Code;
use wire::h2::ErrorCode;
use wire::http1::chunked::ChunkError;

use crate::easy::EasyState;
use crate::error::{Error, Result, Retry};

/// Counts input without progress for the application. A peer may send it endlessly, as fast as it is read, so
/// other transfers run in between.
#[derive(Default)]
pub struct Idling(u32);

impl Idling {
    /// So often in one turn.
    const TURN: u32 = 256;

    /// Counts a step; ready at once as long as the turn lasts.
    pub fn poll_step(&mut self, easy: &EasyState, cx: &Context<'_>) -> Poll<()> {
        self.0 += 1;
        if self.0 < Self::TURN {
            return Poll::Ready(());
        }
        self.0 = 0;
        easy.poll_next_turn(cx)
    }
}

/// A source of body bytes: an HTTP exchange, or a data connection.
pub trait BodySource {
    /// Reads body bytes into `buf`.
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>>;

    /// How many bytes are still to come, where that is known.
    fn left(&self) -> Option<u64> {
        None
    }

    /// Returns the ends of chunks in the bytes that were read last: the application gets the chunks one by
    /// one.
    fn chunk_ends(&self) -> &[usize] {
        &[]
    }

    /// Returns how many bytes were received, if that differs from the bytes delivered: the transfer counts
    /// them.
    fn converted(&self) -> Option<u64> {
        None
    }

    /// Continues work beside the body, such as an upload during the reply.
    fn poll_beside(&mut self, _cx: &mut Context<'_>) -> Result<()> {
        Ok(())
    }

    /// The transfer is paused: withdraws the read interest, and continues what must go on
    /// ([`Filter::forget_read`](net::Filter::forget_read)).
    fn forget_read(&mut self, cx: &mut Context<'_>);
}

/// Fails if a file is larger than CURLOPT_MAXFILESIZE allows.
pub fn check_size(limit: i64, size: Option<u64>) -> Result<()> {
    match limit > 0 && size.is_some_and(|size| size > limit as u64) {
        true => Err(Error::new(Code::FilesizeExceeded, "Maximum file size exceeded")),
        false => Ok(()),
    }
}

/// Bytes that one run may move, or make by decoding, before other transfers, and the application, get their
/// turn.
pub const FAIR_SHARE: usize = 4 * 1024 * 1024;

/// curl's words for a body of HTTP that could not be read.
#[cold]
fn body_failed(e: BodyError) -> Error {
    match e {
        BodyError::Io(e) => receive_failed(&e),
        BodyError::Truncated(left) => truncated(left),
        BodyError::Chunk(e) => chunks_failed(&e),
    }
}

/// A chunked coding that is broken.
#[cold]
pub fn chunks_failed(e: &ChunkError) -> Error {
    match e {
        ChunkError::TooLarge | ChunkError::TooManyTrailers => Error::new(Code::TooLarge, e.text()),
        e => Error::new(Code::RecvError, e.text()),
    }
}

/// A body that ended too early, by so much where that is known.
#[cold]
pub fn truncated(left: Option<u64>) -> Error {
    let text = match left {
        Some(left) => format!("end of response with {left} bytes missing"),
        None => "transfer closed with outstanding read data remaining".to_owned(),
    };
    Error::new(Code::PartialFile, text)
}

/// Returns the error for a connection that ended before the announced end.
#[cold]
pub fn closed_early(left: u64) -> Error {
    Error::new(Code::PartialFile, format!("transfer closed with {left} bytes remaining to read"))
}

/// A failed receive.
#[cold]
pub fn receive_failed(e: &std::io::Error) -> Error {
    if let Some(error) = stream_failed(e) {
        return error;
    }
    Error::os(Code::RecvError, failure("Recv", e), e)
}

/// A failed send.
#[cold]
pub fn send_failed(e: &std::io::Error) -> Error {
    if let Some(error) = stream_failed(e) {
        return error;
    }
    Error::os(Code::SendError, failure("Send", e), e)
}

/// Converts a stream's fault to curl's text and code.
fn stream_failed(e: &std::io::Error) -> Option<Error> {
    if let Some(RecordedError { code, text }) = e.get_ref()?.downcast_ref() {
        return Some(Error::new(Code::from_id(*code).unwrap_or(Code::RecvError), text.clone()));
    }
    #[cfg(feature = "http3")]
    if let Some(http3::NumberedError { stream, fault }) = e.get_ref()?.downcast_ref() {
        return Some(fault_of_http3(*stream, fault));
    }
    let NumberedError { stream, fault, begun } = e.get_ref()?.downcast_ref()?;
    let error = fault_of_stream(*stream, fault);
    Some(if *begun && error.retry() == Retry::Unknown { error.with_retry(Retry::Forbidden) } else { error })
}

fn fault_of_stream(stream: u32, fault: &StreamError) -> Error {
    match fault {
        StreamError::Refused => {
            let text = format!("HTTP/2 stream {stream} refused by server, try again on a new connection");
            Error::new(Code::SendError, text).with_retry(Retry::NewConnection)
        }
        StreamError::Reset { code: ErrorCode::HTTP_1_1_REQUIRED, .. } => {
            Error::new(Code::SendError, "HTTP/2 is refused, HTTP/1.1 is required").with_retry(Retry::Http1)
        }
        StreamError::NotExtended => {
            Error::new(Code::SendError, "the server has no WebSocket on HTTP/2").with_retry(Retry::Http1)
        }
        StreamError::Reset { code: ErrorCode::NO_ERROR, .. } => {
            Error::new(Code::Http2, format!("HTTP/2 stream {stream} was reset"))
        }
        StreamError::Reset { code, .. } => {
            let text = format!("HTTP/2 stream {stream} was not closed cleanly: {code} (err {})", code.0);
            Error::new(Code::Http2Stream, text)
        }
        // curl's HTTP/2 library reports floods with its own text.
        StreamError::Failed(failure) if failure.code == ErrorCode::ENHANCE_YOUR_CALM => {
            let text = format!("Flooding was detected in this HTTP/2 session: {}", failure.why);
            Error::new(Code::RecvError, text)
        }
        StreamError::Failed(failure) => {
            let text = format!("Error in the HTTP2 framing layer: {} ({})", failure.why, failure.code);
            Error::new(Code::Http2, text)
        }
        // curl has no more to say of it than the code's own words.
        StreamError::Closed => Error::from(Code::Http2),
        StreamError::Io(e) => Error::os(Code::RecvError, failure("Recv", e), e),
    }
}

#[cfg(feature = "http3")]
fn fault_of_http3(stream: u64, fault: &http3::StreamError) -> Error {
    use http3::StreamError;
    match fault {
        StreamError::Refused => {
            let text = format!("HTTP/3 stream {stream} refused by server, try again on a new connection");
            Error::new(Code::SendError, text).with_retry(Retry::NewConnection)
        }
        StreamError::Reset { code: wire::h3::ErrorCode::VERSION_FALLBACK, .. } => {
            Error::new(Code::SendError, "HTTP/3 is refused, HTTP/1.1 is required").with_retry(Retry::Http1)
        }
        StreamError::Reset { code, why, within_body } => {
            let text = match why {
                None => format!("HTTP/3 stream {stream} reset by server (error 0x{:x} {code})", code.0),
                Some(why) => format!("HTTP/3 stream {stream}: {why} ({code})"),
            };
            Error::new(if *within_body { Code::PartialFile } else { Code::Http3 }, text)
        }
        StreamError::Failed(failure) => {
            Error::new(Code::Http3, format!("HTTP/3 connection: {} ({})", failure.why, failure.code))
        }
        StreamError::Closed(why) => Error::new(Code::RecvError, format!("QUIC connection: {why}")),
        StreamError::Io(e) => Error::os(Code::RecvError, failure("Recv", e), e),
    }
}

/// Describes a failure. TLS errors describe the operation themselves.
fn failure(what: &str, e: &std::io::Error) -> String {
    let text = os_text(e);
    if net::tls::alerts::names_call(&text) { text } else { format!("{what} failure: {text}") }
}

/// The system's text without Rust's "(os error N)".
pub fn os_text(e: &std::io::Error) -> String {
    let text = e.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

impl BodySource for dyn net::exchange::Exchange + '_ {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        net::exchange::Exchange::poll_body(self, cx, buf).map_err(body_failed)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        net::exchange::Exchange::forget_read(self, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_above_the_limit_are_not_fetched() {
        let rows = [
            ("CURLOPT_MAXFILESIZE(3): no limit", 0, Some(u64::MAX), true),
            ("CURLOPT_MAXFILESIZE(3): just within", 10, Some(10), true),
            ("CURLOPT_MAXFILESIZE(3): one byte more", 10, Some(11), false),
            ("CURLOPT_MAXFILESIZE(3): of unknown size", 10, None, true),
        ];
        for (name, limit, size, wanted) in rows {
            assert_eq!(check_size(limit, size).is_ok(), wanted, "{name}");
        }
    }
}
