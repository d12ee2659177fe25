//! Gathers the facts of HTTP for a transfer's reasons ([`crate::why`]).

use net::{About, HttpLease};
use tables::EasyOption as O;
use tables::constant::{CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1};

use super::decide::connection::FinishedExchange;
use super::decide::reply::link_targets;
use super::decide::version::Version;
use super::http_transfer::HttpTransfer;
use super::response::Response;
use super::version::version as version_of;
use crate::stores::headers::Origin;
use crate::transfer::explained::schemes;
use crate::transfer::link::HttpLink;
use crate::why::event::{CloseReason, Event};
use crate::why::version::{Facts, reason};

/// Records why a new connection speaks its version of HTTP.
pub fn version(t: &HttpTransfer, link: &HttpLink) {
    t.easy.explain(|| {
        let version = version_of(t, link);
        let about = link.lease.about();
        let offers = |plan_tls: &net::tls::TlsConfig| plan_tls.alpn.iter().any(|name| name == "h2");
        let wish = t.long(O::HttpVersion);
        let why = reason(&Facts {
            http10: version == Version::Http10,
            stream: matches!(link.lease, HttpLease::Stream(_)),
            tls: about.tls.is_some(),
            limited: matches!(wish, CURL_HTTP_VERSION_1_0 | CURL_HTTP_VERSION_1_1),
            alpn: t.on(O::SslEnableAlpn),
            offered: link.plan.tls.as_deref().is_some_and(offers),
            avoided: t.http.no_http2 || about.key.login.is_some(),
            agreed: about.tls.as_ref().and_then(|tls| tls.alpn.as_deref()),
        });
        Event::Version { version: version.name(), why }
    });
}

/// Records an informational reply. `before` is the number of fields that came before its own.
pub fn informational(t: &HttpTransfer, status: u16, before: usize) {
    t.easy.explain(|| {
        let request = t.easy.info.borrow().redirect_count as usize;
        let headers = t.easy.headers.borrow();
        let fields = headers.of(Origin::Interim as u32, Some(request)).into_iter();
        let links = fields.filter(|(at, field)| *at >= before && field.name.eq_ignore_ascii_case(b"Link"));
        Event::Informed { status, links: links.flat_map(|(_, link)| link_targets(link.value)).collect() }
    });
}

/// Records why a connection is closed after its request.
pub fn closing(t: &HttpTransfer, about: &About, used: &FinishedExchange, http10: bool) {
    t.explain_closing(about, || match t.easy.why.spoilt() {
        _ if used.forbidden => CloseReason::Forbidden,
        Some(why) => why,
        None if !used.complete => CloseReason::UploadStopped,
        None if used.keep && !used.clean => CloseReason::Surplus,
        None if http10 => CloseReason::Http10,
        None => CloseReason::PeerSaidClose,
    });
}

/// Returns the event of a reply behind which the connection closes.
pub fn last_reply(response: &Response) -> Event {
    Event::Spoilt(if response.body.until_close {
        CloseReason::EndsBody
    } else if response.version == 10 {
        CloseReason::Http10
    } else {
        CloseReason::PeerSaidClose
    })
}

/// Returns the event of another round of authentication.
pub fn challenge(t: &HttpTransfer, status: u16) -> Event {
    let info = t.easy.info.borrow();
    let bits = if status == 407 { info.rare.proxy_auth_available } else { info.rare.auth_available };
    Event::Challenged { status, offered: schemes(bits) }
}
