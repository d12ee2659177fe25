//! Client certificates and their keys: PEM, DER and PKCS#12, with or without a password (CURLOPT_SSLCERT and
//! related options).

use super::{CertSource, ClientCert, decrypt, pem, pkcs12};
use crate::{NetError, NetErrorKind};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer,
};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use wire::der::{self, Reader};

/// Largest file of certificates or keys.
const MAX_FILE: u64 = 16 * 1024 * 1024;
const CHECK: &str = "(no key found, wrong passphrase, or wrong file format?)";

/// Loads the certificate for servers that ask for one.
pub fn load(wanted: &ClientCert, provider: &CryptoProvider) -> Result<SingleCertAndKey, NetError> {
    let (chain, key) = match wanted.cert_type.to_ascii_uppercase().as_str() {
        "P12" => from_pkcs12(wanted, provider)?,
        "" | "PEM" => (pem_chain(wanted)?, separate_key(wanted, provider)?),
        "DER" => (der_cert(wanted)?, separate_key(wanted, provider)?),
        "ENG" => return Err(problem("crypto engine not set, cannot load certificate")),
        "PROV" => return Err(problem("crypto provider not set, cannot load certificate")),
        _ => {
            let text = format!("not supported file type '{}' for certificate", wanted.cert_type);
            return Err(NetError::new(NetErrorKind::BadFunctionArgument, text));
        }
    };
    let certified = CertifiedKey::new(chain, key);
    if matches!(
        certified.keys_match(),
        Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch))
    ) {
        return Err(problem("Private key does not match the certificate public key"));
    }
    Ok(SingleCertAndKey::from(certified))
}

type Chain = Vec<CertificateDer<'static>>;
type Key = Arc<dyn SigningKey>;

fn pem_chain(wanted: &ClientCert) -> Result<Chain, NetError> {
    let failed = |reason: &str| {
        let name = cert_name(wanted);
        problem(format!("could not load PEM client certificate from {name}, OpenSSL error {reason}, {CHECK}"))
    };
    let bytes = read(&wanted.cert).map_err(|e| failed(&system_reason(&e)))?;
    let certs = pem::sections(&bytes)
        .into_iter()
        .filter(|s| matches!(s.label.as_str(), "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE"));
    let chain: Chain = certs.map(|mut s| CertificateDer::from(std::mem::take(&mut *s.body))).collect();
    if chain.is_empty() {
        return Err(failed("error:0480006C:PEM routines::no start line"));
    }
    Ok(chain)
}

fn der_cert(wanted: &ClientCert) -> Result<Chain, NetError> {
    let failed = |reason: &str| {
        let name = cert_name(wanted);
        problem(format!(
            "could not load ASN1 client certificate from {name}, OpenSSL error {reason}, {CHECK}"
        ))
    };
    let bytes = read(&wanted.cert).map_err(|e| failed(&system_reason(&e)))?;
    match super::x509::Certificate::parse(&bytes) {
        Some(_) => Ok(vec![CertificateDer::from(bytes)]),
        None => Err(failed("error:0688010A:asn1 encoding routines::nested asn1 error")),
    }
}

fn separate_key(wanted: &ClientCert, provider: &CryptoProvider) -> Result<Key, NetError> {
    let source = wanted.key.as_ref().unwrap_or(&wanted.cert);
    // Without a separate key, the certificate's file and type are used for both.
    let kind = if wanted.key.is_some() { &wanted.key_type } else { &wanted.cert_type }.to_ascii_uppercase();
    match kind.as_str() {
        "" | "PEM" | "DER" => {}
        "ENG" => return Err(problem("crypto engine not set, cannot load private key")),
        "PROV" => return Err(problem("crypto provider not set, cannot load private key")),
        "P12" => return Err(problem("file type P12 for private key not supported")),
        _ => {
            let text = "not supported file type for private key";
            return Err(NetError::new(NetErrorKind::BadFunctionArgument, text));
        }
    }
    let password = wanted.password.as_deref().unwrap_or_default();
    let der = read(source).ok().and_then(|bytes| match kind.as_str() {
        "DER" => der_key(bytes, password),
        _ => pem::sections(&bytes).into_iter().find_map(|s| pem_key(s, password)),
    });
    der.and_then(|k| provider.key_provider.load_private_key(k).ok()).ok_or_else(|| {
        let name = source.shown();
        let kind = if kind.is_empty() { "PEM" } else { &kind };
        let text = format!("unable to set private key file: '{name}' type {kind}");
        NetError::new(NetErrorKind::BadFunctionArgument, text) // since curl 8; before, a bad certificate
    })
}

/// Returns the first private key of a PEM file in DER, decrypted: for uses without a certificate. `None` if
/// there is none or the password is wrong.
pub fn private_key(file: &[u8], password: &[u8]) -> Option<PrivateKeyDer<'static>> {
    pem::sections(file).into_iter().find_map(|section| pem_key(section, password))
}

