//! Replies that no well-behaved server sends: what the application still receives, and curl's code and text.

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::http::{HttpServer, Response};
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire_engine::Easy;

/// Returns the result of a reply followed by the end of the connection: code, message, body.
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
        ("HTTP/1.1 100 Continue\r\nX: y\r\n", Code::GotNothing),
        ("HTTP/1.1 200 OK\r\nX: y\r\n", Code::Ok),
        ("HTTP/1.1 200 OK\r\nX: y\r\nno field\r\n", Code::Ok),
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

/// Valid status lines, tolerated ones, and invalid ones.
#[test]
fn odd_status_lines() {
    let rows = [
        ("HTTP/1.1 2000 x", Code::Ok, ""),
        ("HTTP/1.1\t200=OK", Code::Ok, ""),
        // A line that only begins like a status line counts as a 200, as in curl.
        ("http/1.1 404 Not Found", Code::Ok, ""),
        ("http/4", Code::Ok, ""),
        ("HTTP/2.0 404 Not Found", Code::Ok, ""),
        ("HTTP/3.7 304 Not Modified", Code::Ok, ""),
        ("HTTP/2 200", Code::Ok, ""),
        ("HTTP/3 200", Code::Ok, ""),
        ("HTTP/2 200 OK", Code::WeirdServerReply, "Version mismatch (from HTTP/1 to HTTP/2)"),
        ("HTTP/3 200 OK", Code::UnsupportedProtocol, "Unsupported HTTP version (3.0) in response"),
        ("HTTP/1.1 099 x", Code::UnsupportedProtocol, "Unsupported response code in HTTP response"),
        ("HTTP/1.1  200 OK", Code::UnsupportedProtocol, "Unsupported HTTP/1 subversion in response"),
        ("HTTP/1.2 200 OK", Code::UnsupportedProtocol, "Unsupported HTTP/1 subversion in response"),
        ("HTTP/0.9 200 OK", Code::UnsupportedProtocol, "Unsupported HTTP version in response"),
        ("HTTP 200 OK", Code::UnsupportedProtocol, "Received HTTP/0.9 when not allowed"),
        ("HTTP/1.1 2\x0000 OK", Code::UnsupportedProtocol, "Unsupported HTTP/1 subversion in response"),
        ("HTTP/1.1 200 \0", Code::WeirdServerReply, "Nul byte in header"),
        ("HTTP/1.1 200 \rOK", Code::WeirdServerReply, "Carriage return found in header"),
    ];
    for (line, code, words) in rows {
        let body = if code == Code::Ok { "ok" } else { "" };
        let wanted = (code, words.to_owned(), body.to_owned());
        assert_eq!(fetched(&format!("{line}\r\nContent-Length: 2\r\n\r\nok")), wanted, "{line:?}");
    }
}

#[test]
fn odd_fields() {
    let rows = [
        ("200 OK", "Content-Length: 2,02", Code::Ok, "", "ok"),
        (
            "200 OK",
            "Content-Length: 2\r\nContent-Length: 3",
            Code::WeirdServerReply,
            "Invalid Content-Length: value",
            "",
        ),
        ("204 No", "Content-Length: x\r\nTransfer-Encoding: chunked, gzip", Code::Ok, "", ""),
        (
            "200 OK",
            "Transfer-Encoding: chunked, gzip",
            Code::BadContentEncoding,
            "A Transfer-Encoding (gzip) was listed after chunked",
            "",
        ),
        ("200 OK", "Location: /a\r\nLocation: /b", Code::WeirdServerReply, "Multiple Location headers", ""),
        ("200 OK", "Location: /a\r\nLocation: /a\r\nLocation:", Code::Ok, "", "ok"),
        ("101 Go", "Upgrade: x", Code::Ok, "", "ok"),
    ];
    for (status, fields, code, words, body) in rows {
        let wanted = (code, words.to_owned(), body.to_owned());
        assert_eq!(fetched(&format!("HTTP/1.1 {status}\r\n{fields}\r\n\r\nok")), wanted, "{fields:?}");
    }
    let nothing = (Code::GotNothing, "Empty reply from server".to_owned(), String::new());
    assert_eq!(fetched("HTTP/1.1 101 Go\r\n\r\n"), nothing);
    let cut = (Code::PartialFile, "transfer closed with 6 bytes remaining to read".to_owned(), String::new());
    assert_eq!(fetched("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX"), cut);
}

