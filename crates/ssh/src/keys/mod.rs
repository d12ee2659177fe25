//! Users' private keys: OpenSSH's files and DER, and the signatures that prove a login.

mod der;
mod openssh;

use std::fmt;

use crate::bytes::Put;
use crate::crypto::{self, Curve, Hash};
use crate::public::{EcCurve, PublicKey};
use wire::base64;

pub use openssh::is_openssh;

/// Why a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// No key, or one of a kind that is not known.
    Unusable,
    /// It is enciphered, and this is not its passphrase.
    Passphrase,
}

/// A private key. Its secrets are wiped on drop, or stay with the provider.
pub struct PrivateKey {
    public: PublicKey,
    signer: Signer,
    /// The blob for the server: the public key, or a certificate of it.
    shown: Vec<u8>,
}

enum Signer {
    Provided(crypto::Signer),
    P521(crypto::p521::Signer),
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public.key_type())
    }
}

impl PrivateKey {
    /// Reads OpenSSH's own format: the body of a `-----BEGIN OPENSSH PRIVATE KEY-----`.
    pub fn from_openssh(body: &[u8], passphrase: &[u8]) -> Result<PrivateKey, KeyError> {
        openssh::read(body, passphrase)
    }

    /// Reads PKCS#1, SEC 1 or PKCS#8 (the bodies of `RSA PRIVATE KEY`, `EC PRIVATE KEY` and `PRIVATE KEY`),
    /// deciphered.
    pub fn from_der(body: &[u8]) -> Result<PrivateKey, KeyError> {
        der::read(body).ok_or(KeyError::Unusable)
    }

    fn new(public: PublicKey, signer: Signer) -> PrivateKey {
        let shown = public.to_blob();
        PrivateKey { public, signer, shown }
    }

    fn ed25519(seed: &[u8]) -> Option<PrivateKey> {
        let signer = crypto::Signer::ed25519(seed)?;
        let public = PublicKey::Ed25519(signer.public().to_vec());
        Some(PrivateKey::new(public, Signer::Provided(signer)))
    }

    /// `scalar` without leading zeros; `point` may be missing where it can be computed.
    fn ecdsa(curve: EcCurve, scalar: &[u8], point: Option<&[u8]>) -> Option<PrivateKey> {
        let missing = curve.size().checked_sub(scalar.len())?;
        let scalar = zeroize::Zeroizing::new([&vec![0; missing], scalar].concat());
        let provided = match curve {
            EcCurve::P256 => Curve::P256,
            EcCurve::P384 => Curve::P384,
            EcCurve::P521 => {
                let signer = crypto::p521::Signer::new(&scalar)?;
                let point = signer.public();
                return Some(PrivateKey::new(PublicKey::Ecdsa { curve, point }, Signer::P521(signer)));
            }
        };
        let point = point?.to_vec();
        let signer = crypto::Signer::ecdsa(provided, &scalar, &point)?;
        Some(PrivateKey::new(PublicKey::Ecdsa { curve, point }, Signer::Provided(signer)))
    }

    /// Creates a key from PKCS#1's RSAPrivateKey.
    fn rsa(der: &[u8], n: &[u8], e: &[u8]) -> Option<PrivateKey> {
        let signer = crypto::Signer::rsa(der)?;
        Some(PrivateKey::new(PublicKey::Rsa { e: e.to_vec(), n: n.to_vec() }, Signer::Provided(signer)))
    }

    /// Returns the blob for the server.
    pub fn shown(&self) -> &[u8] {
        &self.shown
    }

    /// Uses the contents of a `.pub` file as the blob for the server. A file of another key is refused.
    pub fn show(&mut self, public_file: &[u8]) -> Result<(), KeyError> {
        let blob = public_file_blob(public_file).ok_or(KeyError::Unusable)?;
        let of_this = blob == self.public.to_blob();
        let certificate = crate::public::type_of(&blob).ends_with(crate::public::CERT_SUFFIX);
        if !of_this && !certificate {
            return Err(KeyError::Unusable);
        }
        self.shown = blob;
        Ok(())
    }

    /// Returns whether the key signs by one algorithm only, so that the server's list of algorithms does not
    /// matter.
    pub fn has_one_algorithm(&self) -> bool {
        !matches!(self.public, PublicKey::Rsa { .. })
    }

    /// Returns the signature algorithm for a server that accepts `taken` (empty: unknown), and the algorithm
    /// name that is sent with the blob.
    pub fn algorithm(&self, taken: &[String]) -> (&'static str, String) {
        let plain = match self.public {
            PublicKey::Rsa { .. } => {
                let refused = |name: &str| !taken.is_empty() && !taken.iter().any(|taken| taken == name);
                if refused("rsa-sha2-512") && !refused("rsa-sha2-256") {
                    "rsa-sha2-256"
                } else {
                    "rsa-sha2-512"
                }
            }
            _ => self.public.key_type(),
        };
        match crate::public::type_of(&self.shown).ends_with(crate::public::CERT_SUFFIX) {
            true => (plain, format!("{plain}{}", crate::public::CERT_SUFFIX)),
            false => (plain, plain.to_owned()),
        }
    }

    /// A signature, as a blob.
    pub fn sign(&self, algorithm: &str, message: &[u8]) -> Option<Vec<u8>> {
        let hash = if algorithm == "rsa-sha2-256" { Hash::Sha256 } else { Hash::Sha512 };
        let raw = match &self.signer {
            Signer::Provided(signer) => signer.sign(hash, message)?,
            Signer::P521(signer) => signer.sign(message),
        };
        let mut out = Vec::new();
        out.put_string(algorithm);
        match &self.public {
            PublicKey::Ecdsa { curve, .. } => {
                let (r, s) = raw.split_at_checked(curve.size())?;
                let mut numbers = Vec::new();
                numbers.put_mpint(r);
                numbers.put_mpint(s);
                out.put_string(numbers);
            }
            _ => out.put_string(raw),
        }
        Some(out)
    }

    /// Whether this signature is its own.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }
}

/// The key of a `.pub` file: type, base64, comment.
pub fn public_file_blob(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut words = bytes.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let name = words.next()?;
    let blob = base64::decode_unpadded(words.next()?)?;
    (crate::public::type_of(&blob).as_bytes() == name).then_some(blob)
}
