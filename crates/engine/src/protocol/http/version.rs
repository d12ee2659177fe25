//! Version of a request: gathers the facts for `decide::version`.

use net::HttpLease;
use tables::EasyOption as O;
use tables::constant::CURL_HTTP_VERSION_1_0;
use tables::scheme::Family;

use super::decide::version::{self as decide, Version};
use super::http_transfer::HttpTransfer;
use crate::transfer::Transfer;
use crate::transfer::link::HttpLink;

/// Returns the facts for decisions about the version of a request on this link.
fn link_facts(t: &HttpTransfer, link: &HttpLink) -> decide::Link {
    let about = link.lease.about();
    let replayed = t.replayed.as_ref().map_or(0, |peer| peer.version);
    let stream = matches!(link.lease, HttpLease::Stream(_)) || replayed >= 20;
    let agreed = || about.tls.as_ref().and_then(|tls| tls.alpn.as_deref());
    decide::Link {
        websocket: t.scheme().family() == Family::Ws,
        stream,
        quic: stream && (agreed() == Some(net::http3::ALPN) || replayed == 30),
        wants_http10: t.long(O::HttpVersion) == CURL_HTTP_VERSION_1_0,
        heard_http10: t.http.http10,
        answers_http10: about.answers_http10,
    }
}

/// Returns whether the request is one of HTTP/1.0 by the wish of the application or of a server before.
pub fn asks_for_http10(t: &HttpTransfer) -> bool {
    decide::asks_for_http10(&decide::Link {
        websocket: t.scheme().family() == Family::Ws,
        wants_http10: t.long(O::HttpVersion) == CURL_HTTP_VERSION_1_0,
        heard_http10: t.http.http10,
        ..decide::Link::default()
    })
}

/// Returns the version of the request.
pub fn version(t: &HttpTransfer, link: &HttpLink) -> Version {
    decide::of_request(&link_facts(t, link))
}

/// Returns whether the request asks the server for HTTP/2.
pub fn asks_for_http2(t: &HttpTransfer, link: &HttpLink) -> bool {
    link.plan.asks_for_upgrade() && decide::asks_for_upgrade(&link_facts(t, link), true)
}

/// Returns whether a stream of HTTP/2 is to carry the frames of a WebSocket (RFC 8441).
pub fn is_on_stream(t: &Transfer, link: &HttpLink) -> bool {
    t.scheme().family() == Family::Ws && matches!(link.lease, HttpLease::Stream(_))
}