/// A reply that another request follows need not be complete if the connection is not reused, and a document
/// that is not newer is not read.
// covers: CURLOPT_TIMECONDITION, CURLINFO_SIZE_DOWNLOAD_T
#[test]
fn bodies_that_nobody_reads_may_be_broken() {
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for body in ["Content-Length: 9\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"] {
        for (head, code) in [("Connection: close\r\n", Code::Ok), ("", Code::PartialFile)] {
            let moved = format!("HTTP/1.1 302 There\r\nLocation: /there\r\n{head}{body}");
            let peer = RawPeer::start(vec![
                vec![expect("\r\n\r\n"), send(&moved), Step::Finish],
                vec![expect("\r\n\r\n"), send(whole), Step::Finish],
            ]);
            let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
            long(&easy, O::FollowLocation, 1);
            let chunked = code != Code::Ok && body.contains("chunked");
            assert_eq!(easy.perform(), if chunked { Code::RecvError } else { code }, "{moved}");
        }
        let old = format!("HTTP/1.1 200 OK\r\nLast-Modified: Tue, 09 Nov 2010 14:49:00 GMT\r\n{body}");
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&old), Step::Finish]]);
        let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        long(&easy, O::TimeCondition, 1);
        long(&easy, O::TimeValue, 2_000_000_000);
        assert_eq!(easy.perform(), Code::Ok, "{old}");
        let info = easy.state().info.borrow();
        assert_eq!((info.downloaded, info.condition_unmet), (0, true));
    }
}

/// Data that could not be decoded, or exceeds the limit, does not count as downloaded.
// covers: CURLINFO_SIZE_DOWNLOAD_T, CURLOPT_MAXFILESIZE
#[test]
fn undelivered_bytes_are_not_counted() {
    let chunks = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    for (coding, limit, code, count) in [
        ("Content-Encoding: gzip\r\n", 0, Code::BadContentEncoding, 0),
        ("", 2, Code::FilesizeExceeded, 2),
        ("", 3, Code::Ok, 3),
    ] {
        let reply = format!("HTTP/1.1 200 OK\r\n{coding}{chunks}");
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&reply), Step::Finish]]);
        let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        text(&easy, O::AcceptEncoding, "");
        long(&easy, O::MaxFileSize, limit);
        assert_eq!((easy.perform(), easy.state().info.borrow().downloaded), (code, count), "{reply}");
    }
}

/// A line that begins with a line ending ends the head: what follows is body.
#[test]
fn a_head_ends_where_a_line_begins_with_its_end() {
    for (reply, body) in [
        ("A: b\r\n\rContent-Length: 1\r\n\r\nok", "\r\nok"),
        ("A: b\r\n\r\r\nC: d\r\n\r\nok", "C: d\r\n\r\nok"),
    ] {
        assert_eq!(fetched(&format!("HTTP/1.1 200 OK\r\n{reply}")), (Code::Ok, String::new(), body.into()));
    }
}

/// The request decides which parts of the reply are checked, and the error texts.
// covers: CURLOPT_TRANSFER_ENCODING, CURLOPT_MAXFILESIZE, CURLOPT_HTTP_VERSION, CURLINFO_RESPONSE_CODE,
// CURLINFO_HTTP_VERSION
#[test]
fn faults_depend_on_the_options() {
    let asked = |options: &[(O, i64)], reply: &str| {
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(reply), Step::Finish]]);
        let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        options.iter().for_each(|(option, value)| long(&easy, *option, *value));
        let code = easy.perform();
        let status = easy.state().info.borrow().response_code;
        (code, easy.state().message(), status)
    };
    let fine = |status| (Code::Ok, String::new(), status);
    let coded = |codings: &str| {
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {codings}\r\nContent-Length: 6\r\n\r\n")
    };
    assert_eq!(asked(&[(O::NoBody, 1)], &coded("chunked, gzip")), fine(200));
    let (code, words, _) = asked(&[(O::TransferEncoding, 1)], &coded("chunked, identity"));
    assert_eq!(code, Code::BadContentEncoding);
    assert_eq!(words, "Reject response due to 'chunked' not being the last Transfer-Encoding");
    // No coding is an answer, too, and then the end of the connection ends the body.
    assert_eq!(asked(&[(O::TransferEncoding, 1)], &coded("identity")), fine(200));
    let limited = [(O::NoBody, 1), (O::MaxFileSizeLarge, 5)];
    let (code, words, _) = asked(&limited, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n");
    assert_eq!((code, words.as_str()), (Code::FilesizeExceeded, "Maximum file size exceeded"));
    let (code, words, _) = asked(&[(O::HttpVersion, 1)], "HTTP/1.1 101 Go\r\n\r\nx");
    assert_eq!(code, Code::WeirdServerReply);
    assert_eq!(words, "server sent 101 response while not talking HTTP/1.1");
    assert_eq!(asked(&[(O::FailOnError, 1)], "HTTP/3 404\r\nContent-Length: 0\r\n\r\n"), fine(200));
    assert_eq!(asked(&[], "HTTP/1.1 403 \rNo\r\n\r\n").2, 403);
}

