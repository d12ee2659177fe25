//! Key exchange with a server that misbehaves, and with methods that Debian's servers lack.

use crate::common::{agree, to_client, to_server};
use ml_kem::{EncapsulationKey768, Key};
use ring::digest::{self, digest};
use ssh::auth::{Login, Outcome};
use ssh::{Config, Error, Session, State, Step, Transport};
use testkit::ssh::{CURVE25519, Method, Peer, string, x25519};

const IGNORE: &[u8] = &[2, 0, 0, 0, 1, b'x'];
const EXT_INFO: u8 = 7;
const SUCCESS: &[u8] = &[52];

/// ML-KEM by another implementation than the client's.
const MLKEM: Method = Method {
    name: "mlkem768x25519-sha256",
    hash: &digest::SHA256,
    agree: |theirs| {
        let (key, point) = theirs.split_at(1184);
        let key = EncapsulationKey768::new(&Key::<EncapsulationKey768>::try_from(key).unwrap()).unwrap();
        let (ciphertext, first) = key.encapsulate_deterministic(&[9; 32].into());
        let both = |second: &[u8]| string(digest(&digest::SHA256, &[&first[..], second].concat()));
        let (ours, secret) = x25519(point, both);
        ([&ciphertext[..], &ours].concat(), secret)
    },
};

fn transport(config: Config) -> Transport {
    Transport::new(config).unwrap()
}

fn logged_in(config: Config, peer: &mut Peer) -> Session {
    let mut transport = transport(config);
    peer.offer();
    agree(&mut transport, peer).unwrap();
    let mut login = Login::new(b"user", []);
    login.begin(&mut transport, None).unwrap();
    to_server(&mut transport, peer);
    peer.send(SUCCESS);
    to_client(&mut transport, &peer.output());
    assert_eq!(transport.step().unwrap(), Some(Step::Message));
    assert_eq!(login.take(&mut transport).unwrap(), Some(Outcome::LoggedIn("none")));
    Session::new(transport)
}

#[test]
fn keys_are_agreed_on_by_each_method() {
    for (method, strict) in [(CURVE25519, true), (CURVE25519, false), (MLKEM, true), (MLKEM, false)] {
        let (mut transport, mut peer) = (transport(Config::default()), Peer::new(method, strict));
        peer.offer();
        agree(&mut transport, &mut peer).unwrap();
        assert_eq!(transport.algorithms()[0], method.name);
        peer.send(
            &[&[EXT_INFO, 0, 0, 0, 1][..], &string("server-sig-algs"), &string("ssh-ed25519")].concat(),
        );
        to_client(&mut transport, &peer.output());
        assert_eq!(transport.step().unwrap(), None);
        assert_eq!(transport.signature_algorithms(), ["ssh-ed25519"]);
    }
}

/// A packet injected into the first exchange, which is not authenticated, shifts the numbers of later ones,
/// so that the first of them can be removed unnoticed (CVE-2023-48795). A server that resets its counters
/// prevents both.
#[test]
fn an_inserted_message_ends_a_strict_exchange() {
    for (before, behind) in [(true, false), (false, true)] {
        let (mut transport, mut peer) = (transport(Config::default()), Peer::new(CURVE25519, true));
        if before {
            peer.send(IGNORE);
        }
        peer.offer();
        if behind {
            peer.send(IGNORE);
        }
        let failed = agree(&mut transport, &mut peer);
        assert!(matches!(failed, Err(Error::Protocol(_))), "{failed:?}");
    }
    let (mut transport, mut peer) = (transport(Config::default()), Peer::new(CURVE25519, false));
    peer.send(IGNORE);
    peer.offer();
    agree(&mut transport, &mut peer).unwrap();
}

/// The packet behind the keys is taken out: the next one does not fit.
#[test]
fn a_removed_message_after_a_strict_exchange_is_detected() {
    let (mut transport, mut peer) = (transport(Config::default()), Peer::new(CURVE25519, true));
    peer.offer();
    agree(&mut transport, &mut peer).unwrap();
    peer.send(&[EXT_INFO, 0, 0, 0, 0]);
    drop(peer.output());
    peer.send(IGNORE);
    to_client(&mut transport, &peer.output());
    assert!(transport.step().is_err());
}

#[test]
fn a_damaged_half_is_refused() {
    const SHORT: Method = Method { agree: |_| (vec![9; 100], string(b"")), ..MLKEM };
    const ZERO: Method = Method { agree: |_| (vec![0; 32], string(b"")), ..CURVE25519 };
    for method in [SHORT, ZERO] {
        let (mut transport, mut peer) = (transport(Config::default()), Peer::new(method, true));
        peer.offer();
        let failed = agree(&mut transport, &mut peer);
        assert!(matches!(failed, Err(Error::Exchange(_))), "{failed:?}");
    }
}

