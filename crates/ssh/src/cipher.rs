//! How packets are enciphered and authenticated (RFC 4253 §6, RFC 4344, RFC 5647, RFC 6668, OpenSSH's
//! PROTOCOL §1.1, §1.6 and PROTOCOL.chacha20poly1305): one value for each direction, from its keys to the
//! bytes of a packet.

use aes::cipher::{KeyIvInit, StreamCipher};
use zeroize::Zeroize;

use crate::crypto::{ChaChaOpen, ChaChaSeal, Gcm, Hash, Mac, Secret};
use crate::error::Error;

/// The longest packet that is taken, as in OpenSSH.
pub const MAX_PACKET: usize = 256 << 10;

/// A cipher by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    ChaCha20Poly1305,
    AesGcm { key: usize },
    AesCtr { key: usize },
}

/// Its name on the wire.
pub const CIPHERS: &[(&str, Cipher)] = &[
    ("aes128-gcm@openssh.com", Cipher::AesGcm { key: 16 }),
    ("chacha20-poly1305@openssh.com", Cipher::ChaCha20Poly1305),
    ("aes256-gcm@openssh.com", Cipher::AesGcm { key: 32 }),
    ("aes128-ctr", Cipher::AesCtr { key: 16 }),
    ("aes192-ctr", Cipher::AesCtr { key: 24 }),
    ("aes256-ctr", Cipher::AesCtr { key: 32 }),
];

/// A MAC: its hash, and whether it is computed over the ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacKind {
    pub hash: Hash,
    pub of_ciphertext: bool,
}

/// MACs over the ciphertext come first; the others are for older servers. There is no hmac-sha1: each server
/// that has one of our key exchange methods is younger than RFC 6668, which defines the MACs with SHA-2.
pub const MACS: &[(&str, MacKind)] = &[
    ("hmac-sha2-256-etm@openssh.com", MacKind { hash: Hash::Sha256, of_ciphertext: true }),
    ("hmac-sha2-512-etm@openssh.com", MacKind { hash: Hash::Sha512, of_ciphertext: true }),
    ("hmac-sha2-256", MacKind { hash: Hash::Sha256, of_ciphertext: false }),
    ("hmac-sha2-512", MacKind { hash: Hash::Sha512, of_ciphertext: false }),
];

impl Cipher {
    /// Whether it authenticates by itself.
    pub fn is_aead(self) -> bool {
        !matches!(self, Cipher::AesCtr { .. })
    }

    /// Bytes of key and of initial vector.
    pub fn needs(self) -> (usize, usize) {
        match self {
            Cipher::ChaCha20Poly1305 => (64, 0),
            Cipher::AesGcm { key } => (key, 12),
            Cipher::AesCtr { key } => (key, 16),
        }
    }
}

/// The keys of one direction.
pub struct Keys {
    pub cipher: Cipher,
    pub mac: Option<MacKind>,
    pub key: Secret,
    pub iv: Secret,
    pub mac_key: Secret,
}

type Ctr<A> = ctr::Ctr128BE<A>;

/// AES in counter mode.
pub enum Counter {
    Aes128(Box<Ctr<aes::Aes128>>),
    Aes192(Box<Ctr<aes::Aes192>>),
    Aes256(Box<Ctr<aes::Aes256>>),
}

impl Counter {
    pub fn new(key: &[u8], iv: &[u8]) -> Option<Counter> {
        Some(match key.len() {
            16 => Counter::Aes128(Box::new(Ctr::new_from_slices(key, iv).ok()?)),
            24 => Counter::Aes192(Box::new(Ctr::new_from_slices(key, iv).ok()?)),
            _ => Counter::Aes256(Box::new(Ctr::new_from_slices(key, iv).ok()?)),
        })
    }

    pub fn apply(&mut self, bytes: &mut [u8]) {
        match self {
            Counter::Aes128(ctr) => ctr.apply_keystream(bytes),
            Counter::Aes192(ctr) => ctr.apply_keystream(bytes),
            Counter::Aes256(ctr) => ctr.apply_keystream(bytes),
        }
    }
}

/// Makes packets.
pub enum Seal {
    Clear,
    ChaCha(Box<ChaChaSeal>),
    Gcm(Box<Gcm>),
    Ctr { counter: CounterState, mac: Box<Mac>, of_ciphertext: bool },
}

/// Opens packets.
pub enum Open {
    Clear,
    ChaCha(Box<ChaChaOpen>),
    Gcm(Box<Gcm>),
    Ctr { counter: CounterState, mac: Box<Mac>, of_ciphertext: bool },
}

/// A counter, and how many bytes of the current packet it has been applied to.
pub struct CounterState {
    counter: Counter,
    applied: usize,
}

const NO_KEY: Error = Error::Exchange("a key of a wrong length");

