//! Key encapsulation that a quantum computer does not break, the first half of a hybrid exchange: ML-KEM-768 (FIPS 203) and
//! Streamlined NTRU Prime 761 (draft-josefsson-ntruprime-streamlined), which OpenSSH had before.

use ml_kem::kem::{Decapsulate, KeyExport};
use ml_kem::{DecapsulationKey768, Seed};
use sntrup_kem::sntrup761;
use zeroize::Zeroizing;

use super::{Secret, random};
use crate::error::Error;

/// Which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    MlKem768,
    Sntrup761,
}

/// Our half: a private key, which is wiped when it is dropped.
pub enum Kem {
    MlKem768(Box<DecapsulationKey768>),
    Sntrup761(Box<sntrup761::DecapsulationKey>),
}

const WRONG_LENGTH: Error = Error::Exchange("a ciphertext of a wrong length");

impl Kem {
    /// A new private key, and the public one.
    pub fn begin(scheme: Scheme) -> Result<(Kem, Vec<u8>), Error> {
        let mut seed = Zeroizing::new([0; 64]);
        random(&mut *seed)?;
        Ok(match scheme {
            Scheme::MlKem768 => {
                let private = DecapsulationKey768::from_seed(Seed::from(*seed));
                let public = private.encapsulation_key().to_bytes().to_vec();
                (Kem::MlKem768(Box::new(private)), public)
            }
            Scheme::Sntrup761 => {
                let mut half = Zeroizing::new([0; 32]);
                half.copy_from_slice(&seed[..32]);
                let (public, private) = sntrup761::generate_key_deterministic(&half);
                (Kem::Sntrup761(Box::new(private)), public.as_ref().to_vec())
            }
        })
    }

    /// Bytes of what the server answers.
    pub fn ciphertext(&self) -> usize {
        match self {
            Kem::MlKem768(_) => 1088,
            Kem::Sntrup761(_) => sntrup761::CIPHERTEXT_SIZE,
        }
    }

    /// The shared secret.
    pub fn finish(self, ciphertext: &[u8]) -> Result<Secret, Error> {
        match self {
            Kem::MlKem768(private) => {
                let shared = private.decapsulate_slice(ciphertext).map_err(|_| WRONG_LENGTH)?;
                Ok(Zeroizing::new(shared.to_vec()))
            }
            Kem::Sntrup761(private) => {
                let ciphertext = sntrup761::Ciphertext::try_from(ciphertext).map_err(|_| WRONG_LENGTH)?;
                Ok(Zeroizing::new(private.decapsulate(&ciphertext).as_ref().to_vec()))
            }
        }
    }
}
