//! Route of a transfer: the URL of the current request, the one that the application named, and which secrets
//! may be sent there.

mod kept_plan;
mod known_plans;
pub mod plan;
mod planning;
pub(super) use planning::host_of;
pub mod scheme;
mod site;
pub mod target;
pub mod url;

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;

use tables::{EasyOption as O, Scheme};
use wire::http1::own_line;
use wire::url::Url;

use runtime::cell::RefCell;

use super::handles::Handles;
use super::proxies::selection::ProxySelection;
use super::secret::{Peer, Secret};
use crate::settings::Text;
use target::Target;
use url::without_credentials;

/// The route of a transfer.
pub struct Route {
    /// The handles of the transfer.
    pub handles: Handles,
    /// The URL of the current request.
    pub url: Rc<Target>,
    /// The URL that the application gave: credentials belong to its origin.
    pub first_url: Rc<Target>,
    /// Whether the current request goes to another origin than the first one.
    pub other_origin: bool,
    /// The list of proxies for the current URL, if there is one.
    pub(super) proxies: RefCell<Option<Box<ProxySelection>>>,
    /// Whether variables and files have been compared with those of the target's plan, during this request.
    compared: Cell<bool>,
}

impl Deref for Route {
    type Target = Handles;

    #[inline]
    fn deref(&self) -> &Handles {
        &self.handles
    }
}

/// Fields that prove who is asking.
const SECRET_FIELDS: [&[u8]; 2] = [b"Authorization", b"Cookie"];

impl Route {
    /// Creates the route to the URL that the application gave.
    #[inline]
    pub fn new(handles: Handles, url: Rc<Target>) -> Route {
        let (proxies, compared) = (RefCell::default(), Cell::new(false));
        Route { handles, first_url: url.clone(), url, other_origin: false, proxies, compared }
    }

    /// Begins a request: its first plan is compared with variables and files, and holds for all of it.
    pub fn begin_request(&self) {
        self.compared.set(false);
    }

    /// Continues with the URL of a redirect.
    pub fn follow(&mut self, url: Url) {
        self.go_to(url);
        self.count_redirect();
    }

    /// Replaces the URL of the current request before it is sent.
    pub fn go_to(&mut self, url: Url) {
        self.other_origin = self.first_url.origin() != url.origin();
        self.url = Rc::new(Target::new(url, None));
        self.proxies.take();
    }

    /// Returns the scheme of the current URL; `check_scheme` has accepted only known ones.
    pub fn scheme(&self) -> Scheme {
        self.url.scheme.unwrap_or(Scheme::Http)
    }

    /// Records facts about the URL of the next request for infos.
    pub fn note_url(&self) {
        let mut info = self.easy.info.borrow_mut();
        info.effective_url = Some(self.url.text.clone());
        info.scheme = Some(self.scheme());
    }

    /// Returns whether the server may have a part of the upload, which then continues: this handle has begun
    /// it, or the application says so by CURLOPT_RESUME_FROM_LARGE of -1.
    pub fn has_begun_upload(&self, size: Option<u64>) -> bool {
        let url = || without_credentials(&self.first_url);
        self.long(O::ResumeFromLarge) == -1 || self.easy.upload_resumption.has_part(url, size)
    }

    /// Notes that the server has accepted the upload: its file is a part of the source from now on.
    pub fn note_upload_place(&self, size: Option<u64>) {
        self.easy.upload_resumption.begin(&without_credentials(&self.first_url), size);
    }

    /// Returns the server that the current request is for.
    pub fn peer(&self) -> Rc<Peer> {
        self.url.peer.clone()
    }

    /// Wraps a secret for the server that the application named: other servers get it only if
    /// CURLOPT_UNRESTRICTED_AUTH allows that.
    pub fn secret<T>(&self, value: T) -> Secret<T> {
        match self.on(O::UnrestrictedAuth) {
            true => Secret::of_any_server(value),
            false => Secret::of(self.first_url.peer.clone(), value),
        }
    }

    /// Returns the application's own header lines that may be sent with the current request. A line with a
    /// secret is for the first server, and goes neither to another nor to a proxy on the route.
    pub fn permitted_lines(&self, lines: &[Text]) -> Vec<Text> {
        let is_secret = |line: &Text| {
            own_line(line).is_some_and(|(name, _)| SECRET_FIELDS.iter().any(|s| name.eq_ignore_ascii_case(s)))
        };
        let permitted = |line: &Text| match is_secret(line) {
            true => self.secret(line.clone()).for_peer(&self.url.peer).cloned(),
            false => Some(line.clone()),
        };
        lines.iter().filter_map(permitted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::{lines, transfer};

    const OWN: [&str; 4] = ["Authorization: x", "COOKIE: a=b", "X-Auth: y", "Authorization-Info: z"];

    fn permitted(to: Option<&str>, unrestricted: bool) -> usize {
        let mut t = transfer("https://a.test/", &[], &[(O::UnrestrictedAuth, unrestricted.into())]);
        if let Some(to) = to {
            t.follow(Url::parse(to.as_bytes(), 0).unwrap());
        }
        t.permitted_lines(&lines(&OWN)).len()
    }

    #[test]
    fn secret_lines_go_to_the_first_server_alone() {
        let rows = [
            ("CURLOPT_HTTPHEADER(3): the first server", None, false, 4),
            ("CURLOPT_HTTPHEADER(3): another path of it", Some("https://a.test/x"), false, 4),
            ("CVE-2018-1000007: another host", Some("https://b.test/"), false, 2),
            ("CVE-2022-27774: another port", Some("https://a.test:444/"), false, 2),
            ("CVE-2022-27774: another scheme", Some("http://a.test/"), false, 2),
            ("CURLOPT_UNRESTRICTED_AUTH(3)", Some("https://b.test/"), true, 4),
        ];
        for (name, to, unrestricted, wanted) in rows {
            assert_eq!(permitted(to, unrestricted), wanted, "{name}");
        }
    }

    #[test]
    fn another_origin_is_known_by_scheme_host_and_port() {
        let rows = [
            ("RFC 6454 §4: the same", "https://a.test/y", false),
            ("RFC 6454 §4: the port said", "https://a.test:443/y", false),
            ("RFC 6454 §4: in other letters", "https://A.TEST/", false),
            ("RFC 6454 §4: another host", "https://b.test/", true),
            ("RFC 6454 §4: another port", "https://a.test:444/", true),
            ("RFC 6454 §4: another scheme", "http://a.test/", true),
        ];
        for (name, to, wanted) in rows {
            let mut t = transfer("https://a.test/x", &[], &[]);
            t.follow(Url::parse(to.as_bytes(), 0).unwrap());
            assert_eq!(t.other_origin, wanted, "{name}");
            assert_eq!(t.easy.0.info.borrow().redirect_count, 1, "{name}");
        }
    }

    #[test]
    fn infos_name_the_url_of_the_request() {
        let t = transfer("ftps://h/x", &[], &[]);
        t.note_url();
        let info = t.easy.0.info.borrow();
        assert_eq!(info.scheme, Some(Scheme::Ftps), "CURLINFO_SCHEME(3)");
        assert_eq!(info.effective_url.as_deref(), Some(&b"ftps://h/x"[..]), "CURLINFO_EFFECTIVE_URL(3)");
    }
}
