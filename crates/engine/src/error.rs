//! The engine's error: curl's code, a message that helps the user, and whether the request may be sent again.

use std::fmt;
use std::sync::Arc;

use net::exchange::BadHead;
use net::{NetError, NetErrorKind};
use tables::{Code, EasyOption, ProxyCode};
use wire::policy::Refusal;

/// Result of everything in the engine that can fail a transfer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a transfer failed.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: Code,
    message: String,
    os_errno: i32,
    verify_result: i64,
    proxy_code: i64,
    retry: Retry,
    refusal: Option<Arc<Refusal>>,
}

/// An error of a transfer.
#[derive(Debug)]
pub struct Failure {
    /// curl's code.
    pub code: Code,
    /// A description in words.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) {}", self.code.id(), self.message)
    }
}

impl std::error::Error for Failure {}

/// Returns a function that makes a failure of the code with which an option was refused. Its text names the
/// option.
pub fn refused_option(option: EasyOption) -> impl Fn(Code) -> Failure {
    move |code| Failure { code, message: format!("{}: {}", option.name(), code.text()) }
}

/// Whether a request that failed may be sent again, as far as the failure itself says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// The failure does not say. The handler decides from the state of the connection.
    #[default]
    Unknown,
    /// The server has not processed the request. A new connection may succeed.
    NewConnection,
    /// The server refused HTTP/2 or HTTP/3. HTTP/1.1 on a new connection may succeed.
    Http1,
    /// The server has begun to process the request, and has said so (RFC 9113 §6.8).
    Forbidden,
    /// The proxy cannot be reached. Another one of its list may lead to the server.
    OtherProxy,
}

impl Retry {
    /// Returns whether the request is sent again.
    pub fn is_allowed(self) -> bool {
        matches!(self, Retry::NewConnection | Retry::Http1)
    }
}

impl Error {
    /// Creates an error with curl's code and our message. An empty message means the code's own text.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            code,
            message: message.into(),
            os_errno: 0,
            verify_result: 0,
            proxy_code: 0,
            retry: Retry::Unknown,
            refusal: None,
        }))
    }

    /// Sets CURLINFO_PROXY_ERROR's number.
    pub fn with_proxy_code(mut self, code: ProxyCode) -> Error {
        self.0.proxy_code = code.id().into();
        self
    }

    /// Creates an error that carries the operating system's error number.
    #[cold]
    pub fn os(code: Code, message: impl Into<String>, e: &std::io::Error) -> Error {
        let mut error = Error::new(code, message);
        error.0.os_errno = e.raw_os_error().unwrap_or(0);
        error
    }

    /// Sets whether the request may be sent again.
    pub fn with_retry(mut self, retry: Retry) -> Error {
        self.0.retry = retry;
        self
    }

    /// Returns whether the request may be sent again.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Replaces the code.
    pub fn with_code(mut self, code: Code) -> Error {
        self.0.code = code;
        self
    }

    /// Returns the code that the C caller gets.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the text that fills the error buffer.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// errno of the failed system call, or 0.
    pub fn os_errno(&self) -> i32 {
        self.0.os_errno
    }

    /// CURLINFO_SSL_VERIFYRESULT of a refused certificate.
    pub fn verify_result(&self) -> i64 {
        self.0.verify_result
    }

    /// Clears CURLINFO_SSL_VERIFYRESULT: the refused certificate was not the origin's.
    pub fn without_verify_result(mut self) -> Error {
        self.0.verify_result = 0;
        self
    }

    /// Returns the refusal, if a policy made the transfer fail.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.0.refusal.as_deref()
    }

    /// CURLINFO_PROXY_ERROR.
    pub fn proxy_code(&self) -> i64 {
        self.0.proxy_code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.message.is_empty() { f.write_str(self.0.code.text()) } else { f.write_str(&self.0.message) }
    }
}

impl std::error::Error for Error {}

impl From<BadHead> for Error {
    /// curl's codes for them.
    fn from(bad: BadHead) -> Error {
        match bad {
            BadHead::RequestLine => Error::new(
                Code::UrlMalformat,
                "A control character or a blank in method or path, over HTTP/2 or HTTP/3",
            ),
            BadHead::Field => Error::new(
                Code::BadFunctionArgument,
                "A header field holds a character that HTTP/2 and HTTP/3 forbid, or has no colon",
            ),
        }
    }
}

impl From<wire::http1::BadOctet> for Error {
    fn from(bad: wire::http1::BadOctet) -> Error {
        Error::new(Code::WeirdServerReply, bad.text())
    }
}

impl From<Refusal> for Error {
    #[cold]
    fn from(refusal: Refusal) -> Error {
        let mut error = Error::new(Code::RemoteAccessDenied, refusal.to_string());
        error.0.refusal = Some(Arc::new(refusal));
        error
    }
}

impl From<Code> for Error {
    #[cold]
    fn from(code: Code) -> Error {
        Error::new(code, "")
    }
}

impl From<NetError> for Error {
    #[cold]
    fn from(e: NetError) -> Error {
        let mut proxy_code = 0;
        // exhaustive: codes
        let code = match e.kind {
            NetErrorKind::CouldntResolveHost => Code::CouldntResolveHost,
            NetErrorKind::CouldntResolveProxy => Code::CouldntResolveProxy,
            NetErrorKind::CouldntConnect => Code::CouldntConnect,
            NetErrorKind::OperationTimedout => Code::OperationTimedout,
            NetErrorKind::SslConnectError | NetErrorKind::SslVersion => Code::SslConnectError,
            NetErrorKind::PeerFailedVerification => Code::PeerFailedVerification,
            NetErrorKind::SslCacertBadfile => Code::SslCacertBadfile,
            NetErrorKind::SslCertproblem => Code::SslCertproblem,
            NetErrorKind::SslCipher => Code::SslCipher,
            NetErrorKind::SslPinnedPubkeyNotMatch => Code::SslPinnedpubkeynotmatch,
            NetErrorKind::SslCrlBadfile => Code::SslCrlBadfile,
            NetErrorKind::SslIssuerError => Code::SslIssuerError,
            NetErrorKind::SslInvalidCertStatus => Code::SslInvalidcertstatus,
            NetErrorKind::QuicConnectError => Code::QuicConnectError,
            NetErrorKind::SslClientcert => Code::SslClientcert,
            NetErrorKind::EchRequired => Code::EchRequired,
            NetErrorKind::SendError => Code::SendError,
            NetErrorKind::RecvError => Code::RecvError,
            NetErrorKind::InterfaceFailed => Code::InterfaceFailed,
            NetErrorKind::BadFunctionArgument => Code::BadFunctionArgument,
            NetErrorKind::NotBuiltIn => Code::NotBuiltIn,
            NetErrorKind::Proxy(number) => {
                proxy_code = number;
                Code::Proxy
            }
            NetErrorKind::SslEngineNotfound => Code::SslEngineNotfound,
            NetErrorKind::SslEngineInitfailed => Code::SslEngineInitfailed,
            NetErrorKind::SslShutdownFailed => Code::SslShutdownFailed,
            NetErrorKind::OutOfMemory => Code::OutOfMemory,
            NetErrorKind::UnsupportedProtocol => Code::UnsupportedProtocol,
            NetErrorKind::AbortedByCallback => Code::AbortedByCallback,
            NetErrorKind::Refused => Code::RemoteAccessDenied,
        };
        let mut error = Error::new(code, e.message);
        error.0.os_errno = e.os_errno;
        error.0.verify_result = e.verify_result;
        error.0.proxy_code = proxy_code;
        error.0.refusal = e.refusal;
        error
    }
}
