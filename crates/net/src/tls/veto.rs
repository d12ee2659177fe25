//! A second check: webpki (RFC 5280, section 6) may refuse a chain that `chain` has accepted.
//!
//! A refusal is ignored if it is about a formal point in which webpki is stricter than OpenSSL and which our
//! own check covers: versions below 3 (and what webpki does not accept as an anchor), an authority's
//! certificate used by a server, odd serial numbers, critical policies, long chains, name constraints, names
//! that differ only in spelling, and self-issued certificates, which it counts and constrains like any other.
//! Verified signatures are not computed again.

use super::profile::Profile;
use super::signatures::{Shared, Signatures};
use super::verdict::*;
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, UnixTime};
use webpki::{EndEntityCert, Error, KeyUsage};

/// `chain` has its leaf first and ends with a trusted certificate.
pub fn ask(chain: &[Profile<'_>], signatures: &Signatures<'_>, now: UnixTime) -> VerifyResult {
    let [leaf, between @ .., anchor] = chain else {
        return OK; // the server's certificate is itself trusted: nothing webpki would know
    };
    match verify(leaf, between, anchor, signatures, now) {
        Err(error) if !is_form(&error, chain) => number(&error),
        _ => OK,
    }
}

fn verify(
    leaf: &Profile<'_>,
    between: &[Profile<'_>],
    anchor: &Profile<'_>,
    signatures: &Signatures<'_>,
    now: UnixTime,
) -> Result<(), Error> {
    let der = |p: &Profile<'_>| CertificateDer::from(p.cert.der.to_vec());
    let (leaf, anchor) = (der(leaf), der(anchor));
    let between: Vec<CertificateDer<'_>> = between.iter().map(der).collect();
    let shared = signatures.shared();
    let algorithms: Vec<&dyn SignatureVerificationAlgorithm> =
        shared.iter().map(|s: &Shared<'_>| s as _).collect();
    let Ok(anchor) = webpki::anchor_from_trusted_cert(&anchor) else {
        return Ok(()); // an old one, say: trusted is trusted
    };
    let anchor = [anchor];
    let leaf = EndEntityCert::try_from(&leaf)?;
    let usage = KeyUsage::server_auth();
    leaf.verify_for_usage(&algorithms, &anchor, &between, now, usage, None, None).map(drop)
}

/// Returns whether our own check decides this point.
fn is_form(error: &Error, chain: &[Profile<'_>]) -> bool {
    match error {
        Error::UnsupportedCertVersion
        | Error::CaUsedAsEndEntity
        | Error::InvalidSerialNumber
        | Error::UnsupportedCriticalExtension
        | Error::NameConstraintViolation
        | Error::InvalidNetworkMaskConstraint
        | Error::MalformedDnsIdentifier
        | Error::MalformedNameConstraint
        | Error::UnsupportedNameType
        | Error::MaximumPathDepthExceeded => true,
        Error::BadDerTime => true, // 1950 to 1969
        // An extension in a certificate of an older version, or name constraints that webpki does not parse.
        Error::BadDer | Error::TrailingData(_) => {
            is_old(chain) || chain.iter().any(|p| p.constraints.is_some())
        }
        // With several certificates of one name it also tries those that did not sign, and returns that
        // error.
        Error::PathLenConstraintViolated | Error::InvalidSignatureForPublicKey => rolls_over(chain),
        Error::UnknownIssuer => rolls_over(chain) || chain.windows(2).any(is_other_spelling),
        _ => false,
    }
}

fn is_old(chain: &[Profile<'_>]) -> bool {
    chain.iter().any(|p| p.cert.version < 2 && !p.cert.extensions.is_empty())
}

/// Returns whether an authority has certified a new key of its own between leaf and end.
fn rolls_over(chain: &[Profile<'_>]) -> bool {
    chain[1..chain.len() - 1].iter().any(Profile::is_self_issued)
}

fn is_other_spelling(pair: &[Profile<'_>]) -> bool {
    pair[0].cert.issuer != pair[1].cert.subject
}

fn number(error: &Error) -> VerifyResult {
    match error {
        Error::CertExpired { .. } | Error::InvalidCertValidity => EXPIRED,
        Error::CertNotValidYet { .. } => NOT_YET_VALID,
        Error::InvalidSignatureForPublicKey => BAD_SIGNATURE,
        Error::PathLenConstraintViolated => PATH_LENGTH,
        Error::RequiredEkuNotFoundContext(_) => WRONG_PURPOSE,
        Error::EndEntityUsedAsCa => INVALID_CA,
        Error::UnknownIssuer => NO_ISSUER,
        _ => UNSPECIFIED,
    }
}
