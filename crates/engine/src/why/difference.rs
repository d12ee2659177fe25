//! The terms in which the keys of two connections differ, named by the options that set them. Values are not
//! shown: some are secrets.

use net::ConnectionKey;
use net::connection_key::{
    ConnectionAuth, FtpTerms, HaproxyAddress, Login, Protocol, ProxyTerms, RequestLogin, ResolverTerms,
    ServerLogin, SessionLogin, SshTerms, TunnelMethod, TunnelTerms, UserPassword,
};
use net::filter::open::{KeepAlive, LocalBinding, SocketOptions, UnixSocket};
use net::tls::{CaSource, CertSource, ClientCert, TlsConfig};
use tables::EasyOption as O;

/// A term of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The option that sets it.
    Option(O),
    /// A term that no option alone sets.
    Other(&'static str),
}

impl Term {
    /// Returns its name: that of the option, or a description.
    pub fn name(&self) -> String {
        match self {
            Term::Option(option) => format!("CURLOPT_{}", option.name()),
            Term::Other(text) => (*text).to_owned(),
        }
    }
}

/// The differences found so far.
#[derive(Default)]
struct Found(Vec<Term>);

impl Found {
    fn add(&mut self, term: Term) {
        if !self.0.contains(&term) {
            self.0.push(term);
        }
    }

    /// Names the option if the values differ.
    fn option<T: PartialEq + ?Sized>(&mut self, option: O, one: &T, other: &T) {
        if one != other {
            self.add(Term::Option(option));
        }
    }

    /// Describes a term if the values differ.
    fn compare<T: PartialEq + ?Sized>(&mut self, text: &'static str, one: &T, other: &T) {
        if one != other {
            self.add(Term::Other(text));
        }
    }
}

/// Returns the terms in which a wanted connection differs from an open one.
pub fn between(wanted: &ConnectionKey, open: &ConnectionKey) -> Vec<Term> {
    let mut found = Found::default();
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
    } = wanted;
    protocols(&mut found, protocol, &open.protocol);
    found.option(O::ConnectOnly, connect_only, &open.connect_only);
    found.compare("the host", origin, &open.origin);
    found.option(O::HttpVersion, transport, &open.transport);
    match (tls, &open.tls) {
        (Some(one), Some(other)) => tls_terms(&mut found, one, other, |option| option),
        (None, None) => {}
        _ if matches!(protocol, Protocol::Http(_) | Protocol::WebSocket) => {
            found.add(Term::Other("the scheme (with and without TLS)"));
        }
        _ => found.add(Term::Option(O::UseSsl)),
    }
    proxies_terms(&mut found, proxies, &open.proxies);
    found.option(O::ConnectTo, connect_to, &open.connect_to);
    found.option(O::IpResolve, ip_version, &open.ip_version);
    found.option(O::Resolve, pins, &open.pins);
    found.option(O::AddressScope, zone, &open.zone);
    resolver_terms(&mut found, resolver, &open.resolver);
    socket_terms(&mut found, socket, &open.socket);
    unix_terms(&mut found, unix.as_ref(), open.unix.as_ref());
    haproxy_terms(&mut found, haproxy.as_ref(), open.haproxy.as_ref());
    logins(&mut found, login.as_ref(), open.login.as_ref());
    found.compare("a Kerberos ticket that authenticated it", by_ticket, &open.by_ticket);
    found.compare("the application's socket functions (CURLOPT_OPENSOCKETFUNCTION)", owner, &open.owner);
    found.0
}

fn protocols(found: &mut Found, one: &Protocol, other: &Protocol) {
    match (one, other) {
        (Protocol::Http(one), Protocol::Http(other)) => found.option(O::HttpVersion, one, other),
        (Protocol::Ftp(one), Protocol::Ftp(other)) => {
            let FtpTerms { start_tls, clear_command_channel, tls_command } = one;
            found.option(O::UseSsl, start_tls, &other.start_tls);
            found.option(O::FtpSslCcc, clear_command_channel, &other.clear_command_channel);
            found.option(O::FtpSslAuth, tls_command, &other.tls_command);
        }
        (Protocol::Ssh(one), Protocol::Ssh(other)) => ssh_terms(found, one, other),
        (Protocol::Imap(one), Protocol::Imap(other))
        | (Protocol::Pop3(one), Protocol::Pop3(other))
        | (Protocol::Smtp(one), Protocol::Smtp(other))
        | (Protocol::Ldap(one), Protocol::Ldap(other)) => found.option(O::UseSsl, one, other),
        (one, other) => found.compare("the protocol", one, other),
    }
}

