//! URLs as curl understands them: RFC 3986 with the liberties that docs/URL-SYNTAX.md of curl describes.
//!
//! `Url` holds the parts as written (percent-encoded, the host decoded). The `curl_url_*` functions and the
//! engine use the same value. `parse` splits a string, `set` and `get` are the two halves of the URL API,
//! `resolve` applies a relative reference, `host` checks and normalises the authority.

mod decimal;
mod encode;
mod error;
mod get;
mod host;
mod idn;
mod parse;
mod path;
mod resolve;
mod scheme;
mod set;
mod texts;

pub use decimal::Decimal;
pub use error::UrlError;
pub use host::ipv6_text;
pub use idn::{ascii_to_unicode, unicode_to_ascii};
pub use path::remove_dot_segments;
use scheme::scheme;
use texts::{PartTexts, TextPart};

use tables::Scheme;

use crate::escape::{self, Reject, RejectedOctet};

/// The `CURLU_*` bits.
pub mod flag {
    pub const DEFAULT_PORT: u32 = 1 << 0;
    pub const NO_DEFAULT_PORT: u32 = 1 << 1;
    pub const DEFAULT_SCHEME: u32 = 1 << 2;
    pub const NON_SUPPORT_SCHEME: u32 = 1 << 3;
    pub const PATH_AS_IS: u32 = 1 << 4;
    pub const DISALLOW_USER: u32 = 1 << 5;
    pub const URLDECODE: u32 = 1 << 6;
    pub const URLENCODE: u32 = 1 << 7;
    pub const APPENDQUERY: u32 = 1 << 8;
    pub const GUESS_SCHEME: u32 = 1 << 9;
    pub const NO_AUTHORITY: u32 = 1 << 10;
    pub const ALLOW_SPACE: u32 = 1 << 11;
    pub const PUNYCODE: u32 = 1 << 12;
    pub const PUNY2IDN: u32 = 1 << 13;
    pub const GET_EMPTY: u32 = 1 << 14;
    pub const NO_GUESS_SCHEME: u32 = 1 << 15;
}

/// The longest string that any part may be set to (CURL_MAX_INPUT_LENGTH).
pub const INPUT_LIMIT: usize = 8_000_000;

// Each octet of a part may be percent-encoded; all parts together stay within the limit of `PartTexts`.
const _: () = assert!(TextPart::ALL.len() * 3 * INPUT_LIMIT <= u32::MAX as usize);

/// The scheme that `flag::DEFAULT_SCHEME` fills in.
const DEFAULT_SCHEME: &str = "https";

/// The longest scheme name.
const SCHEME_LIMIT: usize = 40;

/// `CURLUPart`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Url,
    Scheme,
    User,
    Password,
    Options,
    Host,
    Port,
    Path,
    Query,
    Fragment,
    ZoneId,
}

impl Part {
    /// The part with this `CURLUPART_*` number.
    pub fn from_number(number: i32) -> Option<Part> {
        use Part::*;
        const ALL: [Part; 11] =
            [Url, Scheme, User, Password, Options, Host, Port, Path, Query, Fragment, ZoneId];
        usize::try_from(number).ok().and_then(|index| ALL.get(index)).copied()
    }
}

/// A URL, or the parts of one under construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// All parts but the port. The host is without it, an IPv6 address in brackets and without its zone. An
    /// absent path means "/". The query is without the question mark, and empty for a bare one.
    texts: PartTexts,
    port: Option<u16>,
    /// Whether the fragment was set explicitly: it is shown even if it is empty.
    fragment_was_set: bool,
    scheme_was_guessed: bool,
}

/// The terms of an origin. The host is in lower case and punycode, an IPv6 address keeps its brackets, a
/// trailing dot stays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub scheme: String,
    pub host: Vec<u8>,
    pub zone_id: Option<Vec<u8>>,
    pub port: u16,
}

impl Url {
    /// Parses an absolute URL, or with `flag::DEFAULT_SCHEME` or `flag::GUESS_SCHEME` one that lacks its
    /// scheme.
    pub fn parse(input: &[u8], flags: u32) -> Result<Url, UrlError> {
        parse::parse(input, flags)
    }

    /// Whether scheme, login, host and port are written alike: then all that leads to the host is the same.
    pub fn same_authority(&self, other: &Url) -> bool {
        use TextPart::*;
        let mut parts = [Host, Scheme, ZoneId, User, Password, Options].into_iter();
        self.port == other.port && parts.all(|part| self.texts.get(part) == other.texts.get(part))
    }

