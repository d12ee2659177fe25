//! Options of a look-up, and the resulting addresses.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::family::Family;

/// The addresses of one host, with the port, in the order in which the system prefers them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Addresses {
    pub list: Vec<SocketAddr>,
}

/// The families that are looked up (CURLOPT_IPRESOLVE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum IpVersion {
    #[default]
    Any,
    V4,
    V6,
}

/// Settings of a look-up.
#[derive(Clone, Debug)]
pub struct ResolveOptions {
    pub ip_version: IpVersion,
    /// How long an answer is cached; `None` is forever, zero is not at all.
    pub ttl: Option<Duration>,
    /// Shuffles the addresses.
    pub shuffle: bool,
    /// The name is a proxy's, so a failure has another code.
    pub proxy: bool,
    /// The scope of a link-local IPv6 address (CURLOPT_ADDRESS_SCOPE or the URL's zone).
    pub scope_id: u32,
    /// Entries pinned for every host (`*`) apply.
    pub wildcards: bool,
}

/// How long an answer is used unless an option sets another time (CURLOPT_DNS_CACHE_TIMEOUT).
pub const DEFAULT_TTL: Duration = Duration::from_secs(60);

impl Default for ResolveOptions {
    fn default() -> ResolveOptions {
        ResolveOptions {
            ip_version: IpVersion::Any,
            ttl: Some(DEFAULT_TTL),
            shuffle: false,
            proxy: false,
            scope_id: 0,
            wildcards: true,
        }
    }
}

impl IpVersion {
    /// Returns the families to look up, the preferred one first.
    pub fn families(self) -> std::slice::Iter<'static, Family> {
        match self {
            IpVersion::Any => [Family::V6, Family::V4].iter(),
            IpVersion::V4 => [Family::V4].iter(),
            IpVersion::V6 => [Family::V6].iter(),
        }
    }

    /// Returns whether an address belongs to a wanted family.
    pub fn admits(self, address: &IpAddr) -> bool {
        match self {
            IpVersion::Any => true,
            IpVersion::V4 => address.is_ipv4(),
            IpVersion::V6 => address.is_ipv6(),
        }
    }
}
