//! HTTP (RFC 9110): one request and its reply, told in the order in which it happens.
//!
//! The request's bytes are made in `request`, its body is sent by `upload`, the reply's head is read by
//! `response`, and `redirect` and `auth` decide what follows. The wire format is the exchange layer's.

mod auth;
mod connection_auth;
mod decide;
mod httpsig;
mod offers;
mod pushed;
mod redirect;
mod request;
mod request_cache;
mod response;
mod sigv4;
mod stored;
mod upgrade;
mod upload;

use std::future::poll_fn;
use std::hint::cold_path;
use std::rc::Rc;
use std::task::{Context, Poll};

use net::Lease;
use net::exchange::{BodyStep, Dialect, Exchange, Reading, RequestHead};
use tables::scheme::Family;
use tables::{Code, EasyOption as O, Scheme};
use wire::h2::hop_by_hop;

use super::{Next, rtsp};
use crate::callbacks::DebugKind;
use crate::easy::EasyState;
use crate::error::{Error, Result, Retry};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::auth::ConnectionSteps;
use crate::transfer::body::BodySource;
use crate::transfer::connect::Link;
use crate::transfer::plan::belonging;
use crate::transfer::prepare::url_text;
pub use auth::{Target, fields as authorization};
use decide::connection::{Rest, Unsent, Use, Used};
use decide::reply::SWITCHING;
use decide::retry::Failure;
use decide::{body, connection, retry, version};
use offers::Offers;
pub use request::{Custom, Head, Request, time_condition_field};
use response::Response;
pub use response::more;
pub use upgrade::is_by_hand;
use upload::Upload;

/// How often a request is moved from a dead pooled connection to another one.
const MAX_REPLAYS: u32 = 5;

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<Next> {
    upgrade::choose_method(t);
    if t.easy.callbacks.keeps_replies() {
        cold_path();
        return Box::pin(stored::run(t)).await;
    }
    ask(t).await
}

/// Has it from the server.
async fn ask(t: &mut Transfer) -> Result<Next> {
    let outcome = t.replayed(MAX_REPLAYS, async |t, fresh| {
        let outcome = request_and_reply(t, fresh).await;
        outcome.inspect_err(|e| t.http.no_http2 |= e.retry() == Retry::Http1)
    });
    outcome.await.map_err(|e| match e.retry().is_allowed() {
        true => {
            let text = format!("Connection died, tried {MAX_REPLAYS} times before giving up");
            Error::new(Code::SendError, text)
        }
        false => e,
    })
}

/// A connection for the next request, which may have to be its user's own.
pub async fn connect(t: &mut Transfer, fresh: bool) -> Result<Link> {
    auth::begin_request(t)?;
    let mut plan = t.plan()?;
    let bound = connection_auth::binding_of(t, plan.forwarder())?;
    if version::avoids_http2(plan.may_have_streams(), t.http.no_http2, bound.to.is_some()) {
        cold_path();
        plan = Rc::new(plan.without_http2());
    }
    t.connect_bound(plan, bound, fresh).await
}

/// A connection, and the request that goes out on it; whether it has carried others.
async fn request(t: &mut Transfer, fresh: bool) -> Result<(Link, Request, bool)> {
    if let Some(adopted) = t.easy.adopted.take() {
        cold_path();
        let (link, request) = pushed::take_up(t, *adopted)?;
        return Ok((link, request, false));
    }
    let kept = t.http.kept.take().filter(|_| !fresh);
    let reused = kept.is_some();
    let mut link = match kept {
        Some(link) => {
            auth::begin_request(t)?;
            *link
        }
        None => connect(t, fresh).await?,
    };
    let reused = reused || link.lease.is_reused();
    if is_rtsp(t) {
        cold_path();
        rtsp::take_up(t, &mut link);
    }
    t.http.auth.steps = take_steps(&mut link);
    if !reused {
        let version = if matches!(link.lease, Lease::Stream(_)) {
            request::version(t, &link).name()
        } else {
            "HTTP/1.x"
        };
        t.easy.note(|| format!("using {version}"));
    }
    auth::connected(t, reused);
    note_forwarding(t, &link);
    auth::prepare(t, &link).await?;
    let request = match request_cache::request(t, &link) {
        Some(request) => request,
        None => Request::build(t, &link)?,
    };
    bind(t, &mut link)?;
    Ok((link, request, reused))
}

