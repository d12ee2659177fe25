//! Names of hosts in the sections of a config file: `example.com`, `*.example.com:8443`, `[::1]`, `*`.

use crate::bytes::Bytes;
use crate::raw::{UrlPart, url_flag};
use crate::url::parse_url;
use std::net::Ipv6Addr;

/// The host and the port of a URL.
pub struct Place {
    host: Bytes,
    port: u16,
    /// Whether the URL has a login.
    pub has_login: bool,
}

impl Place {
    /// Parses a URL.
    pub fn of(url: &[u8]) -> Option<Place> {
        let url = parse_url(url).ok()?;
        let host = normal(&url.get(UrlPart::Host, 0).ok()?);
        let port = url.get(UrlPart::Port, url_flag::DEFAULT_PORT).ok()?;
        let has_login = url.get(UrlPart::User, 0).is_ok();
        Some(Place { host, port: std::str::from_utf8(&port).ok()?.parse().ok()?, has_login })
    }
}

/// A host in lower case, without a final dot, and an IPv6 address in its usual form.
fn normal(host: &[u8]) -> Bytes {
    let host = host.strip_suffix(b".").unwrap_or(host).to_ascii_lowercase();
    let address = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    let address = address.and_then(|text| std::str::from_utf8(text).ok()?.parse::<Ipv6Addr>().ok());
    address.map_or(host, |address| format!("[{address}]").into_bytes())
}

/// A host of a section's first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    /// The name; for one below a domain, the domain with a dot before it. Empty for any host.
    name: Bytes,
    is_suffix: bool,
    port: Option<u16>,
}

impl HostPattern {
    /// Parses a name, with a port if need be.
    pub fn parse(word: &[u8]) -> Option<HostPattern> {
        let colon = word.iter().rposition(|byte| *byte == b':').filter(|at| !word[*at..].contains(&b']'));
        let (name, port) = match colon {
            Some(at) => (&word[..at], Some(std::str::from_utf8(&word[at + 1..]).ok()?.parse().ok()?)),
            None => (word, None),
        };
        let (name, is_suffix) = match name.strip_prefix(b"*") {
            Some(rest) if rest.is_empty() || rest.starts_with(b".") && rest.len() > 1 => (rest, true),
            Some(_) => return None,
            None => (name, false),
        };
        let is_address = name.starts_with(b"[") && name.ends_with(b"]");
        let is_name = !name.iter().any(|byte| b":*/@[]".contains(byte)) && (is_suffix || !name.is_empty());
        (is_address || is_name).then(|| HostPattern { name: normal(name), is_suffix, port })
    }

    /// Returns whether the place is one of its own.
    pub fn fits(&self, place: &Place) -> bool {
        let by_name = match self.is_suffix {
            true => place.host.ends_with(&self.name) && place.host.len() > self.name.len(),
            false => place.host == self.name,
        };
        by_name && self.port.is_none_or(|port| port == place.port)
    }
}
