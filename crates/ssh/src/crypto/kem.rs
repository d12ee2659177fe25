//! ML-KEM-768 (FIPS 203), the half of mlkem768x25519-sha256 that a quantum computer does not break.

use ml_kem::kem::{Decapsulate, KeyExport};
use ml_kem::{DecapsulationKey768, Seed};
use zeroize::Zeroizing;

use super::{Secret, random};
use crate::error::Error;

/// Bytes of what the server answers.
pub const CIPHERTEXT: usize = 1088;

/// Our half.
pub struct Kem768(Box<DecapsulationKey768>);

impl Kem768 {
    /// A new private key, and the public one.
    pub fn begin() -> Result<(Kem768, Vec<u8>), Error> {
        let mut seed = Zeroizing::new([0; 64]);
        random(&mut *seed)?;
        let private = DecapsulationKey768::from_seed(Seed::from(*seed));
        let public = private.encapsulation_key().to_bytes().to_vec();
        Ok((Kem768(Box::new(private)), public))
    }

    /// The shared secret.
    pub fn finish(self, ciphertext: &[u8]) -> Result<Secret, Error> {
        let shared = self.0.decapsulate_slice(ciphertext);
        let shared = shared.map_err(|_| Error::Exchange("a ciphertext of a wrong length"))?;
        Ok(Zeroizing::new(shared.to_vec()))
    }
}
