//! Against rustls servers in this process and OpenSSL's `s_server`.

use std::cell::RefCell;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::*;
use crate::filter::SocketFilter;
use crate::tls::backend::Handshake;
use crate::tls::handshake::{self, Server};
use crate::tls::{Backend, CaSource, PinnedKey, TlsConfig, TlsVersion};
use crate::{NetError, NetErrorKind};
use runtime::{Clock, Runtime};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use testkit::certs::{Authority, Leaf};

pub type ServerStream = StreamOwned<ServerConnection, TcpStream>;

/// Runs a future on an executor of its own; a test that hangs fails.
pub fn run<T: 'static>(f: impl FnOnce(Arc<Reactor>) -> Pin<Box<dyn Future<Output = T>>>) -> T {
    let runtime = Runtime::new(Clock::system());
    let result = Rc::new(RefCell::new(None));
    let (future, slot) = (f(runtime.reactor().clone()), result.clone());
    runtime.spawn(Box::pin(async move {
        let value = future.await;
        *slot.borrow_mut() = Some(value);
    }));
    let start = Instant::now();
    while result.borrow().is_none() {
        let limit = Duration::from_secs(if cfg!(windows) { 120 } else { 20 }); // Wine takes its time
        assert!(start.elapsed() < limit, "hangs");
        runtime.perform().unwrap();
        if result.borrow().is_none() {
            runtime.wait(&mut [], Duration::from_millis(100), true).unwrap();
        }
    }
    result.take().unwrap()
}

/// A connected socket as the lowest filter.
pub fn socket(port: u16, reactor: &Arc<Reactor>) -> Box<dyn Filter> {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut socket = Socket::new(stream.into());
    socket.attach(reactor, 0);
    Box::new(SocketFilter::new(socket))
}

/// A server that handles `count` connections one after the other.
pub fn serve(
    config: Arc<ServerConfig>,
    count: usize,
    f: impl Fn(ServerStream) + Send + 'static,
) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        for _ in 0..count {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            f(StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream));
        }
    });
    (port, thread)
}

pub fn trusting(authority: &Authority) -> TlsConfig {
    TlsConfig { ca: vec![CaSource::Blob(authority.ca_pem().as_bytes().into())], ..TlsConfig::default() }
}

/// Both versions that are spoken.
pub fn both(config: TlsConfig) -> [Arc<TlsConfig>; 2] {
    let only12 = TlsConfig { max_version: TlsVersion::Tls12, ..config.clone() };
    [Arc::new(TlsConfig { min_version: TlsVersion::Tls13, ..config }), Arc::new(only12)]
}

/// Rustls and, where it is looked for, OpenSSL.
pub fn backends() -> &'static [Backend] {
    const ALL: &[Backend] = &[Backend::Rustls, Backend::SYSTEM];
    if cfg!(unix) { ALL } else { &ALL[..1] }
}

/// Both versions, by each of them.
pub fn by_either(config: TlsConfig) -> Vec<Arc<TlsConfig>> {
    let by = |backend: &Backend| both(TlsConfig { backend: backend.clone(), ..config.clone() });
    backends().iter().flat_map(by).collect()
}

/// Shakes hands by the library that the configuration names.
pub async fn agree(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    host: &str,
    port: u16,
    store: &SessionStore,
) -> Result<Box<dyn Filter>, NetError> {
    // The clock counts only where a verify callback puts off its verdict.
    let clock = Runtime::new(Clock::system());
    let server = Server::new(config, host, port);
    handshake::connect::<Handshake>(below, server, store, clock.reactor()).await
}

async fn connect(
    port: u16,
    reactor: &Arc<Reactor>,
    config: &Arc<TlsConfig>,
    store: &SessionStore,
) -> Result<Box<dyn Filter>, NetError> {
    agree(socket(port, reactor), config, "localhost", port, store).await
}

pub async fn read(f: &mut dyn Filter, buf: &mut [u8]) -> io::Result<usize> {
    f.read(buf).await
}

pub async fn read_all(f: &mut dyn Filter, size: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut buf = vec![0; size];
    loop {
        match read(f, &mut buf).await? {
            0 => return Ok(out),
            n => out.extend_from_slice(&buf[..n]),
        }
    }
}

