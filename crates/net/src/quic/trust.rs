//! The one path that judges certificates, under QUIC: its verdict is kept, since `quinn-proto` hands on no more than an alert
//! and a line of text.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

use crate::NetError;
use crate::tls::verify::{Verifier, verdict};

/// The verifier of one handshake.
#[derive(Debug)]
pub struct Trust {
    verifier: Arc<Verifier>,
    refusal: Mutex<Option<Error>>,
}

impl Trust {
    pub fn new(verifier: Arc<Verifier>) -> Trust {
        Trust { verifier, refusal: Mutex::default() }
    }

    /// Why the server is not trusted, if that was why.
    pub fn refusal(&self) -> Option<NetError> {
        verdict(self.refusal.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?)
    }

    fn keep<T>(&self, verdict: Result<T, Error>) -> Result<T, Error> {
        if let Err(e) = &verdict {
            *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(e.clone());
        }
        verdict
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.keep(self.verifier.verify_server_cert(leaf, others, name, ocsp, now))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.keep(self.verifier.verify_tls12_signature(message, cert, signed))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.keep(self.verifier.verify_tls13_signature(message, cert, signed))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