/// The request goes out, and its reply comes in. What making it took is none of this future's while it waits for the reply.
async fn request_and_reply(t: &mut Transfer, fresh: bool) -> Result<Next> {
    let (mut link, request, reused) = request(t, fresh).await?;
    {
        let mut info = t.easy.info.borrow_mut();
        (info.downloaded, info.announced, info.download_total) = (0, -1, -1);
    }
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    t.writer.begin();
    let mut talk = Talk::begin(t, &mut link, request, reused);
    if is_rtsp(t) {
        cold_path();
        rtsp::begin(t, talk.exchange.as_mut());
    }
    let ahead = t.is_ahead();
    let mut outcome = converse(t, &mut talk).await.map_err(|e| t.late_failure(e));
    if matches!(outcome, Ok(Finished { switches: true, .. })) {
        cold_path();
        (link, talk, outcome) = Box::pin(upgrade::go_on_in_http2(t, link, talk)).await?;
    }
    let received = talk.exchange.any_received();
    match outcome {
        Ok(Finished { upgraded: true, .. }) => Box::pin(upgrade::hand_over(t, link, talk.exchange)).await,
        Ok(Finished { next, keep, http10, .. }) => {
            let clean = link.lease.end(talk.exchange);
            if let Some(whole) = link.lease.whole() {
                whole.connection().about.answers_http10 = http10;
            }
            let steps = t.http.auth.steps.take().filter(|steps| steps.begun());
            let used = Used {
                stream: matches!(link.lease, Lease::Stream(_)),
                keep,
                clean,
                complete: talk.upload.complete(),
                forbidden: t.on(O::ForbidReuse),
                bound: steps.is_some() || auth::binds(t),
                again: matches!(next, Next::Again),
            };
            let next_use = connection::next_use(&used);
            if next_use != Use::Close {
                if let Some(whole) = link.lease.whole().filter(|_| is_rtsp(t)) {
                    cold_path();
                    rtsp::leave(t, whole);
                }
                if let Some(steps) = steps
                    && let Some(whole) = link.lease.whole()
                {
                    cold_path();
                    whole.connection().state = Some(steps);
                }
                if next_use == Use::Hold {
                    t.http.kept = Some(Box::new(link));
                } else {
                    t.release(link.lease);
                }
            } else {
                cold_path();
                t.easy.note(|| format!("shutting down connection #{}", link.lease.about().id));
                t.retire(link.lease);
            }
            Ok(next)
        }
        Err(e) => {
            let failure = Failure { code: e.code(), retry: e.retry(), reused, received, early_data: ahead };
            let verdict = retry::after_failure(&failure);
            if verdict.is_allowed() {
                talk.upload.rewind()?;
            }
            Err(e.with_retry(verdict))
        }
    }
}

/// What is RTSP's alone stands in its own file, and is asked where the two part.
fn is_rtsp(t: &Transfer) -> bool {
    t.scheme().family() == Family::Rtsp
}

/// What is fetched for us by a proxy is HTTP to us.
fn note_forwarding(t: &Transfer, link: &Link) {
    if link.forwarder().is_some() && t.scheme().family() != Family::Http {
        cold_path();
        let mut info = t.easy.info.borrow_mut();
        (info.scheme, info.protocol) = (Scheme::Http.name(), Scheme::Http.bit() as i64);
    }
}

/// What the connection knows of its authentication.
fn take_steps(link: &mut Link) -> Option<Box<ConnectionSteps>> {
    link.lease.whole()?.connection().state.take()?.take()
}

