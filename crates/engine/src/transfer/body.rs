//! Moves body bytes from a connection to the application inside one poll: one receive
//! buffer is lent to the framing and then to the writer, so that the usual path copies nothing.

use std::future::{Future, poll_fn};
use std::hint::cold_path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use net::exchange::{BodyError, BodyStep};
use net::http2::{Fault, StreamFault};
use net::http3;
use runtime::Sleep;
use tables::{Code, EasyOption as O};
use wire::h2::ErrorCode;

use super::Transfer;
use crate::easy::EasyState;
use crate::error::{Error, Result, Retry};
use crate::scratch::{LARGE, SMALL, with_scratch};

/// Counts what moves nothing towards the application: a peer may send that without end, as fast as it is read, and others
/// have their turn in between.
#[derive(Default)]
pub struct Idling(u32);

impl Idling {
    /// So often in one turn.
    const TURN: u32 = 256;

    /// One step more; ready at once as long as the turn lasts.
    pub fn poll_step(&mut self, easy: &EasyState, cx: &Context<'_>) -> Poll<()> {
        self.0 += 1;
        if self.0 < Self::TURN {
            return Poll::Ready(());
        }
        self.0 = 0;
        easy.poll_next_turn(cx)
    }
}

/// Where body bytes come from: an HTTP exchange, or a data connection.
pub trait BodySource {
    /// Reads body bytes into `buf`.
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>>;

    /// How many bytes are still to come, where that is known.
    fn left(&self) -> Option<u64> {
        None
    }

    /// Where chunks end in the bytes read last: the application gets them one by one.
    fn chunk_ends(&self) -> &[usize] {
        &[]
    }

    /// How many bytes have come in all, where what is handed on is not as long as what came: the transfer counts these.
    fn converted(&self) -> Option<u64> {
        None
    }

    /// Whatever else must go on meanwhile, such as an upload that the reply has overtaken.
    fn poll_beside(&mut self, _cx: &mut Context<'_>) -> Result<()> {
        Ok(())
    }

    /// The transfer is paused: no interest in reading shall be reported, and what must go on all the same does
    /// ([`Filter::forget_read`](net::Filter::forget_read)).
    fn forget_read(&mut self, cx: &mut Context<'_>);
}

/// Bytes that one run may move, or make by decoding, before other transfers, and the application, get their turn.
pub const FAIR_SHARE: usize = 4 * 1024 * 1024;

impl Transfer {
    /// Receives a body to its end. `expected` is its length where that is known.
    pub async fn pump_body(&mut self, source: &mut dyn BodySource) -> Result<()> {
        let mut pause: Option<Sleep> = None;
        poll_fn(|cx| self.poll_pump(cx, source, &mut pause)).await?;
        self.writer.body_end()
    }

    fn poll_pump(
        &mut self,
        cx: &mut Context<'_>,
        source: &mut dyn BodySource,
        pause: &mut Option<Sleep>,
    ) -> Poll<Result<()>> {
        let mut moved = 0;
        loop {
            source.poll_beside(cx)?;
            if self.writer.poll_ready(cx)?.is_pending() {
                cold_path();
                source.forget_read(cx);
                return Poll::Pending;
            }
            if self.receive_rate.adopt(self.long(O::MaxRecvSpeedLarge)) {
                *pause = None;
            }
            if let Some(timer) = pause {
                cold_path();
                if Pin::new(timer).poll(cx).is_pending() {
                    source.forget_read(cx);
                    return Poll::Pending;
                }
                *pause = None;
            }
            if moved > FAIR_SHARE {
                cold_path();
                self.multi.runtime.wake_later(cx.waker().clone());
                return Poll::Pending;
            }
            let short = source.left().is_some_and(|left| left < SMALL as u64);
            let step = with_scratch(if short { SMALL } else { LARGE }, |buf| {
                let room = self.receive_rate.piece(buf.len());
                let before = source.converted();
                let step = ready!(source.poll_body(cx, &mut buf[..room]));
                let came = source.converted().zip(before).map(|(after, before)| (after - before) as usize);
                match step {
                    Ok(BodyStep::Bytes(n)) => {
                        self.note_first_byte();
                        let before = self.easy.info.borrow().delivered;
                        let taken = self.take(&buf[..n], source.chunk_ends());
                        // What nobody took has not been downloaded, as in curl; nor has what could not be decoded.
                        let count = match &taken {
                            Ok(()) => came.unwrap_or(n),
                            Err(_) if self.writer.decodes() => 0,
                            Err(_) => (self.easy.info.borrow().delivered - before) as usize,
                        };
                        self.easy.info.borrow_mut().downloaded += count as i64;
                        Poll::Ready(taken.map(|()| Some(n)))
                    }
                    Ok(BodyStep::End) => {
                        self.note_first_byte();
                        came.filter(|came| *came > 0).into_iter().for_each(|came| self.received(came));
                        Poll::Ready(Ok(None))
                    }
                    Err(e) => Poll::Ready(Err(self.perhaps_partial(e))),
                }
            });
            match ready!(step)? {
                Some(n) => {
                    moved += n;
                    if self.receive_rate.limited()
                        && let Some(at) = self.receive_rate.moved(n, self.now())
                    {
                        *pause = Some(self.multi.runtime.reactor().sleep_until(at));
                    }
                }
                // The end may have come while the application is paused: what is held goes first.
                None => return self.writer.poll_ready(cx),
            }
        }
    }
}

impl Transfer {
    /// Of a stream that has brought something, what is lost is a part.
    #[cold]
    fn perhaps_partial(&self, error: Error) -> Error {
        let partial = error.code() == Code::Http2 && self.easy.info.borrow().downloaded > 0;
        if partial { error.with_code(Code::PartialFile) } else { error }
    }

