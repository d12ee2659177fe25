//! HTTP/1 on a byte stream (RFC 9112): what is queued leaves in as few writes as possible, so that the
//! head and a small body travel together; body bytes are decoded where they were received.

use std::io;
use std::task::{Context, Poll, ready};

use runtime::Direction;
use wire::http1::chunked::ChunkError;
use wire::http1::{ChunkedDecoder, LineBuffer, Part, TooLarge};

use super::{BodyError, BodyFraming, BodyStep, Exchange, Finished, Storage, UploadFraming};
use crate::{About, Connection};

/// A first read of this size takes a usual head and small body in one go, and leaves little to be
/// copied when a long body follows.
const HEAD_READ: usize = 8 * 1024;

/// One HTTP/1 exchange.
pub struct Http1 {
    conn: Box<Connection>,
    received: LineBuffer,
    /// What is to be sent, up to `end`, and room for more.
    out: Vec<u8>,
    end: usize,
    sent: usize,
    framing: BodyFraming,
    chunked: ChunkedDecoder,
    /// What is wrong with chunks that were handed out as they came.
    fault: Option<ChunkError>,
    /// More than the body was handed out with them.
    overrun: bool,
    any_received: bool,
    ended: bool,
}

impl Http1 {
    /// Begins an exchange on a connection, in storage of an earlier one.
    pub fn new(conn: Box<Connection>, storage: Storage) -> Http1 {
        Http1 {
            conn,
            received: LineBuffer::with_storage(storage.received),
            out: storage.out,
            end: 0,
            sent: 0,
            framing: BodyFraming::None,
            chunked: ChunkedDecoder::default(),
            fault: None,
            overrun: false,
            any_received: false,
            ended: false,
        }
    }

    /// Reads what there is, first what was left over from the head.
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.received.rest().is_empty() {
            return Poll::Ready(Ok(self.received.take_into(buf)));
        }
        let n = ready!(self.conn.filter.poll_read(cx, buf))?;
        self.any_received |= n > 0;
        Poll::Ready(Ok(n))
    }

    fn queue(&mut self, bytes: &[u8]) {
        self.out.truncate(self.end);
        self.out.extend_from_slice(bytes);
        self.end = self.out.len();
    }

    fn body_ends(&mut self) -> Poll<Result<BodyStep, BodyError>> {
        self.ended = true;
        Poll::Ready(Ok(BodyStep::End))
    }

    /// Whoever wants the chunks as they are gets all that comes with them, what is wrong or beyond the end, too; the fault
    /// is told afterwards. Decoding moves bytes: only where the body ends is of interest here.
    fn look_at_chunks(&mut self, bytes: &[u8]) {
        let mut seen = bytes.to_vec();
        let mut at = 0;
        while at < seen.len() && !self.chunked.done() {
            match self.chunked.decode(&mut seen[at..]) {
                Ok(got) => at += got.consumed,
                Err(fault) => {
                    self.fault = Some(fault);
                    return;
                }
            }
        }
        self.overrun = at < seen.len();
    }

    /// Bytes after the end of a body belong to nobody: they stay visible to `finish`.
    fn push_back(&mut self, excess: &[u8]) {
        self.received.extend(excess);
    }
}

impl Exchange for Http1 {
    fn queue_head(&mut self, head: &[u8]) {
        self.queue(head);
    }

    fn queue_body(&mut self, data: &[u8], framing: UploadFraming) {
        if data.is_empty() {
            return;
        }
        match framing {
            UploadFraming::Plain => self.queue(data),
            UploadFraming::Chunked => {
                self.queue(format!("{:x}\r\n", data.len()).as_bytes());
                self.queue(data);
                self.queue(b"\r\n");
            }
        }
    }

    fn body_room(&mut self, len: usize) -> &mut [u8] {
        let room = self.end..self.end + len;
        if self.out.len() < room.end {
            self.out.resize(room.end, 0);
        }
        &mut self.out[room]
    }

    fn body_filled(&mut self, len: usize) {
        self.end += len;
    }

    fn queue_end(&mut self, framing: UploadFraming, trailers: &[u8]) {
        if framing == UploadFraming::Chunked {
            self.queue(b"0\r\n");
            self.queue(trailers);
            self.queue(b"\r\n");
        }
    }

    fn queued(&self) -> usize {
        self.end - self.sent
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.end {
            self.sent += ready!(self.conn.filter.poll_write(cx, &self.out[self.sent..self.end]))?;
        }
        (self.sent, self.end) = (0, 0);
        self.conn.filter.poll_flush(cx)
    }