/// A connection that NTLM or Negotiate has begun on is its user's alone from here on.
fn bind(t: &mut Transfer, link: &mut Link) -> Result<()> {
    let begun = t.http.auth.steps.as_ref().is_some_and(|steps| steps.begun());
    if begun && link.lease.about().identity.credentials.is_none() {
        cold_path();
        let credentials = connection_auth::binding_of(t, link.forwarder())?.to.unwrap_or_default();
        let identity = belonging(&link.lease.about().identity, *credentials);
        if let Some(whole) = link.lease.whole() {
            whole.bind(identity);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Finished {
    next: Next,
    keep: bool,
    /// The reply was one of HTTP/1.0.
    http10: bool,
    /// The connection is a WebSocket that the application wants to use by hand.
    upgraded: bool,
    /// The reply to come is in HTTP/2.
    switches: bool,
}

/// Sends the request, reads the reply and its body, and decides what follows.
async fn converse(t: &mut Transfer, talk: &mut Talk) -> Result<Finished> {
    let mut response = Response::default();
    response::receive(t, talk, &mut response).await?;
    if talk.switches(&response) {
        return Ok(Finished { switches: true, ..Finished::default() });
    }
    response.check(t)?;
    if t.scheme().family() == Family::Ws {
        cold_path();
        upgrade::begin(t, talk, &response)?;
        if upgrade::is_by_hand(t) {
            return Ok(Finished { upgraded: true, ..Finished::default() });
        }
    }
    if auth::hears(t) {
        cold_path();
        Box::pin(auth::hear(t, talk, &response)).await;
    }
    // Where another reply counts, this one's body is nobody's.
    let replaced = stored::replaced(t, response.status);
    let counts = replaced.is_none();
    let next = match replaced {
        Some(next) => next,
        None => decide(t, talk, &response)?,
    };
    let is_last = counts && matches!(next, Next::Done);
    if is_last {
        response.check_body(t)?;
    }
    let reads = connection::reads_body(&connection::Body {
        is_last,
        is_unmet: is_last && response.is_not_newer(t),
        keep_alive: response.body.keep_alive,
        is_short: response.body.worth_draining,
    });
    t.writer.ignore_body(!is_last || response.is_there_already(t));
    response.begin_body(t, talk)?;
    let mut keep = response.body.keep_alive;
    if !reads {
        cold_path();
        keep = false;
    } else {
        t.pump_body(talk).await?;
        response.check_end(t)?;
        response::receive_trailers(t, talk)?;
    }
    if is_rtsp(t) {
        cold_path();
        rtsp::finish(t, talk)?;
    }
    keep &= finish_upload(t, talk, keep, &response).await?;
    if matches!(next, Next::Follow(_)) && !matches!(t.method, Method::Get | Method::Head) {
        // The next request sends the same body again.
        talk.upload.rewind()?;
    }
    if is_last {
        redirect::tell(t, &response);
    }
    let http10 = response.version == 10;
    Ok(Finished { next, keep, http10, ..Finished::default() })
}

/// Sends or abandons the rest of the request's body behind a complete reply. Returns whether the connection can carry another
/// request.
async fn finish_upload(t: &Transfer, talk: &mut Talk, keep: bool, response: &Response) -> Result<bool> {
    let until_close = response.body.until_close;
    let websocket = response.begins_websocket(t);
    let rest = connection::rest(&Unsent { keep, until_close, websocket, ended: talk.upload.has_ended() });
    match rest {
        Rest::Send => {
            talk.upload.go_ahead();
            poll_fn(|cx| talk.poll_upload(cx)).await?;
        }
        Rest::Stop => {
            t.easy.note(|| "we are done reading and this is set to close, stop send".to_owned());
            talk.upload.stop(talk.exchange.queued());
        }
        Rest::None => {}
    }
    match talk.upload.take_failure() {
        Some(failure) if connection::send_failure_counts(until_close, rest, response.status) => Err(failure),
        failure => Ok(rest == Rest::Send && failure.is_none()),
    }
}

/// What follows this reply.
fn decide(t: &mut Transfer, talk: &mut Talk, response: &Response) -> Result<Next> {
    match wanted(t, talk, response)? {
        Next::Again => Ok(redirect::again(t)),
        next => Ok(next),
    }
}

/// What would follow this reply if nothing were counted.
fn wanted(t: &mut Transfer, talk: &mut Talk, response: &Response) -> Result<Next> {
    let (expected, sent) = (talk.upload.expected_go_ahead(), talk.upload.complete());
    if body::drops_expectation(response.status, expected, sent, t.http.no_expect) {
        cold_path();
        t.http.no_expect = true;
        t.easy.note(|| "Got HTTP failure 417 while waiting for a 100".to_owned());
        talk.upload.rewind()?;
        return Ok(Next::Again);
    }
    if response.version == 10 {
        // A server of the old days gets no chunks and no Expect in this transfer.
        t.http.http10 = true;
    }
    if let Some(next) = auth::after(t, talk, response)? {
        return Ok(next);
    }
    redirect::after(t, response)
}

/// A stream has been opened with that head.
fn note_stream(t: &Transfer, version: &str, stream: u32, head: &RequestHead) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    t.easy.note(|| {
        let url = url_text(&t.url);
        format!("[{version}] [{stream}] OPENED stream for {}", text(&url))
    });
    let host = head.fields().find(|(name, _)| name.eq_ignore_ascii_case(b"host")).map(|(_, value)| value);
    let pseudo = [
        (":method", Some(head.method())),
        (":scheme", Some(head.scheme().as_bytes())),
        (":authority", host),
        (":path", Some(head.target())),
    ];
    for (name, value) in pseudo.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        t.easy.note(|| format!("[{version}] [{stream}] [{name}: {}]", text(value)));
    }
    let others = head.fields().filter(|(name, _)| !name.eq_ignore_ascii_case(b"host") && !hop_by_hop(name));
    for (name, value) in others {
        t.easy.note(|| {
            format!("[{version}] [{stream}] [{}: {}]", text(name).to_ascii_lowercase(), text(value))
        });
    }
}

/// What a stream weighs of which nothing is said (RFC 7540 §5.3.5).
const USUAL_WEIGHT: u16 = 16;

/// CURLOPT_STREAM_WEIGHT, which may change while the transfer runs.
fn weight(easy: &EasyState) -> Option<u16> {
    let settings = easy.settings.borrow();
    let weight = settings.is_set(O::StreamWeight).then(|| settings.long(O::StreamWeight))?;
    u16::try_from(weight).ok().filter(|weight| *weight != USUAL_WEIGHT)
}

/// An exchange in progress: the reply is read while the request's body may still be on its way.
pub struct Talk {
    /// The wire format.
    pub exchange: Box<dyn Exchange>,
    /// The request's body.
    pub upload: Upload,
    /// The connection has carried replies before.
    pub reused: bool,
    /// The request was HEAD.
    pub head_only: bool,
    easy: Rc<EasyState>,
    /// What the server was told of its importance.
    weight: Option<u16>,
    /// Who is asked about what the server pushes.
    offers: Option<Box<Offers>>,
    /// How the reply is read.
    reading: Reading,
    /// The request asks for the upgrade to HTTP/2.
    asks_for_http2: bool,
    /// A WebSocket on a stream: when both have said goodbye, nothing more is waited for.
    ends_by_word: bool,
}

impl Talk {
    /// Whether that reply is the server's consent to what was asked for.
    pub fn switches(&self, response: &Response) -> bool {
        self.asks_for_http2 && response.status == SWITCHING
    }

    /// Inlined: a talk is large, and made where it stays.
    #[inline]
    fn begin(t: &Transfer, link: &mut Link, request: Request, reused: bool) -> Talk {
        let asks_for_http2 = request::asks_for_http2(t, link);
        let offers = Offers::of(t, &link.lease);
        let mut exchange = link.lease.begin(&t.multi.spares);
        let reading = Reading {
            head_only: request.head_only,
            rate: u64::try_from(t.long(O::MaxRecvSpeedLarge)).ok().filter(|rate| *rate > 0),
            ignore_length: t.on(O::IgnoreContentLength),
            raw: !t.on(O::HttpTransferDecoding),
            codings: t.on(O::TransferEncoding),
            dialect: if is_rtsp(t) { Dialect::Rtsp } else { Dialect::Http },
        };
        let weight = weight(&t.easy);
        if let Some(weight) = weight {
            exchange.weigh(weight);
        }
        if let Some(trace) = t.trace_of_frames() {
            cold_path();
            exchange.watch(trace);
        }
        exchange.begin(&request.head, reading);
        if let Some(stream) = exchange.stream().filter(|_| !request.head.text().is_empty()) {
            cold_path();
            note_stream(t, request::version(t, link).name(), stream, &request.head);
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
        Talk {
            exchange,
            upload,
            reused,
            head_only,
            easy,
            weight,
            offers,
            reading,
            asks_for_http2,
            ends_by_word: false,
        }
    }

    /// Lets the upload go on. A failure is kept by the upload until the reply has been read as far as
    /// it goes: servers answer and close without reading all.
    pub fn poll_beside(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if let Some(offers) = &self.offers {
            cold_path();
            offers.look(self.exchange.as_mut())?;
        }
        let weight = weight(&self.easy);
        if weight != self.weight {
            cold_path();
            self.weight = weight;
            self.exchange.weigh(weight.unwrap_or(USUAL_WEIGHT));
        }
        if self.upload.has_ended() {
            return Ok(());
        }
        self.upload.poll(cx, self.exchange.as_mut())
    }

    /// Ready when the body has been sent.
    fn poll_upload(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.poll_beside(cx)?;
        if self.upload.has_ended() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

impl BodySource for Talk {
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
        Talk::poll_beside(self, cx)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.exchange.forget_read(cx);
    }
}
