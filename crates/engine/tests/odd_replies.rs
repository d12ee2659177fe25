//! Replies that no well-behaved server sends: what the application still gets, and the code and words that curl has.

mod common;

use common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::http::{HttpServer, Response};
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire_engine::Easy;

/// What comes of a reply that is followed by the end of the connection: code, message, body.
fn fetched(reply: &str) -> (Code, String, String) {
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(reply), Step::Finish]]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    let code = easy.perform();
    let body = String::from_utf8_lossy(&app.body.borrow()).into_owned();
    (code, easy.state().message(), body)
}

#[test]
fn broken_chunks_give_what_came_before_them() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let rows = [
        ("2\r\nokXX", "Malformed encoding found in chunked-encoding", "ok"),
        ("2\r\nok\r\nxx\r\n", "chunk hex-length char not a hex digit: 0x78", "ok"),
        ("11111111111111111\r\n", "chunk hex-length longer than 16", ""),
    ];
    for (chunks, words, body) in rows {
        let wanted = (Code::RecvError, words.to_owned(), body.to_owned());
        assert_eq!(fetched(&format!("{head}{chunks}")), wanted);
    }
}

#[test]
fn heads_that_end_too_soon() {
    for (head, code) in [
        ("", Code::GotNothing),
        ("HTTP/1.1 200 O", Code::GotNothing),
        ("HTT", Code::GotNothing),
        ("HTTP/1.1 100 Continue\r\n\r\n", Code::GotNothing),
        ("HTTP/1.1 200 OK\r\nX: y\r\n", Code::Ok),
        ("HTTP/1.1 200 OK\r\nContent-Le", Code::Ok),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", Code::Ok),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX", Code::PartialFile),
    ] {
        assert_eq!(fetched(head).0, code, "{head:?}");
    }
}

#[test]
fn the_first_field_may_begin_with_a_blank() {
    let reply = "HTTP/1.1 200 OK\r\n X-A: a\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(fetched(reply), (Code::Ok, String::new(), "ok".to_owned()));
}

#[test]
fn what_another_protocol_says_goes_to_the_application() {
    let reply = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\nhello in another protocol";
    assert_eq!(fetched(reply), (Code::Ok, String::new(), "hello in another protocol".to_owned()));
}

#[test]
fn redirects_to_nowhere_say_why() {
    let reply = "HTTP/1.1 301 M\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n";
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(reply), Step::Finish]]);
    let (easy, _app): (Easy, _) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    long(&easy, O::Followlocation, 1);
    assert_eq!(easy.perform(), Code::UrlMalformat);
    assert_eq!(easy.state().message(), "The redirect target URL could not be parsed: Bad IPv6 address");
}

/// covers: CURLOPT_URL
#[test]
fn urls_go_out_as_they_were_given() {
    let server = HttpServer::plain();
    let port = server.port();
    let rows =
        [("/ok/\u{e9}?a=\"<>", "/ok/%C3%A9?a=\"<>"), ("/a/../b?x=\"<>", "/b?x=\"<>"), ("/p?#frag", "/p?")];
    for (given, sent) in rows {
        let (easy, _app) = handle(&format!("http://LOCALHOST:{port}{given}"));
        assert_eq!(easy.perform(), Code::Ok, "{given}");
        let request = server.last_request().unwrap();
        let host = format!("LOCALHOST:{port}");
        assert_eq!((request.target.as_str(), request.field("Host")), (sent, Some(host.as_str())));
    }
    let (easy, _app) = handle(&format!("http://localhost:{port}/a b"));
    assert_eq!(easy.perform(), Code::UrlMalformat);
}

#[test]
fn a_zero_in_a_name_is_no_name() {
    let (easy, _app) = handle("http://unused.example/");
    text(&easy, O::Url, "http://%00u:p@127.0.0.1:1/");
    assert_eq!(easy.perform(), Code::UrlMalformat);
}

/// curl 8.22's code and words (7.88 says nothing): what was decoded is handed out, and what is missing is an error. Nothing at all
/// is no compressed data.
// covers: CURLOPT_ACCEPT_ENCODING, CURLE_BAD_CONTENT_ENCODING
#[test]
fn compressed_bodies_that_end_too_soon() {
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
    let deflate = b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15";
    let zstd = b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello";
    let rows: [(&str, &[u8]); 4] =
        [("gzip", gzip), ("deflate", deflate), ("br", b"\x0b\x02\x80hello\x03"), ("zstd", zstd)];
    for (coding, whole) in rows {
        for length in 0..=whole.len() {
            let body = whole[..length].to_vec();
            let server =
                HttpServer::with(move |_| Some(Response::ok(body.clone()).with("Content-Encoding", coding)));
            let (easy, app) = handle(&server.url("/"));
            text(&easy, O::AcceptEncoding, "");
            let code = easy.perform();
            let said = easy.state().message();
            if length == 0 || length == whole.len() {
                let body: &[u8] = if length == 0 { b"" } else { b"hello" };
                assert_eq!((code, &app.body.borrow()[..]), (Code::Ok, body), "{coding} {length}: {said}");
            } else {
                let wanted = "Compressed content did not end cleanly, data truncated?";
                assert_eq!((code, &*said), (Code::BadContentEncoding, wanted), "{coding} {length}");
                assert!(b"hello".starts_with(&app.body.borrow()[..]), "{coding} {length}");
            }
        }
    }
}
