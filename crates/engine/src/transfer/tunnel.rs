//! The way through a proxy to the origin: an HTTP CONNECT (RFC 9110 §9.3.6). What the proxy sends
//! before the tunnel stands goes to the application's header callback. A proxy over TLS may agree to HTTP/2, where the tunnel is
//! a stream (CURLPROXY_HTTPS2; RFC 9113 §8.5).

use std::io::ErrorKind;

use net::Filter;
use net::connect::Endpoints;
use net::exchange::{RequestBody, RequestHead};
use net::filter::http_proxy::TunnelFilter;
use net::filter::http2_proxy::Http2TunnelFilter;
use tables::{Code, EasyOption as O};
use wire::http1::status::connect_status;
use wire::http1::{ChunkedDecoder, HeaderLine, check_octets, continue_line, is_empty_line, own_line};

use super::Transfer;
use super::auth::{Ask, Scheme, Steps};
use super::negotiate::listen;
use super::plan::{Plan, own_lines};
use super::proxy::{Proxy, ProxyKind};
use super::socks::Goal;
use crate::callbacks::{DebugKind, Written};
use crate::error::{Error, Result};
use crate::stores::headers::Origin;
use crate::transfer::body::{receive_failed, send_failed};

/// Longest head of a CONNECT reply.
const MAX_HEAD: usize = 300 * 1024;
/// Longest line of one.
const MAX_LINE: usize = 16 * 1024 - 1;

