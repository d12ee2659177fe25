//! Sessions on real sockets, with a server that is quinn-proto's own.

mod peer;
mod priority;
mod vacancies;

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::{Clock, Idle, Runtime};
use wire::h3::Field;

use self::peer::{Answer, Habits, Order, Peer, head, reply};
use super::{Http3, Opening, Parked, Stream, StreamError, driver::Rested, tunnel::Http3Tunnel};
use crate::connect::{ConnectRequest, Through, connect};
use crate::exchange::{BodyStep, RequestHead, Reservation};
use crate::filter::Filter;
use crate::filter::open::{SocketOptions, Transport};
use crate::filter::tunnels::TunnelPayload;
use crate::quic::{Established, Purpose, Quic, QuicRequest, shake_hands};
use crate::resolver::Candidates;
use crate::session::Buffer;
use crate::tls::handshake::Server;
use crate::tls::{SessionStore, TlsConfig};
use crate::{Carrier, Connection, ConnectionKey, HashedKey, NetError, NetErrorKind};

/// On Wine, IPV6_V6ONLY cannot be queried on a socket for IPv4, as quinn-udp does.
const LOOPBACK: &str = if cfg!(windows) { "[::1]:0" } else { "127.0.0.1:0" };

/// Runs the future that `f` makes; a test that hangs fails.
fn run<T: 'static, F: Future<Output = T> + 'static>(f: impl FnOnce(Rc<Runtime>) -> F) -> T {
    let runtime = Rc::new(Runtime::new(Clock::system()));
    let result = Rc::new(RefCell::new(None));
    let (future, slot) = (f(runtime.clone()), result.clone());
    runtime.spawn(Box::pin(async move {
        let value = future.await;
        *slot.borrow_mut() = Some(value);
    }));
    let start = Instant::now();
    while result.borrow().is_none() {
        // On Wine each datagram is a conversation with the one server that all processes share.
        let limit = Duration::from_secs(if cfg!(windows) { 180 } else { 30 });
        assert!(start.elapsed() < limit, "hangs");
        runtime.perform().unwrap();
        if result.borrow().is_none() {
            runtime.wait(&mut [], Duration::from_millis(100), true).unwrap();
        }
    }
    result.take().unwrap()
}

/// One with several addresses tries them by Happy Eyeballs.
async fn dial(rt: &Runtime, list: Vec<SocketAddr>) -> Result<Established, NetError> {
    dial_again(rt, list, &SessionStore::new()).await
}

fn tls() -> Arc<TlsConfig> {
    Arc::new(TlsConfig {
        verify_peer: false,
        verify_host: false,
        alpn: vec!["h3".to_owned()],
        ..TlsConfig::default()
    })
}

/// Connects with the memory of earlier connections.
async fn dial_again(
    rt: &Runtime,
    list: Vec<SocketAddr>,
    store: &SessionStore,
) -> Result<Established, NetError> {
    let tls = tls();
    let sessions = store.begin(Server::new(&tls, "localhost", list[0].port()))?;
    let reactor = rt.reactor();
    let started = reactor.now();
    let connecting = ConnectRequest {
        place: &"localhost",
        protocols: &[],
        needs_record: false,
        local_hosts: &[],
        transport: Transport::Udp,
        options: &SocketOptions::default(),
        callbacks: None,
        attempt_delay: Duration::from_millis(200),
        favourite: None,
        report: None,
        started,
        deadline: Some(started + Duration::from_secs(20)),
        owner: 1,
    };
    let request = QuicRequest {
        host: "localhost",
        port: list[0].port(),
        tls: &tls,
        sessions: &sessions,
        early: true,
        purpose: Purpose::Streams,
        qlog: None,
    };
    let stage =
        |connected| -> Through<'_, Established> { Box::pin(shake_hands(reactor, connected, &request)) };
    let mut candidates = Candidates::known(&list, started);
    let won = connect(reactor, &connecting, &mut candidates, &stage).await?;
    if won.quic.tls().is_some_and(|tls| tls.late.is_none()) {
        sessions.settle(true);
    }
    Ok(won)
}

