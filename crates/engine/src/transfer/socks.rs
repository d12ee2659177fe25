//! The way through a SOCKS proxy: who looks the origin's name up, and what is asked for. The conversation is
//! `net::filter::socks`'s.

use std::net::IpAddr;

use net::Filter;
use net::filter::socks::{SocksRequest, Version, establish};
use net::resolver::{IpVersion, ResolveOptions, resolve};
use tables::constant::CURLAUTH_BASIC;
use tables::{Code, EasyOption as O, ProxyCode};
use wire::socks::Destination;

use super::Transfer;
use super::plan::Plan;
use super::proxy::{Proxy, ProxyKind};
use crate::error::{Error, Result};

/// Has the proxy connect to the plan's host.
pub async fn through(t: &Transfer, below: &mut dyn Filter, proxy: &Proxy, plan: &Plan) -> Result<()> {
    let version = match proxy.kind {
        ProxyKind::Socks4 | ProxyKind::Socks4a => Version::V4,
        _ => Version::V5,
    };
    let address = match (plan.host.parse::<IpAddr>(), proxy.kind) {
        // A numeric host is one: version 5 has a form for it, 4a has not for IPv6.
        (Ok(ip), ProxyKind::Socks5h) => Some(ip),
        (_, ProxyKind::Socks4a | ProxyKind::Socks5h) => None,
        _ => Some(look_up(t, proxy, plan).await?),
    };
    let destination = address.map_or(Destination::Name(&plan.host), Destination::Ip);
    let passwords = version == Version::V4 || t.long(O::Socks5Auth) as u64 & CURLAUTH_BASIC != 0;
    let request = SocksRequest {
        version,
        destination,
        port: plan.port,
        host: &plan.host,
        user: proxy.user.as_deref().filter(|_| passwords).map(str::as_bytes),
        password: proxy.password.as_deref().unwrap_or_default().as_bytes(),
    };
    Ok(establish(below, &request).await?)
}

async fn look_up(t: &Transfer, proxy: &Proxy, plan: &Plan) -> Result<IpAddr> {
    let four = proxy.kind == ProxyKind::Socks4;
    let ip_version = if four { IpVersion::V4 } else { plan.resolve.ip_version };
    let options = ResolveOptions { ip_version, proxy: false, ..plan.resolve.clone() };
    let reactor = t.multi.runtime.reactor();
    let (cache, resolver) = (t.resolve_cache(), &net::process().resolver);
    let found = resolve(resolver, &cache, reactor, &plan.host, plan.port, &options).await.ok();
    found.and_then(|addresses| addresses.list.first().map(|a| a.ip())).ok_or_else(|| {
        let name = if four { "SOCKS4" } else { "SOCKS5" };
        let text = format!("Failed to resolve \"{}\" for {name} connect.", plan.host);
        Error::new(Code::Proxy, text).with_proxy_code(ProxyCode::ResolveHost)
    })
}
