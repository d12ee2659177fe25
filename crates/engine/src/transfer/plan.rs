//! The way to the origin of a URL, as the settings describe it: host, proxy, TLS, and the identity of a connection that follows
//! it. Anything that could make a difference to the peer is part of the identity.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use net::Pool;
use net::filter::open::{KeepAlive, LocalBinding, SocketOptions, Transport, UnixSocket};
use net::http3;
use net::identity::{
    FtpTerms, HaproxyAddress, HttpStart, Identity, Key, Login as BoundLogin, Origin, Owner, Protocol,
    ProxyIdentity, SessionLogin, SshTerms, StartTls, TunnelMethod, TunnelTerms, UserPassword, Zone,
};
use net::resolver::{IpVersion, ResolveOptions, speaks_of};
use net::tls::ech::is_usable;
use net::tls::openssl;
use net::tls::{Backend, CaSource, CertSource, ClientCert, Ech, PinnedKey, TlsConfig, TlsVersion};
use net::{NamedFile, SecretBytes};
use tables::constant::{
    CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
    CURL_HTTP_VERSION_3, CURL_HTTP_VERSION_3ONLY, CURL_HTTP_VERSION_NONE, CURL_IPRESOLVE_V4,
    CURL_IPRESOLVE_V6, CURL_SSLVERSION_DEFAULT, CURL_SSLVERSION_SSLv2, CURL_SSLVERSION_SSLv3,
    CURL_SSLVERSION_TLSv1, CURL_SSLVERSION_TLSv1_0, CURL_SSLVERSION_TLSv1_1, CURL_SSLVERSION_TLSv1_2,
    CURL_SSLVERSION_TLSv1_3, CURLAUTH_NEGOTIATE, CURLHEADER_SEPARATE, CURLSSLOPT_NATIVE_CA,
    CURLSSLOPT_NO_PARTIALCHAIN,
};
use tables::scheme::{Family, Login};
use tables::{Code, EasyOption as O, Scheme};

use super::negotiate::ticket_terms;
use super::proxy::{Environment, Proxy, ProxyKind};
use super::secret::Role;
use super::{Handles, Route};
use crate::error::{Error, Result};
use crate::settings::ech::{EchWish, Mode};
use crate::settings::{HTTP2_BUILT, Settings, Text};
use crate::stores::altsvc::Alternative;

/// How to reach the origin of a transfer's URL.
#[derive(Clone)]
pub struct Plan {
    /// The identity that an idle connection must have to serve.
    pub identity: Key,
    /// Another identity that serves, if such a connection is open already: the origin has named a better way for new ones.
    pub opened: Option<Key>,
    /// Host that a direct connection leads to (after CURLOPT_CONNECT_TO), in the letters it was written with.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// They are an alternative service (RFC 7838).
    pub alternative: Option<Alternative>,
    /// The proxy, unless there is none or it is bypassed.
    pub proxy: Option<Box<Proxy>>,
    /// A SOCKS proxy on the way to the proxy (CURLOPT_PRE_PROXY).
    pub pre_proxy: Option<Box<Proxy>>,
    /// TLS to the origin from the first byte on.
    pub tls: Option<Arc<TlsConfig>>,
    /// Name look-up.
    pub resolve: ResolveOptions,
    /// HTTP/3 may be tried, and when is not decided yet: an HTTPS record of the host counts.
    pub heeds_records: bool,
}

/// The login that a connection is bound to, where a request authenticates the whole connection (NTLM, Negotiate). The handler
/// of the protocol names it.
#[derive(Default)]
pub struct Bound {
    /// The login that the connection must have been made for.
    pub to: Option<Box<BoundLogin>>,
    /// A login whose connections serve as well.
    pub perhaps: Option<Box<BoundLogin>>,
}

/// Returns the identity of a connection that is bound to a login.
pub fn belonging(identity: &Identity, login: BoundLogin) -> Key {
    let by_ticket = identity.by_ticket || login.is_by_ticket();
    Key::from(Identity { login: Some(login), by_ticket, ..identity.clone() })
}

impl Plan {
    /// Shares equal values with the pool: ten thousand transfers to one host have one identity between them, and one
    /// configuration of TLS.
    pub fn share(&mut self, pool: &Pool) {
        let known = pool.known(self.identity.clone());
        if !known.may_replace(&self.identity) {
            return;
        }
        self.identity = known;
        if self.tls == self.identity.tls {
            self.tls.clone_from(&self.identity.tls);
        }
    }

    /// Nothing stands between the socket and the origin.
    pub fn is_direct(&self) -> bool {
        let through = self.proxy.is_some() || self.pre_proxy.is_some() || self.identity.unix.is_some();
        !through && self.identity.haproxy.is_none()
    }

