//! The hash functions that authentication needs, all from RustCrypto: cryptography is not written here.

use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit};
use hmac::{Hmac, Mac};
use md4::Md4;
use md5::Md5;
use sha2::{Digest, Sha256};

pub(super) fn md4(input: &[u8]) -> [u8; 16] {
    Md4::digest(input).into()
}

pub(super) fn sha256(input: &[u8]) -> [u8; 32] {
    Sha256::digest(input).into()
}

pub(super) fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

pub(super) fn hmac_sha256(key: &[u8], input: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(input);
    mac.finalize().into_bytes().into()
}

/// Encrypts a block with DES under a key of seven octets, spread over eight. The parity bits do not matter.
pub(super) fn des(key: &[u8; 7], block: &[u8; 8]) -> [u8; 8] {
    let bits = key.iter().fold(0u64, |sum, &octet| (sum << 8) | u64::from(octet));
    let mut wide = [0; 8];
    for (position, octet) in wide.iter_mut().enumerate() {
        *octet = ((bits >> (49 - 7 * position)) as u8 & 0x7f) << 1;
    }
    let mut block = (*block).into();
    Des::new(&wide.into()).encrypt_block(&mut block);
    block.into()
}
