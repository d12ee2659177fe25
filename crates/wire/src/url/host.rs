//! The authority: login, port, and the three kinds of host (RFC 3986 section 3.2).

use std::net::{Ipv4Addr, Ipv6Addr};

use super::texts::TextPart;
use super::{Url, UrlError, flag, scheme};
use crate::escape::{self, Reject};

/// Fills login, host, zone and port of `url` from the text between the slashes and the path.
pub(super) fn parse_authority(
    url: &mut Url,
    authority: &[u8],
    flags: u32,
    has_scheme: bool,
) -> Result<(), UrlError> {
    let host_and_port = match authority.iter().position(|&octet| octet == b'@') {
        Some(at) => {
            if flags & flag::DISALLOW_USER != 0 {
                return Err(UrlError::UserNotAllowed);
            }
            parse_login(url, &authority[..at]);
            &authority[at + 1..]
        }
        None => authority,
    };
    let (host, port) = split_port(host_and_port)?;
    if host.is_empty() {
        return Err(UrlError::NoHost);
    }
    url.port = match port {
        Some(b"") if !has_scheme => return Err(UrlError::BadPortNumber),
        Some(b"") | None => None,
        Some(digits) => Some(parse_port(digits)?),
    };
    let decoded = escape::decode(host, Reject::Control).map_err(|_| UrlError::BadHostname)?;
    let host = match ipv4_from_numbers(&decoded) {
        Some(address) => dotted(address),
        None => check_host(url, decoded)?,
    };
    url.texts.set(TextPart::Host, Some(&host));
    Ok(())
}

/// Checks a decoded host name or bracketed IPv6 address. The latter is returned normalised, and its zone is
/// stored in `url`.
pub(super) fn check_host(url: &mut Url, host: Vec<u8>) -> Result<Vec<u8>, UrlError> {
    if let Some(inner) = host.strip_prefix(b"[") {
        let inner = inner.strip_suffix(b"]").ok_or(UrlError::BadIpv6)?;
        return ipv6(url, inner);
    }
    if host.is_empty() {
        return Err(UrlError::NoHost);
    }
    if !is_name(&host) {
        return Err(UrlError::BadHostname);
    }
    Ok(host)
}

/// Returns whether nothing in the name could be taken for another part of a URL.
pub(super) fn is_name(host: &[u8]) -> bool {
    let is_bad =
        |octet: &u8| *octet <= b' ' || *octet == 0x7f || b"/:#?!@{}[]\\$'\"^`*<>=;,+&()%|".contains(octet);
    !host.iter().any(is_bad) && host != b"." && !host.ends_with(b"..")
}

/// Converts an IPv4 address in any notation to dotted decimal form. Other hosts are returned unchanged.
pub(super) fn canonical(host: Vec<u8>) -> Vec<u8> {
    ipv4_from_numbers(&host).map_or(host, dotted)
}

fn dotted(address: Ipv4Addr) -> Vec<u8> {
    let mut out = Vec::with_capacity("255.255.255.255".len());
    for octet in address.octets() {
        if !out.is_empty() {
            out.push(b'.');
        }
        for unit in [100, 10] {
            if octet >= unit {
                out.push(b'0' + octet / unit % 10);
            }
        }
        out.push(b'0' + octet % 10);
    }
    out
}

/// A decimal port, leading zeros or not.
pub(super) fn parse_port(digits: &[u8]) -> Result<u16, UrlError> {
    let significant = match digits.iter().position(|&digit| digit != b'0') {
        Some(start) => &digits[start..],
        None if digits.is_empty() => return Err(UrlError::BadPortNumber),
        None => return Ok(0),
    };
    let end = significant.iter().position(|octet| !octet.is_ascii_digit()).unwrap_or(significant.len());
    if significant.get(end) == Some(&b'\\') {
        return Err(UrlError::Backslash);
    }
    std::str::from_utf8(significant)
        .ok()
        .filter(|_| end == significant.len())
        .and_then(|text| text.parse().ok())
        .ok_or(UrlError::BadPortNumber)
}

