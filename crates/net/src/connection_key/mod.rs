//! Everything about a connection that must be equal for it to be used again, compared as a value.
//!
//! Deny by default: whatever a connection was made with is a field here, and connections that differ in any
//! field are different ones. The same value guards everything else that outlives a transfer and belongs to a
//! peer. [`encoding`] turns it into bytes.

pub mod encoding;
#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::ops::Deref;
use std::sync::Arc;

use runtime::LockFreeOnce;
use tables::Scheme;
use tables::scheme::Family;

use crate::filter::open::{LocalBinding, SocketOptions, Transport, UnixSocket};
use crate::resolver::IpVersion;
use crate::tls::TlsConfig;
use crate::{NamedFile, SecretBytes};

/// The terms on which a connection was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionKey {
    pub protocol: Protocol,
    /// CURLOPT_CONNECT_ONLY: the application speaks on it itself.
    pub connect_only: Option<i64>,
    pub origin: Origin,
    pub transport: Transport,
    /// How TLS to the origin is configured; STARTTLS counts too.
    pub tls: Option<Arc<TlsConfig>>,
    /// From the client to the origin, in the order in which they are passed.
    pub proxies: Vec<ProxyTerms>,
    /// CURLOPT_CONNECT_TO and Alt-Svc: where it really leads.
    pub connect_to: Option<Origin>,
    pub ip_version: IpVersion,
    /// The entries of CURLOPT_RESOLVE that speak of a host on the way.
    pub pins: Vec<Vec<u8>>,
    pub zone: Zone,
    pub resolver: ResolverTerms,
    pub socket: SocketOptions,
    pub unix: Option<UnixSocket>,
    /// The PROXY line (CURLOPT_HAPROXYPROTOCOL, CURLOPT_HAPROXY_CLIENT_IP).
    pub haproxy: Option<HaproxyAddress>,
    /// The login, if it authenticates the connection as a whole.
    pub login: Option<Login>,
    /// Somebody was logged in on it by a Kerberos ticket. Whose ticket that is can change from one transfer
    /// to the next, and the principal is not compared: the connection serves no other transfer, whatever user
    /// was named.
    pub by_ticket: bool,
    /// Set for connections that never leave their multi handle: the application took part in making them.
    pub owner: Option<Owner>,
}

/// The protocol that is spoken, and what it demands of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP, and WebSockets that may be a stream of HTTP/2.
    Http(HttpStart),
    /// WebSockets by HTTP/1.1 alone.
    WebSocket,
    Rtsp,
    Ftp(FtpTerms),
    Ssh(Box<SshTerms>),
    Imap(StartTls),
    Pop3(StartTls),
    Smtp(StartTls),
    Ldap(StartTls),
    /// A protocol without terms of its own.
    Other(Family),
}

/// How HTTP begins on a new connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HttpStart {
    /// With HTTP/1.1, or with the version that ALPN agrees on.
    #[default]
    Negotiated,
    /// With HTTP/2, without asking (CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE).
    PriorKnowledge,
    /// With a request of HTTP/1.1 that asks for an upgrade (RFC 7540 §3.2).
    Upgrade,
}

/// How far TLS was demanded (CURLUSESSL_*). A connection that fell back to clear text must not serve a
/// transfer that forbids it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StartTls(pub i64);

/// FTP's requirements for a control connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FtpTerms {
    pub start_tls: StartTls,
    /// CURLFTPSSL_CCC_*.
    pub clear_command_channel: i64,
    /// CURLFTPAUTH_*.
    pub tls_command: i64,
}

/// How somebody has logged in by SSH, and how the server was verified. A transfer that asks for anything else
/// gets a connection of its own (CVE-2022-27782, CVE-2023-27538).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SshTerms {
    pub private_key: Option<NamedFile>,
    pub public_key: Option<NamedFile>,
    /// The keys that are tried where the application names none.
    pub usual_keys: Vec<NamedFile>,
    pub passphrase: Option<SecretBytes>,
    /// The socket of the agent that signs (SSH_AUTH_SOCK).
    pub agent: Option<NamedFile>,
    pub known_hosts: Option<NamedFile>,
    pub host_md5: Option<Vec<u8>>,
    pub host_sha256: Option<Vec<u8>>,
    /// CURLSSH_AUTH_*.
    pub methods: i64,
    pub compression: bool,
    /// The application's functions that judge the server's key.
    pub judge: Option<HostKeyJudge>,
}