async fn open(rt: &Runtime, peer: &Peer) -> Box<Connection<Quic>> {
    open_again(rt, peer, &SessionStore::new()).await
}

async fn open_again(rt: &Runtime, peer: &Peer, store: &SessionStore) -> Box<Connection<Quic>> {
    let Ok(Established { mut quic, endpoints, .. }) = dial_again(rt, vec![peer.address], store).await else {
        panic!("no connection")
    };
    let parked = Parked::new(&mut quic.machine);
    let key = HashedKey::from(ConnectionKey::default());
    let mut connection = Connection::new(key, Box::new(quic), endpoints, rt.reactor().now());
    connection.state = Some(Box::new(parked));
    Box::new(connection)
}

/// Starts a session whose driver is a task; what it leaves is put into the cell.
fn session(rt: &Runtime, mut connection: Box<Connection<Quic>>) -> (Http3, Rc<Cell<Option<Rested>>>) {
    let parked = connection.state.take().and_then(|memory| memory.take::<Parked>()).map(|parked| *parked);
    let (http3, driver) = Http3::resume(connection, parked, rt.reactor(), Buffer::default());
    let rested = Rc::new(Cell::new(None));
    let slot = rested.clone();
    rt.spawn(Box::pin(async move { slot.set(Some(driver.await)) }));
    (http3, rested)
}

fn request(http3: &Http3, end: bool) -> Option<Stream> {
    let fields: [(&[u8], &[u8]); 4] =
        [(b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"localhost"), (b":path", b"/")];
    let fields = fields.map(|(name, value)| Field { name, value, sensitive: false });
    http3.open(fields, Opening { end, head_only: false })
}

/// The body's length.
async fn body(stream: &mut Stream) -> Result<usize, StreamError> {
    poll_fn(|cx| stream.poll_head(cx)).await?;
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

async fn get(http3: &Http3) -> Result<usize, StreamError> {
    body(&mut request(http3, true).ok_or(StreamError::Refused)?).await
}

async fn wait(rt: &Runtime, time: Duration) {
    pin!(rt.reactor().sleep(time)).await;
}

async fn until(rt: &Runtime, mut what: impl FnMut() -> bool) {
    while !what() {
        wait(rt, Duration::from_millis(10)).await;
    }
}

#[test]
fn a_body_comes_whole_where_the_address_must_be_proved() {
    let answers = vec![Answer::Body(3_000_000)];
    let peer = Peer::start(Habits { answers, retry: true, ..Habits::default() });
    let peer = run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, rested) = session(&rt, connection);
        assert_eq!(get(&http3).await.unwrap(), 3_000_000);
        until(&rt, || rested.take().is_some_and(|left| left.session.is_some())).await;
        peer
    });
    assert_eq!(peer.end().addresses.len(), 1);
}

/// Large early data: an accepting server gets it once, a refusing one again; the sender sees no difference.
#[test]
fn early_requests_arrive_once() {
    const BODY: usize = 200_000;
    let peer = Peer::start(Habits::default());
    let store = SessionStore::new();
    let peer = run(|rt| async move {
        let port = peer.address.port();
        for round in ["before any session", "taken", "refused"] {
            if round == "refused" {
                peer.order(Order::Forget);
            }
            let connection = open_again(&rt, &peer, &store).await;
            let tls = connection.about.tls.clone().unwrap();
            let (http3, _rested) = session(&rt, connection);
            let mut stream = request(&http3, false).unwrap();
            let early = matches!(&tls.late, Some(late) if late.get().is_none());
            assert_eq!(early, round != "before any session");
            let (body_of_request, mut sent) = (vec![3; BODY], 0);
            while sent < BODY {
                poll_fn(|cx| stream.poll_room(cx)).await.unwrap();
                sent += stream.queue(&body_of_request[sent..]);
            }
            stream.end();
            assert_eq!(body(&mut stream).await.unwrap(), 10, "{round}");
            let info = tls.by_now();
            assert_eq!(info.alpn.as_deref(), Some("h3"));
            let expected = match round {
                "taken" => 60_000..=65_536,
                "refused" => -65_536..=-60_000,
                _ => 0..=0,
            };
            assert!(expected.contains(&info.early), "{round}: {}", info.early);
            assert_eq!((info.cipher, info.group.is_empty()), ("TLS_AES_256_GCM_SHA384", false));
            until(&rt, || store.has_early(&self::tls(), "localhost", port)).await;
        }
        peer
    });
    let received = peer.end().received;
    assert!((3 * BODY..3 * BODY + 1000).contains(&received), "{received}");
}

