//! The cookies of a handle or a share: replacing, matching, ordering, and the commands of CURLOPT_COOKIELIST.
//!
//! They are grouped by the last two labels of their domain, so that the cookies of one site do not slow down
//! requests to another. All cookies that may share or shadow one are in its group.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{Cookie, FILE_HEADER, HEADER_LIMIT, LINE_LIMIT, REQUEST_LIMIT, Rejected, Target, Withheld};
use super::{domain_matches, is_address, netscape, set_cookie, suffix};

#[derive(Clone, Debug, Default)]
pub struct Jar {
    /// Cookies by `key`; those sent everywhere are under the empty key.
    sites: HashMap<Vec<u8>, Vec<Cookie>>,
    created: u64,
    /// Counter of stored cookies: a cookie that replaces another moves to the end of the list.
    stored: u64,
    /// A transfer has begun with it, or the application has added a cookie.
    in_use: bool,
    /// The earliest expiry of any cookie; zero if none expires.
    next_end: i64,
    /// Whether a file has been read, even an empty one: another file does not replace cookies that arrive
    /// from now on.
    has_loaded: bool,
}

/// A command for CURLOPT_COOKIELIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Forget all cookies.
    All,
    /// Forget the session cookies.
    Session,
    /// Write the file.
    Flush,
    /// Read the files again.
    Reload,
    /// A line for `Jar::add_line`.
    Line(&'a [u8]),
}

impl Command<'_> {
    pub fn parse(text: &[u8]) -> Command<'_> {
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        if is("ALL") {
            Command::All
        } else if is("SESS") {
            Command::Session
        } else if is("FLUSH") {
            Command::Flush
        } else if is("RELOAD") {
            Command::Reload
        } else {
            Command::Line(text)
        }
    }
}

impl Jar {
    pub fn new() -> Jar {
        Jar::default()
    }

    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Returns all cookies in no particular order, expired ones among them.
    pub fn cookies(&self) -> impl Iterator<Item = &Cookie> {
        self.sites.values().flatten()
    }

    /// Returns whether the jar has to be written to a file, even without a cookie left.
    pub fn is_in_use(&self) -> bool {
        self.in_use
    }

    /// Records that a transfer starts with this jar.
    pub fn begin(&mut self) {
        self.in_use = true;
    }

    /// Takes the value of a `Set-Cookie:` header that was received from `origin`.
    pub fn receive(&mut self, value: &[u8], origin: Target<'_>, now: i64) -> Result<&Cookie, Rejected> {
        let mut cookie = set_cookie::parse(value, Some(origin), now)?;
        cookie.is_live = self.has_loaded;
        self.remove_expired(now);
        self.store(cookie, origin.secure)
    }

    /// Takes a line from the application: Netscape format, or a header with its name.
    pub fn add_line(&mut self, line: &[u8], now: i64) -> Result<&Cookie, Rejected> {
        let mut cookie = parse_line(line, now)?;
        cookie.is_live = self.has_loaded;
        self.remove_expired(now);
        self.in_use = true;
        self.store(cookie, true)
    }

    /// Loads a line of a file. A cookie received since the first file wins over the file's, and cookies for a
    /// whole public suffix are refused.
    pub fn load_line(&mut self, line: &[u8], is_new_session: bool, now: i64) -> Result<&Cookie, Rejected> {
        let cookie = parse_line(line, now)?;
        if is_new_session && cookie.expires == 0 {
            return Err(Rejected::OldSession);
        }
        let shared = cookie.domain.as_deref().filter(|domain| cookie.tail_match && !is_address(domain));
        if shared.is_some_and(suffix::is_public) {
            return Err(Rejected::Domain);
        }
        self.store(cookie, true)
    }

    /// Loads a whole file; invalid lines are skipped. A cookie that a server has just expired stays until the
    /// file is read, so that the file does not bring it back.
    pub fn load(&mut self, file: &[u8], is_new_session: bool, now: i64) {
        for line in file.split(|&octet| octet == b'\n') {
            let _ = self.load_line(line, is_new_session, now);
        }
        self.has_loaded = true;
        self.remove_expired(now);
    }