fn open(session: &mut Session, peer: &mut Peer) -> usize {
    let id = session.open().unwrap();
    to_server(session.transport(), peer);
    let numbers = [id as u32, 5, 4 << 20, 32768].map(u32::to_be_bytes).concat();
    peer.send(&[&[91][..], &numbers].concat());
    to_client(session.transport(), &peer.output());
    session.take_in().unwrap();
    assert_eq!(session.channel(id).unwrap().state(), &State::Open);
    id
}

/// Either side renews the keys, or both do at once, while data goes both ways; nothing is lost or duplicated.
#[test]
fn keys_are_renewed_by_either_side_while_data_flows() {
    for strict in [true, false] {
        let mut peer = Peer::new(CURVE25519, strict);
        let mut session = logged_in(Config { rekey_bytes: 100_000, ..Config::default() }, &mut peer);
        let id = open(&mut session, &mut peer);
        let (mut up, mut down) = (0u32, 0u32);
        let (mut came_up, mut came_down) = (Vec::new(), Vec::new());
        for round in 0..400u32 {
            if round % 50 == 7 {
                peer.offer();
            }
            if round % 90 == 17 {
                session.transport().rekey().unwrap();
            }
            let piece: Vec<u8> = (0..500).flat_map(|i| (up + i).to_be_bytes()).collect();
            up += session.send(id, &piece).unwrap() as u32 / 4;
            // While keys are exchanged a server sends no data either.
            if !peer.is_exchanging() {
                let piece: Vec<u8> = (0..500).flat_map(|i| (down + i).to_be_bytes()).collect();
                down += 500;
                peer.send(&[&[94][..], &(id as u32).to_be_bytes(), &string(piece)].concat());
            }
            for message in to_server(session.transport(), &mut peer) {
                if message[0] == 94 {
                    came_up.extend_from_slice(&message[9..]);
                }
            }
            to_client(session.transport(), &peer.output());
            session.take_in().unwrap();
            let data = session.channel(id).unwrap().data().to_vec();
            session.consume(id, data.len()).unwrap();
            came_down.extend(data);
        }
        for message in to_server(session.transport(), &mut peer) {
            assert_eq!(message[0], 94);
            came_up.extend_from_slice(&message[9..]);
        }
        let counted = |n: u32| (0..n).flat_map(u32::to_be_bytes).collect::<Vec<u8>>();
        assert!(peer.exchanges > 10, "{} exchanges", peer.exchanges);
        assert!(came_down == counted(down) && came_up == counted(up), "strict {strict}");
    }
}

/// Nothing is sent during a key exchange, and the sender is notified when it is over.
#[test]
fn a_blocked_sender_is_notified_when_new_keys_are_in_use() {
    let mut peer = Peer::new(CURVE25519, true);
    let mut session = logged_in(Config::default(), &mut peer);
    let id = open(&mut session, &mut peer);
    session.transport().rekey().unwrap();
    session.news();
    while !session.transport().is_open() {
        assert_eq!((session.send(id, b"x").unwrap(), session.news()), (0, vec![]));
        to_server(session.transport(), &mut peer);
        to_client(session.transport(), &peer.output());
        session.take_in().unwrap();
    }
    assert_eq!((session.news(), session.send(id, b"x").unwrap()), (vec![id], 1));
}

/// A reader that stops buffers at most its window; another channel continues.
#[test]
fn a_slow_reader_holds_its_window_and_nobody_else() {
    let mut peer = Peer::new(CURVE25519, true);
    let mut session = logged_in(Config::default(), &mut peer);
    let (slow, quick) = (open(&mut session, &mut peer), open(&mut session, &mut peer));
    let piece = vec![1; 32 << 10];
    let mut send = |session: &mut Session, id: usize| {
        peer.send(&[&[94][..], &(id as u32).to_be_bytes(), &string(&piece)].concat());
        to_client(session.transport(), &peer.output());
        let taken = session.take_in();
        to_server(session.transport(), &mut peer);
        taken
    };
    for _ in 0..64 {
        send(&mut session, slow).unwrap();
    }
    for _ in 0..1000 {
        send(&mut session, quick).unwrap();
        session.consume(quick, piece.len()).unwrap();
    }
    assert_eq!(session.channel(slow).unwrap().data().len(), 2 << 20);
    assert!(send(&mut session, slow).is_err(), "it was given no more room");
}
