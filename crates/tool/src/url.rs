//! URLs as the tool reads and stores them.

use crate::raw::{Url, UrlPart, url_flag};

/// Parses a URL of the tool: the scheme may be missing.
pub fn parse_url(text: &[u8]) -> Result<Url, ()> {
    Url::parse(text, url_flag::GUESS_SCHEME | url_flag::NON_SUPPORT_SCHEME).map_err(|_| ())
}

/// A URL that may be stored: no user name and no password in it.
pub fn without_login(url: &[u8]) -> Vec<u8> {
    let Ok(mut parsed) = parse_url(url) else { return Vec::new() };
    let _ = parsed.set(UrlPart::User, None, 0);
    let _ = parsed.set(UrlPart::Password, None, 0);
    parsed.get(UrlPart::Url, url_flag::GUESS_SCHEME).unwrap_or_default()
}
