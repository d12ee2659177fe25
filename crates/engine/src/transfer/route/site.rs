//! Cookies, HSTS and Alt-Svc for the current request. The stores work with hosts, paths and whether TLS
//! protects them; they do not know transfers.

use std::rc::Rc;

use tables::EasyOption as O;
use wire::altsvc::Alpn;
use wire::cookie::{Target as Site, is_secure};
use wire::http1::HeaderLine;
use wire::url::{Part, Url, flag};

use super::Route;
use super::target::Target;
use super::url::{url_error, url_text, without_credentials};
use crate::error::Result;
use crate::stores::altsvc::{self, Alternative};
use crate::stores::{cookies, hsts};
use crate::why::Event;

impl Route {
    /// Returns the Cookie field for the current request: stored cookies, and those set with CURLOPT_COOKIE.
    pub fn cookies_to_send(&self, literal: Option<&[u8]>) -> Option<Vec<u8>> {
        if !cookies::is_on(self.easy.keeper()) {
            return literal.map(<[u8]>::to_vec);
        }
        let host = self.site_name();
        self.explain_cookies(&host);
        cookies::header_for(self.easy.keeper(), self.site(&host), literal)
    }

    /// Stores a received Set-Cookie.
    pub fn cookie_received(&self, value: &[u8]) {
        if cookies::is_on(self.easy.keeper()) {
            let host = self.site_name();
            cookies::received(self.easy.keeper(), self.site(&host), value);
        }
    }

    /// Returns the alternative service to use for this host of the current URL, with those versions and
    /// possibly HTTP/3.
    pub fn alternative(&self, host: &str, port: u16, offer: &[String], quic: bool) -> Option<Alternative> {
        let tls = self.scheme().tls();
        tls.then(|| altsvc::alternative(self.easy.keeper(), host, port, offer, quic)).flatten()
    }

    /// Logs the alternative service.
    pub fn tell_alternative(&self, to: &Alternative) {
        self.easy.explain(|| {
            let host = String::from_utf8_lossy(self.url.host().unwrap_or_default()).into_owned();
            let from = format!("{host}:{}", self.url.port_or_default().unwrap_or_default());
            Event::Alternative { from, to: format!("{}:{}", to.host, to.port) }
        });
        self.easy.note(|| {
            let host = String::from_utf8_lossy(self.url.host_unbracketed().unwrap_or_default()).into_owned();
            let port = self.url.port_or_default().unwrap_or_default();
            let (from, other) = (to.versions.0.name(), to.versions.1.name());
            format!("Alt-svc connecting from [{from}]{host}:{port} to [{other}]{}:{}", to.host, to.port)
        });
    }

    /// Stores a received Alt-Svc, in a reply of that version (as in status lines). It is trusted only over
    /// TLS.
    pub fn alternative_received(&self, version: u8, value: &[u8]) {
        if !self.scheme().tls() || !altsvc::is_on(self.easy.keeper()) {
            return;
        }
        let host = self.url.host_ascii().unwrap_or_default();
        let host = host.strip_prefix(b"[").and_then(|h| h.strip_suffix(b"]")).unwrap_or(&host);
        let version = match version {
            30 => Alpn::H3,
            20 => Alpn::H2,
            _ => Alpn::H1,
        };
        altsvc::received(
            self.easy.keeper(),
            version,
            host,
            self.url.port_or_default().unwrap_or_default(),
            value,
        );
    }

    /// Stores a received Strict-Transport-Security.
    pub fn strictness_received(&self, value: &[u8]) {
        if self.scheme().tls() && hsts::is_on(self.easy.keeper()) {
            hsts::received(self.easy.keeper(), &self.url.host_ascii().unwrap_or_default(), value);
        }
    }

