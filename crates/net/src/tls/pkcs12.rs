//! PKCS#12 files (RFC 7292) with a password: one private key and certificates.

use super::decrypt::{self, Purpose};
use ring::hmac;
use wire::der::{self, Reader};

/// Contents of a file.
#[derive(Debug, Default)]
pub struct Contents {
    /// PKCS#8 in DER.
    pub key: Option<Vec<u8>>,
    pub certs: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not PKCS#12, or in an encoding that is not supported (BER).
    Malformed,
    /// The password is wrong, or the encryption unknown.
    Password,
}

const PKCS7: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7];
const BAG: [u8; 10] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 10, 1];
const X509_CERTIFICATE: [u8; 10] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 22, 1];

pub fn open(bytes: &[u8], password: &[u8]) -> Result<Contents, Error> {
    let mut pfx = Reader::new(bytes).sequence().ok_or(Error::Malformed)?;
    pfx.small().filter(|v| *v == 3).ok_or(Error::Malformed)?;
    let safe = pfx.expect(der::SEQUENCE).and_then(data).ok_or(Error::Malformed)?;
    if let Some(mac) = pfx.optional(der::SEQUENCE)
        && !is_authentic(mac, safe, password).ok_or(Error::Malformed)?
    {
        return Err(Error::Password);
    }
    let mut out = Contents::default();
    let mut infos = Reader::new(safe).sequence().ok_or(Error::Malformed)?;
    while let Some(info) = infos.optional(der::SEQUENCE) {
        if let Some(bags) = data(info) {
            read_bags(bags, password, &mut out)?;
        } else {
            let bags = encrypted(info, password)?;
            read_bags(&bags, password, &mut out)?;
        }
    }
    Ok(out)
}

/// Returns the octets of a ContentInfo of type data.
fn data(info: &[u8]) -> Option<&[u8]> {
    let mut r = Reader::new(info);
    match r.expect(der::OID)?.strip_prefix(&PKCS7)? {
        [1] => Reader::new(r.expect(der::context(0))?).expect(der::OCTET_STRING),
        _ => None,
    }
}

/// Decrypts a ContentInfo of type encryptedData.
fn encrypted(info: &[u8], password: &[u8]) -> Result<Vec<u8>, Error> {
    let parts = || {
        let mut r = Reader::new(info);
        match r.expect(der::OID)?.strip_prefix(&PKCS7)? {
            [6] => {}
            _ => return None,
        }
        let mut content = Reader::new(r.expect(der::context(0))?).sequence()?;
        content.small()?;
        let mut inner = content.sequence()?;
        inner.expect(der::OID)?;
        Some((inner.expect(der::SEQUENCE)?, inner.expect(der::context_primitive(0))?))
    };
    let (algorithm, data) = parts().ok_or(Error::Malformed)?;
    decrypt::by_algorithm(algorithm, data, password).ok_or(Error::Password)
}

fn read_bags(bags: &[u8], password: &[u8], out: &mut Contents) -> Result<(), Error> {
    let mut bags = Reader::new(bags).sequence().ok_or(Error::Malformed)?;
    while let Some(mut bag) = bags.sequence() {
        let kind = bag.expect(der::OID).and_then(|oid| oid.strip_prefix(&BAG)).ok_or(Error::Malformed)?;
        let value = bag.expect(der::context(0)).ok_or(Error::Malformed)?;
        match kind {
            [1] => out.key = Some(value.to_vec()),
            [2] => {
                let mut r = Reader::new(value).sequence().ok_or(Error::Malformed)?;
                let (a, d) =
                    r.expect(der::SEQUENCE).zip(r.expect(der::OCTET_STRING)).ok_or(Error::Malformed)?;
                out.key = Some(decrypt::by_algorithm(a, d, password).ok_or(Error::Password)?);
            }
            [3] => out.certs.extend(certificate(value)),
            _ => {} // CRLs, secrets, nested bags
        }
    }
    Ok(())
}

fn certificate(bag: &[u8]) -> Option<Vec<u8>> {
    let mut r = Reader::new(bag).sequence()?;
    if r.expect(der::OID)? != X509_CERTIFICATE {
        return None;
    }
    Reader::new(r.expect(der::context(0))?).expect(der::OCTET_STRING).map(<[u8]>::to_vec)
}

fn is_authentic(mac: &[u8], safe: &[u8], password: &[u8]) -> Option<bool> {
    let mut r = Reader::new(mac);
    let mut info = r.sequence()?;
    let (hash, mac_hash) = decrypt::mac_algorithm(info.sequence()?.expect(der::OID)?)?;
    let expected = info.expect(der::OCTET_STRING)?;
    let salt = r.expect(der::OCTET_STRING)?;
    let rounds = if r.is_empty() { 1 } else { decrypt::rounds(r.small()?)? };
    let key = decrypt::pkcs12_kdf(hash, Purpose::Mac, password, salt, rounds, hash.output_len());
    Some(hmac::verify(&hmac::Key::new(mac_hash, &key), safe, expected).is_ok())
}
