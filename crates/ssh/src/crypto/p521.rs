//! NIST's P-521, which the provider lacks: agreement and signatures.

use p521::NistP521;
use p521::ecdh::EphemeralSecret;
use p521::ecdsa::signature::{Signer as _, Verifier as _};
use p521::ecdsa::{Signature, SigningKey, VerifyingKey};
use p521::elliptic_curve::Generate;
use zeroize::Zeroizing;

use super::Secret;
use crate::error::Error;

/// Our half of an agreement.
pub struct Agreement(EphemeralSecret);

impl Agreement {
    /// A new private key, and the public one.
    pub fn begin() -> Result<(Agreement, Vec<u8>), Error> {
        let private = EphemeralSecret::try_generate().map_err(|_| Error::NoRandomness)?;
        let public = private.public_key().to_sec1_bytes().to_vec();
        Ok((Agreement(private), public))
    }

    /// The shared secret; a point that is not on the curve is refused.
    pub fn finish(self, peer: &[u8]) -> Result<Secret, Error> {
        let peer = p521::elliptic_curve::PublicKey::<NistP521>::from_sec1_bytes(peer)
            .map_err(|_| Error::Exchange("a public key that is none"))?;
        let secret = self.0.diffie_hellman(&peer);
        Ok(Zeroizing::new(secret.raw_secret_bytes().to_vec()))
    }
}

/// Verifies `signature`, r and s in full length, of `message`.
pub fn verify(point: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let Ok(key) = VerifyingKey::from_sec1_bytes(point) else { return false };
    let Ok(signature) = Signature::from_slice(signature) else { return false };
    key.verify(message, &signature).is_ok()
}

/// A private key. It is wiped when it is dropped.
pub struct Signer(SigningKey);

impl Signer {
    pub fn new(scalar: &[u8]) -> Option<Signer> {
        SigningKey::from_slice(scalar).ok().map(Signer)
    }

    /// The public point, uncompressed.
    pub fn public(&self) -> Vec<u8> {
        VerifyingKey::from(&self.0).to_sec1_point(false).as_bytes().to_vec()
    }

    /// r and s, in their full length.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signature: Signature = self.0.sign(message);
        signature.to_bytes().to_vec()
    }
}