    /// The cookies for a request, in the order in which they are sent: longer paths first (a cookie added
    /// without one has a path of no length), then longer domains, then longer names, then the newer ones.
    pub fn matching(&mut self, target: Target<'_>, now: i64) -> Vec<&Cookie> {
        self.remove_expired(now);
        let host_is_address = is_address(target.host);
        let mut found: Vec<&Cookie> = self
            .of_sites_around(target.host)
            .chain(self.at(b""))
            .filter(|cookie| fits(cookie, target, host_is_address))
            .take(REQUEST_LIMIT)
            .collect();
        found.sort_by_key(|cookie| {
            let domain_length = cookie.domain.as_ref().map_or(0, Vec::len);
            let path_length = if cookie.has_no_path { 0 } else { cookie.path.len() };
            Reverse((path_length, domain_length, cookie.name.len(), cookie.created))
        });
        found
    }

    /// Returns cookies of the site of a request that the request does not carry, with the reason; at most as
    /// many as a request may carry.
    pub fn withheld(&self, target: Target<'_>, now: i64) -> Vec<(&Cookie, Withheld)> {
        let host_is_address = is_address(target.host);
        let why = |cookie: &Cookie| {
            if cookie.expires != 0 && cookie.expires < now {
                Some(Withheld::Expired)
            } else if !domain_fits(cookie, target.host, host_is_address) {
                Some(Withheld::Domain)
            } else if !path_matches(&cookie.path, target.path) {
                Some(Withheld::Path)
            } else if cookie.secure && !target.secure {
                Some(Withheld::Secure)
            } else {
                None
            }
        };
        let of_site = self.of_sites_around(target.host);
        of_site.filter_map(|cookie| Some((cookie, why(cookie)?))).take(REQUEST_LIMIT).collect()
    }

    /// Returns the value of the `Cookie:` header, followed by the literal cookies of the application. Cookies
    /// that would make the line too long are omitted.
    pub fn header(&mut self, target: Target<'_>, literal: Option<&[u8]>, now: i64) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut is_full = false;
        for cookie in self.matching(target, now) {
            let separator = if value.is_empty() { 0 } else { 2 };
            let length =
                "Cookie: ".len() + value.len() + separator + cookie.name.len() + 1 + cookie.value.len();
            if length >= HEADER_LIMIT {
                is_full = true;
                break;
            }
            if separator > 0 {
                value.extend_from_slice(b"; ");
            }
            value.extend_from_slice(&cookie.name);
            value.push(b'=');
            value.extend_from_slice(&cookie.value);
        }
        if let Some(literal) = literal.filter(|_| !is_full) {
            if !value.is_empty() {
                value.extend_from_slice(b"; ");
            }
            value.extend_from_slice(literal);
        }
        if value.is_empty() { None } else { Some(value) }
    }

    pub fn clear(&mut self) {
        self.sites.clear();
        self.next_end = 0;
    }

    pub fn clear_session(&mut self) {
        self.retain(|cookie| cookie.expires != 0);
    }

    pub fn remove_expired(&mut self, now: i64) {
        if self.next_end != 0 && self.next_end < now {
            self.retain(|cookie| cookie.expires == 0 || cookie.expires >= now);
            let ends = self.cookies().map(|cookie| cookie.expires).filter(|end| *end != 0);
            self.next_end = ends.min().unwrap_or(0);
        }
    }

    fn retain(&mut self, stays: impl Fn(&Cookie) -> bool) {
        self.sites.retain(|_, cookies| {
            cookies.retain(&stays);
            !cookies.is_empty()
        });
    }

    /// All cookies that have a domain as lines in Netscape format, without line ends, in the order in which
    /// they were stored last.
    pub fn lines(&mut self, now: i64) -> Vec<Vec<u8>> {
        self.remove_expired(now);
        let mut cookies: Vec<&Cookie> = self.with_domain().collect();
        cookies.sort_by_key(|cookie| cookie.stored);
        cookies.into_iter().map(netscape::format).collect()
    }

    /// Returns the contents of a cookie file, newest cookie first. Without cookies it has only the header,
    /// which records that the jar was empty.
    pub fn file(&mut self, now: i64) -> Vec<u8> {
        self.remove_expired(now);
        let mut file = FILE_HEADER.as_bytes().to_vec();
        let mut cookies: Vec<&Cookie> = self.with_domain().collect();
        cookies.sort_by_key(|cookie| Reverse(cookie.created));
        for cookie in cookies {
            file.extend_from_slice(&netscape::format(cookie));
            file.push(b'\n');
        }
        file
    }

    fn with_domain(&self) -> impl Iterator<Item = &Cookie> {
        self.cookies().filter(|cookie| cookie.domain.is_some())
    }

