//! WebSockets on streams (RFC 8441): which servers are asked, what is sent, and the fallback.

use tables::Code;
use tables::constant::{CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, CURLWS_CLOSE, CURLWS_TEXT};
use testkit::frames::{FramePeer, Talk, kind};
use warmwire_engine::WebSocketOptions;

use super::*;

/// SETTINGS_ENABLE_CONNECT_PROTOCOL.
const EXTENDED: (u16, u32) = (8, 1);

const ACCEPTED: &[u8] = b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

fn websocket(peer: &FramePeer, bits: i64) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("ws://127.0.0.1:{}/", peer.port()));
    long(&easy, O::HttpVersion, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
    easy.state().settings.borrow_mut().set_websocket(WebSocketOptions::from_number(bits));
    (easy, app)
}

/// Takes a WebSocket, says a text, and closes when the client has said something on it.
fn chat(talk: &mut Talk, stream: u32) -> std::io::Result<()> {
    talk.head(stream, &[(":status", "200")], false)?;
    talk.data(stream, b"\x81\x05hello", false)?;
    talk.until(|frame| frame.is(kind::DATA, stream) && !frame.payload.is_empty())?;
    talk.data(stream, b"\x88\x02\x03\xe8", true)
}

/// A request and two WebSockets, successive and concurrent, on one connection.
#[test]
fn requests_and_websockets_share_a_connection() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[EXTENDED])?;
        let request = talk.request()?;
        talk.answer(request, 200, b"reply")?;
        for _ in 0..2 {
            let stream = talk.request()?;
            chat(talk, stream)?;
        }
        talk.hold()
    });
    let multi = Multi::default();
    let (plain, body) = to(&peer);
    assert_eq!(together(&multi, &[&plain]), [Code::Ok]);
    assert_eq!(*body.body.borrow(), b"reply");
    for _ in 0..2 {
        let (easy, app) = websocket(&peer, 4);
        let sender = easy.clone();
        *app.on_write.borrow_mut() = Some(Rc::new(move || {
            let closes = sender.ws_meta().unwrap().flags == CURLWS_CLOSE;
            assert!(closes || sender.ws_send(b"hi", 0, CURLWS_TEXT as u32) == Ok(2));
        }));
        assert_eq!(together(&multi, &[&easy]), [Code::Ok], "{}", message(&easy));
        assert_eq!(*app.body.borrow(), b"hello\x03\xe8");
        assert_eq!(status(&easy), 200);
    }
    assert_eq!(peer.accepts(), 1);
    let frames = peer.frames(0);
    let heads: Vec<_> = frames.iter().filter(|frame| frame.kind == kind::HEADERS).collect();
    assert_eq!(
        heads.iter().map(|head| (head.stream, head.ends())).collect::<Vec<_>>(),
        [(1, true), (3, false), (5, false)]
    );
    let said = frames.iter().find(|frame| frame.is(kind::DATA, 3)).unwrap();
    assert_eq!(said.payload[..2], [0x81, 0x82], "a masked text of two bytes");
}

/// No extended CONNECT is sent before the server has announced support, or if it announces none; then
/// HTTP/1.1 is used, and the connection keeps serving others.
#[test]
fn websockets_fall_back_without_extended_connect() {
    let peer = FramePeer::start(|talk| match talk.greet(&[]) {
        Ok(()) => {
            let request = talk.request()?;
            talk.answer(request, 200, b"reply")?;
            talk.hold()
        }
        Err(_) => {
            talk.http1_head()?;
            talk.raw(&[ACCEPTED, b"\x81\x02hi"].concat())
        }
    });
    let multi = Multi::default();
    let (easy, app) = websocket(&peer, 4);
    assert_eq!(together(&multi, &[&easy]), [Code::Ok], "{}", message(&easy));
    assert_eq!((&app.body.borrow()[..], status(&easy)), (&b"hi"[..], 101));
    let (plain, body) = to(&peer);
    assert_eq!(together(&multi, &[&plain]), [Code::Ok]);
    assert_eq!(*body.body.borrow(), b"reply");
    assert_eq!(peer.accepts(), 2);
    assert_eq!(peer.requests(0), 1, "that of the request alone");
}

/// After both close frames the stream is closed, whether the server ends it or not, and our close frame has
/// been sent.
#[test]
fn goodbye_is_the_end() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[EXTENDED])?;
        let stream = talk.request()?;
        talk.head(stream, &[(":status", "200")], false)?;
        talk.data(stream, b"\x88\x02\x03\xe8", false)?;
        talk.hold()
    });
    let (easy, app) = websocket(&peer, 4);
    let sender = easy.clone();
    *app.on_write.borrow_mut() = Some(Rc::new(move || {
        assert_eq!(sender.ws_send(b"\x03\xe8", 0, CURLWS_CLOSE as u32), Ok(2));
    }));
    long(&easy, O::TimeoutMs, 20_000);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    let said =
        || peer.frames(0).into_iter().filter(|frame| frame.stream == 1).map(|frame| frame.kind).collect();
    easy.close();
    eventually(|| {
        let said: Vec<u8> = said();
        said.contains(&kind::RST_STREAM)
    });
    let said: Vec<u8> = said();
    assert_eq!(said, [kind::HEADERS, kind::DATA, kind::RST_STREAM]);
}

/// A server without SETTINGS delays a transfer only until its time limit.
#[test]
fn a_server_that_never_tells() {
    let peer = FramePeer::start(|talk| talk.hold());
    let (easy, _app) = websocket(&peer, 4);
    long(&easy, O::TimeoutMs, 500);
    assert_eq!(easy.perform(), Code::OperationTimedout);
}

#[test]
fn a_server_that_refuses() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[EXTENDED])?;
        let stream = talk.request()?;
        talk.answer(stream, 403, b"no")?;
        let stream = talk.request()?;
        talk.reset(stream, 2)?;
        talk.hold()
    });
    let multi = Multi::default();
    for (code, text) in [
        (Code::HttpReturnedError, "Refused WebSocket upgrade: 403"),
        (Code::Http2Stream, "HTTP/2 stream 3 was not closed cleanly: INTERNAL_ERROR (err 2)"),
    ] {
        let (easy, _app) = websocket(&peer, 4);
        assert_eq!(together(&multi, &[&easy]), [code]);
        assert_eq!(message(&easy), text);
    }
}

/// HTTP/2 is not used unless it was requested.
#[test]
fn only_when_asked_for() {
    let peer = FramePeer::start(|talk| {
        talk.http1_head()?;
        talk.raw(&[ACCEPTED, b"\x81\x02hi"].concat())
    });
    let (easy, app) = websocket(&peer, 0);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(*app.body.borrow(), b"hi");
}
