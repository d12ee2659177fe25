//! Random bytes of the system, for what nobody may foresee.

use ring::rand::{SecureRandom, SystemRandom};

/// Fills `bytes`; an error when the system has none to give.
pub fn random(bytes: &mut [u8]) -> std::io::Result<()> {
    SystemRandom::new().fill(bytes).map_err(|_| std::io::Error::other("no random bytes"))
}