    fn store(&mut self, mut cookie: Cookie, is_secure: bool) -> Result<&Cookie, Rejected> {
        let domain = cookie.domain.as_deref().unwrap_or_default();
        if !is_secure && self.of_sites_around(domain).any(|old| would_overlay(old, &cookie)) {
            return Err(Rejected::WouldOverlay);
        }
        let key = key(domain);
        let site = self.sites.entry(key).or_default();
        let index = match site.iter().position(|old| is_same(old, &cookie)) {
            Some(index) if site[index].is_live && !cookie.is_live => return Err(Rejected::Outdated),
            Some(index) => {
                cookie.created = site[index].created;
                index
            }
            None => {
                self.created += 1;
                cookie.created = self.created;
                site.push(Cookie::default());
                site.len() - 1
            }
        };
        self.stored += 1;
        cookie.stored = self.stored;
        if cookie.expires != 0 && (self.next_end == 0 || cookie.expires < self.next_end) {
            self.next_end = cookie.expires;
        }
        site[index] = cookie;
        Ok(&site[index])
    }

    /// The cookies of all domains that this one may be part of, and others.
    fn of_sites_around(&self, domain: &[u8]) -> impl Iterator<Item = &Cookie> {
        let site = key(domain);
        let above = site.iter().position(|&octet| octet == b'.').filter(|_| !is_address(&site));
        let above = above.map(|dot| site[dot + 1..].to_vec());
        let above = above.into_iter().flat_map(|label| self.at(&label));
        self.at(&site).iter().chain(above)
    }

    fn at(&self, key: &[u8]) -> &[Cookie] {
        self.sites.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Returns the group of a domain: the last two labels in lower case, or a whole address.
fn key(domain: &[u8]) -> Vec<u8> {
    let dots = domain.iter().enumerate().rev().filter(|(_, octet)| **octet == b'.');
    let start = dots.map(|(at, _)| at + 1).nth(1).filter(|_| !is_address(domain));
    domain[start.unwrap_or(0)..].to_ascii_lowercase()
}

fn parse_line(line: &[u8], now: i64) -> Result<Cookie, Rejected> {
    if line.len() > LINE_LIMIT {
        return Err(Rejected::Oversized);
    }
    match line.split_at_checked("Set-Cookie:".len()) {
        Some((name, value)) if name.eq_ignore_ascii_case(b"Set-Cookie:") => {
            set_cookie::parse(value, None, now)
        }
        _ => netscape::parse(line),
    }
}

fn domain_fits(cookie: &Cookie, host: &[u8], host_is_address: bool) -> bool {
    match &cookie.domain {
        None => true,
        Some(domain) if cookie.tail_match && !cookie.on_suffix && !host_is_address => {
            domain_matches(domain, host)
        }
        Some(domain) => domain.eq_ignore_ascii_case(host),
    }
}

fn fits(cookie: &Cookie, target: Target<'_>, host_is_address: bool) -> bool {
    domain_fits(cookie, target.host, host_is_address)
        && (!cookie.secure || target.secure)
        && path_matches(&cookie.path, target.path)
}

/// RFC 6265 section 5.1.4.
fn path_matches(cookie_path: &[u8], path: &[u8]) -> bool {
    if cookie_path == b"/" {
        return true;
    }
    path.strip_prefix(cookie_path).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn same_domain(one: &Cookie, other: &Cookie) -> bool {
    match (&one.domain, &other.domain) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        (None, None) => true,
        _ => false,
    }
}

fn is_same(old: &Cookie, new: &Cookie) -> bool {
    let same_path = old.path == new.path && old.has_no_path == new.has_no_path;
    old.name == new.name && old.tail_match == new.tail_match && same_path && same_domain(old, new)
}

/// Returns whether a new cookie would overlay a secure one (RFC 6265bis section 5.7): an insecure origin
/// cannot shadow a secure cookie of its own domain, one above or one below, with the same first path segment.
fn would_overlay(old: &Cookie, new: &Cookie) -> bool {
    let first_segment = |path: &[u8]| path.iter().skip(1).position(|&octet| octet == b'/').map(|at| at + 1);
    let length = first_segment(&old.path).unwrap_or(old.path.len());
    old.secure
        && !new.secure
        && old.name == new.name
        && related(old, new)
        && new.path.starts_with(&old.path[..length])
}

/// Whether a request to one of the two domains may carry the cookies of the other.
fn related(one: &Cookie, other: &Cookie) -> bool {
    match (&one.domain, &other.domain) {
        (Some(a), Some(b)) => domain_matches(a, b) || domain_matches(b, a),
        (None, None) => true,
        _ => false,
    }
}
