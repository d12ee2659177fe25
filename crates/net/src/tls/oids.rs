//! Names of object identifiers as OpenSSL prints them: short ones in names, long ones elsewhere.

use wire::der::dotted;

pub const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];

pub const AUTHORITY_INFO_ACCESS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 1];
pub const CRL_DISTRIBUTION_POINTS: &[u8] = &[0x55, 0x1d, 31];
pub const CERTIFICATE_POLICIES: &[u8] = &[0x55, 0x1d, 32];
pub const ISSUER_ALT_NAME: &[u8] = &[0x55, 0x1d, 18];
pub const TLS_FEATURE: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 24];
pub const NETSCAPE_COMMENT: &[u8] = &[0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 1, 13];
pub const CPS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 2, 1];

/// Dotted form, short name, long name.
const NAMES: [(&str, &str, &str); 60] = [
    ("2.5.4.3", "CN", "commonName"),
    ("2.5.4.4", "SN", "surname"),
    ("2.5.4.5", "serialNumber", "serialNumber"),
    ("2.5.4.6", "C", "countryName"),
    ("2.5.4.7", "L", "localityName"),
    ("2.5.4.8", "ST", "stateOrProvinceName"),
    ("2.5.4.9", "street", "streetAddress"),
    ("2.5.4.10", "O", "organizationName"),
    ("2.5.4.11", "OU", "organizationalUnitName"),
    ("2.5.4.12", "title", "title"),
    ("2.5.4.13", "description", "description"),
    ("2.5.4.15", "businessCategory", "businessCategory"),
    ("2.5.4.17", "postalCode", "postalCode"),
    ("2.5.4.41", "name", "name"),
    ("2.5.4.42", "GN", "givenName"),
    ("2.5.4.43", "initials", "initials"),
    ("2.5.4.46", "dnQualifier", "dnQualifier"),
    ("2.5.4.65", "pseudonym", "pseudonym"),
    ("2.5.4.97", "organizationIdentifier", "organizationIdentifier"),
    ("1.2.840.113549.1.9.1", "emailAddress", "emailAddress"),
    ("0.9.2342.19200300.100.1.1", "UID", "userId"),
    ("0.9.2342.19200300.100.1.25", "DC", "domainComponent"),
    ("1.3.6.1.4.1.311.60.2.1.1", "jurisdictionL", "jurisdictionLocalityName"),
    ("1.3.6.1.4.1.311.60.2.1.2", "jurisdictionST", "jurisdictionStateOrProvinceName"),
    ("1.3.6.1.4.1.311.60.2.1.3", "jurisdictionC", "jurisdictionCountryName"),
    ("1.2.840.113549.1.1.1", "rsaEncryption", "rsaEncryption"),
    ("1.2.840.113549.1.1.5", "RSA-SHA1", "sha1WithRSAEncryption"),
    ("1.2.840.113549.1.1.10", "RSASSA-PSS", "rsassaPss"),
    ("1.2.840.113549.1.1.11", "RSA-SHA256", "sha256WithRSAEncryption"),
    ("1.2.840.113549.1.1.12", "RSA-SHA384", "sha384WithRSAEncryption"),
    ("1.2.840.113549.1.1.13", "RSA-SHA512", "sha512WithRSAEncryption"),
    ("1.2.840.10045.2.1", "id-ecPublicKey", "id-ecPublicKey"),
    ("1.2.840.10045.4.3.2", "ecdsa-with-SHA256", "ecdsa-with-SHA256"),
    ("1.2.840.10045.4.3.3", "ecdsa-with-SHA384", "ecdsa-with-SHA384"),
    ("1.2.840.10045.4.3.4", "ecdsa-with-SHA512", "ecdsa-with-SHA512"),
    ("1.3.101.112", "ED25519", "ED25519"),
    ("1.3.101.113", "ED448", "ED448"),
    ("2.5.29.14", "subjectKeyIdentifier", "X509v3 Subject Key Identifier"),
    ("2.5.29.15", "keyUsage", "X509v3 Key Usage"),
    ("2.5.29.17", "subjectAltName", "X509v3 Subject Alternative Name"),
    ("2.5.29.18", "issuerAltName", "X509v3 Issuer Alternative Name"),
    ("2.5.29.19", "basicConstraints", "X509v3 Basic Constraints"),
    ("2.5.29.30", "nameConstraints", "X509v3 Name Constraints"),
    ("2.5.29.31", "crlDistributionPoints", "X509v3 CRL Distribution Points"),
    ("2.5.29.32", "certificatePolicies", "X509v3 Certificate Policies"),
    ("2.5.29.35", "authorityKeyIdentifier", "X509v3 Authority Key Identifier"),
    ("2.5.29.37", "extendedKeyUsage", "X509v3 Extended Key Usage"),
    ("2.5.29.37.0", "anyExtendedKeyUsage", "Any Extended Key Usage"),
    ("1.3.6.1.5.5.7.1.1", "authorityInfoAccess", "Authority Information Access"),
    ("1.3.6.1.5.5.7.48.1", "OCSP", "OCSP"),
    ("1.3.6.1.5.5.7.48.2", "caIssuers", "CA Issuers"),
    ("1.3.6.1.5.5.7.1.24", "tlsfeature", "TLS Feature"),
    ("1.3.6.1.5.5.7.3.1", "serverAuth", "TLS Web Server Authentication"),
    ("1.3.6.1.5.5.7.3.2", "clientAuth", "TLS Web Client Authentication"),
    ("1.3.6.1.5.5.7.3.3", "codeSigning", "Code Signing"),
    ("1.3.6.1.5.5.7.3.4", "emailProtection", "E-mail Protection"),
    ("1.3.6.1.5.5.7.3.8", "timeStamping", "Time Stamping"),
    ("1.3.6.1.5.5.7.3.9", "OCSPSigning", "OCSP Signing"),
    ("2.16.840.1.113730.1.13", "nsComment", "Netscape Comment"),
    ("1.3.6.1.4.1.11129.2.4.2", "ct_precert_scts", "CT Precertificate SCTs"),
];

/// Returns the abbreviation for use in names; the numbers if there is none.
pub fn short_name(oid: &[u8]) -> String {
    find(oid, |(_, short, _)| short)
}

/// Returns the name for all other uses; the numbers if there is none.
pub fn long_name(oid: &[u8]) -> String {
    find(oid, |(_, _, long)| long)
}

fn find(oid: &[u8], pick: impl Fn((&'static str, &'static str, &'static str)) -> &'static str) -> String {
    let dotted = dotted(oid);
    match NAMES.iter().find(|(d, _, _)| *d == dotted) {
        Some(row) => pick(*row).to_string(),
        None => dotted,
    }
}
