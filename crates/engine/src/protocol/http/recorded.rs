//! Record and replay of exchanges. A recorded exchange is the real one with a layer around it that notes
//! what crosses it. A replayed one is answered by [`net::exchange::Replayed`]. All above it runs as in life:
//! redirects, authentication, cookies, decoding, callbacks.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use net::About;
use net::exchange::{
    Body, BodyDigest, BodyError, BodyStep, Exchange, Finished, HeadPart, Layer, RecordedEnd, RecordedError,
    RecordedReply, ReplyRules, ReplySource, RequestBody, RequestHead, go_ahead,
};
use net::http2::{Pushed, Trace};
use runtime::SendLimits;
use runtime::cell::RefCell;
use tables::Code;
use wire::http1::status::Opening;
use wire::http1::{StatusLine, TooLarge};

use super::decide::version::Version;
use super::http_transfer::HttpTransfer;
use super::version::version;
use crate::recording::choice::Choice;
use crate::recording::draft::Draft;
use crate::recording::facts::{End, Facts};
use crate::recording::player::{Asked, Entry};
use crate::recording::secrets;
use crate::transfer::body::{chunks_failed, receive_failed};
use crate::transfer::link::HttpLink;

/// Starts the exchange of a request on its connection, where exchanges are recorded or replayed. Never
/// inlined: its frame would count for every transfer.
#[cold]
#[inline(never)]
pub fn begin(t: &HttpTransfer, link: &mut HttpLink, head: &RequestHead, reused: bool) -> Box<dyn Exchange> {
    if let Some(player) = t.player() {
        let asked = Asked::new(head.method(), &t.recorded_url());
        let source = Chosen(Choice::new(player.clone(), asked, head.text().to_vec()));
        if let Some(exchange) = link.lease.replay(Box::new(source)) {
            return exchange;
        }
        // Not reached: a replay makes no connection with streams.
    }
    // A pushed reply has no request.
    let draft = match head.text().is_empty() {
        true => None,
        false => t.draft("http", head.method(), link.lease.about()),
    };
    let version = version(t, link);
    let exchange = link.lease.begin(&t.multi.buffers);
    let Some(mut draft) = draft else { return exchange };
    draft.facts.version = match version {
        Version::Http10 => 10,
        Version::Http11 => 11,
        Version::Http2 => 20,
        Version::Http3 => 30,
    };
    layer(exchange, &Rc::new(RefCell::new(Notes::new(draft, reused))))
}

/// Notes that a second exchange may continue: an upgrade to HTTP/2 changes the exchange.
type SharedNotes = Rc<RefCell<Notes>>;

/// Puts the layer that notes around an exchange.
fn layer(inner: Box<dyn Exchange>, notes: &SharedNotes) -> Box<dyn Exchange> {
    Box::new(Recorded { inner, notes: notes.clone() })
}

/// The choice among recorded replies.
struct Chosen(Choice);

impl ReplySource for Chosen {
    fn sent(&mut self, piece: &[u8]) {
        self.0.sent(piece);
    }

    fn interim(&self) -> Vec<u8> {
        let heads = self.0.first().and_then(|entry| entry.text("response.head").ok()).unwrap_or_default();
        go_ahead(&heads).to_vec()
    }

    fn choose(&mut self, ended: bool) -> Option<RecordedReply> {
        let found = self.0.choose(ended)?.and_then(reply);
        Some(found.unwrap_or_else(|text| {
            RecordedReply::failed(RecordedError { code: Code::CouldntConnect.id(), text })
        }))
    }
}

/// Reads the reply of a record.
fn reply(entry: &Entry) -> Result<RecordedReply, String> {
    let Facts { version, request_body, response_body, end, .. } = &entry.facts;
    Ok(RecordedReply {
        on_stream: *version >= 20,
        heads: entry.text("response.head")?,
        body: entry.body("response.body", *response_body)?,
        length: *response_body,
        trailers: entry.text("response.trailers")?,
        request_body: *request_body,
        end: match end {
            End::Complete => RecordedEnd::Complete,
            End::Closed => RecordedEnd::Closed,
            End::Failed(code, text) => RecordedEnd::Failed(RecordedError { code: *code, text: text.clone() }),
            End::Stopped => RecordedEnd::Failed(RecordedError {
                code: Code::RecvError.id(),
                text: "the record ends here, where the recorded program stopped reading".to_owned(),
            }),
        },
    })
}

