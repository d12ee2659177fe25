//! Cookies with curl's semantics: RFC 6265bis with curl's limits, and the Netscape file format. `set_cookie`
//! parses the header, `netscape` the lines of files, `jar` stores, matches and orders, `suffix` knows the
//! public suffixes. Time is an argument; the caller reads and writes files.

mod jar;
mod netscape;
mod set_cookie;
mod suffix;

pub use jar::{Command, Jar};
pub use netscape::FILE_HEADER;

use std::fmt;

/// A longer `Set-Cookie:` value or file line is dropped.
pub const LINE_LIMIT: usize = 5000;
/// Name and value together.
pub const PAIR_LIMIT: usize = 4096;
/// So many cookies are taken from one response; counting is the caller's.
pub const RESPONSE_LIMIT: usize = 50;
/// The longest `Cookie:` line, its name included.
pub const HEADER_LIMIT: usize = 8190;
/// So many cookies go into one request.
pub const REQUEST_LIMIT: usize = 150;
/// An `expires` of this length is not read.
const DATE_LIMIT: usize = 80;
/// No cookie lives longer than this after it was received.
const LIFE_LIMIT_S: i64 = 400 * 24 * 3600;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    pub name: Vec<u8>,
    pub value: Vec<u8>,
    /// Without a leading dot. `None` only if the application added the cookie without a domain: it is sent
    /// everywhere.
    pub domain: Option<Vec<u8>>,
    /// Without a trailing slash, unless it is "/".
    pub path: Vec<u8>,
    /// Whether the application added the cookie without a path: it is sent everywhere, and differs from one
    /// for "/".
    pub has_no_path: bool,
    /// Seconds since 1970; 0 for a session's cookie.
    pub expires: i64,
    /// Whether subdomains get it too.
    pub tail_match: bool,
    pub secure: bool,
    pub http_only: bool,
    /// Whether its host is a public suffix itself ("github.io"). The host may have cookies, but its
    /// subdomains do not receive them, although curl's file says so. Files do not bring it back.
    on_suffix: bool,
    /// Whether it was received since the first file was loaded: loading a file does not replace it.
    is_live: bool,
    /// Counts upwards; a cookie that replaces another takes its place.
    created: u64,
    /// Counts upwards, with each cookie that is stored.
    stored: u64,
}

/// The origin of a cookie, or the target of a request.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// An IPv6 address without brackets.
    pub host: &'a [u8],
    /// Without the query.
    pub path: &'a [u8],
    /// See `is_secure`.
    pub secure: bool,
}

/// Whether secure cookies may be set and sent: over TLS, and to this machine.
pub fn is_secure(uses_tls: bool, host: &[u8]) -> bool {
    uses_tls || [&b"localhost"[..], b"127.0.0.1", b"::1"].iter().any(|local| local.eq_ignore_ascii_case(host))
}

/// Why a cookie is not sent with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// It belongs to another host of the site.
    Domain,
    Path,
    /// It is sent over TLS only.
    Secure,
    Expired,
}

/// Why a cookie was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    Oversized,
    /// No name, no value, or forbidden octets.
    Malformed,
    /// A domain that the host is not part of, or a public suffix.
    Domain,
    /// `Secure` from an origin that may not set it.
    Insecure,
    /// The name begins with __Secure- or __Host-, and the attributes violate the prefix.
    Prefix,
    /// It would overlay a secure cookie.
    WouldOverlay,
    /// A session cookie in a file, while a new session starts.
    OldSession,
    /// A cookie from a file that has been received again meanwhile.
    Outdated,
}

impl fmt::Display for Rejected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Rejected::Oversized => "oversized cookie dropped",
            Rejected::Malformed => "invalid cookie dropped",
            Rejected::Domain => "skipped cookie with bad tailmatch domain",
            Rejected::Insecure => "skipped cookie because not 'secure'",
            Rejected::Prefix => "skipped cookie whose prefix does not fit",
            Rejected::WouldOverlay => "cookie dropped, would overlay an existing cookie",
            Rejected::OldSession => "skipped session cookie of an old session",
            Rejected::Outdated => "kept the cookie received meanwhile",
        })
    }
}

/// Cookie prefixes of RFC 6265bis section 4.1.3, in this case of letters only, as in curl (case 2311).
fn prefix_fits(cookie: &Cookie) -> bool {
    let has = |prefix: &[u8]| cookie.name.get(..prefix.len()).is_some_and(|start| start == prefix);
    if has(b"__Host-") {
        cookie.secure && !cookie.tail_match && cookie.path == b"/"
    } else {
        !has(b"__Secure-") || cookie.secure
    }
}

/// RFC 6265 section 5.1.3, without the address check.
fn domain_matches(domain: &[u8], host: &[u8]) -> bool {
    let Some(start) = host.len().checked_sub(domain.len()) else { return false };
    host[start..].eq_ignore_ascii_case(domain) && (start == 0 || host[start - 1] == b'.')
}

fn is_address(host: &[u8]) -> bool {
    std::str::from_utf8(host).is_ok_and(|text| text.parse::<std::net::IpAddr>().is_ok())
}

/// A path as it is stored and compared: without quotes and trailing slash; "/" if it does not start with one.
fn clean_path(path: &[u8]) -> Vec<u8> {
    let path = path.strip_prefix(b"\"").unwrap_or(path);
    let path = path.strip_suffix(b"\"").unwrap_or(path);
    match path {
        [b'/', .., b'/'] => path[..path.len() - 1].to_vec(),
        [b'/', ..] => path.to_vec(),
        _ => b"/".to_vec(),
    }
}

#[cfg(test)]
mod tests;
