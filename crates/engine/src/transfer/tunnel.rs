//! The route through a proxy to the origin: an HTTP CONNECT (RFC 9110 §9.3.6). The proxy's replies before the
//! tunnel go to the application's header callback. A proxy over TLS may agree to HTTP/2, where the tunnel is
//! a stream (CURLPROXY_HTTPS2; RFC 9113 §8.5), and one by QUIC uses HTTP/3 (CURLPROXY_HTTPS3; RFC 9114 §4.4).
//! A tunnel may also carry datagrams, so that QUIC passes the proxy (RFC 9298).

use std::io::{self, ErrorKind};

use net::Filter;
use net::connect::Endpoints;
use net::connection_key::HaproxyAddress;
use net::exchange::{RequestBody, RequestHead};
use net::filter::http_proxy::TunnelFilter;
use net::filter::http2_proxy::Http2TunnelFilter;
use net::filter::tunnels::TunnelPayload;
use net::filter::udp_tunnel::{Through, UdpTunnel};
use net::http3::tunnel::Http3Tunnel;
use runtime::boxed;
use tables::{Code, EasyOption as O};
use wire::h2::Fields;
use wire::http1::status::connect_status;
use wire::http1::{ChunkedDecoder, HeaderLine, check_octets, continue_line, ends_head, own_line};

use super::auth::{Ask, Scheme, Steps};
use super::negotiate::listen;
use super::proxy::own_lines;
use super::proxy::{Proxy, ProxyKind};
use super::route::plan::Plan;
use super::socks::ProxyDestination;
use super::{Connector, Handles};
use crate::callbacks::{DebugKind, WriteAnswer};
use crate::error::{Error, Result};
use crate::stores::headers::Origin;
use crate::transfer::body::{receive_failed, send_failed};

/// Longest head of a CONNECT reply.
const MAX_HEAD: usize = 300 * 1024;
/// Longest line of one.
const MAX_LINE: usize = 16 * 1024 - 1;

/// Connects through the proxy, if it forwards bytes. Returns `None` if another round of authentication needs
/// a new connection.
pub async fn through(
    t: &Connector,
    below: Through,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<Option<Box<dyn Filter>>> {
    if proxy.kind.is_socks() {
        return Ok(Some(
            super::socks::through(t, below.into_filter(), proxy, ProxyDestination::of(plan)).await?,
        ));
    }
    let tunnel = match proxy.tunnel {
        true => connect_tunnel(t, below, (proxy, plan), TunnelKind::Bytes).await?,
        false => Some(below),
    };
    Ok(tunnel.map(Through::into_filter))
}

/// Opens a tunnel for datagrams (RFC 9298).
pub async fn datagrams(
    t: &Connector,
    below: Through,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<Option<UdpTunnel>> {
    Ok(connect_tunnel(t, below, (proxy, plan), TunnelKind::Datagrams).await?.map(UdpTunnel::new))
}

/// The kind of tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TunnelKind {
    Bytes,
    Datagrams,
}

impl TunnelKind {
    /// The request's name in messages.
    fn name(self) -> &'static str {
        match self {
            TunnelKind::Bytes => "CONNECT",
            TunnelKind::Datagrams => "CONNECT-UDP",
        }
    }

    /// Returns whether a proxy's HTTP/1 reply opens the tunnel: for bytes any success, for datagrams an
    /// upgrade.
    fn stands(self, reply: &Reply) -> bool {
        match self {
            TunnelKind::Bytes => reply.status / 100 == 2,
            TunnelKind::Datagrams => reply.status == 101 && reply.upgraded,
        }
    }
}

const HTTP1: &str = "HTTP/1.1";

/// The protocol of a tunnel for datagrams (RFC 9298 §3).
const CONNECT_UDP: &str = "connect-udp";

/// Most requests on one connection, against a proxy that refuses forever.
const MAX_ROUNDS: usize = 8;