fn ssh_terms(found: &mut Found, one: &SshTerms, other: &SshTerms) {
    let SshTerms {
        private_key,
        public_key,
        usual_keys,
        passphrase,
        agent,
        known_hosts,
        host_md5,
        host_sha256,
        methods,
        compression,
        judge,
    } = one;
    found.option(O::SshPrivateKeyFile, private_key, &other.private_key);
    found.option(O::SshPublicKeyFile, public_key, &other.public_key);
    found.compare("the keys in ~/.ssh", usual_keys, &other.usual_keys);
    found.option(O::KeyPasswd, passphrase, &other.passphrase);
    found.compare("the agent (SSH_AUTH_SOCK)", agent, &other.agent);
    found.option(O::SshKnownHosts, known_hosts, &other.known_hosts);
    found.option(O::SshHostPublicKeyMd5, host_md5, &other.host_md5);
    found.option(O::SshHostPublicKeySha256, host_sha256, &other.host_sha256);
    found.option(O::SshAuthTypes, methods, &other.methods);
    found.option(O::SshCompression, compression, &other.compression);
    found.option(O::SshKeyFunction, judge, &other.judge);
}

/// Compares TLS configurations. `of` returns the option of the peer: an HTTPS proxy has its own.
fn tls_terms(found: &mut Found, one: &TlsConfig, other: &TlsConfig, of: impl Fn(O) -> O) {
    let TlsConfig {
        backend,
        min_version,
        max_version,
        verify_peer,
        verify_host,
        verify_status,
        ca,
        ca_cache,
        no_partial_chain,
        crl,
        issuer,
        client,
        pinned_key,
        alpn,
        ech,
        cipher_list,
        tls13_ciphers,
        curves,
        sigalgs,
        session_cache,
        certinfo,
        key_log,
    } = one;
    found.option(of(O::SslVersion), &(min_version, max_version), &(&other.min_version, &other.max_version));
    found.option(of(O::SslVerifyPeer), verify_peer, &other.verify_peer);
    found.option(of(O::SslVerifyHost), verify_host, &other.verify_host);
    found.option(of(O::SslVerifyStatus), verify_status, &other.verify_status);
    authorities(found, ca, &other.ca, &of);
    found.option(O::CaCacheTimeout, ca_cache, &other.ca_cache);
    found.option(of(O::SslOptions), no_partial_chain, &other.no_partial_chain);
    found.option(of(O::CrlFile), crl, &other.crl);
    let is_blob = |source: &Option<CertSource>| matches!(source, Some(CertSource::Blob(_)));
    let either = |name, blob, one, other| if is_blob(one) || is_blob(other) { of(blob) } else { of(name) };
    let option = either(O::IssuerCert, O::IssuerCertBlob, issuer, &other.issuer);
    found.option(option, issuer, &other.issuer);
    client_terms(found, client.as_ref(), other.client.as_ref(), &of);
    found.option(of(O::PinnedPublicKey), pinned_key, &other.pinned_key);
    let without = alpn.is_empty() || other.alpn.is_empty();
    found.option(if without { O::SslEnableAlpn } else { O::HttpVersion }, alpn, &other.alpn);
    found.option(O::Ech, ech, &other.ech);
    found.option(of(O::SslCipherList), cipher_list, &other.cipher_list);
    found.option(of(O::Tls13Ciphers), tls13_ciphers, &other.tls13_ciphers);
    found.option(O::SslEcCurves, curves, &other.curves);
    found.option(O::SslSignatureAlgorithms, sigalgs, &other.sigalgs);
    found.option(O::SslSessionIdCache, session_cache, &other.session_cache);
    found.option(O::CertInfo, certinfo, &other.certinfo);
    found.compare("the key log (SSLKEYLOGFILE)", key_log, &other.key_log);
    if found.0.is_empty() {
        found.compare(
            "the TLS library, or a function that changes it (CURLOPT_SSL_CTX_FUNCTION)",
            backend,
            &other.backend,
        );
    }
}

fn authorities(found: &mut Found, one: &[CaSource], other: &[CaSource], of: impl Fn(O) -> O) {
    let option = |source: &CaSource| match source {
        CaSource::File(_) => O::CaInfo,
        CaSource::Path(_) => O::CaPath,
        CaSource::Blob(_) => O::CaInfoBlob,
        CaSource::System(_) => O::SslOptions,
    };
    let unknown = |source: &&CaSource, list: &[CaSource]| !list.contains(source);
    let new: Vec<&CaSource> = one
        .iter()
        .filter(|source| unknown(source, other))
        .chain(other.iter().filter(|source| unknown(source, one)))
        .collect();
    // The system's bundle counts where no option names another one.
    let named: Vec<O> = new.iter().map(|source| option(source)).filter(|o| *o != O::SslOptions).collect();
    match (new.is_empty(), named.is_empty()) {
        (true, _) => found.compare("the order of the certificate authorities", one, other),
        (_, true) => found.add(Term::Option(of(O::SslOptions))),
        (_, false) => named.into_iter().for_each(|option| found.add(Term::Option(of(option)))),
    }
}

