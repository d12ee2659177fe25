//! An SSH server as a state machine, without I/O: identification, key exchange whenever either side wants it,
//! and packets of chacha20-poly1305@openssh.com. Its user implements the layers above, and faults that no
//! good server has.

use std::ops::Range;

use ring::aead::chacha20_poly1305_openssh::{OpeningKey, SealingKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::digest::{self, Context};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};

const KEXINIT: u8 = 20;
const NEWKEYS: u8 = 21;
const KEX_INIT: u8 = 30;
const KEX_REPLY: u8 = 31;
const IDENTIFICATION: &[u8] = b"SSH-2.0-Peer";
const CIPHER: &str = "chacha20-poly1305@openssh.com";
const TAG: usize = 16;

/// Our public value, and the secret in the form that is hashed.
pub type Agreed = (Vec<u8>, Vec<u8>);

/// A way to agree on a secret.
#[derive(Clone, Copy)]
pub struct Method {
    pub name: &'static str,
    pub hash: &'static digest::Algorithm,
    /// Computes our side from the client's public value.
    pub agree: fn(&[u8]) -> Agreed,
}

/// curve25519-sha256 (RFC 8731).
pub const CURVE25519: Method =
    Method { name: "curve25519-sha256", hash: &digest::SHA256, agree: |theirs| x25519(theirs, mpint) };

/// X25519 with a client's point: our point, and a function of the shared secret.
pub fn x25519(theirs: &[u8], of: impl FnOnce(&[u8]) -> Vec<u8>) -> Agreed {
    let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).unwrap();
    let public = private.compute_public_key().unwrap().as_ref().to_vec();
    let secret = agree_ephemeral(private, &UnparsedPublicKey::new(&X25519, theirs), of);
    (public, secret.expect("the client's point is one"))
}

/// A length and the bytes.
pub fn string(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// A number that is not negative.
pub fn mpint(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros..];
    let sign: &[u8] = if bytes.first().is_some_and(|first| first & 0x80 != 0) { &[0] } else { &[] };
    string([sign, bytes].concat())
}

fn hash(algorithm: &'static digest::Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut context = Context::new(algorithm);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().to_vec()
}

/// The server's side of a connection.
pub struct Peer {
    method: Method,
    /// Whether packet counters are reset with each key, if the client does so, too.
    strict: bool,
    host_key: Ed25519KeyPair,
    seal: Option<SealingKey>,
    open: Option<OpeningKey>,
    next_open: Option<OpeningKey>,
    sent: u32,
    received: u32,
    out: Vec<u8>,
    input: Vec<u8>,
    client: Option<Vec<u8>>,
    our_offer: Option<Vec<u8>>,
    their_offer: Option<Vec<u8>>,
    session: Option<Vec<u8>>,
    /// How often both sides have changed their keys.
    pub exchanges: usize,
}

impl Peer {
    /// Creates a peer that starts with its identification; [`Peer::offer`] sends its offer.
    pub fn new(method: Method, strict: bool) -> Peer {
        Peer {
            method,
            strict,
            host_key: Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap(),
            seal: None,
            open: None,
            next_open: None,
            sent: 0,
            received: 0,
            out: [IDENTIFICATION, b"\r\n"].concat(),
            input: Vec::new(),
            client: None,
            our_offer: None,
            their_offer: None,
            session: None,
            exchanges: 0,
        }
    }

    /// Offers an exchange of keys, unless that is done already.
    pub fn offer(&mut self) {
        if self.our_offer.is_some() {
            return;
        }
        let strict = if self.strict { ",kex-strict-s-v00@openssh.com" } else { "" };
        let mut message = vec![KEXINIT];
        message.extend_from_slice(&[0; 16]);
        message.extend(string(format!("{}{strict}", self.method.name)));
        for list in ["ssh-ed25519", CIPHER, CIPHER, "hmac-sha2-256", "hmac-sha2-256", "none", "none", "", ""]
        {
            message.extend(string(list));
        }
        message.extend_from_slice(&[0; 5]);
        self.send(&message);
        self.our_offer = Some(message);
    }

    /// Whether keys are being exchanged.
    pub fn is_exchanging(&self) -> bool {
        self.our_offer.is_some()
    }

