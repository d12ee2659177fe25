//! The head of a request (RFC 9112 §3), with the fields in curl's order, and its body.

use std::borrow::Cow;
use std::hint::cold_path;
use std::rc::Rc;

use net::exchange::{MAX_SENT_HTTP2, RequestBody, RequestHead, sent_size};
use tables::constant::{CURL_TIMECOND_IFMODSINCE, CURL_TIMECOND_IFUNMODSINCE, CURL_TIMECOND_LASTMOD};
use tables::scheme::Family;
use tables::{Code, EasyOption as O};
use wire::date;
use wire::trace_context::TraceParent;
use wire::url::{Part, Url, flag};
use wire::ws;

use super::decide::body::{Expect, Expectation, Framing, NoFraming};
use super::decide::request::{Host, NothingLeft, Part as Partial, Range};
use super::decide::version::Version;
use super::decide::{body as body_rules, request as rules};
use super::fields::{Custom, Head, wants_te};
use super::http_transfer::HttpTransfer;
use super::message::Request;
use super::proof::{self, write_target};
use super::version::{asks_for_http2, is_on_stream, version};
use super::{auth, upgrade, upload_series};
use crate::error::{Error, Result, Retry};
use crate::outputs::{self, Output, trace};
use crate::settings::{Method, Text};
use crate::stores::altsvc::Alternative;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::credentials::own;
use crate::transfer::link::HttpLink;
use crate::transfer::route::url::{url_text, without_credentials};

/// Longest head of a request (curl's DYN_HTTP_REQUEST).
const MAX_REQUEST: usize = 1024 * 1024;

/// Builds the request for the transfer's current URL.
pub fn build(t: &mut HttpTransfer, link: &HttpLink) -> Result<Request> {
    let mut custom = Custom::of(t, link);
    custom.replace(t.http.fields_of_cache());
    let is_step =
        t.http.upload_step.as_ref().map(|step| upload_series::add_fields(step, &mut custom)).is_some();
    let mut body = if is_step { upload_series::body(t)? } else { ClientReader::open(&t.easy, t.method)? };
    let name = method_name(t);
    note_method(t, &name);
    let on_stream = is_on_stream(t, link);
    let resume = if is_step { None } else { resume_upload(t, &mut body)? };
    let version = version(t, link);
    let url = t.url.clone();
    let host = url.host_field()?;
    let target = proof::Target { method: &name, host, custom: &custom, uri: None };
    let authorization = auth::fields(t, link, &target, &body)?;
    let withheld = t.http.auth.withholds_body;
    if withheld {
        body = ClientReader::empty(&t.easy);
    }
    if on_stream {
        cold_path();
        body = upgrade::frames(t);
    }
    let follows = what_follows(t, &custom, &body, version)?;
    let chunked = follows == RequestBody::Chunked;

    let target = |out: &mut Vec<u8>| match t.text(O::RequestTarget) {
        // Scheme and authority are fields of their own, for a proxy, too (RFC 9113 §8.3.1).
        None if version.has_streams() => write_target(&t.url, out),
        _ => request_target(t, link, out),
    };
    let mut out = match on_stream {
        true => RequestHead::new(b"CONNECT", upgrade::scheme_on_stream(t), target, version.name()),
        false => RequestHead::new(&name, t.scheme().name(), target, version.name()),
    };
    out.protocol = on_stream.then_some(upgrade::WEBSOCKET);
    let mut head = Head::new(out, &custom);
    host_field(t, &mut head, host);
    head.lines(&authorization);
    range_field(t, &mut head, resume, body.size);
    head.unless_custom("User-Agent", t.text(O::UserAgent).filter(|name| !name.is_empty()).as_deref());
    head.unless_custom("Accept", Some(b"*/*"));
    transfer_coding_field(t, &mut head);
    head.unless_custom("Accept-Encoding", t.text(O::AcceptEncoding).as_deref());
    priority_field(t, &mut head);
    referer_field(t, &mut head);
    if link.forwarder().is_some() && !version.has_streams() {
        let connection = custom.value("Proxy-Connection").is_none();
        if connection {
            head.field("Proxy-Connection", b"Keep-Alive");
        }
    }
    if chunked && !custom.names("Transfer-Encoding") {
        head.field("Transfer-Encoding", b"chunked");
    }
    alternative_field(link, &mut head);
    upgrade_fields(t, link, &mut head)?;
    cookie_field(t, &mut head);
    if outputs::has(Output::Trace) && t.easy.why.is_on() {
        trace_field(t, &mut head);
    }
    time_condition_field(t, &mut head);
    head.custom_lines(t, &body);
    let expects = body_fields(t, &mut head, &body, follows, version, withheld);
    head.connection_field(t, link);
    head.out.end(follows);
    head.out.check()?;
    check_size(&head.out, version)?;
    // A request without a body has a body of zero bytes, as reported to the application.
    let size = if withheld || body.is_nothing() { 0 } else { body.size.map_or(-1, |s| s as i64) };
    t.easy.info.borrow_mut().upload_total = size;
    let head = Rc::new(head.out);
    let open = rules::has_open_end(follows, version, body.size, on_stream);
    if open {
        body.end_ends_it();
    }
    Ok(Request {
        head,
        body,
        expects,
        trailers: open,
        head_only: t.method == Method::Head || t.on(O::NoBody),
    })
}