/// Returns the private key in one section of a file, if it is one and the password is right.
fn pem_key(mut section: pem::Section, password: &[u8]) -> Option<PrivateKeyDer<'static>> {
    let dek = section.headers.iter().find(|(name, _)| name == "DEK-Info").map(|(_, value)| value.clone());
    let body = match dek {
        Some(info) => decrypt::by_dek_info(&info, &section.body, password)?,
        None => std::mem::take(&mut *section.body),
    };
    Some(match section.label.as_str() {
        "PRIVATE KEY" => PrivatePkcs8KeyDer::from(body).into(),
        "RSA PRIVATE KEY" => PrivatePkcs1KeyDer::from(body).into(),
        "EC PRIVATE KEY" => PrivateSec1KeyDer::from(body).into(),
        "ENCRYPTED PRIVATE KEY" => PrivatePkcs8KeyDer::from(open_pkcs8(&body, password)?).into(),
        _ => return None,
    })
}

/// The kind is found by its structure: RFC 5958, RFC 8017, RFC 5915.
fn der_key(bytes: Vec<u8>, password: &[u8]) -> Option<PrivateKeyDer<'static>> {
    let mut r = Reader::new(&bytes).sequence()?;
    if r.peek() == Some(der::SEQUENCE) {
        return Some(PrivatePkcs8KeyDer::from(open_pkcs8(&bytes, password)?).into());
    }
    r.expect(der::INTEGER)?;
    Some(match r.peek()? {
        der::SEQUENCE => PrivatePkcs8KeyDer::from(bytes).into(),
        der::OCTET_STRING => PrivateSec1KeyDer::from(bytes).into(),
        _ => PrivatePkcs1KeyDer::from(bytes).into(),
    })
}

/// EncryptedPrivateKeyInfo.
fn open_pkcs8(bytes: &[u8], password: &[u8]) -> Option<Vec<u8>> {
    let mut r = Reader::new(bytes).sequence()?;
    decrypt::by_algorithm(r.expect(der::SEQUENCE)?, r.expect(der::OCTET_STRING)?, password)
}

fn from_pkcs12(wanted: &ClientCert, provider: &CryptoProvider) -> Result<(Chain, Key), NetError> {
    let name = wanted.cert.shown();
    let bytes = read(&wanted.cert).map_err(|_| problem(format!("could not open PKCS12 file '{name}'")))?;
    let password = wanted.password.as_deref().unwrap_or_default();
    let contents = pkcs12::open(&bytes, password).map_err(|e| match e {
        pkcs12::Error::Malformed => problem(format!("error reading PKCS12 file '{name}'")),
        pkcs12::Error::Password => problem(
            "could not parse PKCS12 file, check password, OpenSSL error \
             error:11800071:PKCS12 routines::mac verify failure",
        ),
    })?;
    let key = contents.key.map(|k| PrivateKeyDer::from(PrivatePkcs8KeyDer::from(k)));
    let key = key
        .and_then(|k| provider.key_provider.load_private_key(k).ok())
        .ok_or_else(|| problem(format!("unable to use private key from PKCS12 file '{name}'")))?;
    let mut chain: Chain = contents.certs.into_iter().map(CertificateDer::from).collect();
    let own = chain.iter().position(|c| CertifiedKey::new(vec![c.clone()], key.clone()).keys_match().is_ok());
    match own {
        Some(i) => chain[..=i].rotate_right(1), // its own certificate first, the others as they come
        None => {
            let text =
                format!("private key from PKCS12 file '{name}' does not match certificate in same file");
            return Err(problem(text));
        }
    }
    Ok((chain, key))
}

fn read(source: &CertSource) -> io::Result<Vec<u8>> {
    match source {
        CertSource::Blob(bytes) => Ok(bytes.to_vec()),
        CertSource::File(file) => {
            let mut bytes = Vec::new();
            File::open(file.path())?.take(MAX_FILE).read_to_end(&mut bytes)?;
            Ok(bytes)
        }
        CertSource::Module(_) => Err(io::ErrorKind::NotFound.into()),
    }
}

fn cert_name(wanted: &ClientCert) -> String {
    match &wanted.cert {
        CertSource::Blob(_) => "CURLOPT_SSLCERT_BLOB".into(),
        named => named.shown(),
    }
}

/// The error in OpenSSL's notation for system errors.
fn system_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    format!("error:{:08X}:system library::{text}", 0x8000_0000u32 + error.raw_os_error().unwrap_or(0) as u32)
}

fn problem(text: impl Into<String>) -> NetError {
    NetError::new(NetErrorKind::SslCertproblem, text)
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
