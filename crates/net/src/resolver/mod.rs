//! Names to candidates: numeric hosts and localhost at once, pinned and cached entries, else getaddrinfo on threads, each
//! family apart.
//!
//! The system's rules (nsswitch, /etc/hosts, search domains) stay the system's: only getaddrinfo knows them.
//! Simultaneous look-ups of one name are one call; who looked at the same time shares the answer.

mod cache;
mod candidates;
mod hosts;
mod lookup;
mod means;
mod pins;
mod reread;
mod servers;
mod services;
mod silence;
mod system;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{NetError, NetErrorKind};
use crate::sys;
use cache::Kept;
pub use cache::ResolveCache;
pub use candidates::{Answered, Candidate, Candidates, Part, RESOLUTION_DELAY};
pub use lookup::{Family, Found, LookupFn, Resolver, Said, Unanswered};
pub use means::{Around, Asked, Means, NameServers, Services, Source};
pub use pins::speaks_of;
pub use servers::{LocalEnds, Servers, is_for_dns};
pub use silence::Silence;

/// A name longer than this is no name (RFC 1035 allows 253 characters).
const NAME_LIMIT: usize = 1024;
/// As many names as curl asks the system for at once, each for two families.
const THREADS: usize = 40;
/// With those that are stuck.
const MOST_THREADS: usize = 240;

/// The addresses of one host, with the port, in the order in which the system prefers them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Addresses {
    pub list: Vec<SocketAddr>,
}

/// Which families are wanted (CURLOPT_IPRESOLVE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum IpVersion {
    #[default]
    Any,
    V4,
    V6,
}

/// How to look up.
#[derive(Clone, Debug)]
pub struct ResolveOptions {
    pub ip_version: IpVersion,
    /// How long an answer may be used again; `None` is for ever, zero is not at all.
    pub ttl: Option<Duration>,
    /// Mix the order of the addresses.
    pub shuffle: bool,
    /// The name is a proxy's: failure is another code.
    pub proxy: bool,
    /// The scope of a link-local IPv6 address (CURLOPT_ADDRESS_SCOPE or the URL's zone).
    pub scope_id: u32,
    /// Entries pinned for every host count.
    pub wildcards: bool,
}

impl Default for ResolveOptions {
    fn default() -> ResolveOptions {
        let ttl = Some(Duration::from_secs(60));
        ResolveOptions {
            ip_version: IpVersion::Any,
            ttl,
            shuffle: false,
            proxy: false,
            scope_id: 0,
            wildcards: true,
        }
    }
}

impl IpVersion {
    /// The families to be asked for, the preferred one first.
    pub fn families(self) -> std::slice::Iter<'static, Family> {
        match self {
            IpVersion::Any => [Family::V6, Family::V4].iter(),
            IpVersion::V4 => [Family::V4].iter(),
            IpVersion::V6 => [Family::V6].iter(),
        }
    }

    /// Whether an address is of a wanted family.
    pub fn admits(self, address: &IpAddr) -> bool {
        match self {
            IpVersion::Any => true,
            IpVersion::V4 => address.is_ipv4(),
            IpVersion::V6 => address.is_ipv6(),
        }
    }
}

/// Looks a host up, and waits for all answers but those that are later than the resolution delay.
pub async fn resolve(
    means: &Means,
    name: &str,
    port: u16,
    options: &ResolveOptions,
) -> Result<Arc<Addresses>, NetError> {
    Candidates::look_up(means, (name, port), options)?.settled().await
}

/// Whether a look-up would go beyond the cache. curl counts numeric hosts and localhost as look-ups, and caches them.
pub fn is_new(cache: &ResolveCache, name: &str, port: u16, options: &ResolveOptions, now: Instant) -> bool {
    let name = name.to_ascii_lowercase();
    let mut families = options.ip_version.families();
    let known = match cache.find(&name, port, options, now) {
        Kept::Pinned(_) => true,
        Kept::Parts(parts) if at_once(&name, port, options).is_some() => {
            families.any(|family| parts.of(*family).is_some())
        }
        Kept::Parts(parts) => families.all(|family| parts.of(*family).is_some()),
    };
    !known && refuse_early(&name, options).is_ok()
}

/// A host that needs no look-up: a numeric one, or localhost (RFC 6761 section 6.3).
fn at_once(name: &str, port: u16, options: &ResolveOptions) -> Option<Vec<SocketAddr>> {
    if let Ok(v4) = name.parse::<Ipv4Addr>() {
        return Some(vec![(v4, port).into()]);
    }
    let (address, zone) = name.split_once('%').unwrap_or((name, ""));
    if let Ok(v6) = address.parse::<Ipv6Addr>() {
        return Some(vec![SocketAddrV6::new(v6, port, 0, scope(zone, options)).into()]);
    }
    let bare = name.strip_suffix('.').unwrap_or(name);
    // An address that is written out was never resolved; CURLOPT_IPRESOLVE chooses among those of a name.
    let admitted = || {
        let both: [SocketAddr; 2] = [(Ipv6Addr::LOCALHOST, port).into(), (Ipv4Addr::LOCALHOST, port).into()];
        both.into_iter().filter(|a| options.ip_version.admits(&a.ip())).collect()
    };
    (bare == "localhost" || bare.ends_with(".localhost")).then(admitted)
}

fn scope(zone: &str, options: &ResolveOptions) -> u32 {
    zone_number(zone).unwrap_or(options.scope_id)
}

/// A zone is an interface's name or number.
pub fn zone_number(zone: &str) -> Option<u32> {
    zone.parse().ok().or_else(|| sys::interface_number(zone))
}

/// Names that must not reach the system's resolver.
fn refuse_early(name: &str, options: &ResolveOptions) -> Result<(), NetError> {
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

fn unresolved(name: &str, options: &ResolveOptions) -> NetError {
    let (kind, what) = match options.proxy {
        true => (NetErrorKind::CouldntResolveProxy, "proxy"),
        false => (NetErrorKind::CouldntResolveHost, "host"),
    };
    NetError::new(kind, format!("Could not resolve {what}: {name}"))
}
