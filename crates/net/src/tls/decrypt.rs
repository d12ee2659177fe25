//! Decryption of private keys with a password: PBES2 and the old schemes of PKCS#5 (RFC 8018), those of
//! PKCS#12 (RFC 7292, appendix B), and the DEK-Info of PEM files. Only for the user's own files: not safe for
//! data from a peer.

use aes::cipher::{Array, BlockCipherDecrypt, KeyInit};
use md5::{Digest, Md5};
use ring::{digest, hmac, pbkdf2};
use std::num::NonZeroU32;
use wire::der::{self, Reader};

/// A file with more rounds would block the transfer for minutes.
const MAX_ITERATIONS: u32 = 10_000_000;
const PKCS5: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5];
const PKCS12_PBE: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1];
const RSADSI_CIPHER: [u8; 7] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 3];
const HMAC_WITH: [u8; 7] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2];
const DES_CBC: [u8; 5] = [0x2b, 14, 3, 2, 7];
const NIST_AES: [u8; 8] = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1];

/// The use of a value that PKCS#12 derives from a password.
#[derive(Clone, Copy, PartialEq)]
pub enum Purpose {
    Key = 1,
    Iv = 2,
    Mac = 3,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cipher {
    Des,
    Des3,
    Aes128,
    Aes192,
    Aes256,
    Rc2(usize),
}

/// Decrypts with the scheme of an AlgorithmIdentifier (its contents). Returns `None` for a wrong password or
/// an unknown scheme.
pub fn by_algorithm(algorithm: &[u8], data: &[u8], password: &[u8]) -> Option<Vec<u8>> {
    let mut r = Reader::new(algorithm);
    let oid = r.expect(der::OID)?;
    let mut parameters = r.sequence()?;
    if let Some([13]) = oid.strip_prefix(&PKCS5) {
        return pbes2(parameters, data, password);
    }
    let salt = parameters.expect(der::OCTET_STRING)?;
    let rounds = rounds(parameters.small()?)?;
    if let Some([scheme]) = oid.strip_prefix(&PKCS5) {
        let key = match scheme {
            3 => pbkdf1(password, salt, rounds, |d| Md5::digest(d).to_vec()),
            10 => pbkdf1(password, salt, rounds, sha1),
            _ => return None,
        };
        return cbc(Cipher::Des, &key[..8], &key[8..16], data);
    }
    let [scheme] = oid.strip_prefix(&PKCS12_PBE)? else {
        return None;
    };
    let (cipher, key_len) = match scheme {
        3 => (Cipher::Des3, 24),
        4 => (Cipher::Des3, 16),
        5 => (Cipher::Rc2(128), 16),
        6 => (Cipher::Rc2(40), 5),
        _ => return None,
    };
    let sha1 = &digest::SHA1_FOR_LEGACY_USE_ONLY;
    let mut key = pkcs12_kdf(sha1, Purpose::Key, password, salt, rounds, key_len);
    if *scheme == 4 {
        key.extend_from_within(..8);
    }
    cbc(cipher, &key, &pkcs12_kdf(sha1, Purpose::Iv, password, salt, rounds, 8), data)
}

/// Decrypts the body of a PEM section by its `DEK-Info`: the key is MD5 of password and salt.
pub fn by_dek_info(info: &str, data: &[u8], password: &[u8]) -> Option<Vec<u8>> {
    let (name, iv) = info.split_once(',')?;
    let iv = hex(iv.trim())?;
    let (cipher, key_len) = match name.trim() {
        "DES-CBC" => (Cipher::Des, 8),
        "DES-EDE3-CBC" => (Cipher::Des3, 24),
        "AES-128-CBC" => (Cipher::Aes128, 16),
        "AES-192-CBC" => (Cipher::Aes192, 24),
        "AES-256-CBC" => (Cipher::Aes256, 32),
        _ => return None,
    };
    let salt = iv.get(..8)?;
    let mut key: Vec<u8> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    while key.len() < key_len {
        last = Md5::digest([&last[..], password, salt].concat()).to_vec();
        key.extend_from_slice(&last);
    }
    cbc(cipher, &key[..key_len], &iv, data)
}

/// RFC 7292, appendix B.2.
pub fn pkcs12_kdf(
    hash: &'static digest::Algorithm,
    purpose: Purpose,
    password: &[u8],
    salt: &[u8],
    rounds: u32,
    length: usize,
) -> Vec<u8> {
    let block = hash.block_len();
    // A BMPString with its terminator. If the password is not UTF-8, each byte is a character, as in OpenSSL.
    let units: Vec<u16> = match std::str::from_utf8(password) {
        Ok(text) => text.encode_utf16().collect(),
        Err(_) => password.iter().copied().map(u16::from).collect(),
    };
    let password: Vec<u8> = units.into_iter().chain([0]).flat_map(u16::to_be_bytes).collect();
    let fill = |s: &[u8]| -> Vec<u8> {
        let n = s.len().div_ceil(block) * block;
        s.iter().cycle().take(if s.is_empty() { 0 } else { n }).copied().collect()
    };
    let mut input = [fill(salt), fill(&password)].concat();
    let mut out = Vec::new();
    while out.len() < length {
        let mut a = digest::digest(hash, &[&vec![purpose as u8; block][..], &input].concat());
        for _ in 1..rounds {
            a = digest::digest(hash, a.as_ref());
        }
        out.extend_from_slice(a.as_ref());
        let b: Vec<u8> = a.as_ref().iter().cycle().take(block).copied().collect();
        for chunk in input.chunks_mut(block) {
            let mut carry = 1u16;
            for (x, y) in chunk.iter_mut().zip(&b).rev() {
                carry += u16::from(*x) + u16::from(*y);
                *x = carry as u8;
                carry >>= 8;
            }
        }
    }
    out.truncate(length);
    out
}

/// Returns the hash of the MAC in a PKCS#12 file, by its OID.
pub fn mac_algorithm(oid: &[u8]) -> Option<(&'static digest::Algorithm, hmac::Algorithm)> {
    Some(match oid {
        [0x2b, 14, 3, 2, 26] => (&digest::SHA1_FOR_LEGACY_USE_ONLY, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1] => (&digest::SHA256, hmac::HMAC_SHA256),
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2] => (&digest::SHA384, hmac::HMAC_SHA384),
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3] => (&digest::SHA512, hmac::HMAC_SHA512),
        _ => return None,
    })
}

