//! The cryptography of SSH behind our own names: only this file uses the provider, which is the one that TLS
//! uses. What it lacks is in the files beside it.

pub mod dh;
pub mod kem;
pub mod p521;

use ring::aead::{self, chacha20_poly1305_openssh as chacha};
use ring::rand::SecureRandom;
use ring::signature::{self, KeyPair};
use ring::{agreement, digest, hmac, rand};
use zeroize::Zeroizing;

use crate::error::Error;

/// Bytes that are wiped when they are dropped.
pub type Secret = Zeroizing<Vec<u8>>;

/// Fills with random bytes.
pub fn random(buf: &mut [u8]) -> Result<(), Error> {
    rand::SystemRandom::new().fill(buf).map_err(|_| Error::NoRandomness)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// The hash of all parts, one behind the other.
    pub fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        let algorithm = match self {
            Hash::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Hash::Sha256 => &digest::SHA256,
            Hash::Sha384 => &digest::SHA384,
            Hash::Sha512 => &digest::SHA512,
        };
        let mut context = digest::Context::new(algorithm);
        parts.iter().for_each(|part| context.update(part));
        context.finish().as_ref().to_vec()
    }
}

/// MD5 in hexadecimal digits: by which some know the fingerprints of keys.
pub fn md5_hex(bytes: &[u8]) -> String {
    use md5::Digest;
    md5::Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A keyed hash.
pub struct Mac {
    key: hmac::Key,
}

impl Mac {
    pub fn new(hash: Hash, key: &[u8]) -> Mac {
        let algorithm = match hash {
            Hash::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Hash::Sha256 => hmac::HMAC_SHA256,
            Hash::Sha384 => hmac::HMAC_SHA384,
            Hash::Sha512 => hmac::HMAC_SHA512,
        };
        Mac { key: hmac::Key::new(algorithm, key) }
    }

    pub fn len(&self) -> usize {
        self.key.algorithm().digest_algorithm().output_len()
    }

    /// The tag of a packet with its number (RFC 4253 §6.4).
    pub fn tag(&self, sequence: u32, parts: &[&[u8]]) -> impl AsRef<[u8]> + use<> {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&sequence.to_be_bytes());
        parts.iter().for_each(|part| context.update(part));
        context.sign()
    }

    /// Returns whether this is the packet's tag, in constant time.
    pub fn verify(&self, sequence: u32, packet: &[u8], tag: &[u8]) -> bool {
        equal(self.tag(sequence, &[packet]).as_ref(), tag)
    }

    /// Returns the tag of the bytes, without a sequence number.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        hmac::sign(&self.key, bytes).as_ref().to_vec()
    }
}

/// Compares two tags, in a time that does not reveal where they differ.
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}

/// AES-GCM as RFC 5647 and OpenSSH have it: twelve bytes of which the last eight count packets.
pub struct Gcm {
    key: aead::LessSafeKey,
    nonce: [u8; 12],
}

impl Gcm {
    /// 16 or 32 bytes of key.
    pub fn new(key: &[u8], iv: &[u8]) -> Option<Gcm> {
        let algorithm = if key.len() == 16 { &aead::AES_128_GCM } else { &aead::AES_256_GCM };
        let key = aead::LessSafeKey::new(aead::UnboundKey::new(algorithm, key).ok()?);
        Some(Gcm { key, nonce: iv.get(..12)?.try_into().ok()? })
    }

    fn next_nonce(&mut self) -> aead::Nonce {
        let nonce = aead::Nonce::assume_unique_for_key(self.nonce);
        let (_, count) = self.nonce.split_at_mut(4);
        for byte in count.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        nonce
    }

    pub fn seal(&mut self, length: [u8; 4], body: &mut [u8]) -> Option<[u8; 16]> {
        let nonce = self.next_nonce();
        let tag = self.key.seal_in_place_separate_tag(nonce, aead::Aad::from(length), body).ok()?;
        tag.as_ref().try_into().ok()
    }

    /// `body` ends with the tag.
    pub fn open(&mut self, length: [u8; 4], body: &mut [u8]) -> bool {
        let nonce = self.next_nonce();
        self.key.open_in_place(nonce, aead::Aad::from(length), body).is_ok()
    }
}

/// chacha20-poly1305@openssh.com: the length is encrypted with a separate key.
pub struct ChaChaSeal(chacha::SealingKey);
pub struct ChaChaOpen(chacha::OpeningKey);

impl ChaChaSeal {
    pub fn new(key: &[u8; 64]) -> ChaChaSeal {
        ChaChaSeal(chacha::SealingKey::new(key))
    }

    /// Encrypts `packet`, which begins with its length.
    pub fn seal(&self, sequence: u32, packet: &mut [u8]) -> [u8; 16] {
        let mut tag = [0; 16];
        self.0.seal_in_place(sequence, packet, &mut tag);
        tag
    }
}

impl ChaChaOpen {
    pub fn new(key: &[u8; 64]) -> ChaChaOpen {
        ChaChaOpen(chacha::OpeningKey::new(key))
    }

    pub fn length(&self, sequence: u32, bytes: [u8; 4]) -> [u8; 4] {
        self.0.decrypt_packet_length(sequence, bytes)
    }