async fn connect_tunnel(
    t: &Connector,
    below: Through,
    (proxy, plan): (&Proxy, &Plan),
    goal: TunnelKind,
) -> Result<Option<Through>> {
    let below = match below {
        Through::Quic(tunnel) => {
            let streams = Streams::Http3(tunnel);
            return boxed(|| connect_stream(t, streams, (proxy, plan), goal)).await.map(Some);
        }
        Through::Bytes(below) if below.tls().is_some_and(|tls| tls.alpn.as_deref() == Some("h2")) => {
            let streams = Streams::Http2(Box::new(Http2TunnelFilter::new(below)));
            return boxed(|| connect_stream(t, streams, (proxy, plan), goal)).await.map(Some);
        }
        Through::Bytes(below) => below,
    };
    let version = if proxy.kind == ProxyKind::Http10 { "HTTP/1.0" } else { HTTP1 };
    t.easy.note(|| format!("CONNECT tunnel: {version} negotiated"));
    let mut tunnel = TunnelFilter::new(below);
    let mut steps = Steps::default();
    let mut status = 0;
    for _ in 0..MAX_ROUNDS {
        proxy.prepare(t, &mut steps.negotiate).await;
        let (head, proves) = request(t, (proxy, plan), goal, (version, &mut steps))?;
        t.easy.trace("http-proxy", || format!("asks {}:{} for a tunnel", proxy.host, proxy.port));
        note_request(t, &head);
        tunnel.send(head.text()).await.map_err(|e| send_failed(&e))?;
        let mut reply = reply(t, &mut tunnel, goal).await?;
        if reply.is_aborted(proves) {
            return Err(aborted());
        }
        status = reply.status;
        if goal.stands(&reply) {
            t.easy.note(|| format!("{} tunnel established, response {status}", goal.name()));
            return Ok(Some(Through::Bytes(Box::new(tunnel))));
        }
        // The body of a 407 is read before the decision: as in curl, an invalid body counts more than the
        // refusal.
        let ended = status == 407 && !reply.cut_off && skip_body(t, &mut tunnel, &mut reply).await?;
        if !another_round(t, proxy, &reply, &mut steps).await? {
            break;
        }
        if !reply.serves_again(ended) {
            t.easy.note(|| "Connect me again please".to_owned());
            return Ok(None);
        }
    }
    Err(refused(goal, status))
}

/// The error if the proxy closed within its reply.
pub fn aborted() -> Error {
    Error::new(Code::RecvError, "Proxy CONNECT aborted")
}

fn refused(goal: TunnelKind, status: u16) -> Error {
    Error::new(Code::CouldntConnect, format!("{} tunnel failed, response {status}", goal.name()))
}

fn note_request(t: &Handles, head: &RequestHead) {
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, head.text());
    t.easy.info.borrow_mut().request_size += head.text().len() as i64;
}

/// A connection to a proxy on which a tunnel is a stream.
enum Streams {
    Http2(Box<Http2TunnelFilter>),
    Http3(Box<Http3Tunnel>),
}

impl Streams {
    fn version(&self) -> &'static str {
        match self {
            Streams::Http2(_) => "HTTP/2",
            Streams::Http3(_) => "HTTP/3",
        }
    }

    /// The layer's name in traces.
    fn layer(&self) -> &'static str {
        match self {
            Streams::Http2(_) => "h2-proxy",
            Streams::Http3(_) => "h3-proxy",
        }
    }

    async fn connect(&mut self, head: &RequestHead, asked: TunnelPayload<'_>) -> io::Result<(u16, Fields)> {
        match self {
            Streams::Http2(tunnel) => tunnel.connect(head, asked).await,
            Streams::Http3(tunnel) => tunnel.connect(head, asked).await,
        }
    }

    fn into_tunnel(self) -> Through {
        match self {
            Streams::Http2(tunnel) => Through::Bytes(tunnel),
            Streams::Http3(tunnel) => Through::Quic(tunnel),
        }
    }
}

