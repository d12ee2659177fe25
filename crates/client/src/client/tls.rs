//! Certificates, keys and versions of TLS.

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub(crate) i64);

impl Version {
    /// TLS 1.0. Needs the system's library.
    pub const TLS_1_0: Version = Version(tables::constant::CURL_SSLVERSION_TLSv1_0);
    /// TLS 1.1. Needs the system's library.
    pub const TLS_1_1: Version = Version(tables::constant::CURL_SSLVERSION_TLSv1_1);
    /// TLS 1.2, the lowest version by default.
    pub const TLS_1_2: Version = Version(tables::constant::CURL_SSLVERSION_TLSv1_2);
    /// TLS 1.3.
    pub const TLS_1_3: Version = Version(tables::constant::CURL_SSLVERSION_TLSv1_3);
}

/// Certificates of authorities that a client trusts.
#[derive(Clone)]
pub struct Certificate(pub(crate) Vec<u8>);

impl Certificate {
    /// Reads a certificate, or several, in PEM.
    pub fn from_pem(pem: &[u8]) -> Result<Certificate, InvalidCertificate> {
        match contains(pem, b"-----BEGIN CERTIFICATE-----") {
            true => Ok(Certificate(pem.to_vec())),
            false => Err(InvalidCertificate("the PEM text contains no certificate")),
        }
    }

    /// Reads a certificate in DER.
    pub fn from_der(der: &[u8]) -> Result<Certificate, InvalidCertificate> {
        // A certificate is a SEQUENCE (RFC 5280, 4.1).
        if der.first() != Some(&0x30) {
            return Err(InvalidCertificate("the bytes are no certificate in DER"));
        }
        let lines = wire::base64::encode(der);
        let mut pem = b"-----BEGIN CERTIFICATE-----\n".to_vec();
        for line in lines.as_bytes().chunks(64) {
            pem.extend_from_slice(line);
            pem.push(b'\n');
        }
        pem.extend_from_slice(b"-----END CERTIFICATE-----\n");
        Ok(Certificate(pem))
    }
}

/// A client's certificate and its key.
#[derive(Clone)]
pub struct Identity {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Identity {
    /// Reads certificate, chain and key from one PEM text.
    pub fn from_pem(pem: &[u8]) -> Result<Identity, InvalidCertificate> {
        Identity::from_pkcs8_pem(pem, pem)
    }

    /// Reads the certificate with its chain, and the key, each in PEM.
    pub fn from_pkcs8_pem(certificate: &[u8], key: &[u8]) -> Result<Identity, InvalidCertificate> {
        if !contains(certificate, b"-----BEGIN CERTIFICATE-----") {
            return Err(InvalidCertificate("the PEM text contains no certificate"));
        }
        if !contains(key, b"PRIVATE KEY-----") {
            return Err(InvalidCertificate("the PEM text contains no key"));
        }
        Ok(Identity { certificate: certificate.to_vec(), key: key.to_vec() })
    }
}

fn contains(text: &[u8], marker: &[u8]) -> bool {
    text.windows(marker.len()).any(|window| window == marker)
}

/// A certificate or key that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCertificate(&'static str);

impl std::fmt::Display for InvalidCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidCertificate {}