fn counter(keys: &Keys) -> Result<(CounterState, Box<Mac>, bool), Error> {
    let counter = Counter::new(&keys.key, &keys.iv).ok_or(NO_KEY)?;
    let mac = keys.mac.ok_or(NO_KEY)?;
    Ok((CounterState { counter, applied: 0 }, Box::new(Mac::new(mac.hash, &keys.mac_key)), mac.of_ciphertext))
}

fn chacha(keys: &Keys) -> Result<&[u8; 64], Error> {
    keys.key.as_slice().try_into().map_err(|_| NO_KEY)
}

impl Seal {
    pub fn new(keys: &Keys) -> Result<Seal, Error> {
        Ok(match keys.cipher {
            Cipher::ChaCha20Poly1305 => Seal::ChaCha(Box::new(ChaChaSeal::new(chacha(keys)?))),
            Cipher::AesGcm { .. } => Seal::Gcm(Box::new(Gcm::new(&keys.key, &keys.iv).ok_or(NO_KEY)?)),
            Cipher::AesCtr { .. } => {
                let (counter, mac, of_ciphertext) = counter(keys)?;
                Seal::Ctr { counter, mac, of_ciphertext }
            }
        })
    }

    /// Returns the block size that a packet's length is a multiple of, and whether the length field counts.
    fn block(&self) -> (usize, bool) {
        match self {
            Seal::Clear => (8, true),
            Seal::ChaCha(_) => (8, false),
            Seal::Gcm(_) => (16, false),
            Seal::Ctr { of_ciphertext, .. } => (16, !of_ciphertext),
        }
    }

    /// Appends a packet with this payload, which is its parts one behind the other, to `out`.
    pub fn packet(&mut self, sequence: u32, payload: &[&[u8]], out: &mut Vec<u8>) -> Result<(), Error> {
        let length: usize = payload.iter().map(|part| part.len()).sum();
        let (block, length_counts) = self.block();
        let counted = 1 + length + if length_counts { 4 } else { 0 };
        let padding = 4 + (block - (counted + 4) % block) % block;
        let start = out.len();
        // Room for everything including the tag: a buffer that grows leaves copies behind, and this is not
        // encrypted yet.
        out.reserve(5 + length + padding + 64);
        out.extend_from_slice(&((1 + length + padding) as u32).to_be_bytes());
        out.push(padding as u8);
        payload.iter().for_each(|part| out.extend_from_slice(part));
        // AEADs hide the padding; random bytes would only cost time.
        out.resize(out.len() + padding, 0);
        self.protect(sequence, start, out)
    }

    fn protect(&mut self, sequence: u32, start: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let packet = &mut out[start..];
        match self {
            Seal::Clear => {}
            Seal::ChaCha(key) => {
                let tag = key.seal(sequence, packet);
                out.extend_from_slice(&tag);
            }
            Seal::Gcm(gcm) => {
                let (length, body) = packet.split_at_mut(4);
                let length: [u8; 4] = (&*length).try_into().map_err(|_| Error::Integrity)?;
                let tag = gcm.seal(length, body).ok_or(Error::Integrity)?;
                out.extend_from_slice(&tag);
            }
            Seal::Ctr { counter, mac, of_ciphertext: true } => {
                counter.counter.apply(&mut packet[4..]);
                let tag = mac.tag(sequence, &[packet]);
                out.extend_from_slice(tag.as_ref());
            }
            Seal::Ctr { counter, mac, of_ciphertext: false } => {
                let tag = mac.tag(sequence, &[packet]);
                counter.counter.apply(packet);
                out.extend_from_slice(tag.as_ref());
            }
        }
        Ok(())
    }
}

impl Open {
    pub fn new(keys: &Keys) -> Result<Open, Error> {
        Ok(match keys.cipher {
            Cipher::ChaCha20Poly1305 => Open::ChaCha(Box::new(ChaChaOpen::new(chacha(keys)?))),
            Cipher::AesGcm { .. } => Open::Gcm(Box::new(Gcm::new(&keys.key, &keys.iv).ok_or(NO_KEY)?)),
            Cipher::AesCtr { .. } => {
                let (counter, mac, of_ciphertext) = counter(keys)?;
                Open::Ctr { counter, mac, of_ciphertext }
            }
        })
    }

    fn tag(&self) -> usize {
        match self {
            Open::Clear => 0,
            Open::ChaCha(_) | Open::Gcm(_) => 16,
            Open::Ctr { mac, .. } => mac.len(),
        }
    }