    /// Changes http to https for a host that requires it.
    pub fn upgrade(&mut self) -> Result<()> {
        let keeper = self.easy.keeper();
        // The host is looked at only where it may count: one that is no name fails.
        if !hsts::upgrades(self.url.scheme, hsts::is_on(keeper), || true) {
            return Ok(());
        }
        let host = self.url.host_ascii().map_err(url_error)?;
        if !hsts::upgrades(self.url.scheme, true, || hsts::applies(keeper, &host)) {
            return Ok(());
        }
        let first = Rc::ptr_eq(&self.first_url, &self.url);
        let mut url = Url::clone(&self.url);
        url.set(Part::Scheme, Some(b"https"), flag::NON_SUPPORT_SCHEME).map_err(url_error)?;
        self.url = Rc::new(Target::new(url, None));
        if first {
            self.first_url = self.url.clone();
        }
        self.other_origin = self.first_url.origin() != self.url.origin();
        self.easy.explain(|| Event::Strict {
            url: String::from_utf8_lossy(&without_credentials(&self.url)).into_owned(),
        });
        self.easy.note(|| {
            let url = String::from_utf8_lossy(&url_text(&self.url)).into_owned();
            format!("Switched from HTTP to HTTPS due to HSTS => {url}")
        });
        Ok(())
    }

    /// Records which cookies the request carries, and which of this site it does not.
    fn explain_cookies(&self, host: &[u8]) {
        if self.easy.why.is_on() {
            let (sent, withheld) = cookies::explain(self.easy.keeper(), self.site(host));
            if !sent.is_empty() || !withheld.is_empty() {
                self.easy.explain(|| Event::Cookies { sent, withheld });
            }
        }
    }

    fn site<'a>(&'a self, host: &'a [u8]) -> Site<'a> {
        Site { host, path: self.url.path(), secure: is_secure(self.scheme().tls(), host) }
    }

