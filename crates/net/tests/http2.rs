//! HTTP/2 on real sockets: our session and driver on this crate's runtime, the `h2` crate as the server on a
//! thread.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use crate::common::{block_on, bytes, key_of, open, runtime};
use bytes::Bytes;
use h2::server::SendResponse;
use http::{HeaderMap, Request, Response};
use runtime::Runtime;
use warmwire_net::exchange::{BodyStep, Head};
use warmwire_net::exchange::{BufferPool, HeadItem, ReplyRules, RequestBody, RequestHead};
use warmwire_net::http2::{self, Terms};
use warmwire_net::http2::{Http2, Rested, Stream, StreamError};
use warmwire_net::{AcquireRequest, Acquired, Connection, HttpLease, Idle, Lease, Memory, Pool};
use wire::h2::{Config, ErrorCode, Field, Opening};

/// A server on its own thread, for any number of connections; the path selects its behaviour.
fn server() -> SocketAddr {
    let (sender, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(socket));
            }
        });
    });
    address.recv().unwrap()
}

async fn serve(socket: tokio::net::TcpStream) {
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(50).initial_window_size(100_000);
    let Ok(mut connection) = builder.handshake::<_, Bytes>(socket).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        match request.uri().path() {
            "/goaway" => connection.graceful_shutdown(),
            "/abort" => return,
            "/leaves-when-idle" => {
                tokio::spawn(answer(request, respond));
                let leaves = tokio::time::sleep(Duration::from_millis(100));
                tokio::pin!(leaves);
                tokio::select! {
                    _ = poll_fn(|cx| connection.poll_closed(cx)) => {}
                    _ = leaves => connection.abrupt_shutdown(h2::Reason::NO_ERROR),
                }
                let _ = poll_fn(|cx| connection.poll_closed(cx)).await;
                return;
            }
            _ => {}
        }
        tokio::spawn(answer(request, respond));
    }
}

