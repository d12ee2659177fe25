//! The route through a SOCKS proxy: who resolves the origin's name, and the request. `net::filter::socks`
//! runs the handshake.

use std::net::{IpAddr, SocketAddr};

use gss::{Context, Mechanism, Target};
use net::Filter;
use net::connection_key::TunnelMethod;
use net::filter::socks::{SocksRequest, Version, establish};
use net::filter::socks_gssapi::{Gssapi, MakeSecurity};
use net::resolver::{IpVersion, ResolveOptions};
use tables::constant::{CURLAUTH_BASIC, CURLAUTH_GSSAPI};
use tables::{Code, EasyOption as O, ProxyCode};
use wire::policy::Guard;
use wire::socks::Destination;

use super::negotiate::{delegation, ticket_terms_for};
use super::proxy::{Proxy, ProxyKind};
use super::route::plan::Plan;
use super::{Connector, Handles};
use crate::error::{Error, Result};

/// The destination of a proxy: the plan's host, or the HTTP proxy behind it.
pub struct ProxyDestination<'a> {
    /// Its host.
    pub host: &'a str,
    /// Its port.
    pub port: u16,
    /// Options of local look-ups.
    pub resolve: &'a ResolveOptions,
    /// The policies that judge its address; none for a proxy, which they allow by name.
    pub guard: Option<Guard>,
}

impl<'a> ProxyDestination<'a> {
    /// The final destination of the plan.
    pub fn of(plan: &'a Plan) -> ProxyDestination<'a> {
        let guard = &plan.key.socket.guard;
        let guard = if plan.for_data { guard.for_data() } else { guard.clone() };
        ProxyDestination { host: &plan.host, port: plan.port, resolve: &plan.resolve, guard: Some(guard) }
    }
}

/// Makes the proxy connect to the destination. Returns the tunnel.
pub async fn through(
    t: &Connector,
    below: Box<dyn Filter>,
    proxy: &Proxy,
    destination: ProxyDestination<'_>,
) -> Result<Box<dyn Filter>> {
    let version = match proxy.kind {
        ProxyKind::Socks4 | ProxyKind::Socks4a => Version::V4,
        _ => Version::V5,
    };
    let address = match (destination.host.parse::<IpAddr>(), proxy.kind) {
        // A numeric host needs no look-up: version 5 has a form for it, 4a has none for IPv6.
        (Ok(ip), ProxyKind::Socks5h) => Some(ip),
        (_, ProxyKind::Socks4a | ProxyKind::Socks5h) => None,
        _ => Some(look_up(t, proxy, &destination).await?),
    };
    if let (Some(ip), Some(guard)) = (address, &destination.guard) {
        guard.judge_socket(SocketAddr::new(ip, destination.port))?;
    }
    let name_or_ip = address.map_or(Destination::Name(destination.host), Destination::Ip);
    let allowed = |way: u64| t.long(O::Socks5Auth) as u64 & way != 0;
    let note = |text: String| t.easy.note(|| text);
    let request = SocksRequest {
        version,
        destination: name_or_ip,
        port: destination.port,
        host: destination.host,
        user: proxy.user.as_deref(),
        password: proxy.password.as_deref().unwrap_or_default(),
        by_password: allowed(CURLAUTH_BASIC),
        gssapi: allowed(CURLAUTH_GSSAPI).then(|| Gssapi {
            reactor: t.multi.runtime.reactor(),
            security: security(t, proxy),
            nec: t.easy.settings.borrow().on(O::Socks5GssapiNec),
            used: &t.ticket_used,
            note: &note,
        }),
    };
    Ok(establish(below, request).await?)
}

/// Creates a security context with the proxy: for its service on its host, or for the principal that was
/// named.
fn security(t: &Connector, proxy: &Proxy) -> MakeSecurity {
    let (service, host, delegation) = (service(t), proxy.host.clone(), delegation(t));
    Box::new(move || {
        let target = match service.contains('/') {
            true => Target::Principal(&service),
            false => Target::Service(&service, &host),
        };
        let mut context = Context::with(&target, Mechanism::Kerberos, delegation)?;
        context.protect_messages();
        Ok(Box::new(context))
    })
}

fn service(t: &Handles) -> String {
    t.easy.settings.borrow().string(O::ProxyServiceName).unwrap_or_else(|| "rcmd".to_owned())
}

/// The login to a SOCKS5 proxy, as part of a connection key.
pub fn method(t: &Handles) -> TunnelMethod {
    TunnelMethod::Socks5 {
        auth: t.long(O::Socks5Auth),
        nec: t.on(O::Socks5GssapiNec),
        ticket: ticket_terms_for(t, service(t)),
    }
}

async fn look_up(t: &Connector, proxy: &Proxy, destination: &ProxyDestination<'_>) -> Result<IpAddr> {
    let four = proxy.kind == ProxyKind::Socks4;
    let ip_version = if four { IpVersion::V4 } else { destination.resolve.ip_version };
    let options = ResolveOptions { ip_version, proxy: false, ..destination.resolve.clone() };
    let found = t.look_up(destination.host, destination.port, &options).await.ok();
    found.and_then(|addresses| addresses.list.first().map(|a| a.ip())).ok_or_else(|| {
        let name = if four { "SOCKS4" } else { "SOCKS5" };
        let text = format!("Failed to resolve \"{}\" for {name} connect.", destination.host);
        Error::new(Code::Proxy, text).with_proxy_code(ProxyCode::ResolveHost)
    })
}
