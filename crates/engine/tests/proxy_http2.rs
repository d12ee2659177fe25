//! Tunnels through a proxy that speaks HTTP/2 (CURLPROXY_HTTPS2, CURLOPT_PROXYTYPE(3); RFC 9113 §8.5):
//! CONNECT is a stream, and its DATA is the tunnel's.

use std::rc::Rc;
use std::sync::Arc;

use crate::common::{App, handle, long, text};
use tables::constant::CURLPROXY_HTTPS2;
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::raw::{RawPeer, Script, Step, expect};
use warmwire_engine::Easy;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Step {
    let length = (payload.len() as u32).to_be_bytes();
    Step::Send([&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat())
}

/// A CONNECT has arrived on this stream: no end of the stream with it.
fn connects(stream: u32) -> Step {
    Step::Expect([&[HEADERS, END_HEADERS][..], &stream.to_be_bytes()].concat())
}

fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

/// A status and perhaps a challenge.
fn reply(stream: u32, status: &str, challenge: &str) -> Step {
    let more = if challenge.is_empty() { Vec::new() } else { literal("proxy-authenticate", challenge) };
    frame(HEADERS, END_HEADERS, stream, &[literal(":status", status), more].concat())
}

/// The origin behind the tunnel answers a request on this stream.
fn tunnelled(stream: u32, body: &str) -> [Step; 2] {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    [expect("\r\n\r\n"), frame(DATA, 0, stream, answer.as_bytes())]
}

/// A proxy with one of these protocols by ALPN, preferring the first.
fn proxy(protocol: &str, script: Script) -> (RawPeer, Authority) {
    let authority = Authority::new();
    let mut config = Arc::unwrap_or_clone(authority.good().server_config().unwrap());
    config.alpn_protocols = protocol.split(',').map(|name| name.as_bytes().to_vec()).collect();
    (RawPeer::tls(vec![script], Arc::new(config)), authority)
}

fn by_way_of((peer, authority): &(RawPeer, Authority), url: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(url);
    text(&easy, O::Proxy, &format!("https://localhost:{}", peer.port()));
    text(&easy, O::ProxyCaInfoBlob, authority.ca_pem());
    long(&easy, O::ProxyType, CURLPROXY_HTTPS2);
    long(&easy, O::HttpProxyTunnel, 1);
    long(&easy, O::TimeoutMs, 20_000);
    (easy, app)
}

// covers: CURLOPT_PROXYTYPE, --proxy-http2
#[test]
fn the_tunnel_is_a_stream_and_is_kept() {
    let mut script = vec![frame(SETTINGS, 0, 0, &[]), connects(1), reply(1, "200", "")];
    script.extend(tunnelled(1, "one"));
    script.extend(tunnelled(1, "two"));
    script.push(Step::Hold);
    let proxy = proxy("h2", script);
    let (easy, app) = by_way_of(&proxy, "http://origin.example/");
    for body in ["one", "two"] {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(app.body.take(), body.as_bytes());
        assert_eq!(easy.state().info.borrow().response_code, 200);
    }
    assert_eq!(easy.state().info.borrow().connects, 0, "the second went through the same tunnel");
    assert_eq!(proxy.0.accepts(), 1);
    let heads = String::from_utf8(app.headers.take()).unwrap();
    assert!(!heads.contains("HTTP/2"), "the proxy's head is its own: {heads}");
}

// covers: CURLINFO_HTTP_CONNECTCODE
#[test]
fn a_refusal_is_followed_by_another_stream_with_credentials() {
    let mut script =
        vec![frame(SETTINGS, 0, 0, &[]), connects(1), reply(1, "407", "Basic realm=\"p\""), connects(3)];
    script.push(reply(3, "200", ""));
    script.extend(tunnelled(3, "one"));
    script.push(Step::Hold);
    let proxy = proxy("h2", script);
    let (easy, app) = by_way_of(&proxy, "http://origin.example/");
    long(&easy, O::ProxyAuth, -17); // CURLAUTH_ANY
    text(&easy, O::ProxyUsername, "me");
    text(&easy, O::ProxyPassword, "secret");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.take(), b"one");
    assert_eq!(easy.state().info.borrow().rare.connect_code, 200);
    assert_eq!(proxy.0.accepts(), 1);
}

