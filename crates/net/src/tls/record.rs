//! The record layer after the handshake: RFC 8446, section 5, and RFC 5246, section 6, for AEAD ciphers.
//!
//! rustls exports the traffic keys; records are opened here, in place and straight to where the plaintext
//! belongs, and sealed where they are sent from. (rustls itself copies every record twice; that was a quarter
//! of the CPU of a large download.) What the handshake messages in between mean is `tls::rustls`'s matter.

use ring::aead::{self, LessSafeKey, Nonce, UnboundKey};
use rustls::{CipherSuite, ConnectionTrafficSecrets};
use zeroize::Zeroizing;

pub const HEADER: usize = 5;
pub const MAX_PLAINTEXT: usize = 16 * 1024;
/// A whole record at most: TLS 1.2 allows 2048 bytes of overhead, 1.3 only 256.
pub const MAX_RECORD: usize = HEADER + MAX_PLAINTEXT + 2048;
const TAG: usize = 16;
const EXPLICIT_NONCE: usize = 8;
/// Records under one key, below the limit of AES-GCM (RFC 8446, section 5.5): then keys are renewed, where
/// the protocol version can do that. TLS 1.2 sets no limit but that of the counter, and reading has none at
/// all.
pub const KEY_LIMIT: u64 = 1 << 24;

pub const ALERT: u8 = 21;
pub const HANDSHAKE: u8 = 22;
pub const DATA: u8 = 23;

/// Why a record can't be used; each ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// Not TLS, or a version that was not agreed on.
    BadHeader,
    TooLong,
    /// Tampered with, or out of order.
    BadMac,
    /// Nothing but padding.
    NoType,
    /// The key has been used too often.
    Exhausted,
}

/// How a protocol version wraps its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Tls13,
    /// TLS 1.2 with AES-GCM: eight bytes of nonce travel in each record.
    Tls12Explicit,
    /// TLS 1.2 with ChaCha20-Poly1305: the nonce is counted on both sides.
    Tls12Counted,
}

/// A direction's key and counter.
pub struct Key {
    key: LessSafeKey,
    iv: [u8; 12],
    sequence: u64,
    shape: Shape,
}

/// An opened record: its content type and where its plaintext lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedRecord {
    pub kind: u8,
    pub len: usize,
    /// Bytes of ciphertext it took, header included.
    pub consumed: usize,
}

