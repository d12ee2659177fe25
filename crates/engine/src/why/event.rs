//! Decisions as values: the events of a transfer's record. No value contains a secret.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use net::Refusal;
use net::connection_key::Origin;
use net::tls::TrustReport;
pub use runtime::SendLimits;
pub use wire::cookie::Withheld;
use wire::policy;

use super::difference::Term;
pub use super::expiry::CertificateExpiry;

/// A decision, or a fact on which later ones depend.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A proxy is used.
    Proxied(Proxied),
    /// A proxy is set, and not used for this host.
    Unproxied { by: String },
    /// A list of proxies says that the host is reached without one.
    Direct { by: String },
    /// A proxy of a list is not used.
    ProxyDropped { proxy: String, why: ProxyDropped },
    /// An open connection serves the request.
    Reused(Reused),
    /// A new connection is opened.
    Opened(Opened),
    /// The connection was closed after its request. `ticket` says that its TLS session could be resumed.
    Closed { id: u64, why: CloseReason, ticket: bool },
    /// The connection will have to be closed after this request.
    Spoilt(CloseReason),
    /// A question about a name was answered.
    Named(Named),
    /// An attempt to connect.
    Trying(SocketAddr),
    /// An attempt that failed.
    Unreachable { address: SocketAddr, error: String },
    /// The attempt that won. `preferred` says that the address had won before and was tried first.
    Reached { address: SocketAddr, preferred: bool },
    /// A TLS handshake.
    Secured(Secured),
    /// The server's certificate was refused.
    Refused(Refused),
    /// Each check of the certificates of a server, or of a proxy.
    CertificateChecks { host: String, report: Arc<TrustReport> },
    /// A policy refused the transfer, an alternative service, or an address that was to be connected to.
    Denied { refusal: policy::Refusal, address: Option<SocketAddr> },
    /// The version of HTTP on a new connection.
    Version { version: &'static str, why: VersionReason },
    /// The server answered with a redirect that is followed.
    Redirected { status: u16, to: String },
    /// The server or a proxy asked for authentication, and the request is sent again.
    Challenged { status: u16, offered: Vec<&'static str> },
    /// The head left with Expect: 100-continue, and its body waits for that long.
    Waits { limit: Duration },
    /// The wait for 100 Continue is over.
    GoesOn(GoAhead),
    /// An informational reply came before the reply. `links` are the targets that early hints name, without
    /// their queries.
    Informed { status: u16, links: Vec<String> },
    /// The request is sent once more.
    Replayed { why: ReplayReason, count: u32 },
    /// The request carries cookies, or the jar has some that it does not carry.
    Cookies { sent: Vec<String>, withheld: Vec<(String, Withheld)> },
    /// The scheme was changed to https.
    Strict { url: String },
    /// An alternative service is used.
    Alternative { from: String, to: String },
    /// A cache decided.
    Cache(CacheStep),
    /// Commands left in one write.
    Commands { layer: &'static str, verbs: Vec<String>, waits: bool },
    /// The commands for a file or a mail wait for each other.
    OneByOne(OneByOne),
    /// An upload could have been sent sooner.
    Limited(SendLimits),
    /// An upload in parts continues: so many of them are at the server already.
    PartsPresent { present: u32, of: u32 },
    /// The server's digests of an upload are those of the source.
    UploadCompared,
}

/// A proxy, and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Proxied {
    /// Scheme, host and port.
    pub proxy: String,
    /// An option or a variable.
    pub by: String,
    /// Bytes pass through a tunnel.
    pub tunnel: bool,
}

/// Why a proxy of a list is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyDropped {
    /// It could not be reached, for this reason.
    Failed(String),
    /// It could not be reached earlier, and is tried last for so long.
    Remembered(Duration),
}

/// A connection that is used again.
#[derive(Clone, Debug, PartialEq)]
pub struct Reused {
    pub id: u64,
    /// The number of its key in this process; 0 for one that no other handle may use.
    pub key: u64,
    pub origin: Origin,
    /// The request is a stream beside others.
    pub stream: bool,
    /// Its age, the time since its last use, and the transfers before this one; `None` for a stream.
    pub past: Option<Past>,
}

/// The past of an idle connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    pub age: Duration,
    pub idle: Duration,
    pub uses: u64,
}

/// A connection that is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    pub id: u64,
    /// As in [`Reused`].
    pub key: u64,
    pub origin: Origin,
    pub tls: bool,
    pub why: NewReason,
}

/// Why a connection is new.
#[derive(Clone, Debug, PartialEq)]
pub enum NewReason {
    /// No connection to this host and port is open here.
    NothingOpen,
    /// Those that are open differ. The nearest one differs in these terms.
    Differs { terms: Vec<Term>, others: usize },
    /// All with equal settings carry other transfers.
    AllInUse { count: usize },
    /// One was found and could not be used.
    Refused(Refusal),
    /// The one before was closed.
    LastClosed(CloseReason),
    /// The one before was closed for lack of room.
    Evicted(net::Eviction),
    /// An option forbids reuse (CURLOPT_FRESH_CONNECT).
    Forbidden(tables::EasyOption),
    /// A request is repeated that failed on an open connection.
    Repeated,
    /// Files of FTP take turns on several connections.
    InTurns,
    /// Connections made through the application's socket functions serve only their handle.
    OwnSockets,
}

