//! URLs of a transfer: the one in the settings, their text, and curl's texts for refused ones.

use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::url::{Part, Url, UrlError, flag};

use crate::error::{Error, Result};
use crate::settings::Settings;

/// The URL that the settings name.
pub fn first_url(settings: &Settings) -> Result<Url> {
    if let Some(handle) = &settings.uncommon.url_handle {
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
        return Err(Error::new(Code::UrlMalformat, "error extracting credentials from URL"));
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
    url.get(Part::Url, flag::GET_EMPTY).unwrap_or_default()
}

/// Returns whether that is the text of the URL.
pub fn is_text(url: &Url, text: &[u8]) -> bool {
    url.is_written(text, flag::GET_EMPTY)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::easy;

    fn first(url: &str, texts: &[(O, &str)], numbers: &[(O, i64)]) -> Result<String, Code> {
        let easy = easy(&[&[(O::Url, url)], texts].concat(), numbers);
        let found = first_url(&easy.0.settings.borrow());
        found.map(|url| String::from_utf8(url_text(&url)).unwrap()).map_err(|e| e.code())
    }

    #[test]
    fn a_missing_scheme_is_the_default_one_or_guessed() {
        let ftp = [(O::DefaultProtocol, "ftp")];
        let rows: [(_, _, &[(O, &str)], _); 6] = [
            ("CURLOPT_URL(3): guessed", "host.test/x", &[], "http://host.test/x"),
            ("CURLOPT_URL(3): by the host's name", "ftp.host.test/x", &[], "ftp://ftp.host.test/x"),
            ("CURLOPT_DEFAULT_PROTOCOL(3)", "host.test/x", &ftp, "ftp://host.test/x"),
            (
                "CURLOPT_DEFAULT_PROTOCOL(3): a scheme is there",
                "https://host.test/x",
                &ftp,
                "https://host.test/x",
            ),
            (
                "CURLOPT_DEFAULT_PROTOCOL(3): with one slash",
                "https:/host.test/x",
                &ftp,
                "https://host.test/x",
            ),
            (
                "CURLOPT_DEFAULT_PROTOCOL(3): a port is no scheme",
                "host.test:99/x",
                &ftp,
                "ftp://host.test:99/x",
            ),
        ];
        for (name, url, texts, wanted) in rows {
            assert_eq!(first(url, texts, &[]).as_deref(), Ok(wanted), "{name}");
        }
    }

    #[test]
    fn the_port_option_replaces_the_urls() {
        let rows = [
            ("CURLOPT_PORT(3): not set", "http://h:81/", 0, "http://h:81/"),
            ("CURLOPT_PORT(3)", "http://h/", 82, "http://h:82/"),
            ("CURLOPT_PORT(3): goes before the URL's", "http://h:81/", 82, "http://h:82/"),
            ("CURLOPT_PORT(3): a file has none", "file:///x", 82, "file:///x"),
        ];
        for (name, url, port, wanted) in rows {
            assert_eq!(first(url, &[], &[(O::Port, port)]).as_deref(), Ok(wanted), "{name}");
        }
    }

    #[test]
    fn urls_that_are_not_fetched() {
        let long = format!("http://{}/", "a".repeat(MAX_HOST + 1));
        let disallow = [(O::DisallowUsernameInUrl, 1)];
        let rows: [(_, &str, &[(O, i64)], _); 6] = [
            ("CURLOPT_DISALLOW_USERNAME_IN_URL(3)", "http://u@h/", &disallow, Code::LoginDenied),
            ("RFC 3986 §3.2.2: no host", "http://:80/", &[], Code::UrlMalformat),
            ("RFC 3986 §3.2.3: a port beyond 65535", "http://h:65536/", &[], Code::UrlMalformat),
            ("RFC 1035 §2.3.4: a host that nobody has", &long, &[], Code::UrlMalformat),
            ("RFC 3986 §2.4: a NUL in a user", "http://a%00b@h/", &[], Code::UrlMalformat),
            ("RFC 3986 §2.4: a NUL in a password", "http://a:%00@h/", &[], Code::UrlMalformat),
        ];
        for (name, url, numbers, wanted) in rows {
            assert_eq!(first(url, &[], numbers).err(), Some(wanted), "{name}");
        }
        let none = easy(&[], &[]);
        let failed = first_url(&none.0.settings.borrow()).err().map(|e| e.code());
        assert_eq!(failed, Some(Code::UrlMalformat), "CURLOPT_URL(3): not set");
    }

    #[test]
    fn dot_segments_stay_if_asked_for() {
        let url = "http://h/a/../b";
        assert_eq!(first(url, &[], &[]).as_deref(), Ok("http://h/b"), "RFC 3986 §5.2.4");
        assert_eq!(first(url, &[], &[(O::PathAsIs, 1)]).as_deref(), Ok(url), "CURLOPT_PATH_AS_IS(3)");
    }

    #[test]
    fn a_proxy_and_a_referer_see_no_credentials() {
        let rows = [
            ("RFC 9110 §10.1.3: a login", "http://u:p@h/x?q", "http://h/x?q"),
            ("RFC 9110 §10.1.3: a fragment", "http://h/x#f", "http://h/x"),
            ("RFC 9110 §10.1.3: login options", "imap://u;AUTH=*:p@h/x", "imap://h/x"),
        ];
        for (name, url, wanted) in rows {
            let url = Url::parse(url.as_bytes(), 0).unwrap();
            assert_eq!(String::from_utf8(without_credentials(&url)).unwrap(), wanted, "{name}");
        }
    }

    #[test]
    fn refusals_of_the_parser_have_codes() {
        let rows = [
            (
                "curl_url_set(3): CURLUE_UNSUPPORTED_SCHEME",
                UrlError::UnsupportedScheme,
                Code::UnsupportedProtocol,
            ),
            ("curl_url_set(3): CURLUE_OUT_OF_MEMORY", UrlError::OutOfMemory, Code::OutOfMemory),
            ("curl_url_set(3): CURLUE_USER_NOT_ALLOWED", UrlError::UserNotAllowed, Code::LoginDenied),
            ("curl_url_set(3): any other", UrlError::MalformedInput, Code::UrlMalformat),
        ];
        for (name, error, wanted) in rows {
            assert_eq!(url_error(error).code(), wanted, "{name}");
        }
    }
}
