//! Which keys and signatures are strong enough: OpenSSL's security level 2, at least 112 bits. If a
//! distribution sets another level, RSA below 2048 bits and SHA-1 stay refused, because no verifier here
//! supports them.

use super::checks::Fault;
use super::oids;
use super::profile::Profile;
use super::verdict::{WEAK_CA_KEY, WEAK_DIGEST, WEAK_LEAF_KEY};
use wire::der::{self, Reader};

const MIN_RSA_BITS: usize = 2048;
/// Twice the security bits of a curve.
const MIN_CURVE_BITS: usize = 224;
const EC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const DSA_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1];
const RSA_PSS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10];
const SHA1: &[u8] = &[0x2b, 14, 3, 2, 26];

/// Checks the server's own key, before everything else.
pub fn of_leaf(leaf: &Profile<'_>) -> Result<(), Fault> {
    if is_strong(leaf) { Ok(()) } else { Err(Fault::of(0, WEAK_LEAF_KEY)) }
}

/// Checks the keys above the leaf, and all signatures but that of the last certificate.
pub fn of_chain(chain: &[Profile<'_>]) -> Result<(), Fault> {
    for (i, cert) in chain.iter().enumerate() {
        if i > 0 && !is_strong(cert) {
            return Err(Fault::of(i, WEAK_CA_KEY));
        }
        if i + 1 < chain.len() && is_weak_digest(cert) {
            return Err(Fault::of(i, WEAK_DIGEST));
        }
    }
    Ok(())
}

/// Returns whether a key of this kind can have made this kind of signature.
pub fn fits(key: &[u8], signature: &[u8]) -> bool {
    match signature {
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10] => key == oids::RSA || key == RSA_PSS,
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, _] => key == oids::RSA,
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, ..] => key == EC_KEY,
        [0x2a, 0x86, 0x48, 0xce, 0x38, 4, _] => key == DSA_KEY,
        [0x2b, 0x65, 0x70 | 0x71] => key == signature,
        _ => true, // what it is will show when it is verified
    }
}

fn is_strong(cert: &Profile<'_>) -> bool {
    let key = cert.cert.key;
    match cert.cert.key_oid() {
        algorithm @ (oids::RSA | RSA_PSS) => {
            key_bits(algorithm, key).is_some_and(|bits| bits >= MIN_RSA_BITS)
        }
        EC_KEY => key_bits(EC_KEY, key).is_some_and(|bits| bits >= MIN_CURVE_BITS),
        DSA_KEY => false, // no supported suite uses one, and neither backend verifies with it
        _ => true,
    }
}

/// Returns the size of a key in bits: of an RSA modulus, or of the field of an elliptic curve.
pub fn key_bits(algorithm: &[u8], key: &[u8]) -> Option<usize> {
    match (algorithm, key.split_first()) {
        (oids::RSA | RSA_PSS, _) => rsa_bits(key),
        // A point is one octet and one or two coordinates.
        (EC_KEY, Some((4 | 6 | 7, point))) => Some(point.len() * 4),
        (EC_KEY, Some((2 | 3, point))) => Some(point.len() * 8),
        _ => None,
    }
}

fn rsa_bits(key: &[u8]) -> Option<usize> {
    let modulus = Reader::new(key).sequence()?.expect(der::INTEGER)?;
    let start = modulus.iter().position(|b| *b != 0)?;
    let significant = &modulus[start..];
    Some(significant.len() * 8 - significant[0].leading_zeros() as usize)
}

/// Returns whether the digest is MD2, MD4, MD5 or SHA-1.
fn is_weak_digest(cert: &Profile<'_>) -> bool {
    match cert.cert.signature_oid() {
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 2..=5] | [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1] => true,
        [0x2a, 0x86, 0x48, 0xce, 0x38, 4, 3] => true,
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10] => pss_digest(cert.cert.signature_alg).is_none(),
        _ => false,
    }
}

/// Returns the digest in RSASSA-PSS parameters, unless it is SHA-1 (also by default).
fn pss_digest(algorithm: &[u8]) -> Option<&[u8]> {
    let mut r = Reader::new(algorithm);
    r.expect(der::OID)?;
    let digest = r.sequence()?.optional(der::context(0))?;
    Reader::new(digest).sequence()?.expect(der::OID).filter(|oid| *oid != SHA1)
}