/// The functions that judge a server's SSH key for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostKeyJudge {
    /// This easy handle, whose functions have no address to compare.
    Handle(u64),
    /// CURLOPT_SSH_KEYFUNCTION, CURLOPT_SSH_KEYDATA, CURLOPT_SSH_HOSTKEYFUNCTION and CURLOPT_SSH_HOSTKEYDATA.
    Functions([usize; 4]),
}

/// The handles that may use a connection whose socket the application created or configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// This one easy handle.
    Handle(u64),
    /// Handles with the same functions for it.
    Kin([usize; 2]),
}

/// Host and port, the host in lower case and without brackets or trailing dot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Counted, because every lease knows its origin.
    pub host: Arc<str>,
    pub port: u16,
}

/// The zone of an IPv6 address (CVE-2022-27775: one address in two zones is two hosts).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Zone {
    #[default]
    None,
    /// By its name in the URL.
    Name(Vec<u8>),
    /// By the number of CURLOPT_ADDRESS_SCOPE.
    Scope(i64),
}

/// The name servers that replace the system's resolver. Another server may give the name other addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResolverTerms {
    /// CURLOPT_DNS_SERVERS.
    pub servers: Option<Vec<u8>>,
    /// CURLOPT_DNS_INTERFACE.
    pub interface: Option<Vec<u8>>,
    /// CURLOPT_DNS_LOCAL_IP4.
    pub local_ip4: Option<Vec<u8>>,
    /// CURLOPT_DNS_LOCAL_IP6.
    pub local_ip6: Option<Vec<u8>>,
    pub over_https: Option<DohTerms>,
}

/// DNS over HTTPS: the server, and how it is verified.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DohTerms {
    pub url: Vec<u8>,
    pub tls: Arc<TlsConfig>,
}

/// The client's address in the PROXY line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HaproxyAddress {
    /// That of the connection.
    Own,
    /// One that the application names.
    Client(String),
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProxyKind {
    /// HTTP/1.1.
    Http,
    /// HTTP/1.0 for CONNECT.
    Http10,
    /// HTTP over TLS.
    Https,
    /// HTTP over TLS, HTTP/2 where the proxy knows it.
    Https2,
    /// HTTP/3, and nothing else.
    Https3,
    /// SOCKS4, names looked up here.
    Socks4,
    /// SOCKS4a, names looked up there.
    Socks4a,
    /// SOCKS5, names looked up here.
    Socks5,
    /// SOCKS5, names looked up there.
    Socks5h,
}

/// A proxy on the way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProxyTerms {
    pub kind: ProxyKind,
    pub origin: Origin,
    /// Where it listens, when that is no port.
    pub unix: Option<UnixSocket>,
    /// How TLS to the proxy is configured.
    pub tls: Option<Arc<TlsConfig>>,
    /// The tunnel, if the proxy passes bytes; `None` for one that receives requests.
    pub tunnel: Option<TunnelTerms>,
}

/// A tunnel through a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TunnelTerms {
    /// Where it leads.
    pub to: Origin,
    pub user: Option<UserPassword>,
    pub method: TunnelMethod,
}

/// How a proxy is asked for a tunnel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TunnelMethod {
    /// CONNECT of HTTP.
    Connect {
        /// CURLAUTH_* of CURLOPT_PROXYAUTH.
        auth: i64,
        /// The application's own header lines for the proxy, secrets among them.
        lines: Vec<SecretBytes>,
        /// Set where Negotiate is allowed.
        ticket: Option<TicketTerms>,
    },
    Socks4,
    Socks5 {
        /// CURLAUTH_* of CURLOPT_SOCKS5_AUTH.
        auth: i64,
        /// CURLOPT_SOCKS5_GSSAPI_NEC.
        nec: bool,
        ticket: TicketTerms,
    },
}