/// `user:password;options`, the last only for the schemes that have them; options may also precede the
/// password.
fn parse_login(url: &mut Url, login: &[u8]) {
    let has_options = url.scheme_as_written().and_then(scheme).is_some_and(|known| known.has_login_options);
    let colon = login.iter().position(|&octet| octet == b':');
    let semicolon = if has_options { login.iter().position(|&octet| octet == b';') } else { None };
    let end_of = |start: usize, other: Option<usize>| other.filter(|&at| at > start).unwrap_or(login.len());
    let user_end = colon.unwrap_or(login.len()).min(semicolon.unwrap_or(login.len()));
    url.texts.set(TextPart::User, Some(&login[..user_end]));
    url.texts.set(TextPart::Password, colon.map(|at| &login[at + 1..end_of(at, semicolon)]));
    url.texts.set(TextPart::Options, semicolon.map(|at| &login[at + 1..end_of(at, colon)]));
}

/// Splits an authority into the host and the text after the colon, if there is one.
fn split_port(authority: &[u8]) -> Result<(&[u8], Option<&[u8]>), UrlError> {
    let host_end = if authority.starts_with(b"[") {
        let bracket = authority.iter().position(|&octet| octet == b']').ok_or(UrlError::BadIpv6)?;
        bracket + 1
    } else {
        authority.iter().position(|&octet| octet == b':').unwrap_or(authority.len())
    };
    match authority[host_end..].split_first() {
        None => Ok((authority, None)),
        Some((b':', port)) => Ok((&authority[..host_end], Some(port))),
        Some((b'\\', _)) => Err(UrlError::Backslash),
        Some(_) => Err(UrlError::BadPortNumber),
    }
}

/// Parses one to four numbers, decimal, octal or hexadecimal, the last filling all octets that remain, as
/// inet_aton does. One trailing dot is allowed. `None` if this is no address but a name.
fn ipv4_from_numbers(host: &[u8]) -> Option<Ipv4Addr> {
    // Most hosts are names that begin with a letter.
    host.first().filter(|octet| octet.is_ascii_digit())?;
    let mut labels = host.strip_suffix(b".").unwrap_or(host).split(|&octet| octet == b'.').peekable();
    let (mut high, mut bits_left) = (0, 32);
    while let Some(label) = labels.next() {
        let number = ipv4_number(label)?;
        if labels.peek().is_none() {
            return (u64::from(number) < 1 << bits_left).then(|| Ipv4Addr::from(high | number));
        }
        if number > 255 || bits_left == 8 {
            return None;
        }
        bits_left -= 8;
        high |= number << bits_left;
    }
    None
}

fn ipv4_number(label: &[u8]) -> Option<u32> {
    let (digits, radix) = match label {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        digits => (digits, 10),
    };
    let and_digit = |number: u32, octet: &u8| {
        let digit = char::from(*octet).to_digit(radix)?;
        number.checked_mul(radix)?.checked_add(digit)
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, and_digit) }
}

/// The address between the brackets, with an optional zone after "%" or "%25".
fn ipv6(url: &mut Url, inner: &[u8]) -> Result<Vec<u8>, UrlError> {
    const ZONE_LIMIT: usize = 15;
    let address = match inner.iter().position(|&octet| octet == b'%') {
        Some(percent) => {
            let zone = &inner[percent + 1..];
            let zone = zone.strip_prefix(b"25").filter(|rest| !rest.is_empty()).unwrap_or(zone);
            let is_plain = zone.iter().all(|octet| octet.is_ascii_graphic() && !b"[]/?#@:%".contains(octet));
            if zone.is_empty() || zone.len() > ZONE_LIMIT || !is_plain {
                return Err(UrlError::BadIpv6);
            }
            url.texts.set(TextPart::ZoneId, Some(zone));
            &inner[..percent]
        }
        None => inner,
    };
    let text = std::str::from_utf8(address).map_err(|_| UrlError::BadIpv6)?;
    let parsed: Ipv6Addr = text.parse().map_err(|_| UrlError::BadIpv6)?;
    Ok(format!("[{}]", ipv6_text(parsed)).into_bytes())
}

/// Returns the text of inet_ntop, which also shows IPv4-compatible addresses with their dotted tail.
pub fn ipv6_text(address: Ipv6Addr) -> String {
    let segments = address.segments();
    match segments {
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            format!("::{a}.{b}.{c}.{d}")
        }
        _ => address.to_string(),
    }
}
