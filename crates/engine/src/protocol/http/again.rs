//! A request like the last one: where the head of a GET hangs on the settings and the URL alone, the URL keeps its
//! bytes, and they are sent again as long as no setting changes. Nothing that comes with replies (cookies, challenges,
//! redirects), with a proxy, or from a file may have had a part in it.

use std::rc::Rc;

use net::exchange::RequestBody;
use tables::EasyOption as O;
use tables::scheme::Family;

use super::auth;
use super::request::{Request, version};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::connect::Link;
use crate::transfer::http::KeptHead;

/// The request that was sent when everything was the same.
pub fn request(t: &mut Transfer, link: &Link) -> Option<Request> {
    let url = t.url.clone();
    let kept = url.kept_head.borrow();
    let kept = kept.as_ref().filter(|kept| {
        kept.method == t.method
            && kept.version == version(t, link)
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

/// Keeps what was just made, if it may be sent again.
pub fn keep(t: &Transfer, link: &Link, request: &Request) {
    // A POST that had nothing to send may have something next time, and no setting tells: its bytes are the application's.
    let bodiless = matches!(t.method, Method::Get | Method::Head) && request.head.body == RequestBody::None;
    let lasts = bodiless && is_plain(t, link) && auth::proves_nothing(t) && t.long(O::Netrc) == 0;
    if !lasts {
        return;
    }
    let info = t.easy.info.borrow();
    *t.url.kept_head.borrow_mut() = Some(KeptHead {
        generation: t.easy.settings.borrow().generation(),
        version: version(t, link),
        method: t.method,
        head: request.head.clone(),
        head_only: request.head_only,
        effective_method: info.effective_method.clone(),
        referer: info.rare.referer.clone(),
    });
}

/// A first request, straight to its server, from a handle without cookies.
fn is_plain(t: &Transfer, link: &Link) -> bool {
    let direct = link.forwarder().is_none() && link.plan.alternative.is_none();
    let first =
        Rc::ptr_eq(&t.url, &t.first_url) && !t.custom_dropped && !t.http.http10 && t.http.referer.is_none();
    // Each WebSocket has a key of its own, each request of RTSP a number, and HTTP/2 may be asked for once and then not.
    let lasting = !matches!(t.scheme().family(), Family::Ws | Family::Rtsp) && !link.plan.asks_for_upgrade();
    lasting
        && direct
        && t.http.kept_replies.is_none()
        && !link.lease.about().answers_http10
        && first
        && !crate::stores::cookies::is_on(t.easy.keeper())
}