/// Reads one line, answers with `body`, closes politely.
pub fn answer(mut s: ServerStream, body: &[u8]) {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\n") && s.read(&mut byte).unwrap_or(0) == 1 {
        line.push(byte[0]);
    }
    let _ = s.write_all(body);
    s.conn.send_close_notify();
    let _ = s.flush();
}

#[test]
fn bodies_arrive_whole_through_any_buffer() {
    let authority = Authority::new();
    let body = testkit::body::pattern(700_001);
    for config in by_either(trusting(&authority)) {
        for size in [1 << 18, DIRECT, DIRECT - 1, 5000, 100_000] {
            let expected = body.clone();
            let sent = body.clone();
            let (port, server) =
                serve(authority.good().server_config().unwrap(), 1, move |s| answer(s, &sent));
            let config = config.clone();
            let version = if config.min_version == TlsVersion::Tls13 { "TLSv1.3" } else { "TLSv1.2" };
            run(move |reactor| {
                Box::pin(async move {
                    let mut f = connect(port, &reactor, &config, &SessionStore::new()).await.unwrap();
                    assert_eq!(f.tls().unwrap().version, version);
                    f.write_all(b"go\n").await.unwrap();
                    let got = read_all(f.as_mut(), size).await.unwrap();
                    assert!(got == expected, "{} of {} bytes, buffer {size}", got.len(), expected.len());
                })
            });
            server.join().unwrap();
        }
    }
}

/// One exchange: the parameters of the handshake, and the reply.
pub fn exchange(
    port: u16,
    host: &'static str,
    config: &Arc<TlsConfig>,
    store: &SessionStore,
) -> Result<(TlsInfo, Vec<u8>), NetError> {
    let (config, store) = (config.clone(), store.clone());
    run(move |reactor| {
        Box::pin(async move {
            let mut f = agree(socket(port, &reactor), &config, host, port, &store).await?;
            f.write_all(b"go\n").await.unwrap();
            let got = read_all(f.as_mut(), 1 << 18).await.unwrap();
            f.retire();
            Ok((TlsInfo::clone(f.tls().unwrap()), got))
        })
    })
}

fn refuse(leaf: &Leaf, host: &'static str, config: TlsConfig) -> NetError {
    let refused = by_either(config).into_iter().map(|config| {
        let (port, server) = serve(leaf.server_config().unwrap(), 1, |s| answer(s, b"secret"));
        let error = exchange(port, host, &config, &SessionStore::new()).expect_err("was accepted");
        // What cannot be made does not even connect.
        if error.kind == NetErrorKind::SslCacertBadfile {
            let _ = TcpStream::connect(("127.0.0.1", port));
        }
        server.join().unwrap();
        error
    });
    let mut refused: Vec<NetError> = refused.collect();
    let error = refused.remove(0);
    for other in refused {
        assert_eq!((other.kind, &other.message), (error.kind, &error.message));
    }
    error
}

#[test]
fn bad_certificates_are_refused_in_curls_words() {
    let authority = Authority::new();
    let trusting = || trusting(&authority);
    let failed = |e: NetError| {
        assert_eq!(e.kind, NetErrorKind::PeerFailedVerification, "{e}");
        (e.message, e.verify_result)
    };
    let problem = |text: &str, n| (format!("SSL certificate OpenSSL verify result: {text} ({n})"), n);
    assert_eq!(
        failed(refuse(&authority.expired(), "localhost", trusting())),
        problem("certificate has expired", 10)
    );
    assert_eq!(
        failed(refuse(&authority.not_yet_valid(), "localhost", trusting())),
        problem("certificate is not yet valid", 9)
    );
    assert_eq!(
        failed(refuse(&Leaf::self_signed(), "localhost", trusting())),
        problem("self-signed certificate", 18)
    );
    let nobody = TlsConfig { ca: vec![], ..TlsConfig::default() };
    assert_eq!(
        failed(refuse(&authority.good(), "localhost", nobody)),
        problem("unable to get local issuer certificate", 20)
    );
    assert_eq!(
        failed(refuse(&authority.wrong_name(), "localhost", trusting())).0,
        "SSL: no alternative certificate subject name matches target hostname 'localhost'"
    );
    assert_eq!(
        failed(refuse(&authority.common_name_only("else.example"), "localhost", trusting())).0,
        "SSL: certificate subject name 'else.example' does not match target hostname 'localhost'"
    );
    let missing =
        TlsConfig { ca: vec![CaSource::File("/nonexistent/ca.pem".into())], ..TlsConfig::default() };
    let e = refuse(&authority.good(), "localhost", missing);
    assert_eq!((e.kind, e.verify_result), (NetErrorKind::SslCacertBadfile, 1));
    assert!(e.message.contains("/nonexistent/ca.pem"));
    let pinned = TlsConfig { pinned_key: Some(PinnedKey::Hashes("sha256//AAAA".into())), ..trusting() };
    assert_eq!(refuse(&authority.good(), "localhost", pinned).kind, NetErrorKind::SslPinnedPubkeyNotMatch);
}

