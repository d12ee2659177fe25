//! rtsp:// (RFC 2326): the request selected by CURLOPT_RTSP_REQUEST(3), and its reply.
//!
//! Messages have HTTP's format, so the steps of an exchange come from `http`. RTSP adds the head of a
//! request, the fields with its number and session, and the packets between messages, each of which is passed
//! to the application as soon as it is complete (CURLOPT_INTERLEAVEFUNCTION(3)). Connections remember on
//! which channels packets may arrive.

mod decide;

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use net::Stack;
use net::Whole;
use net::exchange::{Dialect, Exchange, RequestBody, RequestHead};
use runtime::{Idle, boxed};
use tables::{Code, EasyOption as O};
use wire::http1::HeaderLine;
use wire::rtsp::{self, Channels, Front, Method};

use super::http::{self, ActiveExchange, Custom, EndFacts, Head, Heads, HttpTransfer, Request, Response};
use crate::callbacks::WriteAnswer;
use crate::error::{Error, Result};
use crate::settings::Method as BodyMethod;
use crate::transfer::Transfer;
use crate::transfer::body::{Idling, receive_failed};
use crate::transfer::client_reader::ClientReader;
use crate::transfer::link::HttpLink;
use crate::transfer::next::Next;

const PROTOCOL: &str = "RTSP/1.0";
/// Size of one receive while only packets are awaited.
const PIECE: usize = 16 * 1024;

/// The memory of a connection.
#[derive(Default)]
struct Memory {
    channels: Channels,
    /// The beginning of a packet, or of an unsolicited message.
    unread: Vec<u8>,
}

impl net::Memory for Memory {
    /// Packets come whenever they want.
    fn idle_state(&mut self, carrier: &mut Stack) -> Idle {
        match carrier.idle_state() {
            Idle::Data => Idle::Alive,
            other => other,
        }
    }
}

/// The request in progress.
#[derive(Default)]
struct State {
    memory: Memory,
    /// CSeq of the request, and of its reply.
    sent: i64,
    received: i64,
}

/// Runs one request.
pub async fn run(t: &mut HttpTransfer) -> Result<Next> {
    let method = wanted(t);
    begin_counting(t, O::RtspClientCseq);
    begin_counting(t, O::RtspServerCseq);
    if method == Method::Receive {
        return receive(t).await.map(|()| Next::Done);
    }
    t.method = body_method(t, method);
    http::replayed(t, request_and_reply).await
}

/// Sends the request and reads the reply.
async fn request_and_reply(t: &mut HttpTransfer, fresh: bool) -> Result<Next> {
    let (mut link, reused) = http::obtain(t, fresh).await?;
    let mut state = State { memory: take_memory(&mut link), ..State::default() };
    if let Some(tokens) = http::prepare(t, &mut link, reused) {
        tokens.await?;
    }
    let request = request(t, &link, &mut state)?;
    http::bind(t, &mut link)?;
    http::begin(t);
    let mut active = ActiveExchange::begin(t, &mut link, request, reused, Dialect::Rtsp);
    // Bytes received earlier on the connection are read first.
    active.exchange.unread(&std::mem::take(&mut state.memory.unread));
    let early_data = t.is_ahead();
    match converse(t, &mut active, &mut state).await.map_err(|e| t.late_failure(e)) {
        Ok((next, keep)) => {
            let memory = Some(Box::new(state.memory) as Box<dyn net::Memory>);
            let again = matches!(next, Next::Again);
            http::end(t, link, active, EndFacts { keep, again, http10: false, memory });
            Ok(next)
        }
        Err(e) => http::failed(active, e, early_data),
    }
}

/// Reads the reply. Returns what follows, and whether the connection can carry another request.
async fn converse(
    t: &mut HttpTransfer,
    active: &mut ActiveExchange,
    state: &mut State,
) -> Result<(Next, bool)> {
    let mut response = Response::default();
    let mut heads = Heads::default();
    loop {
        reach_reply(t, active, &state.memory.channels).await?;
        let mut on_field = |t: &Transfer, line: &HeaderLine<'_>| field(t, state, line);
        http::head(t, active, &mut heads, &mut response, &mut on_field).await?;
        if !http::is_interim(t, active, &mut response)? {
            break;
        }
    }
    if http::expects_tokens(t) {
        boxed(|| http::pass_tokens(t, active, &response)).await;
    }
    let next = http::next(t, active, &response)?;
    let is_last = matches!(next, Next::Done);
    let keep = http::read(t, active, &response, is_last).await?;
    finish(t, active, state)?;
    let keep = http::finish(t, active, &response, &next, keep).await?;
    if is_last {
        http::report_location(t, &response);
    }
    Ok((next, keep))
}

