//! A TLS connection that changes its process between two exchanges: the server notices nothing.

use super::tests::*;
use super::*;
use crate::handover::{ConnectionState, Layer, Obstacle, Packed, pack, unpack};
use crate::tls::{TlsConfig, TlsVersion};
use crate::{Connection, ConnectionKey, HashedKey};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use testkit::certs::Authority;

/// A key for connections whose protocol has no state.
fn key() -> HashedKey {
    ConnectionKey::default().into()
}

/// Moves a connection as if to another process: nothing but the socket and the bytes goes over.
fn moved(filter: Box<dyn Filter>, reactor: &Arc<Reactor>) -> Box<dyn Filter> {
    let now = reactor.now();
    let connection = Box::new(Connection::new(key(), filter, Default::default(), now));
    let packed = pack(connection, now).map_err(|(obstacle, _)| obstacle).unwrap();
    let mut connection = unpack(packed, &key(), now, |_, _, _| None).unwrap();
    connection.carrier.attach(reactor, 0);
    connection.carrier
}

/// Answers each line with its bytes in reverse.
fn reverse(mut s: ServerStream) {
    let mut reader = BufReader::new(&mut s);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n| n > 0) {
        let answer: String = line.trim_end().chars().rev().chain(['\n']).collect();
        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
        line.clear();
    }
}

async fn ask(f: &mut dyn Filter, line: &str) -> String {
    f.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    let mut got = vec![0; line.len() + 1];
    f.read_exact(&mut got).await.unwrap();
    String::from_utf8(got).unwrap()
}

/// Every cipher of both versions.
fn configs(authority: &Authority) -> Vec<Arc<TlsConfig>> {
    let with = |change: &dyn Fn(&mut TlsConfig)| {
        let mut config = TlsConfig { certinfo: true, ..trusting(authority) };
        change(&mut config);
        Arc::new(config)
    };
    let tls13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
    let tls12 = ["ECDHE+AES128", "ECDHE+AES256", "ECDHE+CHACHA20"];
    let of_tls13 = tls13.map(|suite| {
        with(&|config| {
            config.min_version = TlsVersion::Tls13;
            config.tls13_ciphers = Some(suite.into());
        })
    });
    let of_tls12 = tls12.map(|list| {
        with(&|config| {
            config.max_version = TlsVersion::Tls12;
            config.cipher_list = Some(list.into());
        })
    });
    of_tls13.into_iter().chain(of_tls12).collect()
}

/// Runs `test` on a connection of each cipher, to a server that answers by [`reverse`].
fn with_each_cipher(test: impl AsyncFn(Box<dyn Filter>, &Arc<Reactor>) + Copy + 'static) {
    let authority = Authority::new();
    for config in configs(&authority) {
        let (port, server) = serve(authority.good().server_config().unwrap(), 1, reverse);
        run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let filter = agree(socket(port, &reactor), &config, "localhost", port, &store).await;
                test(filter.unwrap(), &reactor).await;
            })
        });
        server.join().unwrap();
    }
}

#[test]
fn a_connection_goes_on_after_each_of_many_moves() {
    with_each_cipher(async |mut f, reactor| {
        let before = TlsInfo::clone(f.tls().unwrap());
        assert!(!before.certinfo.is_empty());
        for round in 0..20 {
            assert_eq!(ask(f.as_mut(), "over").await, "revo\n", "{round}, {}", before.cipher);
            assert_eq!(f.idle_state(), Idle::Alive);
            f = moved(f, reactor);
        }
        let after = TlsInfo { sessions: before.sessions.clone(), ..TlsInfo::clone(f.tls().unwrap()) };
        assert_eq!(format!("{after:?}"), format!("{before:?}"), "infos stay");
        f.retire();
    });
}

/// Keys are renewed on both sides of a move, by us and by the server.
#[test]
fn keys_are_renewed_after_a_move() {
    let authority = Authority::new();
    let config = Arc::new(TlsConfig { min_version: TlsVersion::Tls13, ..trusting(&authority) });
    let (port, server) = serve(authority.good().server_config().unwrap(), 1, |mut s| {
        let mut byte = [0];
        while std::io::Read::read(&mut s, &mut byte).is_ok_and(|n| n > 0) {
            s.conn.refresh_traffic_keys().unwrap();
            s.write_all(&byte).unwrap();
        }
    });
    run(move |reactor| {
        Box::pin(async move {
            let below = socket(port, &reactor);
            let store = SessionStore::new();
            let mut f = handshake(below, &config, "localhost", port, &store).await.unwrap();
            for round in 0..12u8 {
                f.key_limit = 3;
                let filter: &mut dyn Filter = f.as_mut();
                for byte in [round, 100 + round] {
                    filter.write_all(&[byte]).await.unwrap();
                    let mut got = [0];
                    filter.read_exact(&mut got).await.unwrap();
                    assert_eq!(got, [byte]);
                }
                let (below, state) = f.into_state();
                f = TlsFilter::restored(below, state).unwrap();
            }
            f.retire();
        })
    });
    server.join().unwrap();
}

