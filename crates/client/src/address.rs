//! URLs of requests and responses, and the types that convert to one.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use wire::url::{Part, Url as Parsed, UrlError, flag};

/// An absolute URL.
///
/// Parsing accepts what browsers accept in a path or a query: spaces and letters outside of ASCII are
/// percent-encoded. Dot segments stay, because [`EasyOption::PathAsIs`](crate::EasyOption::PathAsIs) decides
/// about them. For changing parts, [`crate::url`] has curl's functions.
///
/// ```
/// let url = warmwire::Url::parse("https://user@example.com:8443/a b?q=1#end")?;
/// assert_eq!(url.as_str(), "https://user@example.com:8443/a%20b?q=1#end");
/// assert_eq!((url.scheme(), url.host_str(), url.port()), ("https", Some("example.com"), Some(8443)));
/// assert_eq!((url.path(), url.query(), url.fragment()), ("/a%20b", Some("q=1"), Some("end")));
/// # Ok::<(), warmwire::InvalidUrl>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Url(String);

impl Url {
    /// Parses a URL. One without a scheme is an error.
    pub fn parse(text: &str) -> Result<Url, InvalidUrl> {
        if is_plain(text) {
            return Ok(Url(text.to_owned()));
        }
        Url::parse_whole(text)
    }

    fn parse_whole(text: &str) -> Result<Url, InvalidUrl> {
        let flags = flag::NON_SUPPORT_SCHEME | flag::PATH_AS_IS | flag::URLENCODE | flag::ALLOW_SPACE;
        let whole = Parsed::parse(text.as_bytes(), flags).and_then(|url| url.get(Part::Url, 0));
        match whole.map(String::from_utf8) {
            Ok(Ok(text)) => Ok(Url(text)),
            Ok(Err(_)) => Err(InvalidUrl::new(text, UrlError::MalformedInput)),
            Err(error) => Err(InvalidUrl::new(text, error)),
        }
    }

    /// Wraps a URL that the engine has used.
    pub(crate) fn of_engine(text: &[u8]) -> Url {
        match String::from_utf8(text.to_vec()) {
            Ok(text) => Url(text),
            Err(_) => Url(String::from_utf8_lossy(text).into_owned()),
        }
    }

    /// Returns the whole URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the scheme as written.
    pub fn scheme(&self) -> &str {
        self.0.split_once("://").map_or("", |(scheme, _)| scheme)
    }

    /// Returns whether the scheme is `http` or `https`.
    pub(crate) fn is_http(&self) -> bool {
        ["http", "https"].iter().any(|name| self.scheme().eq_ignore_ascii_case(name))
    }

    /// Returns the user of the URL, percent-encoded; empty if there is none.
    pub fn username(&self) -> &str {
        let login = self.authority().rsplit_once('@').map_or("", |(login, _)| login);
        login.split_once(':').map_or(login, |(user, _)| user)
    }

    /// Returns the host, an IPv6 address in brackets. A `file:` URL has none.
    pub fn host_str(&self) -> Option<&str> {
        let (host, _) = self.host_and_port();
        (!host.is_empty()).then_some(host)
    }

    /// Returns the port that the URL names.
    pub fn port(&self) -> Option<u16> {
        self.host_and_port().1?.parse().ok()
    }

    /// Returns the port that the URL names, or the default of its scheme.
    pub fn port_or_known_default(&self) -> Option<u16> {
        self.port().or_else(|| Parsed::parse(self.0.as_bytes(), 0).ok()?.port_or_default())
    }

    /// Returns the path, percent-encoded.
    pub fn path(&self) -> &str {
        let rest = &self.before_fragment()[self.path_start()..];
        rest.split_once('?').map_or(rest, |(path, _)| path)
    }

