//! Where a request goes: the parsed URL, what is derived from it, and the plan for reaching it. The
//! handle keeps its target as long as no option of the route changes, so that a transfer like the last one parses
//! and plans nothing; one to another path of the same server parses its URL.

use std::cell::OnceCell;
use std::io::Write as _;
use std::ops::Deref;
use std::rc::Rc;

use runtime::cell::RefCell;

use tables::constant::CURLAUTH_NEGOTIATE;
use tables::scheme::Family;
use tables::{EasyOption as O, Scheme};
use wire::url::Url;

use super::Route;
use super::http::KeptHead;
use super::plan::{Plan, own_lines};
use super::prepare;
use super::proxy::{self, Environment};
use super::secret::Peer;
use crate::easy::EasyState;
use crate::error::Result;
use crate::settings::Text;

/// A URL to be fetched.
pub struct Target {
    url: Url,
    /// The URL as text.
    pub text: Text,
    /// Its scheme, when it is a known one.
    pub scheme: Option<Scheme>,
    /// The server as somebody who may be told secrets.
    pub peer: Rc<Peer>,
    /// What stands in a Host field, once a request has needed it.
    host_field: OnceCell<Box<[u8]>>,
    plan: RefCell<Option<Known>>,
    /// The head of the last request for it, if that may be sent again.
    pub kept_head: RefCell<Option<KeptHead>>,
}

/// A plan, and what it was made from besides the authority of the URL.
#[derive(Clone)]
struct Known {
    way: u64,
    environment: Environment,
    plan: Rc<Plan>,
}

impl Target {
    /// A URL that was given in these words, or is one of another text.
    pub fn new(url: Url, given: Option<Text>) -> Target {
        Target {
            text: text(&url, given),
            scheme: url.scheme().and_then(|name| Scheme::from_name(&name)),
            peer: Rc::new(Peer::server(&url)),
            host_field: OnceCell::new(),
            plan: RefCell::default(),
            kept_head: RefCell::default(),
            url,
        }
    }

    /// Another URL of the same authority: the way there is known, and whom it leads to.
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

    /// The host in ASCII, and the port unless HTTP has it as its default.
    pub fn host_field(&self) -> Result<&[u8]> {
        if let Some(known) = self.host_field.get() {
            return Ok(known);
        }
        let mut value = Vec::with_capacity(self.url.host().map_or(0, <[u8]>::len) + ":65535".len());
        match self.url.host() {
            // In the case of letters that the application chose.
            Some(host) if host.is_ascii() => value.extend_from_slice(host),
            _ => value.extend(self.url.host_ascii().map_err(prepare::url_error)?),
        }
        let port = self.url.port_or_default().unwrap_or_default();
        // A forwarded FTP URL always tells its port.
        let usual = self.scheme.is_some_and(|s| s.family().asks_by_http() && s.default_port() == port);
        if !usual {
            let _ = write!(value, ":{port}"); // memory takes all
        }
        Ok(self.host_field.get_or_init(|| value.into()))
    }
}

/// The URL as text: the one that was given, where that says the same.
fn text(url: &Url, given: Option<Text>) -> Text {
    let text = prepare::url_text(url);
    given.filter(|given| **given == *text).unwrap_or_else(|| text.into())
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
    let last = easy.memories.of::<Last>();
    if let Some((known, target)) = &*last.borrow()
        && *known == settings.route()
        && settings.url_handle.is_none()
    {
        return Ok(target.clone());
    }
    let url = settings.for_route(|| prepare::first_url(&settings))?;
    let target = Rc::new(match &*last.borrow() {
        Some((_, last)) if last.same_authority(&url) => last.beside(url, settings.text(O::Url)),
        _ => Target::new(url, settings.text(O::Url)),
    });
    *last.borrow_mut() = Some((settings.route(), target.clone()));
    Ok(target)
}

/// Another handle goes where this one went last: where it has the same settings, it need not plan that anew.
pub fn follow(easy: &EasyState, other: &EasyState) {
    let known = other.memories.of::<Last>().borrow().clone();
    *easy.memories.of::<Last>().borrow_mut() = known;
}

impl Route {
    /// How to reach the current URL.
    pub fn plan(&self) -> Result<Rc<Plan>> {
        let settings = self.easy.settings.borrow();
        // A .netrc file may change, and so may the application's functions.
        let functions = self.easy.callbacks.sockets().is_some()
            || self.scheme().family() == Family::Ssh && self.easy.host_key_judge().is_some();
        let lasting = settings.long(O::Netrc) == 0 && !functions;
        // Alternatives come with replies, and tickets from a place that the environment names.
        let by_ticket = settings.long(O::Proxyauth) as u64 & CURLAUTH_NEGOTIATE != 0;
        let lasting = lasting && !by_ticket && !crate::stores::altsvc::is_on(self.easy.keeper());
        let environment = proxy::environment(&settings, &self.scheme());
        // What a server is told changes more often than the way to it; here a proxy is told the same.
        let lasting = lasting
            && (own_lines(&settings) == O::Proxyheader
                || !environment.names_proxy() && !settings.is_set(O::Proxy));
        if let Some(known) = &*self.url.plan.borrow()
            && lasting
            && known.way == settings.way()
            && known.environment == environment
            && known.plan.identity.is_current()
        {
            return Ok(known.plan.clone());
        }
        let (mut plan, way) = match lasting {
            true => {
                let plan = settings.for_way(|| Plan::of(self, &environment))?;
                let way = settings.way();
                drop(settings);
                (plan, Some(way))
            }
            false => {
                // What a .netrc file lacks is told to the application, which may change them.
                drop(settings);
                (Plan::of(self, &environment)?, None)
            }
        };
        plan.share(&self.multi.pool);
        let plan = Rc::new(plan);
        if let Some(way) = way {
            *self.url.plan.borrow_mut() = Some(Known { way, environment, plan: plan.clone() });
        }
        if let Some(to) = &plan.alternative {
            self.tell_alternative(to);
        }
        Ok(plan)
    }
}