/// An exchange around which a layer notes what crosses it.
struct Recorded {
    inner: Box<dyn Exchange>,
    notes: SharedNotes,
}

/// The notes about one exchange. They become a record when they are dropped.
pub struct Notes {
    draft: Draft,
    reused: bool,
    /// The request's head.
    request: Vec<u8>,
    /// The heads of the reply, and the part that was returned last.
    heads: Vec<u8>,
    part: Vec<u8>,
    trailers: Vec<u8>,
    /// The digest of the request's body, and whether that is complete.
    body: BodyDigest,
    body_ended: bool,
    end: End,
    /// The request is sent again on another connection.
    again: bool,
}

impl Notes {
    fn new(draft: Draft, reused: bool) -> Notes {
        Notes {
            draft,
            reused,
            request: Vec::new(),
            heads: Vec::new(),
            part: Vec::new(),
            trailers: Vec::new(),
            body: BodyDigest::default(),
            body_ended: false,
            end: End::Stopped,
            again: false,
        }
    }

    fn note_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        self.heads.extend_from_slice(&part);
    }

    fn note_io(&mut self, e: &io::Error) {
        let error = receive_failed(e);
        self.again |= error.retry().is_allowed();
        self.end = End::Failed(error.code().id(), error.to_string());
    }

    fn note_fault(&mut self, fault: &BodyError) {
        match fault {
            BodyError::Io(e) => self.note_io(e),
            BodyError::Truncated(_) => self.end = End::Closed,
            BodyError::Chunk(fault) => {
                let error = chunks_failed(fault);
                self.end = End::Failed(error.code().id(), error.to_string());
            }
        }
    }

    fn note_bytes(&mut self, bytes: &[u8]) {
        self.draft.note_first_byte();
        self.draft.append("response.body", bytes);
        self.draft.facts.response_body += bytes.len() as u64;
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        // The part that failed.
        self.note_part();
        let received = !self.heads.is_empty() || self.draft.facts.response_body > 0;
        // A request on a connection that had died is sent again: the second exchange is the real one.
        if (self.reused || self.again) && !received {
            self.draft.discard();
            return;
        }
        self.draft.append("request.head", &secrets::request_head(&self.request));
        self.draft.append("response.head", &secrets::reply_lines(&self.heads));
        self.draft.append("response.trailers", &secrets::reply_lines(&self.trailers));
        let facts = &mut self.draft.facts;
        facts.request_digest = (!self.body.is_empty()).then(|| self.body.hex());
        facts.request_stopped = !self.body_ended;
        self.draft.finish(std::mem::take(&mut self.end));
    }
}

impl Exchange for Recorded {
    fn begin(&mut self, request: &RequestHead, reading: ReplyRules) {
        // The second beginning is the one after the upgrade to HTTP/2, without a request of its own.
        let mut notes = self.notes.borrow_mut();
        notes.request.extend_from_slice(request.text());
        notes.body_ended |= request.body == RequestBody::None;
        drop(notes);
        self.inner.begin(request, reading);
    }

    fn weigh(&mut self, weight: u16) {
        self.inner.weigh(weight);
    }

    fn update_priority(&mut self, value: &str) {
        self.inner.update_priority(value);
    }

    fn watch(&mut self, trace: Trace) {
        self.inner.watch(trace);
    }

    fn stream(&self) -> Option<u32> {
        self.inner.stream()
    }

    fn take_promise(&mut self) -> Option<Pushed> {
        self.inner.take_promise()
    }

    fn break_off(&mut self) {
        self.inner.break_off();
    }

    fn body_room(&mut self, len: usize) -> &mut [u8] {
        self.inner.body_room(len)
    }

