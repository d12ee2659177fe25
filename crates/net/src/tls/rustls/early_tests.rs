//! Early data against rustls servers in this process and OpenSSL's `s_server`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use rustls::crypto::ring;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use testkit::certs::Authority;
use testkit::temp::TempDir;

use super::drive::handshake_with;
use super::early::begin_early;
use super::peers::OpensslServer;
use super::tests::{ServerStream, run, socket, trusting};
use super::*;
use crate::NetErrorKind;
use crate::tls::TlsConfig;
use crate::tls::handshake::Server;
use crate::tls::{Late, TlsInfo};

/// The early data and the later data that a server received.
type ReceivedData = (Vec<u8>, Vec<u8>);

/// Serves one connection with each configuration: reads early data, then until the empty line, and answers;
/// sooner where TLS allows it.
fn serve(configs: Vec<Arc<ServerConfig>>) -> (u16, JoinHandle<Vec<ReceivedData>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut resumed = false;
    let accept = move |config: Arc<ServerConfig>| {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let sooner = std::mem::replace(&mut resumed, true) && config.send_half_rtt_data;
        let stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
        if sooner { answer_at_once(stream) } else { receive(stream) }
    };
    (port, std::thread::spawn(move || configs.into_iter().map(accept).collect()))
}

fn receive(mut s: ServerStream) -> ReceivedData {
    let (mut early, mut later) = (Vec::new(), Vec::new());
    while s.conn.is_handshaking() {
        if s.conn.complete_io(&mut s.sock).is_err() {
            break;
        }
        if let Some(mut data) = s.conn.early_data() {
            data.read_to_end(&mut early).unwrap();
        }
    }
    let (mut byte, mut over) = ([0], early.ends_with(b"\n\n"));
    // Early data and later data are one stream.
    let mut before = early.last().copied();
    while !over && s.read(&mut byte).unwrap_or(0) == 1 {
        later.push(byte[0]);
        over = before == Some(b'\n') && byte[0] == b'\n';
        before = Some(byte[0]);
    }
    let _ = s.write_all(b"answer");
    s.conn.send_close_notify();
    let _ = s.flush();
    (early, later)
}