    /// Reads the settings for the current URL.
    pub fn of(t: &Route, environment: &Environment) -> Result<Plan> {
        let scheme = t.scheme();
        // Before the settings are held: what a .netrc file lacks is told to the application.
        let own = match scheme.login() {
            Login::Connection => super::login::given(t)?,
            _ => None,
        };
        let settings = t.easy.settings.borrow();
        let host = t.url.host_ascii().map_err(super::prepare::url_error)?;
        let host = String::from_utf8_lossy(&host).into_owned();
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(&host).to_owned();
        let port = t.url.port_or_default().unwrap_or_default();
        let unix = unix_socket(&settings);
        let (pre_proxy, mut proxy) = match unix {
            Some(_) => (None, None),
            None => super::proxy::choose(&settings, &scheme, &host, environment)?,
        };
        let told = connect_to(&settings, &host, port)?;
        let quic = quic(&settings, &scheme, unix.is_some(), pre_proxy.as_ref().or(proxy.as_ref()))?;
        let asked = alpn(&settings, &scheme, quic);
        let may_quic = may_quic(&settings, &scheme, unix.is_some() || pre_proxy.is_some() || proxy.is_some());
        let named = match &told {
            Some(_) => None,
            None => t.alternative(&host, port, &asked, may_quic),
        };
        let offered = named.as_ref().map(|to| to.offer(asked.clone()));
        let offer = offered.as_ref().unwrap_or(&asked);
        let upgraded = *offer != asked && named.as_ref().is_some_and(|to| !to.elsewhere);
        let alternative = named.filter(|to| to.elsewhere);
        let only_quic = offer.iter().all(|name| name == http3::ALPN) && !offer.is_empty();
        let tls = scheme.tls().then(|| tls_config(&settings, TlsPeer::Origin, offer.clone()));
        let tls = tls.transpose()?.map(Arc::new);
        let to = told.clone().or_else(|| alternative.as_ref().map(|to| (to.host.clone(), to.port)));
        let (to_host, to_port) = to.unwrap_or_else(|| (written(t.url.host(), &host), port));
        // A proxy that is handed URLs would find the host by its own means; a tunnel leads where it is told.
        if told.as_ref().is_some_and(|(name, to)| !name.eq_ignore_ascii_case(&host) || *to != port) {
            proxy.iter_mut().for_each(|proxy| proxy.tunnel = !proxy.kind.is_socks());
        }
        let mut socket = socket_options(&settings)?;
        if settings.long(O::Localport) > 0 {
            socket.local.port = settings.long(O::Localport) as u16;
            socket.local.port_range = settings.long(O::Localportrange).max(1) as u16;
        }
        let resolve = resolve_options(&settings, proxy.is_some(), &t.url);
        let forwarding = proxy.as_ref().filter(|p| p.forwards());
        let login = match scheme.login() {
            Login::Connection => Some(BoundLogin::Session(Box::new(session_login(&settings, own)))),
            // A connection of a protocol that logs in by request is nobody's, until the handler binds it.
            _ => None,
        };
        let to = Origin::new(&host, port);
        let proxies = pre_proxy.iter().chain(&proxy).map(|proxy| proxy.identity(t, &settings, &to)).collect();
        let tls_terms = match &tls {
            Some(tls) => Some(tls.clone()),
            None => starttls(&settings, &scheme)?,
        };
        let identity = Identity {
            protocol: protocol(t, &settings, &scheme, forwarding.is_some()),
            connect_only: settings.on(O::ConnectOnly).then(|| settings.long(O::ConnectOnly)),
            // A proxy that is asked by URL serves every origin on one connection.
            origin: match forwarding {
                Some(proxy) => Origin::new(&proxy.host, proxy.port),
                None => to,
            },
            transport: if only_quic { Transport::Udp } else { Transport::Tcp },
            tls: tls_terms,
            proxies,
            connect_to: (forwarding.is_none() && (!to_host.eq_ignore_ascii_case(&host) || to_port != port))
                .then(|| Origin::new(&to_host, to_port)),
            ip_version: resolve.ip_version,
            pins: pins(&settings, (&to_host, to_port), [&pre_proxy, &proxy].into_iter().flatten()),
            zone: zone(&settings, &t.url),
            resolver: super::look_up::terms(&settings),
            socket,
            unix,
            haproxy: haproxy(&settings),
            login,
            // Set on the connection that a ticket has opened.
            by_ticket: false,
            owner: t.easy.callbacks.sockets().map(|sockets| match sockets.kin() {
                Some(functions) => Owner::Kin(functions),
                None => Owner::Handle(t.easy.owner_number()),
            }),
        };
        let opened = tls.as_ref().filter(|_| upgraded).map(|tls| {
            let tls = Some(Arc::new(TlsConfig { alpn: asked, ..(**tls).clone() }));
            Key::from(Identity { tls, ..identity.clone() })
        });
        Ok(Plan {
            identity: Key::from(identity),
            opened,
            host: to_host,
            port: to_port,
            alternative,
            proxy: proxy.map(Box::new),
            pre_proxy: pre_proxy.map(Box::new),
            tls,
            resolve,
            heeds_records: may_quic && !upgraded && !only_quic,
        })
    }

    /// Whether a stream may serve a transfer along it.
    pub fn may_have_streams(&self) -> bool {
        self.is_ssh()
            || self.knows_http2()
            || self.asks_for_upgrade()
            || self.offers("h2")
            || self.offers(http3::ALPN)
            || self.forwarder_offers_http2()
    }

