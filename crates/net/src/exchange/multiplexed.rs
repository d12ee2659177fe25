//! HTTP on a stream (RFC 9113 §8, RFC 9114 §4): a head is sent as fields, a response's heads arrive as
//! fields, each with the line that is shown to an application.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use runtime::SendLimits;
use wire::h2::{Fields, Priority};
use wire::http1::framing::{Length, content_length};
use wire::http1::status::Opening;
use wire::http1::{HeaderLine, StatusLine, TooLarge};

use super::fields::{request_fields, trailer_fields};
use super::head::Head;
use super::reservation::Reservation;
use super::streams::{Opens, Stream, Streams};
use super::{
    Body, BodyError, BodyStep, BufferPool, Exchange, Finished, HeadItem, HeadPart, ReplyRules, RequestBody,
    RequestHead,
};
use crate::About;
use crate::http2::{Pushed, Trace};

/// Maximum length of an unwanted body that is awaited.
const DRAINED: u64 = 1024 * 1024;

/// An exchange on its own stream.
pub struct Multiplexed<S: Streams> {
    about: Rc<About>,
    buffers: BufferPool,
    place: Reservation<S>,
    stream: Option<S::Stream>,
    /// The request's head, for the stream to be opened with.
    request: Fields,
    /// It is a CONNECT with `:protocol`, which not every peer takes.
    extended: bool,
    /// Whether nothing follows the head, or the queued data.
    ends: bool,
    priority: Option<Priority>,
    /// The tracer of frames, until the stream is open.
    trace: Option<Trace>,
    reading: ReplyRules,
    /// Body bytes up to `end` that the stream had no room for yet, and room for more.
    out: Vec<u8>,
    end: usize,
    sent: usize,
    /// The trailers with which the body's end has to be sent.
    closing: Option<Fields>,
    /// The head that is being handed out, and its next part: status, fields, end.
    head: Option<Head>,
    at: usize,
    last_head: LastHead,
    /// A part as an application is shown it.
    line: Vec<u8>,
    trailers: Option<Fields>,
    trailer: usize,
    left: Option<u64>,
    ended: bool,
    window: WindowWaits,
}

/// The time for which the peer's windows kept an upload from going on.
#[derive(Default)]
struct WindowWaits {
    sum: Duration,
    since: Option<Instant>,
}

/// The contents of the last head.
#[derive(Default)]
struct LastHead {
    bodyless: bool,
    /// Whether nothing follows it.
    end: bool,
    length: Option<u64>,
}

impl<S: Streams> Multiplexed<S> {
    /// Starts an exchange on a reserved stream, in buffers of earlier ones; or on an open one, if its request
    /// was sent in another way.
    pub fn new(
        place: Reservation<S>,
        stream: Option<S::Stream>,
        about: Rc<About>,
        buffers: &BufferPool,
    ) -> Multiplexed<S> {
        Multiplexed {
            about,
            place,
            stream,
            request: Fields::default(),
            extended: false,
            ends: false,
            priority: None,
            trace: None,
            reading: ReplyRules::default(),
            out: buffers.take(),
            end: 0,
            sent: 0,
            closing: None,
            head: None,
            at: 0,
            last_head: LastHead::default(),
            line: buffers.take(),
            buffers: buffers.clone(),
            trailers: None,
            trailer: 0,
            left: None,
            ended: false,
            window: WindowWaits::default(),
        }
    }

    /// Opens the stream, if it may be opened now.
    fn open(&mut self) {
        let opens = Opens {
            ends: self.ends,
            head_only: self.reading.head_only,
            priority: self.priority,
            rate: self.reading.rate,
        };
        self.stream = self.place.open(&self.request, opens);
        self.begin_watch();
    }

    fn begin_watch(&mut self) {
        if let Some(stream) = &mut self.stream
            && let Some(trace) = self.trace.take()
        {
            stream.watch(trace);
        }
    }

