//! Typed errors of requests.

use std::error::Error as StdError;
use std::fmt;

use engine::archive::redact::without_login;
use engine::error::Failure;
use engine::info::{Phase, TransferInfo};
use http::StatusCode;
use tables::Code;

use super::timings::Timings;
use super::tls::InvalidCertificate;
use crate::{InvalidUrl, Url, Why};

/// The kind of a failure, for decisions in programs. [`Error::code`] is more precise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL is malformed or its scheme is not supported.
    Url,
    /// An option, a header field or another value of the request is refused.
    Option,
    /// The name of a host or proxy cannot be resolved.
    Resolve,
    /// No connection could be opened.
    Connect,
    /// TLS failed: an untrusted certificate, an incomplete handshake, an unreadable file.
    Tls,
    /// The proxy refused.
    Proxy,
    /// A time limit was reached.
    Timeout,
    /// The connection broke while data was transferred.
    Transport,
    /// The body ended early.
    Incomplete,
    /// The peer violated its protocol.
    Protocol,
    /// The body's content coding is broken or unknown, or the body does not parse as requested (JSON).
    Decode,
    /// More redirects than allowed.
    Redirects,
    /// A login or access was refused.
    Denied,
    /// The file does not exist.
    NotFound,
    /// The server refused the upload.
    Upload,
    /// The stream of the request body failed; [`source`](StdError::source) returns its error.
    Body,
    /// The status is an error, and the caller asked to treat that as a failure.
    Status,
    /// The driver does not run, or has ended.
    Driver,
    /// Anything else.
    Other,
}

impl From<Code> for ErrorKind {
    // exhaustive: codes
    fn from(code: Code) -> ErrorKind {
        use Code as C;
        match code {
            C::UrlMalformat | C::UnsupportedProtocol => ErrorKind::Url,
            C::NotBuiltIn | C::BadFunctionArgument | C::UnknownOption | C::SetoptOptionSyntax => {
                ErrorKind::Option
            }
            C::CouldntResolveHost | C::CouldntResolveProxy => ErrorKind::Resolve,
            C::CouldntConnect | C::InterfaceFailed | C::NoConnectionAvailable => ErrorKind::Connect,
            C::SslConnectError
            | C::SslEngineNotfound
            | C::SslEngineSetfailed
            | C::SslEngineInitfailed
            | C::SslCertproblem
            | C::SslCipher
            | C::PeerFailedVerification
            | C::UseSslFailed
            | C::SslCacertBadfile
            | C::SslShutdownFailed
            | C::SslCrlBadfile
            | C::SslIssuerError
            | C::SslPinnedpubkeynotmatch
            | C::SslInvalidcertstatus
            | C::SslClientcert
            | C::QuicConnectError
            | C::EchRequired => ErrorKind::Tls,
            C::Proxy => ErrorKind::Proxy,
            C::OperationTimedout | C::FtpAcceptTimeout => ErrorKind::Timeout,
            C::GotNothing | C::SendError | C::RecvError => ErrorKind::Transport,
            C::PartialFile => ErrorKind::Incomplete,
            C::WeirdServerReply
            | C::FtpAcceptFailed
            | C::FtpWeirdPassReply
            | C::FtpWeirdPasvReply
            | C::FtpWeird227Format
            | C::FtpCantGetHost
            | C::FtpPortFailed
            | C::FtpCouldntUseRest
            | C::FtpCouldntSetType
            | C::FtpPretFailed
            | C::FtpBadFileList
            | C::Http2
            | C::Http2Stream
            | C::Http3
            | C::RtspCseqError
            | C::RtspSessionError
            | C::TftpIllegal
            | C::TftpUnknownid => ErrorKind::Protocol,
            C::BadContentEncoding => ErrorKind::Decode,
            C::TooManyRedirects => ErrorKind::Redirects,
            C::RemoteAccessDenied | C::LoginDenied | C::AuthError | C::TftpPerm | C::TftpNosuchuser => {
                ErrorKind::Denied
            }
            C::RemoteFileNotFound | C::FtpCouldntRetrFile | C::FileCouldntReadFile | C::TftpNotfound => {
                ErrorKind::NotFound
            }
            C::UploadFailed | C::ReadError | C::SendFailRewind | C::RemoteDiskFull | C::RemoteFileExists => {
                ErrorKind::Upload
            }
            C::HttpReturnedError => ErrorKind::Status,
            C::Ok
            | C::FailedInit
            | C::Obsolete20
            | C::QuoteError
            | C::WriteError
            | C::Obsolete24
            | C::OutOfMemory
            | C::Obsolete29
            | C::Obsolete32
            | C::RangeError
            | C::Obsolete34
            | C::BadDownloadResume
            | C::LdapCannotBind
            | C::LdapSearchFailed
            | C::Obsolete40
            | C::Obsolete41
            | C::AbortedByCallback
            | C::Obsolete44
            | C::Obsolete46
            | C::Obsolete50
            | C::Obsolete51
            | C::Obsolete57
            | C::Obsolete62
            | C::FilesizeExceeded
            | C::Obsolete75
            | C::Obsolete76
            | C::Ssh
            | C::Again
            | C::ChunkFailed
            | C::RecursiveApiCall
            | C::UnrecoverablePoll
            | C::TooLarge => ErrorKind::Other,
        }
    }
}