/// The settings that choose a Kerberos ticket and limit its use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TicketTerms {
    /// The service part of the server's principal.
    pub service: String,
    /// CURLGSSAPI_DELEGATION_*.
    pub delegation: i64,
    /// The ticket cache (KRB5CCNAME).
    pub cache: Option<Vec<u8>>,
    /// Name of the tickets' user, if it is known. A connection that an unknown user's ticket authenticated
    /// serves no other transfer.
    pub user: Option<String>,
}

/// A user name and a password, byte for byte: two that are not UTF-8 must not become the same text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UserPassword {
    pub user: SecretBytes,
    pub password: SecretBytes,
}

/// The login of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Login {
    /// By a protocol that logs in once for each connection: FTP, SSH, LDAP, IMAP, POP3, SMTP.
    Session(Box<SessionLogin>),
    /// By requests of HTTP that authenticated the whole connection.
    Requests(Box<RequestLogin>),
}

/// The login of a protocol that logs in once for each connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionLogin {
    /// `None` where nobody was named; a user with an empty name is somebody.
    pub user: Option<UserPassword>,
    /// CURLOPT_LOGIN_OPTIONS. What a URL says of ways to log in parts no connections (curl's test 1982).
    pub options: Option<Vec<u8>>,
    /// CURLOPT_FTP_ACCOUNT.
    pub account: Option<SecretBytes>,
    /// CURLOPT_FTP_ALTERNATIVE_TO_USER.
    pub alternative: Option<SecretBytes>,
    /// CURLOPT_XOAUTH2_BEARER.
    pub bearer: Option<SecretBytes>,
    /// CURLOPT_SASL_AUTHZID.
    pub authorization_id: Option<SecretBytes>,
    /// CURLOPT_SERVICE_NAME.
    pub service: Option<Vec<u8>>,
}

/// The users for whom HTTP requests have authenticated a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestLogin {
    /// To the server.
    pub server: Option<ServerLogin>,
    /// By NTLM, to a proxy that is handed requests.
    pub proxy: Option<UserPassword>,
}

/// A login by requests to one server. Through a proxy that is handed requests a connection leads to many
/// servers: once it is authenticated it is one server's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerLogin {
    pub scheme: Scheme,
    pub origin: Origin,
    pub user: UserPassword,
    pub method: ConnectionAuth,
}

/// The HTTP authentication schemes that authenticate a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionAuth {
    Ntlm,
    Negotiate(TicketTerms),
}

/// A [`ConnectionKey`] and its hash, which is computed once: the key of the tables of pools. Cheap to clone.
/// A hash only says where to look: two keys are equal when the values are.
#[derive(Clone, Debug)]
pub struct HashedKey(Arc<Keyed>);

#[derive(Debug)]
struct Keyed {
    hash: u64,
    key: ConnectionKey,
    /// The files that the key names, kept once for all transfers that share it.
    files: Box<[NamedFile]>,
}

impl From<ConnectionKey> for HashedKey {
    fn from(key: ConnectionKey) -> HashedKey {
        // One for the process, because pools are shared by threads; random, because hosts are chosen by
        // others.
        static SEED: LockFreeOnce<RandomState> = LockFreeOnce::new();
        let hash = SEED.get(RandomState::new).hash_one(&key);
        let files = key.files().into();
        HashedKey(Arc::new(Keyed { hash, key, files }))
    }
}

impl HashedKey {
    /// Returns whether the files of the key are as they were. If one is not, the key is of no more use.
    pub fn is_current(&self) -> bool {
        self.0.files.iter().all(NamedFile::is_current)
    }

    /// Returns whether this key may stand for an equal one: their files are named in the same words. A
    /// relative name leads to another file once the working folder is another; an absolute one does not.
    pub fn may_replace(&self, equal: &HashedKey) -> bool {
        self.0.files.iter().map(NamedFile::given).eq(equal.0.files.iter().map(NamedFile::given))
    }
}

impl Deref for HashedKey {
    type Target = ConnectionKey;

    fn deref(&self) -> &ConnectionKey {
        &self.0.key
    }
}

impl PartialEq for HashedKey {
    /// Compares pointers first: a handle that asks again with the key of its last connection needs no more.
    fn eq(&self, other: &HashedKey) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.hash == other.0.hash && self.0.key == other.0.key
    }
}

impl Eq for HashedKey {}