    /// Whether requests may be handed to the proxy in HTTP/2 (CURLPROXY_HTTPS2).
    fn forwarder_offers_http2(&self) -> bool {
        let tls = self.forwarder().and_then(|proxy| proxy.tls.as_ref());
        tls.is_some_and(|tls| tls.alpn.iter().any(|name| name == "h2"))
    }

    /// Whether QUIC is tried, and TCP beside it.
    pub fn quic(&self) -> Quic {
        match (self.offers(http3::ALPN), self.identity.transport) {
            (false, _) => Quic::No,
            (true, Transport::Udp) => Quic::Only,
            (true, Transport::Tcp) if self.tls.as_ref().is_some_and(|tls| tls.alpn[0] == http3::ALPN) => {
                Quic::First
            }
            (true, Transport::Tcp) => Quic::Second,
        }
    }

    /// The same where a record names what is spoken there, the best first: HTTP/3 has the place that it has there, and the last
    /// one when it was asked for and is not named (as in curl, of whose two attempts the record names the first).
    pub fn heeding(&self, named: &[Vec<u8>]) -> Option<Plan> {
        let tls = self.tls.as_ref().filter(|_| !named.is_empty())?;
        let place = |name: &str| named.iter().position(|one| one == name.as_bytes());
        let others = || tls.alpn.iter().filter(|name| *name != http3::ALPN);
        let quic = place(http3::ALPN);
        if quic.is_none() && !self.offers(http3::ALPN) {
            return None;
        }
        let first = quic.is_some() && others().filter_map(|name| place(name)).all(|other| quic < Some(other));
        let mut alpn: Vec<String> = others().cloned().collect();
        alpn.insert(if first { 0 } else { alpn.len() }, http3::ALPN.to_owned());
        Some(Plan { tls: Some(Arc::new(TlsConfig { alpn, ..(**tls).clone() })), ..self.clone() })
    }

    /// The same along TCP or along QUIC alone: each has its own to offer.
    pub fn tls_by(&self, transport: Transport) -> Option<Arc<TlsConfig>> {
        let tls = self.tls.as_ref()?;
        if self.quic() == Quic::No {
            return Some(tls.clone());
        }
        let fits = |name: &&String| (*name == http3::ALPN) == (transport == Transport::Udp);
        let alpn = tls.alpn.iter().filter(fits).cloned().collect();
        Some(Arc::new(TlsConfig { alpn, ..(**tls).clone() }))
    }

    fn offers(&self, protocol: &str) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.alpn.iter().any(|name| name == protocol))
    }

    /// Whether SSH is spoken, whose channels are its streams.
    pub fn is_ssh(&self) -> bool {
        matches!(self.identity.protocol, Protocol::Ssh(_))
    }

    /// Whether HTTP/2 is spoken without asking.
    pub fn knows_http2(&self) -> bool {
        matches!(self.identity.protocol, Protocol::Http(HttpStart::PriorKnowledge))
    }

    /// Whether requests of HTTP/1 ask the server for HTTP/2 (RFC 7540 §3.2).
    pub fn asks_for_upgrade(&self) -> bool {
        matches!(self.identity.protocol, Protocol::Http(HttpStart::Upgrade))
    }

    /// Returns the way for HTTP/1 alone: a server or the way of authentication demands HTTP/1.
    pub fn without_http2(&self) -> Plan {
        let mut identity = Identity::clone(&self.identity);
        identity.transport = Transport::Tcp;
        let offer = vec!["http/1.1".to_owned()];
        let tls = self.tls.as_ref().map(|tls| Arc::new(TlsConfig { alpn: offer, ..(**tls).clone() }));
        identity.tls = tls.clone().or(identity.tls);
        if self.knows_http2() || self.asks_for_upgrade() {
            identity.protocol = Protocol::default();
        }
        let mut proxy = self.proxy.clone();
        if self.forwarder_offers_http2() {
            let offer = vec!["http/1.1".to_owned()];
            let tls = proxy.as_ref().and_then(|proxy| proxy.tls.clone());
            let tls = tls.map(|tls| Arc::new(TlsConfig { alpn: offer, ..(*tls).clone() }));
            proxy.iter_mut().for_each(|proxy| proxy.tls.clone_from(&tls));
            identity.proxies.iter_mut().next_back().into_iter().for_each(|proxy| proxy.tls.clone_from(&tls));
        }
        Plan { identity: identity.into(), opened: None, tls, proxy, heeds_records: false, ..self.clone() }
    }

    /// The HTTP proxy that requests are handed to, unless it is a tunnel.
    pub fn forwarder(&self) -> Option<&Proxy> {
        self.proxy.as_deref().filter(|proxy| proxy.forwards())
    }
}

/// A host in the case of letters that the application chose: so it stands in messages and goes to proxies. An international
/// name has its ASCII form.
pub(super) fn written(host: Option<&[u8]>, ascii: &str) -> String {
    let host = host.and_then(|host| std::str::from_utf8(host).ok()).filter(|host| host.is_ascii());
    let host = host.map(|host| host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host));
    host.unwrap_or(ascii).to_owned()
}