async fn answer(request: Request<h2::RecvStream>, mut respond: SendResponse<Bytes>) {
    let path = request.uri().path().to_owned();
    let mut body = request.into_body();
    match path.as_str() {
        "/reset" => return respond.send_reset(h2::Reason::INTERNAL_ERROR),
        "/silence" => return tokio::time::sleep(Duration::from_secs(60)).await,
        _ => {}
    }
    let size: usize = path.trim_start_matches('/').parse().unwrap_or(10);
    let head = Response::builder().status(200).header("b", "1").header("a", "2").body(()).unwrap();
    let mut stream = respond.send_response(head, false).unwrap();
    let mut received = 0;
    while let Some(Ok(piece)) = body.data().await {
        received += piece.len();
        let _ = body.flow_control().release_capacity(piece.len());
    }
    let mut left = size;
    while left > 0 {
        stream.reserve_capacity(left.min(50_000));
        let Some(Ok(room)) = poll_fn(|cx| stream.poll_capacity(cx)).await else { return };
        let n = room.min(left);
        if stream.send_data(Bytes::from(vec![7; n]), false).is_err() {
            return;
        }
        left -= n;
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("received", received.into());
    let _ = stream.send_trailers(trailers);
}

async fn connect(rt: &Runtime, to: SocketAddr) -> Box<Connection> {
    open(rt.reactor().clone(), key_of(to.port()), to).await
}

/// Starts a session whose driver is a task; what it leaves is put into `rested`.
async fn session(rt: &Runtime, to: SocketAddr) -> (Http2, Rc<Cell<Option<Rested>>>) {
    let (http2, driver) = Http2::new(connect(rt, to).await, Config::default());
    (http2, run(rt, driver))
}

fn run(rt: &Runtime, driver: warmwire_net::http2::Driver) -> Rc<Cell<Option<Rested>>> {
    let rested = Rc::new(Cell::new(None));
    let slot = rested.clone();
    rt.spawn(Box::pin(async move { slot.set(Some(driver.await)) }));
    rested
}

fn request(http2: &Http2, path: &str, end: bool) -> Option<Stream> {
    let fields: [(&[u8], &[u8]); 4] =
        [(b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"host"), (b":path", path.as_bytes())];
    let fields = fields.map(|(name, value)| Field { name, value, sensitive: false });
    http2.open(fields, Opening { end, ..Opening::default() })
}

async fn head(stream: &mut Stream) -> Result<Head, StreamError> {
    poll_fn(|cx| stream.poll_head(cx)).await
}

async fn body(stream: &mut Stream) -> Result<usize, StreamError> {
    let (mut all, mut buf) = (0, vec![0; 30_000]);
    loop {
        match poll_fn(|cx| stream.poll_body(cx, &mut buf)).await? {
            BodyStep::Bytes(n) => {
                assert!(buf[..n].iter().all(|byte| *byte == 7));
                all += n;
            }
            BodyStep::End => return Ok(all),
        }
    }
}

async fn upload(stream: &mut Stream, mut left: usize) {
    while left > 0 {
        let room = poll_fn(|cx| stream.poll_room(cx)).await.unwrap();
        left -= stream.queue(&mut vec![1; room.min(left)], 0, room.min(left));
    }
    stream.end();
}

/// Runs all at once, each as a task.
async fn all(rt: &Runtime, futures: Vec<impl Future<Output = ()> + 'static>) {
    let left = Rc::new(Cell::new(futures.len()));
    for future in futures {
        let left = left.clone();
        rt.spawn(Box::pin(async move {
            future.await;
            left.set(left.get() - 1);
        }));
    }
    until(rt, || left.get() == 0).await;
}

async fn until(rt: &Runtime, mut done: impl FnMut() -> bool) {
    while !done() {
        rt.reactor().sleep(Duration::from_millis(2)).await;
    }
}

/// Returns what the driver leaves when no stream is left.
async fn at_rest(rt: &Runtime, rested: &Cell<Option<Rested>>) -> Rested {
    loop {
        match rested.take() {
            Some(left) => return left,
            None => rt.reactor().sleep(Duration::from_millis(2)).await,
        }
    }
}

fn test<F: Future<Output = ()> + 'static>(act: impl FnOnce(Runtime, SocketAddr) -> F) {
    let rt = runtime();
    block_on(&rt, act(rt.clone(), server()));
}

#[test]
fn many_streams_at_once_both_ways_on_one_connection() {
    test(|rt, to| async move {
        let (http2, rested) = session(&rt, to).await;
        let transfers = (0..40).map(|n| {
            let mut stream = request(&http2, &format!("/{}", n * 50_000), false).unwrap();
            async move {
                let sent = (40 - n) * 20_000;
                upload(&mut stream, sent).await;
                let head = head(&mut stream).await.unwrap();
                let fields: Vec<_> = head.fields.iter().take(2).collect();
                assert_eq!((head.status, &fields[..]), (200, &[(&b"b"[..], &b"1"[..]), (b"a", b"2")][..]));
                assert_eq!(body(&mut stream).await.unwrap(), n * 50_000);
                let trailers = stream.take_trailers().unwrap();
                assert_eq!(trailers.value(b"received").unwrap(), sent.to_string().as_bytes());
            }
        });
        all(&rt, transfers.collect()).await;
        // Without streams the driver has ended; session and connection serve the next one.
        let Rested { mut connection, session } = at_rest(&rt, &rested).await;
        let mut session = session.expect("it is in order");
        assert_eq!(session.ping(connection.carrier.as_mut(), [1; 8]), Idle::Alive);
        rt.reactor().sleep(Duration::from_millis(50)).await;
        assert_eq!(session.idle_state(connection.carrier.as_mut()), Idle::Alive, "the answer is its own");
        assert!(http2.vacancies() == 0 && request(&http2, "/1", true).is_none());
        let (http2, driver) = Http2::resume(connection, session);
        let mut stream = request(&http2, "/1000", true).unwrap();
        assert_eq!(stream.number(), 81);
        run(&rt, driver);
        assert_eq!(head(&mut stream).await.unwrap().status, 200);
        assert_eq!(body(&mut stream).await.unwrap(), 1000);
    });
}