    /// A custom Host field names the site for cookies, as long as the origin is the first one.
    fn site_name(&self) -> Vec<u8> {
        let lines = self.easy.settings.borrow().list(O::HttpHeader);
        let custom = lines.iter().filter(|_| !self.other_origin).find_map(|line| {
            let header = HeaderLine::parse(line)?;
            (header.is("Host") && !header.value.is_empty()).then(|| header.value.to_vec())
        });
        match custom {
            Some(host) => match host.strip_prefix(b"[") {
                Some(v6) => v6.split(|b| *b == b']').next().unwrap_or_default().to_vec(),
                None => host.split(|b| *b == b':').next().unwrap_or_default().to_vec(),
            },
            None => self.url.host_name().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::{lines, transfer};

    #[test]
    fn a_host_field_of_the_application_names_the_site_of_cookies() {
        let name = |field: &str, to: Option<&str>| {
            let mut t = transfer("http://a.test/", &[], &[]);
            t.easy.0.settings.borrow_mut().set_list(O::HttpHeader, Some(lines(&[field]))).unwrap();
            if let Some(to) = to {
                t.follow(Url::parse(to.as_bytes(), 0).unwrap());
            }
            String::from_utf8(t.site_name()).unwrap()
        };
        let rows = [
            ("RFC 6265 §5.1.3: the URL's", "X: y", None, "a.test"),
            ("CURLOPT_HTTPHEADER(3): Host", "Host: b.test", None, "b.test"),
            ("CURLOPT_HTTPHEADER(3): with a port", "Host: b.test:80", None, "b.test"),
            ("CURLOPT_HTTPHEADER(3): an address", "Host: [::1]:80", None, "::1"),
            ("CURLOPT_HTTPHEADER(3): removed", "Host:", None, "a.test"),
            (
                "CURLOPT_HTTPHEADER(3): not for another origin",
                "Host: b.test",
                Some("http://c.test/"),
                "c.test",
            ),
        ];
        for (row, field, to, wanted) in rows {
            assert_eq!(name(field, to), wanted, "{row}");
        }
    }

    #[test]
    fn cookies_go_back_to_the_site_that_set_them() {
        let mut t = transfer("https://a.test/dir/x", &[(O::CookieFile, "")], &[]);
        crate::stores::begin(t.easy.0.keeper()).unwrap();
        t.cookie_received(b"plain=1");
        t.cookie_received(b"safe=2; Secure; Path=/");
        t.cookie_received(b"foreign=3; Domain=b.test");
        let sent = |t: &Route| t.cookies_to_send(None).map(|field| String::from_utf8(field).unwrap());
        assert_eq!(sent(&t).as_deref(), Some("plain=1; safe=2"), "RFC 6265 §5.4: longer paths first");
        let rows = [
            ("RFC 6265 §5.1.4: another path", "https://a.test/", Some("safe=2")),
            ("RFC 6265 §5.4: not without TLS", "http://a.test/dir/x", Some("plain=1")),
            ("RFC 6265 §5.1.3: a subdomain was not meant", "https://x.a.test/dir/", None),
            ("RFC 6265 §5.3: nobody sets another's", "https://b.test/dir/", None),
        ];
        for (name, to, wanted) in rows {
            t.follow(Url::parse(to.as_bytes(), 0).unwrap());
            assert_eq!(sent(&t).as_deref(), wanted, "{name}");
        }
    }

    #[test]
    fn without_an_engine_only_the_applications_cookies_go() {
        let t = transfer("http://a.test/", &[], &[]);
        t.cookie_received(b"a=1");
        assert_eq!(t.cookies_to_send(None), None, "CURLOPT_COOKIEFILE(3): not asked for");
        assert_eq!(t.cookies_to_send(Some(b"b=2")), Some(b"b=2".to_vec()), "CURLOPT_COOKIE(3)");
    }

    #[test]
    fn strict_hosts_are_believed_over_tls_alone() {
        let upgraded = |heard_at: &str, on: i64| {
            let mut t = transfer(heard_at, &[], &[(O::HstsCtrl, on)]);
            t.strictness_received(b"max-age=1000; includeSubDomains");
            t.follow(Url::parse(b"http://x.a.test:8080/y", 0).unwrap());
            t.upgrade().unwrap();
            String::from_utf8(url_text(&t.url)).unwrap()
        };
        let plain = "http://x.a.test:8080/y";
        assert_eq!(
            upgraded("https://a.test/", 1),
            "https://x.a.test:8080/y",
            "RFC 6797 §8.3: the port stays"
        );
        assert_eq!(upgraded("http://a.test/", 1), plain, "RFC 6797 §8.1: not without TLS");
        assert_eq!(upgraded("https://a.test/", 0), plain, "CURLOPT_HSTS_CTRL(3): off");
        assert_eq!(upgraded("https://b.test/", 1), plain, "RFC 6797 §8.2: another host");
    }

    #[test]
    fn alternative_services_are_believed_over_tls_alone() {
        let named = |url: &str, ctrl: i64, ask: (&str, u16)| {
            let t = transfer(url, &[], &[(O::AltSvcCtrl, ctrl)]);
            t.alternative_received(11, b"h2=\"alt.test:444\"");
            let offer = ["h2".to_owned(), "http/1.1".to_owned()];
            t.alternative(ask.0, ask.1, &offer, false).map(|to| (to.host, to.port, to.elsewhere))
        };
        let h2 = tables::constant::CURLALTSVC_H2;
        let found = Some(("alt.test".to_owned(), 444, true));
        assert_eq!(named("https://a.test/", h2, ("a.test", 443)), found, "RFC 7838 §3");
        assert_eq!(named("http://a.test/", h2, ("a.test", 80)), None, "RFC 7838 §2.1: without TLS");
        assert_eq!(named("https://a.test/", h2, ("b.test", 443)), None, "RFC 7838 §2: another origin");
        let h1 = tables::constant::CURLALTSVC_H1;
        assert_eq!(named("https://a.test/", h1, ("a.test", 443)), None, "CURLOPT_ALTSVC_CTRL(3)");
    }
}
