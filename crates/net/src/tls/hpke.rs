//! Hybrid Public Key Encryption (RFC 9180), the part that Encrypted Client Hello needs: the sender in base
//! mode, with DHKEM over X25519 or P-256, HKDF-SHA256, and the AEADs of TLS.

use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use ring::agreement::{self, ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, X25519};
use ring::hmac;
use ring::rand::SystemRandom;
use rustls::Error;
use rustls::crypto::hpke::{
    EncapsulatedSecret, Hpke, HpkeOpener, HpkePrivateKey, HpkePublicKey, HpkeSealer, HpkeSuite,
};
use rustls::internal::msgs::enums::{HpkeAead, HpkeKdf, HpkeKem};
use rustls::internal::msgs::handshake::HpkeSymmetricCipherSuite;
use std::fmt;

/// All suites, the most common first.
pub static SUITES: [&dyn Hpke; 6] = [
    &Suite { kem: X, aead: A128 },
    &Suite { kem: X, aead: A256 },
    &Suite { kem: X, aead: CHACHA },
    &Suite { kem: P, aead: A128 },
    &Suite { kem: P, aead: A256 },
    &Suite { kem: P, aead: CHACHA },
];

const X: Kem = Kem { id: HpkeKem::DHKEM_X25519_HKDF_SHA256, number: 0x20, curve: Curve::X25519 };
const P: Kem = Kem { id: HpkeKem::DHKEM_P256_HKDF_SHA256, number: 0x10, curve: Curve::P256 };
const A128: Aead = Aead { id: HpkeAead::AES_128_GCM, number: 1, algorithm: &AES_128_GCM };
const A256: Aead = Aead { id: HpkeAead::AES_256_GCM, number: 2, algorithm: &AES_256_GCM };
const CHACHA: Aead = Aead { id: HpkeAead::CHACHA20_POLY_1305, number: 3, algorithm: &CHACHA20_POLY1305 };
const KDF: u16 = 1;

#[derive(Clone, Copy, Debug)]
struct Kem {
    id: HpkeKem,
    number: u16,
    curve: Curve,
}

#[derive(Clone, Copy, Debug)]
enum Curve {
    X25519,
    P256,
}

#[derive(Clone, Copy)]
struct Aead {
    id: HpkeAead,
    number: u16,
    algorithm: &'static Algorithm,
}

impl fmt::Debug for Aead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.id)
    }
}

#[derive(Debug)]
struct Suite {
    kem: Kem,
    aead: Aead,
}

impl Hpke for Suite {
    fn seal(
        &self,
        info: &[u8],
        aad: &[u8],
        plaintext: &[u8],
        key: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Vec<u8>), Error> {
        let (enc, mut sealer) = self.setup_sealer(info, key)?;
        Ok((enc, sealer.seal(aad, plaintext)?))
    }

    fn setup_sealer(
        &self,
        info: &[u8],
        key: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Box<dyn HpkeSealer + 'static>), Error> {
        let (enc, shared) = self.kem.encapsulate(&key.0)?;
        Ok((EncapsulatedSecret(enc), Box::new(self.sealer(&shared, info)?)))
    }

    /// Returns an error: only a server opens.
    fn open(
        &self,
        _: &EncapsulatedSecret,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &HpkePrivateKey,
    ) -> Result<Vec<u8>, Error> {
        Err(no_server())
    }

    fn setup_opener(
        &self,
        _: &EncapsulatedSecret,
        _: &[u8],
        _: &HpkePrivateKey,
    ) -> Result<Box<dyn HpkeOpener + 'static>, Error> {
        Err(no_server())
    }

    fn generate_key_pair(&self) -> Result<(HpkePublicKey, HpkePrivateKey), Error> {
        Err(no_server())
    }

    fn suite(&self) -> HpkeSuite {
        let sym = HpkeSymmetricCipherSuite { kdf_id: HpkeKdf::HKDF_SHA256, aead_id: self.aead.id };
        HpkeSuite { kem: self.kem.id, sym }
    }
}

