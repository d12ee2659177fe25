//! An exchange in progress: the reply is read while the request's body may still be on its way.

use std::hint::cold_path;
use std::rc::Rc;
use std::task::{Context, Poll};

use net::exchange::{BodyStep, Dialect, Exchange, ReplyRules, RequestHead, request_fields};
use tables::constant::CURL_HTTP_VERSION_2_0;
use tables::{Code, EasyOption as O};
use wire::priority::RequestPriority;

use super::decide::reply::SWITCHING;
use super::http_transfer::HttpTransfer;
use super::message::Request;
use super::offers::Offers;
use super::recorded;
use super::upload::Upload;
use super::version::{asks_for_http2, version};
use crate::callbacks::DebugKind;
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::body::BodySource;
use crate::transfer::link::HttpLink;
use crate::transfer::route::url::url_text;

/// A stream has been opened with that head.
fn note_stream(t: &Transfer, version: &str, stream: u32, head: &RequestHead) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    t.easy.note(|| {
        let url = url_text(&t.url);
        format!("[{version}] [{stream}] OPENED stream for {}", text(&url))
    });
    if !t.easy.callbacks.wants_debug() {
        return;
    }
    for (name, value) in request_fields(head).iter() {
        t.easy.note(|| format!("[{version}] [{stream}] [{}: {}]", text(name), text(value)));
    }
}

/// The default weight of a stream (RFC 7540 §5.3.5).
const USUAL_WEIGHT: u16 = 16;

/// CURLOPT_STREAM_WEIGHT, which may change while the transfer runs.
#[inline]
fn weight(easy: &EasyState) -> Option<u16> {
    let settings = easy.settings.borrow();
    let weight = settings.is_set(O::StreamWeight).then(|| settings.long(O::StreamWeight))?;
    u16::try_from(weight).ok().filter(|weight| *weight != USUAL_WEIGHT)
}

/// The importance of a request among others on its connection. It may change while the transfer runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Importance {
    /// The weight, if it is not the default.
    weight: Option<u16>,
    /// The priority of RFC 9218, which the head had.
    priority: Option<RequestPriority>,
}

impl Importance {
    #[inline]
    fn of(easy: &EasyState) -> Importance {
        Importance { weight: weight(easy), priority: easy.settings.borrow().choices().priority }
    }

    /// Tells the server what has changed.
    #[cold]
    fn update(self, before: Importance, exchange: &mut dyn Exchange) {
        if self.weight != before.weight {
            exchange.weigh(self.weight.unwrap_or(USUAL_WEIGHT));
        }
        if self.priority != before.priority {
            exchange.update_priority(&self.priority.unwrap_or_default().to_string());
        }
    }
}

/// An exchange in progress: the reply is read while the request's body may still be on its way.
pub struct ActiveExchange {
    /// The wire format.
    pub exchange: Box<dyn Exchange>,
    /// The request's body.
    pub upload: Upload,
    /// The connection has carried replies before.
    pub reused: bool,
    /// The request was HEAD.
    pub head_only: bool,
    /// The handle.
    pub easy: Rc<EasyState>,
    /// The importance that the server knows of.
    pub importance: Importance,
    /// The server pushes on this stream, if there is a push function.
    pub offers: Option<Box<Offers>>,
    /// How the reply is read.
    pub reading: ReplyRules,
    /// The request asks for the upgrade to HTTP/2.
    pub asks_for_http2: bool,
    /// Whether it is a WebSocket on a stream: it ends after both close frames.
    pub ends_by_word: bool,
}

impl ActiveExchange {
    /// Returns whether a reply of this status is the server's consent to HTTP/2.
    pub fn switches(&self, status: u16) -> bool {
        self.asks_for_http2 && status == SWITCHING
    }

    /// Returns the error for a line of a head beyond its limit. curl 8.22 wraps it for HTTP/2, where it fails
    /// the session.
    #[cold]
    pub fn line_too_long(&self) -> Error {
        let cause = Code::TooLarge;
        match self.easy.info.borrow().http_version == CURL_HTTP_VERSION_2_0 {
            true => {
                let text = format!("Error receiving HTTP2 header: {}({})", cause as i32, cause.text());
                Error::new(Code::Http2, text)
            }
            false => Error::from(cause),
        }
    }

    /// Inlined: the value is large, and made where it stays.
    #[inline(always)]
    pub fn begin(
        t: &HttpTransfer,
        link: &mut HttpLink,
        request: Request,
        reused: bool,
        dialect: Dialect,
    ) -> ActiveExchange {
        let asks_for_http2 = asks_for_http2(t, link);
        let offers = Offers::of(t, &link.lease);
        let mut exchange = match t.multi.recording.get() {
            Some(_) if dialect == Dialect::Http => recorded::begin(t, link, &request.head, reused),
            _ => link.lease.begin(&t.multi.buffers),
        };
        let reading = ReplyRules {
            head_only: request.head_only,
            rate: u64::try_from(t.long(O::MaxRecvSpeedLarge)).ok().filter(|rate| *rate > 0),
            ignore_length: t.on(O::IgnoreContentLength),
            raw: !t.on(O::HttpTransferDecoding),
            codings: t.on(O::TransferEncoding),
            dialect,
        };
        let importance = Importance::of(&t.easy);
        if let Some(weight) = importance.weight {
            exchange.weigh(weight);
        }
        if let Some(trace) = t.trace_of_frames() {
            cold_path();
            exchange.watch(trace);
        }
        exchange.begin(&request.head, reading);
        if let Some(stream) = exchange.stream().filter(|_| !request.head.text().is_empty()) {
            cold_path();
            note_stream(t, version(t, link).name(), stream, &request.head);
        }
        let text = request.head.text();
        if !text.is_empty() {
            t.easy.trace("http/1", || format!("a request with a head of {} bytes", text.len()));
            t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, text);
        }
        t.easy.info.borrow_mut().request_size += text.len() as i64;
        let upload = Upload::new(t, request.body, request.head.body, request.expects, request.trailers);
        let easy = t.easy.clone();
        let head_only = request.head_only;
        ActiveExchange {
            exchange,
            upload,
            reused,
            head_only,
            easy,
            importance,
            offers,
            reading,
            asks_for_http2,
            ends_by_word: false,
        }
    }

    /// Continues the upload. The upload keeps a failure until the reply has been read: servers may reply and
    /// close without reading all.
    pub fn poll_beside(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if let Some(offers) = &self.offers {
            cold_path();
            offers.pass_promises(self.exchange.as_mut())?;
        }
        let importance = Importance::of(&self.easy);
        if importance != self.importance {
            let before = std::mem::replace(&mut self.importance, importance);
            importance.update(before, self.exchange.as_mut());
        }
        if self.upload.has_ended() {
            return Ok(());
        }
        self.upload.poll(cx, self.exchange.as_mut())
    }

    /// Ready when the body has been sent.
    pub fn poll_upload(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.poll_beside(cx)?;
        if self.upload.has_ended() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

impl BodySource for ActiveExchange {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        if self.ends_by_word && self.easy.ws_is_over() && self.exchange.poll_left(cx).is_ready() {
            cold_path();
            return Poll::Ready(Ok(BodyStep::End));
        }
        BodySource::poll_body(self.exchange.as_mut(), cx, buf)
    }

    fn left(&self) -> Option<u64> {
        self.exchange.left()
    }

    fn chunk_ends(&self) -> &[usize] {
        self.exchange.chunk_ends()
    }

    fn poll_beside(&mut self, cx: &mut Context<'_>) -> Result<()> {
        ActiveExchange::poll_beside(self, cx)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.exchange.forget_read(cx);
    }
}
