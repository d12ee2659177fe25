//! Decides which links belong to a mirror: by host, folder, pattern and depth.

use crate::bytes::Bytes;
use crate::host_pattern::{HostPattern, Place};
use crate::raw::{Url, fnmatch};

/// How a document uses a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Another page.
    Page,
    /// A part of the document: an image, a style sheet, a script.
    Requisite,
    /// An address that nobody has to fetch, such as that of a form.
    Mention,
    /// The base of the document's relative links.
    Base,
}

/// Why a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outside {
    Host,
    Folder,
    Rejected,
    Depth,
}

impl Outside {
    /// Returns a description for the summary.
    pub fn text(self) -> &'static str {
        match self {
            Outside::Host => "on other hosts",
            Outside::Folder => "above the start folder",
            Outside::Rejected => "rejected by pattern",
            Outside::Depth => "beyond --depth",
        }
    }
}

/// A start of the mirror: what is below its folder belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Root {
    host: Bytes,
    port: Option<u16>,
    folder: Bytes,
}

impl Root {
    fn of(url: &Url) -> Root {
        let path = url.path();
        let end = path.iter().rposition(|octet| *octet == b'/').map_or(0, |at| at + 1);
        Root { host: host(url), port: named_port(url), folder: path[..end].to_vec() }
    }
}

/// The limits of a mirror.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    roots: Vec<Root>,
    /// Other hosts whose pages may be fetched.
    pub hosts: Vec<HostPattern>,
    /// Whether pages above the start folder belong to it.
    pub parents: bool,
    pub accept: Vec<Bytes>,
    pub reject: Vec<Bytes>,
    pub depth: u32,
}

impl Scope {
    /// Adds a URL with which the mirror starts.
    pub fn add_root(&mut self, url: &Url) {
        let root = Root::of(url);
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
    }

    /// Moves a start to where it redirects.
    pub fn move_root(&mut self, from: &Url, to: &Url) {
        let old = Root::of(from);
        self.roots.retain(|root| *root != old);
        self.add_root(to);
    }

    /// Decides whether a link is followed.
    pub fn check(&self, url: &Url, text: &[u8], role: Role, depth: u32) -> Result<(), Outside> {
        let (name, port) = (host(url), named_port(url));
        let mut same_host =
            self.roots.iter().filter(|root| root.host == name && root.port == port).peekable();
        if same_host.peek().is_none() {
            let place = Place::of(text).ok_or(Outside::Host)?;
            if !self.hosts.iter().any(|pattern| pattern.fits(&place)) {
                return Err(Outside::Host);
            }
        } else if !self.parents
            && role == Role::Page
            && !same_host.any(|root| url.path().starts_with(&root.folder))
        {
            return Err(Outside::Folder);
        }
        if matches_any(&self.reject, url) || !self.accepts(url) && !may_lead_further(url) {
            return Err(Outside::Rejected);
        }
        // A page at the last level still gets its parts, and these theirs (@import), to a bound.
        let most =
            if role == Role::Requisite { self.depth.saturating_add(REQUISITE_LEVELS) } else { self.depth };
        if depth > most { Err(Outside::Depth) } else { Ok(()) }
    }

    /// Returns whether a resource is stored. One that is not may still be read for its links.
    pub fn accepts(&self, url: &Url) -> bool {
        self.accept.is_empty() || matches_any(&self.accept, url)
    }
}

/// How far parts of a page may be from it.
const REQUISITE_LEVELS: u32 = 3;

fn host(url: &Url) -> Bytes {
    url.host_ascii().unwrap_or_default()
}

/// Returns the port if it is not the scheme's default, so that http and https are one site.
fn named_port(url: &Url) -> Option<u16> {
    let default = match url.scheme().as_deref() {
        Some("http") => 80,
        Some("https") => 443,
        Some("sftp") => 22,
        Some("ftps") => 990,
        _ => 21,
    };
    url.port().filter(|port| *port != default)
}