/// Whether it is a WebSocket that a stream of HTTP/2 may carry, beside requests on the same connection.
fn is_on_stream(settings: &Settings, scheme: &Scheme) -> bool {
    let websocket = scheme.family() == Family::Ws && settings.websocket().http2;
    HTTP2_BUILT && websocket && settings.long(O::ConnectOnly) == 0
}

/// The protocol, and what it demands of a connection.
fn protocol(t: &Handles, settings: &Settings, scheme: &Scheme, forwards: bool) -> Protocol {
    let start_tls = StartTls(settings.long(O::UseSsl));
    match scheme.family() {
        Family::Http => Protocol::Http(http_start(settings, scheme, forwards)),
        Family::Ws if is_on_stream(settings, scheme) => {
            Protocol::Http(http_start(settings, scheme, forwards))
        }
        Family::Ws => Protocol::WebSocket,
        Family::Rtsp => Protocol::Rtsp,
        Family::Ftp => Protocol::Ftp(FtpTerms {
            start_tls,
            clear_command_channel: settings.long(O::FtpSslCcc),
            tls_command: settings.long(O::Ftpsslauth),
        }),
        Family::Ssh => Protocol::Ssh(Box::new(ssh_terms(t, settings))),
        Family::Imap => Protocol::Imap(start_tls),
        Family::Pop3 => Protocol::Pop3(start_tls),
        Family::Smtp => Protocol::Smtp(start_tls),
        Family::Ldap => Protocol::Ldap(start_tls),
        other @ (Family::Telnet
        | Family::Dict
        | Family::File
        | Family::Tftp
        | Family::Rtmp
        | Family::Gopher
        | Family::Smb
        | Family::Mqtt) => Protocol::Other(other),
    }
}

fn http_start(settings: &Settings, scheme: &Scheme, forwards: bool) -> HttpStart {
    match settings.long(O::HttpVersion) {
        _ if !speaks_http2(settings, scheme, forwards) => HttpStart::Negotiated,
        CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE => HttpStart::PriorKnowledge,
        // The connection may have become one of HTTP/2, which is not for transfers that want none.
        CURL_HTTP_VERSION_2_0 if !scheme.tls() && scheme.family() == Family::Http => HttpStart::Upgrade,
        _ => HttpStart::Negotiated,
    }
}

fn ssh_terms(t: &Handles, settings: &Settings) -> SshTerms {
    let file = |option| settings.text(option).filter(|name| !name.is_empty()).map(|name| path(name).into());
    let print = |option| settings.text(option).map(|print| print.to_vec());
    let private_key: Option<NamedFile> = file(O::SshPrivateKeyfile);
    SshTerms {
        usual_keys: match private_key {
            Some(_) => Vec::new(),
            None => super::usual_keys::usual_key_files().into_iter().map(NamedFile::from).collect(),
        },
        private_key,
        public_key: file(O::SshPublicKeyfile),
        passphrase: secret(settings, O::Keypasswd),
        agent: std::env::var_os("SSH_AUTH_SOCK").map(|name| PathBuf::from(name).into()),
        known_hosts: file(O::SshKnownhosts),
        host_md5: print(O::SshHostPublicKeyMd5),
        host_sha256: print(O::SshHostPublicKeySha256),
        methods: settings.long(O::SshAuthTypes),
        compression: settings.on(O::SshCompression),
        judge: t.easy.host_key_judge(),
    }
}

/// The entries of CURLOPT_RESOLVE that decide where this connection leads, or what a proxy is asked for.
fn pins<'a>(
    settings: &Settings,
    (host, port): (&str, u16),
    proxies: impl Iterator<Item = &'a Proxy>,
) -> Vec<Vec<u8>> {
    if !settings.is_set(O::Resolve) {
        return Vec::new();
    }
    let mut named = vec![(host.to_ascii_lowercase(), port)];
    named.extend(proxies.map(|proxy| (proxy.host.to_ascii_lowercase(), proxy.port)));
    let counts = |entry: &Text| {
        let entry = String::from_utf8_lossy(entry);
        named.iter().any(|(host, port)| speaks_of(&entry, host, *port))
    };
    let entries = settings.list(O::Resolve);
    entries.iter().filter(|entry| counts(entry)).map(|entry| entry.to_vec()).collect()
}

/// The TLS that FTP and mail are upgraded to. A connection that must be upgraded and one that need not are two things.
fn starttls(settings: &Settings, scheme: &Scheme) -> Result<Option<Arc<TlsConfig>>> {
    let wanted =
        settings.long(O::UseSsl) > 0 && scheme.login() == Login::Connection && scheme.family() != Family::Ssh;
    wanted.then(|| tls_config(settings, TlsPeer::Origin, Vec::new()).map(Arc::new)).transpose()
}

/// Who is logged in on a connection of a protocol that logs in once.
fn session_login(settings: &Settings, given: Option<super::login::Login>) -> SessionLogin {
    let plain = |option| settings.text(option).map(|text| text.to_vec());
    SessionLogin {
        user: given.map(|login| UserPassword::new(login.user, login.password)),
        options: plain(O::LoginOptions),
        account: secret(settings, O::FtpAccount),
        alternative: secret(settings, O::FtpAlternativeToUser),
        bearer: secret(settings, O::Xoauth2Bearer),
        authorization_id: secret(settings, O::SaslAuthzid),
        service: plain(O::ServiceName),
    }
}