impl Hash for HashedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl Hash for ConnectionKey {
    /// Hashes protocol and origin, and of the other terms those that differ from the default: each value
    /// takes SipHash some 60 instructions, and most connections have three terms of the seventeen.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ConnectionKey {
            protocol,
            connect_only,
            origin,
            transport,
            tls,
            proxies,
            connect_to,
            ip_version,
            pins,
            zone,
            resolver,
            socket,
            unix,
            haproxy,
            login,
            by_ticket,
            owner,
        } = self;
        protocol.hash(state);
        origin.hash(state);
        hash_unusual(0, connect_only, state);
        hash_unusual(1, transport, state);
        hash_unusual(2, tls, state);
        hash_unusual(3, proxies, state);
        hash_unusual(4, connect_to, state);
        hash_unusual(5, ip_version, state);
        hash_unusual(6, pins, state);
        hash_unusual(7, zone, state);
        hash_unusual(8, resolver, state);
        hash_unusual(9, socket, state);
        hash_unusual(10, unix, state);
        hash_unusual(11, haproxy, state);
        hash_unusual(12, login, state);
        hash_unusual(13, by_ticket, state);
        hash_unusual(14, owner, state);
    }
}

/// Hashes a term with its number, unless it is the default.
fn hash_unusual<T: Default + Hash + PartialEq, H: Hasher>(number: u8, term: &T, state: &mut H) {
    if *term != T::default() {
        number.hash(state);
        term.hash(state);
    }
}

impl ConnectionKey {
    /// Returns the scheme of the URLs that it serves. TLS counts if the connection begins with it.
    pub fn scheme_name(&self) -> &'static str {
        let name = self.protocol.name();
        if self.tls.is_none() || self.protocol.may_start_tls() {
            return name;
        }
        let family = Scheme::from_name(name).map(Scheme::family);
        let by_tls = Scheme::ALL.iter().find(|scheme| scheme.tls() && Some(scheme.family()) == family);
        by_tls.map_or(name, |scheme| scheme.name())
    }

    /// Returns the files that decide who the peer is and who is logged in. One that is not as it was makes
    /// another key.
    pub fn files(&self) -> Vec<NamedFile> {
        let doh = self.resolver.over_https.as_ref().map(|doh| &doh.tls);
        let of_proxies = self.proxies.iter().filter_map(|proxy| proxy.tls.as_ref());
        let configs = self.tls.iter().chain(of_proxies).chain(doh);
        let sockets = self.unix.iter().chain(self.proxies.iter().filter_map(|proxy| proxy.unix.as_ref()));
        let ssh = match &self.protocol {
            Protocol::Ssh(terms) => terms.files(),
            _ => Vec::new(),
        };
        let mut files: Vec<NamedFile> = configs.flat_map(|config| config.files()).cloned().collect();
        files.extend(sockets.filter_map(UnixSocket::file).cloned());
        files.extend(ssh.into_iter().cloned());
        files
    }

    /// Returns the terms on which a reply depends besides its URL: who is reached, by way of whom, how each
    /// is verified, and who is logged in. Left out are the origin, which the URL names, how bytes travel, and
    /// what holds in this process alone.
    pub fn of_replies(&self) -> ConnectionKey {
        let ConnectionKey {
            protocol,
            connect_only,
            origin: _,
            transport: _,
            tls,
            proxies,
            connect_to,
            ip_version: _,
            pins,
            zone,
            resolver,
            socket,
            unix,
            haproxy,
            login,
            by_ticket: _,
            owner: _,
        } = self.clone();
        let of_replies = |tls: Option<Arc<TlsConfig>>| tls.map(|tls| Arc::new(tls.of_replies()));
        let proxies = proxies.into_iter().map(|proxy| ProxyTerms {
            tls: of_replies(proxy.tls),
            tunnel: proxy.tunnel.map(|tunnel| TunnelTerms { to: Origin::default(), ..tunnel }),
            ..proxy
        });
        ConnectionKey {
            protocol: match protocol {
                Protocol::Http(_) => Protocol::default(),
                other => other,
            },
            connect_only,
            tls: of_replies(tls),
            proxies: proxies.collect(),
            connect_to,
            pins,
            zone,
            resolver,
            socket: SocketOptions {
                local: LocalBinding { port: 0, port_range: 0, ..socket.local },
                // A reply that was stored without the policy may come from an address that it refuses.
                guard: socket.guard,
                ..SocketOptions::default()
            },
            unix,
            haproxy,
            login,
            ..ConnectionKey::default()
        }
    }

    /// Whether it means the same in another process. Functions, handles and modules of this one do not, nor
    /// does somebody whose name is not known.
    pub fn is_portable(&self) -> bool {
        let of_proxies = self.proxies.iter().filter_map(|proxy| proxy.tls.as_ref());
        let ours = |config: &Arc<TlsConfig>| !config.backend.is_unchanged();
        self.owner.is_none()
            && !self.by_ticket
            && !self.is_judged()
            && !self.tls.iter().chain(of_proxies).any(ours)
    }

    /// Whether the application's functions judged the server's SSH key.
    pub fn is_judged(&self) -> bool {
        matches!(&self.protocol, Protocol::Ssh(terms) if terms.judge.is_some())
    }
}

