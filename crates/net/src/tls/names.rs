//! Checks a certificate for a host name (RFC 6125, RFC 9525, and curl's additions to OpenSSL).
//!
//! If there is an alternative name of either kind, only these count; otherwise the common name does. A
//! wildcard replaces the whole leftmost label, matches exactly one label, and needs two dots after it.

use super::x509::{AltName, Certificate};
use std::net::IpAddr;

/// `Err` holds the message for CURLE_PEER_FAILED_VERIFICATION.
pub fn check(cert: &Certificate<'_>, host: &str) -> Result<(), String> {
    let ip = address(host);
    let names = cert.alt_names();
    let matched = names.iter().any(|n| match (n, &ip) {
        (AltName::Dns(pattern), None) => matches(pattern, host),
        (AltName::Ip(bytes), Some(IpAddr::V4(a))) => *bytes == a.octets(),
        (AltName::Ip(bytes), Some(IpAddr::V6(a))) => *bytes == a.octets(),
        _ => false,
    });
    if matched {
        return Ok(());
    }
    if !names.is_empty() {
        let kind = match ip {
            None => "hostname",
            Some(IpAddr::V4(_)) => "IPv4 address",
            Some(IpAddr::V6(_)) => "IPv6 address",
        };
        return Err(format!("SSL: no alternative certificate subject name matches target {kind} '{host}'"));
    }
    common_name(cert, host)
}

/// Returns the address, without brackets or zone, if the host is a literal one.
pub fn address(host: &str) -> Option<IpAddr> {
    let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    host.split('%').next().unwrap_or(host).parse().ok()
}

fn common_name(cert: &Certificate<'_>, host: &str) -> Result<(), String> {
    let Some(cn) = cert.common_name().filter(|cn| !cn.is_empty()) else {
        return Err("SSL: unable to obtain common name from peer certificate".into());
    };
    if cn.contains('\0') {
        return Err("SSL: illegal cert name field".into());
    }
    if matches(cn.as_bytes(), host) {
        return Ok(());
    }
    Err(format!("SSL: certificate subject name '{cn}' does not match target hostname '{host}'"))
}

fn matches(pattern: &[u8], host: &str) -> bool {
    let pattern = pattern.strip_suffix(b".").unwrap_or(pattern);
    let host = host.strip_suffix('.').unwrap_or(host).as_bytes();
    if pattern.is_empty() || host.is_empty() || pattern.contains(&0) {
        return false;
    }
    let Some(rest) = pattern.strip_prefix(b"*.") else {
        return pattern.eq_ignore_ascii_case(host);
    };
    if !rest.contains(&b'.') || std::str::from_utf8(host).is_ok_and(|h| address(h).is_some()) {
        return false;
    }
    match host.iter().position(|b| *b == b'.') {
        Some(dot) if dot > 0 => rest.eq_ignore_ascii_case(&host[dot + 1..]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CVE-2016-9952
    #[test]
    fn wildcards() {
        assert!(matches(b"*.example.com", "a.example.com"));
        assert!(matches(b"*.Example.com.", "A.example.COM"));
        assert!(matches(b"a.b", "A.b."));
        for (p, h) in [
            (&b"*.example.com"[..], "example.com"),
            (b"*.example.com", "a.b.example.com"),
            (b"*.example.com", ".example.com"),
            (b"*.com", "a.com"),
            (b"a*.example.com", "ab.example.com"),
            (b"*", "a"),
            (b"*.0.0.1", "127.0.0.1"),
            (b"a.example\0.evil", "a.example"),
            (b"", ""),
        ] {
            assert!(!matches(p, h), "{p:?} {h}");
        }
    }

    fn cert(names: &[&str], cn: Option<&str>) -> Vec<u8> {
        let mut p =
            rcgen::CertificateParams::new(names.iter().map(|s| s.to_string()).collect::<Vec<_>>()).unwrap();
        p.distinguished_name = rcgen::DistinguishedName::new();
        if let Some(cn) = cn {
            p.distinguished_name.push(rcgen::DnType::CommonName, cn);
        }
        p.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn alternative_names_win_over_the_common_name() {
        let der = cert(&["a.example", "127.0.0.1", "::1"], Some("b.example"));
        let c = Certificate::parse(&der).unwrap();
        for good in ["a.example", "A.EXAMPLE.", "127.0.0.1", "::1", "[::1]"] {
            check(&c, good).unwrap();
        }
        assert_eq!(
            check(&c, "b.example").unwrap_err(),
            "SSL: no alternative certificate subject name matches target hostname 'b.example'"
        );
        assert!(check(&c, "127.0.0.2").unwrap_err().contains("IPv4 address '127.0.0.2'"));
    }

    #[test]
    fn a_common_name_serves_when_there_is_nothing_else() {
        let der = cert(&[], Some("*.b.example"));
        let c = Certificate::parse(&der).unwrap();
        check(&c, "x.b.example").unwrap();
        assert_eq!(
            check(&c, "c.example").unwrap_err(),
            "SSL: certificate subject name '*.b.example' does not match target hostname 'c.example'"
        );
        let der = cert(&[], None);
        assert!(check(&Certificate::parse(&der).unwrap(), "x").unwrap_err().contains("common name"));
    }
}
