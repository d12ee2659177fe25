//! Channel bindings, which tie a security context to the TLS channel below it: `tls-exporter` (RFC 9266), a
//! value that only the two ends of one handshake know, and `tls-server-end-point` (RFC 5929 section 4), a
//! hash of the server's certificate. A proxy that terminates TLS has another channel and another certificate,
//! and is detected.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

use super::TlsInfo;
use super::x509::Certificate;
use wire::der::{self, Reader};

/// RFC 9266, section 2.
pub const EXPORTER_LABEL: &str = "EXPORTER-Channel-Binding";

const PREFIX: &[u8] = b"tls-server-end-point:";

/// PKCS #1 signatures without the last number: 1.2.840.113549.1.1.
const RSA_SIGNATURES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
/// 1.2.840.10045.4: ecdsa-with-SHA1 is number 1, those with SHA-2 are below number 3.
const ECDSA_SIGNATURES: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];
/// 2.16.840.1.101.3.4.2: hashes of the SHA-2 family.
const SHA2: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];

/// Returns the binding; `None` if the signature algorithm has no separate hash, for which the RFC defines
/// none.
pub fn server_end_point(tls: &TlsInfo) -> Option<Vec<u8>> {
    let der = tls.peer_cert.as_deref()?;
    let certificate = Certificate::parse(der)?;
    let hash = digest(hash_of(certificate.signature_alg)?, der);
    Some([PREFIX, hash.as_ref()].concat())
}

/// Returns the hash of a signature algorithm; SHA-256 instead of MD5 and SHA-1.
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

/// Returns the hash in the parameters of RSASSA-PSS (RFC 4055 section 3.1); SHA-1 if there is none.
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
    use std::sync::Arc;

    use rustls::crypto::CryptoProvider;

    use super::super::key_schedule::Overheard;
    use super::*;

    fn oid(prefix: &[u8], last: &[u8]) -> Vec<u8> {
        [&[der::OID, (prefix.len() + last.len()) as u8], prefix, last].concat()
    }

    fn wrapped(tag: u8, body: &[u8]) -> Vec<u8> {
        [&[tag, body.len() as u8], body].concat()
    }

    #[test]
    fn each_signature_algorithm_has_its_hash() {
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
            // Ed25519 has an internal hash.
            (oid(&[0x2b, 0x65], &[0x70]), None),
            (Vec::new(), None),
        ];
        for (algorithm, wanted) in rows {
            assert_eq!(hash_of(&algorithm), wanted, "{algorithm:02x?}");
        }
    }

    /// For every suite of TLS 1.3 both ends of a handshake export the same value as rustls on a buffered
    /// connection.
    #[test]
    fn both_ends_export_the_same_name() {
        use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
        use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
        let key = rcgen::KeyPair::generate().unwrap();
        let made = rcgen::CertificateParams::new(vec!["a".into()]).unwrap().self_signed(&key).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(made.der().to_vec())).unwrap();
        let all = rustls::crypto::ring::default_provider();
        for suite in all.cipher_suites.iter().filter(|suite| suite.tls13().is_some()) {
            let provider = Arc::new(CryptoProvider { cipher_suites: vec![*suite], ..all.clone() });
            let versions = &[&rustls::version::TLS13];
            let server = ServerConfig::builder_with_provider(provider.clone())
                .with_protocol_versions(versions)
                .unwrap();
            let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
            let server =
                server.with_no_client_auth().with_single_cert(vec![made.der().clone()], key).unwrap();
            let client =
                ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
            let mut client = client.with_root_certificates(roots.clone()).with_no_client_auth();
            let overheard = Arc::new(Overheard::new(client.key_log.clone()));
            client.key_log = overheard.clone();
            let mut client =
                ClientConnection::new(Arc::new(client), ServerName::try_from("a").unwrap()).unwrap();
            let mut server = ServerConnection::new(Arc::new(server)).unwrap();
            assert_eq!(overheard.name(*suite), None, "not before the handshake");
            while client.is_handshaking() || server.is_handshaking() {
                let mut wire = Vec::new();
                client.write_tls(&mut wire).unwrap();
                server.read_tls(&mut &wire[..]).unwrap();
                server.process_new_packets().unwrap();
                wire.clear();
                server.write_tls(&mut wire).unwrap();
                client.read_tls(&mut &wire[..]).unwrap();
                client.process_new_packets().unwrap();
            }
            let exported =
                server.export_keying_material([0; 32], EXPORTER_LABEL.as_bytes(), Some(b"")).unwrap();
            assert_eq!(overheard.name(*suite), Some(exported), "{suite:?}");
        }
        let below = all.cipher_suites.iter().find(|suite| suite.tls13().is_none()).unwrap();
        assert_eq!(Overheard::new(Arc::new(rustls::KeyLogFile::new())).name(*below), None);
    }

    #[test]
    fn the_name_is_a_hash_of_the_whole_certificate() {
        let key = rcgen::KeyPair::generate().unwrap(); // ECDSA with SHA-256
        let made = rcgen::CertificateParams::new(vec!["a".into()]).unwrap().self_signed(&key).unwrap();
        let tls = TlsInfo { peer_cert: Some(made.der().to_vec().into()), ..TlsInfo::default() };
        let name = server_end_point(&tls).unwrap();
        assert_eq!(name.strip_prefix(PREFIX).unwrap(), digest(&SHA256, made.der()).as_ref());
        assert_eq!(server_end_point(&TlsInfo::default()), None);
    }
}