/// Opens a tunnel through a proxy with HTTP/2 or HTTP/3: each round has a separate stream on one session. As
/// in curl, the application does not see the head of the reply.
async fn connect_stream(
    t: &Connector,
    mut tunnel: Streams,
    (proxy, plan): (&Proxy, &Plan),
    goal: TunnelKind,
) -> Result<Through> {
    let version = tunnel.version();
    t.easy.note(|| format!("CONNECT tunnel: {version} negotiated"));
    let authority = proxy.authority();
    let asked = match goal {
        TunnelKind::Bytes => TunnelPayload::Bytes,
        TunnelKind::Datagrams => TunnelPayload::Datagrams { proxy: authority.as_bytes() },
    };
    let mut steps = Steps::default();
    let mut status = 0;
    for _ in 0..MAX_ROUNDS {
        proxy.prepare(t, &mut steps.negotiate).await;
        let (head, _) = request(t, (proxy, plan), goal, (version, &mut steps))?;
        t.easy.trace(tunnel.layer(), || format!("asks {}:{} for a tunnel", proxy.host, proxy.port));
        note_request(t, &head);
        let answer = tunnel.connect(&head, asked).await;
        let (code, fields) = answer.map_err(|e| match e.kind() {
            ErrorKind::Unsupported => {
                Error::new(Code::CouldntConnect, format!("the proxy takes no {}", goal.name()))
            }
            _ => Error::new(Code::RecvError, format!("Proxy {} aborted", goal.name())),
        })?;
        status = code;
        t.easy.info.borrow_mut().rare.connect_code = i64::from(status);
        if status / 100 == 2 {
            t.easy.note(|| format!("{} tunnel established, response {status}", goal.name()));
            return Ok(tunnel.into_tunnel());
        }
        let challenges = fields.iter().filter(|(name, _)| *name == b"proxy-authenticate");
        let challenges = challenges.map(|(_, value)| value.to_vec()).collect();
        let reply = Reply { status, keep_alive: true, challenges, ..Reply::default() };
        if !another_round(t, proxy, &reply, &mut steps).await? {
            break;
        }
    }
    Err(refused(goal, status))
}

/// Returns whether a refusal asks for credentials that we have. If not, it may be an error
/// (CURLOPT_FAILONERROR).
async fn another_round(t: &Connector, proxy: &Proxy, reply: &Reply, steps: &mut Steps) -> Result<bool> {
    let mut problem = false;
    if reply.status == 407 {
        let by_ticket = t.auth.borrow().proxy.uses(Scheme::Negotiate);
        if by_ticket {
            let challenges = Some(&reply.challenges);
            listen(t, proxy.context_peer(), &mut steps.negotiate, challenges, reply.keep_alive).await;
        }
        let mut memory = t.auth.borrow_mut();
        let heard = memory.proxy.challenged(&reply.challenges, &proxy.peer(), steps);
        t.easy.info.borrow_mut().rare.proxy_auth_available = heard.offered as i64;
        problem = heard.problem;
        if !problem && proxy.login_or_unnamed(by_ticket).is_some() && memory.proxy.pick(heard.usable) {
            return Ok(true);
        }
    }
    if reply.body_cut && !problem {
        return Err(aborted());
    }
    match t.on(O::FailOnError) && reply.status >= 400 {
        // For wrong credentials curl has no message.
        true if problem => Err(Error::from(Code::HttpReturnedError)),
        true => {
            let text = format!("The requested URL returned error: {}", reply.status);
            Err(Error::new(Code::HttpReturnedError, text))
        }
        false => Ok(false),
    }
}