#[test]
fn good_and_unusual_certificates_are_accepted() {
    let authority = Authority::new();
    let own = Leaf::self_signed();
    let trusts =
        |pem: &str| TlsConfig { ca: vec![CaSource::Blob(pem.as_bytes().into())], ..TlsConfig::default() };
    let unchecked = TlsConfig { verify_peer: false, verify_host: false, ca: vec![], ..TlsConfig::default() };
    let no_name = TlsConfig { verify_host: false, ..trusting(&authority) };
    let no_chain = TlsConfig { verify_peer: false, ca: vec![], ..TlsConfig::default() };
    for (leaf, host, config, result) in [
        (authority.good(), "localhost", trusting(&authority), 0),
        (authority.good(), "LOCALHOST.", trusting(&authority), 0),
        (authority.good(), "127.0.0.1", trusting(&authority), 0),
        (authority.good(), "::1", trusting(&authority), 0),
        (authority.common_name_only("localhost"), "localhost", trusting(&authority), 0),
        (own.clone(), "localhost", trusts(&own.cert_pem), 0),
        (own.clone(), "localhost", unchecked.clone(), 18),
        (authority.good(), "elsewhere.example", unchecked.clone(), 20),
        (authority.wrong_name(), "localhost", no_name, 0),
        (own, "localhost", no_chain, 18),
    ] {
        for config in by_either(config) {
            let (port, server) = serve(leaf.server_config().unwrap(), 1, |s| answer(s, b"fine"));
            let (info, body) = exchange(port, host, &config, &SessionStore::new()).unwrap();
            assert_eq!((info.verify_result, body.as_slice()), (result, &b"fine"[..]));
            server.join().unwrap();
        }
    }
    let no_chain = TlsConfig { verify_peer: false, ca: vec![], ..TlsConfig::default() };
    assert!(refuse(&authority.wrong_name(), "localhost", no_chain).message.contains("no alternative"));
}

/// CVE-2021-22897: the ciphers that one configuration asks for are no other one's.
#[test]
fn ciphers_are_those_of_the_configuration() {
    let authority = Authority::new();
    for backend in backends() {
        let store = SessionStore::new();
        let suites = ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];
        let (port, server) = serve(authority.good().server_config().unwrap(), 3, |s| answer(s, b"x"));
        for suite in suites {
            let tls13_ciphers = Some(suite.to_owned());
            let config = TlsConfig { backend: backend.clone(), tls13_ciphers, ..trusting(&authority) };
            let agreed = exchange(port, "localhost", &Arc::new(config), &store).unwrap().0.cipher;
            assert_eq!(agreed, suite, "{backend:?}");
        }
        server.join().unwrap();
    }
}