fn wanted(t: &Transfer) -> Method {
    Method::from_number(t.long(O::RtspRequest)).unwrap_or(Method::Options)
}

/// Both sides count from 1.
fn begin_counting(t: &Transfer, option: O) {
    if t.long(option) == 0 {
        let _ = t.easy.settings.borrow_mut().set_long(option, 1);
    }
}

/// A body is an upload's, or a POST's; there are no forms. One without a size known beforehand is none.
fn body_method(t: &Transfer, method: Method) -> BodyMethod {
    let settings = t.easy.settings.borrow();
    let posts =
        settings.uncommon.copied_post_fields.is_some() || t.easy.callbacks.post_fields_len().is_some();
    let uploads = settings.method == BodyMethod::Put;
    // CURLOPT_INFILESIZE applies only to an upload: without one, the read callback's data may have been
    // freed.
    let size = settings.long(if uploads { O::InFileSizeLarge } else { O::PostFieldSizeLarge });
    decide::body_method(method, uploads, posts, size)
}

/// The head of a request, with the fields in curl's order, and its body.
fn request(t: &mut HttpTransfer, link: &HttpLink, state: &mut State) -> Result<Request> {
    let method = wanted(t);
    let custom = Custom::of(t, link);
    let body = ClientReader::open(&t.easy, t.method)?;
    let follows =
        if body.is_nothing() || body.size == Some(0) { RequestBody::None } else { RequestBody::Plain };
    refuse(t, method, &custom)?;
    let uri = t.text(O::RtspStreamUri).unwrap_or_else(|| Rc::from(&b"*"[..]));
    let url = t.url.clone();
    let name = method.name().as_bytes();
    let target = http::Target { method: name, host: url.host_field()?, custom: &custom, uri: Some(&uri) };
    let authorization = http::authorization(t, link, &target, &body)?;
    let number = t.long(O::RtspClientCseq);
    let write_uri = |out: &mut Vec<u8>| out.extend_from_slice(&uri);
    let mut head = Head::new(RequestHead::new(name, t.scheme().name(), write_uri, PROTOCOL), &custom);
    head.field("CSeq", number.to_string().as_bytes());
    t.text(O::RtspSessionId).iter().for_each(|session| head.field("Session", session));
    if method == Method::Setup {
        head.unless_custom("Transport", t.text(O::RtspTransport).as_deref());
    }
    if method == Method::Describe {
        head.unless_custom("Accept", Some(b"application/sdp"));
        head.unless_custom("Accept-Encoding", t.text(O::AcceptEncoding).as_deref());
    }
    if decide::takes_range(method) {
        head.unless_custom("Range", t.text(O::Range).as_deref());
    }
    head.unless_custom("Referer", t.text(O::Referer).as_deref());
    head.unless_custom("User-Agent", t.text(O::UserAgent).filter(|name| !name.is_empty()).as_deref());
    head.lines(&authorization);
    if decide::takes_condition(method) {
        http::time_condition_field(t, &mut head);
    }
    head.custom_lines(t, &body);
    head.connection_field(t, link);
    if let (RequestBody::Plain, Some(size), Some(kind)) = (follows, body.size, method.content_type()) {
        head.unless_custom("Content-Length", Some(size.to_string().as_bytes()));
        head.unless_custom("Content-Type", Some(kind.as_bytes()));
        t.easy.info.borrow_mut().upload_total = size as i64;
    }
    let head = head.end(follows);
    (state.sent, state.received) = (number, 0);
    let _ = t.easy.settings.borrow_mut().set_long(O::RtspClientCseq, number + 1);
    let answered = decide::has_answer(method, follows != RequestBody::None);
    Ok(Request { head: Rc::new(head), body, expects: false, trailers: false, head_only: !answered })
}

/// Refuses unsupported requests, with curl's texts.
fn refuse(t: &Transfer, method: Method, custom: &Custom) -> Result<()> {
    decide::check(&decide::Request {
        method,
        has_transport: t.text(O::RtspTransport).is_some() || custom.names("Transport"),
        names_sequence: custom.names("CSeq"),
        names_session: custom.names("Session"),
    })
}

/// Takes the memory of the request's connection.
fn take_memory(link: &mut HttpLink) -> Memory {
    let memory = link.lease.whole().and_then(|whole| whole.connection().state.take()?.take::<Memory>());
    memory.map(|memory| *memory).unwrap_or_default()
}

/// Waits until the head of a reply starts.
async fn reach_reply(t: &mut Transfer, active: &mut ActiveExchange, channels: &Channels) -> Result<()> {
    let mut idling = Idling::default();
    while clear(t, active.exchange.as_mut(), channels)? != Front::Message {
        poll_fn(|cx| idling.poll_step(&t.easy, cx)).await;
        if !http::more(t, active).await? {
            return Err(Error::new(Code::GotNothing, "Empty reply from server"));
        }
    }
    t.mark_first_byte();
    Ok(())
}

