//! An exchange whose reply was recorded before: nothing is sent, and heads, body and trailers come from the
//! record. Interim heads come at once; the final one comes when as much of the request's body has been sent
//! as the recorded server waited for. Several recorded replies may answer one request: a [`ReplySource`]
//! chooses by the body.

use std::fmt;
use std::io::{self, Read};
use std::task::{Context, Poll};

use ring::digest;
use wire::hex;
use wire::http1::framing::{Length, content_length};
use wire::http1::status::Opening;
use wire::http1::{HeaderLine, StatusLine, TooLarge, check_octets, ends_head};

use super::framing::{BodyFraming, HeadFraming, status};
use super::head::Dialect;
use super::{
    Body, BodyError, BodyStep, Exchange, Finished, HeadError, HeadItem, HeadPart, ReplyRules, RequestBody,
    RequestHead,
};
use crate::{About, Connection};

/// Maximum length of an unwanted body that is read.
const DRAINED: u64 = 1024 * 1024;

/// A recorded reply.
pub struct RecordedReply {
    /// Whether the request was sent on a stream of HTTP/2 or HTTP/3.
    pub on_stream: bool,
    /// The heads, interim ones first, each with its empty line, as an application saw them.
    pub heads: Vec<u8>,
    /// The body, with transfer codings undone.
    pub body: Box<dyn Read>,
    /// Length of the body.
    pub length: u64,
    /// Trailer lines.
    pub trailers: Vec<u8>,
    /// How many bytes of the request's body were sent.
    pub request_body: u64,
    /// How the reply ended.
    pub end: RecordedEnd,
}

/// The end of a recorded reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedEnd {
    /// It was read to its end.
    Complete,
    /// The server closed the connection before the end.
    Closed,
    /// Reading it failed.
    Failed(RecordedError),
}

/// A recorded failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedError {
    /// The number of curl's code.
    pub code: i32,
    /// Its message.
    pub text: String,
}

impl fmt::Display for RecordedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for RecordedError {}

impl RecordedReply {
    /// A reply that fails before its first byte.
    pub fn failed(error: RecordedError) -> RecordedReply {
        RecordedReply {
            on_stream: false,
            heads: Vec::new(),
            body: Box::new(io::empty()),
            length: 0,
            trailers: Vec::new(),
            request_body: 0,
            end: RecordedEnd::Failed(error),
        }
    }

    /// A reply that was not chosen yet, after the interim heads that come before.
    fn undecided(heads: Vec<u8>) -> RecordedReply {
        let body = Box::new(io::empty());
        let end = RecordedEnd::Closed;
        RecordedReply { on_stream: false, heads, body, length: 0, trailers: Vec::new(), request_body: 0, end }
    }
}

/// Chooses the reply to a request.
pub trait ReplySource {
    /// Notes a piece of the request's body.
    fn sent(&mut self, piece: &[u8]);

    /// Returns the heads that may come before the choice: 100 Continue, or none.
    fn interim(&self) -> Vec<u8>;

    /// Returns the reply, if what was sent decides it. `ended` says that the body is complete: then there is
    /// a reply in any case.
    fn choose(&mut self, ended: bool) -> Option<RecordedReply>;
}

/// SHA-256 of a request's body while it is sent.
#[derive(Clone)]
pub struct BodyDigest {
    context: digest::Context,
    len: u64,
}

impl Default for BodyDigest {
    fn default() -> BodyDigest {
        BodyDigest { context: digest::Context::new(&digest::SHA256), len: 0 }
    }
}

impl BodyDigest {
    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.context.update(piece);
        self.len += piece.len() as u64;
    }

    /// Returns the length so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there was no byte so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the digest of what was added so far, in hexadecimal.
    pub fn hex(&self) -> String {
        hex::encode(self.context.clone().finish().as_ref())
    }
}

