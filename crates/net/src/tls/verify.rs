//! The one place that verifies a server's identity: chain, host name, issuer and pinned key, under the rules
//! of one `TlsConfig`. rustls calls it during a handshake, before anything secret is sent.
//!
//! Trust anchors are loaded only here: a resumed session does not need them.

use super::anchors::Anchors;
use super::chain::Judge;
use super::checks::{Check, Fault};
use super::crl::Crl;
use super::ocsp::{Demand, StapledStatus};
use super::profile::{KEY_CERT_SIGN, Profile};
use super::signatures::Signatures;
use super::trust_report::{self, ChainRules, Expiry, Failure, Outcome, TrustReport};
use super::verdict::{self, VerifyResult};
use super::x509::Certificate;
use super::{CertSource, TlsConfig, anchors, names, ocsp, pin};
use crate::{NetError, NetErrorKind};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Verifies servers for one configuration.
#[derive(Debug)]
pub struct Verifier {
    config: Arc<TlsConfig>,
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
    crls: Vec<Crl>,
    /// The last report about each host, once a handshake has asked for reports.
    reports: OnceLock<Mutex<BTreeMap<String, Arc<TrustReport>>>>,
}

/// Most hosts with a report.
const MAX_REPORTS: usize = 64;

impl Verifier {
    pub fn new(
        config: &Arc<TlsConfig>,
        algorithms: WebPkiSupportedAlgorithms,
        schemes: Option<Vec<SignatureScheme>>,
    ) -> Result<Verifier, NetError> {
        let supported = algorithms.supported_schemes();
        let schemes = match schemes {
            Some(wanted) => wanted.into_iter().filter(|s| supported.contains(s)).collect(),
            None => supported,
        };
        let crls = if config.verify_peer { crls(config)? } else { Vec::new() };
        Ok(Verifier { config: config.clone(), algorithms, schemes, crls, reports: OnceLock::new() })
    }

