//! Bodies that are read and written piece by piece, and the amount buffered meanwhile.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use testkit::body::{fnv1a, pattern};
use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::launch::Nginx;
use testkit::raw::{RawPeer, SilentPeer, Step, expect, send};
use warmwire::{Body, Client, ErrorKind};

use super::{everywhere, once, sleep, until};

/// A number of pieces of a size; counts those that were requested, and fails at one of them.
struct Pieces {
    left: usize,
    size: usize,
    given: Arc<AtomicUsize>,
    fails_at: Option<usize>,
    /// Whether it returns nothing every other time, and is ready a moment later.
    hesitates: bool,
}

impl Pieces {
    fn new(count: usize, size: usize) -> Pieces {
        Pieces { left: count, size, given: Arc::default(), fails_at: None, hesitates: false }
    }
}

impl Stream for Pieces {
    type Item = Result<Vec<u8>, std::io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.hesitates = !self.hesitates;
        if self.hesitates {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let given = self.given.fetch_add(1, Ordering::SeqCst);
        if self.fails_at == Some(given) {
            return Poll::Ready(Some(Err(std::io::Error::other("the disk is gone"))));
        }
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(vec![given as u8; self.size])))
    }
}

fn sent(count: usize, size: usize) -> Vec<u8> {
    (0..count).flat_map(|at| vec![at as u8; size]).collect()
}

#[test]
fn an_upload_is_streamed() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let (count, size) = (50, 40_000);
        let expected = sent(count, size);
        let answer = format!("{} {:016x}\n", expected.len(), fnv1a(&expected));
        for length in [None, Some(expected.len() as u64)] {
            for method in ["PUT", "POST"] {
                let body = Body::wrap_stream(Pieces::new(count, size));
                let body = match length {
                    Some(length) => body.with_length(length),
                    None => body,
                };
                let reply = client
                    .request(method.parse().unwrap(), server.url("/sum"))
                    .body(body)
                    .send()
                    .await
                    .unwrap();
                assert_eq!(reply.text().await.unwrap(), answer);
                let request = server.last_request().unwrap();
                assert_eq!(request.method, method);
                let chunked = request.field("Transfer-Encoding") == Some("chunked");
                assert_eq!(chunked, length.is_none());
            }
        }
    });
}

#[test]
fn nobody_is_asked_for_more_than_is_sent() {
    everywhere(Client::builder, |client| async move {
        // The server accepts what the kernel buffers, a few megabytes, and no more.
        let server = SilentPeer::start().unwrap();
        let pieces = Pieces::new(16_384, 65_536);
        let given = pieces.given.clone();
        let url = format!("http://{}/", server.address());
        let mut sending = Box::pin(client.put(&url).body(Body::wrap_stream(pieces)).send());
        let mut before = usize::MAX;
        // Until nothing has been requested for half a second.
        while given.load(Ordering::SeqCst) != before {
            before = given.load(Ordering::SeqCst);
            for _ in 0..50 {
                assert!(once(sending.as_mut()).await.is_none());
                sleep(Duration::from_millis(10)).await;
            }
        }
        assert!((1..1024).contains(&before), "{before} pieces of 64 KiB were asked for");
    });
}

#[test]
fn a_source_that_fails_is_the_error() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let pieces = Pieces { fails_at: Some(3), ..Pieces::new(10, 1000) };
        let error = client.put(server.url("/sum")).body(Body::wrap_stream(pieces)).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Body);
        assert!(std::error::Error::source(&error).unwrap().to_string().contains("the disk is gone"));
        until("the end of the connection", || server.open() == 0).await;
    });
}

#[test]
fn pieces_are_one_body_and_are_sent_again_after_a_redirect() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let whole = sent(200, 1000);
        let pieces = || whole.chunks(999).map(bytes::Bytes::copy_from_slice).collect::<Body>();
        let answer = format!("{} {:016x}\n", whole.len(), fnv1a(&whole));
        for method in ["PUT", "POST", "DELETE"] {
            let request = || client.request(method.parse().unwrap(), server.url("/sum")).body(pieces());
            for request in [request(), request().try_clone().unwrap()] {
                assert_eq!(request.send().await.unwrap().text().await.unwrap(), answer);
                let received = server.last_request().unwrap();
                assert_eq!(
                    (received.method.as_str(), received.field("Content-Length")),
                    (method, Some("200000"))
                );
            }
        }
        let reply = client.put(server.url("/redirect/1/308")).body(pieces()).send().await.unwrap();
        assert_eq!(reply.status(), 200);
        assert!(server.last_request().unwrap().body == whole);
    });
}

