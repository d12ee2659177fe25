//! TLS data of peers and of a user's files that rustls does not parse, as one function of bytes each, with
//! the properties that hold for any input. The fuzz targets run them under libFuzzer,
//! crates/net/tests/tls_mutations.rs on mutated seeds.
//!
//! The private keys of the seeds' authority are deleted: what it did not sign then is a forgery.

use std::sync::OnceLock;
use std::time::Duration;

use net::handover::ConnectionState;
use net::tls::chain::Judge;
use net::tls::crl::{self, Crl};
use net::tls::ech::{self, Ech};
use net::tls::profile::Profile;
use net::tls::record::Key;
use net::tls::signatures::Signatures;
use net::tls::x509::Certificate;
use net::tls::{CaSource, anchors, certinfo, keys, names, ocsp, pem, pkcs12, verdict};
use rustls::ConnectionTrafficSecrets;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, UnixTime};
use wire::der::{self, Reader};

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[
    ("tls_certificate", certificates),
    ("tls_crl", lists),
    ("tls_ech", ech_configurations),
    ("tls_handover", handed_over),
    ("tls_keys", key_files),
    ("tls_ocsp", stapled_answers),
    ("tls_pkcs12", pkcs12_files),
    ("tls_records", records),
];

const NOW: u64 = 1_700_000_000;
const PASSWORD: &[u8] = b"x";

const ROOT: &[u8] = include_bytes!("corpus/tls_certificate/root");
const LEAF: &[u8] = include_bytes!("corpus/tls_certificate/leaf");
const SIGNED: [&[u8]; 4] = [
    ROOT,
    LEAF,
    include_bytes!("corpus/tls_certificate/responder"),
    include_bytes!("corpus/tls_certificate/rich"),
];
const LIST: &[u8] = include_bytes!("corpus/tls_crl/good");
const ANSWERS: [&[u8]; 2] =
    [include_bytes!("corpus/tls_ocsp/good"), include_bytes!("corpus/tls_ocsp/by_responder")];

fn provider() -> &'static CryptoProvider {
    static PROVIDER: OnceLock<CryptoProvider> = OnceLock::new();
    PROVIDER.get_or_init(ring::default_provider)
}