impl SshTerms {
    fn files(&self) -> Vec<&NamedFile> {
        let named = [&self.private_key, &self.public_key, &self.agent, &self.known_hosts];
        named.into_iter().flatten().chain(&self.usual_keys).collect()
    }
}

impl Protocol {
    /// The name of its family in lower case; TLS does not change it.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Http(_) => Family::Http.name(),
            Protocol::WebSocket => Family::Ws.name(),
            Protocol::Rtsp => Family::Rtsp.name(),
            Protocol::Ftp(_) => Family::Ftp.name(),
            Protocol::Ssh(_) => Family::Ssh.name(),
            Protocol::Imap(_) => Family::Imap.name(),
            Protocol::Pop3(_) => Family::Pop3.name(),
            Protocol::Smtp(_) => Family::Smtp.name(),
            Protocol::Ldap(_) => Family::Ldap.name(),
            Protocol::Other(family) => family.name(),
        }
    }

    /// Returns whether a connection that begins in clear text may ask for TLS.
    fn may_start_tls(&self) -> bool {
        match self {
            Protocol::Ftp(FtpTerms { start_tls, .. })
            | Protocol::Imap(start_tls)
            | Protocol::Pop3(start_tls)
            | Protocol::Smtp(start_tls)
            | Protocol::Ldap(start_tls) => start_tls.0 != 0,
            Protocol::Http(_)
            | Protocol::WebSocket
            | Protocol::Rtsp
            | Protocol::Ssh(_)
            | Protocol::Other(_) => false,
        }
    }
}

impl Default for Protocol {
    fn default() -> Protocol {
        Protocol::Http(HttpStart::default())
    }
}

impl ProxyKind {
    /// The kind that a URL of this scheme names, of the schemes that only proxies have.
    pub fn of_scheme(name: &str) -> Option<ProxyKind> {
        Some(match name {
            "socks5h" => ProxyKind::Socks5h,
            "socks5" => ProxyKind::Socks5,
            "socks4a" => ProxyKind::Socks4a,
            "socks4" | "socks" => ProxyKind::Socks4,
            _ => return None,
        })
    }

    /// Whether it passes bytes without understanding them.
    pub fn is_socks(self) -> bool {
        matches!(self, ProxyKind::Socks4 | ProxyKind::Socks4a | ProxyKind::Socks5 | ProxyKind::Socks5h)
    }
}

impl UserPassword {
    pub fn new(user: impl Into<SecretBytes>, password: impl Into<SecretBytes>) -> UserPassword {
        UserPassword { user: user.into(), password: password.into() }
    }
}

impl Login {
    /// Whether a Kerberos ticket proves it.
    pub fn is_by_ticket(&self) -> bool {
        match self {
            Login::Session(_) => false,
            Login::Requests(login) => login.server.as_ref().is_some_and(
                |server| matches!(&server.method, ConnectionAuth::Negotiate(terms) if terms.user.is_none()),
            ),
        }
    }
}

impl Origin {
    /// Creates an origin in the form in which hosts are compared.
    pub fn new(host: &str, port: u16) -> Origin {
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_lower = !host.bytes().any(|byte| byte.is_ascii_uppercase());
        Origin { host: if is_lower { host.into() } else { host.to_ascii_lowercase().into() }, port }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}