    /// Returns the result for the server's chain with verification off: like curl, without anchors. Reads no
    /// files.
    pub fn unverified_result(&self, certs: &[CertificateDer<'_>]) -> VerifyResult {
        match certs.split_first() {
            Some((leaf, others)) => self.judge_for(&Anchors::default(), UnixTime::now()).verify(leaf, others),
            None => verdict::OK,
        }
    }

    fn check(
        &self,
        leaf: &[u8],
        others: &[CertificateDer<'_>],
        host: &str,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), NetError> {
        if self.config.verify_peer {
            let anchors = anchors::load(&self.config.ca, self.config.ca_cache)
                .map_err(|e| e.with_verify_result(verdict::UNSPECIFIED))?;
            let result = self.judge_for(&anchors, now).verify(leaf, others);
            if result != verdict::OK {
                let text = verdict::text(result);
                let text = format!("SSL certificate OpenSSL verify result: {text} ({result})");
                return Err(refused(text).with_verify_result(result).with_refused(leaf));
            }
        }
        self.check_leaf(leaf, others, host, ocsp, now)
    }

    /// Checks everything but the chain: name, status, issuer and pinned key.
    pub fn check_leaf(
        &self,
        leaf: &[u8],
        others: &[CertificateDer<'_>],
        host: &str,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), NetError> {
        let Some(cert) = Certificate::parse(leaf) else {
            return Err(refused("SSL: could not get peer certificate".into()));
        };
        if self.config.verify_host {
            // curl checks the name before it stores the chain's result.
            names::check(&cert, host)
                .map_err(|text| refused(text).with_verify_result(verdict::UNSPECIFIED).with_refused(leaf))?;
        }
        self.check_status(&cert, others, ocsp, now)?;
        if let Some(issuer) = &self.config.issuer {
            check_issuer(issuer, &cert)?;
        }
        self.check_pin(&cert)
    }

    fn check_pin(&self, cert: &Certificate<'_>) -> Result<(), NetError> {
        match &self.config.pinned_key {
            Some(p) if !pin::matches(p, cert.spki) => Err(NetError::new(
                NetErrorKind::SslPinnedPubkeyNotMatch,
                "SSL: public key does not match pinned public key",
            )),
            _ => Ok(()),
        }
    }

    /// Checks the stapled response if somebody demands one, or if it says that the certificate is revoked.
    fn check_status(
        &self,
        cert: &Certificate<'_>,
        others: &[CertificateDer<'_>],
        response: &[u8],
        now: UnixTime,
    ) -> Result<(), NetError> {
        let demand = self.demand(cert);
        let is_idle = match demand {
            Demand::Ignored => true,
            Demand::Offered => !ocsp::claims_revocation(response, cert.serial),
            Demand::ByCertificate | Demand::ByOption => false,
        };
        if is_idle {
            return Ok(());
        }
        let anchors = anchors::load(&self.config.ca, self.config.ca_cache)?;
        let leaf =
            Profile::of(cert.clone()).ok_or_else(|| refused("SSL: could not get peer certificate".into()))?;
        let status = self.stapled_status(&leaf, &anchors, others, response, now);
        demand.verdict(&status).map_err(|text| NetError::new(NetErrorKind::SslInvalidCertStatus, text))
    }

    /// Returns who wants a stapled response.
    fn demand(&self, cert: &Certificate<'_>) -> Demand {
        match (self.config.verify_status, self.config.verify_peer) {
            (true, _) => Demand::ByOption,
            (false, true) if cert.must_staple() => Demand::ByCertificate,
            (false, true) => Demand::Offered,
            (false, false) => Demand::Ignored,
        }
    }

    /// Verifies the response. The issuer is one of the sent or trusted certificates.
    fn stapled_status(
        &self,
        leaf: &Profile<'_>,
        anchors: &Anchors,
        others: &[CertificateDer<'_>],
        response: &[u8],
        now: UnixTime,
    ) -> StapledStatus {
        let sent = others.iter().filter_map(|c| Profile::parse(c));
        let issuers: Vec<Profile<'_>> = anchors.named(&leaf.issuer).into_iter().chain(sent).collect();
        ocsp::status(response, leaf, &issuers, &Signatures::new(self.algorithms.all), seconds(now))
    }

    fn judge_for<'a>(&'a self, anchors: &'a Anchors, now: UnixTime) -> Judge<'a> {
        // As in curl, with revocation lists a chain must reach its root.
        let partial = !self.config.no_partial_chain && self.config.crl.is_none();
        Judge { anchors, algorithms: self.algorithms.all, crls: &self.crls, partial, now }
    }

    /// Returns which certificate of a server's chain expires first: of the chain that is trusted or, without
    /// verification, of the one that was sent.
    pub fn expiry(&self, certs: &[CertificateDer<'_>]) -> Option<Expiry> {
        let (leaf, others) = certs.split_first()?;
        let anchors = match self.config.verify_peer {
            true => anchors::load(&self.config.ca, self.config.ca_cache).unwrap_or_default(),
            false => Arc::default(),
        };
        let judge = self.judge_for(&anchors, UnixTime::now());
        let path = judge.path(Profile::parse(leaf)?, others);
        Expiry::of_chain(&path.unwrap_or_else(|(partial, _)| partial))
    }

    /// Describes how a server's certificates are judged. `verdict` is the result of the library that has
    /// judged the chain, if it was another one, and `refusal` the error that ended the handshake.
    pub fn report(
        &self,
        presented: Presented<'_>,
        verdict: Option<VerifyResult>,
        refusal: Option<&NetError>,
    ) -> TrustReport {
        let Presented { certs, host, stapled, now } = presented;
        let (leaf, others) = certs.split_first().map_or((&[][..], certs), |(leaf, others)| (leaf, others));
        let (anchors, unloaded) = match anchors::load(&self.config.ca, self.config.ca_cache) {
            Ok(anchors) => (anchors, None),
            Err(error) => (Arc::default(), Some(error)),
        };
        let judged = self.judge_for(&anchors, now).judge(leaf, others);
        let fault = merged(judged.fault, verdict);
        let signatures = Signatures::new(self.algorithms.all);
        let mut report = TrustReport {
            refusal: refusal.map(|error| error.message.clone()),
            sent: certs.len(),
            chain: trust_report::links(
                &judged.chain,
                certs,
                !matches!(fault, Some((Check::Anchor | Check::LeafKey, _))),
                &signatures,
            ),
            unused: trust_report::unused(&judged.chain, certs),
            checks: trust_report::outcomes(fault, self.chain_rules()),
            stapled: StapledStatus::Absent,
            now: seconds(now),
        };
        if let Some(error) = unloaded {
            report.set_anchor_failure(error.message, self.config.verify_peer);
        }
        if let Some(leaf) = judged.chain.first() {
            report.stapled = self.stapled_status(leaf, &anchors, others, stapled, now);
            report.checks.extend(self.leaf_outcomes(&leaf.cert, host, &report.stapled));
        }
        report
    }

    /// Keeps reports about the servers that are verified from now on. The verifier stays the same object: for
    /// rustls, a session belongs to the verifier of its first handshake.
    pub fn keep_reports(&self) {
        self.reports.get_or_init(Mutex::default);
    }

    /// Returns the last report about a host, if they are kept.
    pub fn report_of(&self, host: &str) -> Option<Arc<TrustReport>> {
        self.reports.get().and_then(|reports| lock(reports).get(&report_key(host)).cloned())
    }

    /// Keeps a report, and adds it to a refusal.
    fn recorded(
        &self,
        reports: &Mutex<BTreeMap<String, Arc<TrustReport>>>,
        presented: Presented<'_>,
        checked: Result<(), NetError>,
    ) -> Result<(), NetError> {
        let report = Arc::new(self.report(presented, None, checked.as_ref().err()));
        let mut reports = lock(reports);
        if reports.len() >= MAX_REPORTS {
            reports.clear();
        }
        reports.insert(report_key(presented.host), report.clone());
        checked.map_err(|error| error.with_trust(report))
    }

    fn chain_rules(&self) -> ChainRules {
        ChainRules { enforced: self.config.verify_peer, lists: !self.crls.is_empty() }
    }

    /// Returns the outcomes of the checks of the server's own certificate.
    fn leaf_outcomes(
        &self,
        cert: &Certificate<'_>,
        host: &str,
        stapled: &StapledStatus,
    ) -> [(Check, Outcome); 4] {
        let text = |checked: Result<(), NetError>| checked.map_err(|error| error.message);
        let name = names::check(cert, host).map_err(Failure::of_leaf);
        let issuer = self.config.issuer.as_ref().map(|issuer| text(check_issuer(issuer, cert)));
        let pin = self.config.pinned_key.as_ref().map(|_| text(self.check_pin(cert)));
        [
            (Check::HostName, Outcome::of(name, self.config.verify_host)),
            (Check::StapledStatus, trust_report::stapled_outcome(stapled, self.demand(cert))),
            (Check::Issuer, Outcome::of_leaf(issuer)),
            (Check::PinnedKey, Outcome::of_leaf(pin)),
        ]
    }
}

/// The certificates that a server presented in a handshake, its own first, and with what.
#[derive(Clone, Copy)]
pub struct Presented<'a> {
    pub certs: &'a [CertificateDer<'a>],
    /// The host that it should be.
    pub host: &'a str,
    /// The stapled OCSP response; empty if there is none.
    pub stapled: &'a [u8],
    pub now: UnixTime,
}

/// Returns the first fault of a chain. If another library has another result, that counts, and its place in
/// the chain is unknown.
fn merged(ours: Option<(Check, Fault)>, verdict: Option<VerifyResult>) -> Option<(Check, Fault)> {
    match verdict {
        Some(verdict::OK) => None,
        Some(result) if ours.is_none_or(|(_, fault)| fault.result != result) => {
            Some((Check::of_result(result), Fault { at: None, result }))
        }
        _ => ours,
    }
}

/// Returns a host in the one spelling by which its report is found.
fn report_key(host: &str) -> String {
    match names::address(host) {
        Some(address) => address.to_string(),
        None => host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn seconds(now: UnixTime) -> i64 {
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

/// Returns the result inside an error that rustls returned.
pub fn verdict(error: &Error) -> Option<NetError> {
    match error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(e))) => {
            e.downcast_ref::<NetError>().cloned()
        }
        Error::InvalidCertificate(e) => {
            Some(refused(format!("SSL certificate verification failed: {e}")).with_verify_result(1))
        }
        _ => None,
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let host = name.to_str();
        let checked = self.check(leaf, others, &host, ocsp, now);
        let checked = match self.reports.get() {
            None => checked,
            Some(reports) => {
                let certs: Vec<CertificateDer<'_>> =
                    std::iter::once(leaf).chain(others).map(|der| der.as_ref().into()).collect();
                let presented = Presented { certs: &certs, host: &host, stapled: ocsp, now };
                self.recorded(reports, presented, checked)
            }
        };
        match checked {
            Ok(()) => Ok(ServerCertVerified::assertion()),
            Err(e) => Err(Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(e))))),
        }
    }

    /// Verifies with the key only: webpki would not parse a version 1 certificate.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let cert = parse(cert)?;
        let candidates =
            self.algorithms.mapping.iter().find(|(s, _)| *s == signed.scheme).map_or(&[][..], |(_, a)| a);
        let good = self.schemes.contains(&signed.scheme)
            && candidates.iter().any(|a| {
                a.public_key_alg_id().as_ref() == cert.key_alg
                    && a.verify_signature(cert.key, message, signed.signature()).is_ok()
            });
        match good {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(Error::InvalidCertificate(CertificateError::BadSignature)),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if !self.schemes.contains(&signed.scheme) {
            return Err(Error::InvalidCertificate(CertificateError::BadSignature));
        }
        let cert = parse(cert)?;
        let spki = SubjectPublicKeyInfoDer::from(cert.spki);
        verify_tls13_signature_with_raw_key(message, &spki, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

fn parse<'a>(cert: &'a CertificateDer<'_>) -> Result<Certificate<'a>, Error> {
    Certificate::parse(cert).ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))
}

fn refused(message: String) -> NetError {
    NetError::new(NetErrorKind::PeerFailedVerification, message)
}

fn crls(config: &TlsConfig) -> Result<Vec<Crl>, NetError> {
    let Some(path) = &config.crl else {
        return Ok(Vec::new());
    };
    let name = path.given().display();
    let error = || NetError::new(NetErrorKind::SslCrlBadfile, format!("error loading CRL file: {name}"));
    let bytes = fs::read(path.path()).map_err(|_| error())?;
    let lists: Option<Vec<Crl>> = rustls::pki_types::CertificateRevocationListDer::pem_slice_iter(&bytes)
        .map(|der| Crl::parse(&der.ok()?))
        .collect();
    lists.filter(|l| !l.is_empty()).ok_or_else(error)
}

/// CURLOPT_ISSUERCERT: checks that this certificate matches as the server's issuer, and that it may issue.
fn check_issuer(source: &CertSource, cert: &Certificate<'_>) -> Result<(), NetError> {
    let (bytes, name) = match source {
        CertSource::File(file) => (fs::read(file.path()).ok(), source.shown()),
        CertSource::Blob(bytes) => (Some(bytes.to_vec()), "(null)".to_string()),
        CertSource::Module(_) => (None, source.shown()),
    };
    let error = |what| NetError::new(NetErrorKind::SslIssuerError, format!("SSL: {what} ({name})"));
    let bytes = bytes.ok_or_else(|| error("Unable to open issuer cert"))?;
    let der = CertificateDer::from_pem_slice(&bytes).map_err(|_| error("Unable to read issuer cert"))?;
    let issuer = Profile::parse(&der).ok_or_else(|| error("Unable to read issuer cert"))?;
    let issued = Profile::of(cert.clone()).is_some_and(|c| c.is_issued_by(&issuer));
    if issued && issuer.allows(KEY_CERT_SIGN) {
        Ok(())
    } else {
        Err(error("Certificate issuer check failed"))
    }
}
