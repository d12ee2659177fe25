//! Route of a transfer: the URL of the current request, the one that the application named, and which secrets
//! may be sent there.

pub mod plan;
mod planning;
pub mod scheme;
mod site;
pub mod target;
pub mod url;

use std::ops::Deref;
use std::rc::Rc;

use tables::{EasyOption as O, Scheme};
use wire::http1::own_line;
use wire::url::Url;

use super::handles::Handles;
use super::secret::{Peer, Secret};
use crate::settings::Text;
use target::Target;

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
        Route { handles, first_url: url.clone(), url, other_origin: false }
    }

    /// Continues with the URL of a redirect.
    pub fn follow(&mut self, url: Url) {
        self.other_origin = self.first_url.origin() != url.origin();
        self.url = Rc::new(Target::new(url, None));
        self.count_redirect();
    }

    /// Returns the scheme of the current URL; `check_scheme` has accepted only known ones.
    pub fn scheme(&self) -> Scheme {
        self.url.scheme.unwrap_or(Scheme::Http)
    }

    /// Records facts about the URL of the next request for infos.
    pub fn note_url(&self) {
        let mut info = self.easy.info.borrow_mut();
        info.effective_url = Some(self.url.text.clone());
        info.scheme = self.scheme().name();
        info.protocol = self.scheme().bit() as i64;
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