/// A server that is gone: early data fails with a reason.
#[test]
fn a_handshake_that_fails_behind_what_went_ahead_says_why() {
    let peer = Peer::start(Habits::default());
    let store = SessionStore::new();
    run(|rt| async move {
        let (http3, _rested) = session(&rt, open_again(&rt, &peer, &store).await);
        let port = peer.address.port();
        assert_eq!(get(&http3).await.unwrap(), 10);
        until(&rt, || store.has_early(&tls(), "localhost", port)).await;
        let address = peer.address;
        peer.end();
        let Ok(mut won) = dial_again(&rt, vec![address], &store).await else {
            panic!("nothing is waited for")
        };
        let late = won.quic.tls().unwrap().late.clone().unwrap();
        let parked = Parked::new(&mut won.quic.machine);
        let key = HashedKey::from(ConnectionKey::default());
        let mut connection = Connection::new(key, Box::new(won.quic), won.endpoints, rt.reactor().now());
        connection.state = Some(Box::new(parked));
        let (http3, _rested) = session(&rt, Box::new(connection));
        let failed = get(&http3).await.unwrap_err();
        let failure = late.get().map(|outcome| outcome.as_ref().err().map(|e| e.kind));
        assert_eq!(failure, Some(Some(NetErrorKind::CouldntConnect)), "{failed:?}");
        assert!(!store.has_early(&tls(), "localhost", port));
    });
}

#[test]
fn no_version_in_common() {
    let peer = Peer::start(Habits { versions: Some(vec![0xff00_001d]), ..Habits::default() });
    let refused = run(|rt| async move { dial(&rt, vec![peer.address]).await.err() }).unwrap();
    assert_eq!(refused.kind, NetErrorKind::QuicConnectError);
    assert!(refused.message.contains("version"), "{}", refused.message);
}

/// The first address accepts datagrams and never answers.
#[test]
fn an_address_that_does_not_answer_holds_up_nobody() {
    let mute = std::net::UdpSocket::bind(LOOPBACK).unwrap();
    let peer = Peer::start(Habits::default());
    let list = vec![mute.local_addr().unwrap(), peer.address];
    let before = Instant::now();
    let won = run(|rt| async move { dial(&rt, list).await.map(|won| won.endpoints.remote) });
    assert_eq!(won.unwrap(), Some(peer.address));
    assert!(before.elapsed() < Duration::from_secs(10));
}

#[test]
fn new_keys_and_another_address_change_nothing() {
    let answers = vec![Answer::Body(10), Answer::Body(10), Answer::Body(5_000_000)];
    let peer = Peer::start(Habits { answers, ..Habits::default() });
    let peer = run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let _stays = Reservation::promised(http3.clone());
        assert_eq!(get(&http3).await.unwrap(), 10);
        peer.order(Order::UpdateKeys);
        assert_eq!(get(&http3).await.unwrap(), 10);
        let mut stream = request(&http3, true).unwrap();
        poll_fn(|cx| stream.poll_head(cx)).await.unwrap();
        let mut buf = vec![0; 100_000];
        let BodyStep::Bytes(first) = poll_fn(|cx| stream.poll_body(cx, &mut buf)).await.unwrap() else {
            panic!("no body")
        };
        http3.0.borrow_mut().quic().unwrap().move_on().unwrap();
        http3.0.borrow_mut().wake_driver(); // usually it moves the socket itself, and sends in the same turn
        let mut all = first;
        while let BodyStep::Bytes(n) = poll_fn(|cx| stream.poll_body(cx, &mut buf)).await.unwrap() {
            all += n;
        }
        assert_eq!(all, 5_000_000);
        peer
    });
    assert_eq!(peer.end().addresses.len(), 2);
}

