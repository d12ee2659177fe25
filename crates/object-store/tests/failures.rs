//! Failures: the kind of each, and whether object_store tries again.

use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::client::{HttpErrorKind, HttpRequest};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::raw::{RawPeer, Script, SilentPeer, Step, cut_after, expect, send};
use warmwire_object_store::WarmwireConnector;

use super::{client, get, plain, store};

/// Returns the kind of the failure of a request, or of its body.
async fn kind(options: ClientOptions, request: HttpRequest) -> HttpErrorKind {
    let error = match client(&options).execute(request).await {
        Ok(response) => response.into_body().bytes().await.unwrap_err(),
        Err(error) => error,
    };
    println!("{:?}: {error}", error.kind());
    error.kind()
}

fn peer(script: Script) -> (RawPeer, String) {
    let peer = RawPeer::start(vec![script]);
    let url = format!("http://{}/object", peer.address());
    (peer, url)
}

#[tokio::test]
async fn a_request_that_was_not_sent_fails_by_connect() {
    let refused = format!("http://127.0.0.1:{}/", RawPeer::refused_port());
    assert_eq!(kind(plain(), get(&refused)).await, HttpErrorKind::Connect);
    assert_eq!(kind(plain(), get("http://name.invalid/")).await, HttpErrorKind::Connect);
    let silent = SilentPeer::start().unwrap();
    let handshake = format!("https://{}/", silent.address());
    let hurried = ClientOptions::new().with_connect_timeout(Duration::from_millis(200));
    assert_eq!(kind(hurried, get(&handshake)).await, HttpErrorKind::Connect);
}

#[tokio::test]
async fn a_request_that_was_sent_fails_by_what_happened_to_it() {
    let (_peer, url) = peer(vec![expect("\r\n\r\n"), Step::Hold]);
    let hurried = plain().with_timeout(Duration::from_millis(200));
    assert_eq!(kind(hurried, get(&url)).await, HttpErrorKind::Timeout);
    let stalled = plain().with_read_timeout(Duration::from_millis(200));
    assert_eq!(kind(stalled, get(&url)).await, HttpErrorKind::Timeout);
    let (_peer, url) = peer(vec![expect("\r\n\r\n"), Step::Reset]);
    assert_eq!(kind(plain(), get(&url)).await, HttpErrorKind::Interrupted);
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    let (_peer, url) = peer(cut_after(answer, answer.len()));
    assert_eq!(kind(plain(), get(&url)).await, HttpErrorKind::Interrupted);
    let senseless = send("HTTP/1.1 200 OK\r\nContent-Length: none\r\n\r\n");
    let (_peer, url) = peer(vec![expect("\r\n\r\n"), senseless, Step::Finish]);
    assert_eq!(kind(plain(), get(&url)).await, HttpErrorKind::Decode);
}

#[tokio::test]
async fn a_refusal_is_not_retried() {
    let server = HttpServer::plain();
    let secure_only = ClientOptions::new();
    assert_eq!(kind(secure_only, get(&server.url("/bytes/3"))).await, HttpErrorKind::Unknown);
    assert_eq!(server.accepts(), 0);
    assert_eq!(kind(plain(), get(&server.url("/redirect/20"))).await, HttpErrorKind::Unknown);
    let authority = Authority::new();
    let secure = HttpServer::tls(authority.good().server_config().unwrap());
    assert_eq!(kind(ClientOptions::new(), get(&secure.url("/bytes/3"))).await, HttpErrorKind::Unknown);
}

const OBJECT: &str = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: Sun, 29 Nov 2026 10:00:00 GMT\r\n\
                      Content-Length: 8\r\n\r\nwhole ob";

#[tokio::test]
async fn object_store_repeats_a_get_whose_connection_broke() {
    let broken = vec![expect("\r\n\r\n"), Step::Reset];
    let peer = RawPeer::start(vec![broken, vec![expect("\r\n\r\n"), send(OBJECT), Step::Finish]]);
    let store = store(format!("http://{}/", peer.address()));
    let bytes = store.get(&Path::from("object")).await.unwrap().bytes().await.unwrap();
    assert_eq!((&bytes[..], peer.accepts()), (&b"whole ob"[..], 2));
}

#[tokio::test]
async fn object_store_reads_the_rest_of_a_body_that_was_cut() {
    let rest = "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\n\
                Last-Modified: Sun, 29 Nov 2026 10:00:00 GMT\r\nContent-Range: bytes 5-7/8\r\n\
                Content-Length: 3\r\n\r\n ob";
    let cut = cut_after(OBJECT.as_bytes(), OBJECT.len() - 3);
    let peer = RawPeer::start(vec![cut, vec![expect("bytes=5-7\r\n"), send(rest), Step::Finish]]);
    let store = store(format!("http://{}/", peer.address()));
    let bytes = store.get(&Path::from("object")).await.unwrap().bytes().await.unwrap();
    assert_eq!((&bytes[..], peer.accepts()), (&b"whole ob"[..], 2));
}

#[tokio::test]
async fn object_store_does_not_repeat_what_may_have_been_executed() {
    let peer = RawPeer::start(vec![vec![expect("content"), Step::Reset]]);
    let builder = AmazonS3Builder::new().with_bucket_name("bucket").with_skip_signature(true);
    let builder = builder.with_endpoint(format!("http://{}", peer.address())).with_allow_http(true);
    let store = builder.with_http_connector(WarmwireConnector::new()).build().unwrap();
    let (place, created) = (Path::from("object"), PutOptions::from(PutMode::Create));
    store.put_opts(&place, "content".into(), created).await.unwrap_err();
    assert_eq!(peer.accepts(), 1, "a second one would find the object of the first");
}
