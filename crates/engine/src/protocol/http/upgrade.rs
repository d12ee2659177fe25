//! Upgrades from HTTP/1 to another protocol on the same connection. HTTP/2 without TLS (RFC 7540 §3.2): the
//! request that asks for it is answered on the session's first stream, or in HTTP/1 by a server that
//! declines. WebSocket (RFC 6455): requested by a GET of HTTP/1.1, or a CONNECT on a stream of HTTP/2 (RFC
//! 8441); once the server has agreed, frames go both ways until it closes (libcurl-ws.md). The frames are in
//! wire, their state is in `websocket`. They pass through the client writer and the client reader, so that
//! pauses, limits and counts are those of every transfer.

use std::future::poll_fn;

use net::exchange::{Exchange, RequestBody, RequestHead};
use net::http2::UpgradeReply;
use tables::scheme::Family;
use tables::{Code, EasyOption as O, Scheme};

use super::active_exchange::ActiveExchange;
use super::http_transfer::HttpTransfer;
use super::offers::Offers;
use super::response::Response;
use super::upload::Upload;
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::stores::headers::Origin;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::link::HttpLink;
use crate::transfer::next::{Next, give};
use crate::websocket::WebSocket;

/// The protocol's name, in a field Upgrade and in `:protocol`.
pub const WEBSOCKET: &str = "websocket";

/// The field by which extensions are offered and agreed on (RFC 6455 §9.1).
pub const EXTENSIONS: &str = "Sec-WebSocket-Extensions";

/// CURLOPT_CONNECT_ONLY with this value asks for the upgrade, too.
const WITH_UPGRADE: i64 = 2;

/// Makes the request a GET: an upload starts only when the WebSocket is established, and a POST is not
/// allowed.
pub fn choose_method(t: &mut Transfer) {
    if t.scheme().family() == Family::Ws && t.method != Method::Head {
        t.method = Method::Get;
    }
}

/// The server has agreed to HTTP/2: the request, of which it has to have all, has become the first stream, on
/// which its reply comes.
pub async fn switch_to_http2(
    t: &mut Transfer,
    mut link: HttpLink,
    mut active: ActiveExchange,
) -> Result<(HttpLink, ActiveExchange)> {
    t.easy.note(|| "Received 101, Switching to HTTP/2".to_owned());
    active.upload.go_ahead();
    poll_fn(|cx| active.poll_upload(cx)).await?;
    if t.player().is_some() {
        // The record continues with the heads of HTTP/2.
        return Ok((link, ActiveExchange { asks_for_http2: false, ..active }));
    }
    let received = active.exchange.rest().to_vec();
    let layer = active.exchange.layer();
    link.lease.end(active.exchange);
    let switched = UpgradeReply { head_only: active.reading.head_only, received };
    let lease = t.switch_to_session(link.lease, switched)?;
    let mut link = HttpLink { lease, plan: link.plan };
    let mut exchange = link.lease.begin(&t.multi.buffers);
    if let Some(layer) = layer {
        exchange = layer(exchange);
    }
    exchange.begin(&RequestHead::default(), active.reading);
    let offers = Offers::of(t, &link.lease);
    Ok((link, ActiveExchange { exchange, offers, asks_for_http2: false, ..active }))
}

/// Whether the application will send and receive frames itself.
pub fn is_by_hand(t: &Transfer) -> bool {
    t.scheme().family() == Family::Ws && t.long(O::ConnectOnly) == WITH_UPGRADE
}

/// The scheme of a request for that (RFC 8441 §5).
pub fn scheme_on_stream(t: &Transfer) -> &'static str {
    if t.scheme().tls() { Scheme::Https.name() } else { Scheme::Http.name() }
}

/// Returns the reader of the application's frames, available once the WebSocket is established.
pub fn frames(t: &Transfer) -> ClientReader {
    let uploads = t.easy.settings.borrow().method == Method::Put;
    ClientReader::frames(&t.easy, uploads)
}

/// Processes the server's reply. As in curl, the accept key is not checked, nor are extensions unless some
/// were offered.
pub fn begin(t: &mut HttpTransfer, active: &mut ActiveExchange, response: &Response) -> Result<()> {
    if !response.begins_websocket(t) {
        let text = format!("Refused WebSocket upgrade: {}", response.status);
        return Err(Error::new(Code::HttpReturnedError, text));
    }
    t.easy.note(|| format!("[WS] Received {}, switch to WebSocket", response.status));
    let mut websocket = with_extensions(t)?;
    if active.exchange.stream().is_some() {
        websocket = websocket.on_stream();
        active.ends_by_word = true;
    }
    drop(t.easy.websocket.replace(Some(Box::new(websocket))));
    if is_by_hand(t) {
        return Ok(());
    }
    active.upload = Upload::new(t, frames(t), RequestBody::Plain, false, false);
    if !t.easy.ws_raw() {
        t.flow.writer.take_frames();
    }
    Ok(())
}

/// Creates a WebSocket with the extensions that the reply accepts.
fn with_extensions(t: &HttpTransfer) -> Result<WebSocket> {
    let Some(offer) = t.http.deflate else { return Ok(WebSocket::default()) };
    let headers = t.easy.headers.borrow();
    let fields = headers.of(Origin::Interim as u32 | Origin::Header as u32, None);
    let named = fields.iter().filter(|(_, field)| field.name.eq_ignore_ascii_case(EXTENSIONS.as_bytes()));
    let values: Vec<&[u8]> = named.map(|(_, field)| field.value).collect();
    let agreed = offer.agree(&values.join(&b','));
    let agreed = agreed.map_err(|bad| Error::new(Code::WeirdServerReply, format!("[WS] {bad}")))?;
    t.easy.note(|| format!("[WS] messages are {}compressed", if agreed.is_some() { "" } else { "not " }));
    Ok(agreed.map_or_else(WebSocket::default, |agreed| WebSocket::default().compressed(agreed)))
}

/// Passes the connection, and the bytes after the reply, to the application.
pub async fn hand_over(t: &Transfer, mut link: HttpLink, exchange: Box<dyn Exchange>) -> Result<Next> {
    let early = exchange.rest().to_vec();
    link.lease.end(exchange);
    let websocket = t.easy.websocket.take().unwrap_or_default();
    drop(t.easy.websocket.replace(Some(Box::new(websocket.by_hand(early)))));
    give(t, link.into_whole()?.into_connection()).await
}
