//! X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem): X25519 and ML-KEM-768 (FIPS 203) combined, so that recorded
//! traffic stays secret if one of the two is broken. ML-KEM is first in shares and in the secret.

use libcrux_ml_kem::mlkem768::{self, MlKem768Ciphertext, MlKem768KeyPair};
use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

pub static X25519_MLKEM768: &dyn SupportedKxGroup = &Hybrid;

const ENCAPSULATION_KEY: usize = 1184;
const CIPHERTEXT: usize = 1088;
const X25519_SHARE: usize = 32;
/// Bytes of randomness for a key pair, and for an encapsulation.
const SEED: usize = 64;
const MESSAGE: usize = 32;

#[derive(Debug)]
struct Hybrid;

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let classical = X25519.start()?;
        let kem = mlkem768::generate_key_pair(random::<SEED>()?);
        let share = [kem.pk(), classical.pub_key()].concat();
        Ok(Box::new(Active { classical, kem, share }))
    }

    /// The server's side.
    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (key, share) = split::<ENCAPSULATION_KEY>(peer)?;
        let key = mlkem768::MlKem768PublicKey::from(key);
        if !mlkem768::validate_public_key(&key) {
            return Err(PeerMisbehaved::InvalidKeyShare.into());
        }
        let (ciphertext, secret) = mlkem768::encapsulate(&key, random::<MESSAGE>()?);
        let classical = X25519.start_and_complete(share)?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: [ciphertext.as_ref(), &classical.pub_key].concat(),
            secret: [&secret[..], classical.secret.secret_bytes()].concat().into(),
        })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

struct Active {
    classical: Box<dyn ActiveKeyExchange>,
    kem: MlKem768KeyPair,
    share: Vec<u8>,
}

impl ActiveKeyExchange for Active {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let (ciphertext, share) = split::<CIPHERTEXT>(peer)?;
        let classical = self.classical.complete(share)?;
        let secret = mlkem768::decapsulate(self.kem.private_key(), &MlKem768Ciphertext::from(ciphertext));
        Ok([&secret[..], classical.secret_bytes()].concat().into())
    }

    /// A server without ML-KEM takes the X25519 share, without a second round trip.
    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.classical.group(), self.classical.pub_key()))
    }

    fn complete_hybrid_component(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.classical.complete(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

/// Splits into ML-KEM's part of this size and that of X25519.
fn split<const KEM: usize>(share: &[u8]) -> Result<([u8; KEM], &[u8]), Error> {
    match share.split_first_chunk::<KEM>() {
        Some((kem, classical)) if classical.len() == X25519_SHARE => Ok((*kem, classical)),
        _ => Err(PeerMisbehaved::InvalidKeyShare.into()),
    }
}

fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    crate::random(&mut bytes).map_err(|_| Error::FailedToGetRandomBytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_agree_on_one_secret() {
        let client = X25519_MLKEM768.start().unwrap();
        assert_eq!(client.pub_key().len(), 1216);
        let server = X25519_MLKEM768.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(server.pub_key.len(), 1120);
        let secret = client.complete(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
        assert_eq!(secret.secret_bytes().len(), 64);
    }

    #[test]
    fn a_server_may_take_x25519_alone() {
        let client = X25519_MLKEM768.start().unwrap();
        let (group, share) = client.hybrid_component().unwrap();
        assert_eq!(group, NamedGroup::X25519);
        let server = X25519.start_and_complete(share).unwrap();
        let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    }

    #[test]
    fn shares_of_another_length_are_refused() {
        for length in [0, 32, 1088, 1119, 1121, 1216] {
            assert!(X25519_MLKEM768.start().unwrap().complete(&vec![1; length]).is_err(), "{length}");
        }
        assert!(X25519_MLKEM768.start_and_complete(&[0xff; 1216]).is_err(), "no such key");
    }
}
