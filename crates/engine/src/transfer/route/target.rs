//! The target of a request: the parsed URL, derived values, and the plan for reaching it. The handle keeps
//! its target as long as no option of the route changes, so that a repeated transfer parses and plans
//! nothing; one to another path of the same server only parses its URL.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use runtime::cell::RefCell;

use tables::{EasyOption as O, Scheme};
use wire::url::{Decimal, Url};

use super::plan::Plan;
use super::url;
use crate::easy::EasyState;
use crate::error::Result;
use crate::settings::Text;
use crate::transfer::kept_head::KeptHead;
use crate::transfer::proxy::Environment;
use crate::transfer::secret::Peer;

/// A URL to be fetched.
pub struct Target {
    url: Url,
    /// The URL as text.
    pub text: Text,
    /// Its scheme, when it is a known one.
    pub scheme: Option<Scheme>,
    /// The server as a recipient of secrets.
    pub peer: Rc<Peer>,
    /// The value of the Host field, once a request has needed it.
    host_field: OnceCell<Box<[u8]>>,
    pub(super) plan: RefCell<Option<KnownPlan>>,
    /// The head of the last request for it, if that may be sent again.
    pub kept_head: RefCell<Option<KeptHead>>,
}

/// A plan, and the inputs that it was made from besides the URL's authority.
#[derive(Clone)]
pub(super) struct KnownPlan {
    pub way: u64,
    pub environment: Environment,
    pub plan: Arc<Plan>,
}

impl Target {
    /// Creates a target. `given` is the text of the URL, if it was set as text.
    pub fn new(url: Url, given: Option<Text>) -> Target {
        Target {
            text: text(&url, given),
            scheme: url.known_scheme(),
            peer: Rc::new(Peer::server(&url)),
            host_field: OnceCell::new(),
            plan: RefCell::default(),
            kept_head: RefCell::default(),
            url,
        }
    }

    /// Returns a target for another URL with the same authority, which keeps the plan and the peer.
    fn beside(&self, url: Url, given: Option<Text>) -> Target {
        Target {
            text: text(&url, given),
            scheme: self.scheme,
            peer: self.peer.clone(),
            host_field: self.host_field.clone(),
            plan: RefCell::new(self.plan.borrow().clone()),
            kept_head: RefCell::default(),
            url,
        }
    }

    /// Returns the host in ASCII, and the port unless it is HTTP's default.
    pub fn host_field(&self) -> Result<&[u8]> {
        if let Some(known) = self.host_field.get() {
            return Ok(known);
        }
        let host = match self.url.host() {
            // In the case of letters that the application chose.
            Some(host) if host.is_ascii() => Cow::Borrowed(host),
            _ => self.url.host_ascii().map_err(url::url_error)?.into(),
        };
        let port = self.url.port_or_default().unwrap_or_default();
        // A forwarded FTP URL always contains its port.
        let usual = self.scheme.is_some_and(|s| s.family().asks_by_http() && s.default_port() == port);
        let value = match usual {
            true => host.into(),
            false => [&host, &b":"[..], Decimal::of(port).digits()].concat().into(),
        };
        Ok(self.host_field.get_or_init(|| value))
    }
}

/// Returns the URL as text: the original text if it is equivalent.
fn text(url: &Url, given: Option<Text>) -> Text {
    given.filter(|given| url::is_text(url, given)).unwrap_or_else(|| url::url_text(url).into())
}

impl Deref for Target {
    type Target = Url;

    fn deref(&self) -> &Url {
        &self.url
    }
}

/// The last target of a handle, and the route that it was made for.
type Last = Option<(u64, Rc<Target>)>;

/// The target that the settings name; the handle's last one when they still say the same.
pub fn first(easy: &EasyState) -> Result<Rc<Target>> {
    let settings = easy.settings.borrow();
    let last = easy.derived.of::<Last>();
    if let Some((known, target)) = &*last.borrow()
        && *known == settings.route()
        && settings.uncommon.url_handle.is_none()
    {
        return Ok(target.clone());
    }
    if settings.uncommon.url_handle.is_some() {
        settings.note_foreign_url();
    }
    let url = settings.for_route(|| url::first_url(&settings))?;
    let target = Rc::new(match &*last.borrow() {
        Some((_, last)) if last.same_authority(&url) => last.beside(url, settings.text(O::Url)),
        _ => Target::new(url, settings.text(O::Url)),
    });
    *last.borrow_mut() = Some((settings.route(), target.clone()));
    Ok(target)
}

/// Copies the target of another handle's last transfer, so that one with the same settings need not plan
/// again.
pub fn follow(easy: &EasyState, other: &EasyState) {
    let known = other.derived.of::<Last>().borrow().clone();
    *easy.derived.of::<Last>().borrow_mut() = known;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::{easy, transfer};

    #[test]
    fn the_host_field_leaves_out_the_usual_port() {
        let rows: [(_, _, &[u8]); 7] = [
            ("RFC 9110 §7.2: the default port", "http://h:80/", b"h"),
            ("RFC 9110 §7.2: another", "http://h:8080/", b"h:8080"),
            ("RFC 9110 §7.2: https", "https://h:443/", b"h"),
            ("RFC 9110 §7.2: the other scheme's", "https://h:80/", b"h:80"),
            ("RFC 9110 §7.2: in the letters that were given", "http://Host.Test/", b"Host.Test"),
            ("RFC 9110 §7.2: an address", "http://[::1]:81/", b"[::1]:81"),
            ("RFC 9110 §7.2: a forwarded FTP URL", "ftp://h/", b"h:21"),
        ];
        for (name, url, wanted) in rows {
            assert_eq!(transfer(url, &[], &[]).url.host_field().unwrap(), wanted, "{name}");
        }
        let international = transfer("http://b\u{fc}cher.test/", &[], &[]);
        assert_eq!(international.url.host_field().unwrap(), b"xn--bcher-kva.test", "RFC 5891 §4.4");
    }

    #[test]
    fn the_text_of_a_url_is_kept_where_it_says_the_same() {
        let rows: [(_, &str, &str); 3] = [
            ("CURLINFO_EFFECTIVE_URL(3): as given", "http://h/x", "http://h/x"),
            ("CURLINFO_EFFECTIVE_URL(3): a path is added", "http://h", "http://h/"),
            ("CURLINFO_EFFECTIVE_URL(3): a scheme is added", "h/x", "http://h/x"),
        ];
        for (name, url, wanted) in rows {
            assert_eq!(&*transfer(url, &[], &[]).url.text, wanted.as_bytes(), "{name}");
        }
    }

    #[test]
    fn a_handle_parses_its_url_once() {
        let easy = easy(&[(O::Url, "http://h/a")], &[]);
        let one = first(&easy.0).unwrap();
        assert!(Rc::ptr_eq(&one, &first(&easy.0).unwrap()), "nothing has changed");
        easy.set_text(O::Url, Some(b"http://h/b")).unwrap();
        let beside = first(&easy.0).unwrap();
        assert!(Rc::ptr_eq(&one.peer, &beside.peer), "another path: the server is known");
        easy.set_text(O::Url, Some(b"http://i/b")).unwrap();
        assert!(!Rc::ptr_eq(&one.peer, &first(&easy.0).unwrap().peer), "another host");
    }
}