    /// Returns a URL of the same authority.
    pub fn without_path(&self) -> Url {
        let mut url = Url { texts: self.texts.clone(), port: self.port, ..Url::default() };
        for part in [TextPart::Path, TextPart::Query, TextPart::Fragment] {
            url.texts.set(part, None);
        }
        url
    }

    /// Whether it contains a user, a password or login options.
    pub fn has_login(&self) -> bool {
        self.user().is_some() || self.password().is_some() || self.options().is_some()
    }

    /// Returns the scheme in lower case.
    pub fn scheme(&self) -> Option<String> {
        self.scheme_as_written().map(|name| String::from_utf8_lossy(name).to_ascii_lowercase())
    }

    fn scheme_as_written(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::Scheme)
    }

    /// Returns the scheme if it is a known one.
    pub fn known_scheme(&self) -> Option<Scheme> {
        Scheme::from_name(self.scheme_as_written()?)
    }

    pub fn scheme_was_guessed(&self) -> bool {
        self.scheme_was_guessed
    }

    pub fn user(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::User)
    }

    pub fn password(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::Password)
    }

    pub fn options(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::Options)
    }

    pub fn user_decoded(&self, reject: Reject) -> Result<Option<Vec<u8>>, RejectedOctet> {
        self.user().map(|user| escape::decode(user, reject)).transpose()
    }

    pub fn password_decoded(&self, reject: Reject) -> Result<Option<Vec<u8>>, RejectedOctet> {
        self.password().map(|password| escape::decode(password, reject)).transpose()
    }

    pub fn options_decoded(&self, reject: Reject) -> Result<Option<Vec<u8>>, RejectedOctet> {
        self.options().map(|options| escape::decode(options, reject)).transpose()
    }

    /// The host as written, an IPv6 address in brackets.
    pub fn host(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::Host)
    }

    /// Returns the host without the brackets of an IPv6 address, for a resolver.
    pub fn host_unbracketed(&self) -> Option<&[u8]> {
        let host = self.host()?;
        Some(host.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or(host))
    }

    /// Returns the host in lower case and punycode, for comparison, resolution and requests.
    pub fn host_ascii(&self) -> Result<Vec<u8>, UrlError> {
        let host = self.host().ok_or(UrlError::NoHost)?;
        let mut host = idn::unicode_to_ascii(host)?;
        host.make_ascii_lowercase();
        Ok(host)
    }

    /// Returns [`Url::host_ascii`] without the brackets of an IPv6 address: the name for cookies and .netrc
    /// entries.
    pub fn host_name(&self) -> Result<Vec<u8>, UrlError> {
        let mut host = self.host_ascii()?;
        if host.starts_with(b"[") && host.ends_with(b"]") {
            host.pop();
            host.remove(0);
        }
        Ok(host)
    }

    /// Whether the host is an IPv6 address.
    pub fn host_is_ipv6(&self) -> bool {
        self.host().is_some_and(|host| host.starts_with(b"["))
    }

    pub fn zone_id(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::ZoneId)
    }

    /// The port that the URL names.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the port of the URL, or else the default of its scheme.
    pub fn port_or_default(&self) -> Option<u16> {
        self.port.or_else(|| scheme(self.scheme_as_written()?).map(|known| known.default_port))
    }

    /// Never empty.
    pub fn path(&self) -> &[u8] {
        self.texts.get(TextPart::Path).unwrap_or(b"/")
    }

    /// `Some` but empty for a bare question mark.
    pub fn query(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::Query)
    }

    pub fn fragment(&self) -> Option<&[u8]> {
        self.texts.get(TextPart::Fragment)
    }

    /// Returns the target of an HTTP request line.
    pub fn path_and_query(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_path_and_query(&mut out);
        out
    }

    /// Appends path and query to `out`.
    pub fn write_path_and_query(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.path());
        if let Some(query) = self.query() {
            out.push(b'?');
            out.extend_from_slice(query);
        }
    }

    /// `None` while scheme, host or port are unknown, or when the host has no ASCII form.
    pub fn origin(&self) -> Option<Origin> {
        Some(Origin {
            scheme: self.scheme()?,
            host: self.host_ascii().ok()?,
            zone_id: self.zone_id().map(<[u8]>::to_vec),
            port: self.port_or_default()?,
        })
    }
}

#[cfg(test)]
mod tests;