    fn body_filled(&mut self, len: usize) {
        if len > 0 {
            let mut notes = self.notes.borrow_mut();
            // The room is still where it was filled.
            let piece = self.inner.body_room(len);
            notes.draft.append("request.body", piece);
            notes.body.update(piece);
            notes.draft.facts.request_body += len as u64;
        }
        self.inner.body_filled(len);
    }

    fn end_body(&mut self, trailers: &[&[u8]]) {
        self.notes.borrow_mut().body_ended = true;
        for line in trailers {
            self.notes.borrow_mut().draft.append("request.trailers", &secrets::request_head(line));
            self.notes.borrow_mut().draft.append("request.trailers", b"\r\n");
        }
        self.inner.end_body(trailers);
    }

    fn queued(&self) -> usize {
        self.inner.queued()
    }

    fn send_limits(&self) -> Option<SendLimits> {
        self.inner.send_limits()
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_flush(cx)
    }

    fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_left(cx)
    }

    fn opening(&self) -> Opening {
        self.inner.opening()
    }

    fn rest(&self) -> &[u8] {
        self.inner.rest()
    }

    fn skip(&mut self, len: usize) {
        self.inner.skip(len);
    }

    fn unread(&mut self, bytes: &[u8]) {
        self.inner.unread(bytes);
    }

    fn find_part(&mut self, budget: usize) -> Result<Option<usize>, TooLarge> {
        self.inner.find_part(budget)
    }

    fn part(&mut self) -> HeadPart<'_> {
        let part = self.inner.part();
        let mut notes = self.notes.borrow_mut();
        notes.draft.note_first_byte();
        notes.part.clear();
        notes.part.extend_from_slice(part.line);
        part
    }

    fn take_part(&mut self) {
        self.notes.borrow_mut().note_part();
        self.inner.take_part();
    }

    fn believe(&mut self, status: StatusLine) {
        self.inner.believe(status);
    }

    fn cut_off(&mut self) -> bool {
        self.notes.borrow_mut().end = End::Closed;
        self.inner.cut_off()
    }

    fn poll_more(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<bool>> {
        let more = self.inner.poll_more(cx, scratch);
        match &more {
            Poll::Ready(Ok(false)) => self.notes.borrow_mut().end = End::Closed,
            Poll::Ready(Err(e)) => self.notes.borrow_mut().note_io(e),
            _ => {}
        }
        more
    }

    fn body(&self) -> Body {
        self.inner.body()
    }

    fn codings(&self) -> &[u8] {
        self.inner.codings()
    }

    fn begin_body(&mut self) {
        self.inner.begin_body();
    }

    fn left(&self) -> Option<u64> {
        self.inner.left()
    }

    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>> {
        let step = self.inner.poll_body(cx, buf);
        match &step {
            Poll::Ready(Ok(BodyStep::Bytes(count))) => self.notes.borrow_mut().note_bytes(&buf[..*count]),
            Poll::Ready(Ok(BodyStep::End)) => self.notes.borrow_mut().end = End::Complete,
            Poll::Ready(Err(fault)) => self.notes.borrow_mut().note_fault(fault),
            Poll::Pending => {}
        }
        step
    }

    fn chunk_ends(&self) -> &[usize] {
        self.inner.chunk_ends()
    }

    fn trailer(&mut self) -> Option<HeadPart<'_>> {
        let part = self.inner.trailer()?;
        self.notes.borrow_mut().trailers.extend_from_slice(part.line);
        Some(part)
    }

    fn any_received(&self) -> bool {
        self.inner.any_received()
    }

    fn about(&self) -> &About {
        self.inner.about()
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.inner.forget_read(cx);
    }

    fn layer(&self) -> Option<Layer> {
        let notes = self.notes.clone();
        Some(Box::new(move |exchange| layer(exchange, &notes)))
    }

    fn finish(self: Box<Self>) -> Finished {
        let Recorded { inner, notes } = *self;
        drop(notes);
        inner.finish()
    }
}
