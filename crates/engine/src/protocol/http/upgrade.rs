//! WebSocket (RFC 6455): a GET of HTTP/1.1 asks for it, and when the server has agreed, frames go both ways until it closes
//! (libcurl-ws.md). The frames are wire's, what is known of them lives in `websocket`; they come out of the client writer and
//! go in by the client reader, so that pauses, limits and counts are those of every transfer.

use net::exchange::{Exchange, RequestBody};
use tables::scheme::Family;
use tables::{Code, EasyOption as O};

use super::super::{Next, give};
use super::{Response, Talk, Upload};
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::connect::Link;
use crate::websocket::WebSocket;

/// CURLOPT_CONNECT_ONLY with this value asks for the upgrade, too.
const WITH_UPGRADE: i64 = 2;

/// The request is a GET: an upload begins when both speak WebSocket, and a POST is none.
pub fn choose_method(t: &mut Transfer) {
    if t.scheme().family() == Family::Ws && t.method != Method::Head {
        t.method = Method::Get;
    }
}

/// Whether the application will send and receive frames itself.
pub fn is_by_hand(t: &Transfer) -> bool {
    t.scheme().family() == Family::Ws && t.long(O::ConnectOnly) == WITH_UPGRADE
}

/// The server has replied. What it says of the key is not looked at, nor are extensions that nobody asked for, as in curl.
pub fn begin(t: &mut Transfer, talk: &mut Talk, response: &Response) -> Result<()> {
    if !response.begins_websocket(t) {
        let text = format!("Refused WebSocket upgrade: {}", response.status);
        return Err(Error::new(Code::HttpReturnedError, text));
    }
    t.easy.note(|| "[WS] Received 101, switch to WebSocket".to_owned());
    if is_by_hand(t) {
        return Ok(());
    }
    drop(t.easy.websocket.replace(Some(Box::default())));
    let uploads = t.easy.settings.borrow().method == Method::Put;
    let frames = ClientReader::frames(&t.easy, uploads);
    talk.upload = Upload::new(t, frames, RequestBody::Plain, false, false);
    if !t.easy.ws_raw() {
        t.writer.take_frames();
    }
    Ok(())
}

/// The connection and what came behind the reply are the application's.
pub async fn hand_over(t: &Transfer, mut link: Link, exchange: Box<dyn Exchange>) -> Result<Next> {
    let early = exchange.rest().to_vec();
    link.lease.end(exchange);
    drop(t.easy.websocket.replace(Some(Box::new(WebSocket::by_hand(early)))));
    give(t, link.into_whole()?.into_connection()).await
}
