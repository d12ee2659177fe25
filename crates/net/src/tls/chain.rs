//! Is this chain good, and if not, what would OpenSSL call it?
//!
//! webpki decides (RFC 5280, section 6). Where it refuses, the chain is walked once more as OpenSSL walks it, to find the
//! X509_V_ERR_… number that applications read. That walk may also overrule webpki, but only in the three cases where
//! webpki refuses what the form of the certificate alone makes unusual, and only when everything else is in order: a
//! version 1 certificate, a CA certificate used by a server, and a server certificate that is itself a trust anchor.

use super::anchors::Anchors;
use super::x509::{self, Certificate};
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, UnixTime};
use webpki::{CertRevocationList, EndEntityCert, KeyUsage, RevocationOptionsBuilder};

/// X509_V_ERR_… numbers; 0 is "ok".
pub type VerifyResult = i64;
pub const OK: VerifyResult = 0;
/// Also what curl reports while nothing has been verified.
pub const UNSPECIFIED: VerifyResult = 1;
const NO_CRL: VerifyResult = 3;
const BAD_SIGNATURE: VerifyResult = 7;
const NOT_YET_VALID: VerifyResult = 9;
const EXPIRED: VerifyResult = 10;
const CRL_EXPIRED: VerifyResult = 12;
const SELF_SIGNED_LEAF: VerifyResult = 18;
const SELF_SIGNED_IN_CHAIN: VerifyResult = 19;
const NO_ISSUER: VerifyResult = 20;
const TOO_LONG: VerifyResult = 22;
const REVOKED: VerifyResult = 23;
const PATH_LENGTH: VerifyResult = 25;
const WRONG_PURPOSE: VerifyResult = 26;
const CRITICAL_EXTENSION: VerifyResult = 34;
const PERMITTED_SUBTREE: VerifyResult = 47;
const INVALID_CA: VerifyResult = 79;
/// Certificates in a chain; OpenSSL's default is 100, no real chain has ten.
const MAX_DEPTH: usize = 10;

/// What a chain is judged against.
pub struct Judge<'a> {
    pub anchors: &'a Anchors,
    pub algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    pub crls: &'a [CertRevocationList<'static>],
    /// Any anchor ends a chain, not only a self-signed one.
    pub partial: bool,
    pub now: UnixTime,
}