fn judge(leaf: &[u8], others: &[CertificateDer<'_>]) -> i64 {
    let root = pem_of(ROOT);
    let anchors = anchors::load(&[CaSource::Blob(root.into_bytes().into())], None).expect("a good root");
    let algorithms = provider().signature_verification_algorithms.all;
    let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
    Judge { anchors: &anchors, algorithms, crls: &[], partial: true, now }.verify(leaf, others)
}

fn pem_of(der: &[u8]) -> String {
    let text = wire::base64::encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

/// Returns the first inner structure, header included: the signed part.
fn signed(structure: &[u8]) -> Option<&[u8]> {
    Reader::new(structure).sequence()?.whole(der::SEQUENCE)
}

fn contains(input: &[u8], part: &[u8]) -> bool {
    input.windows(part.len()).any(|window| window == part)
}

/// As a leaf, a certificate is accepted only if the authority signed it, and next to a valid leaf it does no
/// harm.
pub fn certificates(input: &[u8]) {
    let certificate = CertificateDer::from(input.to_vec());
    let _ = (certinfo::of_chain(std::slice::from_ref(&certificate)), certinfo::summary(input));
    if let Some(certificate) = Certificate::parse(input) {
        let _ = (certificate.common_name(), certificate.alt_names(), certificate.date(NOW as i64));
        for host in ["a.example", "10.0.0.1", "www.b.example", "::1"] {
            let _ = names::check(&certificate, host);
        }
    }
    if judge(input, &[]) == verdict::OK {
        assert!(SIGNED.iter().any(|good| signed(good) == signed(input)), "a forgery is accepted");
    }
    assert_eq!(judge(LEAF, &[certificate]), verdict::OK, "a stranger's certificate spoils a good one");
}

/// A list that does not revoke the leaf is accepted only if the authority signed it.
pub fn lists(input: &[u8]) {
    let Some(list) = Crl::parse(input) else { return };
    let chain = [LEAF, ROOT].map(|der| Profile::parse(der).expect("a good certificate"));
    let signatures = Signatures::new(provider().signature_verification_algorithms.all);
    if crl::check(&[list], &chain, &signatures, NOW as i64).is_ok() {
        assert_eq!(signed(input), signed(LIST), "a forged list is believed");
    }
}

/// "good" is believed only when the authority, or who it certified for that, signed it.
pub fn stapled_answers(input: &[u8]) {
    let profile = |der| Profile::parse(der).expect("a good certificate");
    let signatures = Signatures::new(provider().signature_verification_algorithms.all);
    let leaf = profile(LEAF);
    let status = ocsp::status(input, &leaf, &[profile(ROOT)], &signatures, NOW as i64);
    let claimed = ocsp::claims_revocation(input, leaf.cert.serial);
    assert!(claimed || !matches!(status, ocsp::StapledStatus::Revoked(_)), "a proof is a claim");
    if status.fault().is_ok() {
        let signed = ANSWERS.map(|answer| signed_answer(answer).expect("a good answer"));
        assert!(signed.iter().any(|answer| contains(input, answer)), "a forged answer is believed");
    }
}

fn signed_answer(answer: &[u8]) -> Option<&[u8]> {
    let mut outer = Reader::new(answer).sequence()?;
    outer.value()?;
    let mut bytes = Reader::new(outer.expect(der::context(0))?).sequence()?;
    bytes.expect(der::OID)?;
    signed(bytes.expect(der::OCTET_STRING)?)
}

/// The state of a connection from another process: what is accepted has no other encoding.
pub fn handed_over(input: &[u8]) {
    if let Ok(state) = ConnectionState::decode(input) {
        assert!(state.encode().as_slice() == input);
    }
}

/// A file with a private key, encrypted or not, and certificates.
pub fn key_files(input: &[u8]) {
    let _ = (pem::sections(input), pem::decode(&String::from_utf8_lossy(input)));
    if let Some(key) = keys::private_key(input, PASSWORD) {
        let _ = provider().key_provider.load_private_key(key);
    }
    let blob = net::tls::CertSource::Blob(input.to_vec().into());
    for kind in ["PEM", "DER", "P12"] {
        let wanted = net::tls::ClientCert {
            cert: blob.clone(),
            cert_type: kind.into(),
            key: None,
            key_type: String::new(),
            password: Some(PASSWORD.into()),
        };
        let _ = keys::load(&wanted, provider());
    }
}

/// With another password the file is unreadable, unless nothing in it is protected.
pub fn pkcs12_files(input: &[u8]) {
    for password in [PASSWORD, b""] {
        let Ok(contents) = pkcs12::open(input, password) else { continue };
        for certificate in &contents.certs {
            let _ = certinfo::summary(certificate);
        }
    }
}

/// A usable configuration has a name for the outer hello, and stays usable.
pub fn ech_configurations(input: &[u8]) {
    if ech::is_usable(input, None) {
        let offer = Ech::Offer { list: input.into(), outer_name: None };
        let _ = ech::outer_name(&offer);
        assert!(ech::mode(&offer).is_ok(), "usable, and then not");
    }
}

/// Octets: cipher, version and counter, how a message is cut, then the message. Sealed data opens to the
/// same, in order; with any bit changed it does not open; and data that was not sealed never does.
pub fn records(input: &[u8]) {
    let [how, size, message @ ..] = input else { return };
    let key = |counted: usize| {
        // rustls makes keys of this length for any cipher, and no shorter ones.
        let (key, iv) = (AeadKey::from([7; 32]), Iv::from([3; 12]));
        let secrets = match how & 1 {
            0 => ConnectionTrafficSecrets::Aes256Gcm { key, iv },
            _ => ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv },
        };
        Key::new(secrets, u64::from(how >> 6) + counted as u64, how & 4 == 0).expect("a known cipher")
    };
    let mut raw = message.to_vec();
    assert!(!matches!(key(0).open(&mut raw, 0, 0), Ok(Some(_))), "nobody sealed this");
    let (mut sealing, mut opening) = (key(0), key(0));
    for (at, piece) in message.chunks(usize::from(*size).max(1)).enumerate() {
        let mut record = Vec::new();
        sealing.seal(23, piece, &mut record).expect("few records");
        let mut bad = record.clone();
        let bit = (at * 131 + usize::from(*how)) % (bad.len() * 8);
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(!matches!(key(at).open(&mut bad, 0, 0), Ok(Some(_))), "another bit, and nobody minds");
        let opened = opening.open(&mut record, 0, 0).expect("what was sealed").expect("all of it");
        assert_eq!((opened.kind, &record[..opened.len]), (23, piece));
    }
}