#[test]
fn failures_have_curls_codes() {
    let greeting = frame(SETTINGS, 0, 0, &[]);
    let without = |last: Step| vec![greeting.clone(), connects(1), last, Step::Hold];
    let reset = frame(3, 0, 1, &[0, 0, 0, 7]);
    for (last, code) in [
        (reply(1, "403", ""), Code::CouldntConnect),
        (reply(1, "407", "Basic realm=\"p\""), Code::CouldntConnect),
        (reset, Code::RecvError),
        (Step::Finish, Code::RecvError),
    ] {
        let shown = format!("{last:?}");
        let proxy = proxy("h2", without(last));
        let (easy, _) = by_way_of(&proxy, "http://origin.example/");
        assert_eq!(easy.perform(), code, "{shown}: {}", easy.state().message());
    }
}

/// Data beyond the proxy's window waits until it grows, and so does the reply for its reader.
#[test]
fn windows_hold_both_ways() {
    const LENGTH: usize = 200_000;
    const REPLY: usize = 90_000;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {REPLY}\r\n\r\n");
    let room = |stream| frame(8, 0, stream, &(LENGTH as u32).to_be_bytes());
    let mut script = vec![frame(SETTINGS, 0, 0, &[]), connects(1), reply(1, "200", "")];
    script.extend([expect("\r\n\r\n"), Step::ExpectBytes(60_000), room(0), room(1)]);
    script.push(Step::ExpectBytes(LENGTH - 60_000));
    script.push(frame(DATA, 0, 1, head.as_bytes()));
    // An initial window of 64 KiB: the data is more than that, and sent when the window has grown.
    script.extend((0..4).map(|_| frame(DATA, 0, 1, &[b'y'; 15_000])));
    script.push(Step::Expect(vec![0, 0, 4, 8, 0, 0, 0, 0, 1]));
    script.extend((0..2).map(|_| frame(DATA, 0, 1, &[b'y'; 15_000])));
    script.push(Step::Hold);
    let proxy = proxy("h2", script);
    let (easy, app) = by_way_of(&proxy, "http://origin.example/");
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, LENGTH as i64);
    *app.upload.borrow_mut() = vec![b'x'; LENGTH];
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.take(), vec![b'y'; REPLY]);
}

#[test]
fn a_proxy_that_does_not_know_it_is_spoken_to_in_http1() {
    let script = vec![
        expect("\r\n\r\n"),
        testkit::raw::send("HTTP/1.1 200 OK\r\n\r\n"),
        expect("\r\n\r\n"),
        testkit::raw::send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"),
        Step::Hold,
    ];
    let proxy = proxy("http/1.1", script);
    let (easy, app) = by_way_of(&proxy, "http://origin.example/");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.take(), b"one");
}

/// As in curl 8.22, a request for an http: URL is sent to the proxy in HTTP/2, with scheme and authority as
/// fields; the connection is kept for another origin.
// covers: --proxy-http2
#[test]
fn requests_are_handed_on_as_streams() {
    let heads = |stream: u32| Step::Expect([&[HEADERS, END_HEADERS | 1][..], &stream.to_be_bytes()].concat());
    let body = |stream: u32, body: &str| {
        let head = frame(HEADERS, END_HEADERS, stream, &literal(":status", "200"));
        [head, frame(DATA, 1, stream, body.as_bytes())]
    };
    let mut script = vec![frame(SETTINGS, 0, 0, &[]), heads(1)];
    script.extend(body(1, "one"));
    script.push(heads(3));
    script.extend(body(3, "two"));
    script.push(Step::Hold);
    let proxy = proxy("h2", script);
    let (easy, app) = by_way_of(&proxy, "http://origin.example/a?b");
    long(&easy, O::HttpProxyTunnel, 0);
    for (url, body) in [("http://origin.example/a?b", "one"), ("http://other.example/", "two")] {
        text(&easy, O::Url, url);
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(app.body.take(), body.as_bytes());
    }
    assert_eq!(easy.state().info.borrow().http_version, tables::constant::CURL_HTTP_VERSION_2_0);
    assert_eq!((easy.state().info.borrow().connects, proxy.0.accepts()), (0, 1));
}

/// NTLM proves who is asking for a connection, which HTTP/2 has no place for.
#[test]
fn a_proxy_that_is_to_hear_ntlm_is_spoken_to_in_http1() {
    let script = vec![
        expect("GET http://origin.example/ HTTP/1.1\r\n"),
        expect("Proxy-Authorization: NTLM "),
        expect("\r\n\r\n"),
        testkit::raw::send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"),
        Step::Hold,
    ];
    let proxy = proxy("h2,http/1.1", script);
    let (easy, app) = by_way_of(&proxy, "http://origin.example/");
    long(&easy, O::HttpProxyTunnel, 0);
    long(&easy, O::ProxyAuth, tables::constant::CURLAUTH_NTLM as i64);
    text(&easy, O::ProxyUserPwd, "me:secret");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.take(), b"one");
}
