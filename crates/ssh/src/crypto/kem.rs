//! Post-quantum key encapsulation, the first half of a hybrid exchange: ML-KEM-768 (FIPS 203) and Streamlined
//! NTRU Prime 761 (draft-josefsson-ntruprime-streamlined), which OpenSSH had first.

use libcrux_ml_kem::mlkem768::{self, MlKem768Ciphertext, MlKem768PrivateKey};
use sntrup_kem::sntrup761;
use zeroize::{Zeroize, Zeroizing};

use super::{Secret, random};
use crate::error::Error;

/// A method of key encapsulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    MlKem768,
    Sntrup761,
}

/// The client's private key, which is wiped when it is dropped.
pub enum Kem {
    MlKem768(Box<MlKemKey>),
    Sntrup761(Box<sntrup761::DecapsulationKey>),
}

/// A private key of libcrux's, which does not wipe its own.
pub struct MlKemKey(MlKem768PrivateKey);

impl Drop for MlKemKey {
    fn drop(&mut self) {
        self.0[..MlKem768PrivateKey::len()].zeroize();
    }
}

const WRONG_LENGTH: Error = Error::Exchange("a ciphertext of a wrong length");

impl Kem {
    /// Generates a private key and returns it with the public one.
    pub fn begin(scheme: Scheme) -> Result<(Kem, Vec<u8>), Error> {
        let mut seed = Zeroizing::new([0; 64]);
        random(&mut *seed)?;
        Ok(match scheme {
            Scheme::MlKem768 => {
                let (private, public) = mlkem768::generate_key_pair(*seed).into_parts();
                (Kem::MlKem768(Box::new(MlKemKey(private))), public.as_ref().to_vec())
            }
            Scheme::Sntrup761 => {
                let mut half = Zeroizing::new([0; 32]);
                half.copy_from_slice(&seed[..32]);
                let (public, private) = sntrup761::generate_key_deterministic(&half);
                (Kem::Sntrup761(Box::new(private)), public.as_ref().to_vec())
            }
        })
    }

    /// Returns the length of the server's answer in bytes.
    pub fn ciphertext(&self) -> usize {
        match self {
            Kem::MlKem768(_) => MlKem768Ciphertext::len(),
            Kem::Sntrup761(_) => sntrup761::CIPHERTEXT_SIZE,
        }
    }

    /// Returns the shared secret.
    pub fn finish(self, ciphertext: &[u8]) -> Result<Secret, Error> {
        match self {
            Kem::MlKem768(private) => {
                let ciphertext = MlKem768Ciphertext::try_from(ciphertext).map_err(|_| WRONG_LENGTH)?;
                let shared = Zeroizing::new(mlkem768::decapsulate(&private.0, &ciphertext));
                Ok(Zeroizing::new(shared.to_vec()))
            }
            Kem::Sntrup761(private) => {
                let ciphertext = sntrup761::Ciphertext::try_from(ciphertext).map_err(|_| WRONG_LENGTH)?;
                Ok(Zeroizing::new(private.decapsulate(&ciphertext).as_ref().to_vec()))
            }
        }
    }
}
