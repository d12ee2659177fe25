//! OpenSSH's own format of private keys (its PROTOCOL.key), plain or under a passphrase.

use aes::cipher::{Array, BlockCipherDecrypt, KeyInit};
use zeroize::Zeroizing;

use super::der::RsaParts;
use super::{KeyError, PrivateKey};
use crate::bytes::{Malformed, Reader};
use crate::cipher::Counter;
use crate::crypto::Secret;
use crate::public::EcCurve;

const MAGIC: &[u8] = b"openssh-key-v1\0";
/// Maximum number of rounds: each takes a few milliseconds.
const MAX_ROUNDS: u32 = 4096;

impl From<Malformed> for KeyError {
    fn from(_: Malformed) -> KeyError {
        KeyError::Unusable
    }
}

/// Whether a body is of this format.
pub fn is_openssh(body: &[u8]) -> bool {
    body.starts_with(MAGIC)
}

/// Reads the first key.
pub fn read(body: &[u8], passphrase: &[u8]) -> Result<PrivateKey, KeyError> {
    let mut reader = Reader::new(body.strip_prefix(MAGIC).ok_or(KeyError::Unusable)?);
    let (cipher, kdf, options) = (reader.string()?, reader.string()?, reader.string()?);
    if reader.u32()? != 1 {
        return Err(KeyError::Unusable);
    }
    reader.string()?; // the public key
    let mut private = Zeroizing::new(reader.string()?.to_vec());
    if cipher != b"none" {
        decipher(cipher, kdf, options, passphrase, &mut private)?;
    }
    let mut reader = Reader::new(&private);
    let wrong = if cipher == b"none" { KeyError::Unusable } else { KeyError::Passphrase };
    if reader.u32()? != reader.u32()? {
        return Err(wrong);
    }
    key(&mut reader)
}

fn key(reader: &mut Reader) -> Result<PrivateKey, KeyError> {
    let name = reader.string()?;
    let key = match name {
        b"ssh-ed25519" => {
            reader.string()?;
            PrivateKey::ed25519(reader.string()?.get(..32).ok_or(KeyError::Unusable)?)
        }
        b"ssh-rsa" => {
            let (n, e, d) = (reader.mpint()?, reader.mpint()?, reader.mpint()?);
            let (inverse, p, q) = (reader.mpint()?, reader.mpint()?, reader.mpint()?);
            let der = RsaParts { n, e, d, p, q, inverse }.to_der();
            der.and_then(|der| PrivateKey::rsa(&der, n, e))
        }
        _ => {
            let (curve, point) = (reader.string()?, reader.string()?);
            let curve = EcCurve::ALL.into_iter().find(|known| known.name().as_bytes() == curve);
            PrivateKey::ecdsa(curve.ok_or(KeyError::Unusable)?, reader.mpint()?, Some(point))
        }
    };
    key.ok_or(KeyError::Unusable)
}

/// bcrypt makes key and initial vector of the passphrase (PROTOCOL.key §2).
fn decipher(
    cipher: &[u8],
    kdf: &[u8],
    options: &[u8],
    passphrase: &[u8],
    data: &mut [u8],
) -> Result<(), KeyError> {
    let (key, blocks) = match cipher {
        b"aes128-ctr" => (16, false),
        b"aes192-ctr" => (24, false),
        b"aes256-ctr" => (32, false),
        b"aes128-cbc" => (16, true),
        b"aes192-cbc" => (24, true),
        b"aes256-cbc" => (32, true),
        _ => return Err(KeyError::Unusable),
    };
    let mut options = Reader::new(options);
    let (salt, rounds) = (options.string()?, options.u32()?);
    if kdf != b"bcrypt" || rounds > MAX_ROUNDS || !data.len().is_multiple_of(16) {
        return Err(KeyError::Unusable);
    }
    let mut made: Secret = Zeroizing::new(vec![0; key + 16]);
    bcrypt_pbkdf::bcrypt_pbkdf(passphrase, salt, rounds, &mut made).map_err(|_| KeyError::Passphrase)?;
    let (key, iv) = made.split_at(key);
    let done = match (blocks, key.len()) {
        (true, 16) => cbc::<aes::Aes128>(key, iv, data),
        (true, 24) => cbc::<aes::Aes192>(key, iv, data),
        (true, _) => cbc::<aes::Aes256>(key, iv, data),
        (false, _) => Counter::new(key, iv).map(|mut counter| counter.apply(data)),
    };
    done.ok_or(KeyError::Unusable)
}

fn cbc<A>(key: &[u8], iv: &[u8], data: &mut [u8]) -> Option<()>
where
    A: KeyInit + BlockCipherDecrypt<BlockSize = aes::cipher::consts::U16>,
{
    let cipher = A::new_from_slice(key).ok()?;
    let mut before: [u8; 16] = iv.try_into().ok()?;
    for chunk in data.chunks_exact_mut(16) {
        let sealed: [u8; 16] = (&*chunk).try_into().ok()?;
        let mut block = Array::from(sealed);
        cipher.decrypt_block(&mut block);
        for (i, byte) in block.iter().enumerate() {
            chunk[i] = byte ^ before[i];
        }
        before = sealed;
    }
    Some(())
}