    /// The stream, once it is open.
    fn poll_stream(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&mut S::Stream>> {
        while self.stream.is_none() {
            if self.extended {
                ready!(self.place.poll_extended(cx))?;
            }
            ready!(self.place.poll_vacancy(cx))?;
            self.open();
        }
        Poll::Ready(self.stream.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }

    fn failed(&self, fault: <S::Stream as Stream>::Error) -> io::Error {
        self.place.failed(self.stream().unwrap_or_default(), fault)
    }

    fn note_field(&mut self, index: usize) {
        let Some((name, value)) = self.head.as_ref().and_then(|head| head.fields.at(index)) else { return };
        if name == b"content-length" && !self.last_head.bodyless && !self.reading.ignore_length {
            self.last_head.length = match content_length(value) {
                Ok(Length::Bytes(length)) => Some(length),
                _ => None,
            };
        }
    }

    /// Sends what is queued, as far as the stream takes it.
    fn flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_stream(cx))?;
        while self.sent < self.end {
            let Some(stream) = self.stream.as_mut().filter(|stream| !stream.is_over()) else { break };
            match ready!(stream.poll_room(cx)) {
                Ok(()) => self.sent += stream.queue(&mut self.out, self.sent, self.end),
                Err(fault) => return Poll::Ready(Err(self.failed(fault))),
            }
        }
        (self.sent, self.end) = (0, 0);
        if let (Some(fields), Some(stream)) = (self.closing.take(), &mut self.stream) {
            stream.end_with(&fields);
            self.ends = true;
        }
        match &mut self.stream {
            // Data that is only queued would be lost with the stream.
            Some(stream) if self.ends => stream.poll_sent(cx).map(Ok),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Counts the time from a flush that the peer's windows stopped to the next one that they do not.
    #[cold]
    fn note_window(&mut self, waits: bool) {
        let kept = waits && self.stream.as_ref().is_some_and(Stream::is_kept_by_window);
        match self.window.since {
            None if kept => self.window.since = Some(Instant::now()),
            Some(since) if !kept => {
                self.window.sum += since.elapsed();
                self.window.since = None;
            }
            _ => {}
        }
    }

    fn body_facts(&self) -> Body {
        let LastHead { bodyless, end, length } = self.last_head;
        Body {
            exists: !self.reading.head_only && !bodyless,
            length,
            worth_draining: end || length.is_some_and(|length| length <= DRAINED),
            keep_alive: true,
            ..Body::default()
        }
    }
}

/// A field as a line.
fn write_line(line: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    line.clear();
    for part in [name, b": ", value, b"\r\n"] {
        line.extend_from_slice(part);
    }
}

/// Splits a line into its field.
fn field_of(line: &[u8], name: usize) -> HeadItem<'_> {
    HeadItem::Field(HeaderLine { name: &line[..name], value: &line[name + 2..line.len() - 2] })
}

impl<S: Streams> Exchange for Multiplexed<S> {
    fn begin(&mut self, request: &RequestHead, reading: ReplyRules) {
        self.reading = reading;
        if self.stream.is_some() {
            self.ends = true;
            self.begin_watch();
            return;
        }
        self.request = request_fields(request);
        self.ends = request.body == RequestBody::None;
        self.extended = request.protocol.is_some();
        if !self.extended {
            self.open();
        }
    }

    fn weigh(&mut self, weight: u16) {
        let priority = Priority { depends_on: 0, exclusive: false, weight };
        self.priority = Some(priority);
        if let Some(stream) = &mut self.stream {
            stream.prioritise(priority);
        }
    }

    fn update_priority(&mut self, value: &str) {
        if let Some(stream) = &mut self.stream {
            stream.update_priority(value);
        }
    }

    fn watch(&mut self, trace: Trace) {
        self.trace = Some(trace);
    }

    fn stream(&self) -> Option<u32> {
        self.stream.as_ref().map(S::Stream::number)
    }

    fn take_promise(&mut self) -> Option<Pushed> {
        self.stream.as_mut()?.take_promise()
    }

    fn break_off(&mut self) {
        self.place.session().break_off();
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

    fn end_body(&mut self, trailers: &[&[u8]]) {
        self.closing = Some(trailer_fields(trailers)).filter(|_| !self.ends);
    }

    fn queued(&self) -> usize {
        self.end - self.sent
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.flush(cx);
        if flushed.is_pending() || self.window.since.is_some() {
            self.note_window(flushed.is_pending());
        }
        flushed
    }

    fn send_limits(&self) -> Option<SendLimits> {
        Some(SendLimits { window: self.window.sum, buffer: Duration::ZERO })
    }

    fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.stream {
            _ if self.sent < self.end => Poll::Pending, // a flush is under way
            Some(stream) => stream.poll_left(cx),
            None => Poll::Ready(()),
        }
    }

    fn opening(&self) -> Opening {
        if self.head.is_some() { Opening::Http } else { Opening::Undecided }
    }