/// Checks the size of a head. HTTP/2 has a smaller limit ([`MAX_SENT_HTTP2`]); no field measures more than
/// four times its line, so that short heads need not be taken apart.
fn check_size(head: &RequestHead, version: Version) -> Result<()> {
    let text = head.text().len();
    if text > MAX_REQUEST {
        return Err(Error::new(Code::TooLarge, "The request's head is too large"));
    }
    if version == Version::Http2 && text > MAX_SENT_HTTP2 / 4 && sent_size(head) > MAX_SENT_HTTP2 {
        return Err(Error::from(Code::SendError).with_retry(Retry::Forbidden));
    }
    Ok(())
}

/// The request method's name.
pub fn method_name(t: &HttpTransfer) -> Cow<'static, [u8]> {
    if let Some(method) = upload_series::method(t) {
        return Cow::Borrowed(method.as_bytes());
    }
    if let Some(custom) = t.text(O::CustomRequest)
        && !t.http.custom_dropped
    {
        return Cow::Owned(custom.to_vec());
    }
    if t.on(O::NoBody) {
        return Cow::Borrowed(b"HEAD");
    }
    Cow::Borrowed(t.method.verb().as_bytes())
}

pub fn note_method(t: &Transfer, name: &[u8]) {
    let usual = ["GET", "HEAD", "POST", "PUT"].into_iter().find(|usual| usual.as_bytes() == name);
    let method = usual.map(Cow::Borrowed);
    t.easy.info.borrow_mut().effective_method =
        method.unwrap_or_else(|| Cow::Owned(String::from_utf8_lossy(name).into_owned()));
}

/// Writes the text between method and version: a path, or the whole URL for a proxy.
fn request_target(t: &Transfer, link: &HttpLink, out: &mut Vec<u8>) {
    if let Some(target) = t.text(O::RequestTarget) {
        out.extend_from_slice(&target);
    } else if link.forwarder().is_none() {
        write_target(&t.url, out);
    } else if t.scheme().family() == Family::Http {
        out.extend_from_slice(&absolute_target(t));
    } else {
        out.extend_from_slice(&ftp_target(t));
    }
}

/// Returns the whole URL for a proxy, its host in ASCII. A default port is omitted, even if the application
/// wrote it.
fn absolute_target(t: &Transfer) -> Vec<u8> {
    let text = without_credentials(&t.url);
    let usual = t.url.port() == Some(t.scheme().default_port());
    if !usual && t.url.host().is_some_and(<[u8]>::is_ascii) {
        return text;
    }
    let bits = flag::GET_EMPTY | flag::PUNYCODE | if usual { flag::NO_DEFAULT_PORT } else { 0 };
    let url = Url::parse(&text, flag::NON_SUPPORT_SCHEME | flag::PATH_AS_IS);
    url.and_then(|url| url.get(Part::Url, bits)).unwrap_or(text)
}