/// An empty first line is passed to the application like a head, before the error.
#[test]
fn an_empty_line_before_the_reply() {
    let peer =
        RawPeer::start(vec![vec![expect("\r\n\r\n"), send("\r\nHTTP/1.1 200 OK\r\n\r\n"), Step::Finish]]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(easy.perform(), Code::UnsupportedProtocol);
    assert_eq!(*app.headers.borrow(), b"\r\n");
    assert_eq!(easy.state().info.borrow().header_size, 2);
}

/// A Location that is an absolute URL is reported unencoded, and an invalid one as received.
// covers: CURLINFO_REDIRECT_URL
#[test]
fn a_location_of_its_own_is_not_encoded() {
    for (location, follows, reported) in [
        ("http://a.example/b c", 0, "http://a.example/b c"),
        ("https://a.example", 0, "https://a.example/"),
        ("http://[::1", 1, "http://[::1"),
        ("mailto:a", 1, "mailto:a"),
    ] {
        let reply = format!("HTTP/1.1 301 M\r\nContent-Length: 0\r\nLocation: {location}\r\n\r\n");
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&reply), Step::Finish]]);
        let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        long(&easy, O::FollowLocation, follows);
        long(&easy, O::MaxRedirs, 0);
        easy.perform();
        let state = easy.state();
        assert_eq!(state.info.borrow().rare.redirect_url.as_deref(), Some(reported.as_bytes()));
    }
}

/// The target of a redirect is reported whatever the status, after the whole reply.
// covers: CURLINFO_REDIRECT_URL
#[test]
fn a_location_is_reported_with_any_status() {
    for (reply, is_reported) in [
        ("200 OK\r\nLocation: /there\r\nContent-Length: 2\r\n\r\nok", true),
        ("103 Early\r\nLocation: /there\r\n\r\nHTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", true),
        ("200 OK\r\nLocation: /there\r\nContent-Length: 3\r\n\r\nok", false),
    ] {
        let reply = format!("HTTP/1.1 {reply}");
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&reply), Step::Finish]]);
        let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        easy.perform();
        let url = format!("http://127.0.0.1:{}/there", peer.port());
        let state = easy.state();
        let info = state.info.borrow();
        let found = info.rare.redirect_url.as_deref().map(|url| String::from_utf8_lossy(url).into_owned());
        assert_eq!(found, is_reported.then_some(url), "{reply}");
    }
}

/// CURLOPT_HTTP_TRANSFER_DECODING 0: everything is delivered, and the fault is reported.
// covers: CURLOPT_HTTP_TRANSFER_DECODING
#[test]
fn raw_chunks_are_delivered_even_if_malformed() {
    for (chunks, code) in [("2\r\nok\r\n0\r\n\r\nmore", Code::Ok), ("no chunk", Code::RecvError)] {
        let reply = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&reply), Step::Finish]]);
        let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        long(&easy, O::HttpTransferDecoding, 0);
        assert_eq!(easy.perform(), code);
        assert_eq!(String::from_utf8_lossy(&app.body.borrow()), chunks);
    }
}

#[test]
fn bytes_after_an_upgrade_are_delivered() {
    let reply = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\nhello in another protocol";
    assert_eq!(fetched(reply), (Code::Ok, String::new(), "hello in another protocol".to_owned()));
}

#[test]
fn redirects_to_nowhere_say_why() {
    let reply = "HTTP/1.1 301 M\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n";
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(reply), Step::Finish]]);
    let (easy, _app): (Easy, _) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    long(&easy, O::FollowLocation, 1);
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

/// curl 8.22's code and text (7.88 reports nothing): decoded data is delivered, and a truncated body is an
/// error. An empty body is not compressed data.
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
            let message_text = easy.state().message();
            if length == 0 || length == whole.len() {
                let body: &[u8] = if length == 0 { b"" } else { b"hello" };
                assert_eq!(
                    (code, &app.body.borrow()[..]),
                    (Code::Ok, body),
                    "{coding} {length}: {message_text}"
                );
            } else {
                let wanted = "Compressed content did not end cleanly, data truncated?";
                assert_eq!((code, &*message_text), (Code::BadContentEncoding, wanted), "{coding} {length}");
                assert!(b"hello".starts_with(&app.body.borrow()[..]), "{coding} {length}");
            }
        }
    }
}