#[test]
fn a_slow_reader_holds_up_nobody() {
    test(|rt, to| async move {
        let (http2, _) = session(&rt, to).await;
        let mut slow = request(&http2, "/5000000", true).unwrap();
        assert_eq!(head(&mut slow).await.unwrap().status, 200);
        for _ in 0..5 {
            let mut quick = request(&http2, "/3000000", true).unwrap();
            head(&mut quick).await.unwrap();
            assert_eq!(body(&mut quick).await.unwrap(), 3_000_000);
        }
        assert_eq!(body(&mut slow).await.unwrap(), 5_000_000);
    });
}

#[test]
fn resets_end_one_stream_and_losses_end_all() {
    test(|rt, to| async move {
        let (http2, rested) = session(&rt, to).await;
        let mut other = request(&http2, "/100000", true).unwrap();
        let mut reset = request(&http2, "/reset", true).unwrap();
        assert!(matches!(
            head(&mut reset).await,
            Err(StreamError::Reset { code: ErrorCode::INTERNAL_ERROR, why: None })
        ));
        assert!(!reset.any_received());
        head(&mut other).await.unwrap();
        assert_eq!(body(&mut other).await.unwrap(), 100_000);
        let mut silent = request(&http2, "/silence", true).unwrap();
        let abort = request(&http2, "/abort", true).unwrap();
        assert!(matches!(head(&mut silent).await, Err(StreamError::Closed | StreamError::Io(_))));
        assert!(
            matches!(head(&mut silent).await, Err(StreamError::Closed | StreamError::Io(_))),
            "and stays so"
        );
        assert_eq!(http2.vacancies(), 0);
        drop((silent, abort, other, reset));
        assert!(at_rest(&rt, &rested).await.session.is_none(), "nobody goes on on it");
    });
}

#[test]
fn a_stream_that_is_dropped_is_cancelled_and_the_others_go_on() {
    test(|rt, to| async move {
        let (http2, _) = session(&rt, to).await;
        let mut kept = request(&http2, "/2000000", true).unwrap();
        for _ in 0..60 {
            let mut dropped = request(&http2, "/1000000", true).unwrap();
            head(&mut dropped).await.unwrap();
        }
        head(&mut kept).await.unwrap();
        assert_eq!(body(&mut kept).await.unwrap(), 2_000_000);
    });
}

#[test]
fn a_server_that_leaves_answers_what_it_took() {
    test(|rt, to| async move {
        let (http2, rested) = session(&rt, to).await;
        let mut last = request(&http2, "/goaway", true).unwrap();
        assert_eq!(head(&mut last).await.unwrap().status, 200);
        assert_eq!(body(&mut last).await.unwrap(), 10);
        assert_eq!(http2.vacancies(), 0, "it opens no more");
        drop(last);
        assert!(at_rest(&rt, &rested).await.session.is_none());
    });
}

#[test]
fn a_driver_that_goes_with_its_handle_leaves_nobody_waiting() {
    test(|rt, to| async move {
        let (http2, driver) = Http2::new(connect(&rt, to).await, Config::default());
        let mut stream = request(&http2, "/1", true).unwrap();
        drop(driver);
        assert!(matches!(head(&mut stream).await, Err(StreamError::Io(_))));
    });
}

#[test]
fn a_parked_session_hears_a_goodbye_and_is_not_used_again() {
    test(|rt, to| async move {
        let (http2, rested) = session(&rt, to).await;
        let mut last = request(&http2, "/leaves-when-idle", true).unwrap();
        head(&mut last).await.unwrap();
        assert_eq!(body(&mut last).await.unwrap(), 10);
        drop(last);
        let Rested { mut connection, session } = at_rest(&rt, &rested).await;
        let mut session = session.expect("nothing was said yet");
        until(&rt, || session.idle_state(connection.carrier.as_mut()) == Idle::Closed).await;
    });
}