    /// Returns the total size of the packet at the front of `input`, once it is known. An invalid length
    /// fails at once, without waiting for more.
    pub fn size(&mut self, sequence: u32, input: &mut [u8]) -> Result<Option<usize>, Error> {
        let first = if matches!(self, Open::Ctr { of_ciphertext: false, .. }) { 16 } else { 4 };
        if input.len() < first {
            return Ok(None);
        }
        let bytes = [input[0], input[1], input[2], input[3]];
        let (length, block, counted) = match self {
            Open::Clear => (bytes, 8, 4),
            Open::ChaCha(key) => (key.length(sequence, bytes), 8, 0),
            Open::Gcm(_) => (bytes, 16, 0),
            Open::Ctr { of_ciphertext: true, .. } => (bytes, 16, 0),
            Open::Ctr { counter, .. } => {
                if counter.applied == 0 {
                    counter.counter.apply(&mut input[..16]);
                    counter.applied = 16;
                }
                ([input[0], input[1], input[2], input[3]], 16, 4)
            }
        };
        let length = u32::from_be_bytes(length) as usize;
        // Some servers send unencrypted packets whose length is not a multiple of eight; they are accepted.
        let ragged = !(length + counted).is_multiple_of(block) && !matches!(self, Open::Clear);
        if !(5..=MAX_PACKET).contains(&length) || ragged {
            return Err(Error::Protocol("SSH packet of a length that cannot be"));
        }
        Ok(Some(4 + length + self.tag()))
    }

    /// Decrypts `packet` in place, and returns the range of its payload.
    pub fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<std::ops::Range<usize>, Error> {
        let end = packet.len().checked_sub(self.tag()).ok_or(Error::Malformed)?;
        let whole = match self {
            Open::Clear => true,
            Open::ChaCha(key) => {
                let (body, tag) = packet.split_at_mut(end);
                let tag: &[u8; 16] = (&*tag).try_into().map_err(|_| Error::Malformed)?;
                key.open(sequence, body, tag)
            }
            Open::Gcm(gcm) => {
                let (length, body) = packet.split_at_mut(4);
                gcm.open((&*length).try_into().map_err(|_| Error::Malformed)?, body)
            }
            Open::Ctr { counter, mac, of_ciphertext } => {
                let (body, tag) = packet.split_at_mut(end);
                if *of_ciphertext {
                    let whole = mac.verify(sequence, body, tag);
                    counter.counter.apply(&mut body[4..]);
                    whole
                } else {
                    counter.counter.apply(&mut body[counter.applied..]);
                    counter.applied = 0;
                    mac.verify(sequence, body, tag)
                }
            }
        };
        if !whole {
            packet.zeroize();
            return Err(Error::Integrity);
        }
        let padding = usize::from(packet[4]);
        match end.checked_sub(padding) {
            Some(to) if to > 5 => Ok(5..to),
            _ => Err(Error::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeroize::Zeroizing;

    fn keys(cipher: Cipher, mac: Option<MacKind>) -> Keys {
        let (key, iv) = cipher.needs();
        let some = |n: usize| Zeroizing::new((0..n).map(|i| i as u8).collect::<Vec<u8>>());
        Keys { cipher, mac, key: some(key), iv: some(iv), mac_key: some(32) }
    }

    fn all() -> Vec<Keys> {
        let mut all = Vec::new();
        for (_, cipher) in CIPHERS {
            match cipher.is_aead() {
                true => all.push(keys(*cipher, None)),
                false => all.extend(MACS.iter().map(|(_, mac)| keys(*cipher, Some(*mac)))),
            }
        }
        all
    }

    /// Packets of all lengths, byte by byte, through each cipher; one that was changed anywhere is not
    /// opened.
    #[test]
    fn sealed_packets_open_and_changed_ones_are_refused() {
        for keys in all() {
            let mut seal = Seal::new(&keys).unwrap();
            let mut open = Open::new(&keys).unwrap();
            for length in (1..100).chain([32768]) {
                let payload: Vec<u8> = (0..length).map(|i| i as u8).collect();
                let mut out = Vec::new();
                seal.packet(length as u32, &[&payload[..length / 2], &payload[length / 2..]], &mut out)
                    .unwrap();
                let mut short = out.clone();
                let size = open.size(length as u32, &mut short).unwrap();
                assert_eq!(size, Some(out.len()), "{:?} {length}", keys.cipher);
                let range = open.open(length as u32, &mut short).unwrap();
                assert_eq!(short[range], payload);
            }
        }
    }

    #[test]
    fn a_changed_byte_is_seen() {
        for keys in all() {
            for at in 4..60 {
                let mut seal = Seal::new(&keys).unwrap();
                let mut open = Open::new(&keys).unwrap();
                let mut out = Vec::new();
                seal.packet(7, &[&[1; 40]], &mut out).unwrap();
                out[at] ^= 0x10;
                let size = open.size(7, &mut out).ok().flatten();
                let opened = size.filter(|size| *size == out.len()).and_then(|_| open.open(7, &mut out).ok());
                assert!(opened.is_none(), "{:?} {at}", keys.cipher);
            }
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_faults_at_once() {
        for bad in [0u32, 4, MAX_PACKET as u32 + 1, u32::MAX] {
            assert!(Open::Clear.size(0, &mut bad.to_be_bytes()).is_err(), "{bad}");
        }
        assert_eq!(Open::Clear.size(0, &mut [0, 0, 0]), Ok(None));
    }
}