/// Goes through the proxy, if it passes bytes at all. `None` when it wants another round of authentication on a new
/// connection.
pub async fn through(
    t: &Transfer,
    below: Box<dyn Filter>,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<Option<Box<dyn Filter>>> {
    if proxy.kind.is_socks() {
        return Ok(Some(super::socks::through(t, below, proxy, Goal::of(plan)).await?));
    }
    if !proxy.tunnel { Ok(Some(below)) } else { connect_tunnel(t, below, proxy, plan).await }
}

/// Requests on one connection; a proxy that refuses for ever ends it.
const MAX_ROUNDS: usize = 8;

async fn connect_tunnel(
    t: &Transfer,
    below: Box<dyn Filter>,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<Option<Box<dyn Filter>>> {
    if below.tls().is_some_and(|tls| tls.alpn.as_deref() == Some("h2")) {
        return Box::pin(connect_stream(t, below, proxy, plan)).await.map(Some);
    }
    let version = if proxy.kind == ProxyKind::Http10 { "HTTP/1.0" } else { "HTTP/1.1" };
    t.easy.note(|| format!("CONNECT tunnel: {version} negotiated"));
    let mut tunnel = TunnelFilter::new(below);
    let mut steps = Steps::default();
    let mut status = 0;
    for _ in 0..MAX_ROUNDS {
        proxy.prepare(t, &mut steps.negotiate).await;
        let (head, proves) = request(t, proxy, plan, (version, &mut steps))?;
        t.easy.trace("http-proxy", || format!("asks {}:{} for a tunnel", proxy.host, proxy.port));
        note_request(t, &head);
        tunnel.send(head.text()).await.map_err(|e| send_failed(&e))?;
        let reply = reply(t, &mut tunnel).await?;
        if reply.cut_off && (!proves || reply.challenges.is_empty()) {
            return Err(Error::new(Code::RecvError, "Proxy CONNECT aborted"));
        }
        status = reply.status;
        t.easy.info.borrow_mut().connect_code = i64::from(status);
        if status / 100 == 2 {
            t.easy.note(|| format!("CONNECT tunnel established, response {status}"));
            return Ok(Some(Box::new(tunnel)));
        }
        // What a 407 says is read to its end before anything is decided: a body that is none counts for more than the
        // refusal, as in curl.
        let ended = status == 407 && !reply.cut_off && skip_body(t, &mut tunnel, &reply).await?;
        if !another_round(t, proxy, &reply, &mut steps).await {
            break;
        }
        if !reply.keep_alive || !ended {
            t.easy.note(|| "Connect me again please".to_owned());
            return Ok(None);
        }
    }
    Err(refused(status))
}

fn refused(status: u16) -> Error {
    Error::new(Code::CouldntConnect, format!("CONNECT tunnel failed, response {status}"))
}

fn note_request(t: &Transfer, head: &RequestHead) {
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, head.text());
    t.easy.info.borrow_mut().request_size += head.text().len() as i64;
}

/// The same through a proxy that speaks HTTP/2: each round has a stream of its own on one session. As in curl, the application
/// does not see the head of the reply.
async fn connect_stream(
    t: &Transfer,
    below: Box<dyn Filter>,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<Box<dyn Filter>> {
    t.easy.note(|| "CONNECT tunnel: HTTP/2 negotiated".to_owned());
    let mut tunnel = Http2TunnelFilter::new(below);
    let mut steps = Steps::default();
    let mut status = 0;
    for _ in 0..MAX_ROUNDS {
        proxy.prepare(t, &mut steps.negotiate).await;
        let (head, _) = request(t, proxy, plan, ("HTTP/2", &mut steps))?;
        t.easy.trace("h2-proxy", || format!("asks {}:{} for a tunnel", proxy.host, proxy.port));
        note_request(t, &head);
        let answer = tunnel.connect(&head).await;
        let (code, fields) = answer.map_err(|_| Error::new(Code::RecvError, "Proxy CONNECT aborted"))?;
        status = code;
        t.easy.info.borrow_mut().connect_code = i64::from(status);
        if status / 100 == 2 {
            t.easy.note(|| format!("CONNECT tunnel established, response {status}"));
            return Ok(Box::new(tunnel));
        }
        let challenges = fields.iter().filter(|(name, _)| *name == b"proxy-authenticate");
        let challenges = challenges.map(|(_, value)| value.to_vec()).collect();
        let reply = Reply { status, keep_alive: true, challenges, ..Reply::default() };
        if !another_round(t, proxy, &reply, &mut steps).await {
            break;
        }
    }
    Err(refused(status))
}

/// Whether a refusal asks for credentials that we have.
async fn another_round(t: &Transfer, proxy: &Proxy, reply: &Reply, steps: &mut Steps) -> bool {
    if reply.status != 407 {
        return false;
    }
    let by_ticket = t.easy.stores.auth.borrow().proxy.uses(Scheme::Negotiate);
    if by_ticket {
        let challenges = Some(&reply.challenges);
        listen(t, proxy.whom(), &mut steps.negotiate, challenges, reply.keep_alive).await;
    }
    let mut memory = t.easy.stores.auth.borrow_mut();
    let heard = memory.proxy.challenged(&reply.challenges, &proxy.peer(), steps);
    t.easy.info.borrow_mut().proxy_auth_available = heard.offered as i64;
    !heard.problem && proxy.login_or_unnamed(by_ticket).is_some() && memory.proxy.pick(heard.usable)
}

/// The request in this version, and whether it proves who is asking.
fn request(
    t: &Transfer,
    proxy: &Proxy,
    plan: &Plan,
    (version, steps): (&str, &mut Steps),
) -> Result<(RequestHead, bool)> {
    let settings = t.easy.settings.borrow();
    let host = if plan.host.contains(':') { format!("[{}]", plan.host) } else { plan.host.clone() };
    let target = format!("{host}:{}", plan.port);
    let custom = t.told_lines(&settings.list(own_lines(&settings)));
    let names = |name: &str| {
        custom.iter().any(|l| own_line(l).is_some_and(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes())))
    };
    let write_target = |out: &mut Vec<u8>| out.extend_from_slice(target.as_bytes());
    let mut head = RequestHead::new(b"CONNECT", "", write_target, version);
    if !names("Host") {
        head.field("Host", target.as_bytes());
    }
    let proof = authorization(t, proxy, &target, names("Proxy-Authorization"), steps)?;
    let proves = proof.is_some();
    if let Some(value) = proof {
        head.field("Proxy-Authorization", &value);
    }
    let agent = settings.text(O::Useragent).filter(|agent| !agent.is_empty() && !names("User-Agent"));
    if let Some(agent) = agent {
        head.field("User-Agent", &agent);
    }
    if !names("Proxy-Connection") {
        head.field("Proxy-Connection", b"Keep-Alive");
    }
    for line in custom.iter() {
        match own_line(line) {
            // Takes a field away.
            None | Some((_, Some([]))) => {}
            Some((_, Some(_))) => head.line(&[line]),
            Some((name, None)) => head.line(&[name, b":"]),
        }
    }
    head.end(RequestBody::None);
    Ok((head, proves))
}

fn authorization(
    t: &Transfer,
    proxy: &Proxy,
    target: &str,
    custom: bool,
    steps: &mut Steps,
) -> Result<Option<Vec<u8>>> {
    let mut memory = t.easy.stores.auth.borrow_mut();
    let by_ticket = memory.proxy.uses(Scheme::Negotiate);
    let (peer, login) = (proxy.peer(), proxy.login_or_unnamed(by_ticket));
    if login.is_none() {
        return Ok(None);
    }
    let ask = Ask {
        peer: &peer,
        login: login.as_ref(),
        bearer: None,
        method: b"CONNECT",
        uri: target.as_bytes(),
        custom,
    };
    let answer = memory.proxy.answer(&ask, steps)?;
    if let Some(scheme) = answer.used {
        t.easy.info.borrow_mut().proxy_auth_used = scheme.bit() as i64;
    }
    Ok(answer.value)
}

/// What a CONNECT reply's head says.
#[derive(Default)]
struct Reply {
    status: u16,
    keep_alive: bool,
    length: Option<u64>,
    chunked: bool,
    challenges: Vec<Vec<u8>>,
    /// The proxy closed before the empty line.
    cut_off: bool,
}

/// The lines of a head, each with those that continue it: one is known to be whole when the next has begun.
struct Lines<'a> {
    tunnel: &'a mut TunnelFilter,
    total: usize,
}