/// Returns the URL for a proxy that fetches by FTP. It contains the login, because there is no other way to
/// pass it to the server.
fn ftp_target(t: &Transfer) -> Vec<u8> {
    let mut url = Url::clone(&t.url);
    let _ = url.set(Part::Fragment, None, 0);
    if let Some((user, password)) = own(t).ok().filter(|(user, _)| !user.is_empty()) {
        let _ = url.set(Part::User, Some(&user), flag::URLENCODE);
        let _ = url.set(Part::Password, Some(&password), flag::URLENCODE);
    }
    let mut text = url_text(&url);
    if t.on(O::ProxyTransferMode) && !names_type(&text) {
        text.extend_from_slice(if t.on(O::TransferText) { b";type=a" } else { b";type=i" });
    }
    text
}

/// Whether an FTP URL ends in one of the types of RFC 1738, section 3.2.2.
fn names_type(url: &[u8]) -> bool {
    let kind = url.len().checked_sub(7).map(|at| url[at..].to_ascii_lowercase());
    kind.is_some_and(|kind| kind.starts_with(b";type=") && matches!(kind[6], b'a' | b'd' | b'i'))
}

/// Writes the Host field.
fn host_field(t: &Transfer, head: &mut Head, value: &[u8]) {
    let custom = head.custom;
    let own = custom.behind_colon("Host");
    match rules::host(t.other_origin, custom.names("Host"), own.is_some(), custom.blanks("Host")) {
        Host::OfUrl => head.field("Host", value),
        Host::Own => head.out.line(&[b"Host:", own.unwrap_or_default()]),
        Host::Empty => head.out.line(&[b"Host:"]),
        Host::Absent => {}
    }
}

/// Offset and total of a resumed upload.
type Resume = Option<(u64, Option<u64>)>;

fn resume_upload(t: &Transfer, body: &mut ClientReader) -> Result<Resume> {
    let total = body.size;
    let from = rules::resumed_upload(t.method, t.long(O::ResumeFromLarge), body.is_nothing(), total);
    // Not seekable is reported before too short.
    let place = match from {
        Ok(place) => place,
        Err(NothingLeft) => u64::try_from(t.long(O::ResumeFromLarge)).ok(),
    };
    place.filter(|place| *place > 0).map_or(Ok(()), |place| body.skip(place))?;
    match from {
        Ok(place) => Ok(place.map(|place| (place, total))),
        Err(NothingLeft) => Err(Error::new(Code::PartialFile, "File already completely uploaded")),
    }
}

/// Returns the facts that decide which part of a document is meant.
fn partial(t: &Transfer, custom: &Custom, resume: Resume) -> Partial {
    Partial {
        method: t.method,
        from: t.long(O::ResumeFromLarge),
        range: t.text(O::Range).is_some(),
        upload: resume,
        own_range: custom.names("Range"),
        own_content_range: custom.names("Content-Range"),
    }
}

/// Returns the value of the Range field that is added to the application's fields.
fn range_value(t: &Transfer, custom: &Custom) -> Option<Vec<u8>> {
    match rules::range(&partial(t, custom, None)) {
        Range::From(from) => Some(format!("bytes={from}-").into_bytes()),
        Range::Option => Some([b"bytes=".as_slice(), &t.text(O::Range).unwrap_or_default()].concat()),
        _ => None,
    }
}

/// Writes the field that names the part of a document that is meant.
fn range_field(t: &Transfer, head: &mut Head, resume: Resume, size: Option<u64>) {
    let text = t.text(O::Range).unwrap_or_default();
    match rules::range(&partial(t, head.custom, resume)) {
        Range::None => {}
        Range::From(from) => head.field("Range", format!("bytes={from}-").as_bytes()),
        Range::Option => head.out.line(&[b"Range: bytes=", &text]),
        Range::Upload(from, Some(total)) => {
            // The range of an empty file ends before it begins, as in curl.
            let text = format!("bytes {from}-{}/{total}", i128::from(total) - 1);
            head.field("Content-Range", text.as_bytes());
        }
        Range::Upload(from, None) => head.field("Content-Range", format!("bytes {from}-/*").as_bytes()),
        Range::UploadOption => {
            let total = size.map_or_else(|| "*".to_owned(), |n| n.to_string());
            head.out.line(&[b"Content-Range: bytes ", &text, format!("/{total}").as_bytes()]);
        }
    }
}

