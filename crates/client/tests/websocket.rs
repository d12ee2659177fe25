//! WebSocket, against servers of other projects and scripted ones.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use futures_sink::Sink;
use testkit::body::pattern;
use testkit::http::HttpServer;
use testkit::launch::{Echo, EchoKind};
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire::blocking::{Client, WebSocket};
use warmwire::websocket::{CloseFrame, Message};
use warmwire::{Code, Error};

fn open(url: &str) -> Result<WebSocket, Error> {
    Client::builder().timeout(Duration::from_secs(60)).build()?.get(url).header("x-a", "1").websocket()
}

#[test]
fn messages_are_echoed() {
    for kind in EchoKind::ALL {
        let server = Echo::start(kind, false).unwrap();
        let mut socket = open(&server.url("/")).unwrap();
        let big = Message::Binary(pattern(300_000).into());
        for message in [Message::Text("grüße".to_owned()), big, Message::Binary(Vec::new().into())] {
            socket.send(message.clone()).unwrap();
            assert_eq!(socket.recv().unwrap(), Some(message), "{kind:?}");
        }
        socket.send(Message::Ping(vec![1, 2].into())).unwrap();
        assert_eq!(socket.recv().unwrap(), Some(Message::Pong(vec![1, 2].into())));
        let too_long = socket.send(Message::Ping(vec![0; 126].into())).unwrap_err();
        assert!(too_long.is_builder(), "{too_long:?}");
        let frame = CloseFrame { code: 1000, reason: "done".to_owned() };
        socket.close(Some(frame)).unwrap();
        assert_eq!(socket.send(Message::Text("late".to_owned())).unwrap_err().code(), Code::SendError);
        assert!(matches!(socket.recv().unwrap(), Some(Message::Close(Some(CloseFrame { code: 1000, .. })))));
        assert_eq!((socket.recv().unwrap(), socket.recv().unwrap()), (None, None));
    }
}

const UPGRADE: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

/// Returns a WebSocket to a peer that sends these bytes after the handshake, and the peer.
fn after_handshake(bytes: &[u8], more: Vec<Step>) -> (Result<WebSocket, Error>, RawPeer) {
    let start = vec![expect("\r\n\r\n"), Step::Send([UPGRADE.as_bytes(), bytes].concat())];
    let peer = RawPeer::start(vec![[start, more].concat()]);
    (open(&format!("ws://{}/", peer.address())), peer)
}

#[test]
fn pings_and_goodbyes_are_answered() {
    // A text in two fragments with a ping between them, then the end.
    let frames = b"\x01\x02ab\x89\x01p\x80\x01c\x88\x04\x03\xe8ok";
    let (opened, peer) = after_handshake(frames, vec![Step::ExpectBytes(7 + 10), Step::Finish]);
    let mut socket = opened.unwrap();
    assert_eq!(socket.recv().unwrap(), Some(Message::Ping(b"p"[..].into())));
    assert_eq!(socket.recv().unwrap(), Some(Message::Text("abc".to_owned())));
    let frame = CloseFrame { code: 1000, reason: "ok".to_owned() };
    assert_eq!(socket.recv().unwrap(), Some(Message::Close(Some(frame))));
    assert_eq!(socket.recv().unwrap(), None);
    peer.wait_for_ends(1);
    let received = &peer.received()[0];
    let answers = &received[received.len() - 17..];
    assert_eq!((&answers[..2], &answers[7..9]), (&b"\x8a\x81"[..], &b"\x88\x84"[..]));
    let head = String::from_utf8_lossy(received);
    assert!(head.contains("\r\nx-a: 1\r\n") && !head.to_lowercase().contains("accept-encoding"), "{head}");
}

