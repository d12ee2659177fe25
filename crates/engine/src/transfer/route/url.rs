//! URLs of a transfer: the one in the settings, their text, and curl's texts for refused ones.

use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::url::{Part, Url, UrlError, flag};

use crate::error::{Error, Result};
use crate::settings::Settings;

/// The URL that the settings name.
pub fn first_url(settings: &Settings) -> Result<Url> {
    if let Some(handle) = &settings.url_handle {
        let mut url = handle();
        set_port(&mut url, settings)?;
        return Ok(url);
    }
    let Some(text) = settings.text(O::Url) else {
        return Err(Error::new(Code::UrlMalformat, "No URL set"));
    };
    let mut bits = flag::NON_SUPPORT_SCHEME;
    if settings.on(O::DisallowUsernameInUrl) {
        bits |= flag::DISALLOW_USER;
    }
    if settings.on(O::PathAsIs) {
        bits |= flag::PATH_AS_IS;
    }
    let default = settings.text(O::DefaultProtocol);
    let mut url = match &default {
        Some(scheme) if !names_scheme(&text) => {
            let with_scheme = [scheme, &b"://"[..], &text].concat();
            Url::parse(&with_scheme, bits)
        }
        _ => Url::parse(&text, bits | flag::GUESS_SCHEME),
    }
    .map_err(url_error)?;
    let zero = |part: Option<&[u8]>| part.is_some_and(|part| escape::decode(part, Reject::Zero).is_err());
    if zero(url.user()) || zero(url.password()) {
        return Err(Error::new(Code::UrlMalformat, "A name or password in the URL holds a zero"));
    }
    if url.host().is_some_and(|host| host.len() > MAX_HOST) {
        let text = format!("Too long hostname (maximum is {MAX_HOST})");
        return Err(Error::new(Code::UrlMalformat, text));
    }
    set_port(&mut url, settings)?;
    Ok(url)
}

/// CURLOPT_PORT takes the place of a port in the URL.
fn set_port(url: &mut Url, settings: &Settings) -> Result<()> {
    let port = settings.long(O::Port);
    if port > 0 && url.scheme().as_deref() != Some("file") {
        url.set(Part::Port, Some(port.to_string().as_bytes()), 0).map_err(url_error)?;
    }
    Ok(())
}

/// Returns whether a URL begins with a scheme, even if only one slash follows.
fn names_scheme(text: &[u8]) -> bool {
    let end =
        text.iter().position(|b| !b.is_ascii_alphanumeric() && !b"+-.".contains(b)).unwrap_or(text.len());
    text.first().is_some_and(u8::is_ascii_alphabetic) && text[end..].starts_with(b":/")
}

/// Maximum length of a host name that is looked up.
const MAX_HOST: usize = 65_535;

/// A URL as text, without its fragment's loss.
pub fn url_text(url: &Url) -> Vec<u8> {
    url.get(Part::Url, wire::url::flag::GET_EMPTY).unwrap_or_default()
}

/// A URL as a proxy or a Referer may see it: no credentials, no fragment.
pub fn without_credentials(url: &Url) -> Vec<u8> {
    let mut url = url.clone();
    for part in [Part::User, Part::Password, Part::Options, Part::Fragment] {
        let _ = url.set(part, None, 0);
    }
    url_text(&url)
}

/// A URL that the URL parser refused.
pub fn url_error(e: UrlError) -> Error {
    let code = match e {
        UrlError::UnsupportedScheme => Code::UnsupportedProtocol,
        UrlError::OutOfMemory => Code::OutOfMemory,
        UrlError::UserNotAllowed => Code::LoginDenied,
        _ => Code::UrlMalformat,
    };
    Error::new(code, format!("URL rejected: {}", e.message()))
}