impl Lines<'_> {
    /// The next one; `None` where the proxy has closed.
    async fn whole(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(mut line) = self.one().await? else { return Ok(None) };
        while !is_empty_line(&line) {
            let next = self.tunnel.next_octet().await.map_err(|e| receive_failed(&e))?;
            let more = match next {
                Some(b' ' | b'\t') => self.one().await?,
                _ => None,
            };
            let Some(more) = more else { return Ok(Some(line)) };
            continue_line(&mut line, &more);
            if line.len() > MAX_LINE {
                return Err(Error::new(Code::RecvError, "CONNECT response too large"));
            }
        }
        Ok(Some(line))
    }

    async fn one(&mut self) -> Result<Option<Vec<u8>>> {
        let line = self.tunnel.line(MAX_LINE).await.map_err(|e| match e.kind() {
            ErrorKind::InvalidData => Error::new(Code::RecvError, "CONNECT response too large"),
            _ => receive_failed(&e),
        })?;
        self.total += line.as_ref().map_or(0, Vec::len);
        if self.total > MAX_HEAD {
            let text = format!("Too large response headers: {} > {MAX_HEAD}", self.total);
            return Err(Error::new(Code::RecvError, text));
        }
        Ok(line)
    }
}

/// Reads the reply's head. An interim one refuses, too, as in curl.
async fn reply(t: &Transfer, tunnel: &mut TunnelFilter) -> Result<Reply> {
    let mut lines = Lines { tunnel, total: 0 };
    let mut reply = Reply::default();
    let mut is_first = true;
    loop {
        let Some(line) = lines.whole().await? else {
            (reply.keep_alive, reply.cut_off) = (false, true);
            return Ok(reply);
        };
        check_octets(&line)?;
        hand_out(t, &line, !is_first)?;
        if std::mem::take(&mut is_first) {
            // What is no status line refuses with status 0.
            if let Some((version, code)) = connect_status(&line) {
                (reply.status, reply.keep_alive) = (code, version >= 11);
            }
        } else if is_empty_line(&line) {
            return Ok(reply);
        } else if let Some(field) = HeaderLine::parse(&line) {
            reply.field(t, &field)?;
        }
    }
}