fn haproxy(settings: &Settings) -> Option<HaproxyAddress> {
    // An address alone asks for the line, too. An empty one is the connection's.
    let client = settings.string(O::HaproxyClientIp);
    match client {
        Some(client) if !client.is_empty() => Some(HaproxyAddress::Client(client)),
        client => (settings.on(O::Haproxyprotocol) || client.is_some()).then_some(HaproxyAddress::Own),
    }
}

fn unix_socket(settings: &Settings) -> Option<UnixSocket> {
    let path = named(settings, O::UnixSocketPath).map(UnixSocket::Path);
    path.or_else(|| settings.text(O::AbstractUnixSocket).map(|name| UnixSocket::Abstract(name.to_vec())))
}

fn socket_options(settings: &Settings) -> Result<SocketOptions> {
    let seconds = |option| Duration::from_secs(settings.long(option).max(0) as u64);
    let local = match settings.string(O::Interface) {
        None => LocalBinding::default(),
        Some(text) => LocalBinding::parse(&text)
            .ok_or_else(|| Error::new(Code::BadFunctionArgument, "bad CURLOPT_INTERFACE"))?,
    };
    Ok(SocketOptions {
        nodelay: settings.on(O::TcpNodelay),
        keepalive: settings.on(O::TcpKeepalive).then(|| KeepAlive {
            idle: seconds(O::TcpKeepidle),
            interval: seconds(O::TcpKeepintvl),
            count: settings.long(O::TcpKeepcnt).max(0) as u32,
        }),
        local,
        fast_open: settings.on(O::TcpFastopen),
        send_buffer: None,
    })
}

fn zone(settings: &Settings, url: &wire::url::Url) -> Zone {
    match (url.zone_id(), settings.long(O::AddressScope)) {
        (Some(zone), _) => Zone::Name(zone.to_vec()),
        (None, 0) => Zone::None,
        (None, scope) => Zone::Scope(scope),
    }
}

fn resolve_options(settings: &Settings, proxy: bool, url: &wire::url::Url) -> ResolveOptions {
    let zone = url.zone_id().and_then(|z| std::str::from_utf8(z).ok()).and_then(net::resolver::zone_number);
    ResolveOptions {
        wildcards: false, // the entries of this handle say it
        ip_version: match settings.long(O::Ipresolve) {
            CURL_IPRESOLVE_V4 => IpVersion::V4,
            CURL_IPRESOLVE_V6 => IpVersion::V6,
            _ => IpVersion::Any,
        },
        ttl: match settings.long(O::DnsCacheTimeout) {
            -1 => None,
            n => Some(Duration::from_secs(n.max(0) as u64)),
        },
        shuffle: settings.on(O::DnsShuffleAddresses),
        proxy,
        scope_id: zone.unwrap_or(settings.long(O::AddressScope).max(0) as u32),
    }
}

/// CURLOPT_CONNECT_TO: "HOST:PORT:TO-HOST:TO-PORT", each part may be empty. `None` when no entry fits.
fn connect_to(settings: &Settings, host: &str, port: u16) -> Result<Option<(String, u16)>> {
    for entry in settings.list(O::ConnectTo).iter() {
        let text = String::from_utf8_lossy(entry);
        let Some((from_host, rest)) = split_host(&text) else { continue };
        let Some((from_port, rest)) = rest.split_once(':') else { continue };
        let same_host = from_host.is_empty() || from_host.eq_ignore_ascii_case(host);
        let same_port = from_port.is_empty() || from_port.parse() == Ok(port);
        // Brackets are for addresses alone.
        if !same_host || !same_port || text.starts_with('[') && !host.contains(':') {
            continue;
        }
        if rest.starts_with('[') && !rest.contains(']') {
            let text = format!("Invalid IPv6 address format in '{rest}'");
            return Err(Error::new(Code::SetoptOptionSyntax, text));
        }
        let (to_host, to_port) = split_host(rest).unwrap_or((rest, ""));
        let to_host = if to_host.is_empty() { host } else { to_host };
        let wrong = || {
            let text = format!("No valid port number in '{rest}'");
            Error::new(Code::SetoptOptionSyntax, text)
        };
        let to_port = if to_port.is_empty() { Ok(port) } else { to_port.parse().map_err(|_| wrong()) };
        return Ok(Some((to_host.to_owned(), to_port?)));
    }
    Ok(None)
}

/// "[::1]:rest" or "host:rest".
fn split_host(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            Some((host, rest.strip_prefix(':').unwrap_or(rest)))
        }
        None => text.split_once(':'),
    }
}

/// Whether QUIC is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quic {
    No,
    /// And TCP when it does not answer at once.
    First,
    /// When TCP does not.
    Second,
    Only,
}

