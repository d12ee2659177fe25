//! Random bytes of the system, for values that must be unpredictable.

use ring::rand::{SecureRandom, SystemRandom};

/// Fills `bytes`; fails if the system has no randomness.
pub fn random(bytes: &mut [u8]) -> std::io::Result<()> {
    SystemRandom::new().fill(bytes).map_err(|_| std::io::Error::other("no random bytes"))
}
