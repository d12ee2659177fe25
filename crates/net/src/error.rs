//! Errors of this crate. The kinds map one to one to curl's codes; the engine does that.

use std::fmt;
use std::io;
use std::sync::Arc;

use wire::policy::Refusal;

use crate::tls::TrustReport;

/// A failure with the text that ends up in the caller's error buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetError {
    pub kind: NetErrorKind,
    pub message: String,
    /// The errno behind it, or 0 (CURLINFO_OS_ERRNO).
    pub os_errno: i32,
    /// The result of certificate verification (CURLINFO_SSL_VERIFYRESULT), 0 when it is not about that.
    pub verify_result: i64,
    /// The ECHConfigList of a server that could not decrypt an encrypted hello; empty if it sent none.
    pub retry_configs: Option<Arc<[u8]>>,
    /// The certificate of a server that was refused for it, in DER.
    pub refused: Option<Arc<[u8]>>,
    /// The report about the certificates of a server that was refused for them, if it was asked for.
    pub trust: Option<Arc<TrustReport>>,
    /// The refusal by a policy.
    pub refusal: Option<Arc<Refusal>>,
}

/// Which of curl's codes it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetErrorKind {
    UnsupportedProtocol,
    NotBuiltIn,
    BadFunctionArgument,
    OutOfMemory,
    AbortedByCallback,
    CouldntResolveProxy,
    CouldntResolveHost,
    CouldntConnect,
    OperationTimedout,
    InterfaceFailed,
    SendError,
    RecvError,
    /// With one of curl's CURLPX numbers.
    Proxy(i64),
    SslConnectError,
    /// The server speaks none of the versions of TLS that were offered.
    SslVersion,
    SslCertproblem,
    SslCipher,
    SslEngineNotfound,
    SslEngineInitfailed,
    PeerFailedVerification,
    SslCacertBadfile,
    SslShutdownFailed,
    SslCrlBadfile,
    SslIssuerError,
    SslPinnedPubkeyNotMatch,
    SslInvalidCertStatus,
    /// A QUIC connection did not come about.
    QuicConnectError,
    /// The server wants a certificate of the client.
    SslClientcert,
    /// The server did not take the encrypted hello.
    EchRequired,
    /// A policy refuses the address ([`wire::policy`]).
    Refused,
}

/// Why the layers on a connected socket failed.
#[derive(Debug)]
pub enum LayerError {
    /// This address does not work or does not answer: try another one.
    TryNext(NetError),
    /// The other side has spoken, and that is the end.
    Final(NetError),
}

impl LayerError {
    pub fn error(&self) -> &NetError {
        match self {
            LayerError::TryNext(error) | LayerError::Final(error) => error,
        }
    }

    /// Changes the error inside.
    pub fn map(self, change: impl FnOnce(NetError) -> NetError) -> LayerError {
        match self {
            LayerError::TryNext(error) => LayerError::TryNext(change(error)),
            LayerError::Final(error) => LayerError::Final(change(error)),
        }
    }

    pub fn into_error(self) -> NetError {
        match self {
            LayerError::TryNext(error) | LayerError::Final(error) => error,
        }
    }
}

impl From<Refusal> for NetError {
    fn from(refusal: Refusal) -> NetError {
        let error = NetError::new(NetErrorKind::Refused, refusal.to_string());
        NetError { refusal: Some(Arc::new(refusal)), ..error }
    }
}

impl NetError {
    /// A failure without an errno.
    pub fn new(kind: NetErrorKind, message: impl Into<String>) -> NetError {
        let message = message.into();
        NetError {
            kind,
            message,
            os_errno: 0,
            verify_result: 0,
            retry_configs: None,
            refused: None,
            trust: None,
            refusal: None,
        }
    }

    /// A failure that the system reported.
    pub fn from_io(kind: NetErrorKind, message: impl Into<String>, error: &io::Error) -> NetError {
        NetError { os_errno: error.raw_os_error().unwrap_or(0), ..NetError::new(kind, message) }
    }

    /// The system itself has waited long enough (ETIMEDOUT).
    pub fn is_system_timeout(&self) -> bool {
        self.os_errno != 0 && io::Error::from_raw_os_error(self.os_errno).kind() == io::ErrorKind::TimedOut
    }

    /// Returns the system's text, without the number that std adds, or else the message.
    pub fn reason(&self) -> String {
        match self.os_errno {
            0 => self.message.clone(),
            errno => {
                let text = io::Error::from_raw_os_error(errno).to_string();
                text.split(" (os error").next().unwrap_or(&text).to_owned()
            }
        }
    }

    /// Adds a verification result.
    pub fn with_verify_result(self, verify_result: i64) -> NetError {
        NetError { verify_result, ..self }
    }

    /// Adds the report about the certificates.
    pub fn with_trust(self, report: Arc<TrustReport>) -> NetError {
        NetError { trust: Some(report), ..self }
    }

    /// Adds the certificate that was refused.
    pub fn with_refused(self, certificate: &[u8]) -> NetError {
        NetError { refused: Some(certificate.into()), ..self }
    }
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NetError {}
