//! Cache of request heads: if the head of a GET depends only on the settings and the URL, the URL keeps its
//! bytes and the next transfer sends them again, until a setting changes. Cookies, challenges, redirects,
//! proxies and files must not have contributed to such a head.

use std::rc::Rc;

use net::exchange::RequestBody;
use tables::EasyOption as O;
use tables::scheme::Family;

use super::auth;
use super::decide::request::{Repeatable, is_repeatable};
use super::http_transfer::HttpTransfer;
use super::message::Request;
use super::version::version;
use crate::outputs::{self, Output};
use crate::settings::Method;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::kept_head::KeptHead;
use crate::transfer::link::HttpLink;

/// Returns the cached request of this URL if nothing that it depends on has changed.
pub fn request(t: &mut HttpTransfer, link: &HttpLink) -> Option<Request> {
    if t.http.upload_step.is_some() {
        return None;
    }
    let url = t.url.clone();
    let kept = url.kept_head.borrow();
    let kept = kept.as_ref().filter(|kept| {
        kept.method == t.method
            && kept.version == version(t, link).name()
            && kept.generation == t.easy.settings.borrow().generation()
            && is_plain(t, link)
    })?;
    auth::nothing_to_prove(t);
    let mut info = t.easy.info.borrow_mut();
    info.effective_method = kept.effective_method.clone();
    info.note_referer(kept.referer.clone());
    info.upload_total = 0;
    drop(info);
    Some(Request {
        head: kept.head.clone(),
        body: ClientReader::empty(&t.easy),
        expects: false,
        trailers: false,
        head_only: kept.head_only,
    })
}

/// Caches the request that was just built, if it may be sent again.
pub fn keep(t: &HttpTransfer, link: &HttpLink, request: &Request) {
    // A POST without data may have data the next time, and no setting shows that: its bytes belong to the
    // application.
    let bodiless = matches!(t.method, Method::Get | Method::Head) && request.head.body == RequestBody::None;
    // Each request has a span of its own.
    let lasts = bodiless
        && t.http.upload_step.is_none()
        && is_plain(t, link)
        && auth::proves_nothing(t)
        && t.long(O::Netrc) == 0
        && !outputs::has(Output::Trace);
    if !lasts {
        return;
    }
    let info = t.easy.info.borrow();
    *t.url.kept_head.borrow_mut() = Some(KeptHead {
        generation: t.easy.settings.borrow().generation(),
        version: version(t, link).name(),
        method: t.method,
        head: request.head.clone(),
        head_only: request.head_only,
        effective_method: info.effective_method.clone(),
        referer: info.rare.referer.clone(),
    });
}

/// Returns whether this request's head depends only on the settings and the URL.
fn is_plain(t: &HttpTransfer, link: &HttpLink) -> bool {
    is_repeatable(&Repeatable {
        first_url: Rc::ptr_eq(&t.url, &t.first_url),
        redirected: t.http.custom_dropped || t.http.referer.is_some(),
        http10: t.http.http10 || link.lease.about().answers_http10,
        indirect: link.forwarder().is_some() || link.plan.alternative.is_some(),
        numbered: matches!(t.scheme().family(), Family::Ws | Family::Rtsp),
        asks_for_upgrade: link.plan.asks_for_upgrade(),
        keeps_replies: t.http.kept_replies.is_some(),
        cookies: crate::stores::cookies::is_on(t.easy.keeper()),
    })
}