#[test]
fn a_stream_is_not_sent_twice() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let body = Body::wrap_stream(Pieces::new(10, 1000));
        let error = match client.put(server.url("/redirect/1/308")).body(body).send().await {
            Ok(reply) => panic!("{reply:?}"),
            Err(error) => error,
        };
        assert_eq!((error.kind(), error.code()), (ErrorKind::Upload, warmwire::Code::SendFailRewind));
    });
}

/// Kilobytes of this process's memory that are resident.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_slow_reader_holds_the_sender() {
    let server = Nginx::start(&Authority::new().good(), &[]).unwrap();
    server.sparse("big", 1 << 30).unwrap();
    let url = server.http("/big");
    everywhere(Client::builder, |client| {
        let url = url.clone();
        async move {
            let mut reply = client.get(&url).window(64 * 1024).send().await.unwrap();
            assert_eq!(reply.content_length(), Some(1 << 30));
            let mut taken = 0;
            for _ in 0..20 {
                sleep(Duration::from_millis(20)).await;
                let piece = reply.chunk().await.unwrap().unwrap();
                // A window and one receive; twice, if both buffers were full.
                assert!(piece.len() <= 2 * (64 + 256) * 1024, "{} bytes at once", piece.len());
                taken += piece.len();
            }
            assert!(taken > 20 * 1024, "{taken}");
            // The rest of a gigabyte is where it was: other tests of this process have a hundred megabytes at
            // most.
            assert!(resident() < 512 * 1024, "{} KB", resident());
        }
    });
}

#[test]
fn a_paused_body_goes_on_where_it_was() {
    everywhere(
        || Client::builder().window(10_000),
        |client| async move {
            let server = HttpServer::plain();
            let mut reply = client.get(server.url("/bytes/3000000")).send().await.unwrap();
            sleep(Duration::from_millis(100)).await;
            let mut body = Vec::new();
            while let Some(piece) = reply.chunk().await.unwrap() {
                if body.is_empty() {
                    sleep(Duration::from_millis(50)).await;
                }
                body.extend(piece);
            }
            assert!(body == pattern(3_000_000));
        },
    );
}

#[test]
fn a_large_body_is_received_as_a_whole() {
    everywhere(Client::builder, |client| async move {
        let (server, size) = (HttpServer::plain(), 3_000_000);
        let whole = pattern(size);
        for path in ["bytes/3000000", "chunked/3000000/7000", "gzip/3000000", "drip/300000/5/bytes/3000000"] {
            let url = server.url(&format!("/{path}"));
            let reply = client.get(&url).send().await.unwrap();
            assert!(reply.bytes().await.unwrap() == whole, "{path}");
            let mut reply = client.get(&url).window(1000).send().await.unwrap();
            let mut body = reply.chunk().await.unwrap().unwrap().to_vec();
            body.extend(reply.bytes().await.unwrap());
            assert!(body == whole, "{path}, the first piece apart");
        }
        let reply = client.get(server.url("/cut/1000000/bytes/3000000")).send().await.unwrap();
        let error = reply.bytes().await.unwrap_err();
        assert_eq!(error.code(), warmwire::Code::PartialFile);
        // Dropped in the middle.
        let reply = client.get(server.url("/drip/10000/50/bytes/3000000")).send().await.unwrap();
        assert!(once(std::pin::pin!(reply.bytes())).await.is_none());
        until("the end of its connection", || server.open() <= 1).await;
    });
}

#[test]
fn a_reply_is_a_stream() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let mut pieces = client.get(server.url("/chunked/10000/100")).send().await.unwrap().bytes_stream();
        let mut length = 0;
        while let Some(piece) = std::future::poll_fn(|cx| Pin::new(&mut pieces).poll_next(cx)).await {
            length += piece.unwrap().len();
        }
        assert_eq!(length, 10_000);
    });
}

/// A server that replies at once and reads the rest afterwards: data that becomes available meanwhile is
/// sent.
#[test]
fn an_upload_goes_on_while_the_reply_is_read() {
    everywhere(Client::builder, |client| async move {
        let (count, size) = (100, 10_000);
        let server = RawPeer::start(vec![vec![
            expect("\r\n\r\n"),
            send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nea"),
            Step::ExpectBytes(count * size),
            send("rl"),
            Step::ReadAll,
        ]]);
        let body = Body::wrap_stream(Pieces::new(count, size)).with_length((count * size) as u64);
        let url = format!("http://{}/", server.address());
        let reply = client.post(&url).body(body).send().await.unwrap();
        assert_eq!(reply.text().await.unwrap(), "earl");
        assert!(server.received()[0].ends_with(&sent(count, size)));
    });
}
