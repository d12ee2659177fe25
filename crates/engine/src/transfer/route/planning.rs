//! Planning: makes the plan for a URL from the settings. Anything that could make a difference to the peer is
//! part of the connection key.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use net::connection_key::{
    ConnectionKey, FtpTerms, HaproxyAddress, HashedKey, HttpStart, Login as BoundLogin, Origin, Owner,
    Protocol, ProxyTerms, SessionLogin, SshTerms, StartTls, TunnelMethod, TunnelTerms, UserPassword, Zone,
};
use net::filter::open::{KeepAlive, LocalBinding, SocketOptions, Transport, UnixSocket};
use net::http3;
use net::resolver::{IpVersion, ResolveOptions, speaks_of};
use net::tls::TlsConfig;
use net::tls::backend::NOT_BY_QUIC;
use net::{NamedFile, SecretBytes};
use tables::constant::{
    CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
    CURL_HTTP_VERSION_3, CURL_HTTP_VERSION_3ONLY, CURL_HTTP_VERSION_NONE, CURL_IPRESOLVE_V4,
    CURL_IPRESOLVE_V6, CURLAUTH_NEGOTIATE,
};
use tables::scheme::{Family, Login};
use tables::{Code, EasyOption as O, Scheme};
use wire::policy::{Check, Guard};
use wire::url::Url;

use super::plan::{Plan, Quic, written};
use super::{Route, url};
use crate::error::{Error, Result};
use crate::settings::{HTTP2_BUILT, HTTP3_BUILT, Settings, Text, WITHOUT_HTTP3};
use crate::stores::altsvc::Alternative;
use crate::sys::path_buf;
use crate::transfer::credentials::given;
use crate::transfer::handles::Handles;
use crate::transfer::negotiate::ticket_terms;
use crate::transfer::proxy::{self, Environment, Proxy, ProxyKind, own_lines};
use crate::transfer::secret::Role;
use crate::transfer::tls_options::{named, origin_tls, secret};
use crate::transfer::{guard, look_up, socks, usual_keys};

/// The places that a connection leads to.
struct Ends {
    /// The origin of the URL.
    origin: Origin,
    /// The host that is connected to in its place (CURLOPT_CONNECT_TO, an alternative service), as it was
    /// written.
    host: String,
    port: u16,
    unix: Option<UnixSocket>,
    ip_version: IpVersion,
}

/// The versions of HTTP that are offered, and what an alternative service (RFC 7838) changes about them.
struct Offer {
    /// The offer by the settings alone.
    asked: Vec<String>,
    /// TLS to the origin with the final offer.
    tls: Option<Arc<TlsConfig>>,
    /// The alternative service, where it is at another place.
    alternative: Option<Alternative>,
    /// The origin has named a better version at its own place.
    upgraded: bool,
    only_quic: bool,
    may_quic: bool,
}

impl Offer {
    /// Reads the settings and, unless CURLOPT_CONNECT_TO decides (`fixed`), the alternative services of the
    /// origin.
    fn of(
        t: &Route,
        settings: &Settings,
        origin: &Origin,
        fixed: bool,
        (unix, first): (bool, Option<&Proxy>),
    ) -> Result<Offer> {
        let scheme = t.scheme();
        let quic = quic(settings, &scheme, unix, first)?;
        let asked = alpn(settings, &scheme, quic);
        let may_quic = may_quic(settings, &scheme, unix || first.is_some());
        let named = match fixed {
            true => None,
            false => t.alternative(&origin.host, origin.port, &asked, may_quic),
        };
        // The origin answers, too: a server must not be able to make requests to it fail.
        let guard = settings.guard();
        let allowed = |to: &Alternative| {
            let verdict = guard::check_place(&guard, &to.host, to.port, Check::AltSvc);
            verdict.inspect_err(|refusal| t.easy.explain_denial(refusal, None)).is_ok()
        };
        let named = named.filter(|to| !to.elsewhere || allowed(to));
        let offered = named.as_ref().map(|to| to.offer(asked.clone()));
        let offer = offered.as_ref().unwrap_or(&asked);
        let upgraded = *offer != asked && named.as_ref().is_some_and(|to| !to.elsewhere);
        let only_quic = offer.iter().all(|name| name == http3::ALPN) && !offer.is_empty();
        let tls = scheme.tls().then(|| origin_tls(&t.url.peer.origin().host, settings, offer.clone()));
        let tls = tls.transpose()?.map(Arc::new);
        let alternative = named.filter(|to| to.elsewhere);
        Ok(Offer { asked, tls, alternative, upgraded, only_quic, may_quic })
    }
}

