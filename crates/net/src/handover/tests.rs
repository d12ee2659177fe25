//! The encoding on generated values: it survives the way there and back, and only itself is accepted.

use testkit::dice::Dice;

use super::state::Direction;
use super::*;
use crate::connect::Endpoints;

fn bytes(dice: &mut Dice, most: usize) -> Vec<u8> {
    (0..dice.roll(most + 1)).map(|_| dice.roll(256) as u8).collect()
}

fn text(dice: &mut Dice) -> String {
    (0..dice.roll(12)).map(|_| ['a', 'Z', ' ', '\u{e9}', '\u{1f980}'][dice.roll(5)]).collect()
}

fn maybe<T>(dice: &mut Dice, make: impl FnOnce(&mut Dice) -> T) -> Option<T> {
    (dice.roll(2) == 1).then(|| make(dice))
}

fn address(dice: &mut Dice) -> std::net::SocketAddr {
    use std::net::{Ipv4Addr, SocketAddrV4, SocketAddrV6};
    let port = dice.roll(1 << 16) as u16;
    match dice.roll(2) {
        0 => SocketAddrV4::new(Ipv4Addr::from(dice.roll(usize::MAX) as u32), port).into(),
        _ => {
            let ip = (dice.roll(usize::MAX) as u128) << 64 | dice.roll(usize::MAX) as u128;
            SocketAddrV6::new(ip.into(), port, dice.roll(9) as u32, dice.roll(9) as u32).into()
        }
    }
}

fn direction(dice: &mut Dice) -> Direction {
    Direction { secret: Zeroizing::new(bytes(dice, 48)), sequence: dice.roll(usize::MAX) as u64 }
}

fn tls(dice: &mut Dice) -> TlsState {
    TlsState {
        suite: dice.roll(1 << 16) as u16,
        sending: direction(dice),
        receiving: direction(dice),
        asked_for_keys: dice.roll(2) == 1,
        group: text(dice),
        alpn: maybe(dice, text),
        exported: maybe(dice, |dice| std::array::from_fn(|_| dice.roll(256) as u8)),
        peer_cert: maybe(dice, |dice| bytes(dice, 300)),
        resumed: dice.roll(2) == 1,
        early: dice.roll(usize::MAX) as i64 - 7,
        verify_result: -(dice.roll(100) as i64),
        certinfo: (0..dice.roll(3)).map(|_| (0..dice.roll(4)).map(|_| text(dice)).collect()).collect(),
    }
}

fn state(dice: &mut Dice) -> ConnectionState {
    let layer = |dice: &mut Dice| match dice.roll(2) {
        0 => Layer::Tunnel,
        _ => Layer::Tls(Box::new(tls(dice))),
    };
    ConnectionState {
        endpoints: Endpoints { remote: maybe(dice, address), local: maybe(dice, address) },
        answers_http10: dice.roll(2) == 1,
        address_fresh_ms: maybe(dice, |dice| dice.roll(usize::MAX) as u64),
        farewell: bytes(dice, 20),
        layers: (0..dice.roll(5)).map(|_| layer(dice)).collect(),
        memory: maybe(dice, |dice| Zeroizing::new(bytes(dice, 100))),
    }
}

#[test]
fn states_survive_encoding_and_differ_in_it() {
    let mut dice = Dice::new(36);
    let mut before = (state(&mut dice), Zeroizing::new(Vec::new()));
    for _ in 0..2_000 {
        let value = state(&mut dice);
        let encoded = value.encode();
        assert_eq!(ConnectionState::decode(&encoded).as_ref(), Ok(&value));
        assert_eq!(encoded == before.1, value == before.0, "equal values alone have equal encodings");
        for length in [0, 1, encoded.len() / 2, encoded.len() - 1] {
            assert!(ConnectionState::decode(&encoded[..length]).is_err(), "cut to {length}");
        }
        let longer = [&encoded[..], b"\0"].concat();
        assert_eq!(ConnectionState::decode(&longer), Err(DecodeError::Length));
        before = (value, encoded);
    }
}

/// Whatever is accepted is what an encoder writes: there is no second encoding of one value.
#[test]
fn damaged_states_are_refused_or_canonical() {
    let mut dice = Dice::new(0x36);
    let mut accepted = 0;
    for _ in 0..5_000 {
        let mut encoded = state(&mut dice).encode();
        let at = dice.roll(encoded.len());
        encoded[at] = dice.roll(256) as u8;
        if let Ok(value) = ConnectionState::decode(&encoded) {
            accepted += 1;
            assert_eq!(value.encode(), encoded);
        }
    }
    assert!(accepted > 500, "damaged secrets and certificates are still bytes");
}

#[test]
fn lengths_beyond_the_input_take_no_memory() {
    let form = ConnectionState::decode(b"warmwire state 0\0");
    assert_eq!(form, Err(DecodeError::Version));
    // No addresses, HTTP/1.1, and a farewell of four billion bytes.
    let mut huge = b"warmwire state 2\0\0\0\0\0".to_vec();
    huge.extend_from_slice(&[0xff; 4]);
    assert_eq!(ConnectionState::decode(&huge), Err(DecodeError::Length));
    assert_eq!(ConnectionState::decode(&vec![0; MAX_SIZE + 1]), Err(DecodeError::Length));
}

#[test]
fn seeds_of_the_fuzz_target_are_states() {
    for seed in ["plain", "tls13", "proxy"] {
        let bytes = testkit::mutation::seed(&format!("tls_handover/{seed}"));
        assert!(ConnectionState::decode(&bytes).is_ok(), "{seed}");
    }
}