/// Returns the request in this version, and whether it contains credentials. Datagrams are requested by a
/// path (RFC 9298 §3): with an upgrade in HTTP/1, with an extended CONNECT in other versions.
fn request(
    t: &Connector,
    (proxy, plan): (&Proxy, &Plan),
    goal: TunnelKind,
    (version, steps): (&str, &mut Steps),
) -> Result<(RequestHead, bool)> {
    let settings = t.easy.settings.borrow();
    let (method, target, host) = match goal {
        TunnelKind::Bytes => {
            let host = if plan.host.contains(':') { format!("[{}]", plan.host) } else { plan.host.clone() };
            let target = format!("{host}:{}", plan.port);
            ("CONNECT", target.clone(), target)
        }
        TunnelKind::Datagrams => {
            let method = if version == HTTP1 { "GET" } else { "CONNECT" };
            (method, udp_path(&plan.host, plan.port), proxy.authority())
        }
    };
    let custom = t.permitted_lines(&settings.list(own_lines(&settings)));
    let names = |name: &str| {
        custom.iter().any(|l| own_line(l).is_some_and(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes())))
    };
    let write_target = |out: &mut Vec<u8>| out.extend_from_slice(target.as_bytes());
    let mut head = RequestHead::new(method.as_bytes(), "https", write_target, version);
    if !names("Host") {
        head.field("Host", host.as_bytes());
    }
    if goal == TunnelKind::Datagrams {
        head.protocol = Some(CONNECT_UDP);
        if version == HTTP1 {
            head.field("Connection", b"Upgrade");
            head.field("Upgrade", CONNECT_UDP.as_bytes());
        }
        head.field("Capsule-Protocol", b"?1");
    }
    let proof = authorization(t, proxy, (method, &target), names("Proxy-Authorization"), steps)?;
    let proves = proof.is_some();
    if let Some(value) = proof {
        head.field("Proxy-Authorization", &value);
    }
    let agent = settings.text(O::UserAgent).filter(|agent| !agent.is_empty() && !names("User-Agent"));
    if let Some(agent) = agent {
        head.field("User-Agent", &agent);
    }
    if goal == TunnelKind::Bytes && !names("Proxy-Connection") {
        head.field("Proxy-Connection", b"Keep-Alive");
    }
    for line in custom.iter() {
        match own_line(line) {
            // Removes a field.
            None | Some((_, Some([]))) => {}
            Some((_, Some(_))) => head.application_line(line),
            Some((name, None)) => head.line(&[name, b":"]),
        }
    }
    head.end(RequestBody::None);
    head.check()?;
    Ok((head, proves))
}

/// Returns the default path for this host and port (RFC 9298 §3); proxies name no other one.
fn udp_path(host: &str, port: u16) -> String {
    let host = host.replace('%', "%25").replace(':', "%3A");
    format!("/.well-known/masque/udp/{host}/{port}/")
}

fn authorization(
    t: &Connector,
    proxy: &Proxy,
    (method, target): (&str, &str),
    custom: bool,
    steps: &mut Steps,
) -> Result<Option<Vec<u8>>> {
    let mut memory = t.auth.borrow_mut();
    let by_ticket = memory.proxy.uses(Scheme::Negotiate);
    let (peer, login) = (proxy.peer(), proxy.login_or_unnamed(by_ticket));
    if login.is_none() {
        return Ok(None);
    }
    let ask = Ask {
        peer: &peer,
        login: login.as_ref(),
        bearer: None,
        method: method.as_bytes(),
        uri: target.as_bytes(),
        custom,
    };
    let answer = memory.proxy.answer(&ask, steps)?;
    if let Some(scheme) = answer.used {
        t.easy.info.borrow_mut().rare.proxy_auth_used = scheme.bit() as i64;
    }
    Ok(answer.value)
}

/// The contents of a CONNECT reply's head.
#[derive(Default)]
struct Reply {
    status: u16,
    keep_alive: bool,
    length: Option<u64>,
    chunked: bool,
    challenges: Vec<Vec<u8>>,
    /// Whether `Upgrade` names the requested protocol.
    upgraded: bool,
    /// Whether the proxy closed before the empty line.
    cut_off: bool,
    /// Whether the proxy closed within the body.
    body_cut: bool,
}