    fn status_line(&mut self, budget: usize) -> Result<Option<Part>, TooLarge> {
        self.received.line_part(budget)
    }

    fn field(&mut self, budget: usize) -> Result<Option<Part>, TooLarge> {
        self.received.field_part(budget)
    }

    fn poll_more(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<bool>> {
        let cap = scratch.len().min(HEAD_READ.max(self.conn.filter.direct_read()));
        let n = ready!(self.conn.filter.poll_read(cx, &mut scratch[..cap]))?;
        self.any_received |= n > 0;
        self.received.extend(&scratch[..n]);
        Poll::Ready(Ok(n > 0))
    }

    fn rest(&self) -> &[u8] {
        self.received.rest()
    }

    fn take_rest(&mut self, len: usize) {
        self.received.consume(len);
    }

    fn begin_body(&mut self, framing: BodyFraming) {
        self.framing = framing;
        self.chunked = ChunkedDecoder::default();
        self.ended = false;
    }

    fn left(&self) -> Option<u64> {
        match self.framing {
            BodyFraming::Length(left) => Some(left),
            _ => None,
        }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>> {
        match self.framing {
            BodyFraming::None | BodyFraming::Length(0) => self.body_ends(),
            BodyFraming::Length(left) => {
                let n = ready!(self.poll_read(cx, buf)).map_err(BodyError::Io)?;
                if n == 0 {
                    return Poll::Ready(Err(BodyError::Truncated(Some(left))));
                }
                let body = usize::try_from(left).unwrap_or(usize::MAX).min(n);
                self.push_back(&buf[body..n]);
                self.framing = BodyFraming::Length(left - body as u64);
                Poll::Ready(Ok(BodyStep::Bytes(body)))
            }
            BodyFraming::Chunked => loop {
                if self.chunked.done() {
                    return self.body_ends();
                }
                let n = ready!(self.poll_read(cx, buf)).map_err(BodyError::Io)?;
                if n == 0 {
                    return Poll::Ready(Err(BodyError::Truncated(None)));
                }
                let got = self.chunked.decode(&mut buf[..n]).map_err(BodyError::Chunk)?;
                // After the last chunk whatever follows is put back behind what is unread.
                if got.consumed < n {
                    let excess = buf[got.consumed..n].to_vec();
                    self.push_back(&excess);
                }
                if got.body > 0 {
                    return Poll::Ready(Ok(BodyStep::Bytes(got.body)));
                }
            },
            BodyFraming::ChunkedRaw => {
                if let Some(fault) = self.fault.take() {
                    return Poll::Ready(Err(BodyError::Chunk(fault)));
                }
                if self.chunked.done() {
                    return self.body_ends();
                }
                let n = ready!(self.poll_read(cx, buf)).map_err(BodyError::Io)?;
                if n == 0 {
                    return Poll::Ready(Err(BodyError::Truncated(None)));
                }
                self.look_at_chunks(&buf[..n]);
                Poll::Ready(Ok(BodyStep::Bytes(n)))
            }
            BodyFraming::UntilClose => {
                let n = ready!(self.poll_read(cx, buf)).map_err(BodyError::Io)?;
                if n == 0 { self.body_ends() } else { Poll::Ready(Ok(BodyStep::Bytes(n))) }
            }
        }
    }

    fn chunk_ends(&self) -> &[usize] {
        if self.framing == BodyFraming::Chunked { self.chunked.ends() } else { &[] }
    }

    fn trailers(&self) -> &[u8] {
        // Who gets the chunks as they are has had them.
        if self.framing == BodyFraming::ChunkedRaw { &[] } else { self.chunked.trailers() }
    }

    fn any_received(&self) -> bool {
        self.any_received
    }

    fn about(&self) -> &About {
        &self.conn.about
    }

    fn forget_read(&mut self) {
        self.conn.filter.socket().forget(Direction::Read);
    }

    fn finish(self: Box<Self>) -> Finished {
        let clean = self.queued() == 0
            && !self.overrun
            && self.received.rest().is_empty()
            && (self.ended || self.framing == BodyFraming::None || self.framing == BodyFraming::Length(0))
            && self.framing != BodyFraming::UntilClose;
        let storage = Storage { received: self.received.into_storage(), out: self.out };
        Finished { connection: Some(self.conn), clean, storage }
    }
}