    /// Hands a piece of the body to the application, in the pieces in which it came.
    fn take(&mut self, bytes: &[u8], chunk_ends: &[usize]) -> Result<()> {
        let mut at = 0;
        for &end in chunk_ends.iter().filter(|end| **end < bytes.len()) {
            self.writer.body(&bytes[at..end])?;
            at = end;
        }
        self.writer.body(&bytes[at..])
    }

    /// Counts what has come.
    pub fn received(&self, bytes: usize) {
        self.note_first_byte();
        self.easy.info.borrow_mut().downloaded += bytes as i64;
    }

    /// Notes the first byte of an answer, or its end where it has none. Later ones change nothing.
    pub fn note_first_byte(&self) {
        let mut info = self.easy.info.borrow_mut();
        if info.start_transfer.is_zero() {
            cold_path();
            let elapsed = info.since_start(self.now());
            info.first_byte(elapsed);
        }
    }
}

/// curl's words for a body of HTTP that could not be read.
#[cold]
fn body_failed(e: BodyError) -> Error {
    match e {
        BodyError::Io(e) => receive_failed(&e),
        BodyError::Truncated(left) => truncated(left),
        BodyError::Chunk(e) => Error::new(Code::RecvError, e.text()),
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

/// A connection that ended before all of a whole had come.
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

/// What happened to a stream, in curl's words and codes.
fn stream_failed(e: &std::io::Error) -> Option<Error> {
    if let Some(http3::StreamFault { stream, fault }) = e.get_ref()?.downcast_ref() {
        return Some(fault_of_http3(*stream, fault));
    }
    let StreamFault { stream, fault, begun } = e.get_ref()?.downcast_ref()?;
    let error = fault_of_stream(*stream, fault);
    Some(if *begun && error.retry() == Retry::Unknown { error.with_retry(Retry::Forbidden) } else { error })
}

fn fault_of_stream(stream: u32, fault: &Fault) -> Error {
    match fault {
        Fault::Refused => {
            let text = format!("HTTP/2 stream {stream} refused by server, try again on a new connection");
            Error::new(Code::SendError, text).with_retry(Retry::NewConnection)
        }
        Fault::Reset { code: ErrorCode::HTTP_1_1_REQUIRED, .. } => {
            Error::new(Code::SendError, "HTTP/2 is refused, HTTP/1.1 is required").with_retry(Retry::Http1)
        }
        Fault::NotExtended => {
            Error::new(Code::SendError, "the server has no WebSocket on HTTP/2").with_retry(Retry::Http1)
        }
        Fault::Reset { code: ErrorCode::NO_ERROR, .. } => {
            Error::new(Code::Http2, format!("HTTP/2 stream {stream} was reset"))
        }
        Fault::Reset { code, .. } => {
            let text = format!("HTTP/2 stream {stream} was not closed cleanly: {code} (err {})", code.0);
            Error::new(Code::Http2Stream, text)
        }
        // More than is borne of a peer is what curl's library for frames ends by itself.
        Fault::Failed(failure) if failure.code == ErrorCode::ENHANCE_YOUR_CALM => {
            let text = format!("Flooding was detected in this HTTP/2 session: {}", failure.why);
            Error::new(Code::RecvError, text)
        }
        Fault::Failed(failure) => {
            let text = format!("Error in the HTTP2 framing layer: {} ({})", failure.why, failure.code);
            Error::new(Code::Http2, text)
        }
        // curl has no more to say of it than the code's own words.
        Fault::Closed => Error::from(Code::Http2),
        Fault::Io(e) => Error::os(Code::RecvError, failure("Recv", e), e),
    }
}

fn fault_of_http3(stream: u64, fault: &http3::Fault) -> Error {
    use http3::Fault;
    match fault {
        Fault::Refused => {
            let text = format!("HTTP/3 stream {stream} refused by server, try again on a new connection");
            Error::new(Code::SendError, text).with_retry(Retry::NewConnection)
        }
        Fault::Reset { code: wire::h3::ErrorCode::VERSION_FALLBACK, .. } => {
            Error::new(Code::SendError, "HTTP/3 is refused, HTTP/1.1 is required").with_retry(Retry::Http1)
        }
        Fault::Reset { code, why, within_body } => {
            let text = match why {
                None => format!("HTTP/3 stream {stream} reset by server (error 0x{:x} {code})", code.0),
                Some(why) => format!("HTTP/3 stream {stream}: {why} ({code})"),
            };
            Error::new(if *within_body { Code::PartialFile } else { Code::Http3 }, text)
        }
        Fault::Failed(failure) => {
            Error::new(Code::Http3, format!("HTTP/3 connection: {} ({})", failure.why, failure.code))
        }
        Fault::Closed(why) => Error::new(Code::RecvError, format!("QUIC connection: {why}")),
        Fault::Io(e) => Error::os(Code::RecvError, failure("Recv", e), e),
    }
}

/// TLS says by itself what was tried.
fn failure(what: &str, e: &std::io::Error) -> String {
    let text = os_text(e);
    if text.starts_with("OpenSSL ") { text } else { format!("{what} failure: {text}") }
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