    /// Returns the query without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.before_fragment()[self.path_start()..].split_once('?').map(|(_, query)| query)
    }

    /// Returns the fragment without its `#`. It is not sent.
    pub fn fragment(&self) -> Option<&str> {
        self.0.split_once('#').map(|(_, fragment)| fragment)
    }

    /// Adds encoded pairs to the query.
    pub(crate) fn add_query(&mut self, pairs: &str) {
        if pairs.is_empty() {
            return;
        }
        let end = self.before_fragment().len();
        let link = match self.query() {
            None => "?",
            Some("") => "",
            Some(_) => "&",
        };
        self.0.insert_str(end, &format!("{link}{pairs}"));
    }

    /// Returns the URL with another path, and without query and fragment.
    pub(crate) fn with_path(&self, path: &str) -> Url {
        Url(format!("{}{path}", &self.0[..self.path_start()]))
    }

    fn before_fragment(&self) -> &str {
        self.0.split_once('#').map_or(&*self.0, |(before, _)| before)
    }

    fn authority_start(&self) -> usize {
        self.0.find("://").map_or(0, |at| at + 3)
    }

    fn path_start(&self) -> usize {
        let start = self.authority_start();
        let before = self.before_fragment();
        before[start..].find(['/', '?']).map_or(before.len(), |at| start + at)
    }

    fn authority(&self) -> &str {
        &self.0[self.authority_start()..self.path_start()]
    }

    fn host_and_port(&self) -> (&str, Option<&str>) {
        let place = self.authority().rsplit_once('@').map_or(self.authority(), |(_, place)| place);
        match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (place, None),
        }
    }
}

/// Returns whether parsing would leave the URL as it is. True for the usual kind alone: http or https, a name
/// or an IPv4 address as host, a path and a query of characters that need no encoding.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(rest) = bytes.strip_prefix(b"https://").or_else(|| bytes.strip_prefix(b"http://")) else {
        return false;
    };
    let is_of_name = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
    let length = rest.iter().position(|byte| !is_of_name(byte)).unwrap_or(rest.len());
    let (name, mut rest) = rest.split_at(length);
    // The parser writes an address as four numbers. Empty labels and long names are for it, too.
    let is_name = matches!(name, [b'a'..=b'z', .., b'a'..=b'z'] | [b'a'..=b'z'])
        && name.len() <= 253
        && !name.windows(2).any(|pair| pair == b"..");
    let is_address = || std::str::from_utf8(name).is_ok_and(|name| name.parse::<Ipv4Addr>().is_ok());
    if let Some(behind) = rest.strip_prefix(b":") {
        let length = behind.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(behind.len());
        let (digits, behind) = behind.split_at(length);
        let add = |port: u16, digit: &u8| port.checked_mul(10)?.checked_add(u16::from(digit - b'0'));
        if !matches!(digits, [b'1'..=b'9', ..]) || digits.iter().try_fold(0, add).is_none() {
            return false;
        }
        rest = behind;
    }
    let needs_nothing =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    let Some(behind) = rest.strip_prefix(b"/") else { return false };
    let length = behind.iter().position(|byte| !needs_nothing(byte)).unwrap_or(behind.len());
    let is_query = |query: &[u8]| {
        !query.is_empty() && query.iter().all(|byte| needs_nothing(byte) || matches!(byte, b'=' | b'&'))
    };
    (is_name || is_address())
        && match &behind[length..] {
            [] => true,
            [b'?', query @ ..] => is_query(query),
            _ => false,
        }
}

/// A text that is no URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidUrl(String);

impl InvalidUrl {
    pub(crate) fn new(text: &str, error: UrlError) -> InvalidUrl {
        InvalidUrl(match error {
            UrlError::BadScheme | UrlError::NoScheme => format!("the URL {text:?} has no scheme (https://…)"),
            error => format!("the URL {text:?} is refused: {error}"),
        })
    }

    pub(crate) fn with(message: String) -> InvalidUrl {
        InvalidUrl(message)
    }
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidUrl {}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for Url {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for Url {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Url, InvalidUrl> {
        Url::parse(text)
    }
}

impl From<Url> for String {
    fn from(url: Url) -> String {
        url.0
    }
}

/// A value that converts to a [`Url`]: text, [`http::Uri`], [`Url`], [`url::Url`](crate::url::Url) and, with
/// the feature `url`, the type of the crate `url`.
pub trait IntoUrl {
    /// Converts the value. A request reports the error when it is sent.
    fn into_url(self) -> Result<Url, InvalidUrl>;
}

impl IntoUrl for &str {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Url::parse(self)
    }
}

impl IntoUrl for String {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Url::parse(&self)
    }
}

impl IntoUrl for &String {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Url::parse(self)
    }
}

impl IntoUrl for Url {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Ok(self)
    }
}

impl IntoUrl for &Url {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Ok(self.clone())
    }
}