fn server(authority: &Authority, max: u32, alpn: &[&str]) -> Arc<ServerConfig> {
    let mut config = (*authority.good().server_config().unwrap()).clone();
    config.max_early_data_size = max;
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

fn client(authority: &Authority, alpn: &[&str]) -> Arc<TlsConfig> {
    Arc::new(TlsConfig { alpn: alpn.iter().map(ToString::to_string).collect(), ..trusting(authority) })
}

/// One exchange by early data where the session allows it: what was agreed on, and the reply.
fn exchange(
    port: u16,
    config: &Arc<TlsConfig>,
    store: &SessionStore,
    request: Vec<u8>,
) -> (Result<TlsInfo, crate::NetError>, io::Result<Vec<u8>>) {
    let (config, store) = (config.clone(), store.clone());
    run(move |reactor| {
        Box::pin(async move {
            let sessions = store.begin(Server::new(&config, "localhost", port)).unwrap();
            let below = socket(port, &reactor);
            let peer = ("localhost", port);
            let mut filter: Box<dyn Filter> = match sessions.early(&config.alpn) {
                Some(early) => Box::new(begin_early(below, &config, peer, &sessions, early).unwrap()),
                None => {
                    let filter = handshake_with(below, &config, peer, &sessions).await.unwrap();
                    sessions.settle(true);
                    filter
                }
            };
            let provisional = filter.tls().unwrap().clone();
            let _ = filter.write_all(&request).await;
            let mut got = Vec::new();
            let mut buf = vec![0; DIRECT];
            let end = loop {
                match filter.read(&mut buf).await {
                    Ok(0) => break Ok(got),
                    Ok(n) => got.extend_from_slice(&buf[..n]),
                    Err(e) => break Err(e),
                }
            };
            filter.retire();
            let late: Option<&Late> = provisional.late.as_deref();
            let info = match late.map(|late| late.get().expect("the handshake is over").clone()) {
                Some(outcome) => outcome.map(|info| {
                    assert_eq!(filter.tls().unwrap().early, info.early);
                    (*info).clone()
                }),
                None => Ok((*provisional).clone()),
            };
            (info, end)
        })
    })
}

/// Replies and closes before the client's part of the handshake has arrived, as nginx does without
/// keep-alive.
fn answer_at_once(mut s: ServerStream) -> ReceivedData {
    let mut early = Vec::new();
    while early.is_empty() {
        s.conn.read_tls(&mut s.sock).unwrap();
        s.conn.process_new_packets().unwrap();
        s.conn.early_data().unwrap().read_to_end(&mut early).unwrap();
    }
    s.conn.writer().write_all(b"at once").unwrap();
    s.conn.send_close_notify();
    while s.conn.wants_write() {
        s.conn.write_tls(&mut s.sock).unwrap();
    }
    let _ = s.conn.complete_io(&mut s.sock);
    (early, Vec::new())
}

const REQUEST: &[u8] = b"GET\n\n";

#[test]
fn first_bytes_leave_with_the_hello() {
    let authority = Authority::new();
    let (config, store) = (client(&authority, &["h2", "http/1.1"]), SessionStore::new());
    let here = server(&authority, 1000, &["http/1.1"]);
    let (port, server) = serve(vec![here; 3]);
    for round in 0..3 {
        let (info, reply) = exchange(port, &config, &store, REQUEST.to_vec());
        let info = info.unwrap();
        assert_eq!(reply.unwrap(), b"answer");
        assert_eq!((info.resumed, info.early), if round == 0 { (false, 0) } else { (true, 5) });
        assert_eq!(info.alpn.as_deref(), Some("http/1.1"));
        assert!(info.by_now().peer_cert.is_some(), "whom we speak to is known in the end");
    }
    let received = server.join().unwrap();
    let (early, later): ReceivedData = (REQUEST.to_vec(), Vec::new());
    assert_eq!(received, [(later.clone(), early.clone()), (early.clone(), later.clone()), (early, later)]);
}

#[test]
fn an_answer_may_come_before_the_handshake_is_over() {
    let authority = Authority::new();
    let (config, store) = (client(&authority, &["http/1.1"]), SessionStore::new());
    let mut here = (*server(&authority, 1000, &["http/1.1"])).clone();
    here.send_half_rtt_data = true;
    let here = Arc::new(here);
    let (port, server) = serve(vec![here.clone(), here]);
    for answer in [&b"answer"[..], b"at once"] {
        let (info, reply) = exchange(port, &config, &store, REQUEST.to_vec());
        info.unwrap();
        assert_eq!(reply.unwrap(), answer);
    }
    assert_eq!(server.join().unwrap()[1].0, REQUEST);
}

/// A server with other keys, and one that wants another group first (HelloRetryRequest). What they skip is
/// counted as it travels.
#[test]
fn refused_early_data_is_sent_again() {
    let authority = Authority::new();
    let provider = rustls::crypto::CryptoProvider {
        kx_groups: vec![ring::kx_group::SECP384R1],
        ..ring::default_provider()
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let plain = server(&authority, 10_000, &["http/1.1"]);
    let mut picky = builder.with_cert_resolver(plain.cert_resolver.clone());
    picky.max_early_data_size = 10_000;
    picky.alpn_protocols = plain.alpn_protocols.clone();
    let changed = [plain, Arc::new(picky)];
    for second in changed {
        for request in [REQUEST.to_vec(), [vec![b'x'; 5000], REQUEST.to_vec()].concat()] {
            let (config, store) = (client(&authority, &["http/1.1"]), SessionStore::new());
            let first = server(&authority, 1000, &["http/1.1"]);
            let (port, server) = serve(vec![first, second.clone()]);
            exchange(port, &config, &store, REQUEST.to_vec()).0.unwrap();
            let (info, reply) = exchange(port, &config, &store, request.clone());
            let sent = request.len().min(1000) as i64;
            assert_eq!(info.unwrap().early, -sent);
            assert_eq!(reply.unwrap(), b"answer");
            assert_eq!(server.join().unwrap()[1], (Vec::new(), request));
        }
    }
}

/// The bound is the session's, and ours: what goes beyond it waits for the handshake.
#[test]
fn long_uploads_go_on_after_the_handshake() {
    let authority = Authority::new();
    for (max, length, early) in [(10, 5000, 10), (20_000, 300_000, 20_000), (1_000_000, 300_000, early::MOST)]
    {
        let (config, store) = (client(&authority, &["http/1.1"]), SessionStore::new());
        let (port, server) = serve(vec![server(&authority, max, &["http/1.1"]); 2]);
        let mut request = testkit::body::pattern(length);
        request.retain(|b| *b != b'\n');
        request.extend_from_slice(b"\n\n");
        exchange(port, &config, &store, REQUEST.to_vec()).0.unwrap();
        let (info, reply) = exchange(port, &config, &store, request.clone());
        assert_eq!(info.unwrap().early, early as i64);
        assert_eq!(reply.unwrap(), b"answer");
        let received = server.join().unwrap().pop().unwrap();
        assert!(
            received.0 == request[..early] && received.1 == request[early..],
            "{} + {}",
            received.0.len(),
            received.1.len()
        );
    }
}

#[test]
fn only_what_was_spoken_before_is_spoken_early() {
    let authority = Authority::new();
    let speaks = |max, alpn: &[&str]| vec![server(&authority, max, alpn)];
    for (first, offer, allowed) in [
        (speaks(1000, &["h2"]), &["h2", "http/1.1"][..], Some("h2")),
        (speaks(1000, &["h2"]), &["http/1.1"], None),
        (speaks(1000, &[]), &["http/1.1"], None),
        (speaks(1000, &[]), &[], None),
        (speaks(0, &["h2"]), &["h2"], None),
    ] {
        let (config, store) = (client(&authority, &["h2", "http/1.1"]), SessionStore::new());
        let (port, server) = serve(first);
        exchange(port, &config, &store, REQUEST.to_vec()).0.unwrap();
        server.join().unwrap();
        let next = client(&authority, offer);
        assert_eq!(store.has_early(&next, "localhost", port), allowed.is_some(), "{offer:?}");
        assert!(!store.has_early(&next, "localhost", port + 1));
        let sessions = store.begin(Server::new(&next, "localhost", port)).unwrap();
        assert_eq!(sessions.early(&next.alpn).map(|early| early.alpn.to_string()).as_deref(), allowed);
    }
}

/// A server that accepts early data must still prove its identity and agree to the protocol. Otherwise
/// nothing of its reply is read.
#[test]
fn a_server_that_has_changed_is_refused() {
    let authority = Authority::new();
    let (good, alpn) = (server(&authority, 1000, &["http/1.1"]), &["h2", "http/1.1"]);
    let mut stranger = (*Authority::new().good().server_config().unwrap()).clone();
    stranger.alpn_protocols = vec![b"http/1.1".to_vec()];
    for (second, kind) in [
        (Arc::new(stranger), NetErrorKind::PeerFailedVerification),
        (server(&authority, 1000, &[]), NetErrorKind::SslConnectError),
        (server(&authority, 1000, &["h2"]), NetErrorKind::SslConnectError),
    ] {
        let (config, store) = (client(&authority, alpn), SessionStore::new());
        let (port, server) = serve(vec![good.clone(), second]);
        exchange(port, &config, &store, REQUEST.to_vec()).0.unwrap();
        let (info, reply) = exchange(port, &config, &store, REQUEST.to_vec());
        assert_eq!(info.expect_err("was accepted").kind, kind);
        assert!(reply.is_err() && store.is_empty());
        assert_eq!(server.join().unwrap()[1].0, b"");
    }
}

/// `s_server` reads early data before it answers, and says so on its output.
#[test]
fn openssl_takes_early_data() {
    let authority = Authority::new();
    let dir = TempDir::new("s_server").unwrap();
    let arguments = ["-early_data", "-alpn", "http/1.1", "-no_anti_replay", "-naccept", "3"];
    let (mut openssl, port) = OpensslServer::start(&dir, &authority.good(), &arguments);
    let output = std::io::BufReader::new(openssl.0.stdout.take().unwrap());
    let (say, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::BufRead::lines(output).map_while(Result::ok) {
            let _ = say.send(line);
        }
    });
    let config = client(&authority, &["http/1.1"]);
    run(move |reactor| {
        Box::pin(async move {
            let store = SessionStore::new();
            let peer = ("localhost", port);
            for round in 0..2 {
                let sessions = store.begin(Server::new(&config, peer.0, port)).unwrap();
                let below = socket(port, &reactor);
                let mut filter: Box<dyn Filter> = match round {
                    0 => handshake_with(below, &config, peer, &sessions).await.unwrap(),
                    _ => {
                        let early = sessions.early(&config.alpn).expect("a session that allows it");
                        Box::new(begin_early(below, &config, peer, &sessions, early).unwrap())
                    }
                };
                sessions.settle(true);
                filter.write_all(b"this leaves first\n").await.unwrap();
                let start = std::time::Instant::now();
                let (mut reported, mut settled) = (false, false);
                while !reported || !settled {
                    assert!(
                        start.elapsed() < std::time::Duration::from_secs(10),
                        "{round}: {reported} {settled}"
                    );
                    reactor.sleep(std::time::Duration::from_millis(2)).await;
                    std::future::poll_fn(|cx| Poll::Ready(filter.poll_read(cx, &mut [0]).is_ready())).await;
                    reported |= heard.try_iter().any(|line: String| line.contains("this leaves first"));
                    let over = filter.tls().unwrap().late.is_none();
                    settled |= over && store.has_early(&config, peer.0, port);
                }
                assert_eq!(filter.tls().unwrap().early, if round == 0 { 0 } else { 18 });
                filter.retire();
            }
        })
    });
}