fn client_terms(
    found: &mut Found,
    one: Option<&ClientCert>,
    other: Option<&ClientCert>,
    of: impl Fn(O) -> O,
) {
    let option = |source: &CertSource, name, blob| match source {
        CertSource::Blob(_) => of(blob),
        CertSource::File(_) | CertSource::Module(_) => of(name),
    };
    let (one, other) = match (one, other) {
        (Some(one), Some(other)) => (one, other),
        (None, None) => return,
        (Some(only), None) | (None, Some(only)) => {
            return found.add(Term::Option(option(&only.cert, O::SslCert, O::SslCertBlob)));
        }
    };
    let ClientCert { cert, cert_type, key, key_type, password } = one;
    found.option(option(cert, O::SslCert, O::SslCertBlob), cert, &other.cert);
    found.option(of(O::SslCertType), cert_type, &other.cert_type);
    if let Some(source) = key.as_ref().or(other.key.as_ref()) {
        found.option(option(source, O::SslKey, O::SslKeyBlob), key, &other.key);
    }
    found.option(of(O::SslKeyType), key_type, &other.key_type);
    found.option(of(O::KeyPasswd), password, &other.password);
}

fn proxies_terms(found: &mut Found, one: &[ProxyTerms], other: &[ProxyTerms]) {
    if one.len() != other.len() {
        let both = one.len() + other.len() == 3;
        return found.add(Term::Option(if both { O::PreProxy } else { O::Proxy }));
    }
    let last = one.len().saturating_sub(1);
    for (number, (one, other)) in one.iter().zip(other).enumerate() {
        let ProxyTerms { kind, origin, unix, tls, tunnel } = one;
        let address = if number < last { O::PreProxy } else { O::Proxy };
        found.option(O::ProxyType, kind, &other.kind);
        found.option(address, &(origin, unix), &(&other.origin, &other.unix));
        if let (Some(one), Some(other)) = (tls, &other.tls) {
            tls_terms(found, one, other, |option| option.proxy_twin().unwrap_or(option));
        }
        match (tunnel, &other.tunnel) {
            (Some(one), Some(other)) => tunnel_terms(found, one, other),
            (None, None) => {}
            _ => found.add(Term::Option(O::HttpProxyTunnel)),
        }
    }
}

fn tunnel_terms(found: &mut Found, one: &TunnelTerms, other: &TunnelTerms) {
    let TunnelTerms { to, user, method } = one;
    found.compare("the tunnel's end", to, &other.to);
    users(found, user.as_ref(), other.user.as_ref(), [O::ProxyUsername, O::ProxyPassword]);
    match (method, &other.method) {
        (
            TunnelMethod::Connect { auth, lines, ticket },
            TunnelMethod::Connect { auth: other_auth, lines: other_lines, ticket: other_ticket },
        ) => {
            found.option(O::ProxyAuth, auth, other_auth);
            found.option(O::ProxyHeader, lines, other_lines);
            if auth == other_auth {
                found.option(O::ProxyServiceName, ticket, other_ticket);
            }
        }
        (
            TunnelMethod::Socks5 { auth, nec, ticket },
            TunnelMethod::Socks5 { auth: other_auth, nec: other_nec, ticket: other_ticket },
        ) => {
            found.option(O::Socks5Auth, auth, other_auth);
            found.option(O::Socks5GssapiNec, nec, other_nec);
            found.option(O::ProxyServiceName, ticket, other_ticket);
        }
        (one, other) => found.option(O::ProxyType, one, other),
    }
}

fn resolver_terms(found: &mut Found, one: &ResolverTerms, other: &ResolverTerms) {
    let ResolverTerms { servers, interface, local_ip4, local_ip6, over_https } = one;
    found.option(O::DnsServers, servers, &other.servers);
    found.option(O::DnsInterface, interface, &other.interface);
    found.option(O::DnsLocalIp4, local_ip4, &other.local_ip4);
    found.option(O::DnsLocalIp6, local_ip6, &other.local_ip6);
    match (over_https, &other.over_https) {
        (Some(one), Some(other)) => {
            found.option(O::DohUrl, &one.url, &other.url);
            tls_terms(found, &one.tls, &other.tls, |option| match option {
                O::SslVerifyPeer => O::DohSslVerifyPeer,
                O::SslVerifyHost => O::DohSslVerifyHost,
                O::SslVerifyStatus => O::DohSslVerifyStatus,
                option => option,
            });
        }
        (one, other) => found.option(O::DohUrl, one, other),
    }
}