    fn rest(&self) -> &[u8] {
        &[]
    }

    fn find_part(&mut self, budget: usize) -> Result<Option<usize>, TooLarge> {
        let Some(head) = &self.head else { return Ok(None) };
        self.line.clear();
        match self.at {
            0 => {
                let digits = [100, 10, 1].map(|place| b'0' + (head.status / place % 10) as u8);
                for part in [b"HTTP/", &[b'0' + S::VERSION / 10][..], b" ", &digits, b" \r\n"] {
                    self.line.extend_from_slice(part);
                }
            }
            at => match head.fields.at(at - 1) {
                Some((name, value)) => write_line(&mut self.line, name, value),
                None => self.line.extend_from_slice(b"\r\n"),
            },
        }
        if self.line.len() > budget { Err(TooLarge) } else { Ok(Some(self.line.len())) }
    }

    fn part(&mut self) -> HeadPart<'_> {
        let status = self.head.as_ref().map_or(0, |head| head.status);
        let status = StatusLine { version: S::VERSION, code: status };
        let (count, end) = self.head.as_ref().map_or((0, false), |head| (head.fields.len(), head.end));
        let mut name = 0;
        match self.at {
            0 => self.last_head = LastHead { bodyless: status.is_bodyless(), end, length: None },
            at => {
                self.note_field(at - 1);
                name = self
                    .head
                    .as_ref()
                    .and_then(|head| head.fields.at(at - 1))
                    .map_or(0, |(name, _)| name.len());
            }
        }
        let body = self.body_facts();
        let item = match self.at {
            0 => HeadItem::Status(status),
            at if at <= count => field_of(&self.line, name),
            _ => HeadItem::End,
        };
        HeadPart { line: &self.line, item: Ok(item), body: Some(body) }
    }

    fn take_part(&mut self) {
        self.at += 1;
        if self.head.as_ref().is_some_and(|head| self.at > head.fields.len() + 1) {
            (self.head, self.at) = (None, 0);
        }
    }

    fn believe(&mut self, _: StatusLine) {}

    fn cut_off(&mut self) -> bool {
        false
    }

    fn poll_more(&mut self, cx: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<bool>> {
        match ready!(ready!(self.poll_stream(cx))?.poll_head(cx)) {
            Ok(head) => {
                self.head = Some(head);
                Poll::Ready(Ok(true))
            }
            Err(fault) => Poll::Ready(Err(self.failed(fault))),
        }
    }

    fn body(&self) -> Body {
        self.body_facts()
    }

    fn codings(&self) -> &[u8] {
        &[]
    }

    fn begin_body(&mut self) {
        self.left = self.last_head.length.filter(|_| self.body_facts().exists);
        self.ended = !self.body_facts().exists;
    }

    fn left(&self) -> Option<u64> {
        self.left
    }

    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>> {
        let Some(stream) = self.stream.as_mut().filter(|_| !self.ended) else {
            return Poll::Ready(Ok(BodyStep::End));
        };
        match ready!(stream.poll_body(cx, buf)) {
            Ok(BodyStep::Bytes(n)) => {
                self.left = self.left.map(|left| left.saturating_sub(n as u64));
                Poll::Ready(Ok(BodyStep::Bytes(n)))
            }
            Ok(BodyStep::End) => {
                self.ended = true;
                self.trailers = stream.take_trailers();
                Poll::Ready(Ok(BodyStep::End))
            }
            Err(fault) => Poll::Ready(Err(BodyError::Io(self.failed(fault)))),
        }
    }

    fn trailer(&mut self) -> Option<HeadPart<'_>> {
        let (name, value) = self.trailers.as_ref()?.at(self.trailer)?;
        self.trailer += 1;
        write_line(&mut self.line, name, value);
        let item = Ok(field_of(&self.line, name.len()));
        Some(HeadPart { body: None, line: &self.line, item })
    }

    fn any_received(&self) -> bool {
        self.stream.as_ref().is_some_and(S::Stream::any_received)
    }

    fn about(&self) -> &About {
        &self.about
    }

    /// An unread body stays within the stream's window; other streams continue.
    fn forget_read(&mut self, _: &mut Context<'_>) {}

    fn finish(self: Box<Self>) -> Finished {
        let clean = self.ended && self.queued() == 0 && self.closing.is_none();
        self.buffers.keep(self.line);
        self.buffers.keep(self.out);
        Finished { connection: None, clean }
    }
}