    /// Decrypts `packet`, which begins with its encrypted length.
    pub fn open(&self, sequence: u32, packet: &mut [u8], tag: &[u8; 16]) -> bool {
        self.0.open_in_place(sequence, packet, tag).is_ok()
    }
}

/// Curves on which the provider agrees on keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    X25519,
    P256,
    P384,
}

impl Curve {
    fn algorithm(self) -> &'static agreement::Algorithm {
        match self {
            Curve::X25519 => &agreement::X25519,
            Curve::P256 => &agreement::ECDH_P256,
            Curve::P384 => &agreement::ECDH_P384,
        }
    }
}

/// Our half of an agreement.
pub struct Agreement {
    curve: Curve,
    private: agreement::EphemeralPrivateKey,
}

impl Agreement {
    /// A new private key, and the public one.
    pub fn begin(curve: Curve) -> Result<(Agreement, Vec<u8>), Error> {
        let random = rand::SystemRandom::new();
        let private = agreement::EphemeralPrivateKey::generate(curve.algorithm(), &random);
        let private = private.map_err(|_| Error::NoRandomness)?;
        let public = private.compute_public_key().map_err(|_| Error::NoRandomness)?;
        Ok((Agreement { curve, private }, public.as_ref().to_vec()))
    }

    /// The shared secret. A point that is not on the curve, and one that leads to zero, are refused.
    pub fn finish(self, peer: &[u8]) -> Result<Secret, Error> {
        let peer = agreement::UnparsedPublicKey::new(self.curve.algorithm(), peer);
        agreement::agree_ephemeral(self.private, &peer, |secret| Zeroizing::new(secret.to_vec()))
            .map_err(|_| Error::Exchange("a public key that is none"))
    }
}

/// Verifies `signature` of `message` by an RSA key of at least 2,048 bits.
pub fn verify_rsa(hash: Hash, n: &[u8], e: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let algorithm = match hash {
        Hash::Sha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Hash::Sha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        _ => return false,
    };
    signature::RsaPublicKeyComponents { n, e }.verify(algorithm, message, signature).is_ok()
}

pub fn verify_ed25519(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    signature::UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature).is_ok()
}

/// `point` is uncompressed, `signature` r and s in their full length.
pub fn verify_ecdsa(curve: Curve, point: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let algorithm = match curve {
        Curve::P256 => &signature::ECDSA_P256_SHA256_FIXED,
        Curve::P384 => &signature::ECDSA_P384_SHA384_FIXED,
        Curve::X25519 => return false,
    };
    signature::UnparsedPublicKey::new(algorithm, point).verify(message, signature).is_ok()
}

/// A private key of the provider, which holds the only copy of its secrets.
pub enum Signer {
    Rsa(Box<signature::RsaKeyPair>),
    Ed25519(signature::Ed25519KeyPair),
    Ecdsa(signature::EcdsaKeyPair),
}

impl Signer {
    /// PKCS#1's RSAPrivateKey.
    pub fn rsa(der: &[u8]) -> Option<Signer> {
        signature::RsaKeyPair::from_der(der).ok().map(|pair| Signer::Rsa(Box::new(pair)))
    }

    pub fn ed25519(seed: &[u8]) -> Option<Signer> {
        signature::Ed25519KeyPair::from_seed_unchecked(seed).ok().map(Signer::Ed25519)
    }

    pub fn ecdsa(curve: Curve, scalar: &[u8], point: &[u8]) -> Option<Signer> {
        let algorithm = match curve {
            Curve::P256 => &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
            Curve::P384 => &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
            Curve::X25519 => return None,
        };
        let random = rand::SystemRandom::new();
        let pair =
            signature::EcdsaKeyPair::from_private_key_and_public_key(algorithm, scalar, point, &random);
        pair.ok().map(Signer::Ecdsa)
    }

    /// Returns the public key in the provider's format: for RSA, PKCS#1's RSAPublicKey.
    pub fn public(&self) -> &[u8] {
        match self {
            Signer::Rsa(pair) => pair.public_key().as_ref(),
            Signer::Ed25519(pair) => pair.public_key().as_ref(),
            Signer::Ecdsa(pair) => pair.public_key().as_ref(),
        }
    }

    /// The signature of `message`; `hash` is for RSA, the other keys have theirs.
    pub fn sign(&self, hash: Hash, message: &[u8]) -> Option<Vec<u8>> {
        let random = rand::SystemRandom::new();
        match self {
            Signer::Rsa(pair) => {
                let mut out = vec![0; pair.public().modulus_len()];
                let padding: &dyn signature::RsaEncoding = match hash {
                    Hash::Sha256 => &signature::RSA_PKCS1_SHA256,
                    _ => &signature::RSA_PKCS1_SHA512,
                };
                pair.sign(padding, &random, message, &mut out).ok()?;
                Some(out)
            }
            Signer::Ed25519(pair) => Some(pair.sign(message).as_ref().to_vec()),
            Signer::Ecdsa(pair) => Some(pair.sign(&random, message).ok()?.as_ref().to_vec()),
        }
    }
}
