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
use super::url::{url_error, url_text};
use crate::error::Result;
use crate::stores::altsvc::{self, Alternative};
use crate::stores::{cookies, hsts};

impl Route {
    /// Returns the Cookie field for the current request: stored cookies, and those set with CURLOPT_COOKIE.
    pub fn cookies_to_send(&self, literal: Option<&[u8]>) -> Option<Vec<u8>> {
        if !cookies::is_on(self.easy.keeper()) {
            return literal.map(<[u8]>::to_vec);
        }
        let host = self.site_name();
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
        self.easy.note(|| {
            let url = String::from_utf8_lossy(&url_text(&self.url)).into_owned();
            format!("Switched from HTTP to HTTPS due to HSTS => {url}")
        });
        Ok(())
    }

    fn site<'a>(&'a self, host: &'a [u8]) -> Site<'a> {
        Site { host, path: self.url.path(), secure: is_secure(self.scheme().tls(), host) }
    }

    /// A custom Host field names the site for cookies, as long as the origin is the first one.
    fn site_name(&self) -> Vec<u8> {
        let lines = self.easy.settings.borrow().list(O::Httpheader);
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
