//! The one place that verifies a server's identity: chain, host name, issuer and pinned key, under the rules
//! of one `TlsConfig`. rustls calls it during a handshake, before anything secret is sent.
//!
//! Trust anchors are loaded only here: a resumed session does not need them.

use super::chain::Judge;
use super::crl::Crl;
use super::profile::{KEY_CERT_SIGN, Profile};
use super::signatures::Signatures;
use super::verdict::{self, VerifyResult};
use super::x509::Certificate;
use super::{CertSource, TlsConfig, anchors, names, ocsp, pin};
use crate::{NetError, NetErrorKind};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::fs;
use std::sync::Arc;

/// Verifies servers for one configuration.
#[derive(Debug)]
pub struct Verifier {
    config: Arc<TlsConfig>,
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
    crls: Vec<Crl>,
}

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
        Ok(Verifier { config: config.clone(), algorithms, schemes, crls })
    }

    /// Returns the result for the server's chain with verification off: like curl, without anchors. Reads no
    /// files.
    pub fn unverified_result(&self, certs: &[CertificateDer<'_>]) -> VerifyResult {
        match certs.split_first() {
            Some((leaf, others)) => self.chain(&anchors::Anchors::default(), leaf, others, UnixTime::now()),
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
            let result = self.chain(&anchors, leaf, others, now);
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
        if self.config.verify_status {
            self.check_status(&cert, others, ocsp, now)?;
        }
        if let Some(issuer) = &self.config.issuer {
            check_issuer(issuer, &cert)?;
        }
        match &self.config.pinned_key {
            Some(p) if !pin::matches(p, cert.spki) => Err(NetError::new(
                NetErrorKind::SslPinnedPubkeyNotMatch,
                "SSL: public key does not match pinned public key",
            )),
            _ => Ok(()),
        }
    }

    /// The issuer is one of the sent or trusted certificates.
    fn check_status(
        &self,
        cert: &Certificate<'_>,
        others: &[CertificateDer<'_>],
        response: &[u8],
        now: UnixTime,
    ) -> Result<(), NetError> {
        let anchors = anchors::load(&self.config.ca, self.config.ca_cache)?;
        let leaf =
            Profile::of(cert.clone()).ok_or_else(|| refused("SSL: could not get peer certificate".into()))?;
        let sent = others.iter().filter_map(|c| Profile::parse(c));
        let issuers: Vec<Profile<'_>> = anchors.named(&leaf.issuer).into_iter().chain(sent).collect();
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        ocsp::check(response, &leaf, &issuers, &Signatures::new(self.algorithms.all), now)
            .map_err(|text| NetError::new(NetErrorKind::SslInvalidCertStatus, text))
    }

    fn chain(
        &self,
        anchors: &anchors::Anchors,
        leaf: &[u8],
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> VerifyResult {
        // As in curl, with revocation lists a chain must reach its root.
        let partial = !self.config.no_partial_chain && self.config.crl.is_none();
        Judge { anchors, algorithms: self.algorithms.all, crls: &self.crls, partial, now }
            .verify(leaf, others)
    }
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
        match self.check(leaf, others, &name.to_str(), ocsp, now) {
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
