//! Refuses schemes that this build or the application does not allow.

use std::rc::Rc;

use tables::scheme::Family;
use tables::{Code, EasyOption as O};

use super::Route;
use crate::error::{Error, Result};
use crate::transfer::credentials::check_url;
use crate::transfer::guard::check_url as check_policy;
use net::connection_key::ProxyKind;

/// Refuses a scheme that this build or the application does not allow.
pub fn check_scheme(t: &Route) -> Result<()> {
    let redirected = !Rc::ptr_eq(&t.first_url, &t.url);
    let refuse = |why: &str| {
        let name = t.url.scheme().unwrap_or_default();
        let text = format!("Protocol \"{name}\" {why}{}", if redirected { " (in redirect)" } else { "" });
        Err(Error::new(Code::UnsupportedProtocol, text))
    };
    let Some(row) = t.url.scheme else {
        let of_proxies = t.url.scheme().is_some_and(|name| ProxyKind::of_scheme(&name).is_some());
        return refuse(if of_proxies { "is not for transfers" } else { "not supported" });
    };
    if !row.built() {
        return refuse("not supported");
    }
    let settings = t.easy.settings.borrow();
    let allowed = settings.protocols(O::ProtocolsStr);
    let redirect = if redirected { settings.protocols(O::RedirProtocolsStr) } else { u64::MAX };
    if allowed & row.bit() == 0 {
        return refuse("is disabled");
    }
    if redirect & row.bit() == 0 {
        return refuse("is disabled");
    }
    drop(settings);
    check_policy(t)?;
    // HTTP encodes a login; elsewhere it may stand in a line, or end one (curl 8.22 refuses it for all
    // others, whether used or not).
    match row.family() {
        Family::Http | Family::Ws => Ok(()),
        _ => check_url(t),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::transfer;
    use wire::url::{Url, flag};

    /// The code and the text for a URL, and for a redirect to another.
    fn checked(url: &str, to: Option<&str>, texts: &[(O, &str)]) -> Result<(), (Code, String)> {
        let mut t = transfer(url, texts, &[]);
        if let Some(to) = to {
            t.follow(Url::parse(to.as_bytes(), flag::NON_SUPPORT_SCHEME).unwrap());
        }
        check_scheme(&t).map_err(|e| (e.code(), e.message().to_owned()))
    }

    #[test]
    fn schemes_have_to_be_known_and_built() {
        let refused = |text: &str| Err((Code::UnsupportedProtocol, text.to_owned()));
        let rows = [
            ("CURLOPT_URL(3): http", "http://h/", Ok(())),
            ("CURLOPT_URL(3): in capitals", "HTTP://h/", Ok(())),
            ("CURLOPT_URL(3): unknown", "nonesuch://h/", refused("Protocol \"nonesuch\" not supported")),
            (
                "CURLOPT_PROXY(3): a proxy's",
                "socks5://h/",
                refused("Protocol \"socks5\" is not for transfers"),
            ),
            ("CURLOPT_URL(3): not built", "rtmp://h/", refused("Protocol \"rtmp\" not supported")),
        ];
        for (name, url, wanted) in rows {
            assert_eq!(checked(url, None, &[]), wanted, "{name}");
        }
    }

    #[test]
    fn allowed_schemes_differ_after_a_redirect() {
        let disabled = |name: &str, after: &str| {
            Err((Code::UnsupportedProtocol, format!("Protocol \"{name}\" is disabled{after}")))
        };
        let https = [(O::ProtocolsStr, "https")];
        let wider = [(O::RedirProtocolsStr, "http,file")];
        let rows: [(_, _, _, &[(O, &str)], _); 8] = [
            ("CURLOPT_PROTOCOLS_STR(3)", "http://h/", None, &https, disabled("http", "")),
            ("CURLOPT_PROTOCOLS_STR(3): allowed", "https://h/", None, &https, Ok(())),
            (
                "CURLOPT_PROTOCOLS_STR(3): after a redirect, too",
                "https://h/",
                Some("http://h/"),
                &https,
                disabled("http", " (in redirect)"),
            ),
            ("CURLOPT_REDIR_PROTOCOLS_STR(3): ftp by default", "http://h/", Some("ftp://h/"), &[], Ok(())),
            (
                "CURLOPT_REDIR_PROTOCOLS_STR(3): file never by default",
                "http://h/",
                Some("file:///x"),
                &[],
                disabled("file", " (in redirect)"),
            ),
            (
                "CURLOPT_REDIR_PROTOCOLS_STR(3): sftp neither",
                "http://h/",
                Some("sftp://h/"),
                &[],
                disabled("sftp", " (in redirect)"),
            ),
            (
                "CURLOPT_REDIR_PROTOCOLS_STR(3): file if asked for",
                "http://h/",
                Some("file:///x"),
                &wider,
                Ok(()),
            ),
            ("CURLOPT_REDIR_PROTOCOLS_STR(3): says nothing of the first", "https://h/", None, &wider, Ok(())),
        ];
        for (name, url, to, texts, wanted) in rows {
            assert_eq!(checked(url, to, texts), wanted, "{name}");
        }
    }

    #[test]
    fn protocols_of_lines_refuse_logins_with_control_octets() {
        let bad = |url| checked(url, None, &[]).err().map(|(code, _)| code);
        assert_eq!(bad("http://u%0a:p@h/"), None, "RFC 7617 §2: HTTP encodes a login");
        assert_eq!(bad("ws://u%0a:p@h/"), None, "RFC 6455 §4.1: so does a WebSocket");
        assert_eq!(bad("ftp://u%0a:p@h/"), Some(Code::UrlMalformat), "RFC 959 §5.3: a line break");
        assert_eq!(bad("imap://u:p%0d@h/"), Some(Code::UrlMalformat), "RFC 9051 §9: in a password");
        assert_eq!(bad("dict://u%09:p@h/"), Some(Code::UrlMalformat), "RFC 2229 §2.2: any control octet");
    }
}
