//! Bodies in both directions: pieces, streams, many at a time.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::join_all;
use object_store::client::HttpRequestBody;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use testkit::body::{fnv1a, pattern};
use testkit::http::HttpServer;

use super::{client, get, plain, store};

#[tokio::test]
async fn the_pieces_of_a_payload_arrive_as_one_body() {
    let server = HttpServer::plain();
    let whole = pattern(3_000_000);
    let payload: PutPayload = whole.chunks(70_001).map(Bytes::copy_from_slice).collect();
    let answer = format!("{} {:016x}\n", whole.len(), fnv1a(&whole));
    for body in [HttpRequestBody::from(payload), HttpRequestBody::from(whole.clone())] {
        let request = http::Request::put(server.url("/sum")).body(body).unwrap();
        let response = client(&plain()).execute(request).await.unwrap();
        assert_eq!(response.into_body().bytes().await.unwrap(), answer);
        assert_eq!(server.last_request().unwrap().all("Content-Length"), ["3000000"]);
    }
}

#[tokio::test]
async fn requests_without_a_body_announce_one_where_the_method_asks_for_it() {
    let server = HttpServer::plain();
    for (method, length) in [("GET", None), ("DELETE", None), ("PUT", Some("0")), ("POST", Some("0"))] {
        let request = http::Request::builder().method(method).uri(server.url("/sum"));
        let request = request.body(HttpRequestBody::empty()).unwrap();
        client(&plain()).execute(request).await.unwrap();
        let received = server.last_request().unwrap();
        assert_eq!((received.method.as_str(), received.field("Content-Length")), (method, length));
    }
}

#[tokio::test]
async fn a_response_is_a_stream_whose_length_is_known() {
    use http_body::Body;
    let server = HttpServer::plain();
    let response = client(&plain()).execute(get(&server.url("/drip/10/20/bytes/100"))).await.unwrap();
    let mut body = response.into_body();
    assert_eq!(body.size_hint().exact(), Some(100));
    let first = std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await;
    let first = first.unwrap().unwrap().into_data().unwrap();
    assert!(first.len() < 100, "the rest is still to come");
    assert_eq!(body.size_hint().exact(), Some(100 - first.len() as u64));
    let rest: Vec<Bytes> = body.bytes_stream().map(Result::unwrap).collect().await;
    assert_eq!([&first[..], &rest.concat()].concat(), pattern(100));
    let head = http::Request::head(server.url("/bytes/100")).body(HttpRequestBody::empty()).unwrap();
    let response = client(&plain()).execute(head).await.unwrap();
    assert_eq!(response.headers()["content-length"], "100");
    assert_eq!(response.into_body().size_hint().exact(), Some(0));
}

#[tokio::test]
async fn a_dropped_body_ends_its_transfer() {
    let server = HttpServer::plain();
    let response = client(&plain()).execute(get(&server.url("/drip/1/1000/bytes/100"))).await.unwrap();
    drop(response);
    let limit = std::time::Instant::now() + Duration::from_secs(10);
    while server.open() > 0 {
        assert!(std::time::Instant::now() < limit, "the connection is still open");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_ranges_are_read_at_a_time() {
    let server = HttpServer::plain();
    let store = store(server.url("/"));
    let (place, whole) = (Path::from("bytes/1000000"), pattern(1_000_000));
    let ranges: Vec<_> = (0..200_u64).map(|at| at * 4000..at * 4000 + 1500 + at).collect();
    let reads = join_all(ranges.iter().map(|range| store.get_range(&place, range.clone()))).await;
    for (range, read) in ranges.iter().zip(reads) {
        assert!(read.unwrap() == whole[range.start as usize..range.end as usize], "{range:?}");
    }
}