    /// Sends any message.
    pub fn send(&mut self, payload: &[u8]) {
        let counted = if self.seal.is_some() { 1 } else { 5 } + payload.len();
        let padding = 4 + (8 - (counted + 4) % 8) % 8;
        let mut packet = ((1 + payload.len() + padding) as u32).to_be_bytes().to_vec();
        packet.push(padding as u8);
        packet.extend_from_slice(payload);
        packet.resize(packet.len() + padding, 0);
        if let Some(key) = &self.seal {
            let mut tag = [0; TAG];
            key.seal_in_place(self.sent, &mut packet, &mut tag);
            packet.extend_from_slice(&tag);
        }
        self.out.extend_from_slice(&packet);
        self.sent = self.sent.wrapping_add(1);
    }

    /// Returns output for the client.
    pub fn output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Processes the client's bytes, handles the key exchange, and returns the other messages.
    pub fn input(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.input.extend_from_slice(bytes);
        let mut messages = Vec::new();
        if self.client.is_none() {
            let Some(end) = self.input.iter().position(|byte| *byte == b'\n') else { return messages };
            let line: Vec<u8> = self.input.drain(..=end).collect();
            self.client = Some(line.trim_ascii_end().to_vec());
        }
        while let Some(message) = self.packet() {
            match message[0] {
                KEXINIT => {
                    self.offer();
                    self.their_offer = Some(message);
                }
                KEX_INIT => self.agree(&message),
                NEWKEYS => {
                    self.open = self.next_open.take();
                    assert!(self.open.is_some(), "the client changes keys that nobody has agreed on");
                    (self.our_offer, self.their_offer) = (None, None);
                    self.exchanges += 1;
                    if self.strict {
                        self.received = 0;
                    }
                }
                _ => messages.push(message),
            }
        }
        messages
    }

    fn packet(&mut self) -> Option<Vec<u8>> {
        let first: [u8; 4] = self.input.get(..4)?.try_into().ok()?;
        let (length, tag) = match &self.open {
            Some(key) => (key.decrypt_packet_length(self.received, first), TAG),
            None => (first, 0),
        };
        let end = 4 + u32::from_be_bytes(length) as usize;
        if self.input.len() < end + tag {
            return None;
        }
        let mut packet: Vec<u8> = self.input.drain(..end + tag).collect();
        let body = match &self.open {
            Some(key) => {
                let tag: [u8; TAG] = packet.split_off(end).try_into().ok()?;
                key.open_in_place(self.received, &mut packet, &tag).expect("the client seals well").to_vec()
            }
            None => packet.split_off(4),
        };
        self.received = self.received.wrapping_add(1);
        let payload: Range<usize> = 1..body.len() - usize::from(body[0]);
        Some(body[payload].to_vec())
    }

    /// Answers the client's half with ours, proves who we are, and changes the keys.
    fn agree(&mut self, message: &[u8]) {
        let theirs = &message[5..];
        let (ours, secret) = (self.method.agree)(theirs);
        let key = [string("ssh-ed25519"), string(self.host_key.public_key())].concat();
        let of = |part: &Option<Vec<u8>>| string(part.as_ref().expect("an offer comes first"));
        let exchange = hash(
            self.method.hash,
            &[
                &of(&self.client),
                &string(IDENTIFICATION),
                &of(&self.their_offer),
                &of(&self.our_offer),
                &string(&key),
                &string(theirs),
                &string(&ours),
                &secret,
            ],
        );
        let session = self.session.get_or_insert_with(|| exchange.clone()).clone();
        let signature = [string("ssh-ed25519"), string(self.host_key.sign(&exchange))].concat();
        self.send(&[vec![KEX_REPLY], string(&key), string(&ours), string(&signature)].concat());
        self.send(&[NEWKEYS]);
        let derived = |letter: u8| -> [u8; 64] {
            let mut out = hash(self.method.hash, &[&secret, &exchange, &[letter], &session]);
            if out.len() < 64 {
                out.extend(hash(self.method.hash, &[&secret, &exchange, &out]));
            }
            out[..64].try_into().unwrap()
        };
        self.next_open = Some(OpeningKey::new(&derived(b'C')));
        self.seal = Some(SealingKey::new(&derived(b'D')));
        if self.strict {
            self.sent = 0;
        }
    }
}
