//! What names a TLS channel to a security context above it: `tls-server-end-point` (RFC 5929 section 4), a hash of the
//! server's certificate. A proxy that ends the TLS in between has another certificate, and is noticed.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

use super::TlsInfo;
use super::der::{self, Reader};
use super::x509::Certificate;

const PREFIX: &[u8] = b"tls-server-end-point:";

/// PKCS #1 signatures, up to the last number: 1.2.840.113549.1.1.
const RSA_SIGNATURES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
/// 1.2.840.10045.4: ecdsa-with-SHA1 is number 1, the SHA-2 ones stand below number 3.
const ECDSA_SIGNATURES: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];
/// 2.16.840.1.101.3.4.2: hashes of the SHA-2 family.
const SHA2: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];

/// The channel's name; `None` when the signature has no hash of its own, for which the RFC defines none.
pub fn server_end_point(tls: &TlsInfo) -> Option<Vec<u8>> {
    let der = tls.peer_certs.first()?;
    let certificate = Certificate::parse(der)?;
    let hash = digest(hash_of(certificate.signature_alg)?, der);
    Some([PREFIX, hash.as_ref()].concat())
}

/// The hash of a signature algorithm; SHA-256 stands in for MD5 and SHA-1.
fn hash_of(algorithm: &[u8]) -> Option<&'static Algorithm> {
    let mut reader = Reader::new(algorithm);
    let oid = reader.expect(der::OID)?;
    if let Some(number) = oid.strip_prefix(RSA_SIGNATURES) {
        return match number {
            [4 | 5 | 11] => Some(&SHA256),
            [12] => Some(&SHA384),
            [13] => Some(&SHA512),
            [10] => pss_hash(reader),
            _ => None,
        };
    }
    match oid.strip_prefix(ECDSA_SIGNATURES)? {
        [1] | [3, 2] => Some(&SHA256),
        [3, 3] => Some(&SHA384),
        [3, 4] => Some(&SHA512),
        _ => None,
    }
}

/// The hash among the parameters of RSASSA-PSS (RFC 4055 section 3.1); SHA-1 when none is named.
fn pss_hash(mut parameters: Reader<'_>) -> Option<&'static Algorithm> {
    let mut fields = Reader::new(parameters.expect(der::SEQUENCE)?);
    let Some(hash) = fields.optional(der::context(0)) else { return Some(&SHA256) };
    let oid = Reader::new(Reader::new(hash).expect(der::SEQUENCE)?).expect(der::OID)?;
    match oid.strip_prefix(SHA2)? {
        [1] => Some(&SHA256),
        [2] => Some(&SHA384),
        [3] => Some(&SHA512),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(prefix: &[u8], last: &[u8]) -> Vec<u8> {
        [&[der::OID, (prefix.len() + last.len()) as u8], prefix, last].concat()
    }

    fn wrapped(tag: u8, body: &[u8]) -> Vec<u8> {
        [&[tag, body.len() as u8], body].concat()
    }

    #[test]
    fn each_signature_has_its_hash() {
        let pss = |hash: &[u8]| {
            let hash = wrapped(der::context(0), &wrapped(der::SEQUENCE, &oid(SHA2, hash)));
            [oid(RSA_SIGNATURES, &[10]), wrapped(der::SEQUENCE, &hash)].concat()
        };
        let rows: [(Vec<u8>, Option<&Algorithm>); 13] = [
            (oid(RSA_SIGNATURES, &[4]), Some(&SHA256)),
            (oid(RSA_SIGNATURES, &[5]), Some(&SHA256)),
            (oid(RSA_SIGNATURES, &[11]), Some(&SHA256)),
            (oid(RSA_SIGNATURES, &[12]), Some(&SHA384)),
            (oid(RSA_SIGNATURES, &[13]), Some(&SHA512)),
            (oid(ECDSA_SIGNATURES, &[3, 2]), Some(&SHA256)),
            (oid(ECDSA_SIGNATURES, &[3, 3]), Some(&SHA384)),
            (oid(ECDSA_SIGNATURES, &[3, 4]), Some(&SHA512)),
            (pss(&[2]), Some(&SHA384)),
            (pss(&[9]), None),
            ([oid(RSA_SIGNATURES, &[10]), wrapped(der::SEQUENCE, &[])].concat(), Some(&SHA256)),
            // Ed25519 hashes as it likes.
            (oid(&[0x2b, 0x65], &[0x70]), None),
            (Vec::new(), None),
        ];
        for (algorithm, wanted) in rows {
            assert_eq!(hash_of(&algorithm), wanted, "{algorithm:02x?}");
        }
    }

    #[test]
    fn the_name_is_a_hash_of_the_whole_certificate() {
        let key = rcgen::KeyPair::generate().unwrap(); // ECDSA with SHA-256
        let made = rcgen::CertificateParams::new(vec!["a".into()]).unwrap().self_signed(&key).unwrap();
        let tls = TlsInfo { peer_certs: vec![made.der().to_vec()], ..TlsInfo::default() };
        let name = server_end_point(&tls).unwrap();
        assert_eq!(name.strip_prefix(PREFIX).unwrap(), digest(&SHA256, made.der()).as_ref());
        assert_eq!(server_end_point(&TlsInfo::default()), None);
    }
}
