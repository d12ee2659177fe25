//! URLs of a mirror in one spelling, so that each resource is fetched once.
//!
//! Links are read as browsers read them: blanks around them and line ends in them do not count, a
//! backslash is a slash, and octets that a URL cannot have are percent-encoded.

use crate::bytes::Bytes;
use crate::raw::escape::{encoded_octet, is_unreserved, push_encoded};
use crate::raw::{Url, UrlPart, url_flag};

/// Schemes whose URLs can be part of a mirror.
const SCHEMES: [&str; 5] = ["ftp", "ftps", "http", "https", "sftp"];
/// A longer link is ignored.
const LONGEST: usize = 8 * 1024;

/// An absolute URL, and the fragment that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub url: Bytes,
    pub fragment: Option<Bytes>,
}

/// Resolves a link against the URL of its document. `None` if it leads to no resource of a mirror.
pub fn resolve(base: &[u8], link: &[u8]) -> Option<Resolved> {
    let link = cleaned(link);
    if link.len() > LONGEST {
        return None;
    }
    if let Some(scheme) = scheme(&link) {
        let has_authority = link[scheme.len() + 1..].starts_with(b"//");
        if !has_authority || !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes())) {
            return None;
        }
    }
    let mut url = Url::parse(base, 0).ok()?;
    if !link.is_empty() {
        url.set(UrlPart::Url, Some(&link), 0).ok()?;
    }
    let fragment = match link.contains(&b'#') {
        true => url.fragment().map(<[u8]>::to_vec),
        false => None,
    };
    Some(Resolved { url: canonical(url)?, fragment })
}

/// Returns the spelling of a URL that stands for all others: without fragment and login, with the host in
/// lower case, no default port, and no needless escapes.
pub fn canonical(mut url: Url) -> Option<Bytes> {
    let host = url.host_ascii().ok()?;
    url.set(UrlPart::Host, Some(&host), 0).ok()?;
    for part in [UrlPart::Fragment, UrlPart::User, UrlPart::Password, UrlPart::Options] {
        url.set(part, None, 0).ok()?;
    }
    let text = url.get(UrlPart::Url, url_flag::NO_DEFAULT_PORT).ok()?;
    Some(with_plain_escapes(&text))
}

/// Decodes escapes of unreserved characters and writes all others in upper case (RFC 3986, section 6.2.2).
/// Octets beyond ASCII are encoded.
pub fn with_plain_escapes(text: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        match encoded_octet(rest) {
            Some(octet) if is_unreserved(octet) => out.push(octet),
            Some(octet) => push_encoded(&mut out, octet),
            None if first.is_ascii_graphic() => out.push(first),
            None => push_encoded(&mut out, first),
        }
        rest = if encoded_octet(rest).is_some() { &rest[3..] } else { tail };
    }
    out
}

/// Returns the scheme at the start of a link.
fn scheme(link: &[u8]) -> Option<&[u8]> {
    let end = link.iter().position(|octet| !octet.is_ascii_alphanumeric() && !b"+-.".contains(octet))?;
    (link[end] == b':' && link[0].is_ascii_alphabetic()).then(|| &link[..end])
}

/// Encodes what a URL cannot have. Text that is no UTF-8 is read as windows-1252 without its additions to
/// ISO-8859-1, as the web's default is.
fn cleaned(link: &[u8]) -> Bytes {
    let link = link.trim_ascii();
    let utf8 = match std::str::from_utf8(link) {
        Ok(_) => link.to_vec(),
        Err(_) => link.iter().map(|octet| char::from(*octet)).collect::<String>().into_bytes(),
    };
    let mut out = Vec::with_capacity(utf8.len());
    let mut in_path = true;
    for octet in utf8 {
        match octet {
            b'\t' | b'\r' | b'\n' => {}
            b'\\' if in_path => out.push(b'/'),
            b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}' | b'\\' => push_encoded(&mut out, octet),
            _ if octet.is_ascii_graphic() => {
                in_path &= !matches!(octet, b'?' | b'#');
                out.push(octet);
            }
            _ => push_encoded(&mut out, octet),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(base: &str, link: &[u8]) -> Option<String> {
        resolve(base.as_bytes(), link).map(|found| String::from_utf8(found.url).unwrap())
    }

    /// RFC 3986 section 5.4, and what browsers do beyond it.
    #[test]
    fn links_resolve() {
        const BASE: &str = "http://a/b/c/d;p?q";
        for (link, url) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            (" g \n", "http://a/b/c/g"),
            ("g\nh", "http://a/b/c/gh"),
            ("g\\h", "http://a/b/c/g/h"),
            ("a b", "http://a/b/c/a%20b"),
            ("%7euser/%e4", "http://a/b/c/~user/%E4"),
            ("é", "http://a/b/c/%C3%A9"),
            ("HTTP://A:80/x", "http://a/x"),
            ("https://u:p@b:443/", "https://b/"),
            ("ftp://b/x", "ftp://b/x"),
        ] {
            assert_eq!(resolved(BASE, link.as_bytes()).as_deref(), Some(url), "{link:?}");
        }
        assert_eq!(resolved(BASE, b"\xe9").as_deref(), Some("http://a/b/c/%C3%A9"));
        for link in ["mailto:x@y", "javascript:void(0)", "data:,x", "file:///etc/passwd", "http:g", "tel:1"] {
            assert_eq!(resolved(BASE, link.as_bytes()), None, "{link}");
        }
        assert_eq!(resolved(BASE, &vec![b'a'; LONGEST + 1]), None);
    }

    #[test]
    fn fragments_are_kept_apart() {
        let found = resolve(b"http://a/", b"b#c%20d").unwrap();
        assert_eq!(found, Resolved { url: b"http://a/b".to_vec(), fragment: Some(b"c%20d".to_vec()) });
    }
}