/// Why a connection was closed after its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The server said `Connection: close`.
    PeerSaidClose,
    /// Only the end of the connection ended the body (RFC 9112 §6.3).
    EndsBody,
    /// The server answered with HTTP/1.0 and did not say keep-alive.
    Http10,
    /// CURLOPT_FORBID_REUSE.
    Forbidden,
    /// The server sent more than its reply.
    Surplus,
    /// The request's body was not sent to its end.
    UploadStopped,
    /// The reply's body was not read, because a new connection costs less.
    BodySkipped,
    /// The transfer failed on it.
    Failed,
    /// Replies to its commands are outstanding, or the server sent more than them.
    OutOfStep,
    /// A Kerberos ticket logged in, whose principal no later transfer can compare.
    ByTicket,
    /// The server has sent no further TLS session for data connections (FTP).
    NoSessionLeft,
}

/// Why commands of FTP or mail wait for the replies to those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneByOne {
    /// WARMWIRE_FTP or WARMWIRE_SMTP, or the call for the handle, is `wait`.
    Setting,
    /// A new connection: the program of the server is not known yet.
    NewConnection,
    /// The server showed that it wants one command at a time.
    Objected,
    /// The server does not announce PIPELINING (RFC 2920).
    NotOffered,
    /// Nothing shows yet that the server reads a stream of commands.
    Unknown,
    /// A command depends on the reply before it: an option asks for that.
    Dependent,
}

/// The answer to one question of a look-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    pub host: String,
    /// A, AAAA or HTTPS.
    pub record: &'static str,
    pub addresses: usize,
    pub source: NameSource,
    /// The servers that were asked, as the option names them; empty for other sources.
    pub servers: String,
    /// Time from the question to the answer.
    pub took: Duration,
}

/// Where an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// The host is an address, or this machine.
    Written,
    /// CURLOPT_RESOLVE.
    Pinned,
    /// The handle's cache.
    Cache,
    /// The hosts file (hosts(5)) has the name.
    Hosts,
    /// getaddrinfo.
    System,
    /// Another process that asked getaddrinfo (WARMWIRE_POOL=user).
    Broker,
    /// The name servers of CURLOPT_DNS_SERVERS.
    Servers,
    /// CURLOPT_DOH_URL.
    OverHttps,
}

/// The result of a TLS handshake.
#[derive(Clone, Debug, PartialEq)]
pub struct Secured {
    /// The server, or the proxy.
    pub host: String,
    pub version: &'static str,
    pub cipher: &'static str,
    /// Empty for a resumed session.
    pub group: &'static str,
    pub resumed: bool,
    /// CURLOPT_SSL_SESSIONID_CACHE is on.
    pub cached: bool,
    /// A session with the server was known before.
    pub known: bool,
    pub alpn: Option<String>,
    /// Whether the chain and the name were checked; an option may forbid each.
    pub verified: bool,
    /// The files and options with the trusted certificates.
    pub trusted: String,
    /// The certificate of the chain that expires first.
    pub expiry: Option<CertificateExpiry>,
}

/// A server's certificate that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub host: String,
    pub subject: String,
    pub issuer: String,
    pub why: String,
    /// As in [`Secured`].
    pub trusted: String,
}

/// Why HTTP has this version and no higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionReason {
    /// It is the highest that was offered.
    Highest,
    /// CURLOPT_HTTP_VERSION allows no higher one.
    Option,
    /// The server chose it, although a higher one was offered.
    ServerChose,
    /// The server ignored the offer (ALPN).
    NoAlpn,
    /// Without TLS a higher version is used only if it is asked for.
    NoTls,
    /// CURLOPT_SSL_ENABLE_ALPN is off.
    AlpnOff,
    /// The login belongs to the connection (NTLM, Negotiate), or the server refused HTTP/2.
    Avoided,
    /// The server answered with it before.
    AnswersHttp10,
}

/// How the wait for 100 Continue ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoAhead {
    /// The server sent it.
    Continue,
    /// It did not come in time.
    Late,
    /// A final reply came first.
    Answered,
    /// The server refused the expectation (417).
    Refused,
}

/// Why a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayReason {
    /// The open connection had died.
    ConnectionDied,
    /// The server wants HTTP/1.1.
    Http11Required,
}

/// A step of the application's cache (RFC 9111).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheStep {
    /// A stored reply is fresh (§4.2).
    Fresh,
    /// The stored reply is stale or absent: the server is asked (§4.3).
    Asked,
    /// The server confirmed the stored reply (§4.3.4).
    Confirmed,
    /// A stored reply is offered as a dictionary (RFC 9842).
    Dictionary,
    /// The server sent what a stored reply lacks (§3.4).
    Joined,
    /// A stale reply is used, because the server cannot be reached or failed (§4.2.4).
    Stale,
}