impl Key {
    /// `None` for a cipher that is not offered here.
    pub fn new(secrets: ConnectionTrafficSecrets, sequence: u64, tls13: bool) -> Option<Key> {
        let (algorithm, key, iv, counted) = match &secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&aead::AES_128_GCM, key, iv, false),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&aead::AES_256_GCM, key, iv, false),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => {
                (&aead::CHACHA20_POLY1305, key, iv, true)
            }
            _ => return None,
        };
        let shape = match (tls13, counted) {
            (true, _) => Shape::Tls13,
            (false, true) => Shape::Tls12Counted,
            (false, false) => Shape::Tls12Explicit,
        };
        let key = LessSafeKey::new(UnboundKey::new(algorithm, key.as_ref()).ok()?);
        Some(Key { key, iv: iv.as_ref().try_into().ok()?, sequence, shape })
    }

    /// Returns the key of a cipher suite that handles the record `sequence` next; `key` makes as many bytes
    /// as the cipher needs. `None` for a suite that is not offered, or a key or IV of another length.
    pub fn of_suite(
        suite: CipherSuite,
        key: impl FnOnce(usize) -> Zeroizing<Vec<u8>>,
        iv: &[u8],
        sequence: u64,
    ) -> Option<Key> {
        let (algorithm, shape) = cipher(suite)?;
        let key = LessSafeKey::new(UnboundKey::new(algorithm, &key(algorithm.key_len())).ok()?);
        Some(Key { key, iv: iv.try_into().ok()?, sequence, shape })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Records handled under this key.
    pub fn used(&self) -> u64 {
        self.sequence
    }

    /// Opens the record at `buf[at..]` and puts its plaintext at `buf[to..]`; `to` is at most `at`. `None`
    /// when the record is not all there yet. Between `to` and the end of the record nothing of `buf`
    /// survives.
    pub fn open(
        &mut self,
        buf: &mut [u8],
        to: usize,
        at: usize,
    ) -> Result<Option<OpenedRecord>, RecordError> {
        let Some(&[kind, major, minor, hi, lo]) = buf[at..].first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes([hi, lo]));
        self.check_header(kind, major, minor, length)?;
        let end = at + HEADER + length;
        if buf.len() < end {
            return Ok(None);
        }
        let opened = self.decrypt(&mut buf[to..end], at - to, kind, length)?;
        self.sequence += 1;
        Ok(Some(OpenedRecord { consumed: HEADER + length, ..opened }))
    }

    /// Appends the record of one fragment of at most `MAX_PLAINTEXT` bytes to `out`.
    pub fn seal(&mut self, kind: u8, fragment: &[u8], out: &mut Vec<u8>) -> Result<(), RecordError> {
        if self.shape == Shape::Tls13 && self.sequence > KEY_LIMIT + 64 || self.sequence == u64::MAX {
            return Err(RecordError::Exhausted); // the margin is for closing alerts and key updates
        }
        let start = out.len();
        let explicit = if self.shape == Shape::Tls12Explicit { EXPLICIT_NONCE } else { 0 };
        let inner = fragment.len() + usize::from(self.shape == Shape::Tls13);
        let outer_kind = if self.shape == Shape::Tls13 { DATA } else { kind };
        let length = (explicit + inner + TAG) as u16;
        out.extend_from_slice(&[outer_kind, 3, 3, (length >> 8) as u8, length as u8]);
        let nonce = self.nonce();
        if explicit > 0 {
            out.extend_from_slice(&nonce[4..]);
        }
        let body = out.len();
        out.extend_from_slice(fragment);
        if self.shape == Shape::Tls13 {
            out.push(kind);
        }
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = match self.shape {
            Shape::Tls13 => {
                let header: [u8; HEADER] = out[start..start + HEADER].try_into().expect("just written");
                self.key.seal_in_place_separate_tag(nonce, aead::Aad::from(header), &mut out[body..])
            }
            _ => {
                let aad = self.aad12(kind, fragment.len());
                self.key.seal_in_place_separate_tag(nonce, aead::Aad::from(aad), &mut out[body..])
            }
        };
        out.extend_from_slice(tag.map_err(|_| RecordError::TooLong)?.as_ref());
        self.sequence += 1;
        Ok(())
    }

    fn check_header(&self, kind: u8, major: u8, minor: u8, length: usize) -> Result<(), RecordError> {
        // After the handshake everything is encrypted, and with TLS 1.3 that looks like data: an alert in the
        // clear would be anybody's.
        let kinds = if self.shape == Shape::Tls13 { DATA..=DATA } else { ALERT..=DATA };
        if !kinds.contains(&kind) || major != 3 || minor != 3 {
            return Err(RecordError::BadHeader);
        }
        let (most, least) = match (self.shape, kind) {
            (Shape::Tls13, _) => (MAX_PLAINTEXT + 256, TAG + 1),
            (Shape::Tls12Explicit, _) => (MAX_PLAINTEXT + 2048, EXPLICIT_NONCE + TAG),
            (Shape::Tls12Counted, _) => (MAX_PLAINTEXT + 2048, TAG),
        };
        match length {
            n if n > most => Err(RecordError::TooLong),
            n if n < least => Err(RecordError::BadHeader),
            _ if self.sequence == u64::MAX => Err(RecordError::Exhausted),
            _ => Ok(()),
        }
    }

    /// `buf` begins where the plaintext goes; the record begins `gap` bytes in.
    fn decrypt(
        &self,
        buf: &mut [u8],
        gap: usize,
        kind: u8,
        length: usize,
    ) -> Result<OpenedRecord, RecordError> {
        let header: [u8; HEADER] = buf[gap..gap + HEADER].try_into().map_err(|_| RecordError::BadHeader)?;
        let body = gap + HEADER;
        let plain = match self.shape {
            Shape::Tls13 => {
                let nonce = Nonce::assume_unique_for_key(self.nonce());
                self.key.open_within(nonce, aead::Aad::from(header), buf, body..)
            }
            Shape::Tls12Explicit => {
                let explicit = *buf[body..].first_chunk::<8>().ok_or(RecordError::BadHeader)?;
                let mut nonce = [0; 12];
                nonce[..4].copy_from_slice(&self.iv[..4]);
                nonce[4..].copy_from_slice(&explicit);
                let aad = self.aad12(kind, length - EXPLICIT_NONCE - TAG);
                let nonce = Nonce::assume_unique_for_key(nonce);
                self.key.open_within(nonce, aead::Aad::from(aad), buf, body + EXPLICIT_NONCE..)
            }
            Shape::Tls12Counted => {
                let nonce = Nonce::assume_unique_for_key(self.nonce());
                let aad = self.aad12(kind, length - TAG);
                self.key.open_within(nonce, aead::Aad::from(aad), buf, body..)
            }
        };
        let plain = plain.map_err(|_| RecordError::BadMac)?;
        // With TLS 1.3 padding and type count, too (RFC 8446, section 5.4).
        if plain.len() > MAX_PLAINTEXT + usize::from(self.shape == Shape::Tls13) {
            return Err(RecordError::TooLong);
        }
        let (kind, len) = if self.shape == Shape::Tls13 { inner(plain)? } else { (kind, plain.len()) };
        Ok(OpenedRecord { kind, len, consumed: 0 })
    }

    /// The counter mixed into the IV (RFC 8446, 5.3; RFC 7905). A cipher with an explicit nonce sends the
    /// last eight bytes of it: unique, and in one series with the records that rustls sealed during the
    /// handshake.
    fn nonce(&self) -> [u8; 12] {
        let mut nonce = self.iv;
        for (n, s) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *n ^= s;
        }
        nonce
    }

    /// RFC 5246, section 6.2.3.3.
    fn aad12(&self, kind: u8, length: usize) -> [u8; 13] {
        let mut aad = [0; 13];
        aad[..8].copy_from_slice(&self.sequence.to_be_bytes());
        aad[8..11].copy_from_slice(&[kind, 3, 3]);
        aad[11..].copy_from_slice(&(length as u16).to_be_bytes());
        aad
    }
}

