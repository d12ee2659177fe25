//! A certificate authority for tests, and the leaf certificates a client must accept or refuse.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, PublicKeyData,
    RevokedCertParams, SanType, SerialNumber, date_time_ymd,
};
pub use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;

/// The names of this machine that a good certificate covers.
pub const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A root that signs leaves. Each value has its own key: certificates of one test are not trusted by another.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    ca_pem: String,
}

/// A certificate chain with its key, as PEM.
#[derive(Clone)]
pub struct Leaf {
    pub cert_pem: String,
    pub key_pem: String,
}

impl Default for Authority {
    fn default() -> Self {
        Authority::new()
    }
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name = name("Warmwire test root");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let key = new_key();
        let ca_pem = params.self_signed(&key).expect("a root of constant shape signs itself").pem();
        Authority { issuer: Issuer::new(params, key), ca_pem }
    }

    /// Returns the contents of the client's CA file.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Accepted for this machine's names.
    pub fn good(&self) -> Leaf {
        self.for_names(&LOCAL_NAMES)
    }

    /// Accepted for these names and addresses only.
    pub fn for_names(&self, names: &[&str]) -> Leaf {
        self.sign(leaf_params(names))
    }

    /// Well signed, for a host that no test talks to.
    pub fn wrong_name(&self) -> Leaf {
        self.for_names(&["elsewhere.example"])
    }

    /// Ended in 2001.
    pub fn expired(&self) -> Leaf {
        let mut params = leaf_params(&LOCAL_NAMES);
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        self.sign(params)
    }

    /// Valid for so long from now on.
    pub fn valid_for(&self, time: Duration) -> Leaf {
        let mut params = leaf_params(&LOCAL_NAMES);
        params.not_after = (SystemTime::now() + time).into();
        self.sign(params)
    }

    /// Valid from the year 2400 on.
    pub fn not_yet_valid(&self) -> Leaf {
        let mut params = leaf_params(&LOCAL_NAMES);
        params.not_before = date_time_ymd(2400, 1, 1);
        params.not_after = date_time_ymd(2401, 1, 1);
        self.sign(params)
    }

    /// Creates a certificate with a common name only, and no subject alternative name: OpenSSL's builds of
    /// curl accept it.
    pub fn common_name_only(&self, host: &str) -> Leaf {
        let mut params = leaf_params(&[]);
        params.distinguished_name = name(host);
        self.sign(params)
    }

    /// Creates a certificate of a client.
    pub fn client(&self, who: &str) -> Leaf {
        let mut params = leaf_params(&[]);
        params.distinguished_name = name(who);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// A certificate for servers and clients, with this serial number and common name, for these names and
    /// addresses.
    pub fn numbered(&self, serial: u64, common_name: &str, names: &[&str]) -> Leaf {
        let mut params = leaf_params(names);
        params.distinguished_name = name(common_name);
        params.serial_number = Some(SerialNumber::from(serial));
        params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        self.sign(params)
    }

    /// A server configuration that asks for a certificate of this authority's.
    pub fn demanding(&self, leaf: &Leaf) -> io::Result<Arc<ServerConfig>> {
        let mut roots = rustls::RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(self.ca_pem.as_bytes()).map_err(io::Error::other)?;
        roots.add(root).map_err(io::Error::other)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
        let verifier = verifier.build().map_err(io::Error::other)?;
        let builder = builder()?.with_client_cert_verifier(verifier);
        let (chain, key) = leaf.parsed()?;
        builder.with_single_cert(chain, key).map(Arc::new).map_err(io::Error::other)
    }

    /// Returns a list of revoked certificates that names none, as PEM.
    pub fn empty_crl(&self) -> String {
        self.crl(&[])
    }

    /// Returns a list that revokes the certificates with these serial numbers, as PEM.
    pub fn crl(&self, serials: &[u64]) -> String {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2090, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = params.signed_by(&self.issuer).and_then(|list| list.pem());
        list.expect("a list of constant shape is signed")
    }

    fn sign(&self, params: CertificateParams) -> Leaf {
        let key = new_key();
        let cert = params.signed_by(&key, &self.issuer).expect("a leaf of constant shape is signed");
        Leaf { cert_pem: cert.pem(), key_pem: key.serialize_pem() }
    }
}

impl Leaf {
    /// A self-signed certificate.
    pub fn self_signed() -> Leaf {
        let key = new_key();
        let cert =
            leaf_params(&LOCAL_NAMES).self_signed(&key).expect("a leaf of constant shape signs itself");
        Leaf { cert_pem: cert.pem(), key_pem: key.serialize_pem() }
    }

    /// Returns a configuration for TLS 1.2 and 1.3 without client certificates.
    pub fn server_config(&self) -> io::Result<Arc<ServerConfig>> {
        let (chain, key) = self.parsed()?;
        let config = builder()?.with_no_client_auth().with_single_cert(chain, key);
        config.map(Arc::new).map_err(io::Error::other)
    }

    /// Returns a configuration for TLS 1.2 alone, without client certificates.
    pub fn tls12_server_config(&self) -> io::Result<Arc<ServerConfig>> {
        let (chain, key) = self.parsed()?;
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS12])
            .map_err(io::Error::other)?;
        let config = builder.with_no_client_auth().with_single_cert(chain, key);
        config.map(Arc::new).map_err(io::Error::other)
    }

    /// Returns the hash of the public key, as CURLOPT_PINNEDPUBLICKEY and policies take it.
    pub fn public_key_hash(&self) -> String {
        let hash = ring::digest::digest(&ring::digest::SHA256, &self.public_key_der());
        format!("sha256//{}", crate::base64::encode(hash.as_ref()))
    }

    /// Returns the public key, as PEM.
    pub fn public_key_pem(&self) -> String {
        KeyPair::from_pem(&self.key_pem).expect("the key was made here").public_key_pem()
    }

    /// Returns the certificate, as DER.
    pub fn cert_der(&self) -> io::Result<Vec<u8>> {
        let certificate =
            CertificateDer::from_pem_slice(self.cert_pem.as_bytes()).map_err(io::Error::other)?;
        Ok(certificate.to_vec())
    }

    /// Returns the public key with its algorithm (SubjectPublicKeyInfo), as DER.
    pub fn public_key_der(&self) -> Vec<u8> {
        KeyPair::from_pem(&self.key_pem).expect("the key was made here").subject_public_key_info()
    }

    fn parsed(&self) -> io::Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(self.cert_pem.as_bytes()).collect();
        let key = PrivateKeyDer::from_pem_slice(self.key_pem.as_bytes()).map_err(io::Error::other)?;
        Ok((chain.map_err(io::Error::other)?, key))
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn builder() -> io::Result<rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier>> {
    ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("the system gives random bytes")
}

fn name(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}

fn leaf_params(names: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = name(names.first().copied().unwrap_or("nobody"));
    params.subject_alt_names = names.iter().map(|name| alt_name(name)).collect();
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    params
}

fn alt_name(name: &str) -> SanType {
    match name.parse::<IpAddr>() {
        Ok(address) => SanType::IpAddress(address),
        Err(_) => SanType::DnsName(name.try_into().expect("test names are ASCII")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leaf_makes_a_server() {
        let authority = Authority::new();
        let leaves = [
            authority.good(),
            authority.wrong_name(),
            authority.expired(),
            authority.not_yet_valid(),
            authority.common_name_only("localhost"),
            authority.numbered(7, "localhost", &["localhost", "127.0.0.1"]),
            Leaf::self_signed(),
        ];
        for leaf in leaves {
            leaf.server_config().unwrap();
        }
        authority.demanding(&authority.good()).unwrap();
    }
}