/// What CURLOPT_HTTP_VERSION asks for, where it can be had; who wants nothing else hears why it can't.
fn quic(settings: &Settings, scheme: &Scheme, unix: bool, proxy: Option<&Proxy>) -> Result<Quic> {
    let wish = match settings.long(O::HttpVersion) {
        CURL_HTTP_VERSION_3 => Quic::First,
        CURL_HTTP_VERSION_3ONLY => Quic::Only,
        _ => return Ok(Quic::No),
    };
    let http = scheme.family() == tables::scheme::Family::Http;
    let (code, why) = match proxy {
        _ if !http => return Ok(Quic::No),
        _ if haproxy(settings).is_some() => return Ok(Quic::No),
        _ if unix => (Code::QuicConnectError, "HTTP/3 cannot be used over UNIX domain sockets"),
        _ if !scheme.tls() => (Code::UrlMalformat, "HTTP/3 requested for non-HTTPS URL"),
        Some(proxy) if proxy.kind.is_socks() => {
            (Code::UrlMalformat, "HTTP/3 is not supported over a SOCKS proxy")
        }
        Some(proxy) if !proxy.may_take_datagrams() => {
            (Code::UrlMalformat, "HTTP/3 is not supported over an HTTP/1.0 proxy")
        }
        _ if settings.long(O::ConnectOnly) != 0 => return Ok(Quic::No),
        _ if settings.is_for_openssl() => {
            (Code::NotBuiltIn, "HTTP/3 knows neither an SSL_CTX nor an engine of OpenSSL's")
        }
        _ => return Ok(wish),
    };
    if wish == Quic::Only { Err(Error::new(code, why)) } else { Ok(Quic::No) }
}

/// Whether HTTP/3 may be tried where an origin names it, though nobody has asked for it (CURLOPT_HTTP_VERSION: none of them).
fn may_quic(settings: &Settings, scheme: &Scheme, by_way_of: bool) -> bool {
    let version = settings.long(O::HttpVersion);
    let any = [CURL_HTTP_VERSION_NONE, CURL_HTTP_VERSION_3, CURL_HTTP_VERSION_3ONLY].contains(&version);
    let direct = !by_way_of && haproxy(settings).is_none() && settings.long(O::ConnectOnly) == 0;
    let direct = direct && !settings.is_for_openssl();
    let alpn = settings.on(O::SslEnableAlpn);
    any && direct && alpn && scheme.family() == Family::Http && scheme.tls()
}

fn alpn(settings: &Settings, scheme: &Scheme, quic: Quic) -> Vec<String> {
    let http = scheme.family().asks_by_http();
    if !http || !settings.on(O::SslEnableAlpn) {
        return Vec::new();
    }
    let itself = scheme.family() == tables::scheme::Family::Http || is_on_stream(settings, scheme);
    let streams = HTTP2_BUILT && itself && settings.long(O::ConnectOnly) == 0;
    let offer: &[&str] = match settings.long(O::HttpVersion) {
        // Many servers know no "http/1.0", and end a handshake that offers nothing else (RFC 7301 3.2).
        CURL_HTTP_VERSION_1_0 if itself => &["http/1.0", "http/1.1"],
        CURL_HTTP_VERSION_1_1 => &["http/1.1"],
        CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE if streams => &["h2"],
        _ if quic == Quic::Only => &[http3::ALPN],
        _ if quic == Quic::First => &[http3::ALPN, "h2", "http/1.1"],
        _ if streams => &["h2", "http/1.1"],
        _ => &["http/1.1"],
    };
    offer.iter().map(|name| (*name).to_owned()).collect()
}

/// Whether the server may be spoken to in HTTP/2 without TLS's agreement. A proxy that is handed URLs is not.
fn speaks_http2(settings: &Settings, scheme: &Scheme, forwards: bool) -> bool {
    let http = scheme.family() == tables::scheme::Family::Http || is_on_stream(settings, scheme);
    HTTP2_BUILT && http && !forwards && settings.long(O::ConnectOnly) == 0
}

/// The peer whose TLS options are read: each option of the origin has a twin for an HTTPS proxy in its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsPeer {
    /// The origin, or a server that speaks for it.
    Origin,
    /// An HTTPS proxy.
    Proxy,
}

impl TlsPeer {
    /// Returns the option of this peer; one without a twin counts for both.
    fn option(self, option: O) -> O {
        match self {
            TlsPeer::Origin => option,
            TlsPeer::Proxy => option.proxy_twin().unwrap_or(option),
        }
    }
}

