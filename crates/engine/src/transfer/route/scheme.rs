//! Refuses schemes that this build or the application does not allow.

use std::rc::Rc;

use tables::scheme::Family;
use tables::{Code, EasyOption as O};

use super::Route;
use crate::error::{Error, Result};
use crate::transfer::credentials::check_url;
use net::identity::ProxyKind;

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
    // HTTP encodes a login; elsewhere it may stand in a line, or end one (curl 8.22 refuses it for all
    // others, whether used or not).
    match row.family() {
        Family::Http | Family::Ws => Ok(()),
        _ => check_url(t),
    }
}