#[test]
fn requests_wait_for_a_free_stream() {
    test(|rt, to| async move {
        let (http2, _) = session(&rt, to).await;
        let mut first = request(&http2, "/1", true).unwrap();
        head(&mut first).await.unwrap(); // the server has announced its limit
        let transfers = (0..120).map(|_| {
            let (http2, rt) = (http2.clone(), rt.clone());
            async move {
                let mut stream = loop {
                    poll_fn(|cx| http2.poll_vacancy(cx)).await;
                    match request(&http2, "/5", true) {
                        Some(stream) => break stream,
                        // Another was quicker.
                        None => rt.reactor().sleep(Duration::from_millis(1)).await,
                    }
                };
                assert_eq!(head(&mut stream).await.unwrap().status, 200);
                assert_eq!(body(&mut stream).await.unwrap(), 5);
            }
        });
        all(&rt, transfers.collect()).await;
    });
}

/// A whole exchange: the status and length of its reply.
async fn exchange(lease: &mut HttpLease, path: &str) -> (u16, usize) {
    let mut exchange = lease.begin(&BufferPool::default());
    let mut head = RequestHead::new(b"GET", "http", |out| out.extend_from_slice(path.as_bytes()), "HTTP/2");
    head.field("Host", b"host");
    head.end(RequestBody::None);
    exchange.begin(&head, ReplyRules::default());
    poll_fn(|cx| exchange.poll_flush(cx)).await.unwrap();
    let (mut status, mut ended) = (0, false);
    while !ended {
        match exchange.find_part(1000).unwrap() {
            Some(_) => {
                match exchange.part().item.unwrap() {
                    HeadItem::Status(line) => status = line.code,
                    HeadItem::Field(_) => {}
                    HeadItem::End => ended = true,
                }
                exchange.take_part();
            }
            None => assert!(poll_fn(|cx| exchange.poll_more(cx, &mut [])).await.unwrap()),
        }
    }
    exchange.begin_body();
    let (mut buf, mut length) = ([0; 1000], 0);
    while let BodyStep::Bytes(n) = poll_fn(|cx| exchange.poll_body(cx, &mut buf)).await.unwrap() {
        length += n;
    }
    let received = exchange.trailer().map(|part| part.line.to_vec());
    assert_eq!(received.as_deref(), Some(&b"received: 0\r\n"[..]));
    assert!(lease.end(exchange), "it has ended as it should");
    (status, length)
}

#[test]
fn a_pool_has_sessions_that_park_and_go_on() {
    test(|rt, to| async move {
        let (pool, key) = (Pool::new(rt.reactor()), key_of(to.port()));
        let wish = AcquireRequest { streams: true, ..crate::common::wish(&key) };
        let terms = || Terms {
            config: Config::default(),
            most: Rc::new(Cell::new(2)),
            buffer: Default::default(),
            around: None,
        };
        let Some(Acquired::Vacant(slot)) = pool.try_acquire(wish, pool.now()) else { panic!() };
        let first: Lease = slot.host(connect(&rt, to).await, |whole| http2::host(whole, terms(), &rt));
        let mut first = first.into_http().unwrap();
        let Some(Acquired::Reused(second)) = pool.try_acquire(wish, pool.now()) else {
            panic!("room for two")
        };
        let mut second = bytes(second).into_http().unwrap();
        assert!(matches!(pool.try_acquire(wish, pool.now()), Some(Acquired::Vacant(_))), "and for no more");
        assert_eq!(exchange(&mut first, "/3000").await, (200, 3000));
        assert_eq!(exchange(&mut second, "/0").await, (200, 0));
        first.release();
        second.release();
        until(&rt, || pool.idle() == 1).await;
        let Some(Acquired::Reused(lease)) = pool.try_acquire(wish, pool.now()) else { panic!("it was idle") };
        let mut whole = bytes(lease).into_whole().unwrap();
        assert!(http2::is_parked(whole.connection()));
        let third: Lease = whole.host(|whole| http2::host(whole, terms(), &rt));
        let mut third = third.into_http().unwrap();
        assert_eq!((third.about().id, exchange(&mut third, "/10").await), (0, (200, 10)));
    });
}
