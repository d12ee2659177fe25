//! The functions of PAC files about addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// `isInNet` for an address: returns whether it has the bits of the pattern that the mask selects.
pub fn is_in_net(address: Ipv4Addr, pattern: &str, mask: &str) -> bool {
    let (Ok(pattern), Ok(mask)) = (pattern.parse::<Ipv4Addr>(), mask.parse::<Ipv4Addr>()) else {
        return false;
    };
    let mask = u32::from(mask);
    u32::from(address) & mask == u32::from(pattern) & mask
}

/// `isInNetEx` for an address: returns whether it is in the network `address/bits`.
pub fn is_in_net_ex(address: IpAddr, network: &str) -> bool {
    let Some((start, bits)) = network.split_once('/') else { return false };
    let (Ok(start), Ok(bits)) = (start.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let shifted = |address: u128, width: u32| address.checked_shr(width - bits).unwrap_or(0);
    match (address, start) {
        (IpAddr::V4(a), IpAddr::V4(b)) if bits <= 32 => {
            shifted(u32::from(a).into(), 32) == shifted(u32::from(b).into(), 32)
        }
        (IpAddr::V6(a), IpAddr::V6(b)) if bits <= 128 => shifted(a.into(), 128) == shifted(b.into(), 128),
        _ => false,
    }
}

/// `sortIpAddressList`: sorts addresses with semicolons between them, those of IPv6 first. `None` if one is
/// no address or there is none.
pub fn sort_ip_address_list(list: &str) -> Option<String> {
    let addresses = list.split(';').map(|one| one.trim().parse().ok());
    let mut addresses: Vec<IpAddr> = addresses.collect::<Option<_>>()?;
    addresses.sort_by_key(|address| (address.is_ipv4(), *address));
    Some(joined(&addresses))
}

/// Returns addresses with semicolons between them.
pub fn joined(addresses: &[IpAddr]) -> String {
    addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(";")
}

/// Returns this machine's addresses: those from which it would send to a host of the Internet. Nothing is
/// sent; the system only chooses the route.
pub fn own_addresses() -> Vec<IpAddr> {
    let from = |any: IpAddr, to: IpAddr| {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((to, 53)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    // 8.8.8.8 and its IPv6 twin: Chromium takes them for the same purpose.
    let v4 = from(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(8, 8, 8, 8).into());
    let far = Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888);
    let v6 = from(Ipv6Addr::UNSPECIFIED.into(), far.into());
    v6.into_iter().chain(v4).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_with_a_mask() {
        for (address, pattern, mask, wanted) in [
            ("198.95.249.79", "198.95.249.79", "255.255.255.255", true),
            ("198.95.6.8", "198.95.0.0", "255.255.0.0", true),
            ("198.96.6.8", "198.95.0.0", "255.255.0.0", false),
            ("10.1.2.3", "10.0.0.0", "255.0.0.0", true),
            ("10.1.2.3", "10.9.9.9", "255.0.0.0", true),
            ("10.1.2.3", "0.0.0.0", "0.0.0.0", true),
            ("10.1.2.3", "10.0.0", "255.0.0.0", false),
            ("10.1.2.3", "10.0.0.0", "8", false),
        ] {
            let found = is_in_net(address.parse().unwrap(), pattern, mask);
            assert_eq!(found, wanted, "{address} {pattern} {mask}");
        }
    }

    #[test]
    fn networks_with_a_prefix() {
        for (address, network, wanted) in [
            ("198.95.249.79", "198.95.249.79/32", true),
            ("198.95.6.8", "198.95.0.0/16", true),
            ("198.96.6.8", "198.95.0.0/16", false),
            ("1.2.3.4", "0.0.0.0/0", true),
            ("3ffe:8311:ffff:1::2", "3ffe:8311:ffff::/48", true),
            ("3ffe:8312::1", "3ffe:8311:ffff::/48", false),
            ("::1", "::/0", true),
            ("::1", "::1/128", true),
            ("::1", "0.0.0.0/0", false),
            ("1.2.3.4", "1.2.3.4", false),
            ("1.2.3.4", "1.2.3.4/33", false),
            ("::1", "::1/129", false),
            ("1.2.3.4", "1.2.3.4/x", false),
        ] {
            assert_eq!(is_in_net_ex(address.parse().unwrap(), network), wanted, "{address} {network}");
        }
    }

    #[test]
    fn lists_are_sorted() {
        for (list, wanted) in [
            (
                "10.2.3.9;2001:4898::fc14;::1;127.0.0.1;::9",
                Some("::1;::9;2001:4898::fc14;10.2.3.9;127.0.0.1"),
            ),
            (" 10.0.0.2 ; 10.0.0.10", Some("10.0.0.2;10.0.0.10")),
            ("10.0.0.1", Some("10.0.0.1")),
            ("", None),
            ("10.0.0.1;", None),
            ("10.0.0.1;x", None),
        ] {
            assert_eq!(sort_ip_address_list(list).as_deref(), wanted, "{list}");
        }
    }
}