/// The TLS configuration that the settings ask for.
pub fn tls_config(settings: &Settings, peer: TlsPeer, alpn: Vec<String>) -> Result<TlsConfig> {
    let (min_version, max_version) = tls_versions(settings.long(peer.option(O::Sslversion)))?;
    let options = settings.long(peer.option(O::SslOptions));
    let mut config = TlsConfig {
        backend: Backend::Rustls,
        min_version,
        max_version,
        verify_peer: settings.on(peer.option(O::SslVerifypeer)),
        verify_host: settings.on(peer.option(O::SslVerifyhost)),
        // There is no such option for a proxy.
        verify_status: peer == TlsPeer::Origin && settings.on(O::SslVerifystatus),
        ca: trust_anchors(settings, peer, options & CURLSSLOPT_NATIVE_CA != 0),
        ca_cache: match settings.long(O::CaCacheTimeout) {
            -1 => None,
            n => Some(Duration::from_secs(n.max(0) as u64)),
        },
        no_partial_chain: options & CURLSSLOPT_NO_PARTIALCHAIN != 0,
        crl: named(settings, peer.option(O::Crlfile)),
        issuer: source(settings, peer.option(O::Issuercert), peer.option(O::IssuercertBlob), "PEM"),
        client: client_cert(settings, peer),
        pinned_key: settings
            .text(peer.option(O::Pinnedpublickey))
            .map(|text| PinnedKey::parse(&text, |name| NamedFile::new(crate::sys::path(name)))),
        alpn,
        ech: if peer == TlsPeer::Origin { ech(settings, max_version)? } else { None },
        cipher_list: settings.string(peer.option(O::SslCipherList)),
        tls13_ciphers: settings.string(peer.option(O::Tls13Ciphers)),
        curves: settings.string(O::SslEcCurves),
        sigalgs: settings.string(O::SslSignatureAlgorithms),
        session_cache: settings.on(O::SslSessionidCache),
        certinfo: settings.on(O::Certinfo),
        key_log: std::env::var_os("SSLKEYLOGFILE").map(|name| {
            let name = PathBuf::from(name);
            std::path::absolute(&name).unwrap_or(name)
        }),
    };
    let (hook, module) = (settings.tls_hook(), settings.tls_module().cloned());
    let wanted = settings.is_for_openssl() || openssl::is_chosen() || openssl::is_needed(&config);
    if wanted && openssl::is_there() {
        config.backend = Backend::OpenSsl { hook, module };
    }
    Ok(config)
}

/// The TLS configuration of the server that names are asked of over HTTPS ([`super::over_https`]).
pub(super) fn doh_tls(settings: &Settings) -> TlsConfig {
    let peer = TlsPeer::Origin;
    let options = settings.long(peer.option(O::SslOptions));
    TlsConfig {
        verify_peer: settings.on(O::DohSslVerifypeer),
        verify_host: settings.on(O::DohSslVerifyhost),
        verify_status: settings.on(O::DohSslVerifystatus),
        ca: trust_anchors(settings, peer, options & CURLSSLOPT_NATIVE_CA != 0),
        no_partial_chain: options & CURLSSLOPT_NO_PARTIALCHAIN != 0,
        crl: named(settings, peer.option(O::Crlfile)),
        cipher_list: settings.string(peer.option(O::SslCipherList)),
        tls13_ciphers: settings.string(peer.option(O::Tls13Ciphers)),
        curves: settings.string(O::SslEcCurves),
        sigalgs: settings.string(O::SslSignatureAlgorithms),
        ..TlsConfig::default()
    }
}

/// What CURLOPT_ECH asks for. Without a list of its own, the name server's counts.
fn ech(settings: &Settings, max_version: TlsVersion) -> Result<Option<Ech>> {
    let Some(text) = settings.text(O::Ech) else { return Ok(None) };
    let EchWish { mode, list, outer_name } = EchWish::of(&text);
    let required = mode == Mode::Hard;
    let outer_name: Option<Arc<str>> = outer_name.map(|name| String::from_utf8_lossy(name).into());
    let Some(list) = list else {
        return Ok(match mode {
            Mode::Off => None,
            // TLS 1.2 knows none.
            Mode::Grease => (max_version >= TlsVersion::Tls13).then_some(Ech::Grease),
            Mode::Try | Mode::Hard => Some(Ech::Published { required, outer_name }),
        });
    };
    let list = wire::base64::decode(list).filter(|list| is_usable(list, outer_name.as_deref()));
    match (mode, list) {
        (Mode::Off, _) => Ok(None),
        (Mode::Grease, _) => Ok(Some(Ech::Grease)),
        (_, Some(list)) => Ok(Some(Ech::Offer { list: list.into(), outer_name })),
        (_, None) if required => Err(Error::from(Code::SslConnectError)),
        (_, None) => Ok(None),
    }
}

/// CURL_SSLVERSION_* and, in the upper half, CURL_SSLVERSION_MAX_*.
fn tls_versions(value: i64) -> Result<(TlsVersion, TlsVersion)> {
    let numbers = [
        (CURL_SSLVERSION_TLSv1_0, TlsVersion::Tls10),
        (CURL_SSLVERSION_TLSv1_1, TlsVersion::Tls11),
        (CURL_SSLVERSION_TLSv1_2, TlsVersion::Tls12),
        (CURL_SSLVERSION_TLSv1_3, TlsVersion::Tls13),
    ];
    let version = |n| numbers.iter().find(|(number, _)| *number == n).map(|(_, version)| *version);
    let (low, high) = (value & 0xffff, value >> 16);
    let min = if [CURL_SSLVERSION_DEFAULT, CURL_SSLVERSION_TLSv1].contains(&low) {
        TlsVersion::Tls12
    } else if [CURL_SSLVERSION_SSLv2, CURL_SSLVERSION_SSLv3].contains(&low) {
        return Err(Error::new(Code::SslConnectError, "SSL versions not supported"));
    } else {
        version(low).ok_or(Error::from(Code::SslConnectError))?
    };
    Ok((min, version(high).unwrap_or(TlsVersion::Tls13)))
}