fn transfer_coding_field(t: &Transfer, head: &mut Head) {
    if wants_te(t, head.custom) {
        head.field("TE", b"gzip");
    }
}

/// Adds the fields that ask for HTTP/2 (RFC 7540 §3.2) or a WebSocket (RFC 6455 §4.1, RFC 8441 §5).
fn upgrade_fields(t: &mut HttpTransfer, link: &HttpLink, head: &mut Head) -> Result<()> {
    if asks_for_http2(t, link) {
        cold_path();
        head.field("Upgrade", b"h2c");
        head.field("HTTP2-Settings", t.http2_config().upgrade_value().as_bytes());
    }
    if t.scheme().family() != Family::Ws {
        return Ok(());
    }
    let by_upgrade = !is_on_stream(t, link);
    if by_upgrade {
        head.unless_custom("Upgrade", Some(upgrade::WEBSOCKET.as_bytes()));
    }
    head.unless_custom("Sec-WebSocket-Version", Some(ws::VERSION.as_bytes()));
    if by_upgrade {
        let mut nonce = [0; 16];
        net::random(&mut nonce).map_err(|_| Error::from(Code::FailedInit))?;
        head.unless_custom("Sec-WebSocket-Key", Some(ws::key(nonce).as_bytes()));
    }
    let own = head.custom.names(upgrade::EXTENSIONS);
    t.http.deflate =
        t.transfer.connector.easy.settings.borrow().websocket().deflate.filter(|_| !own && !t.easy.ws_raw());
    if let Some(offer) = t.http.deflate {
        cold_path();
        head.field(upgrade::EXTENSIONS, offer.field().as_bytes());
    }
    Ok(())
}

/// RFC 7838 §5: which alternative the request was sent to.
fn alternative_field(link: &HttpLink, head: &mut Head) {
    let Some(Alternative { host, port, .. }) = &link.plan.alternative else { return };
    let name = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    head.unless_custom("Alt-Used", Some(name.as_bytes()));
}

/// Gives the request a span, and writes the field by which the server's spans join it. An application's own
/// field is sent as it is, and the span is below the one that it names. Redirects to another origin and hosts
/// that WARMWIRE_TRACE_HOSTS does not name get none.
#[cold]
#[inline(never)]
fn trace_field(t: &HttpTransfer, head: &mut Head) {
    const FIELD: &str = "traceparent";
    let named = head.custom.value(FIELD).and_then(|value| TraceParent::parse(value.trim_ascii()));
    let Some(ids) = trace::begin(named, t.easy.why.first_span().as_ref()) else { return };
    t.easy.why.set_span(ids);
    let host = t.url.host().unwrap_or_default();
    if !t.other_origin && trace::is_sent_to(host) {
        head.unless_custom(FIELD, Some(ids.own.to_string().as_bytes()));
    }
}

/// Writes the field Priority (RFC 9218 §5).
fn priority_field(t: &Transfer, head: &mut Head) {
    let priority = t.easy.settings.borrow().choices().priority;
    if let Some(priority) = priority {
        cold_path();
        head.unless_custom("Priority", Some(priority.to_string().as_bytes()));
    }
}

fn referer_field(t: &HttpTransfer, head: &mut Head) {
    let referer = referer(t);
    t.easy.info.borrow_mut().note_referer(referer.as_deref().map(Text::from));
    head.unless_custom("Referer", referer.as_deref());
}

fn referer(t: &HttpTransfer) -> Option<Vec<u8>> {
    let referer = t.http.referer.clone().or_else(|| t.text(O::Referer).map(|r| r.to_vec()));
    referer.filter(|r| !r.is_empty())
}