/// An exchange that is answered from a record.
pub struct Replayed {
    conn: Box<Connection>,
    /// Chooses the reply, until it is chosen.
    source: Option<Box<dyn ReplySource>>,
    reply: RecordedReply,
    reading: ReplyRules,
    /// Room for a piece of the request's body.
    room: Vec<u8>,
    /// Bytes of the request's body that were sent.
    sent: u64,
    request_ended: bool,
    /// Position in the heads, and how many of their bytes have arrived.
    at: usize,
    come: usize,
    /// The next part begins a head.
    first: bool,
    head_ended: bool,
    found: usize,
    declared: HeadFraming,
    /// The facts of the current head, if it came on a stream.
    on_stream: Option<StreamHead>,
    /// The server has agreed to an upgrade: heads of HTTP/2 may follow.
    switched: bool,
    framing: BodyFraming,
    /// Bytes of the body that were read.
    read: u64,
    trailers_read: usize,
    line: Vec<u8>,
    ended: bool,
}

/// The facts of a head of HTTP/2 or HTTP/3.
#[derive(Clone, Copy, Default)]
struct StreamHead {
    bodyless: bool,
    length: Option<u64>,
}

impl Replayed {
    /// Starts an exchange whose reply is chosen by this source.
    pub(crate) fn new(conn: Box<Connection>, source: Box<dyn ReplySource>) -> Replayed {
        Replayed {
            conn,
            source: Some(source),
            reply: RecordedReply::undecided(Vec::new()),
            reading: ReplyRules::default(),
            room: Vec::new(),
            sent: 0,
            request_ended: false,
            at: 0,
            come: 0,
            first: true,
            head_ended: false,
            found: 0,
            declared: HeadFraming::default(),
            on_stream: None,
            switched: false,
            framing: BodyFraming::None,
            read: 0,
            trailers_read: 0,
            line: Vec::new(),
            ended: false,
        }
    }

    /// Takes the reply from its source, as soon as that has chosen. A 100 Continue that came before replaces
    /// that of the reply.
    fn settle(&mut self) {
        let Some(source) = &mut self.source else { return };
        let Some(mut reply) = source.choose(self.request_ended) else {
            if self.reply.heads.is_empty() {
                self.reply.heads = source.interim();
            }
            return;
        };
        self.source = None;
        if self.come > 0 {
            let own = go_ahead(&reply.heads).len();
            reply.heads.splice(..own, self.reply.heads[..self.come].iter().copied());
        }
        self.reply = reply;
    }

    fn is_stream(&self) -> bool {
        self.on_stream.is_some()
    }

    /// Returns the version of a status line as it is generated for a stream.
    fn stream_version(&self, line: &[u8]) -> Option<u8> {
        let may_be = self.reply.on_stream || self.switched;
        match line {
            [b'H', b'T', b'T', b'P', b'/', major @ (b'2' | b'3'), b' ', ..] if may_be => {
                Some((major - b'0') * 10)
            }
            _ => None,
        }
    }

    /// Lets the next head come, if the recorded server had sent it by now.
    fn next_head(&mut self) -> bool {
        let rest = &self.reply.heads[self.come..];
        let interim = is_interim(rest);
        if !interim && !self.request_ended && self.sent < self.reply.request_body {
            return false;
        }
        self.come = head_end(&self.reply.heads, self.come);
        true
    }

    fn failure(&self) -> io::Error {
        match &self.reply.end {
            RecordedEnd::Failed(failed) => io::Error::other(failed.clone()),
            _ => io::Error::other("the record has no more of this reply"),
        }
    }

    /// Parses the first line of a head.
    fn status_of(&self, line: &[u8]) -> Result<StatusLine, HeadError> {
        let Some(version) = self.stream_version(line) else { return status(line, Dialect::Http) };
        let code = line.split(|b| *b == b' ').nth(1).unwrap_or_default();
        let digits = code.iter().take(3).filter(|b| b.is_ascii_digit());
        let code = digits.fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
        Ok(StatusLine { version, code })
    }

    fn note_status(&mut self, status: StatusLine) {
        self.declared.begin(status);
        self.switched |= status.code == 101;
        let bodyless = status.is_bodyless();
        self.on_stream = (status.version >= 20).then_some(StreamHead { bodyless, length: None });
    }

    fn note_field(&mut self, field: &HeaderLine<'_>) -> Result<(), HeadError> {
        let Some(on_stream) = &mut self.on_stream else { return self.declared.field(field) };
        let counts = !on_stream.bodyless && !self.reading.ignore_length;
        if field.is("content-length") && counts {
            on_stream.length = match content_length(field.value) {
                Ok(Length::Bytes(length)) => Some(length),
                _ => None,
            };
        }
        Ok(())
    }

