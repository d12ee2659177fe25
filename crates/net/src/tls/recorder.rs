//! A verifier for one handshake that also keeps a report of how it judged.

use super::trust_report::TrustReport;
use super::verify::{Presented, Verifier, verdict};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::sync::{Arc, OnceLock};

/// Verifies as its [`Verifier`] does, and keeps the report. A refusal has it as well
/// ([`NetError::trust`](crate::NetError)).
#[derive(Debug)]
pub struct TrustRecorder {
    verifier: Arc<Verifier>,
    report: OnceLock<Arc<TrustReport>>,
}

impl TrustRecorder {
    pub fn new(verifier: Arc<Verifier>) -> TrustRecorder {
        TrustRecorder { verifier, report: OnceLock::new() }
    }

    /// Returns the report, once the server was verified.
    pub fn report(&self) -> Option<Arc<TrustReport>> {
        self.report.get().cloned()
    }
}

impl ServerCertVerifier for TrustRecorder {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.verifier.verify_server_cert(leaf, others, name, stapled, now);
        let refusal = verified.as_ref().err().and_then(verdict);
        let certs: Vec<CertificateDer<'_>> =
            std::iter::once(leaf).chain(others).map(|der| der.as_ref().into()).collect();
        let presented = Presented { certs: &certs, host: &name.to_str(), stapled, now };
        let report = Arc::new(self.verifier.report(presented, None, refusal.as_ref()));
        let _ = self.report.set(report.clone()); // a handshake verifies once
        match refusal {
            Some(error) => {
                let error = Arc::new(error.with_trust(report));
                Err(Error::InvalidCertificate(CertificateError::Other(OtherError(error))))
            }
            None => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