/// Returns the fields on which a reply may depend, as they will be sent, without a connection.
pub fn foreseen(t: &HttpTransfer) -> Vec<(Vec<u8>, Vec<u8>)> {
    let custom = Custom::permitted(t, t.easy.settings.borrow().list(O::HttpHeader).to_vec(), Vec::new());
    let own = [
        ("User-Agent", t.text(O::UserAgent).filter(|name| !name.is_empty()).map(|name| name.to_vec())),
        ("Accept", Some(b"*/*".to_vec())),
        ("Accept-Encoding", t.text(O::AcceptEncoding).map(|codings| codings.to_vec())),
        ("Referer", referer(t)),
        ("Range", range_value(t, &custom)),
        ("Cookie", cookies(t, &custom)),
    ];
    let own = own.into_iter().filter(|(name, _)| *name == "Cookie" || !custom.names(name));
    let own = own.filter_map(|(name, value)| Some((name.as_bytes().to_vec(), value?)));
    own.chain(custom.pairs().into_iter().map(|(name, value)| (name.to_vec(), value.to_vec()))).collect()
}

fn cookie_field(t: &Transfer, head: &mut Head) {
    if let Some(both) = cookies(t, head.custom) {
        head.field("Cookie", &both);
    }
}

/// Returns the value of Cookie, if there is one besides the application's own field.
fn cookies(t: &Transfer, custom: &Custom) -> Option<Vec<u8>> {
    let own = t.text(O::Cookie).filter(|_| !custom.names("Cookie"));
    let own = own.and_then(|line| t.secret(line).for_peer(&t.peer()).cloned());
    t.cookies_to_send(own.as_deref())
}

/// Adds If-Modified-Since or a field like it (CURLOPT_TIMECONDITION(3)).
pub fn time_condition_field(t: &Transfer, head: &mut Head) {
    let condition = t.long(O::TimeCondition);
    let name = match condition {
        CURL_TIMECOND_IFMODSINCE => "If-Modified-Since",
        CURL_TIMECOND_IFUNMODSINCE => "If-Unmodified-Since",
        CURL_TIMECOND_LASTMOD => "Last-Modified",
        _ => return,
    };
    let seconds = t.long(O::TimeValueLarge);
    head.unless_custom(name, Some(date::http(seconds).as_bytes()));
}

/// Decides how the body is framed; fails if it cannot be.
fn what_follows(t: &Transfer, custom: &Custom, body: &ClientReader, version: Version) -> Result<RequestBody> {
    let framing = Framing {
        version,
        is_nothing: body.is_nothing(),
        size: body.size,
        own_coding: custom.value("Transfer-Encoding"),
        names_coding: custom.names("Transfer-Encoding"),
    };
    body_rules::framing(&framing).map_err(|NoFraming| {
        t.easy.note(|| "Chunky upload is not supported by HTTP 1.0".to_owned());
        Error::new(Code::UploadFailed, "Chunky upload is not supported by HTTP 1.0")
    })
}

/// Writes Content-Length, Content-Type and Expect. Returns whether a go-ahead is awaited.
fn body_fields(
    t: &HttpTransfer,
    head: &mut Head,
    body: &ClientReader,
    follows: RequestBody,
    version: Version,
    withheld: bool,
) -> bool {
    let has_body = matches!(t.method, Method::Post | Method::PostMime | Method::Put);
    if !has_body {
        return false;
    }
    let own = head.custom.names("Content-Length");
    if let Some(size) = rules::content_length(follows, withheld, own, body.size) {
        head.field("Content-Length", size.to_string().as_bytes());
    }
    if t.method == Method::Post {
        head.unless_custom("Content-Type", Some(b"application/x-www-form-urlencoded"));
    }
    if let Some(form) = body.form() {
        for line in form.headers() {
            head.out.line(&[&line]);
        }
        if let Some(value) = form.content_type() {
            let own = head.custom.value("Content-Type").map(<[u8]>::to_vec);
            let boundary = value.windows(9).position(|w| w == b"boundary=").map(|at| &value[at..]);
            match (own, boundary) {
                // The application's own type needs the boundary all the same.
                (Some(own), Some(boundary)) => {
                    head.field("Content-Type", &[&own, &b"; "[..], boundary].concat())
                }
                _ => head.field("Content-Type", &value),
            }
        }
    }
    let expectation = Expectation {
        version,
        withheld,
        is_nothing: body.is_nothing(),
        size: body.size_as_given(),
        own: head.custom.value("Expect"),
        named: head.custom.names("Expect"),
        refused: t.http.no_expect,
    };
    let expect = body_rules::expectation(&expectation);
    if expect == Expect::Added {
        head.field("Expect", b"100-continue");
    }
    expect != Expect::Absent
}