#[test]
fn stream_errors_are_distinguished() {
    let answers = vec![
        Answer::Reset(0x102),
        Answer::Reset(0x10b),
        Answer::Stop(0x100),
        Answer::Raw(reply(10)[..5].to_vec()),
    ];
    let peer = Peer::start(Habits { answers, ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let _stays = Reservation::promised(http3.clone());
        let reset = get(&http3).await.unwrap_err();
        assert!(matches!(&reset, StreamError::Reset { code, why: None, .. } if code.0 == 0x102), "{reset:?}");
        let refused = get(&http3).await.unwrap_err();
        assert!(matches!(refused, StreamError::Refused), "{refused:?}");
        // The response arrives before the end of the request, whose rest is then dropped.
        let mut early = request(&http3, false).unwrap();
        assert_eq!(body(&mut early).await.unwrap(), 10);
        while early.queue(&[1; 1000]) != 1000 {}
        assert!(poll_fn(|cx| early.poll_room(cx)).await.is_ok());
        drop(early);
        let mut cut = request(&http3, true).unwrap();
        wait(&rt, Duration::from_millis(100)).await;
        peer.order(Order::Forget);
        wait(&rt, Duration::from_millis(100)).await;
        let _asks = request(&http3, true);
        let gone = body(&mut cut).await.unwrap_err();
        assert!(matches!(&gone, StreamError::Closed(why) if why.contains("reset")), "{gone:?}");
        assert!(http3.is_closing());
    });
}

/// RFC 9114 §4.1: any number of interim heads before the reply's, and fields behind its body.
#[test]
fn interim_heads_and_trailers() {
    let interim = |status| head(&[(":status", status), ("link", "</style>")]);
    let trailers = head(&[("digest", "of-it"), ("x", "y")]);
    let whole = [interim("103"), interim("100"), reply(10), trailers.clone()].concat();
    let many = [vec![interim("103"); 40].concat(), reply(10)].concat();
    let headless = [interim("103"), trailers].concat();
    let answers = [whole, many, headless].map(Answer::Whole).to_vec();
    let peer = Peer::start(Habits { answers, ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let _stays = Reservation::promised(http3.clone());
        let mut stream = request(&http3, true).unwrap();
        let mut statuses = Vec::new();
        while statuses.last() != Some(&200) {
            statuses.push(poll_fn(|cx| stream.poll_head(cx)).await.unwrap().status);
        }
        assert_eq!(statuses, [103, 100, 200]);
        let mut buf = [0; 100];
        while let BodyStep::Bytes(_) = poll_fn(|cx| stream.poll_body(cx, &mut buf)).await.unwrap() {}
        let trailers = stream.take_trailers().unwrap();
        assert_eq!(trailers.iter().collect::<Vec<_>>(), [(&b"digest"[..], &b"of-it"[..]), (b"x", b"y")]);
        // As they are taken one by one there may be many; a reply that never comes is none.
        let mut stream = request(&http3, true).unwrap();
        let mut count = 0;
        while poll_fn(|cx| stream.poll_head(cx)).await.unwrap().status != 200 {
            count += 1;
        }
        assert_eq!(count, 40);
        drop(stream);
        let failed = get(&http3).await;
        assert!(failed.is_err(), "{failed:?}");
    });
}

/// A hundred unread streams limit what the peer may send on each, and block no other.
#[test]
fn unread_streams_stall_no_others() {
    const EACH: usize = 300_000;
    let habits = Habits { answers: vec![Answer::Body(EACH); 101], streams: Some(200), ..Habits::default() };
    let peer = Peer::start(habits);
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let mut paused: Vec<Stream> = (0..100).map(|_| request(&http3, true).unwrap()).collect();
        for stream in &mut paused {
            poll_fn(|cx| stream.poll_head(cx)).await.unwrap();
        }
        assert_eq!(get(&http3).await.unwrap(), EACH);
        for mut stream in paused {
            let (mut all, mut buf) = (0, vec![0; 30_000]);
            while let BodyStep::Bytes(n) = poll_fn(|cx| stream.poll_body(cx, &mut buf)).await.unwrap() {
                all += n;
            }
            assert_eq!(all, EACH);
        }
    });
}

