//! The value of a `Set-Cookie:` header (RFC 6265bis section 5).

use super::{Cookie, DATE_LIMIT, LIFE_LIMIT_S, LINE_LIMIT, PAIR_LIMIT, Rejected, Target};
use super::{clean_path, domain_matches, is_address, prefix_fits, suffix};
use crate::date;

/// Parses a header. Without an origin, as when the application adds a cookie, nothing is checked against it.
pub(super) fn parse(value: &[u8], origin: Option<Target<'_>>, now: i64) -> Result<Cookie, Rejected> {
    if value.len() > LINE_LIMIT {
        return Err(Rejected::Oversized);
    }
    // RFC 6265bis section 5.6: control characters anywhere end it; a tab counts as blank.
    let value = trim(value);
    if value.iter().any(|&octet| (octet < b' ' && octet != b'\t') || octet == 0x7f) {
        return Err(Rejected::Malformed);
    }
    let mut pieces = value.split(|&octet| octet == b';');
    let (name, pair_value) = pieces.next().map(split_pair).unwrap_or_default();
    let mut cookie = Cookie {
        name: name.to_vec(),
        value: pair_value.ok_or(Rejected::Malformed)?.to_vec(),
        ..Cookie::default()
    };
    check_pair(&cookie)?;
    let mut attributes = Attributes { cookie: &mut cookie, origin, now, path: None, has_max_age: false };
    for piece in pieces {
        let (name, value) = split_pair(piece);
        attributes.read(name, value)?;
    }
    let path = attributes.path;
    cookie.has_no_path = path.is_none() && origin.is_none();
    cookie.path = match (path, origin) {
        (Some(path), _) => path,
        (None, Some(origin)) => default_path(origin.path),
        (None, None) => b"/".to_vec(),
    };
    if let (None, Some(origin)) = (&cookie.domain, origin) {
        cookie.domain = Some(origin.host.to_vec());
    }
    if prefix_fits(&cookie) { Ok(cookie) } else { Err(Rejected::Prefix) }
}

struct Attributes<'a> {
    cookie: &'a mut Cookie,
    origin: Option<Target<'a>>,
    now: i64,
    path: Option<Vec<u8>>,
    /// Max-Age has precedence over Expires, in any order.
    has_max_age: bool,
}

impl Attributes<'_> {
    fn read(&mut self, name: &[u8], value: Option<&[u8]>) -> Result<(), Rejected> {
        if value.is_some_and(|value| value.contains(&b'\t')) {
            return Err(Rejected::Malformed);
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let given = value.unwrap_or_default();
        if is("secure") && given.is_empty() {
            self.cookie.secure = true;
            if self.origin.is_some_and(|origin| !origin.secure) {
                return Err(Rejected::Insecure);
            }
        } else if is("httponly") && given.is_empty() {
            self.cookie.http_only = true;
        } else if value.is_none() {
        } else if is("path") {
            self.path = Some(clean_path(given));
        } else if is("domain") && !given.is_empty() {
            self.read_domain(given)?;
        } else if is("max-age") {
            self.read_max_age(given);
        } else if is("expires") && !self.has_max_age && self.cookie.expires == 0 {
            self.read_expires(given);
        }
        Ok(())
    }

    fn read_domain(&mut self, given: &[u8]) -> Result<(), Rejected> {
        let domain = given.strip_prefix(b".").unwrap_or(given);
        let Some(origin) = self.origin else {
            if domain.is_empty() {
                return Ok(());
            }
            self.cookie.domain = Some(domain.to_vec());
            self.cookie.tail_match = !is_address(domain);
            return Ok(());
        };
        let host_is_address = is_address(origin.host);
        let is_same = domain.eq_ignore_ascii_case(origin.host);
        if domain.is_empty() || !(is_same || (!host_is_address && domain_matches(domain, origin.host))) {
            return Err(Rejected::Domain);
        }
        let is_public = !host_is_address && suffix::is_public(domain);
        if is_public && !is_same {
            return Err(Rejected::Domain);
        }
        self.cookie.domain = Some(domain.to_vec());
        self.cookie.tail_match = !host_is_address;
        self.cookie.on_suffix = is_public;
        Ok(())
    }

    fn read_max_age(&mut self, given: &[u8]) {
        self.has_max_age = true;
        let digits = given.strip_prefix(b"\"").unwrap_or(given);
        let end = digits.iter().position(|octet| !octet.is_ascii_digit()).unwrap_or(digits.len());
        let seconds = match std::str::from_utf8(&digits[..end]).unwrap_or_default() {
            "" => 0, // negative or not a number: expires at once
            number => number.parse().unwrap_or(i64::MAX),
        };
        self.cookie.expires = if seconds == 0 { 1 } else { self.capped(self.now.saturating_add(seconds)) };
    }

    fn read_expires(&mut self, given: &[u8]) {
        // A date that cannot be read, or is longer than any date, makes a session cookie.
        let date = if given.len() < DATE_LIMIT { date::parse(given) } else { None };
        self.cookie.expires = match date {
            Some(0) => 1,
            Some(seconds) if seconds > 0 => self.capped(seconds),
            _ => 0,
        };
    }

    /// Caps the expiry. Long lifetimes are rounded down to a full minute, so that tests are deterministic.
    fn capped(&self, expires: i64) -> i64 {
        let latest = self.now.saturating_add(LIFE_LIMIT_S);
        if expires <= latest {
            return expires;
        }
        let latest = latest.saturating_add(30);
        latest - latest % 60
    }
}

/// Name and value around the first equals sign, without the blanks around them.
fn split_pair(piece: &[u8]) -> (&[u8], Option<&[u8]>) {
    match piece.iter().position(|&octet| octet == b'=') {
        Some(at) => (trim(&piece[..at]), Some(trim(&piece[at + 1..]))),
        None => (trim(piece), None),
    }
}

fn trim(text: &[u8]) -> &[u8] {
    let is_blank = |octet: &u8| matches!(octet, b' ' | b'\t' | b'\r' | b'\n');
    let start = text.iter().position(|octet| !is_blank(octet)).unwrap_or(text.len());
    let end = text.iter().rposition(|octet| !is_blank(octet)).map_or(start, |at| at + 1);
    &text[start..end]
}

fn check_pair(cookie: &Cookie) -> Result<(), Rejected> {
    if cookie.name.len() + cookie.value.len() > PAIR_LIMIT {
        return Err(Rejected::Oversized);
    }
    if cookie.name.is_empty() || cookie.name.contains(&b'\t') || cookie.value.contains(&b'\t') {
        return Err(Rejected::Malformed);
    }
    Ok(())
}

/// Everything up to the last slash.
fn default_path(path: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|&octet| octet == b'/').map_or(0, |at| at + 1);
    clean_path(&path[..end])
}