impl Suite {
    /// KeySchedule in base mode (section 5.1).
    fn sealer(&self, shared: &[u8], info: &[u8]) -> Result<Sealer, Error> {
        let numbers = [self.kem.number, KDF, self.aead.number].map(u16::to_be_bytes).concat();
        let labels = Labels { suite: [b"HPKE", &numbers[..]].concat() };
        let psk_id_hash = labels.extract(b"", b"psk_id_hash", b"");
        let info_hash = labels.extract(b"", b"info_hash", info);
        let context = [&[0][..], &psk_id_hash, &info_hash].concat();
        let secret = labels.extract(shared, b"secret", b"");
        let key = labels.expand(&secret, b"key", &context, self.aead.algorithm.key_len());
        let nonce = labels.expand(&secret, b"base_nonce", &context, 12);
        let key = UnboundKey::new(self.aead.algorithm, &key).map_err(|_| failed())?;
        let nonce = nonce.try_into().map_err(|_| failed())?;
        Ok(Sealer { key: LessSafeKey::new(key), nonce, sequence: 0 })
    }
}

impl Kem {
    /// Encap (section 4.1): the encapsulated secret and the shared one.
    fn encapsulate(&self, recipient: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let curve: &agreement::Algorithm = match self.curve {
            Curve::X25519 => &X25519,
            Curve::P256 => &ECDH_P256,
        };
        let own = EphemeralPrivateKey::generate(curve, &SystemRandom::new()).map_err(|_| failed())?;
        let enc = own.compute_public_key().map_err(|_| failed())?.as_ref().to_vec();
        let context = [&enc[..], recipient].concat();
        let peer = UnparsedPublicKey::new(curve, recipient);
        let shared =
            agreement::agree_ephemeral(own, &peer, |dh| self.derive(dh, &context)).map_err(|_| failed())?;
        Ok((enc, shared))
    }

    /// ExtractAndExpand.
    fn derive(&self, dh: &[u8], context: &[u8]) -> Vec<u8> {
        let labels = Labels { suite: [&b"KEM"[..], &self.number.to_be_bytes()].concat() };
        let prk = labels.extract(b"", b"eae_prk", dh);
        labels.expand(&prk, b"shared_secret", context, 32)
    }
}

/// LabeledExtract and LabeledExpand (section 4) with SHA-256. No output is longer than one block.
struct Labels {
    suite: Vec<u8>,
}

impl Labels {
    fn extract(&self, salt: &[u8], label: &[u8], ikm: &[u8]) -> Vec<u8> {
        mac(salt, &[b"HPKE-v1", &self.suite, label, ikm])
    }

    fn expand(&self, prk: &[u8], label: &[u8], info: &[u8], length: usize) -> Vec<u8> {
        debug_assert!(length <= 32);
        let mut block = mac(prk, &[&[0, length as u8], b"HPKE-v1", &self.suite, label, info, &[1]]);
        block.truncate(length);
        block
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    parts.iter().for_each(|part| context.update(part));
    context.sign().as_ref().to_vec()
}

struct Sealer {
    key: LessSafeKey,
    nonce: [u8; 12],
    sequence: u64,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer")
    }
}

impl HpkeSealer for Sealer {
    fn seal(&mut self, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, Error> {
        let mut nonce = self.nonce;
        for (n, s) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *n ^= s;
        }
        self.sequence += 1;
        let mut sealed = plaintext.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.key.seal_in_place_append_tag(nonce, Aad::from(aad), &mut sealed).map_err(|_| failed())?;
        Ok(sealed)
    }
}

fn failed() -> Error {
    Error::General("HPKE failed".into())
}

fn no_server() -> Error {
    Error::General("HPKE is for senders here".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
    }

    /// RFC 9180, appendix A.1.1: from the shared secret to the second ciphertext. The encapsulation before it
    /// is tested with NSS (tests/servers, ech).
    #[test]
    fn the_schedule_is_that_of_the_rfc() {
        let suite = Suite { kem: X, aead: A128 };
        let shared = hex("fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc");
        let mut sealer = suite.sealer(&shared, &hex("4f6465206f6e2061204772656369616e2055726e")).unwrap();
        assert_eq!(sealer.nonce.to_vec(), hex("56d890e5accaaf011cff4b7d"));
        let text = hex("4265617574792069732074727574682c20747275746820626561757479");
        let first =
            "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a";
        assert_eq!(sealer.seal(b"Count-0", &text).unwrap(), hex(first));
        let second =
            "af2d7e9ac9ae7e270f46ba1f975be53c09f8d875bdc8535458c2494e8a6eab251c03d0c22a56b8ca42c2063b84";
        assert_eq!(sealer.seal(b"Count-1", &text).unwrap(), hex(second));
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        for suite in SUITES {
            assert!(suite.setup_sealer(b"", &HpkePublicKey(vec![1; 7])).is_err());
        }
    }
}
