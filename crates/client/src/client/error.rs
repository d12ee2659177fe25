//! Why a request failed, typed.

use std::error::Error as StdError;
use std::fmt;

use engine::info::{Phase, TransferInfo};
use tables::Code;

use super::metrics::Metrics;

/// What kind of failure it is: what a program decides by. [`Error::code`] tells more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL is none, or its scheme is not spoken.
    Url,
    /// An option that there is not, or a value that it does not take.
    Option,
    /// A host or a proxy has no address.
    Resolve,
    /// No connection could be made.
    Connect,
    /// TLS failed: a certificate that is not trusted, a handshake that did not end, a file that could not be
    /// read.
    Tls,
    /// The proxy would not.
    Proxy,
    /// A time limit was reached.
    Timeout,
    /// The connection broke while data was moved.
    Transport,
    /// The body ended before it was whole.
    Incomplete,
    /// The peer did not keep to its protocol.
    Protocol,
    /// The body's coding is broken or unknown, or it is not what it was asked for as (JSON).
    Decode,
    /// More redirects than allowed.
    Redirects,
    /// A log-in was refused, or access.
    Denied,
    /// There is no such file.
    NotFound,
    /// What was to be sent was not taken.
    Upload,
    /// The source of what was to be sent failed; [`source`](StdError::source) is its own error.
    Body,
    /// A status that says error, where one was asked to be a failure.
    Status,
    /// There is no driver (any more).
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

/// How far a request came. What was not reached has cost the server nothing: before [`Sent`](Reached::Sent)
/// nobody has acted on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reached {
    /// Nothing was done.
    Nothing,
    /// The name has an address.
    Resolved,
    /// There is a connection.
    Connected,
    /// TLS stands on it.
    Secured,
    /// The request, or the beginning of one, may have left.
    Sent,
    /// Some of a reply has come.
    Answered,
}

impl Reached {
    pub(super) fn of(info: &TransferInfo) -> Reached {
        match info.phase {
            Phase::Nothing => Reached::Nothing,
            Phase::Resolved => Reached::Resolved,
            Phase::Connected => Reached::Connected,
            Phase::Secured => Reached::Secured,
            Phase::Sent => Reached::Sent,
            Phase::Answered => Reached::Answered,
        }
    }
}

/// Why a request failed.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    code: Code,
    message: String,
    url: String,
    reached: Reached,
    metrics: Option<Metrics>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, code: Code, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            kind,
            code,
            message: message.into(),
            url: String::new(),
            reached: Reached::Nothing,
            metrics: None,
            source: None,
        }))
    }

    /// A failure with one of curl's codes.
    pub(super) fn of(code: Code, message: impl Into<String>) -> Error {
        Error::new(code.into(), code, message)
    }

    /// There is nobody who runs transfers.
    pub(super) fn no_driver() -> Error {
        Error::new(ErrorKind::Driver, Code::FailedInit, "the client's driver has ended")
    }

    pub(super) fn at(mut self, url: impl Into<String>, reached: Reached) -> Error {
        (self.0.url, self.0.reached) = (url.into(), reached);
        self
    }

    pub(super) fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.0.source = Some(source.into());
        self
    }

    pub(super) fn measured(mut self, metrics: Metrics) -> Error {
        self.0.metrics = Some(metrics);
        self
    }

    /// What kind it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// curl's code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What happened, in words.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The URL last asked for; empty where none was.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// How far the request came, the last one where redirects were followed.
    pub fn reached(&self) -> Reached {
        self.0.reached
    }

    /// Times and sizes up to the failure, where a transfer had begun.
    pub fn metrics(&self) -> Option<&Metrics> {
        self.0.metrics.as_ref()
    }

    /// Whether a time limit was reached.
    pub fn is_timeout(&self) -> bool {
        self.0.kind == ErrorKind::Timeout
    }

    /// Whether no connection came about: name, connection, TLS or proxy.
    pub fn is_connect(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Resolve | ErrorKind::Connect | ErrorKind::Tls | ErrorKind::Proxy)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) {}", self.0.code.id(), self.0.message)?;
        match self.0.url.as_str() {
            "" => Ok(()),
            url => write!(f, " [{url}]"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("url", &self.0.url)
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