/// The numbers under which records are sealed, as the pair of secret and sequence number: none comes twice,
/// and a layer that was taken apart seals nothing.
#[test]
fn no_sequence_number_comes_twice() {
    with_each_cipher(async |mut f, reactor| {
        ask(f.as_mut(), "first").await; // with it leaves the last flight of the handshake
        let mut used = HashSet::new();
        for _ in 0..10 {
            let first = position(&mut f, reactor);
            ask(f.as_mut(), "x").await;
            ask(f.as_mut(), "y").await;
            let next = position(&mut f, reactor);
            assert_eq!((&first.0, first.1 + 2), (&next.0, next.1), "each record takes one number");
            for number in first.1..next.1 {
                assert!(used.insert((first.0.clone(), number)), "number {number} comes twice");
            }
        }
        f.retire();
    });
}

/// Returns the sending secret and the number of the next record, by a move.
fn position(f: &mut Box<dyn Filter>, reactor: &Arc<Reactor>) -> (Vec<u8>, u64) {
    let empty: Box<dyn Filter> = Box::new(crate::filter::SocketFilter::new(unused()));
    let now = reactor.now();
    let connection = Box::new(Connection::new(key(), std::mem::replace(f, empty), Default::default(), now));
    let packed = pack(connection, now).map_err(|(obstacle, _)| obstacle).unwrap();
    let state = ConnectionState::decode(&packed.state).unwrap();
    let Some(Layer::Tls(tls)) = state.layers.first() else { panic!("TLS is the only layer") };
    let position = (tls.sending.secret.to_vec(), tls.sending.sequence);
    let mut connection = unpack(packed, &key(), now, |_, _, _| None).unwrap();
    connection.carrier.attach(reactor, 0);
    *f = connection.carrier;
    position
}

/// A socket that is used for nothing.
fn unused() -> Socket {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_nonblocking(true).unwrap();
    Socket::new(stream.into())
}

#[test]
fn buffered_or_ended_connections_do_not_move() {
    let authority = Authority::new();
    let config = both(trusting(&authority))[0].clone();
    let (port, server) = serve(authority.good().server_config().unwrap(), 1, reverse);
    run(move |reactor| {
        Box::pin(async move {
            let below = socket(port, &reactor);
            let store = SessionStore::new();
            let mut f = handshake(below, &config, "localhost", port, &store).await.unwrap();
            let filter: &mut dyn Filter = f.as_mut();
            filter.write_all(b"ab\n").await.unwrap();
            let mut one = [0];
            filter.read_exact(&mut one).await.unwrap();
            assert_eq!(f.portable(), Err(Obstacle::Buffered), "two bytes are decrypted and not read");
            (f.as_mut() as &mut dyn Filter).read_exact(&mut [0; 2]).await.unwrap();
            assert_eq!(f.portable(), Ok(()));
            f.inbox = vec![23, 3];
            assert_eq!(f.portable(), Err(Obstacle::Buffered), "part of a record");
            f.inbox.clear();
            f.outbox = vec![1];
            assert_eq!(f.portable(), Err(Obstacle::Buffered), "bytes that the socket did not take");
            f.outbox.clear();
            f.say_goodbye();
            assert_eq!(f.portable(), Err(Obstacle::NotOpen), "close_notify is sent");
        })
    });
    server.join().unwrap();
}

/// States that no connection has: an error, never a key of another shape.
#[test]
fn states_of_no_connection_are_refused() {
    let good = || crate::handover::TlsState {
        suite: 0x1301,
        sending: crate::handover::state::Direction { secret: vec![1; 32].into(), sequence: 7 },
        receiving: crate::handover::state::Direction { secret: vec![2; 32].into(), sequence: 9 },
        asked_for_keys: false,
        group: "X25519".into(),
        alpn: None,
        exported: None,
        peer_cert: None,
        resumed: false,
        early: 0,
        verify_result: 0,
        certinfo: Vec::new(),
    };
    let accepts = |change: &dyn Fn(&mut crate::handover::TlsState)| {
        let mut state = good();
        change(&mut state);
        let state = ConnectionState {
            endpoints: Default::default(),
            answers_http10: false,
            address_fresh_ms: None,
            farewell: Vec::new(),
            layers: vec![Layer::Tls(Box::new(state))],
            memory: None,
        };
        let zero = std::time::Duration::ZERO;
        let packed = Packed { age: zero, idle: zero, uses: 1, state: state.encode(), socket: unused() };
        unpack(packed, &key(), std::time::Instant::now(), |_, _, _| None).is_ok()
    };
    assert!(accepts(&|_| ()));
    assert!(!accepts(&|state| state.suite = 0x002f), "a suite that is not offered");
    assert!(!accepts(&|state| state.sending.secret = vec![1; 31].into()));
    assert!(!accepts(&|state| state.receiving.secret = vec![1; 48].into()));
    assert!(!accepts(&|state| state.suite = 0x1302), "its secrets have 48 bytes");
    assert!(!accepts(&|state| state.suite = 0xc02f), "TLS 1.2 has a key of 16 bytes and an IV of 12");
    assert!(!accepts(&|state| state.group = "X448".into()));
}
