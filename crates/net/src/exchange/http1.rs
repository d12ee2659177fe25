//! HTTP/1 on a byte stream (RFC 9112). Queued data is sent in as few writes as possible, so that the head and
//! a small body travel together; body bytes are decoded in the receive buffer.

use std::hint::cold_path;
use std::io;
use std::task::{Context, Poll, ready};

use runtime::SendLimits;
use wire::http1::chunked::ChunkError;
use wire::http1::status::Opening;
use wire::http1::{
    ChunkedDecoder, HeaderLine, LineBuffer, Part, StatusLine, TooLarge, check_octets, ends_head,
};

use super::framing::{BodyFraming, HeadFraming, status, unfold};
use super::{
    Body, BodyError, BodyStep, BufferPool, Exchange, Finished, HeadError, HeadItem, HeadPart, ReplyRules,
    RequestBody, RequestHead,
};
use crate::{About, Connection};

/// Size of the first read: it holds a usual head and small body, and leaves little to copy if a long body
/// follows.
const HEAD_READ: usize = 8 * 1024;

/// Room for the size in front of a chunk.
const CHUNK_SIZE: usize = 2 * size_of::<usize>() + 2;
/// Reads that bring no byte of a chunked body before other transfers get their turn.
const EMPTY_READS: usize = 4;

/// An HTTP/1 exchange.
pub struct Http1 {
    conn: Box<Connection>,
    /// The store of unused buffers.
    buffers: BufferPool,
    received: LineBuffer,
    /// Data to send, up to `end`, and room for more.
    out: Vec<u8>,
    end: usize,
    sent: usize,
    upload: RequestBody,
    /// The part of a head that was found last.
    found: Part,
    /// Whether the next part starts a head.
    first: bool,
    /// The part that was read last ended one.
    head_ended: bool,
    /// A line assembled from several received ones.
    joined: Vec<u8>,
    declared: HeadFraming,
    /// Number of bytes of the trailers that have been returned.
    trailers_returned: usize,
    framing: BodyFraming,
    /// Made for a body that comes in chunks.
    chunked: Option<Box<ChunkedDecoder>>,
    /// The fault of chunks that were passed on raw.
    fault: Option<ChunkError>,
    /// More than the body was handed out with them.
    overrun: bool,
    any_received: bool,
    ended: bool,
}

impl Http1 {
    /// Starts an exchange on a connection, in buffers of earlier ones.
    pub fn new(conn: Box<Connection>, buffers: &BufferPool) -> Http1 {
        Http1 {
            conn,
            buffers: buffers.clone(),
            received: LineBuffer::default(),
            out: Vec::new(),
            end: 0,
            sent: 0,
            upload: RequestBody::None,
            found: Part { len: 0, plain: true },
            first: true,
            head_ended: false,
            joined: Vec::new(),
            declared: HeadFraming::default(),
            trailers_returned: 0,
            framing: BodyFraming::None,
            chunked: None,
            fault: None,
            overrun: false,
            any_received: false,
            ended: false,
        }
    }