    fn body_facts(&self) -> Body {
        let Some(StreamHead { bodyless, length }) = self.on_stream else { return self.declared.body() };
        Body {
            exists: !self.reading.head_only && !bodyless,
            length,
            worth_draining: self.reply.length == 0 || length.is_some_and(|length| length <= DRAINED),
            keep_alive: true,
            ..Body::default()
        }
    }

    /// The record holds no more of the body.
    fn body_ends(&mut self) -> Result<BodyStep, BodyError> {
        let left = match self.framing {
            BodyFraming::Length(length) => Some(length - self.read.min(length)),
            _ => None,
        };
        let cut = left.is_some_and(|left| left > 0);
        match &self.reply.end {
            RecordedEnd::Failed(_) => return Err(BodyError::Io(self.failure())),
            RecordedEnd::Closed if self.framing != BodyFraming::UntilClose => {
                return Err(BodyError::Truncated(left));
            }
            RecordedEnd::Complete if cut => return Err(BodyError::Truncated(left)),
            _ => {}
        }
        self.ended = true;
        Ok(BodyStep::End)
    }
}

/// Returns the end of the head that begins at `from`.
fn head_end(heads: &[u8], from: usize) -> usize {
    let mut end = from;
    for line in heads[from..].split_inclusive(|b| *b == b'\n') {
        end += line.len();
        if ends_head(line) {
            break;
        }
    }
    end
}

/// Returns the first of these heads if it is 100 Continue.
pub fn go_ahead(heads: &[u8]) -> &[u8] {
    if is_continue(heads) { &heads[..head_end(heads, 0)] } else { b"" }
}

fn is_continue(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/")
        && head.split(|b| *b == b' ').nth(1).is_some_and(|code| code.starts_with(b"100"))
}

/// Returns whether another head follows this one, by its status line.
fn is_interim(head: &[u8]) -> bool {
    let code = head.split(|b| *b == b' ').nth(1).unwrap_or_default();
    head.starts_with(b"HTTP/") && code.first() == Some(&b'1')
}

impl Exchange for Replayed {
    fn begin(&mut self, request: &RequestHead, reading: ReplyRules) {
        (self.reading, self.declared.reading) = (reading, reading);
        self.request_ended = request.body == RequestBody::None;
        self.settle();
    }

    fn body_room(&mut self, len: usize) -> &mut [u8] {
        if self.room.len() < len {
            self.room.resize(len, 0);
        }
        &mut self.room[..len]
    }

    fn body_filled(&mut self, len: usize) {
        self.sent += len as u64;
        if let Some(source) = &mut self.source {
            source.sent(&self.room[..len]);
        }
    }

    fn end_body(&mut self, _: &[&[u8]]) {
        self.request_ended = true;
    }

    fn queued(&self) -> usize {
        0
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn opening(&self) -> Opening {
        match self.at < self.come {
            true => Dialect::Http.opening(&self.reply.heads[self.at..]),
            // A body without a head (HTTP/0.9).
            false if self.reply.heads.is_empty() && self.reply.length > 0 => Opening::Other,
            false => Opening::Undecided,
        }
    }

    fn rest(&self) -> &[u8] {
        &self.reply.heads[self.at..self.come]
    }

    fn find_part(&mut self, budget: usize) -> Result<Option<usize>, TooLarge> {
        let rest = &self.reply.heads[self.at..self.come];
        let Some(first) = rest.split_inclusive(|b| *b == b'\n').next() else { return Ok(None) };
        self.found = first.len();
        if self.found > budget { Err(TooLarge) } else { Ok(Some(self.found)) }
    }

    fn part(&mut self) -> HeadPart<'_> {
        let line = self.reply.heads[self.at..self.at + self.found].to_vec();
        self.line = line;
        self.head_ended = false;
        let octets = if self.is_stream() { Ok(()) } else { check_octets(&self.line) };
        let status = self.first.then(|| self.status_of(&self.line));
        let item = match (status, octets) {
            (Some(Err(fault)), _) => Err(fault),
            (status, Err(bad)) => Err(HeadError::Octet(bad, status.and_then(Result::ok))),
            (Some(Ok(status)), _) => {
                self.note_status(status);
                Ok(HeadItem::Status(status))
            }
            (None, _) if ends_head(&self.line) => {
                self.head_ended = true;
                self.declared.end();
                Ok(HeadItem::End)
            }
            (None, _) => {
                let line = std::mem::take(&mut self.line);
                let noted = match HeaderLine::parse(line.trim_ascii_start()) {
                    Some(field) => self.note_field(&field),
                    None => Err(HeadError::NoColon),
                };
                self.line = line;
                let field = || HeaderLine::parse(self.line.trim_ascii_start()).ok_or(HeadError::NoColon);
                noted.and_then(|()| field().map(HeadItem::Field))
            }
        };
        HeadPart { line: &self.line, item, body: Some(self.body_facts()) }
    }