/// An unread stream has a window of 1 MiB and no more; many of them block no other; reading returns
/// everything.
#[test]
fn many_that_do_not_read_hold_little() {
    const MANY: usize = 30;
    const LARGE: usize = 2 << 20;
    const ROOM: usize = 1 << 20;
    let mut answers = vec![Answer::Body(LARGE); MANY];
    answers.push(Answer::Body(2 * LARGE));
    let peer = Peer::start(Habits { answers, ..Habits::default() });
    let peer = run(|rt| async move {
        let (http3, _rested) = session(&rt, open(&rt, &peer).await);
        let mut unread: Vec<Stream> = (0..MANY).map(|_| request(&http3, true).unwrap()).collect();
        assert_eq!(get(&http3).await.unwrap(), 2 * LARGE);
        wait(&rt, Duration::from_secs(1)).await;
        assert_eq!(body(&mut unread[0]).await.unwrap(), LARGE);
        drop(unread);
        peer
    });
    let sent = peer.end().sent;
    let heads = MANY * 100;
    let most = (MANY - 1) * ROOM + 3 * LARGE + heads;
    assert!((3 * LARGE..=most).contains(&sent), "{sent} of {most}");
}

/// Streams that are paused midway share what may be buffered: the more there are, the smaller each window.
#[test]
fn many_that_pause_in_their_middle_share_a_bound() {
    const MANY: usize = 16;
    const LARGE: usize = 5 << 20;
    const READ: usize = 5 << 18;
    const ROOM: usize = (32 << 20) / MANY;
    let peer = Peer::start(Habits { answers: vec![Answer::Body(LARGE); MANY], ..Habits::default() });
    let peer = run(|rt| async move {
        let (http3, _rested) = session(&rt, open(&rt, &peer).await);
        let mut all: Vec<Stream> = (0..MANY).map(|_| request(&http3, true).unwrap()).collect();
        let mut buf = vec![0; READ];
        for stream in &mut all {
            poll_fn(|cx| stream.poll_head(cx)).await.unwrap();
            let mut read = 0;
            while read < READ {
                let step = poll_fn(|cx| stream.poll_body(cx, &mut buf[read..])).await.unwrap();
                let BodyStep::Bytes(n) = step else { panic!("no end after {read}") };
                read += n;
            }
        }
        wait(&rt, Duration::from_secs(1)).await;
        assert_eq!(get(&http3).await.unwrap(), 10);
        let mut rest = 0;
        while let BodyStep::Bytes(n) = poll_fn(|cx| all[0].poll_body(cx, &mut buf)).await.unwrap() {
            rest += n;
        }
        assert_eq!(rest, LARGE - READ);
        drop(all);
        peer
    });
    let (sent, most) = (peer.end().sent, (MANY - 1) * (READ + ROOM) + LARGE + 3000);
    assert!((MANY * READ..=most).contains(&sent), "{sent} of {most}");
}

/// RFC 9114 §4.1: DATA before HEADERS ends the connection.
#[test]
fn a_fault_of_the_peers_ends_the_connection() {
    let peer = Peer::start(Habits { answers: vec![Answer::Raw(vec![0, 2, 1, 1])], ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, rested) = session(&rt, connection);
        let failed = get(&http3).await.unwrap_err();
        assert!(matches!(&failed, StreamError::Failed(failure) if failure.code.0 == 0x105), "{failed:?}");
        until(&rt, || rested.take().is_some_and(|left| left.session.is_none())).await;
    });
}