pub fn rounds(n: u32) -> Option<u32> {
    (1..=MAX_ITERATIONS).contains(&n).then_some(n)
}

fn pbes2(mut parameters: Reader<'_>, data: &[u8], password: &[u8]) -> Option<Vec<u8>> {
    let mut derive = parameters.sequence()?;
    if derive.expect(der::OID)?.strip_prefix(&PKCS5) != Some(&[12]) {
        return None; // scrypt
    }
    let mut p = derive.sequence()?;
    let salt = p.expect(der::OCTET_STRING)?;
    let rounds = NonZeroU32::new(rounds(p.small()?)?)?;
    if p.peek() == Some(der::INTEGER) {
        p.small()?; // the key's length, which the cipher says too
    }
    let hash = match p.sequence() {
        None => pbkdf2::PBKDF2_HMAC_SHA1,
        Some(mut prf) => match prf.expect(der::OID)?.strip_prefix(&HMAC_WITH)? {
            [7] => pbkdf2::PBKDF2_HMAC_SHA1,
            [9] => pbkdf2::PBKDF2_HMAC_SHA256,
            [10] => pbkdf2::PBKDF2_HMAC_SHA384,
            [11] => pbkdf2::PBKDF2_HMAC_SHA512,
            _ => return None,
        },
    };
    let mut scheme = parameters.sequence()?;
    let oid = scheme.expect(der::OID)?;
    let (cipher, key_len) = match (oid.strip_prefix(&NIST_AES), oid.strip_prefix(&RSADSI_CIPHER)) {
        (Some([2]), _) => (Cipher::Aes128, 16),
        (Some([22]), _) => (Cipher::Aes192, 24),
        (Some([42]), _) => (Cipher::Aes256, 32),
        (_, Some([7])) => (Cipher::Des3, 24),
        _ if oid == DES_CBC => (Cipher::Des, 8),
        _ => return None,
    };
    let mut key = vec![0; key_len];
    pbkdf2::derive(hash, rounds, salt, password, &mut key);
    cbc(cipher, &key, scheme.expect(der::OCTET_STRING)?, data)
}

fn pbkdf1(password: &[u8], salt: &[u8], rounds: u32, hash: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let first = hash(&[password, salt].concat());
    (1..rounds).fold(first, |t, _| hash(&t))
}

fn sha1(data: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, data).as_ref().to_vec()
}

fn cbc(cipher: Cipher, key: &[u8], iv: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    match cipher {
        Cipher::Des => blocks(&des::Des::new_from_slice(key).ok()?, iv, data),
        Cipher::Des3 => blocks(&des::TdesEde3::new_from_slice(key).ok()?, iv, data),
        Cipher::Aes128 => blocks(&aes::Aes128::new_from_slice(key).ok()?, iv, data),
        Cipher::Aes192 => blocks(&aes::Aes192::new_from_slice(key).ok()?, iv, data),
        Cipher::Aes256 => blocks(&aes::Aes256::new_from_slice(key).ok()?, iv, data),
        Cipher::Rc2(bits) => blocks(&rc2::Rc2::new_with_eff_key_len(key, bits), iv, data),
    }
}

/// Decrypts CBC and removes PKCS#7 padding; invalid padding means a wrong password.
fn blocks<C: BlockCipherDecrypt>(cipher: &C, iv: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let size = C::block_size();
    if iv.len() != size || data.is_empty() || !data.len().is_multiple_of(size) {
        return None;
    }
    let mut out = Vec::with_capacity(data.len());
    let mut previous = iv;
    for chunk in data.chunks(size) {
        let mut block = Array::try_from(chunk).ok()?;
        cipher.decrypt_block(&mut block);
        out.extend(block.iter().zip(previous).map(|(a, b)| a ^ b));
        previous = chunk;
    }
    let pad = usize::from(*out.last()?);
    let keep = out.len().checked_sub(pad).filter(|_| (1..=size).contains(&pad))?;
    let good = out[keep..].iter().all(|b| usize::from(*b) == pad);
    out.truncate(keep);
    good.then_some(out)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}