/// Returns the cipher of a suite, and how it wraps records.
fn cipher(suite: CipherSuite) -> Option<(&'static aead::Algorithm, Shape)> {
    Some(match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => (&aead::AES_128_GCM, Shape::Tls13),
        CipherSuite::TLS13_AES_256_GCM_SHA384 => (&aead::AES_256_GCM, Shape::Tls13),
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => (&aead::CHACHA20_POLY1305, Shape::Tls13),
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => (&aead::AES_128_GCM, Shape::Tls12Explicit),
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => (&aead::AES_256_GCM, Shape::Tls12Explicit),
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
        | CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => {
            (&aead::CHACHA20_POLY1305, Shape::Tls12Counted)
        }
        _ => return None,
    })
}

/// The type behind the padding of a TLS 1.3 record, and the length of the bytes before it.
fn inner(plain: &[u8]) -> Result<(u8, usize), RecordError> {
    match plain.iter().rposition(|b| *b != 0) {
        Some(i) => Ok((plain[i], i)),
        None => Err(RecordError::NoType),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(shape: Shape) -> (Key, Key) {
        let one = || {
            let algorithm =
                if shape == Shape::Tls12Counted { &aead::CHACHA20_POLY1305 } else { &aead::AES_256_GCM };
            let key = LessSafeKey::new(UnboundKey::new(algorithm, &[9; 32]).unwrap());
            Key { key, iv: [3; 12], sequence: 0, shape }
        };
        (one(), one())
    }

    const SHAPES: [Shape; 3] = [Shape::Tls13, Shape::Tls12Explicit, Shape::Tls12Counted];

    #[test]
    fn reading_has_no_limit_and_writing_none_before_1_3() {
        for shape in SHAPES {
            let (mut tx, mut rx) = pair(shape);
            for sequence in [KEY_LIMIT * 2 + 1, 1 << 48] {
                (tx.sequence, rx.sequence) = (sequence, sequence);
                let mut wire = Vec::new();
                let sealed = tx.seal(DATA, b"x", &mut wire);
                assert_eq!(sealed.is_err(), shape == Shape::Tls13, "keys are renewed long before");
                if sealed.is_ok() {
                    assert_eq!(rx.open(&mut wire, 0, 0).unwrap().unwrap().len, 1);
                }
                assert_ne!(rx.check_header(DATA, 3, 3, 100), Err(RecordError::Exhausted));
            }
        }
    }

    #[test]
    fn records_are_compacted_to_the_front() {
        for shape in SHAPES {
            let (mut tx, mut rx) = pair(shape);
            let mut wire = Vec::new();
            let mut sent = Vec::new();
            for i in 0..5u8 {
                let fragment = vec![i; 1000 * usize::from(i) + 1];
                tx.seal(DATA, &fragment, &mut wire).unwrap();
                sent.extend_from_slice(&fragment);
            }
            let (mut to, mut at) = (0, 0);
            while let Some(o) = rx.open(&mut wire, to, at).unwrap() {
                assert_eq!(o.kind, DATA);
                to += o.len;
                at += o.consumed;
            }
            assert_eq!(at, wire.len());
            assert_eq!(wire[..to], sent[..]);
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_seen() {
        for shape in SHAPES {
            let (mut tx, _) = pair(shape);
            let mut wire = Vec::new();
            tx.seal(DATA, b"hello", &mut wire).unwrap();
            for i in 0..wire.len() {
                let mut bad = wire.clone();
                bad[i] ^= 1;
                match pair(shape).1.open(&mut bad, 0, 0) {
                    Err(_) => {}
                    Ok(None) => assert!(i == 3 || i == 4, "{shape:?}: byte {i} made it wait"),
                    Ok(Some(_)) => panic!("{shape:?}: byte {i} went through"),
                }
            }
        }
    }

    #[test]
    fn replays_and_swaps_are_refused() {
        for shape in SHAPES {
            let (mut tx, mut rx) = pair(shape);
            let mut wire = Vec::new();
            tx.seal(DATA, b"one", &mut wire).unwrap();
            let mut again = wire.clone();
            assert!(rx.open(&mut wire, 0, 0).unwrap().is_some());
            assert_eq!(rx.open(&mut again, 0, 0), Err(RecordError::BadMac));
        }
    }

    #[test]
    fn incomplete_records_wait_and_long_ones_do_not() {
        let (mut tx, mut rx) = pair(Shape::Tls13);
        let mut wire = Vec::new();
        tx.seal(ALERT, &[1, 0], &mut wire).unwrap();
        for n in 0..wire.len() {
            assert_eq!(rx.open(&mut wire.clone()[..n], 0, 0), Ok(None));
        }
        let o = rx.open(&mut wire, 0, 0).unwrap().unwrap();
        assert_eq!((o.kind, o.len), (ALERT, 2));
        assert_eq!(rx.open(&mut [23, 3, 3, 0x41, 1], 0, 0), Err(RecordError::TooLong));
        assert_eq!(rx.open(&mut b"HTTP/1.1".to_vec(), 0, 0), Err(RecordError::BadHeader));
    }

    #[test]
    fn padding_counts_towards_the_limit() {
        for (length, padding, good) in [(8192, 8192, true), (8193, 8192, false), (MAX_PLAINTEXT, 1, false)] {
            let (mut tx, mut rx) = pair(Shape::Tls13);
            let mut fragment = vec![1; length];
            fragment.push(DATA);
            fragment.resize(length + padding, 0);
            let mut wire = Vec::new();
            // The writer's own type is the last octet of the padding.
            tx.seal(0, &fragment, &mut wire).expect("the key is new");
            let opened = rx.open(&mut wire, 0, 0);
            match good {
                true => assert_eq!(opened.map(|o| o.map(|o| (o.kind, o.len))), Ok(Some((DATA, length)))),
                false => assert_eq!(opened, Err(RecordError::TooLong)),
            }
        }
    }

    #[test]
    fn padding_is_stripped_and_only_padding_refused() {
        assert_eq!(inner(&[1, 2, 23, 0, 0]), Ok((23, 2)));
        assert_eq!(inner(&[0, 0]), Err(RecordError::NoType));
    }
}