/// The lines of a head, each with its continuation lines: one is complete when the next has begun.
struct Lines<'a> {
    tunnel: &'a mut TunnelFilter,
    total: usize,
}

impl Lines<'_> {
    /// Returns the next line; `None` if the proxy has closed.
    async fn unfolded(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(mut line) = self.line().await? else { return Ok(None) };
        while !ends_head(&line) {
            let next = self.tunnel.next_octet().await.map_err(|e| receive_failed(&e))?;
            let more = match next {
                Some(b' ' | b'\t') => self.line().await?,
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

    async fn line(&mut self) -> Result<Option<Vec<u8>>> {
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

/// Reads the reply's head. As in curl, an interim reply is a refusal, too.
async fn reply(t: &Connector, tunnel: &mut TunnelFilter, goal: TunnelKind) -> Result<Reply> {
    let mut lines = Lines { tunnel, total: 0 };
    let mut reply = Reply::default();
    let mut is_first = true;
    loop {
        let Some(line) = lines.unfolded().await? else {
            (reply.keep_alive, reply.cut_off) = (false, true);
            return Ok(reply);
        };
        if ends_head(&line) {
            hand_out(t, &line, false)?;
            return Ok(reply);
        }
        check_octets(&line)?;
        hand_out(t, &line, !is_first)?;
        if std::mem::take(&mut is_first) {
            // An invalid status line is a refusal with status 0.
            if let Some((version, code)) = connect_status(&line) {
                (reply.status, reply.keep_alive) = (code, version >= 11);
            }
            t.easy.info.borrow_mut().rare.connect_code = i64::from(reply.status);
        } else if let Some(field) = HeaderLine::parse(&line) {
            reply.field(t, goal, &field)?;
        }
    }
}

impl Reply {
    /// Returns whether the proxy closed within its head, without a challenge for another round.
    fn is_aborted(&self, proves: bool) -> bool {
        self.cut_off && (!proves || self.challenges.is_empty())
    }

    /// Returns whether another request can be sent on this connection. `ended` says that the body was read to
    /// its end.
    fn serves_again(&self, ended: bool) -> bool {
        self.keep_alive && ended
    }

    fn field(&mut self, t: &Handles, goal: TunnelKind, field: &HeaderLine<'_>) -> Result<()> {
        let status = self.status;
        let bodiless = status / 100 == 2 && goal == TunnelKind::Bytes || status == 101;
        if goal == TunnelKind::Datagrams && field.is("Upgrade") {
            self.upgraded = field.value.eq_ignore_ascii_case(CONNECT_UDP.as_bytes());
        } else if field.is("Content-Length") || field.is("Transfer-Encoding") {
            if bodiless {
                // RFC 9110 §9.3.6: later bytes belong to the tunnel.
                let name = String::from_utf8_lossy(field.name).into_owned();
                t.easy.note(|| format!("Ignoring {name} in CONNECT {status} response"));
            } else if field.is("Content-Length") {
                // Text after the digits is ignored.
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

/// Skips the body of a refusal; returns false if more or less than that arrived.
async fn skip_body(t: &Handles, tunnel: &mut TunnelFilter, reply: &mut Reply) -> Result<bool> {
    let filter: &mut dyn Filter = tunnel;
    let mut buf = vec![0; 32 * 1024];
    if reply.chunked {
        t.easy.note(|| "Ignore chunked response-body".to_owned());
        let mut chunks = ChunkedDecoder::default();
        let mut rest = Vec::new();
        while !chunks.done() {
            let n = filter.read(&mut buf).await.map_err(|e| receive_failed(&e))?;
            if n == 0 {
                reply.body_cut = true;
                return Ok(false);
            }
            rest = buf[..n].to_vec();
            let used = chunks
                .decode(&mut rest)
                .map_err(|broken| Error::new(Code::RecvError, broken.text()))?
                .consumed;
            rest = buf[used..n].to_vec();
        }
        // After bytes that were not asked for, the connection gets no other request.
        return Ok(rest.is_empty());
    }
    // Without a length there is no body, as in curl: an NTLM proxy that omits it expects the next request
    // here.
    let mut left = reply.length.unwrap_or(0);
    if left == 0 {
        return Ok(true);
    }
    t.easy.note(|| format!("Ignore {left} bytes of response-body"));
    while left > 0 {
        let room = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let n = filter.read(&mut buf[..room]).await.map_err(|e| receive_failed(&e))?;
        if n == 0 {
            reply.body_cut = true;
            return Ok(false);
        }
        left -= n as u64;
    }
    Ok(true)
}

/// Passes a line of the proxy's reply to the application, then counts it. The header functions find a field
/// already within its callbacks.
fn hand_out(t: &Handles, line: &[u8], is_field: bool) -> Result<()> {
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, line);
    // CURLOPT_SUPPRESS_CONNECT_HEADERS.md mentions only the callbacks.
    if is_field {
        if HeaderLine::parse(line).is_none() {
            return Err(Error::new(Code::BadFunctionArgument, "Invalid response header"));
        }
        t.easy.headers.borrow_mut().add(Origin::Connect, 0, line)?;
    }
    if !t.on(O::SuppressConnectHeaders) {
        deliver(t, line)?;
    }
    t.easy.info.borrow_mut().header_size += line.len() as i64;
    Ok(())
}

fn deliver(t: &Handles, line: &[u8]) -> Result<()> {
    let refused = |w| matches!(w, WriteAnswer::Failed(_));
    if t.on(O::Header) && refused(t.easy.callbacks.write(line)) {
        return Err(Error::from(Code::WriteError));
    }
    if t.easy.callbacks.header(line).is_some_and(refused) {
        return Err(Error::from(Code::WriteError));
    }
    Ok(())
}

/// Sends HAProxy's PROXY line (version 1) before anything else.
pub async fn send_haproxy(
    t: &Connector,
    filter: &mut (dyn Filter + 'static),
    plan: &Plan,
    ends: &Endpoints,
) -> Result<()> {
    let own = match &plan.key.haproxy {
        Some(HaproxyAddress::Client(address)) => Some(address.as_str()),
        Some(HaproxyAddress::Own) | None => None,
    };
    let line = net::filter::haproxy::line(ends, own);
    t.easy.trace("haproxy", || "the first line goes out".to_owned());
    t.easy.note(|| format!("added HAProxy header: {}", String::from_utf8_lossy(&line).trim_end()));
    filter.write_all(&line).await.map_err(|e| send_failed(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::{Unstarted, transfer};

    /// Returns the reply with this status after these fields.
    fn reply(t: &Unstarted, goal: TunnelKind, status: u16, fields: &[&str]) -> Result<Reply, Code> {
        let mut reply = Reply { status, keep_alive: true, ..Reply::default() };
        for field in fields {
            let line = HeaderLine::parse(field.as_bytes()).unwrap();
            reply.field(t, goal, &line).map_err(|e| e.code())?;
        }
        Ok(reply)
    }

    #[test]
    fn bytes_flow_after_a_success_and_datagrams_after_an_upgrade() {
        let t = transfer("https://h/", &[], &[]);
        let upgrade: &[&str] = &["Upgrade: connect-udp\r\n"];
        let rows: [(_, _, _, &[&str], _); 7] = [
            ("RFC 9110 §9.3.6: 200", TunnelKind::Bytes, 200, &[], true),
            ("RFC 9110 §9.3.6: any 2xx", TunnelKind::Bytes, 204, &[], true),
            ("RFC 9110 §9.3.6: 407", TunnelKind::Bytes, 407, &[], false),
            ("RFC 9110 §15.2: an interim reply refuses, as in curl", TunnelKind::Bytes, 100, &[], false),
            ("RFC 9298 §3.3: 101", TunnelKind::Datagrams, 101, upgrade, true),
            ("RFC 9298 §3.3: to something else", TunnelKind::Datagrams, 101, &["Upgrade: h2c\r\n"], false),
            ("RFC 9298 §3.3: a success is none in HTTP/1.1", TunnelKind::Datagrams, 200, upgrade, false),
        ];
        for (name, goal, status, fields, wanted) in rows {
            assert_eq!(goal.stands(&reply(&t, goal, status, fields).unwrap()), wanted, "{name}");
        }
    }

    #[test]
    fn a_tunnel_has_no_body() {
        let t = transfer("https://h/", &[], &[]);
        let of = |status, fields: &[&str]| {
            reply(&t, TunnelKind::Bytes, status, fields).map(|reply| (reply.length, reply.chunked))
        };
        let (length, chunked) = ("Content-Length: 9\r\n", "Transfer-Encoding: chunked\r\n");
        let rows: [(_, _, &[&str], _); 6] = [
            ("RFC 9110 §9.3.6: a length with 200", 200, &[length], Ok((None, false))),
            ("RFC 9110 §9.3.6: chunks with 200", 200, &[chunked], Ok((None, false))),
            ("RFC 9110 §15.5.8: a length with 407", 407, &[length], Ok((Some(9), false))),
            ("RFC 9110 §15.5.8: chunks with 407", 407, &[chunked], Ok((None, true))),
            (
                "RFC 9110 §8.6: what follows the digits",
                407,
                &["Content-Length: 9x\r\n"],
                Ok((Some(9), false)),
            ),
            ("RFC 9110 §8.6: no number", 407, &["Content-Length: x\r\n"], Err(Code::WeirdServerReply)),
        ];
        for (name, status, fields, wanted) in rows {
            assert_eq!(of(status, fields), wanted, "{name}");
        }
    }

    #[test]
    fn another_round_needs_a_connection_that_stays() {
        let rows = [
            ("RFC 9112 §9.3: it stays", true, true, true),
            ("RFC 9112 §9.6: the proxy closes", false, true, false),
            ("RFC 9112 §6.3: the body has no end", true, false, false),
        ];
        for (name, keep_alive, ended, wanted) in rows {
            let reply = Reply { status: 407, keep_alive, ..Reply::default() };
            assert_eq!(reply.serves_again(ended), wanted, "{name}");
        }
    }

    #[test]
    fn a_head_that_breaks_off_may_still_be_a_challenge() {
        let challenges = vec![b"NTLM TlRM".to_vec()];
        let rows = [
            ("RFC 9112 §8: whole", false, true, Vec::new(), false),
            ("[MS-NTHT] §3.1.5.1: a challenge within a login", true, true, challenges.clone(), false),
            ("RFC 9112 §8: nothing of use", true, true, Vec::new(), true),
            ("RFC 9112 §8: nobody has asked", true, false, challenges, true),
        ];
        for (name, cut_off, proves, challenges, wanted) in rows {
            let reply = Reply { status: 407, cut_off, challenges, ..Reply::default() };
            assert_eq!(reply.is_aborted(proves), wanted, "{name}");
        }
    }

    #[test]
    fn datagrams_are_asked_for_by_a_path() {
        let rows = [
            ("RFC 9298 §2: a name", "h.test", "/.well-known/masque/udp/h.test/443/"),
            ("RFC 9298 §2: an address", "::1", "/.well-known/masque/udp/%3A%3A1/443/"),
            ("RFC 9298 §2: a zone", "fe80::1%1", "/.well-known/masque/udp/fe80%3A%3A1%251/443/"),
        ];
        for (name, host, wanted) in rows {
            assert_eq!(udp_path(host, 443), wanted, "{name}");
        }
    }
}
