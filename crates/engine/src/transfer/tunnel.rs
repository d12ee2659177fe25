//! The way through a proxy to the origin: an HTTP CONNECT (RFC 9110 §9.3.6). What the proxy sends
//! before the tunnel stands goes to the application's header callback.

use net::Filter;
use net::connect::Endpoints;
use net::filter::http_proxy::TunnelFilter;
use tables::constant::CURLAUTH_BASIC;
use tables::{Code, EasyOption as O};
use wire::http1::{HeaderLine, StatusLine};

use super::Transfer;
use super::plan::Plan;
use super::proxy::{Proxy, ProxyKind};
use super::socks::Goal;
use crate::callbacks::{DebugKind, Written};
use crate::error::{Error, Result};
use crate::stores::headers::Origin;
use crate::transfer::body::{receive_failed, send_failed};

/// Longest head of a CONNECT reply.
const MAX_HEAD: usize = 300 * 1024;

/// Goes through the proxy, if it passes bytes at all.
pub async fn through(
    t: &Transfer,
    mut below: Box<dyn Filter>,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<Box<dyn Filter>> {
    if proxy.kind.is_socks() {
        super::socks::through(t, &mut *below, proxy, Goal::of(plan)).await?;
        return Ok(below);
    }
    if !proxy.tunnel { Ok(below) } else { connect_tunnel(t, below, proxy, plan).await }
}

async fn connect_tunnel(
    t: &Transfer,
    below: Box<dyn Filter>,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<Box<dyn Filter>> {
    let mut tunnel = TunnelFilter::new(below);
    let head = request(t, proxy, plan);
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, &head);
    tunnel.send(&head).await.map_err(|e| send_failed(&e))?;
    let status = reply(t, &mut tunnel).await?;
    t.easy.info.borrow_mut().connect_code = i64::from(status);
    if status / 100 == 2 {
        t.easy.note(|| "CONNECT tunnel established, response 200".to_owned());
        return Ok(Box::new(tunnel));
    }
    Err(Error::new(Code::RecvError, format!("CONNECT tunnel failed, response {status}")))
}

fn request(t: &Transfer, proxy: &Proxy, plan: &Plan) -> Vec<u8> {
    let settings = t.easy.settings.borrow();
    let host = if plan.host.contains(':') { format!("[{}]", plan.host) } else { plan.host.clone() };
    let target = format!("{host}:{}", plan.port);
    let version = if proxy.kind == ProxyKind::Http10 { "1.0" } else { "1.1" };
    let separate = settings.long(O::Headeropt) & 1 != 0;
    let custom = settings.list(if separate { O::Proxyheader } else { O::Httpheader });
    let names = |name: &str| custom.iter().any(|l| HeaderLine::parse(l).is_some_and(|h| h.is(name)));
    let mut head = format!("CONNECT {target} HTTP/{version}\r\n").into_bytes();
    let mut field = |name: &str, value: &[u8]| {
        if !names(name) {
            head.extend_from_slice(format!("{name}: ").as_bytes());
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
    };
    field("Host", target.as_bytes());
    if let Some(user) = &proxy.user
        && settings.long(O::Proxyauth) as u64 & CURLAUTH_BASIC != 0
    {
        let pair = format!("{user}:{}", proxy.password.as_deref().unwrap_or_default());
        field("Proxy-Authorization", format!("Basic {}", wire::base64::encode(pair.as_bytes())).as_bytes());
    }
    if let Some(agent) = settings.text(O::Useragent) {
        field("User-Agent", &agent);
    }
    field("Proxy-Connection", b"Keep-Alive");
    for line in custom.iter() {
        // Lines without a value remove a field and are not sent.
        if HeaderLine::parse(line).is_some_and(|h| !h.value.is_empty()) {
            head.extend_from_slice(line);
            head.extend_from_slice(b"\r\n");
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Reads the reply's head; interim ones are passed over.
async fn reply(t: &Transfer, tunnel: &mut TunnelFilter) -> Result<u16> {
    let mut total = 0;
    let mut status = 0;
    loop {
        let line = tunnel
            .line(MAX_HEAD - total)
            .await
            .map_err(|e| receive_failed(&e))?
            .ok_or_else(|| Error::new(Code::RecvError, "Proxy CONNECT aborted"))?;
        total += line.len();
        hand_out(t, &line)?;
        if status == 0 {
            let parsed = StatusLine::parse(line.trim_ascii_end());
            status = parsed.map_err(|_| Error::new(Code::WeirdServerReply, "Invalid reply to CONNECT"))?.code;
        } else if matches!(line.as_slice(), b"\r\n" | b"\n") {
            if status / 100 != 1 {
                return Ok(status);
            }
            status = 0;
        } else {
            t.easy.headers.borrow_mut().add(Origin::Connect, 0, &line);
        }
    }
}

fn hand_out(t: &Transfer, line: &[u8]) -> Result<()> {
    t.easy.info.borrow_mut().header_size += line.len() as i64;
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, line);
    if t.on(O::SuppressConnectHeaders) {
        return Ok(());
    }
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
    t.easy.note(|| format!("added HAProxy header: {}", String::from_utf8_lossy(&line).trim_end()));
    filter.write_all(&line).await.map_err(|e| send_failed(&e))
}