impl Judge<'_> {
    pub fn verify(&self, leaf: &[u8], others: &[CertificateDer<'_>]) -> VerifyResult {
        let verdict = self.webpki(leaf, others);
        let Err(error) = verdict else {
            return if self.partial { OK } else { self.walk(leaf, others) };
        };
        use webpki::Error as E;
        let unusual = matches!(
            error,
            E::UnsupportedCertVersion | E::CaUsedAsEndEntity | E::UnknownIssuer | E::InvalidSerialNumber
        );
        match self.walk(leaf, others) {
            OK if unusual && self.crls.is_empty() => OK,
            OK | UNSPECIFIED => number(&error),
            n => match number(&error) {
                revocation @ (NO_CRL | CRL_EXPIRED | REVOKED) => revocation,
                _ => n,
            },
        }
    }

    fn webpki(&self, leaf: &[u8], others: &[CertificateDer<'_>]) -> Result<(), webpki::Error> {
        let der = CertificateDer::from(leaf);
        let leaf = EndEntityCert::try_from(&der)?;
        let lists: Vec<&CertRevocationList<'_>> = self.crls.iter().collect();
        let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|b| {
            // Every certificate of the chain needs a list, and a current one, as with X509_V_FLAG_CRL_CHECK_ALL.
            b.with_expiration_policy(webpki::ExpirationPolicy::Enforce).build()
        });
        leaf.verify_for_usage(
            self.algorithms,
            &self.anchors.roots,
            others,
            self.now,
            KeyUsage::server_auth(),
            revocation,
            None,
        )
        .map(|_| ())
    }

    /// OpenSSL's order: build the chain by names, then look at purposes, then at signatures and dates from the root down.
    fn walk(&self, leaf: &[u8], others: &[CertificateDer<'_>]) -> VerifyResult {
        let Some(leaf) = Certificate::parse(leaf) else {
            return UNSPECIFIED;
        };
        let others: Vec<Certificate<'_>> = others.iter().filter_map(|c| Certificate::parse(c)).collect();
        let chain = match self.build(leaf, &others) {
            Ok(chain) => chain,
            Err(number) => return number,
        };
        match purposes(&chain) {
            OK => match self.signatures_and_dates(&chain) {
                OK if !chain.iter().all(is_enforced) => UNSPECIFIED,
                n => n,
            },
            n => n,
        }
    }

    fn build<'c>(
        &'c self,
        leaf: Certificate<'c>,
        others: &[Certificate<'c>],
    ) -> Result<Vec<Certificate<'c>>, VerifyResult> {
        let mut chain = vec![leaf];
        loop {
            let last = chain.last().expect("begins with the leaf");
            let own = last.is_self_issued();
            if self.anchors.contains(last.der) && (self.partial || own) {
                return Ok(chain);
            }
            if own && self.is_signed_by(last, last) {
                // Trusted under another encoding of the same name and key?
                let twin = self
                    .anchors
                    .issuers_of(last)
                    .into_iter()
                    .find(|a| a.spki == last.spki && chain.len() > 1);
                return match twin {
                    Some(anchor) => {
                        chain.pop();
                        chain.push(anchor);
                        Ok(chain)
                    }
                    None if chain.len() == 1 => Err(SELF_SIGNED_LEAF),
                    None => Err(SELF_SIGNED_IN_CHAIN),
                };
            }
            if chain.len() == MAX_DEPTH {
                return Err(TOO_LONG);
            }
            let trusted = self.anchors.issuers_of(last);
            let sent =
                others.iter().filter(|c| last.names_issuer(c) && !chain.iter().any(|d| d.der == c.der));
            let next = self.best(last, trusted.into_iter().chain(sent.cloned()));
            chain.push(next.ok_or(NO_ISSUER)?);
        }
    }

    /// The first candidate that is current and really signed it; otherwise the first, so that its fault is reported.
    fn best<'c>(
        &self,
        cert: &Certificate<'_>,
        candidates: impl Iterator<Item = Certificate<'c>>,
    ) -> Option<Certificate<'c>> {
        let mut first = None;
        for c in candidates {
            if self.date(&c) == OK && self.is_signed_by(cert, &c) {
                return Some(c);
            }
            first.get_or_insert(c);
        }
        first
    }

    fn signatures_and_dates(&self, chain: &[Certificate<'_>]) -> VerifyResult {
        for (i, cert) in chain.iter().enumerate().rev() {
            // The last one is trusted as it is: its signature proves nothing.
            if let Some(issuer) = chain.get(i + 1)
                && !self.is_signed_by(cert, issuer)
            {
                return BAD_SIGNATURE;
            }
            match self.date(cert) {
                OK => {}
                n => return n,
            }
        }
        OK
    }

    fn date(&self, cert: &Certificate<'_>) -> VerifyResult {
        let now = i64::try_from(self.now.as_secs()).unwrap_or(i64::MAX);
        match now {
            t if t < cert.not_before => NOT_YET_VALID,
            t if t > cert.not_after => EXPIRED,
            _ => OK,
        }
    }

    fn is_signed_by(&self, cert: &Certificate<'_>, issuer: &Certificate<'_>) -> bool {
        self.algorithms.iter().any(|a| {
            a.signature_alg_id().as_ref() == cert.signature_alg
                && a.public_key_alg_id().as_ref() == issuer.key_alg
                && a.verify_signature(issuer.key, cert.tbs, cert.signature).is_ok()
        })
    }
}

/// X509_verify_cert_error_string for the numbers given here.
pub fn text(number: VerifyResult) -> &'static str {
    match number {
        OK => "ok",
        NO_CRL => "unable to get certificate CRL",
        BAD_SIGNATURE => "certificate signature failure",
        NOT_YET_VALID => "certificate is not yet valid",
        EXPIRED => "certificate has expired",
        CRL_EXPIRED => "CRL has expired",
        SELF_SIGNED_LEAF => "self-signed certificate",
        SELF_SIGNED_IN_CHAIN => "self-signed certificate in certificate chain",
        NO_ISSUER => "unable to get local issuer certificate",
        TOO_LONG => "certificate chain too long",
        REVOKED => "certificate revoked",
        PATH_LENGTH => "path length constraint exceeded",
        WRONG_PURPOSE => "unsuitable certificate purpose",
        CRITICAL_EXTENSION => "unhandled critical extension",
        PERMITTED_SUBTREE => "permitted subtree violation",
        INVALID_CA => "invalid CA certificate",
        _ => "unspecified certificate verification error",
    }
}

