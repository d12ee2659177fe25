//! The no_proxy list: names, addresses and networks that are reached without the proxy, by curl's rules
//! (CURLOPT_NOPROXY(3)).

use std::net::IpAddr;

/// Returns whether `host` (an address without brackets) is on the list. "*" alone matches every host.
pub fn matches(host: &str, list: &str) -> bool {
    if list.trim() == "*" {
        return true;
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let address: Option<IpAddr> = host.parse().ok();
    list.split([',', ' ', '\t']).filter(|e| !e.is_empty()).any(|entry| match address {
        Some(address) => matches_address(address, entry),
        None => matches_name(host, entry),
    })
}

/// "example.com" and ".example.com" match the domain and everything below it.
fn matches_name(host: &str, entry: &str) -> bool {
    let entry = entry.strip_suffix('.').unwrap_or(entry);
    let entry = entry.strip_prefix('.').unwrap_or(entry);
    if entry.is_empty() || host.len() < entry.len() {
        return false;
    }
    let (front, tail) = host.as_bytes().split_at(host.len() - entry.len());
    tail.eq_ignore_ascii_case(entry.as_bytes()) && front.last().is_none_or(|b| *b == b'.')
}

fn matches_address(address: IpAddr, entry: &str) -> bool {
    let (network, bits) = match entry.split_once('/') {
        Some((network, bits)) => match bits.parse::<u32>() {
            Ok(bits) => (network, Some(bits)),
            Err(_) => return false,
        },
        None => (entry, None),
    };
    let network = network.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(network);
    match (address, network.parse()) {
        (IpAddr::V4(a), Ok(IpAddr::V4(n))) => {
            same_bits(u128::from(u32::from(a)), u128::from(u32::from(n)), 32, bits)
        }
        (IpAddr::V6(a), Ok(IpAddr::V6(n))) => same_bits(u128::from(a), u128::from(n), 128, bits),
        _ => false,
    }
}

fn same_bits(a: u128, b: u128, width: u32, bits: Option<u32>) -> bool {
    match bits.unwrap_or(width) {
        0 => bits.is_some(),
        bits if bits > width => false,
        bits => a >> (width - bits) == b >> (width - bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        for (host, list, expected) in [
            ("www.example.com", "localhost,.example.com,.example.de", true),
            ("www.example.com.", "example.com", true),
            ("example.com", "www.example.com", false),
            ("notexample.com", "example.com", false),
            ("192.168.0.1", "192.168.0.0/16", true),
            ("192.160.0.1", "192.160.0.0/33", false),
            ("192.168.0.1", "192.168.0.0/8x", false),
            ("::1", "[::1]", true),
            ("bee:bee::1", "bee::/16, bee:bee::/32", true),
            ("anything", "*", true),
            ("anything", "a,*", false),
            ("a", "", false),
        ] {
            assert_eq!(matches(host, list), expected, "{host} on {list}");
        }
    }
}
