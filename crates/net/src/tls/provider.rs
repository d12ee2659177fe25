//! The cryptography behind TLS: ring, and what it lacks.
//!
//! Why ring and not aws-lc-rs, which has post-quantum key exchange of its own: records. ring opens and seals AES-GCM with the
//! VAES instructions of 256 bits where there are none of 512 (AMD before Zen 4), aws-lc only with 512: 3.5 to 5 GB/s against 2
//! for records of 16 KB. Its C takes a minute and a half to build, and 2 MB. ML-KEM is libcrux's: verified, and a tenth of a
//! handshake with AVX2. P-521 is RustCrypto's: who wants it is rare, and pays for it.

use super::mlkem::X25519_MLKEM768;
use super::p521::{self, SECP521R1};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};

/// Everything that is there.
pub fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: groups(),
        signature_verification_algorithms: p521::algorithms(),
        key_provider: &p521::Keys,
        ..ring::default_provider()
    }
}

/// In the order in which they are offered: OpenSSL 3.5's.
pub fn groups() -> Vec<&'static dyn SupportedKxGroup> {
    let mut groups: Vec<&'static dyn SupportedKxGroup> = vec![X25519_MLKEM768];
    groups.extend(ring::DEFAULT_KX_GROUPS);
    groups.push(SECP521R1);
    groups
}