    /// Reads available data, starting with what was received after the head.
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.received.rest().is_empty() {
            return Poll::Ready(Ok(self.received.take_into(buf)));
        }
        if !self.received.has_no_storage() {
            self.buffers.keep(std::mem::take(&mut self.received).into_storage());
        }
        let n = ready!(self.conn.filter().poll_read(cx, buf))?;
        self.any_received |= n > 0;
        Poll::Ready(Ok(n))
    }

    fn queue(&mut self, bytes: &[u8]) {
        self.make_room();
        self.out.truncate(self.end);
        self.out.extend_from_slice(bytes);
        self.end = self.out.len();
    }

    /// Gets a buffer for output; it was released when everything had been sent.
    fn make_room(&mut self) {
        if self.out.capacity() == 0 {
            self.out = self.buffers.take();
        }
    }

    fn has_last_chunk(&self) -> bool {
        self.chunked.as_ref().is_some_and(|chunked| chunked.done())
    }

    fn body_ends(&mut self) -> Poll<Result<BodyStep, BodyError>> {
        self.ended = true;
        Poll::Ready(Ok(BodyStep::End))
    }

    /// Reads until there are bytes of the body, or until it ends. Reads that bring none, because an extension
    /// does not end, are bounded, so that other transfers get their turn.
    fn poll_chunks(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>> {
        for _ in 0..EMPTY_READS {
            if self.has_last_chunk() {
                return self.body_ends();
            }
            let n = ready!(self.poll_read(cx, buf)).map_err(BodyError::Io)?;
            if n == 0 {
                return Poll::Ready(Err(BodyError::Truncated(None)));
            }
            let got = self.chunked.get_or_insert_default().decode(&mut buf[..n]).map_err(BodyError::Chunk)?;
            if !self.has_last_chunk() {
                self.conn.filter().socket().settle();
            }
            // Bytes after the last chunk are put back before the unread ones.
            if got.consumed < n {
                let excess = buf[got.consumed..n].to_vec();
                self.push_back(&excess);
            }
            if got.body > 0 {
                return Poll::Ready(Ok(BodyStep::Bytes(got.body)));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Checks raw chunks that the application receives unmodified, including faults and bytes beyond the end;
    /// the fault is reported afterwards. Decoding would move bytes: only the end of the body is needed here.
    fn look_at_chunks(&mut self, bytes: &[u8]) {
        let chunked = self.chunked.get_or_insert_default();
        let mut seen = bytes.to_vec();
        let mut at = 0;
        while at < seen.len() && !chunked.done() {
            match chunked.decode(&mut seen[at..]) {
                Ok(got) => at += got.consumed,
                Err(fault) => {
                    self.fault = Some(fault);
                    return;
                }
            }
        }
        self.overrun = at < seen.len();
    }

    /// Puts back bytes after the end of a body, where `finish` finds them.
    fn push_back(&mut self, excess: &[u8]) {
        self.received.extend(excess);
    }
}

impl Exchange for Http1 {
    fn begin(&mut self, request: &RequestHead, reading: ReplyRules) {
        self.queue(request.text());
        (self.upload, self.declared.reading) = (request.body, reading);
    }

    fn body_room(&mut self, len: usize) -> &mut [u8] {
        let from = self.end + if self.upload == RequestBody::Chunked { CHUNK_SIZE } else { 0 };
        let needed = from + len + b"\r\n".len();
        self.make_room();
        if self.out.len() < needed {
            self.out.resize(needed, 0);
        }
        &mut self.out[from..from + len]
    }

    fn body_filled(&mut self, len: usize) {
        if self.upload == RequestBody::Chunked && len > 0 {
            let size = format!("{len:x}\r\n");
            let (from, to) = (self.end + CHUNK_SIZE, self.end + size.len());
            self.out[self.end..to].copy_from_slice(size.as_bytes());
            self.out.copy_within(from..from + len, to);
            self.out[to + len..to + len + 2].copy_from_slice(b"\r\n");
            self.end = to + 2;
        }
        self.end += len;
    }

    fn end_body(&mut self, trailers: &[&[u8]]) {
        if std::mem::take(&mut self.upload) != RequestBody::Chunked {
            return;
        }
        self.queue(b"0\r\n");
        for line in trailers {
            self.queue(line);
            self.queue(b"\r\n");
        }
        self.queue(b"\r\n");
    }

    fn queued(&self) -> usize {
        self.end - self.sent
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.end {
            self.sent += ready!(self.conn.filter().poll_write(cx, &self.out[self.sent..self.end]))?;
        }
        (self.sent, self.end) = (0, 0);
        if self.upload == RequestBody::None {
            self.buffers.keep(std::mem::take(&mut self.out));
        }
        self.conn.filter().poll_flush(cx)
    }

    fn opening(&self) -> Opening {
        self.declared.reading.dialect.opening(self.received.rest())
    }

    fn rest(&self) -> &[u8] {
        self.received.rest()
    }

    fn skip(&mut self, len: usize) {
        self.received.consume(len);
    }

    fn unread(&mut self, bytes: &[u8]) {
        self.push_back(bytes);
    }

    fn find_part(&mut self, budget: usize) -> Result<Option<usize>, TooLarge> {
        let found = match self.first {
            true => self.received.line_part(budget)?,
            false => self.received.field_part(budget)?,
        };
        let Some(part) = found else { return Ok(None) };
        self.found = part;
        Ok(Some(part.len))
    }

    fn part(&mut self) -> HeadPart<'_> {
        let bytes = &self.received.rest()[..self.found.len];
        let status = self.first.then(|| status(bytes, self.declared.reading.dialect));
        let (mut line, mut octets) = (bytes, Ok(()));
        // A line that starts with a line ending ends the head, whatever follows, as in curl.
        if !self.found.plain && !ends_head(bytes) {
            cold_path();
            octets = unfold(bytes, &mut self.joined);
            line = &self.joined;
        }
        self.head_ended = false;
        let item = match (status, octets) {
            (Some(Err(fault)), _) => Err(fault),
            (status, Err(bad)) => Err(HeadError::Octet(bad, status.and_then(Result::ok))),
            (Some(Ok(status)), _) => {
                self.declared.begin(status);
                Ok(HeadItem::Status(status))
            }
            (None, _) if ends_head(line) => {
                self.head_ended = true;
                self.declared.end();
                Ok(HeadItem::End)
            }
            // A continuation of the status line is a field like any other, as in curl.
            (None, _) => match HeaderLine::parse(line.trim_ascii_start()) {
                Some(field) => self.declared.field(&field).map(|()| HeadItem::Field(field)),
                None => Err(HeadError::NoColon),
            },
        };
        let asked = match &item {
            Ok(HeadItem::Field(field)) => field.name.len() == "content-length".len(),
            Ok(HeadItem::End) => true,
            _ => false,
        };
        HeadPart { line, item, body: asked.then(|| self.declared.body()) }
    }

    fn take_part(&mut self) {
        self.received.consume(self.found.len);
        self.first = self.head_ended;
    }

    fn believe(&mut self, status: StatusLine) {
        self.declared.begin(status);
    }

    fn cut_off(&mut self) -> bool {
        self.declared.cut_off();
        // Some servers omit the empty line of a response without a body: the complete lines received are the
        // head.
        let rest = self.received.rest();
        let whole = rest.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        self.received.truncate_rest(whole);
        self.found = Part { len: whole, plain: false };
        whole > 0
    }

    fn poll_more(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<bool>> {
        let cap = scratch.len().min(HEAD_READ.max(self.conn.filter().direct_read()));
        let n = ready!(self.conn.filter().poll_read(cx, &mut scratch[..cap]))?;
        self.any_received |= n > 0;
        if self.received.has_no_storage() {
            self.received = LineBuffer::with_storage(self.buffers.take());
        }
        self.received.extend(&scratch[..n]);
        Poll::Ready(Ok(n > 0))
    }

    fn body(&self) -> Body {
        self.declared.body()
    }

    fn codings(&self) -> &[u8] {
        self.declared.codings()
    }

    fn begin_body(&mut self) {
        self.framing = self.declared.framing();
        self.chunked = None;
        (self.ended, self.trailers_returned) = (false, 0);
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
                if (body as u64) < left {
                    self.conn.filter().socket().settle();
                }
                if body < n {
                    self.push_back(&buf[body..n]);
                }
                self.framing = BodyFraming::Length(left - body as u64);
                Poll::Ready(Ok(BodyStep::Bytes(body)))
            }
            BodyFraming::Chunked => self.poll_chunks(cx, buf),
            BodyFraming::ChunkedRaw => {
                if let Some(fault) = self.fault.take() {
                    return Poll::Ready(Err(BodyError::Chunk(fault)));
                }
                if self.has_last_chunk() {
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
        let chunked = self.chunked.as_deref().filter(|_| self.framing == BodyFraming::Chunked);
        chunked.map_or(&[], ChunkedDecoder::ends)
    }

    fn trailer(&mut self) -> Option<HeadPart<'_>> {
        // A reader of raw chunks has received them already.
        let chunked = self.chunked.as_deref().filter(|_| self.framing != BodyFraming::ChunkedRaw);
        let all = chunked.map_or(&[][..], ChunkedDecoder::trailers);
        let line = all[self.trailers_returned..].split_inclusive(|b| *b == b'\n').next()?;
        self.trailers_returned += line.len();
        let field = HeaderLine::parse(line).map(HeadItem::Field).ok_or(HeadError::NoColon);
        let item = check_octets(line).map_err(|bad| HeadError::Octet(bad, None)).and(field);
        self.joined.clear();
        self.joined.extend_from_slice(line.trim_ascii_end());
        self.joined.extend_from_slice(b"\r\n");
        Some(HeadPart { line: &self.joined, item, body: None })
    }

    fn any_received(&self) -> bool {
        self.any_received
    }

    fn about(&self) -> &About {
        &self.conn.about
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.conn.filter().forget_read(cx);
    }

    fn send_limits(&self) -> Option<SendLimits> {
        self.conn.carrier.socket().send_limits()
    }

    fn finish(self: Box<Self>) -> Finished {
        let clean = self.queued() == 0
            && !self.overrun
            && self.received.rest().is_empty()
            && (self.ended || self.framing == BodyFraming::None || self.framing == BodyFraming::Length(0))
            && self.framing != BodyFraming::UntilClose;
        self.buffers.keep(self.received.into_storage());
        self.buffers.keep(self.out);
        Finished { connection: Some(self.conn), clean }
    }
}