/// How far a request got. Before [`Sent`](RequestPhase::Sent) no server has acted on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestPhase {
    /// Nothing was started.
    Nothing,
    /// The name was resolved.
    Resolved,
    /// A connection was opened.
    Connected,
    /// The TLS handshake is complete.
    Secured,
    /// The request, or its first part, may have been sent.
    Sent,
    /// Part of a reply was received.
    Answered,
}

impl RequestPhase {
    pub(crate) fn of(info: &TransferInfo) -> RequestPhase {
        match info.phase {
            Phase::Nothing => RequestPhase::Nothing,
            Phase::Resolved => RequestPhase::Resolved,
            Phase::Connected => RequestPhase::Connected,
            Phase::Secured => RequestPhase::Secured,
            Phase::Sent => RequestPhase::Sent,
            Phase::Answered => RequestPhase::Answered,
        }
    }
}

/// An error of a request.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    code: Code,
    message: String,
    url: Option<Url>,
    status: Option<StatusCode>,
    reached: RequestPhase,
    timings: Option<Timings>,
    why: Option<Box<Why>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, code: Code, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            kind,
            code,
            message: message.into(),
            url: None,
            status: None,
            reached: RequestPhase::Nothing,
            timings: None,
            why: None,
            source: None,
        }))
    }

    /// Creates an error from one of curl's codes.
    pub(crate) fn of(code: Code, message: impl Into<String>) -> Error {
        Error::new(code.into(), code, message)
    }

    /// Creates an error from the failure of a transfer.
    pub(super) fn of_failure(failure: Failure) -> Error {
        Error::of(failure.code, failure.message)
    }

    /// Creates the error for a request whose driver has ended.
    pub(super) fn no_driver(reason: &str) -> Error {
        Error::new(ErrorKind::Driver, Code::FailedInit, reason)
    }

    /// Creates the error for a value that cannot be sent.
    pub(crate) fn option(message: impl Into<String>) -> Error {
        Error::of(Code::BadFunctionArgument, message)
    }

    pub(crate) fn at(mut self, url: Url, reached: RequestPhase) -> Error {
        self.0.url = Some(url).filter(|url| !url.as_str().is_empty());
        self.0.reached = reached;
        self
    }

    pub(super) fn with_status(mut self, status: StatusCode) -> Error {
        self.0.status = Some(status);
        self
    }

    pub(super) fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.0.source = Some(source.into());
        self
    }

    pub(super) fn measured(mut self, timings: Timings) -> Error {
        self.0.timings = Some(timings);
        self
    }

    pub(super) fn explained(mut self, why: Option<Box<Why>>) -> Error {
        self.0.why = why;
        self
    }

    /// Returns whether receiving failed, rather than that the reply was refused.
    pub(super) fn is_of_receiving(&self) -> bool {
        use ErrorKind as K;
        matches!(self.0.kind, K::Transport | K::Incomplete | K::Protocol | K::Decode | K::Timeout)
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns curl's code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Describes the failure in words.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the last URL requested, if the request had one.
    pub fn url(&self) -> Option<&Url> {
        self.0.url.as_ref()
    }

    /// Removes the URL, which may contain a secret that does not belong into a log.
    pub fn without_url(mut self) -> Error {
        self.0.url = None;
        self
    }

    /// Returns the status of the response, for an error of
    /// [`Response::error_for_status`](crate::Response::error_for_status).
    pub fn status(&self) -> Option<StatusCode> {
        self.0.status
    }

    /// Returns how far the request got. After redirects, this is about the last one.
    pub fn reached(&self) -> RequestPhase {
        self.0.reached
    }

    /// Returns times and sizes up to the failure, if a transfer had started.
    pub fn timings(&self) -> Option<&Timings> {
        self.0.timings.as_ref()
    }

    /// Returns the reasons of the transfer, if [`RequestBuilder::explain`](crate::RequestBuilder::explain)
    /// was set.
    pub fn why(&self) -> Option<&Why> {
        self.0.why.as_deref()
    }

    /// Returns whether a time limit was reached.
    pub fn is_timeout(&self) -> bool {
        self.0.kind == ErrorKind::Timeout
    }

    /// Returns whether no connection could be set up: name, connection, TLS or proxy failed, or the time to
    /// connect was up.
    pub fn is_connect(&self) -> bool {
        match self.0.kind {
            ErrorKind::Resolve | ErrorKind::Connect | ErrorKind::Tls | ErrorKind::Proxy => true,
            ErrorKind::Timeout => self.0.reached < RequestPhase::Connected,
            _ => false,
        }
    }

    /// Returns whether a value of the request or of the client was refused, and nothing was sent.
    pub fn is_builder(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Url | ErrorKind::Option)
    }

    /// Returns whether the error comes from
    /// [`Response::error_for_status`](crate::Response::error_for_status).
    pub fn is_status(&self) -> bool {
        self.0.kind == ErrorKind::Status
    }

    /// Returns whether there were more redirects than allowed.
    pub fn is_redirect(&self) -> bool {
        self.0.kind == ErrorKind::Redirects
    }

    /// Returns whether the body of the request failed, or that of the response ended early.
    pub fn is_body(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Body | ErrorKind::Upload | ErrorKind::Incomplete)
    }

    /// Returns whether the body of the response cannot be decoded or parsed.
    pub fn is_decode(&self) -> bool {
        self.0.kind == ErrorKind::Decode
    }

    /// Returns whether the request failed on its way, after it was accepted and before its body.
    pub fn is_request(&self) -> bool {
        let others =
            [self.is_builder(), self.is_status(), self.is_redirect(), self.is_body(), self.is_decode()];
        !others.contains(&true)
    }
}

impl From<InvalidUrl> for Error {
    fn from(error: InvalidUrl) -> Error {
        Error::of(Code::UrlMalformat, error.to_string())
    }
}

impl From<InvalidCertificate> for Error {
    fn from(error: InvalidCertificate) -> Error {
        Error::of(Code::SslCertproblem, error.to_string())
    }
}

impl From<http::Error> for Error {
    fn from(error: http::Error) -> Error {
        Error::option(error.to_string()).because(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) {}", self.0.code.id(), self.0.message)?;
        match &self.0.url {
            None => Ok(()),
            Some(url) => write!(f, " [{}]", shown(url)),
        }
    }
}

/// Returns a URL without its login, for texts that end up in logs.
fn shown(url: &Url) -> String {
    String::from_utf8_lossy(&without_login(url.as_str().as_bytes())).into_owned()
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("url", &self.0.url.as_ref().map(shown))
            .field("reached", &self.0.reached)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