    fn take_part(&mut self) {
        self.at += self.found;
        self.first = self.head_ended;
    }

    fn believe(&mut self, status: StatusLine) {
        self.declared.begin(status);
    }

    fn cut_off(&mut self) -> bool {
        self.declared.cut_off();
        false
    }

    fn poll_more(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<bool>> {
        self.settle();
        if self.come < self.reply.heads.len() {
            // While the request's body is on its way, the upload wakes the task.
            return if self.next_head() { Poll::Ready(Ok(true)) } else { Poll::Pending };
        }
        if self.source.is_some() {
            return Poll::Pending;
        }
        if self.come == 0 && self.opening() == Opening::Other {
            return Poll::Ready(Ok(true));
        }
        match self.reply.end {
            RecordedEnd::Failed(_) => Poll::Ready(Err(self.failure())),
            RecordedEnd::Complete | RecordedEnd::Closed => Poll::Ready(Ok(false)),
        }
    }

    fn body(&self) -> Body {
        self.body_facts()
    }

    fn codings(&self) -> &[u8] {
        self.declared.codings()
    }

    fn begin_body(&mut self) {
        self.framing = match (self.is_stream(), self.body_facts()) {
            (false, _) => self.declared.framing(),
            (true, Body { exists: false, .. }) => BodyFraming::None,
            (true, Body { length: Some(length), .. }) => BodyFraming::Length(length),
            (true, _) => BodyFraming::Chunked,
        };
        self.ended = false;
    }

    fn left(&self) -> Option<u64> {
        match self.framing {
            BodyFraming::Length(length) => Some(length.saturating_sub(self.read)),
            _ => None,
        }
    }

    fn poll_body(&mut self, _: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>> {
        let room = match self.framing {
            BodyFraming::None => 0,
            BodyFraming::Length(length) => length.saturating_sub(self.read),
            _ => u64::MAX,
        };
        if room == 0 {
            self.ended = true;
            return Poll::Ready(Ok(BodyStep::End));
        }
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(buf.len());
        Poll::Ready(match self.reply.body.read(&mut buf[..room]) {
            Ok(0) => self.body_ends(),
            Ok(count) => {
                self.read += count as u64;
                Ok(BodyStep::Bytes(count))
            }
            Err(e) => Err(BodyError::Io(e)),
        })
    }

    fn trailer(&mut self) -> Option<HeadPart<'_>> {
        let rest = &self.reply.trailers[self.trailers_read..];
        let line = rest.split_inclusive(|b| *b == b'\n').next()?;
        self.trailers_read += line.len();
        let item = HeaderLine::parse(line).map(HeadItem::Field).ok_or(HeadError::NoColon);
        Some(HeadPart { line, item, body: None })
    }

    fn any_received(&self) -> bool {
        self.come > 0 || self.read > 0
    }

    fn about(&self) -> &About {
        &self.conn.about
    }

    fn forget_read(&mut self, _: &mut Context<'_>) {}

    fn finish(self: Box<Self>) -> Finished {
        let until_close = self.framing == BodyFraming::UntilClose;
        let clean = !until_close && (self.ended || self.framing == BodyFraming::None);
        Finished { connection: Some(self.conn), clean }
    }
}
