//! The cryptography for TLS: ring, and what it lacks.
//!
//! ring is chosen instead of aws-lc-rs, which has its own post-quantum key exchange, because of records: ring
//! opens and seals AES-GCM with the 256-bit VAES instructions on processors without the 512-bit ones (AMD
//! before Zen 4), aws-lc only with 512 bits: 3.5 to 5 GB/s against 2 for records of 16 KB. aws-lc's C code
//! takes a minute and a half to build, and 2 MB. ML-KEM is from libcrux: verified, and a tenth of a handshake
//! with AVX2. P-521 is from RustCrypto: rarely used.

use super::mlkem::X25519_MLKEM768;
use super::p521::{self, SECP521R1};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};

/// Everything that is supported.
pub fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: groups(),
        signature_verification_algorithms: p521::algorithms(),
        key_provider: &p521::Keys,
        ..ring::default_provider()
    }
}

/// Returns the groups in the order of OpenSSL 3.5's offer.
pub fn groups() -> Vec<&'static dyn SupportedKxGroup> {
    let mut groups: Vec<&'static dyn SupportedKxGroup> = vec![X25519_MLKEM768];
    groups.extend(ring::DEFAULT_KX_GROUPS);
    groups.push(SECP521R1);
    groups
}