/// Matches the whole path with its query, or the last part of the path if the pattern has no slash.
fn matches_any(patterns: &[Bytes], url: &Url) -> bool {
    let whole = url.path_and_query();
    let last = url.path().rsplit(|octet| *octet == b'/').next().unwrap_or_default();
    patterns.iter().any(|pattern| {
        let text = if pattern.contains(&b'/') || pattern.contains(&b'?') { &whole[..] } else { last };
        fnmatch::matches(pattern, text)
    })
}

/// Returns whether the name of a resource is one of a page or a folder: it is fetched for its links.
fn may_lead_further(url: &Url) -> bool {
    let last = url.path().rsplit(|octet| *octet == b'/').next().unwrap_or_default().to_ascii_lowercase();
    !last.contains(&b'.') || [&b".html"[..], b".htm", b".xhtml"].iter().any(|end| last.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(scope: &Scope, url: &str, role: Role, depth: u32) -> Result<(), Outside> {
        scope.check(&Url::parse(url.as_bytes(), 0).unwrap(), url.as_bytes(), role, depth)
    }

    fn scope() -> Scope {
        let mut scope = Scope { depth: 2, ..Scope::default() };
        scope.add_root(&Url::parse(b"http://a.example/docs/index.html", 0).unwrap());
        scope
    }

    #[test]
    fn pages_stay_on_the_host_and_below_the_folder() {
        for (url, role, depth, outcome) in [
            ("http://a.example/docs/x", Role::Page, 1, Ok(())),
            ("https://A.example/docs/deep/x?q", Role::Page, 2, Ok(())),
            ("http://a.example/docs/x", Role::Page, 3, Err(Outside::Depth)),
            ("http://a.example/docs/x.css", Role::Requisite, 3, Ok(())),
            ("http://a.example/docs/x.css", Role::Requisite, 6, Err(Outside::Depth)),
            ("http://a.example/", Role::Page, 1, Err(Outside::Folder)),
            ("http://a.example/docsx/", Role::Page, 1, Err(Outside::Folder)),
            ("http://a.example/style.css", Role::Requisite, 1, Ok(())),
            ("http://a.example:8080/docs/x", Role::Page, 1, Err(Outside::Host)),
            ("http://b.example/docs/x", Role::Page, 1, Err(Outside::Host)),
            ("http://b.example/x.png", Role::Requisite, 1, Err(Outside::Host)),
        ] {
            assert_eq!(checked(&scope(), url, role, depth), outcome, "{url} {depth}");
        }
    }

    #[test]
    fn hosts_and_folders_can_be_added() {
        let hosts = vec![HostPattern::parse(b"*.b.example").unwrap()];
        let wide = Scope { hosts, parents: true, ..scope() };
        assert_eq!(checked(&wide, "http://cdn.b.example/x", Role::Page, 1), Ok(()));
        assert_eq!(checked(&wide, "http://b.example/x", Role::Page, 1), Err(Outside::Host));
        assert_eq!(checked(&wide, "http://a.example/", Role::Page, 1), Ok(()));
    }

    #[test]
    fn patterns_reject_and_accept() {
        let of = |accept: &[&str], reject: &[&str]| {
            let bytes = |list: &[&str]| list.iter().map(|text| text.as_bytes().to_vec()).collect();
            Scope { accept: bytes(accept), reject: bytes(reject), ..scope() }
        };
        let at = |scope: &Scope, path: &str| {
            checked(scope, &format!("http://a.example/docs/{path}"), Role::Page, 1).is_ok()
        };
        let no_archives = of(&[], &["*.zip", "/docs/old/*"]);
        assert!(at(&no_archives, "a.txt") && !at(&no_archives, "a.zip") && !at(&no_archives, "old/a.txt"));
        let pdf = of(&["*.pdf"], &[]);
        for (path, fetched) in [("a.pdf", true), ("a.txt", false), ("sub/", true), ("a.html", true)] {
            assert_eq!(at(&pdf, path), fetched, "{path}");
        }
        assert!(!pdf.accepts(&Url::parse(b"http://a.example/docs/a.html", 0).unwrap()));
    }
}