fn socket_terms(found: &mut Found, one: &SocketOptions, other: &SocketOptions) {
    let SocketOptions { nodelay, keepalive, local, fast_open, send_buffer, guard } = one;
    found.option(O::TcpNoDelay, nodelay, &other.nodelay);
    match (keepalive, &other.keepalive) {
        (Some(KeepAlive { idle, interval, count }), Some(other)) => {
            found.option(O::TcpKeepIdle, idle, &other.idle);
            found.option(O::TcpKeepIntvl, interval, &other.interval);
            found.option(O::TcpKeepCnt, count, &other.count);
        }
        (one, other) => found.option(O::TcpKeepAlive, one, other),
    }
    let LocalBinding { device, interface, host, port, port_range } = local;
    let of = &other.local;
    found.option(O::Interface, &(device, interface, host), &(&of.device, &of.interface, &of.host));
    found.option(O::LocalPort, port, &of.port);
    if port == &of.port {
        found.option(O::LocalPortRange, port_range, &of.port_range);
    }
    found.option(O::TcpFastOpen, fast_open, &other.fast_open);
    found.compare("the size of the send buffer", send_buffer, &other.send_buffer);
    found.compare("the policy", guard, &other.guard);
}

fn unix_terms(found: &mut Found, one: Option<&UnixSocket>, other: Option<&UnixSocket>) {
    let is_abstract = |socket: &UnixSocket| matches!(socket, UnixSocket::Abstract(_));
    let by_name = [one, other].into_iter().flatten().any(is_abstract);
    found.option(if by_name { O::AbstractUnixSocket } else { O::UnixSocketPath }, &one, &other);
}

fn haproxy_terms(found: &mut Found, one: Option<&HaproxyAddress>, other: Option<&HaproxyAddress>) {
    let is_client = |address: &HaproxyAddress| matches!(address, HaproxyAddress::Client(_));
    let by_client = [one, other].into_iter().flatten().any(is_client);
    found.option(if by_client { O::HaProxyClientIp } else { O::HaProxyProtocol }, &one, &other);
}

fn logins(found: &mut Found, one: Option<&Login>, other: Option<&Login>) {
    match (one, other) {
        (Some(Login::Session(one)), Some(Login::Session(other))) => session_login(found, one, other),
        (Some(Login::Requests(one)), Some(Login::Requests(other))) => request_login(found, one, other),
        (one, other) => {
            found.compare("a login by NTLM or Negotiate that holds for one connection", &one, &other)
        }
    }
}

fn session_login(found: &mut Found, one: &SessionLogin, other: &SessionLogin) {
    let SessionLogin { user, options, account, alternative, bearer, authorization_id, service } = one;
    users(found, user.as_ref(), other.user.as_ref(), [O::Username, O::Password]);
    found.option(O::LoginOptions, options, &other.options);
    found.option(O::FtpAccount, account, &other.account);
    found.option(O::FtpAlternativeToUser, alternative, &other.alternative);
    found.option(O::Xoauth2Bearer, bearer, &other.bearer);
    found.option(O::SaslAuthzId, authorization_id, &other.authorization_id);
    found.option(O::ServiceName, service, &other.service);
}

fn request_login(found: &mut Found, one: &RequestLogin, other: &RequestLogin) {
    let RequestLogin { server, proxy } = one;
    users(found, proxy.as_ref(), other.proxy.as_ref(), [O::ProxyUsername, O::ProxyPassword]);
    match (server, &other.server) {
        (Some(ServerLogin { scheme, origin, user, method }), Some(other)) => {
            found.compare(
                "the server that it is authenticated to",
                &(scheme, origin),
                &(&other.scheme, &other.origin),
            );
            users(found, Some(user), Some(&other.user), [O::Username, O::Password]);
            match (method, &other.method) {
                (ConnectionAuth::Negotiate(one), ConnectionAuth::Negotiate(other)) => {
                    found.option(O::ServiceName, one, other);
                }
                (one, other) => found.option(O::HttpAuth, one, other),
            }
        }
        (one, other) => {
            found.compare("a login by NTLM or Negotiate that holds for one connection", one, other)
        }
    }
}

/// Compares logins without showing them.
fn users(
    found: &mut Found,
    one: Option<&UserPassword>,
    other: Option<&UserPassword>,
    [user, password]: [O; 2],
) {
    match (one, other) {
        (Some(one), Some(other)) => {
            found.option(user, &one.user, &other.user);
            found.option(password, &one.password, &other.password);
        }
        (one, other) => found.option(user, &one, &other),
    }
}
