//! TLS for the servers that need it, with certificates made for each run: a root, and the leaves that the
//! cases name, with the names and properties that their checks require. Nothing here is a secret.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa,
    KeyIdMethod, KeyPair, KeyUsagePurpose, PublicKeyData, SerialNumber,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The certificate of a server whose case names none.
const DEFAULT: &str = "test-localhost.pem";

/// File stem, common name, alternative names.
const LEAVES: [(&str, &str, &[&str]); 5] = [
    ("test-localhost", "localhost", &["localhost", "127.0.0.1", "::1"]),
    ("test-localhost.nn", "localhost.nn", &["localhost.nn"]),
    // the NUL in the alternative name is the point: it must not be taken for localhost
    ("test-localhost0h", "localhost", &["localhost\0h"]),
    ("test-localhost-san-first", "localhost.nn", &["localhost", "localhost1", "localhost2"]),
    ("test-localhost-san-last", "localhost.nn", &["localhost1", "localhost2", "localhost"]),
];

struct Leaf {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
    pem: String,
    key_pem: String,
    public_der: Vec<u8>,
}

struct Authority {
    pem: String,
    der: CertificateDer<'static>,
    empty_crl_pem: String,
    revoked_crl_pem: String,
    leaves: BTreeMap<&'static str, Leaf>,
    client: Leaf,
}

/// SHA-256 of the data, for pins.
pub fn sha256(data: &[u8]) -> impl AsRef<[u8]> {
    ring::digest::digest(&ring::digest::SHA256, data)
}

/// The configuration of a TLS server that shows the named certificate.
pub fn server(role: &str, certificate: Option<&str>) -> Result<Arc<ServerConfig>, String> {
    let authority = authority()?;
    let name = certificate.unwrap_or(DEFAULT);
    let stem = name.strip_suffix(".pem").unwrap_or(name);
    let leaf = authority.leaves.get(stem).ok_or_else(|| format!("no certificate {name}"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    let builder = if role == "https-mtls" {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(authority.der.clone()).map_err(|e| e.to_string())?;
        let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
            .build()
            .map_err(|e| e.to_string())?;
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf.key.clone()));
    builder.with_single_cert(leaf.chain.clone(), key).map(Arc::new).map_err(|e| e.to_string())
}

/// Returns certificate and key in PEM of a server whose case names none.
pub fn usual_pair() -> Result<(&'static str, &'static str), String> {
    let leaf = &authority()?.leaves[DEFAULT.trim_end_matches(".pem")];
    Ok((&leaf.pem, &leaf.key_pem))
}

/// Writes the files that cases name under `%CERTDIR/certs`.
pub fn write_files(folder: &Path) -> Result<(), String> {
    let authority = authority()?;
    let put = |name: &str, data: &[u8]| {
        std::fs::write(folder.join(name), data).map_err(|e| format!("cannot write {name}: {e}"))
    };
    for name in ["test-ca.crt", "test-ca.cacert"] {
        put(name, authority.pem.as_bytes())?;
    }
    put("test-ca.crl", authority.empty_crl_pem.as_bytes())?;
    let client = [("test-client-cert", &authority.client)];
    for (stem, leaf) in authority.leaves.iter().map(|(s, l)| (*s, l)).chain(client) {
        put(&format!("{stem}.crt"), leaf.pem.as_bytes())?;
        put(&format!("{stem}.der"), leaf.chain[0].as_ref())?;
        put(&format!("{stem}.key"), leaf.key_pem.as_bytes())?;
        put(&format!("{stem}.pem"), [&leaf.key_pem, "\n", &leaf.pem].concat().as_bytes())?;
        put(&format!("{stem}.pub.der"), &leaf.public_der)?;
        put(&format!("{stem}.pub.pem"), public_pem(&leaf.public_der).as_bytes())?;
        put(&format!("{stem}.crl"), authority.revoked_crl_pem.as_bytes())?;
    }
    Ok(())
}

fn authority() -> Result<&'static Authority, String> {
    static MADE: OnceLock<Result<Authority, String>> = OnceLock::new();
    MADE.get_or_init(|| make().map_err(|e| format!("cannot make certificates: {e}")))
        .as_ref()
        .map_err(Clone::clone)
}

fn make() -> Result<Authority, rcgen::Error> {
    let mut params = named("Conformance test root");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages =
        vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    let root = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let mut leaves = BTreeMap::new();
    for (at, (stem, common_name, names)) in LEAVES.iter().enumerate() {
        leaves.insert(*stem, leaf(&root, at as u64 + 10, common_name, names)?);
    }
    let client = leaf(&root, 9, "Client cert", &[])?;
    Ok(Authority {
        pem: root.pem(),
        der: root.der().clone(),
        empty_crl_pem: revocations(&root, &[])?,
        revoked_crl_pem: revocations(&root, &[10])?,
        leaves,
        client,
    })
}

fn named(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CountryName, "NN");
    params.distinguished_name.push(DnType::OrganizationName, "Conformance runner");
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

fn leaf(
    root: &CertifiedIssuer<'_, KeyPair>,
    serial: u64,
    common_name: &str,
    names: &[&str],
) -> Result<Leaf, rcgen::Error> {
    let mut params = named(common_name);
    let plain: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    params.subject_alt_names = CertificateParams::new(plain)?.subject_alt_names;
    params.serial_number = Some(SerialNumber::from(serial));
    params.use_authority_key_identifier_extension = true;
    params.extended_key_usages =
        vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth, rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, root)?;
    Ok(Leaf {
        pem: certificate.pem(),
        chain: vec![certificate.der().clone()],
        key: key.serialize_der(),
        key_pem: key.serialize_pem(),
        public_der: key.subject_public_key_info(),
    })
}

fn revocations(root: &CertifiedIssuer<'_, KeyPair>, serials: &[u64]) -> Result<String, rcgen::Error> {
    let past = rcgen::date_time_ymd(2020, 1, 1);
    let revoked = serials
        .iter()
        .map(|serial| rcgen::RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: past,
            reason_code: None,
            invalidity_date: None,
        })
        .collect();
    let params = CertificateRevocationListParams {
        this_update: past,
        next_update: rcgen::date_time_ymd(2090, 1, 1),
        crl_number: SerialNumber::from(1u64),
        issuing_distribution_point: None,
        revoked_certs: revoked,
        key_identifier_method: KeyIdMethod::Sha256,
    };
    params.signed_by(root)?.pem()
}

fn public_pem(der: &[u8]) -> String {
    let mut pem = "-----BEGIN PUBLIC KEY-----\n".to_owned();
    for line in crate::base64::encode(der).as_bytes().chunks(64) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem + "-----END PUBLIC KEY-----\n"
}