#[test]
fn a_goodbye_lets_what_was_begun_end() {
    let answers = vec![Answer::Body(10), Answer::Silence];
    let peer = Peer::start(Habits { answers, ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let _stays = Reservation::promised(http3.clone());
        assert_eq!(get(&http3).await.unwrap(), 10);
        let mut second = request(&http3, true).unwrap();
        peer.order(Order::GoAway(4));
        let refused = body(&mut second).await.unwrap_err();
        assert!(matches!(refused, StreamError::Refused), "{refused:?}");
        assert!(request(&http3, true).is_none(), "nobody begins on it");
    });
}

/// The timer of an idle connection does not run: expired timers are processed at the next check.
#[test]
fn an_idle_connection_is_looked_at_when_it_is_asked_for() {
    let peer = Peer::start(Habits { idle: Some(Duration::from_millis(300)), ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, rested) = session(&rt, connection);
        assert_eq!(get(&http3).await.unwrap(), 10);
        let mut left = None;
        until(&rt, || {
            left = left.take().or(rested.take());
            left.is_some()
        })
        .await;
        let Rested { mut connection, session } = left.unwrap();
        let mut parked = session.unwrap();
        let look = |parked: &mut Parked, connection: &mut Connection<Quic>| {
            crate::Memory::idle_state(parked, &mut connection.carrier)
        };
        assert_eq!(look(&mut parked, &mut connection), Idle::Alive);
        wait(&rt, Duration::from_secs(2)).await;
        assert_eq!(look(&mut parked, &mut connection), Idle::Closed);
    });
}

/// A slow response keeps its connection, whatever the peer's idle timeout.
#[test]
fn a_connection_with_a_stream_is_kept_alive() {
    let idle = Some(Duration::from_secs(3));
    let peer = Peer::start(Habits { answers: vec![Answer::Silence], idle, ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let _waits = request(&http3, true).unwrap();
        wait(&rt, Duration::from_secs(8)).await;
        assert_eq!(get(&http3).await.unwrap(), 10);
    });
}

/// A tunnel that nobody reads for longer than the proxy's idle timeout is kept alive, and the rest arrives.
#[test]
fn a_tunnel_that_nobody_reads_is_kept_alive() {
    const LARGE: usize = 3 << 20; // more than there is room for
    let idle = Some(Duration::from_secs(3));
    let peer = Peer::start(Habits { answers: vec![Answer::Raw(reply(LARGE))], idle, ..Habits::default() });
    run(|rt| async move {
        let Established { quic, .. } = dial(&rt, vec![peer.address]).await.unwrap();
        let mut tunnel = Http3Tunnel::new(quic, rt.reactor());
        let request =
            RequestHead::new(b"CONNECT", "https", |to| to.extend_from_slice(b"localhost:1"), "HTTP/3");
        assert_eq!(tunnel.connect(&request, TunnelPayload::Bytes).await.unwrap().0, 200);
        let mut rest = pin!(rt.reactor().sleep(Duration::from_secs(8)));
        poll_fn(|cx| {
            tunnel.forget_read(cx);
            rest.as_mut().poll(cx)
        })
        .await;
        let (mut all, mut buf) = (0, vec![0; 30_000]);
        while all < LARGE {
            match poll_fn(|cx| tunnel.poll_read(cx, &mut buf)).await.unwrap() {
                0 => panic!("ends after {all}"),
                n => all += n,
            }
        }
    });
}

/// Code of others has taken in something and panicked: the streams of that connection end.
#[test]
fn a_panic_below_ends_one_connection() {
    let peer = Peer::start(Habits { answers: vec![Answer::Silence], ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, rested) = session(&rt, connection);
        let mut stream = request(&http3, true).unwrap();
        http3.0.borrow_mut().machine().unwrap().panic_for_tests();
        http3.0.borrow_mut().wake_driver();
        let lost = body(&mut stream).await.unwrap_err();
        assert!(matches!(&lost, StreamError::Closed(why) if why.contains("fault of ours")), "{lost:?}");
        drop(stream);
        until(&rt, || rested.take().is_some_and(|left| left.session.is_none())).await;
    });
}