fn purposes(chain: &[Certificate<'_>]) -> VerifyResult {
    for (i, cert) in chain.iter().enumerate() {
        if cert.extensions.iter().any(|e| e.critical && !is_understood(e.oid)) {
            return CRITICAL_EXTENSION;
        }
        if !cert.may_serve() {
            return WRONG_PURPOSE;
        }
        if i == 0 {
            continue;
        }
        if !cert.may_sign() {
            return INVALID_CA;
        }
        let between = chain[1..i].iter().filter(|c| !c.is_self_issued()).count();
        if cert.path_length().is_some_and(|n| between > n as usize) {
            return PATH_LENGTH;
        }
    }
    OK
}

/// Critical extensions that OpenSSL knows: id-ce 15 to 54 where it acts on them.
fn is_understood(oid: &[u8]) -> bool {
    matches!(oid, [0x55, 0x1d, 14 | 15 | 17 | 18 | 19 | 30 | 31 | 32 | 33 | 35 | 36 | 37 | 54])
}

/// Nothing in it that the walk passes over: name constraints and policies are webpki's to judge, and a chain with them
/// is never accepted against its word.
fn is_enforced(cert: &Certificate<'_>) -> bool {
    let known = [
        x509::KEY_USAGE,
        x509::SUBJECT_ALT_NAME,
        x509::BASIC_CONSTRAINTS,
        x509::EXT_KEY_USAGE,
        x509::SUBJECT_KEY_ID,
    ];
    cert.extension(x509::NAME_CONSTRAINTS).is_none()
        && cert.extensions.iter().all(|e| !e.critical || known.contains(&e.oid))
}

/// What webpki found, when the walk found nothing.
fn number(error: &webpki::Error) -> VerifyResult {
    use webpki::Error as E;
    match error {
        E::CertExpired { .. } | E::InvalidCertValidity => EXPIRED,
        E::CertNotValidYet { .. } => NOT_YET_VALID,
        E::CertRevoked => REVOKED,
        E::CrlExpired { .. } => CRL_EXPIRED,
        E::UnknownRevocationStatus | E::IssuerNotCrlSigner | E::InvalidCrlSignatureForPublicKey => NO_CRL,
        E::InvalidSignatureForPublicKey => BAD_SIGNATURE,
        E::NameConstraintViolation => PERMITTED_SUBTREE,
        E::PathLenConstraintViolated => PATH_LENGTH,
        E::RequiredEkuNotFoundContext(_) => WRONG_PURPOSE,
        E::EndEntityUsedAsCa => INVALID_CA,
        E::UnsupportedCriticalExtension => CRITICAL_EXTENSION,
        E::MaximumPathDepthExceeded => TOO_LONG,
        E::UnknownIssuer => NO_ISSUER,
        _ => UNSPECIFIED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::CaSource;
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    use std::sync::Arc;

    type Signer = Issuer<'static, KeyPair>;

    fn params(name: &str, ca: bool) -> CertificateParams {
        let mut p = CertificateParams::new(vec![name.to_string()]).unwrap();
        p.distinguished_name.push(DnType::CommonName, name);
        if ca {
            p.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        p
    }

    fn root(name: &str) -> (String, Signer) {
        let key = KeyPair::generate().unwrap();
        let p = params(name, true);
        (p.self_signed(&key).unwrap().pem(), Issuer::new(p, key))
    }

    fn under(issuer: &Signer, p: CertificateParams) -> (CertificateDer<'static>, String, Signer) {
        let key = KeyPair::generate().unwrap();
        let cert = p.signed_by(&key, issuer).unwrap();
        (cert.der().clone(), cert.pem(), Issuer::new(p, key))
    }

    fn anchors(pems: &[&str]) -> Arc<Anchors> {
        let all = pems.concat();
        let sources = if all.is_empty() { vec![] } else { vec![CaSource::Blob(all.into_bytes().into())] };
        crate::tls::anchors::load(&sources, Some(std::time::Duration::ZERO)).unwrap()
    }

    fn verdict(trusted: &[&str], partial: bool, leaf: &[u8], others: &[CertificateDer<'_>]) -> VerifyResult {
        let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
        let anchors = anchors(trusted);
        Judge { anchors: &anchors, algorithms, crls: &[], partial, now: UnixTime::now() }.verify(leaf, others)
    }

    #[test]
    fn chains_through_an_intermediate() {
        let (root_pem, root) = root("root");
        let (mid, mid_pem, mid_signer) = under(&root, params("mid", true));
        let (leaf, ..) = under(&mid_signer, params("leaf", false));
        assert_eq!(verdict(&[&root_pem], true, &leaf, std::slice::from_ref(&mid)), OK);
        assert_eq!(verdict(&[&root_pem], true, &leaf, &[]), NO_ISSUER);
        assert_eq!(verdict(&[&mid_pem], true, &leaf, &[]), OK, "a partial chain");
        assert_eq!(verdict(&[&mid_pem], false, &leaf, &[]), NO_ISSUER, "no partial chain");
        assert_eq!(verdict(&[&root_pem], false, &leaf, &[mid]), OK);
        assert_eq!(verdict(&[], true, &leaf, &[]), NO_ISSUER);
    }

    #[test]
    fn self_signed_ones() {
        for ca in [false, true] {
            let key = KeyPair::generate().unwrap();
            let cert = params("self", ca).self_signed(&key).unwrap();
            assert_eq!(verdict(&[], true, cert.der(), &[]), SELF_SIGNED_LEAF);
            assert_eq!(verdict(&[&root("other").0], true, cert.der(), &[]), SELF_SIGNED_LEAF);
            assert_eq!(verdict(&[&cert.pem()], true, cert.der(), &[]), OK, "ca {ca}");
            assert_eq!(verdict(&[&cert.pem()], false, cert.der(), &[]), OK, "ca {ca}");
        }
        let (root_pem, root) = root("root");
        let (leaf, leaf_pem, _) = under(&root, params("leaf", false));
        let sent = rustls::pki_types::pem::PemObject::from_pem_slice(root_pem.as_bytes()).unwrap();
        assert_eq!(verdict(&[], true, &leaf, &[sent]), SELF_SIGNED_IN_CHAIN);
        assert_eq!(verdict(&[&leaf_pem], true, &leaf, &[]), OK, "the leaf itself is trusted");
        assert_eq!(verdict(&[&leaf_pem], false, &leaf, &[]), NO_ISSUER);
    }

    #[test]
    fn faults_have_openssl_numbers() {
        let (pem, signer) = root("root");
        let mut old = params("leaf", false);
        old.not_before = rcgen::date_time_ymd(2000, 1, 1);
        old.not_after = rcgen::date_time_ymd(2001, 1, 1);
        assert_eq!(verdict(&[&pem], true, &under(&signer, old).0, &[]), EXPIRED);
        let mut early = params("leaf", false);
        early.not_before = rcgen::date_time_ymd(2400, 1, 1);
        early.not_after = rcgen::date_time_ymd(2401, 1, 1);
        assert_eq!(verdict(&[&pem], true, &under(&signer, early).0, &[]), NOT_YET_VALID);
        let mut client = params("leaf", false);
        client.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        assert_eq!(verdict(&[&pem], true, &under(&signer, client).0, &[]), WRONG_PURPOSE);
        let (same_name, _) = root("root");
        let (leaf, ..) = under(&signer, params("leaf", false));
        assert_eq!(verdict(&[&same_name], true, &leaf, &[]), BAD_SIGNATURE);
        let (not_ca, not_ca_pem, not_ca_signer) = under(&signer, params("mid", false));
        let (below, ..) = under(&not_ca_signer, params("leaf", false));
        assert_eq!(verdict(&[&pem], true, &below, &[not_ca]), INVALID_CA);
        assert_eq!(verdict(&[&not_ca_pem], true, &below, &[]), INVALID_CA);
    }

    #[test]
    fn a_ca_certificate_may_serve_and_its_constraints_hold() {
        let (pem, signer) = root("root");
        let (serving_ca, ..) = under(&signer, params("leaf", true));
        assert_eq!(verdict(&[&pem], true, &serving_ca, &[]), OK);
        let mut narrow = params("mid", true);
        narrow.name_constraints = Some(rcgen::NameConstraints {
            permitted_subtrees: vec![rcgen::GeneralSubtree::DnsName("inside.example".into())],
            excluded_subtrees: vec![],
        });
        let (mid, _, mid_signer) = under(&signer, narrow);
        let (outside, ..) = under(&mid_signer, params("outside.test", false));
        assert_ne!(verdict(&[&pem], true, &outside, std::slice::from_ref(&mid)), OK);
        let (outside_ca, ..) = under(&mid_signer, params("outside.test", true));
        assert_ne!(verdict(&[&pem], true, &outside_ca, &[mid]), OK, "nor by being unusual");
    }

    #[test]
    fn garbage_is_refused() {
        assert_ne!(verdict(&[], true, b"", &[]), OK);
        assert_ne!(
            verdict(&[&root("r").0], true, &[0x30, 3, 2, 1, 1], &[CertificateDer::from(vec![1, 2])]),
            OK
        );
    }
}