impl Reply {
    fn field(&mut self, t: &Transfer, field: &HeaderLine<'_>) -> Result<()> {
        let status = self.status;
        let bodiless = status / 100 == 2;
        if field.is("Content-Length") || field.is("Transfer-Encoding") {
            if bodiless {
                // RFC 9110 §9.3.6: what follows is the tunnel's.
                let name = String::from_utf8_lossy(field.name).into_owned();
                t.easy.note(|| format!("Ignoring {name} in CONNECT {status} response"));
            } else if field.is("Content-Length") {
                // What follows the digits does not count.
                let end = field.value.iter().position(|b| !b.is_ascii_digit()).unwrap_or(field.value.len());
                let digits = std::str::from_utf8(&field.value[..end]).unwrap_or_default();
                let number = digits.parse::<i64>().map(i64::unsigned_abs);
                let wrong = |_| Error::new(Code::WeirdServerReply, "Unsupported Content-Length value");
                self.length = Some(number.map_err(wrong)?);
            } else {
                self.chunked = field.has_token("chunked");
            }
        } else if field.is("Connection") || field.is("Proxy-Connection") {
            self.keep_alive = field.has_token("keep-alive") || self.keep_alive && !field.has_token("close");
        } else if field.is("Proxy-Authenticate") {
            self.challenges.push(field.value.to_vec());
        }
        Ok(())
    }
}

/// Reads over the body of a refusal; false when only closing the connection would end it.
async fn skip_body(t: &Transfer, tunnel: &mut TunnelFilter, reply: &Reply) -> Result<bool> {
    let filter: &mut dyn Filter = tunnel;
    let mut buf = vec![0; 32 * 1024];
    if reply.chunked {
        t.easy.note(|| "Ignore chunked response-body".to_owned());
        let mut chunks = ChunkedDecoder::default();
        let mut rest = Vec::new();
        while !chunks.done() {
            let n = filter.read(&mut buf).await.map_err(|e| receive_failed(&e))?;
            if n == 0 {
                return Ok(false);
            }
            rest = buf[..n].to_vec();
            let broken = |_| Error::new(Code::RecvError, "Malformed chunks in the reply to CONNECT");
            let used = chunks.decode(&mut rest).map_err(broken)?.consumed;
            rest = buf[used..n].to_vec();
        }
        // Whoever answers before being asked is not worth another request.
        return Ok(rest.is_empty());
    }
    // Without a length there is none, as in curl: an NTLM proxy that leaves it out means to be asked here again.
    let mut left = reply.length.unwrap_or(0);
    if left == 0 {
        return Ok(true);
    }
    t.easy.note(|| format!("Ignore {left} bytes of response-body"));
    while left > 0 {
        let room = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let n = filter.read(&mut buf[..room]).await.map_err(|e| receive_failed(&e))?;
        if n == 0 {
            return Ok(false);
        }
        left -= n as u64;
    }
    Ok(true)
}

/// A line of the proxy's reply, counted when the application has taken it. Its callbacks find a field by the header functions.
fn hand_out(t: &Transfer, line: &[u8], is_field: bool) -> Result<()> {
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, line);
    if !t.on(O::SuppressConnectHeaders) {
        if is_field && !is_empty_line(line) {
            if HeaderLine::parse(line).is_none() {
                return Err(Error::new(Code::BadFunctionArgument, "Invalid response header"));
            }
            t.easy.headers.borrow_mut().add(Origin::Connect, 0, line)?;
        }
        tell(t, line)?;
    }
    t.easy.info.borrow_mut().header_size += line.len() as i64;
    Ok(())
}

fn tell(t: &Transfer, line: &[u8]) -> Result<()> {
    let refused = |w| matches!(w, Written::Failed(_));
    if t.on(O::Header) && refused(t.easy.callbacks.write(line)) {
        return Err(Error::from(Code::WriteError));
    }
    if t.easy.callbacks.header(line).is_some_and(refused) {
        return Err(Error::from(Code::WriteError));
    }
    Ok(())
}

/// The PROXY line of HAProxy (version 1), before anything else.
pub async fn send_haproxy(
    t: &Transfer,
    filter: &mut (dyn Filter + 'static),
    plan: &Plan,
    ends: &Endpoints,
) -> Result<()> {
    let own = plan.identity.haproxy.as_deref().filter(|ip| !ip.is_empty());
    let line = net::filter::haproxy::line(ends, own);
    t.easy.trace("haproxy", || "the first line goes out".to_owned());
    t.easy.note(|| format!("added HAProxy header: {}", String::from_utf8_lossy(&line).trim_end()));
    filter.write_all(&line).await.map_err(|e| send_failed(&e))
}