impl IntoUrl for http::Uri {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Url::parse(&self.to_string())
    }
}

impl IntoUrl for &http::Uri {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Url::parse(&self.to_string())
    }
}

impl IntoUrl for &Parsed {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        let text = self.get(Part::Url, 0).map_err(|error| InvalidUrl::new("", error))?;
        Url::parse(&String::from_utf8_lossy(&text))
    }
}

#[cfg(feature = "url")]
impl IntoUrl for ::url::Url {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Url::parse(self.as_str())
    }
}

#[cfg(feature = "url")]
impl IntoUrl for &::url::Url {
    fn into_url(self) -> Result<Url, InvalidUrl> {
        Url::parse(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_urls() {
        for (text, host, port, path, query, fragment) in [
            ("http://h", Some("h"), None, "/", None, None),
            ("http://h?q", Some("h"), None, "/", Some("q"), None),
            ("http://h#f?no", Some("h"), None, "/", None, Some("f?no")),
            ("http://u:p@[::1]:81/a/b?", Some("[::1]"), Some(81), "/a/b", Some(""), None),
            ("http://[::1]/", Some("[::1]"), None, "/", None, None),
            ("file:///tmp/x", None, None, "/tmp/x", None, None),
            ("ftp://h/a?b", Some("h"), None, "/a", Some("b"), None),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.host_str(), url.port(), url.path()), (host, port, path), "{text}");
            // curl drops a question mark without a query.
            let query = query.filter(|query| !query.is_empty());
            assert_eq!((url.query(), url.fragment()), (query, fragment), "{text}");
        }
        assert_eq!(Url::parse("https://h/").unwrap().port_or_known_default(), Some(443));
        assert_eq!(Url::parse("http://me:x@h/").unwrap().username(), "me");
    }

    /// The parser itself is the judge of what needs no parsing.
    #[test]
    fn a_plain_url_is_what_the_parser_leaves_as_it_is() {
        let parsed = |text: &str| Url::parse_whole(text).map(String::from).unwrap_or_default();
        for text in [
            "http://h/",
            "https://localhost:65535/b",
            "http://127.0.0.1:80/",
            "http://a.b-c.example/x/../y//z.html?a=1&b=~c_d",
        ] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "http://h",
            "http://1.2/",
            "http://1.2.3.04/",
            "http://1.2.3.256/",
            "http://h:080/",
            "http://h:65536/",
            "http://h/?",
            "http://h/a b",
            "http://u@h/",
        ] {
            assert!(!is_plain(text), "{text}");
        }
        let (mut plain, mut seed) = (0, 1u64);
        let mut pick = |count: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % count
        };
        let pieces = [
            "http://",
            "https://",
            "HTTP://",
            "h",
            "a.example",
            "xn--nxasmq6b",
            "127.1",
            "127.0.0.1",
            "0x7f",
            "localhost",
            ":",
            ":80",
            ":443",
            ":8080",
            ":65536",
            ":0",
            ":08",
            "/",
            "//",
            "/.",
            "/..",
            "?",
            "=",
            "&",
            "#",
            "%41",
            "%",
            "@",
            "+",
            "~",
            "_",
            "-",
            ".",
            " ",
            "é",
            "[::1]",
            "\\",
            ";",
            "1",
            "Z",
        ];
        for _ in 0..200_000 {
            let start = ["http://", "https://", "https://h/", "http://a.example:80/", ""][pick(5)];
            let text = (0..1 + pick(6)).fold(start.to_owned(), |text, _| text + pieces[pick(pieces.len())]);
            if is_plain(&text) {
                plain += 1;
                assert_eq!(parsed(&text), text);
            }
        }
        assert!(plain > 1_000, "{plain}");
    }

    #[test]
    fn a_query_grows_before_the_fragment() {
        for (before, after) in [
            ("http://h/", "http://h/?a=1"),
            ("http://h/?b=2", "http://h/?b=2&a=1"),
            ("http://h/#end", "http://h/?a=1#end"),
        ] {
            let mut url = Url::parse(before).unwrap();
            url.add_query("a=1");
            url.add_query("");
            assert_eq!(url.as_str(), after);
        }
    }

    #[test]
    fn a_url_without_scheme_or_host_is_refused() {
        for text in ["", "example.com", "/path", "http://", "http://h:99999/", "http://h\n/"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