#[test]
fn bad_frames_are_errors_and_the_end() {
    let rows: [(&str, &[u8], Code); 6] = [
        ("RFC 6455 §8.1: no UTF-8", b"\x81\x01\xff", Code::BadContentEncoding),
        ("RFC 6455 §5.1: masked", b"\x82\x81aaaaa", Code::RecvError),
        ("RFC 6455 §5.5.1: half a code", b"\x88\x01\x03", Code::RecvError),
        ("RFC 6455 §7.4.1: a code that is never sent", b"\x88\x02\x03\xed", Code::RecvError),
        ("RFC 6455 §5.2: reserved bits", b"\xc2\x00", Code::RecvError),
        ("RFC 6455 §7.1.5: no close frame", b"", Code::GotNothing),
    ];
    for (name, frames, code) in rows {
        let (opened, _peer) = after_handshake(frames, vec![Step::Finish]);
        let mut socket = opened.unwrap();
        assert_eq!(socket.recv().unwrap_err().code(), code, "{name}");
        assert_eq!(socket.recv().unwrap(), None, "{name}");
    }
    // A length beyond the limit fails without waiting for it.
    let long = [&b"\x82\x7f\0\0\0\0\x7f\0\0\0"[..], &vec![0; 80 << 20]].concat();
    let (opened, _peer) = after_handshake(&long, vec![Step::Hold]);
    let mut socket = opened.unwrap();
    assert_eq!(socket.recv().unwrap_err().code(), Code::TooLarge);
}

#[test]
fn what_is_no_websocket_is_refused() {
    let server = HttpServer::plain();
    let url = |path: &str| server.url(path).replace("http:", "ws:");
    for status in [200, 404] {
        let error = open(&url(&format!("/status/{status}"))).unwrap_err();
        assert_eq!(error.code(), Code::HttpReturnedError, "{status}: {error:?}");
    }
    assert!(open(&server.url("/")).unwrap_err().is_builder());
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send("HTTP/1.1 101 Ok\r\n"), Step::Hold]]);
    let client = Client::builder().timeout(Duration::from_millis(300)).build().unwrap();
    assert!(client.get(format!("ws://{}/", peer.address())).websocket().unwrap_err().is_timeout());
}

/// One task sends while another waits for messages: neither takes the other's wake-up.
#[test]
fn two_tasks_share_a_stream_and_a_sink() {
    let server = Echo::start(EchoKind::Python, false).unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = warmwire::Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
    tokio.block_on(async {
        let socket = client.get(server.url("/")).websocket().await.unwrap();
        let socket = std::sync::Arc::new(std::sync::Mutex::new(socket));
        let sends = socket.clone();
        let sender = tokio::spawn(async move {
            for number in 0..200_u32 {
                let mut message = Some(Message::Text(format!("{number} {}", "x".repeat(5000))));
                poll_fn(|cx| {
                    let mut socket = sends.lock().unwrap();
                    if message.is_some() {
                        std::task::ready!(Pin::new(&mut *socket).poll_ready(cx))?;
                        message
                            .take()
                            .into_iter()
                            .try_for_each(|message| Pin::new(&mut *socket).start_send(message))?;
                    }
                    Pin::new(&mut *socket).poll_flush(cx)
                })
                .await?;
                tokio::task::yield_now().await;
            }
            Ok::<(), Error>(())
        });
        for number in 0..200_u32 {
            let next = poll_fn(|cx| Pin::new(&mut *socket.lock().unwrap()).poll_next(cx)).await;
            let Some(Ok(Message::Text(text))) = next else { panic!("{next:?}") };
            assert!(text.starts_with(&format!("{number} ")));
        }
        sender.await.unwrap().unwrap();
        let mut closed = pin!(poll_fn(|cx| Pin::new(&mut *socket.lock().unwrap()).poll_close(cx)));
        poll_fn(|cx| closed.as_mut().poll(cx)).await.unwrap();
        let end = poll_fn(|cx| Pin::new(&mut *socket.lock().unwrap()).poll_next(cx)).await;
        assert!(matches!(end, Some(Ok(Message::Close(_)))), "{end:?}");
        assert!(
            poll_fn(|cx| Poll::Ready(Pin::new(&mut *socket.lock().unwrap()).poll_next(cx))).await.is_ready()
        );
    });
}
