//! Failures, each of its kind, and transfers that are broken off.

use std::time::{Duration, Instant};

use testkit::http::HttpServer;
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire::{Client, Code, EasyOption, ErrorKind, RequestPhase, Tokio};

use super::{SOON, client_and_driver, everywhere, once, sleep, tokio_on_one_thread, until};

#[test]
fn failures_say_what_failed_and_how_far_it_was() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let refused = format!("http://127.0.0.1:{}/", RawPeer::refused_port());
        for (url, kind, code, reached) in [
            (refused.as_str(), ErrorKind::Connect, Code::CouldntConnect, RequestPhase::Resolved),
            ("nope://x/", ErrorKind::Url, Code::UnsupportedProtocol, RequestPhase::Nothing),
            ("http://", ErrorKind::Url, Code::UrlMalformat, RequestPhase::Nothing),
            (&server.url("/cut/0/bytes/10"), ErrorKind::Transport, Code::GotNothing, RequestPhase::Sent),
        ] {
            let error = client.get(url).send().await.unwrap_err();
            assert_eq!((error.kind(), error.code(), error.reached()), (kind, code, reached), "{error:?}");
            assert!(error.to_string().starts_with(&format!("({}) ", code.id())), "{error}");
        }
        let reply = client.get(server.url("/cut/500/bytes/1000")).send().await.unwrap();
        let error = reply.bytes().await.unwrap_err();
        assert_eq!((error.kind(), error.reached()), (ErrorKind::Incomplete, RequestPhase::Answered));
        assert!(
            error.timings().unwrap().downloaded > 0
                && error.url().unwrap().as_str() == server.url("/cut/500/bytes/1000")
        );
        let missing = client.get(server.url("/status/404")).send().await.unwrap().error_for_status();
        let error = missing.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Status, Code::HttpReturnedError));
    });
}

/// Replies that fail behind their head, in the same segment or in the next one.
const FAILING_BODIES: [(&str, ErrorKind); 4] = [
    ("Content-Length: 10\r\n\r\n", ErrorKind::Incomplete),
    ("Transfer-Encoding: chunked\r\n\r\n", ErrorKind::Incomplete),
    ("Transfer-Encoding: chunked\r\n\r\nno size\r\n", ErrorKind::Transport),
    ("Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\nno gzip", ErrorKind::Decode),
];

fn fails_behind_its_head(rest: &str) -> (RawPeer, String) {
    let answer = format!("HTTP/1.1 404 Not Found\r\nX-A: 1\r\n{rest}");
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&answer), Step::Cut]]);
    let url = format!("http://{}/", peer.address());
    (peer, url)
}

#[test]
fn a_body_that_fails_behind_its_head_leaves_the_response() {
    everywhere(Client::builder, |client| async move {
        for (rest, kind) in FAILING_BODIES {
            let (_peer, url) = fails_behind_its_head(rest);
            let mut reply = client.get(&url).send().await.unwrap();
            assert_eq!((reply.status().as_u16(), reply.headers()["x-a"].as_bytes()), (404, &b"1"[..]));
            let error = reply.chunk().await.unwrap_err();
            assert_eq!((error.kind(), error.reached()), (kind, RequestPhase::Answered), "{rest:?} {error:?}");
            assert!(reply.chunk().await.unwrap().is_none() && reply.timings().is_none());
        }
    });
    let client = warmwire::blocking::Client::new();
    for (rest, kind) in FAILING_BODIES {
        let (_peer, url) = fails_behind_its_head(rest);
        let mut reply = client.get(&url).send().unwrap();
        assert_eq!(reply.status(), 404);
        assert_eq!(reply.chunk().unwrap_err().kind(), kind, "{rest:?}");
    }
}

#[test]
fn a_reply_that_is_refused_is_no_response() {
    everywhere(Client::builder, |client| async move {
        // The redirect has a head, and its target has none.
        let refused = RawPeer::refused_port();
        let moved = format!("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{refused}/\r\n");
        let peer = answers(&format!("{moved}Content-Length: 0\r\n\r\n"));
        let error = client.get(format!("http://{}/", peer.address())).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect, "{error:?}");
        let server = HttpServer::plain();
        let request = client.get(server.url("/status/404")).option(EasyOption::FailOnError, true);
        assert_eq!(request.send().await.unwrap_err().kind(), ErrorKind::Status);
        let request = client.get(server.url("/bytes/100")).option(EasyOption::MaxFileSizeLarge, 10);
        assert_eq!(request.send().await.unwrap_err().code(), Code::FilesizeExceeded);
    });
}

