//! The one error of the engine: curl's code, a message that names what the user can act on, and
//! whether the transfer may be tried again on a fresh connection.

use std::fmt;

use net::{NetError, NetErrorKind};
use tables::{Code, ProxyCode};

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
    stale: bool,
    http1: bool,
    is_final: bool,
}

impl Error {
    /// An error with curl's code and our message; an empty message means the code's own text.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            code,
            message: message.into(),
            os_errno: 0,
            verify_result: 0,
            proxy_code: 0,
            stale: false,
            http1: false,
            is_final: false,
        }))
    }

    /// The same with CURLINFO_PROXY_ERROR's number.
    pub fn with_proxy_code(mut self, code: ProxyCode) -> Error {
        self.0.proxy_code = code.id().into();
        self
    }

    /// The same with the operating system's error.
    #[cold]
    pub fn os(code: Code, message: impl Into<String>, e: &std::io::Error) -> Error {
        let mut error = Error::new(code, message);
        error.0.os_errno = e.raw_os_error().unwrap_or(0);
        error
    }

    /// Marks a failure of a reused connection before any byte of the reply came: a fresh connection
    /// may succeed.
    pub fn stale(mut self) -> Error {
        self.0.stale = true;
        self
    }

    /// Takes that back.
    pub fn not_stale(mut self) -> Error {
        self.0.stale = false;
        self
    }

    /// Whether a fresh connection may succeed where a pooled one failed.
    pub fn is_stale(&self) -> bool {
        self.0.stale
    }

    /// Marks a failure of a request on which the server has begun, as it has said: it may not be sent again.
    pub fn final_word(mut self) -> Error {
        self.0.is_final = true;
        self
    }

    /// Whether the request may not be sent again.
    pub fn is_final(&self) -> bool {
        self.0.is_final
    }

    /// Marks a refusal of HTTP/2: HTTP/1.1 may succeed.
    pub fn wants_http1(mut self) -> Error {
        self.0.http1 = true;
        self
    }

    /// Whether HTTP/1.1 may succeed where HTTP/2 failed.
    pub fn is_for_http1(&self) -> bool {
        self.0.http1
    }

    /// The same with another code.
    pub fn with_code(mut self, code: Code) -> Error {
        self.0.code = code;
        self
    }

    /// What the C caller gets.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What fills the error buffer.
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

    /// The same, when the certificate was not the origin's.
    pub fn without_verify_result(mut self) -> Error {
        self.0.verify_result = 0;
        self
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

impl From<wire::http1::BadOctet> for Error {
    fn from(bad: wire::http1::BadOctet) -> Error {
        Error::new(Code::WeirdServerReply, bad.text())
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
        };
        let mut error = Error::new(code, e.message);
        error.0.os_errno = e.os_errno;
        error.0.verify_result = e.verify_result;
        error.0.proxy_code = proxy_code;
        error
    }
}
