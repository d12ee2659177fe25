//! Names that need no look-up, and names that must not reach the system's resolver.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use super::options::ResolveOptions;
use crate::error::{NetError, NetErrorKind};
use crate::sys;

/// A name longer than this is not a name (RFC 1035 allows 253 characters).
const NAME_LIMIT: usize = 1024;
/// Returns the addresses of a host that needs no look-up: a numeric one, or localhost (RFC 6761 section 6.3).
pub(super) fn at_once(name: &str, port: u16, options: &ResolveOptions) -> Option<Vec<SocketAddr>> {
    if let Ok(v4) = name.parse::<Ipv4Addr>() {
        return Some(vec![(v4, port).into()]);
    }
    let (address, zone) = name.split_once('%').unwrap_or((name, ""));
    if let Ok(v6) = address.parse::<Ipv6Addr>() {
        return Some(vec![SocketAddrV6::new(v6, port, 0, scope(zone, options)).into()]);
    }
    let bare = name.strip_suffix('.').unwrap_or(name);
    // A literal address needs no resolution; CURLOPT_IPRESOLVE selects among the addresses of a name.
    let admitted = || {
        let both: [SocketAddr; 2] = [(Ipv6Addr::LOCALHOST, port).into(), (Ipv4Addr::LOCALHOST, port).into()];
        both.into_iter().filter(|a| options.ip_version.admits(&a.ip())).collect()
    };
    (bare == "localhost" || bare.ends_with(".localhost")).then(admitted)
}

fn scope(zone: &str, options: &ResolveOptions) -> u32 {
    zone_number(zone).unwrap_or(options.scope_id)
}

/// Returns the number of an IPv6 zone, which is an interface's name or number.
pub fn zone_number(zone: &str) -> Option<u32> {
    zone.parse().ok().or_else(|| sys::interface_number(zone))
}

/// Refuses names that must not reach the system's resolver.
pub(super) fn refuse_early(name: &str, options: &ResolveOptions) -> Result<(), NetError> {
    let lower = name.to_ascii_lowercase();
    let bare = lower.strip_suffix('.').unwrap_or(&lower);
    if bare == "onion" || bare.ends_with(".onion") {
        let message = "Not resolving .onion address (RFC 7686)";
        return Err(NetError::new(NetErrorKind::CouldntResolveHost, message));
    }
    if bare.is_empty() || name.len() > NAME_LIMIT || name.contains('\0') {
        return Err(unresolved(name, options));
    }
    Ok(())
}

pub(super) fn unresolved(name: &str, options: &ResolveOptions) -> NetError {
    let (kind, what) = match options.proxy {
        true => (NetErrorKind::CouldntResolveProxy, "proxy"),
        false => (NetErrorKind::CouldntResolveHost, "host"),
    };
    NetError::new(kind, format!("Could not resolve {what}: {name}"))
}