fn trust_anchors(settings: &Settings, peer: TlsPeer, native: bool) -> Vec<CaSource> {
    let mut sources = Vec::new();
    if let Some(blob) = settings.text(peer.option(O::CainfoBlob)) {
        sources.push(CaSource::Blob(blob.to_vec().into()));
    }
    if let Some(file) = settings.text(peer.option(O::Cainfo)) {
        sources.push(CaSource::File(path(file).into()));
    }
    if let Some(folder) = settings.text(peer.option(O::Capath)) {
        sources.push(CaSource::Path(NamedFile::folder(path(folder))));
    }
    if sources.is_empty() || native {
        sources.push(CaSource::system());
    }
    sources
}

fn client_cert(settings: &Settings, peer: TlsPeer) -> Option<ClientCert> {
    let kind = |option| settings.string(option).unwrap_or_else(|| "PEM".to_owned());
    let (cert_type, key_type) = (kind(peer.option(O::Sslcerttype)), kind(peer.option(O::Sslkeytype)));
    Some(ClientCert {
        cert: source(settings, peer.option(O::Sslcert), peer.option(O::SslcertBlob), &cert_type)?,
        key: source(settings, peer.option(O::Sslkey), peer.option(O::SslkeyBlob), &key_type),
        password: secret(settings, peer.option(O::Keypasswd)),
        cert_type,
        key_type,
    })
}

/// A certificate or a key. One of type ENG or PROV has the name that its engine or provider knows.
fn source(settings: &Settings, name: O, blob: O, kind: &str) -> Option<CertSource> {
    if let Some(blob) = settings.text(blob) {
        return Some(CertSource::Blob(SecretBytes::from(&*blob)));
    }
    let in_module = ["ENG", "PROV"].iter().any(|module| kind.eq_ignore_ascii_case(module));
    match settings.text(name)? {
        name if in_module => Some(CertSource::Module(String::from_utf8_lossy(&name).into_owned())),
        name => Some(CertSource::File(path(name).into())),
    }
}

/// The file that an option names, as it is now.
fn named(settings: &Settings, option: O) -> Option<NamedFile> {
    settings.text(option).map(|name| path(name).into())
}

fn secret(settings: &Settings, option: O) -> Option<SecretBytes> {
    settings.text(option).map(|text| SecretBytes::from(&*text))
}

/// A file name that an option gave.
pub fn path(text: Text) -> PathBuf {
    crate::sys::path(&text).into_owned()
}

impl Proxy {
    /// The proxy as part of the identity of a connection to `to`.
    fn identity(&self, t: &Handles, settings: &Settings, to: &Origin) -> ProxyIdentity {
        let user = self.user.as_ref().or(self.password.as_ref()).map(|_| {
            let or_empty = |part: &Option<Vec<u8>>| part.clone().unwrap_or_default();
            UserPassword::new(or_empty(&self.user), or_empty(&self.password))
        });
        ProxyIdentity {
            kind: self.kind,
            origin: Origin::new(&self.host, self.port),
            tls: self.tls.clone(),
            unix: self.unix.clone(),
            tunnel: self.tunnel_method(t, settings).map(|method| TunnelTerms {
                to: to.clone(),
                user,
                method,
            }),
        }
    }

    fn tunnel_method(&self, t: &Handles, settings: &Settings) -> Option<TunnelMethod> {
        match self.kind {
            ProxyKind::Socks4 | ProxyKind::Socks4a => Some(TunnelMethod::Socks4),
            ProxyKind::Socks5 | ProxyKind::Socks5h => Some(super::socks::method(t)),
            _ => self.tunnel.then(|| {
                let auth = settings.long(O::Proxyauth);
                let ticket = (auth as u64 & CURLAUTH_NEGOTIATE != 0).then(|| ticket_terms(t, Role::Proxy));
                let lines = settings.list(own_lines(settings));
                let lines = lines.iter().map(|line| SecretBytes::from(&**line)).collect();
                TunnelMethod::Connect { auth, lines, ticket }
            }),
        }
    }
}

/// The option with the application's own lines for a proxy.
pub fn own_lines(settings: &Settings) -> O {
    let separate = settings.long(O::Headeropt) & CURLHEADER_SEPARATE != 0;
    if separate { O::Proxyheader } else { O::Httpheader }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_to_entries() {
        let mut s = Settings::default();
        let list = ["a:80:b:81", "[::1]:80::82", ":90:[::2]:"].map(|e| Text::from(e.as_bytes()));
        s.set_list(O::ConnectTo, Some(list.to_vec())).unwrap();
        let led = |host, port| connect_to(&s, host, port).unwrap();
        assert_eq!(led("A", 80), Some(("b".into(), 81)));
        assert_eq!(led("::1", 80), Some(("::1".into(), 82)));
        assert_eq!(led("c", 90), Some(("::2".into(), 90)));
        assert_eq!(led("c", 80), None);
        for faulty in ["::a:x", "::[::1:80"] {
            s.set_list(O::ConnectTo, Some(vec![Text::from(faulty.as_bytes())])).unwrap();
            assert_eq!(connect_to(&s, "c", 80).unwrap_err().code(), Code::SetoptOptionSyntax);
        }
    }
}
