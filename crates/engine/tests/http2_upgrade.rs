//! HTTP/2 without TLS, requested by a request of HTTP/1.1 (RFC 7540 §3.2; CURLOPT_HTTP_VERSION(3)): the reply
//! is on the session's first stream, later ones on new streams, and a server that declines replies in HTTP/1.

use crate::common::{handle, long};
use tables::constant::{CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step, expect, send};
use warmwire_engine::Easy;

pub const SWITCHING: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
const SETTINGS: u8 = 4;
const HEADERS: u8 = 1;
const DATA: u8 = 0;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Status 200 and a body.
fn reply(stream: u32, body: &str) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, &[0x88]);
    [head, frame(DATA, END_STREAM, stream, body.as_bytes())].concat()
}

/// The server agrees, answers on the first stream, and then so many requests more.
pub fn agreeing(more: &[&str]) -> Script {
    let first = [SWITCHING.as_bytes(), &frame(SETTINGS, 0, 0, &[]), &reply(1, "one")].concat();
    let mut script = vec![expect("\r\n\r\n"), Step::Send(first), expect("SM\r\n\r\n")];
    for (n, body) in more.iter().enumerate() {
        let stream = 3 + 2 * n as u32;
        let head = [&[HEADERS, END_STREAM | END_HEADERS][..], &stream.to_be_bytes()].concat();
        script.extend([Step::Expect(head), Step::Send(reply(stream, body))]);
    }
    script.push(Step::Hold);
    script
}

fn asking(peer: &RawPeer) -> (Easy, std::rc::Rc<crate::common::App>) {
    let (easy, app) = handle(&format!("http://{}/a", peer.address()));
    long(&easy, O::HttpVersion, CURL_HTTP_VERSION_2_0);
    long(&easy, O::TimeoutMs, 20_000);
    (easy, app)
}

fn received(peer: &RawPeer) -> String {
    String::from_utf8_lossy(&peer.received().concat()).into_owned()
}

// covers: CURLOPT_HTTP_VERSION, --http2
#[test]
fn the_reply_comes_on_the_first_stream_and_others_follow() {
    let peer = RawPeer::start(vec![agreeing(&["two", "three"])]);
    let (easy, app) = asking(&peer);
    for body in ["one", "two", "three"] {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(app.body.take(), body.as_bytes());
        let info = easy.state().info.borrow();
        assert_eq!((info.response_code, info.http_version), (200, CURL_HTTP_VERSION_2_0), "{body}");
    }
    let heads = String::from_utf8(app.headers.take()).unwrap();
    let wanted = [SWITCHING, "HTTP/2 200 \r\n\r\n", "HTTP/2 200 \r\n\r\n", "HTTP/2 200 \r\n\r\n"].concat();
    assert_eq!(heads, wanted);
    assert_eq!(peer.accepts(), 1);
    let fields =
        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAQAAAAIAAAAA\r\nConnection: Upgrade, HTTP2-Settings\r\n";
    assert_eq!(received(&peer).matches(fields).count(), 1);
}

#[test]
fn an_upgrade_sends_the_whole_body_before_any_frame() {
    let answer = [frame(SETTINGS, 0, 0, &[]), reply(1, "one")].concat();
    let peer = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send(SWITCHING),
        expect("SM\r\n\r\n"),
        Step::Send(answer),
        Step::Hold,
    ]]);
    let (easy, app) = asking(&peer);
    long(&easy, O::Upload, 1);
    *app.upload.borrow_mut() = vec![b'x'; 50_000];
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let received = received(&peer);
    let (_, rest) = received.split_once("\r\n\r\n").unwrap();
    let (body, _) = rest.split_once("PRI * HTTP/2.0").unwrap();
    assert!(body.contains(&"x".repeat(1000)) && body.ends_with("0\r\n\r\n"), "{body}");
}

#[test]
fn a_server_that_does_not_want_it_answers_in_http1() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none";
    let peer = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send(answer),
        expect("\r\n\r\n"),
        send(answer),
        Step::Hold,
    ]]);
    let (easy, app) = asking(&peer);
    for _ in 0..2 {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(app.body.take(), b"one");
    }
    assert_eq!(peer.accepts(), 1);
    assert_eq!(received(&peer).matches("Upgrade: h2c").count(), 2);
}

/// curl's test 1801.
#[test]
fn a_server_that_agrees_and_speaks_http1_is_a_fault() {
    let lie = format!("{SWITCHING}HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&lie), Step::Hold]]);
    let (easy, _) = asking(&peer);
    assert_eq!(easy.perform(), Code::Http2);
}

/// A connection that became a session is not used by a handle that wants HTTP/1.1.
#[test]
fn http1_requests_get_their_own_connection() {
    let plain = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold";
    let old = vec![expect("\r\n\r\n"), send(plain), Step::Hold];
    let peer = RawPeer::start(vec![agreeing(&["two"]), old]);
    let (easy, app) = asking(&peer);
    for (version, body) in
        [(CURL_HTTP_VERSION_2_0, "one"), (CURL_HTTP_VERSION_1_1, "old"), (CURL_HTTP_VERSION_2_0, "two")]
    {
        long(&easy, O::HttpVersion, version);
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(app.body.take(), body.as_bytes());
    }
    assert_eq!(peer.accepts(), 2);
}