#[test]
fn an_invalid_request_is_refused_by_send() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let get = || client.get(server.url("/bytes/1"));
        for request in [
            get().header("X-Two", "lines\r\nX-More: yes"),
            get().header("X-Two\r\n", "x"),
            get().header("", "x"),
            get().cookie("a", "b; c"),
            get().option(EasyOption::HttpHeader, "no list"),
            get().option(EasyOption::TimeoutMs, -1),
        ] {
            let error = request.send().await.unwrap_err();
            assert_eq!(
                (error.kind(), error.reached()),
                (ErrorKind::Option, RequestPhase::Nothing),
                "{error:?}"
            );
        }
        assert_eq!(server.accepts(), 0);
        assert_eq!(get().send().await.unwrap().status(), 200);
    });
}

/// Receives a request, replies with this text, and notices when the client has left.
fn answers(text: &str) -> RawPeer {
    RawPeer::start(vec![vec![expect("\r\n\r\n"), send(text), Step::ReadAll]])
}

#[test]
fn time_limits() {
    let builder = || Client::builder().read_timeout(Duration::from_millis(300));
    everywhere(builder, |client| async move {
        let began = Instant::now();
        let server = answers("");
        let url = format!("http://{}/", server.address());
        let error = client.get(&url).timeout(Duration::from_millis(200)).send().await.unwrap_err();
        assert!(error.is_timeout() && error.code() == Code::OperationTimedout, "{error:?}");
        assert_eq!(error.reached(), RequestPhase::Sent);
        until("the end of the connection", || server.ends() == 1).await;
        let server = answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        let url = format!("http://{}/", server.address());
        let reply = client.get(&url).send().await.unwrap();
        let stalled = Instant::now();
        let error = reply.bytes().await.unwrap_err();
        assert!(stalled.elapsed() < Duration::from_millis(900), "whole seconds were counted");
        assert!(error.is_timeout() && error.reached() == RequestPhase::Answered, "{error:?}");
        assert!(began.elapsed() < 3 * SOON);
        until("the end of the connection", || server.ends() == 1).await;
    });
}

#[test]
fn a_dropped_future_closes_its_connection() {
    everywhere(Client::builder, |client| async move {
        // One waits for its head, and the body of the other is half read.
        let (silent, half) = (answers(""), answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
        let mut waiting = Box::pin(client.get(format!("http://{}/", silent.address())).send());
        while silent.accepts() < 1 {
            assert!(once(waiting.as_mut()).await.is_none());
            sleep(Duration::from_millis(5)).await;
        }
        let mut reading = client.get(format!("http://{}/", half.address())).send().await.unwrap();
        assert_eq!(reading.chunk().await.unwrap().unwrap(), "half");
        assert_eq!((silent.ends(), half.ends()), (0, 0));
        drop((waiting, reading));
        until("the end of the connections", || (silent.ends(), half.ends()) == (1, 1)).await;
        // The client is as good as before.
        let server = HttpServer::plain();
        assert_eq!(client.get(server.url("/bytes/5")).send().await.unwrap().bytes().await.unwrap().len(), 5);
    });
}

#[test]
fn without_a_driver_nothing_is_begun() {
    let tokio = tokio_on_one_thread();
    let (client, driver) = client_and_driver();
    drop(driver);
    let error = tokio.block_on(client.get("http://127.0.0.1:1/").send()).unwrap_err();
    assert_eq!((error.kind(), error.reached()), (ErrorKind::Driver, RequestPhase::Nothing));
}

#[test]
fn transfers_end_with_their_driver() {
    let server = answers("");
    let (client, driver) = client_and_driver();
    let tokio = tokio_on_one_thread();
    let mut waiting = Box::pin(client.get(format!("http://{}/", server.address())).send());
    tokio.block_on(driver.run_until(Tokio, async {
        while server.accepts() == 0 {
            assert!(once(waiting.as_mut()).await.is_none());
            sleep(Duration::from_millis(5)).await;
        }
    }));
    let error = tokio.block_on(waiting).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Driver);
    tokio.block_on(until("the end of the connection", || server.ends() == 1));
}

#[test]
fn a_driver_is_over_with_its_last_client() {
    let (client, driver) = client_and_driver();
    drop(client);
    tokio_on_one_thread().block_on(driver.run(Tokio)).unwrap();
    let (client, driver) = client_and_driver();
    let thread = std::thread::spawn(|| driver.run_blocking());
    drop(client);
    thread.join().unwrap().unwrap();
}