/// Delivers packets and drops what is neither packet nor message. Returns what follows.
fn clear(t: &Transfer, exchange: &mut dyn Exchange, channels: &Channels) -> Result<Front> {
    loop {
        match rtsp::front(exchange.rest(), channels, true) {
            Front::Packet(length) => {
                hand_out(t, &exchange.rest()[..length])?;
                exchange.skip(length);
            }
            Front::Junk(length) => exchange.skip(length),
            other => return Ok(other),
        }
    }
}

fn hand_out(t: &Transfer, packet: &[u8]) -> Result<()> {
    t.easy.trace("rtsp", || format!("a packet of {} bytes on channel {}", packet.len(), packet[1]));
    match t.easy.callbacks.interleaved(packet) {
        WriteAnswer::All => Ok(()),
        WriteAnswer::Pause => Err(Error::new(Code::WriteError, "Cannot pause RTP")),
        WriteAnswer::Failed(_) => Err(Error::new(Code::WriteError, "Failed writing RTP data")),
    }
}

/// Takes in a field of a reply's head.
fn field(t: &Transfer, state: &mut State, field: &HeaderLine<'_>) -> Result<()> {
    if field.is("CSeq") {
        let number = rtsp::sequence_number(field.value)
            .ok_or_else(|| Error::new(Code::RtspCseqError, "Unable to read the CSeq header"))?;
        state.received = number;
        t.easy.rtsp_received.set(number);
    } else if field.is("Session") {
        session(t, field.value)?;
    } else if field.is("Transport") {
        state.memory.channels.announced(field.value);
    }
    Ok(())
}

/// Checks the session ID: it is the one that the application set or, if it set none, it is stored as the
/// handle's.
fn session(t: &Transfer, value: &[u8]) -> Result<()> {
    let known = t.text(O::RtspSessionId);
    if let Some(id) = decide::session(value, known.as_deref())? {
        let _ = t.easy.settings.borrow_mut().set_text(O::RtspSessionId, Some(id));
    }
    Ok(())
}

/// Ends the exchange after the reply. Packets after it are delivered, and the rest belongs to the connection.
fn finish(t: &Transfer, active: &mut ActiveExchange, state: &mut State) -> Result<()> {
    let State { sent, received, .. } = *state;
    decide::check_sequence(sent, received)?;
    let exchange = active.exchange.as_mut();
    clear(t, exchange, &state.memory.channels)?;
    state.memory.unread = exchange.rest().to_vec();
    exchange.skip(exchange.rest().len());
    Ok(())
}

/// CURL_RTSPREQ_RECEIVE: delivers what one read returns, and the rest of an incomplete packet.
async fn receive(t: &mut HttpTransfer) -> Result<()> {
    let mut link = http::connect(t, false).await?;
    let mut memory = take_memory(&mut link);
    let mut whole = link.into_whole()?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let mut received = std::mem::take(&mut memory.unread);
    let mut idling = Idling::default();
    loop {
        poll_fn(|cx| idling.poll_step(&t.easy, cx)).await;
        if !poll_fn(|cx| poll_fill(cx, &mut whole, &mut received)).await? {
            return Err(Error::new(Code::RecvError, "Server prematurely closed the RTSP connection."));
        }
        t.mark_first_byte();
        take_packets(t, &mut received, &memory.channels)?;
        if received.is_empty() {
            break;
        }
    }
    whole.connection().state = Some(Box::new(memory));
    t.release(whole);
    Ok(())
}

/// Receives more; `false` when the server closed.
fn poll_fill(cx: &mut Context<'_>, whole: &mut Whole, received: &mut Vec<u8>) -> Poll<Result<bool>> {
    let mut piece = [0; PIECE];
    let n = ready!(whole.connection().filter().poll_read(cx, &mut piece)).map_err(|e| receive_failed(&e))?;
    received.extend_from_slice(&piece[..n]);
    Poll::Ready(Ok(n > 0))
}

/// Delivers all complete packets, and leaves an incomplete one.
fn take_packets(t: &Transfer, received: &mut Vec<u8>, channels: &Channels) -> Result<()> {
    let mut at = 0;
    loop {
        match rtsp::front(&received[at..], channels, false) {
            Front::Packet(length) => {
                hand_out(t, &received[at..at + length])?;
                at += length;
            }
            Front::Junk(length) => at += length,
            Front::Message | Front::Incomplete => break,
        }
    }
    received.drain(..at);
    Ok(())
}