/// CVE-2017-7468, CVE-2016-5419: with another client certificate there is nothing to resume. CVE-2021-22890:
/// nor at another host or port, as an HTTPS proxy and its origin are.
#[test]
fn sessions_are_resumed_for_the_same_configuration_only() {
    let authority = Authority::new();
    for config in by_either(trusting(&authority)) {
        let store = SessionStore::new();
        let other = Arc::new(TlsConfig { verify_host: false, ..(*config).clone() });
        let off = Arc::new(TlsConfig { session_cache: false, ..(*config).clone() });
        let unverified = Arc::new(TlsConfig { verify_peer: false, ..(*config).clone() });
        let [dressed, other_dress] = ["me", "you"].map(|who| {
            let client = Some(super::peers::shown(&authority.client(who)));
            Arc::new(TlsConfig { client, ..(*config).clone() })
        });
        // Two doors to one server, which would take its tickets at either.
        let tickets = authority.good().server_config().unwrap();
        let (port, server) = serve(tickets.clone(), 11, |s| answer(s, b"x"));
        let (other_port, other_server) = serve(tickets, 1, |s| answer(s, b"x"));
        let resumed =
            |c: &Arc<TlsConfig>, s: &SessionStore| exchange(port, "localhost", c, s).unwrap().0.resumed;
        assert!(!resumed(&config, &store));
        assert!(resumed(&config, &store), "{:?}", config.min_version);
        assert!(!resumed(&other, &store));
        assert!(!resumed(&dressed, &store));
        assert!(!resumed(&other_dress, &store));
        assert!(!resumed(&unverified, &store));
        assert!(!resumed(&off, &store));
        assert!(!exchange(other_port, "localhost", &config, &store).unwrap().0.resumed);
        // Two addresses, as neither is named in the hello, and a server would resume one's session for the
        // other.
        assert!(!exchange(port, "127.0.0.1", &config, &store).unwrap().0.resumed);
        assert!(!exchange(port, "::1", &config, &store).unwrap().0.resumed);
        assert!(!resumed(&config, &SessionStore::new()));
        store.clear();
        assert!(!resumed(&config, &store));
        server.join().unwrap();
        other_server.join().unwrap();
    }
}

#[test]
fn idle_connections_digest_tickets_and_see_the_end() {
    let authority = Authority::new();
    for config in by_either(trusting(&authority)) {
        let (say, hear) = std::sync::mpsc::channel::<u8>();
        let hear = std::sync::Mutex::new(hear);
        let (port, server) = serve(authority.good().server_config().unwrap(), 3, move |mut s| {
            let mut line = [0; 3];
            s.read_exact(&mut line).unwrap();
            s.write_all(b"hello").unwrap();
            match hear.lock().unwrap().recv().unwrap() {
                0 => {
                    s.conn.send_close_notify();
                    s.flush().unwrap();
                    let _ = s.read(&mut line);
                }
                1 => s.write_all(b"unasked").unwrap(),
                _ => drop(s),
            }
        });
        for how in 0..3 {
            let (config, say) = (config.clone(), say.clone());
            run(move |reactor| {
                Box::pin(async move {
                    let store = SessionStore::new();
                    let mut f = connect(port, &reactor, &config, &store).await.unwrap();
                    f.write_all(b"go\n").await.unwrap();
                    let mut buf = [0; 100];
                    assert_eq!(f.read(&mut buf).await.unwrap(), 5);
                    f.detach();
                    assert_eq!(f.idle_state(), Idle::Alive);
                    say.send(how).unwrap();
                    let start = Instant::now();
                    let state = loop {
                        match f.idle_state() {
                            Idle::Alive if start.elapsed() < Duration::from_secs(5) => {
                                std::thread::sleep(Duration::from_millis(1));
                            }
                            state => break state,
                        }
                    };
                    assert_eq!(state, if how == 1 { Idle::Data } else { Idle::Closed });
                    if how == 1 {
                        f.attach(&reactor, 0);
                        assert_eq!(f.read(&mut buf).await.unwrap(), 7);
                    }
                })
            });
        }
        server.join().unwrap();
    }
}

#[test]
fn the_processor_is_yielded_only_where_a_stream_has_nothing_left() {
    const ROOM: usize = 8;
    // The tries of one read (`None`: nothing has arrived), the yields for them, and whether it was full.
    type Row<'a> = (&'a str, bool, &'a [Option<usize>], usize, bool);
    let rows: [Row<'_>; 5] = [
        ("after a read with room to spare", false, &[Some(3)], 1, false),
        ("after such a read, and now full", false, &[Some(ROOM)], 1, true),
        ("after a full read, and full again", true, &[Some(ROOM)], 0, true),
        ("after a full read that was the last of it", true, &[None, Some(3)], 1, false),
        ("nothing, whatever was before", true, &[None, None], 1, false),
    ];
    for (name, mut full, tries, wanted, full_after) in rows {
        let (mut yields, mut left) = (0, tries.iter());
        let read = receive_in_stream(
            &mut [0; ROOM],
            &mut full,
            || yields += 1,
            |_| left.next().expect("no more tries").map_or(Poll::Pending, |n| Poll::Ready(Ok(n))),
        );
        assert_eq!(read.is_pending(), tries.last() == Some(&None), "{name}");
        assert_eq!((yields, full, left.len()), (wanted, full_after, 0), "{name}");
    }
}