impl Plan {
    /// Makes the plan for the current URL.
    pub fn of(t: &Route, environment: &Environment) -> Result<Plan> {
        let scheme = t.scheme();
        // Before the settings are borrowed: a note about a .netrc file calls the application.
        let login = match scheme.login() {
            Login::Connection => given(t)?,
            _ => None,
        };
        guard::check_url(t)?;
        let settings = t.easy.settings.borrow();
        let host = t.url.host_ascii().map_err(url::url_error)?;
        let host = String::from_utf8_lossy(&host);
        let host = unbracketed(&host);
        let port = t.url.port_or_default().unwrap_or_default();
        let unix = unix_socket(&settings);
        let (pre_proxy, mut proxy) = match unix {
            Some(_) => (None, None),
            None => proxy::choose(&settings, &scheme, host, environment)?,
        };
        let connect_to = connect_to(&settings, host, port)?;
        let origin = t.url.peer.origin().clone();
        let between = (unix.is_some(), pre_proxy.as_ref().or(proxy.as_ref()));
        let offer = Offer::of(t, &settings, &origin, connect_to.is_some(), between)?;
        // A proxy that is handed URLs would find the host by its own means; a tunnel leads to the given
        // place.
        if connect_to.as_ref().is_some_and(|(name, to)| !name.eq_ignore_ascii_case(host) || *to != port) {
            proxy.iter_mut().for_each(|proxy| proxy.tunnel = !proxy.kind.is_socks());
        }
        let to = connect_to.or_else(|| offer.alternative.as_ref().map(|to| (to.host.clone(), to.port)));
        let (to_host, to_port) = to.unwrap_or_else(|| (written(t.url.host(), host), port));
        let resolve = resolve_options(&settings, proxy.is_some(), &t.url);
        let ends = Ends { origin, host: to_host, port: to_port, unix, ip_version: resolve.ip_version };
        let key = connection_key(t, &settings, &ends, &offer, [&pre_proxy, &proxy], login)?;
        let opened = offer.tls.as_ref().filter(|_| offer.upgraded).map(|tls| {
            let tls = Some(Arc::new(TlsConfig { alpn: offer.asked, ..(**tls).clone() }));
            HashedKey::from(ConnectionKey { tls, ..key.clone() })
        });
        let protected = protected_key(t, &settings, &key, proxy.as_ref())?;
        let plan = Plan {
            key: HashedKey::from(key),
            opened,
            protected,
            host: ends.host,
            port: ends.port,
            alternative: offer.alternative,
            proxy: proxy.map(Box::new),
            pre_proxy: pre_proxy.map(Box::new),
            tls: offer.tls,
            resolve,
            for_data: false,
            heeds_records: offer.may_quic && !offer.upgraded && !offer.only_quic,
        };
        guard::check_route(&plan)?;
        Ok(plan)
    }
}

/// Returns the host of a URL for a comparison with exceptions; empty if it has no valid one.
pub(in crate::transfer) fn host_of(url: &Url) -> String {
    url.host_ascii().map(|host| unbracketed(&String::from_utf8_lossy(&host)).to_owned()).unwrap_or_default()
}

