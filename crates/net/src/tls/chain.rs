//! Verifies a certificate chain, with OpenSSL's error number for a bad one.
//!
//! The checks run in OpenSSL's order, so that the first error is the one that applications expect: build the
//! chain, check extensions and purposes, strength of keys, revocation, signatures and dates from the end
//! down, name constraints. webpki gets an accepted chain and may still refuse it (`veto`).

use super::anchors::Anchors;
use super::checks::{Check, Fault};
use super::constraints;
use super::crl::{self, Crl};
use super::path::Ends;
use super::profile::Profile;
use super::signatures::Signatures;
use super::verdict::*;
use super::{strength, veto};
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, UnixTime};

/// A chain, from the leaf up as far as it was built, and the first check that failed.
pub struct JudgedChain<'a> {
    pub chain: Vec<Profile<'a>>,
    pub fault: Option<(Check, Fault)>,
}

/// The rules for a chain.
pub struct Judge<'a> {
    pub anchors: &'a Anchors,
    pub algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    pub crls: &'a [Crl],
    /// Whether any anchor ends a chain, not only a self-signed one.
    pub partial: bool,
    pub now: UnixTime,
}

impl<'a> Judge<'a> {
    pub fn verify(&self, leaf: &[u8], others: &[CertificateDer<'_>]) -> VerifyResult {
        self.judge(leaf, others).fault.map_or(OK, |(_, fault)| fault.result)
    }

    /// Builds and checks the chain of a server that sent these certificates.
    pub fn judge<'c>(&self, leaf: &'c [u8], others: &'c [CertificateDer<'_>]) -> JudgedChain<'c>
    where
        'a: 'c,
    {
        let failed = |chain, check, fault| JudgedChain { chain, fault: Some((check, fault)) };
        let Some(leaf) = Profile::parse(leaf) else {
            return failed(Vec::new(), Check::Encoding, Fault::of(0, UNSPECIFIED));
        };
        if let Err(fault) = strength::of_leaf(&leaf) {
            return failed(vec![leaf], Check::LeafKey, fault);
        }
        match self.path(leaf, others) {
            Err((chain, result)) => {
                let last = chain.len().saturating_sub(1);
                failed(chain, Check::Anchor, Fault::of(last, result))
            }
            Ok(chain) => {
                let fault = self.first_fault(&chain).err();
                JudgedChain { chain, fault }
            }
        }
    }

    /// Builds the chain from the leaf to an anchor, without checking it. An error has the part that could be
    /// built.
    pub fn path<'c>(
        &self,
        leaf: Profile<'c>,
        others: &'c [CertificateDer<'_>],
    ) -> Result<Vec<Profile<'c>>, (Vec<Profile<'c>>, VerifyResult)>
    where
        'a: 'c,
    {
        let others = others.iter().filter_map(|c| Profile::parse(c)).collect();
        let ends: Ends<'c> = Ends { anchors: self.anchors, partial: self.partial, now: self.seconds() };
        ends.build(leaf, others)
    }

    fn first_fault(&self, chain: &[Profile<'_>]) -> Result<(), (Check, Fault)> {
        let by = |check| move |fault| (check, fault);
        let (signatures, now) = (Signatures::new(self.algorithms), self.seconds());
        extensions(chain).map_err(by(Check::Extensions))?;
        strength::of_chain(chain).map_err(by(Check::ChainKeys))?;
        if !self.crls.is_empty() {
            crl::check(self.crls, chain, &signatures, now).map_err(by(Check::RevocationLists))?;
        }
        signatures_and_dates(chain, &signatures, now).map_err(by(Check::SignaturesAndDates))?;
        constraints::check(chain).map_err(by(Check::NameConstraints))?;
        match veto::ask(chain, &signatures, self.now) {
            OK => Ok(()),
            result => Err((Check::SecondOpinion, Fault { at: None, result })),
        }
    }

    fn seconds(&self) -> i64 {
        i64::try_from(self.now.as_secs()).unwrap_or(i64::MAX)
    }
}

/// Checks purposes, authorities and the path lengths below them.
fn extensions(chain: &[Profile<'_>]) -> Result<(), Fault> {
    let mut below = 0;
    for (i, cert) in chain.iter().enumerate() {
        let result = match cert {
            _ if !cert.is_sound => INVALID_EXTENSION,
            _ if cert.has_unknown_critical => CRITICAL_EXTENSION,
            _ if cert.is_proxy => PROXY_CERTIFICATE,
            _ if i > 0 && !cert.is_authority(i + 1 == chain.len()) => INVALID_CA,
            _ if !cert.is_for_servers(i == 0) => WRONG_PURPOSE,
            _ if i > 1 && cert.path_length.is_some_and(|limit| below > limit as usize) => PATH_LENGTH,
            _ => OK,
        };
        Fault::unless_ok(i, result)?;
        below += usize::from(i > 0 && !cert.is_self_issued());
    }
    Ok(())
}

fn signatures_and_dates(chain: &[Profile<'_>], signatures: &Signatures<'_>, now: i64) -> Result<(), Fault> {
    for (i, cert) in chain.iter().enumerate().rev() {
        // The last certificate is trusted as it is: its signature proves nothing.
        if let Some(issuer) = chain.get(i + 1)
            && !(cert.cert.is_consistent && signatures.verify(&issuer.cert, &cert.cert))
        {
            return Err(Fault::of(i, BAD_SIGNATURE));
        }
        Fault::unless_ok(i, cert.cert.date(now))?;
    }
    Ok(())
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
        assert_eq!(verdict(&[&mid_pem], false, &leaf, &[]), NO_ISSUER_OF_TRUSTED, "no partial chain");
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
