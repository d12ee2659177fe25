//! Addresses as a policy compares them: networks, which addresses are public, IPv4 addresses in IPv6 ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network: the first address and the length of the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    pub first: IpAddr,
    pub prefix: u8,
}

/// A set of addresses that a rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSet {
    Any,
    /// Addresses that the IANA registries call globally reachable.
    Public,
    Loopback,
    /// RFC 1918 and unique local addresses (RFC 4193).
    Private,
    LinkLocal,
    Network(Network),
}

impl AddressSet {
    pub fn contains(&self, ip: IpAddr) -> bool {
        match (self, ip) {
            (AddressSet::Any, _) => true,
            (AddressSet::Public, ip) => is_public(ip),
            (AddressSet::Loopback, ip) => ip.is_loopback(),
            (AddressSet::Private, IpAddr::V4(ip)) => ip.is_private(),
            (AddressSet::Private, IpAddr::V6(ip)) => ip.is_unique_local(),
            (AddressSet::LinkLocal, IpAddr::V4(ip)) => ip.is_link_local(),
            (AddressSet::LinkLocal, IpAddr::V6(ip)) => ip.is_unicast_link_local(),
            (AddressSet::Network(network), ip) => network.contains(ip),
        }
    }
}

impl Network {
    const fn v4(a: u8, b: u8, c: u8, prefix: u8) -> Network {
        Network { first: IpAddr::V4(Ipv4Addr::new(a, b, c, 0)), prefix }
    }

    const fn v6(first: [u16; 4], prefix: u8) -> Network {
        let [a, b, c, d] = first;
        Network { first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)), prefix }
    }

    pub fn contains(&self, ip: IpAddr) -> bool {
        let same = |one: u128, other: u128, width: u32| {
            let shift = width - u32::from(self.prefix);
            shift >= width || one >> shift == other >> shift
        };
        match (self.first, ip) {
            (IpAddr::V4(first), IpAddr::V4(ip)) => {
                same(u128::from(u32::from(first)), u128::from(u32::from(ip)), 32)
            }
            (IpAddr::V6(first), IpAddr::V6(ip)) => same(u128::from(first), u128::from(ip), 128),
            _ => false,
        }
    }
}

/// IPv4 networks that the public cannot reach: IANA's special-purpose registry, multicast, and the relays of
/// 6to4 (RFC 7526).
const NOT_PUBLIC_V4: [Network; 15] = [
    Network::v4(0, 0, 0, 8),
    Network::v4(10, 0, 0, 8),
    Network::v4(100, 64, 0, 10),
    Network::v4(127, 0, 0, 8),
    Network::v4(169, 254, 0, 16),
    Network::v4(172, 16, 0, 12),
    Network::v4(192, 0, 0, 24),
    Network::v4(192, 0, 2, 24),
    Network::v4(192, 88, 99, 24),
    Network::v4(192, 168, 0, 16),
    Network::v4(198, 18, 0, 15),
    Network::v4(198, 51, 100, 24),
    Network::v4(203, 0, 113, 24),
    Network::v4(224, 0, 0, 4),
    Network::v4(240, 0, 0, 4),
];

/// The IPv6 addresses that are assigned to the public.
const GLOBAL_UNICAST: Network = Network::v6([0x2000, 0, 0, 0], 3);
/// IPv4 addresses behind NAT64 (RFC 6052); the embedded address decides.
const NAT64: Network = Network::v6([0x64, 0xff9b, 0, 0], 96);
/// Networks of it that the public cannot reach: IANA's special-purpose registry. 2001::/23 holds Teredo,
/// benchmarks and ORCHID; the few services in it are left out, too.
const NOT_PUBLIC_V6: [Network; 4] = [
    Network::v6([0x2001, 0, 0, 0], 23),
    Network::v6([0x2001, 0xdb8, 0, 0], 32),
    Network::v6([0x2002, 0, 0, 0], 16),
    Network::v6([0x3fff, 0, 0, 0], 20),
];

/// Returns whether the public can reach the address.
pub fn is_public(ip: IpAddr) -> bool {
    let in_any = |networks: &[Network]| networks.iter().any(|network| network.contains(ip));
    match ip {
        IpAddr::V4(_) => !in_any(&NOT_PUBLIC_V4),
        IpAddr::V6(_) => NAT64.contains(ip) || GLOBAL_UNICAST.contains(ip) && !in_any(&NOT_PUBLIC_V6),
    }
}

/// Returns the addresses that a packet to this one may reach. A mapped IPv4 address is that address. Of other
/// forms that hold IPv4 addresses, the address itself comes first.
pub fn forms(ip: IpAddr) -> Vec<IpAddr> {
    let v6 = match ip {
        IpAddr::V4(_) => return vec![ip],
        IpAddr::V6(v6) => v6,
    };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return vec![v4.into()];
    }
    let mut found = vec![ip];
    found.extend(embedded(v6).into_iter().map(IpAddr::V4));
    found
}

/// Returns the IPv4 addresses in an IPv6 address that a translator or a tunnel would forward to.
fn embedded(ip: Ipv6Addr) -> Vec<Ipv4Addr> {
    let s = ip.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    let last = v4(s[6], s[7]);
    match s {
        // The unspecified address and the loopback address hold none.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Vec::new(),
        // IPv4-compatible (RFC 4291 section 2.5.5.1) and IPv4-translated (RFC 2765).
        [0, 0, 0, 0, 0, 0, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] => vec![last],
        // NAT64 (RFC 6052, RFC 8215). With a prefix of 48 bits, the address surrounds bits 64 to 71.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => vec![last],
        [0x64, 0xff9b, 1, high, low, below, _, _] => vec![last, v4(high, (low & 0xff) << 8 | below >> 8)],
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => vec![v4(high, low)],
        // Teredo (RFC 4380): its server, and the client with all bits inverted.
        [0x2001, 0, high, low, ..] => vec![v4(high, low), v4(!s[6], !s[7])],
        // ISATAP (RFC 5214 section 6.1).
        [_, _, _, _, 0 | 0x200, 0x5efe, _, _] => vec![last],
        _ => Vec::new(),
    }
}