/// Removes the brackets of an IPv6 address.
fn unbracketed(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Returns the key of the connection: everything that could make a difference to the peer.
fn connection_key(
    t: &Route,
    settings: &Settings,
    ends: &Ends,
    offer: &Offer,
    [pre_proxy, proxy]: [&Option<Proxy>; 2],
    login: Option<crate::transfer::login::Login>,
) -> Result<ConnectionKey> {
    let scheme = t.scheme();
    let mut socket = socket_options(settings)?;
    socket.guard = settings.guard();
    if settings.long(O::LocalPort) > 0 {
        socket.local.port = settings.long(O::LocalPort) as u16;
        socket.local.port_range = settings.long(O::LocalPortRange).max(1) as u16;
    }
    let forwarding = proxy.as_ref().filter(|p| p.forwards());
    let origin = &ends.origin;
    let elsewhere = !ends.host.eq_ignore_ascii_case(&origin.host) || ends.port != origin.port;
    let proxies = pre_proxy.iter().chain(proxy);
    Ok(ConnectionKey {
        protocol: protocol(t, settings, &scheme, forwarding.is_some()),
        connect_only: settings.on(O::ConnectOnly).then(|| settings.long(O::ConnectOnly)),
        // A proxy that is asked by URL serves every origin on one connection.
        origin: match forwarding {
            Some(proxy) => Origin::new(&proxy.host, proxy.port),
            None => origin.clone(),
        },
        transport: if offer.only_quic { Transport::Udp } else { Transport::Tcp },
        tls: match &offer.tls {
            Some(tls) => Some(tls.clone()),
            None => starttls(t, settings, &scheme)?,
        },
        proxies: proxies.clone().map(|proxy| proxy.terms(t, settings, origin)).collect(),
        connect_to: (forwarding.is_none() && elsewhere).then(|| Origin::new(&ends.host, ends.port)),
        ip_version: ends.ip_version,
        pins: pins(settings, (&ends.host, ends.port), proxies),
        zone: zone(settings, &t.url),
        resolver: look_up::terms(settings),
        socket,
        unix: ends.unix.clone(),
        haproxy: haproxy(settings),
        login: match scheme.login() {
            Login::Connection => Some(BoundLogin::Session(Box::new(session_login(settings, login)))),
            // A connection of a protocol that logs in by request is nobody's, until the handler binds it.
            _ => None,
        },
        // Set on the connection that a ticket has opened.
        by_ticket: false,
        owner: t.easy.callbacks.sockets().map(|sockets| match sockets.kin() {
            Some(functions) => Owner::Kin(functions),
            None => Owner::Handle(t.easy.owner_number()),
        }),
    })
}

/// Returns the key of a connection with more protection than one in clear: ftps: also serves ftp:.
fn protected_key(
    t: &Route,
    settings: &Settings,
    key: &ConnectionKey,
    proxy: Option<&Proxy>,
) -> Result<Option<HashedKey>> {
    let forwards = proxy.is_some_and(Proxy::forwards);
    if forwards || t.scheme().family() != Family::Ftp || key.tls.is_some() {
        return Ok(None);
    }
    let tls = Some(Arc::new(origin_tls(&t.url.peer.origin().host, settings, Vec::new())?));
    Ok(Some(HashedKey::from(ConnectionKey { tls, ..key.clone() })))
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
            tls_command: settings.long(O::FtpSslAuth),
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
    let file =
        |option| settings.text(option).filter(|name| !name.is_empty()).map(|name| path_buf(&name).into());
    let print = |option| settings.text(option).map(|print| print.to_vec());
    let private_key: Option<NamedFile> = file(O::SshPrivateKeyFile);
    SshTerms {
        usual_keys: match private_key {
            Some(_) => Vec::new(),
            None => usual_keys::usual_key_files().into_iter().map(NamedFile::from).collect(),
        },
        private_key,
        public_key: file(O::SshPublicKeyFile),
        passphrase: secret(settings, O::KeyPasswd),
        agent: std::env::var_os("SSH_AUTH_SOCK").map(|name| PathBuf::from(name).into()),
        known_hosts: file(O::SshKnownHosts),
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

/// The TLS that FTP and mail are upgraded to. A connection that must be upgraded and one that need not are
/// two things.
fn starttls(t: &Route, settings: &Settings, scheme: &Scheme) -> Result<Option<Arc<TlsConfig>>> {
    let wanted =
        settings.long(O::UseSsl) > 0 && scheme.login() == Login::Connection && scheme.family() != Family::Ssh;
    wanted.then(|| origin_tls(&t.url.peer.origin().host, settings, Vec::new()).map(Arc::new)).transpose()
}

/// Returns the login of a connection of a protocol that logs in once.
fn session_login(settings: &Settings, given: Option<crate::transfer::login::Login>) -> SessionLogin {
    let plain = |option| settings.text(option).map(|text| text.to_vec());
    SessionLogin {
        user: given.map(|login| UserPassword::new(login.user, login.password)),
        options: plain(O::LoginOptions),
        account: secret(settings, O::FtpAccount),
        alternative: secret(settings, O::FtpAlternativeToUser),
        bearer: secret(settings, O::Xoauth2Bearer),
        authorization_id: secret(settings, O::SaslAuthzId),
        service: plain(O::ServiceName),
    }
}

fn haproxy(settings: &Settings) -> Option<HaproxyAddress> {
    // An address alone asks for the line, too. An empty one is the connection's.
    let client = settings.string(O::HaProxyClientIp);
    match client {
        Some(client) if !client.is_empty() => Some(HaproxyAddress::Client(client)),
        client => (settings.on(O::HaProxyProtocol) || client.is_some()).then_some(HaproxyAddress::Own),
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
        nodelay: settings.on(O::TcpNoDelay),
        keepalive: settings.on(O::TcpKeepAlive).then(|| KeepAlive {
            idle: seconds(O::TcpKeepIdle),
            interval: seconds(O::TcpKeepIntvl),
            count: settings.long(O::TcpKeepCnt).max(0) as u32,
        }),
        local,
        fast_open: settings.on(O::TcpFastOpen),
        send_buffer: None,
        guard: Guard::default(),
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
        ip_version: match settings.long(O::IpResolve) {
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

/// Returns what CURLOPT_HTTP_VERSION asks for, where it can be had. Where nothing else is wanted, it is an
/// error.
fn quic(settings: &Settings, scheme: &Scheme, unix: bool, proxy: Option<&Proxy>) -> Result<Quic> {
    let wish = match settings.long(O::HttpVersion) {
        CURL_HTTP_VERSION_3 => Quic::First,
        CURL_HTTP_VERSION_3ONLY => Quic::Only,
        _ => return Ok(Quic::No),
    };
    let http = scheme.family() == tables::scheme::Family::Http;
    let (code, why) = match proxy {
        _ if !http => return Ok(Quic::No),
        _ if !HTTP3_BUILT => (Code::NotBuiltIn, WITHOUT_HTTP3),
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
        _ if settings.needs_system_tls() => (Code::NotBuiltIn, NOT_BY_QUIC),
        _ => return Ok(wish),
    };
    if wish == Quic::Only { Err(Error::new(code, why)) } else { Ok(Quic::No) }
}

/// Whether HTTP/3 may be tried where an origin names it, though nobody has asked for it
/// (CURLOPT_HTTP_VERSION: none of them).
fn may_quic(settings: &Settings, scheme: &Scheme, by_way_of: bool) -> bool {
    let version = settings.long(O::HttpVersion);
    let any = [CURL_HTTP_VERSION_NONE, CURL_HTTP_VERSION_3, CURL_HTTP_VERSION_3ONLY].contains(&version);
    let direct = !by_way_of && haproxy(settings).is_none() && settings.long(O::ConnectOnly) == 0;
    let direct = direct && HTTP3_BUILT && !settings.needs_system_tls();
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

impl Proxy {
    /// The proxy as part of the key of a connection to `to`.
    fn terms(&self, t: &Handles, settings: &Settings, to: &Origin) -> ProxyTerms {
        let user = self.user.as_ref().or(self.password.as_ref()).map(|_| {
            let or_empty = |part: &Option<Vec<u8>>| part.clone().unwrap_or_default();
            UserPassword::new(or_empty(&self.user), or_empty(&self.password))
        });
        ProxyTerms {
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
            ProxyKind::Socks5 | ProxyKind::Socks5h => Some(socks::method(t)),
            _ => self.tunnel.then(|| {
                let auth = settings.long(O::ProxyAuth);
                let ticket = (auth as u64 & CURLAUTH_NEGOTIATE != 0).then(|| ticket_terms(t, Role::Proxy));
                let lines = settings.list(own_lines(settings));
                let lines = lines.iter().map(|line| SecretBytes::from(&**line)).collect();
                TunnelMethod::Connect { auth, lines, ticket }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::{begin, easy, lines, transfer};

    /// Runs `f` with these settings.
    fn with<R>(texts: &[(O, &str)], numbers: &[(O, i64)], f: impl FnOnce(&Settings) -> R) -> R {
        f(&easy(texts, numbers).0.settings.borrow())
    }

    fn some_proxy(text: &str, kind: i64) -> Proxy {
        with(&[(O::Proxy, text)], &[(O::ProxyType, kind)], |settings| {
            proxy::choose(settings, &Scheme::Https, "host.test", &Environment::default()).unwrap().1.unwrap()
        })
    }

    #[test]
    fn versions_are_offered_by_alpn() {
        let of = |scheme: Scheme, version, quic, more: &[(O, i64)]| {
            let numbers = [&[(O::HttpVersion, version)], more].concat();
            with(&[], &numbers, |settings| alpn(settings, &scheme, quic).join(" "))
        };
        use tables::constant::CURL_HTTP_VERSION_2TLS;
        let rows = [
            ("RFC 7301 §3.2: what both know", Scheme::Https, CURL_HTTP_VERSION_2TLS, Quic::No, "h2 http/1.1"),
            ("CURL_HTTP_VERSION_1_1", Scheme::Https, CURL_HTTP_VERSION_1_1, Quic::No, "http/1.1"),
            ("CURL_HTTP_VERSION_1_0", Scheme::Https, CURL_HTTP_VERSION_1_0, Quic::No, "http/1.0 http/1.1"),
            ("prior knowledge", Scheme::Https, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, Quic::No, "h2"),
            ("CURL_HTTP_VERSION_3", Scheme::Https, CURL_HTTP_VERSION_3, Quic::First, "h3 h2 http/1.1"),
            ("CURL_HTTP_VERSION_3ONLY", Scheme::Https, CURL_HTTP_VERSION_3ONLY, Quic::Only, "h3"),
            ("RFC 6455 §4.1: a WebSocket", Scheme::Wss, CURL_HTTP_VERSION_NONE, Quic::No, "http/1.1"),
            ("RFC 8314 §3: mail offers none", Scheme::Imaps, CURL_HTTP_VERSION_NONE, Quic::No, ""),
        ];
        for (name, scheme, version, quic, wanted) in rows {
            assert_eq!(of(scheme, version, quic, &[]), wanted, "{name}");
        }
        let off = of(Scheme::Https, CURL_HTTP_VERSION_2TLS, Quic::No, &[(O::SslEnableAlpn, 0)]);
        assert_eq!(off, "", "CURLOPT_SSL_ENABLE_ALPN(3)");
        let by_hand = of(Scheme::Https, CURL_HTTP_VERSION_2TLS, Quic::No, &[(O::ConnectOnly, 1)]);
        assert_eq!(by_hand, "http/1.1", "CURLOPT_CONNECT_ONLY(3): the application speaks HTTP/1");
    }

    #[test]
    fn http3_that_cannot_be_had_fails_only_where_nothing_else_is_wanted() {
        let none = None::<(&str, i64)>;
        let (http, http10) = (Some(("http://p.test", 0)), Some(("http://p.test", 1)));
        let socks = Some(("socks5://p.test", 0));
        // The last column is the code if only HTTP/3 is allowed. Other versions never fail here.
        let rows = [
            ("RFC 9114 §3.1: https", Scheme::Https, none, false, Ok(Quic::Only)),
            ("RFC 9114 §3.1: http", Scheme::Http, none, false, Err(Code::UrlMalformat)),
            ("CURLOPT_UNIX_SOCKET_PATH(3)", Scheme::Https, none, true, Err(Code::QuicConnectError)),
            ("RFC 1928 §7: SOCKS", Scheme::Https, socks, false, Err(Code::UrlMalformat)),
            ("RFC 9298 §3: a proxy of HTTP/1.0", Scheme::Https, http10, false, Err(Code::UrlMalformat)),
            ("RFC 9298 §3: a proxy of HTTP/1.1", Scheme::Https, http, false, Ok(Quic::Only)),
            ("RFC 6455 §3: a WebSocket", Scheme::Wss, none, false, Ok(Quic::No)),
        ];
        for (name, scheme, by, unix, wanted) in rows {
            let proxy = by.map(|(text, kind)| some_proxy(text, kind));
            let of = |version| {
                with(&[], &[(O::HttpVersion, version)], |settings| {
                    quic(settings, &scheme, unix, proxy.as_ref()).map_err(|e| e.code())
                })
            };
            assert_eq!(of(CURL_HTTP_VERSION_3ONLY), wanted, "{name}: CURL_HTTP_VERSION_3ONLY");
            let perhaps = if wanted == Ok(Quic::Only) { Quic::First } else { Quic::No };
            assert_eq!(of(CURL_HTTP_VERSION_3), Ok(perhaps), "{name}: CURL_HTTP_VERSION_3");
            assert_eq!(of(CURL_HTTP_VERSION_2_0), Ok(Quic::No), "{name}: nobody asks");
        }
    }

    #[test]
    fn an_origin_may_name_http3_where_any_version_is_wanted() {
        let of = |scheme: Scheme, numbers: &[(O, i64)], by_way_of| {
            with(&[], numbers, |settings| may_quic(settings, &scheme, by_way_of))
        };
        let any = (O::HttpVersion, CURL_HTTP_VERSION_NONE);
        let rows: [(_, _, &[(O, i64)], _, _); 8] = [
            ("RFC 7838 §2: https", Scheme::Https, &[any], false, true),
            ("RFC 7838 §2.1: http has no certificate", Scheme::Http, &[any], false, false),
            ("RFC 7838 §2: not through a proxy", Scheme::Https, &[any], true, false),
            (
                "CURLOPT_HTTP_VERSION(3): HTTP/2",
                Scheme::Https,
                &[(O::HttpVersion, CURL_HTTP_VERSION_2_0)],
                false,
                false,
            ),
            (
                "CURLOPT_HTTP_VERSION(3): HTTP/3",
                Scheme::Https,
                &[(O::HttpVersion, CURL_HTTP_VERSION_3)],
                false,
                true,
            ),
            ("CURLOPT_CONNECT_ONLY(3)", Scheme::Https, &[any, (O::ConnectOnly, 1)], false, false),
            ("CURLOPT_HAPROXYPROTOCOL(3)", Scheme::Https, &[any, (O::HaProxyProtocol, 1)], false, false),
            ("CURLOPT_SSL_ENABLE_ALPN(3)", Scheme::Https, &[any, (O::SslEnableAlpn, 0)], false, false),
        ];
        for (name, scheme, numbers, by_way_of, wanted) in rows {
            assert_eq!(of(scheme, numbers, by_way_of), wanted, "{name}");
        }
    }

    #[test]
    fn http2_without_tls_is_known_or_asked_for() {
        let of = |scheme: Scheme, version, forwards, more: &[(O, i64)]| {
            let numbers = [&[(O::HttpVersion, version)], more].concat();
            with(&[], &numbers, |settings| http_start(settings, &scheme, forwards))
        };
        use HttpStart::{Negotiated, PriorKnowledge, Upgrade};
        let prior = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
        let rows: [(_, _, _, _, &[(O, i64)], _); 7] = [
            ("RFC 9113 §3.3: prior knowledge", Scheme::Http, prior, false, &[], PriorKnowledge),
            ("RFC 7540 §3.2: an upgrade", Scheme::Http, CURL_HTTP_VERSION_2_0, false, &[], Upgrade),
            (
                "RFC 9113 §3.2: TLS agrees by ALPN",
                Scheme::Https,
                CURL_HTTP_VERSION_2_0,
                false,
                &[],
                Negotiated,
            ),
            ("CURLOPT_HTTP_VERSION(3): 1.1", Scheme::Http, CURL_HTTP_VERSION_1_1, false, &[], Negotiated),
            (
                "RFC 9110 §7.8: a proxy is another hop",
                Scheme::Http,
                CURL_HTTP_VERSION_2_0,
                true,
                &[],
                Negotiated,
            ),
            ("RFC 9113 §3.3: nor known of a proxy", Scheme::Http, prior, true, &[], Negotiated),
            ("CURLOPT_CONNECT_ONLY(3)", Scheme::Http, prior, false, &[(O::ConnectOnly, 1)], Negotiated),
        ];
        for (name, scheme, version, forwards, more, wanted) in rows {
            assert_eq!(of(scheme, version, forwards, more), wanted, "{name}");
        }
    }

    #[test]
    fn a_client_address_asks_for_the_haproxy_line() {
        let rows: [(_, Option<&str>, _, _); 5] = [
            ("CURLOPT_HAPROXYPROTOCOL(3): off", None, 0, None),
            ("CURLOPT_HAPROXYPROTOCOL(3): on", None, 1, Some(HaproxyAddress::Own)),
            (
                "CURLOPT_HAPROXY_CLIENT_IP(3)",
                Some("192.0.2.1"),
                0,
                Some(HaproxyAddress::Client("192.0.2.1".to_owned())),
            ),
            ("CURLOPT_HAPROXY_CLIENT_IP(3): an empty one", Some(""), 0, Some(HaproxyAddress::Own)),
            (
                "CURLOPT_HAPROXY_CLIENT_IP(3): goes first",
                Some("::1"),
                1,
                Some(HaproxyAddress::Client("::1".to_owned())),
            ),
        ];
        for (name, client, on, wanted) in rows {
            let texts: Vec<_> = client.map(|client| (O::HaProxyClientIp, client)).into_iter().collect();
            assert_eq!(with(&texts, &[(O::HaProxyProtocol, on)], haproxy), wanted, "{name}");
        }
    }

    #[test]
    fn the_zone_of_the_url_goes_before_the_option() {
        let url = |text: &str| wire::url::Url::parse(text.as_bytes(), 0).unwrap();
        let rows = [
            ("CURLOPT_ADDRESS_SCOPE(3): none", "http://[fe80::1]/", 0, Zone::None),
            ("CURLOPT_ADDRESS_SCOPE(3)", "http://[fe80::1]/", 3, Zone::Scope(3)),
            ("RFC 6874 §2: a zone", "http://[fe80::1%25eth0]/", 3, Zone::Name(b"eth0".to_vec())),
        ];
        for (name, text, scope, wanted) in rows {
            let found = with(&[], &[(O::AddressScope, scope)], |settings| zone(settings, &url(text)));
            assert_eq!(found, wanted, "{name}");
        }
    }

    #[test]
    fn look_ups_keep_to_one_version_and_to_their_age() {
        let of = |numbers: &[(O, i64)]| {
            let url = wire::url::Url::parse(b"http://host.test/", 0).unwrap();
            let found = with(&[], numbers, |settings| resolve_options(settings, false, &url));
            (found.ip_version, found.ttl, found.shuffle)
        };
        let minute = Some(Duration::from_secs(60));
        let rows: [(_, &[(O, i64)], _); 6] = [
            ("CURLOPT_DNS_CACHE_TIMEOUT(3): a minute", &[], (IpVersion::Any, minute, false)),
            (
                "CURLOPT_IPRESOLVE(3): V4",
                &[(O::IpResolve, CURL_IPRESOLVE_V4)],
                (IpVersion::V4, minute, false),
            ),
            (
                "CURLOPT_IPRESOLVE(3): V6",
                &[(O::IpResolve, CURL_IPRESOLVE_V6)],
                (IpVersion::V6, minute, false),
            ),
            (
                "CURLOPT_DNS_CACHE_TIMEOUT(3): for ever",
                &[(O::DnsCacheTimeout, -1)],
                (IpVersion::Any, None, false),
            ),
            (
                "CURLOPT_DNS_CACHE_TIMEOUT(3): never",
                &[(O::DnsCacheTimeout, 0)],
                (IpVersion::Any, Some(Duration::ZERO), false),
            ),
            (
                "CURLOPT_DNS_SHUFFLE_ADDRESSES(3)",
                &[(O::DnsShuffleAddresses, 1)],
                (IpVersion::Any, minute, true),
            ),
        ];
        for (name, numbers, wanted) in rows {
            assert_eq!(of(numbers), wanted, "{name}");
        }
    }

    #[test]
    fn entries_of_resolve_bind_only_the_hosts_they_name() {
        let of = |host: &str, port| {
            let easy = easy(&[], &[]);
            let entries = lines(&["a.test:80:127.0.0.1", "b.test:81:127.0.0.2", "-a.test:80"]);
            easy.0.settings.borrow_mut().set_list(O::Resolve, Some(entries)).unwrap();
            let settings = easy.0.settings.borrow();
            pins(&settings, (host, port), std::iter::empty()).len()
        };
        let rows = [
            ("CURLOPT_RESOLVE(3): the host; what takes an entry away leads nowhere", "a.test", 80, 1),
            ("CURLOPT_RESOLVE(3): in any case", "A.TEST", 80, 1),
            ("CURLOPT_RESOLVE(3): another port", "a.test", 81, 0),
            ("CURLOPT_RESOLVE(3): another host", "c.test", 80, 0),
        ];
        for (name, host, port, wanted) in rows {
            assert_eq!(of(host, port), wanted, "{name}");
        }
    }

    #[test]
    fn a_better_version_at_the_same_place_does_not_refuse_open_connections() {
        let plan =
            |texts: &[(O, &str)]| (*transfer("https://host.test/", texts, &[]).plan().unwrap()).clone();
        let usual = plan(&[]);
        assert!(usual.is_direct() && usual.opened.is_none() && usual.alternative.is_none(), "RFC 7838 §2");
        assert_eq!((&usual.host[..], usual.port), ("host.test", 443), "RFC 9110 §4.2.2");
        let through = plan(&[(O::Proxy, "p.test")]);
        assert!(!through.is_direct() && through.forwarder().is_none(), "RFC 9110 §9.3.6: a tunnel");
    }

    #[test]
    fn a_changed_file_changes_the_plan_of_the_next_request() {
        let file = std::env::temp_dir().join(format!("warmwire-plan-{}.pem", std::process::id()));
        std::fs::write(&file, "one").unwrap();
        let t = transfer("ftp://host.test/", &[(O::CaInfo, file.to_str().unwrap())], &[]);
        let first = t.plan().unwrap();
        std::fs::write(&file, "another").unwrap();
        assert!(Arc::ptr_eq(&first, &t.plan().unwrap()), "compared once for each request");
        t.begin_request();
        let second = t.plan().unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(first.key, second.key, "ftp: reads no such file");
        assert_ne!(first.protected, second.protected, "a connection by ftps: with this file is another");
    }

    #[test]
    fn connect_to_makes_a_proxy_a_tunnel() {
        let of = |entry: &str| {
            let texts = [(O::Url, "http://host.test/"), (O::Proxy, "p.test"), (O::NoProxy, "")];
            let easy = easy(&texts, &[]);
            easy.0.settings.borrow_mut().set_list(O::ConnectTo, Some(lines(&[entry]))).unwrap();
            let plan = begin(easy).plan().unwrap();
            (plan.host.clone(), plan.port, plan.forwarder().is_none())
        };
        let rows = [
            ("CURLOPT_CONNECT_TO(3): another host", "::a.test:81", ("a.test", 81, true)),
            ("CURLOPT_CONNECT_TO(3): the same place", "::host.test:80", ("host.test", 80, false)),
            ("CURLOPT_CONNECT_TO(3): for another host", "b.test::a.test:81", ("host.test", 80, false)),
        ];
        for (name, entry, (host, port, tunnel)) in rows {
            assert_eq!(of(entry), (host.to_owned(), port, tunnel), "{name}");
        }
    }

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
