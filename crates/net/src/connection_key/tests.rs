//! The terms of a connection: every field distinguishes keys, and the encoding is injective over
//! generated values.

use super::*;
use crate::filter::open::{KeepAlive, LocalBinding};
use crate::tls::{Backend, CaSource, CertSource, ClientCert, Ech, PinnedKey, TlsVersion};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;
use wire::policy::{Guard, Policy};

/// Every field, changed; a new field must be added here, or the test does not compile.
fn variants() -> Vec<ConnectionKey> {
    let base = ConnectionKey::default;
    let ConnectionKey {
        protocol: _,
        connect_only: _,
        origin: _,
        transport: _,
        tls: _,
        proxies: _,
        connect_to: _,
        ip_version: _,
        pins: _,
        zone: _,
        resolver: _,
        socket: _,
        unix: _,
        haproxy: _,
        login: _,
        by_ticket: _,
        owner: _,
    } = base();
    let unverified = TlsConfig { verify_peer: false, ..TlsConfig::default() };
    let path = UnixSocket::Path("/a".into());
    let proxy = |password: &str| ProxyTerms {
        kind: ProxyKind::Http,
        origin: Origin::new("p", 1),
        unix: None,
        tls: None,
        tunnel: Some(TunnelTerms {
            to: Origin::new("a", 1),
            user: Some(UserPassword::new("", password)),
            method: TunnelMethod::Socks4,
        }),
    };
    let named = |user: &str| {
        let user = Some(UserPassword::new(user, ""));
        Some(Login::Session(Box::new(SessionLogin { user, ..SessionLogin::default() })))
    };
    let resolver = ResolverTerms { servers: Some(b"1".to_vec()), ..ResolverTerms::default() };
    vec![
        ConnectionKey { protocol: Protocol::Http(HttpStart::PriorKnowledge), ..base() },
        ConnectionKey { protocol: Protocol::Ftp(FtpTerms::default()), ..base() },
        ConnectionKey { protocol: Protocol::Imap(StartTls(1)), ..base() },
        ConnectionKey { protocol: Protocol::Imap(StartTls(2)), ..base() },
        ConnectionKey { protocol: Protocol::Pop3(StartTls(2)), ..base() },
        ConnectionKey { connect_only: Some(1), ..base() },
        ConnectionKey { origin: Origin::new("a", 1), ..base() },
        ConnectionKey { origin: Origin::new("a", 2), ..base() },
        ConnectionKey { transport: Transport::Udp, ..base() },
        ConnectionKey { tls: Some(Arc::default()), ..base() },
        ConnectionKey { tls: Some(Arc::new(unverified)), ..base() },
        ConnectionKey { proxies: vec![proxy("a")], ..base() },
        ConnectionKey { proxies: vec![ProxyTerms { tls: Some(Arc::default()), ..proxy("a") }], ..base() },
        ConnectionKey { proxies: vec![proxy("b")], ..base() },
        ConnectionKey { proxies: vec![proxy("a"), proxy("a")], ..base() },
        ConnectionKey { proxies: vec![ProxyTerms { unix: Some(path.clone()), ..proxy("a") }], ..base() },
        ConnectionKey { proxies: vec![ProxyTerms { kind: ProxyKind::Https, ..proxy("a") }], ..base() },
        ConnectionKey { connect_to: Some(Origin::new("a", 1)), ..base() },
        ConnectionKey { ip_version: IpVersion::V6, ..base() },
        ConnectionKey { pins: vec![b"h:1:127.0.0.1".to_vec()], ..base() },
        ConnectionKey { zone: Zone::Name(b"1".to_vec()), ..base() },
        ConnectionKey { zone: Zone::Scope(1), ..base() },
        ConnectionKey { resolver, ..base() },
        ConnectionKey { socket: SocketOptions { nodelay: false, ..SocketOptions::default() }, ..base() },
        ConnectionKey {
            socket: SocketOptions { guard: Guard::default().for_data(), ..SocketOptions::default() },
            ..base()
        },
        ConnectionKey { socket: guarded("version 1"), ..base() },
        ConnectionKey { socket: guarded("version 1\ndeny port 1"), ..base() },
        ConnectionKey { socket: guarded(""), ..base() },
        ConnectionKey { unix: Some(path), ..base() },
        ConnectionKey { unix: Some(UnixSocket::Abstract(b"/a".to_vec())), ..base() },
        ConnectionKey { haproxy: Some(HaproxyAddress::Own), ..base() },
        ConnectionKey { haproxy: Some(HaproxyAddress::Client("1.1.1.1".into())), ..base() },
        ConnectionKey { login: Some(Login::Session(Box::default())), ..base() },
        ConnectionKey { login: Some(Login::Requests(Box::default())), ..base() },
        ConnectionKey { login: named("u"), ..base() },
        ConnectionKey { login: named(""), ..base() },
        ConnectionKey { by_ticket: true, ..base() },
        ConnectionKey { owner: Some(Owner::Handle(1)), ..base() },
        ConnectionKey { owner: Some(Owner::Handle(2)), ..base() },
        ConnectionKey { owner: Some(Owner::Kin([1, 2])), ..base() },
        ConnectionKey { owner: Some(Owner::Kin([1, 3])), ..base() },
        base(),
    ]
}

/// Keys that differ in one term have different hashes. A pool's table would search one bundle after
/// another otherwise.
#[test]
fn every_term_counts_in_the_hash() {
    let hash = |key: ConnectionKey| HashedKey::from(key).0.hash;
    let all: std::collections::HashSet<u64> = variants().into_iter().map(hash).collect();
    assert_eq!(all.len(), variants().len());
    for (a, b) in variants().into_iter().zip(variants()) {
        assert_eq!(hash(a), hash(b), "equal values");
    }
}

#[test]
fn differing_in_anything_is_being_different() {
    let all = variants();
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            assert_eq!(a == b, i == j, "{a:?} and {b:?}");
            assert_eq!(a.canonical_bytes() == b.canonical_bytes(), i == j, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn keys_are_compared_by_value() {
    for (i, a) in variants().into_iter().enumerate() {
        for (j, b) in variants().into_iter().enumerate() {
            assert_eq!(HashedKey::from(a.clone()) == HashedKey::from(b), i == j);
        }
    }
}

#[test]
fn hosts_have_one_form() {
    assert_eq!(Origin::new("Example.COM.", 80), Origin::new("example.com", 80));
    assert_eq!(Origin::new("[::1]", 80).to_string(), "[::1]:80");
}

/// `--pool-status` shows the scheme.
#[test]
fn the_scheme_says_whether_a_connection_begins_with_tls() {
    let name = |protocol, tls: bool| {
        ConnectionKey { protocol, tls: tls.then(Arc::default), ..ConnectionKey::default() }.scheme_name()
    };
    let ftp = |level| Protocol::Ftp(FtpTerms { start_tls: StartTls(level), ..FtpTerms::default() });
    assert_eq!((name(Protocol::default(), false), name(Protocol::default(), true)), ("http", "https"));
    assert_eq!(name(Protocol::WebSocket, true), "wss");
    assert_eq!((name(ftp(0), false), name(ftp(0), true)), ("ftp", "ftps"));
    // STARTTLS: such a connection begins in clear text.
    assert_eq!((name(ftp(3), true), name(Protocol::Imap(StartTls(1)), true)), ("ftp", "imap"));
    assert_eq!(name(Protocol::Other(Family::Mqtt), true), "mqtts");
    assert_eq!(name(Protocol::Other(Family::Dict), true), "dict");
}

#[test]
fn secrets_stay_out_of_debug_output() {
    let secret = UserPassword::new("u", "hunter2");
    let bytes = Vec::from("hunter2");
    let blob = CertSource::Blob(bytes.into());
    assert!(!format!("{secret:?} {blob:?}").contains("hunter2"));
}

/// Values out of a seed. Few of each sort, so that equal ones come up too, and texts that look like the ends,
/// lengths and marks of others.
struct Seed(u64);

const TEXTS: [&str; 8] = ["", "a", "b", "ab", "a\0", "\0", "\0\0\0\0\0\0\0\u{1}a", "\n"];

/// Socket options under a policy with this text.
fn guarded(text: &str) -> SocketOptions {
    let own = Some(Arc::new(Policy::parse("p", text.as_bytes())));
    SocketOptions { guard: Guard { own, ..Guard::default() }, ..SocketOptions::default() }
}

impl Seed {
    fn policy(&mut self) -> Arc<Policy> {
        match self.flag() {
            true => Arc::new(Policy::unreadable("p", "gone")),
            false => {
                Arc::new(Policy::parse("p", &[b"version 1\n# ".as_slice(), self.text().as_bytes()].concat()))
            }
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn option<T>(&mut self, make: impl FnOnce(&mut Seed) -> T) -> Option<T> {
        self.flag().then(|| make(self))
    }

    fn list<T>(&mut self, make: impl Fn(&mut Seed) -> T) -> Vec<T> {
        (0..self.below(3)).map(|_| make(self)).collect()
    }

    fn one<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    fn text(&mut self) -> String {
        self.one(&TEXTS).to_owned()
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.text().into_bytes()
    }

    fn secret(&mut self) -> SecretBytes {
        self.bytes().into()
    }

    fn number(&mut self) -> i64 {
        self.below(3) as i64
    }

    fn file(&mut self) -> NamedFile {
        NamedFile::new(PathBuf::from(["/a", "/b", "/", "/dev/null"][self.below(4) as usize]))
    }

    fn origin(&mut self) -> Origin {
        Origin { host: self.text().into(), port: self.below(3) as u16 }
    }

    fn user(&mut self) -> UserPassword {
        UserPassword { user: self.secret(), password: self.secret() }
    }

    fn unix(&mut self) -> UnixSocket {
        if self.flag() { UnixSocket::Path(self.file()) } else { UnixSocket::Abstract(self.bytes()) }
    }

    fn ticket(&mut self) -> TicketTerms {
        TicketTerms {
            service: self.text(),
            delegation: self.number(),
            cache: self.option(Seed::bytes),
            user: self.option(Seed::text),
        }
    }

    fn cert(&mut self) -> CertSource {
        match self.below(3) {
            0 => CertSource::File(self.file()),
            1 => CertSource::Blob(self.secret()),
            _ => CertSource::Module(self.text()),
        }
    }

    fn tls(&mut self) -> TlsConfig {
        let versions = [TlsVersion::Tls10, TlsVersion::Tls11, TlsVersion::Tls12, TlsVersion::Tls13];
        TlsConfig {
            backend: match self.flag() {
                true => Backend::Rustls,
                false => Backend::System { hook: self.option(|s| [s.below(2) as usize, 1]), module: None },
            },
            min_version: self.one(&versions),
            max_version: self.one(&versions),
            verify_peer: self.flag(),
            verify_host: self.flag(),
            verify_status: self.flag(),
            ca: self.list(|s| match s.below(4) {
                0 => CaSource::File(s.file()),
                1 => CaSource::Path(s.file()),
                2 => CaSource::Blob(s.bytes().into()),
                _ => CaSource::System(s.option(Seed::file)),
            }),
            ca_cache: self.option(|s| Duration::from_secs(s.below(2))),
            no_partial_chain: self.flag(),
            crl: self.option(Seed::file),
            issuer: self.option(Seed::cert),
            client: self.option(|s| ClientCert {
                cert: s.cert(),
                cert_type: s.text(),
                key: s.option(Seed::cert),
                key_type: s.text(),
                password: s.option(Seed::secret),
            }),
            pinned_key: self.option(|s| match s.flag() {
                true => PinnedKey::Hashes(s.text()),
                false => PinnedKey::File(s.file()),
            }),
            alpn: self.list(Seed::text),
            ech: self.option(|s| match s.below(3) {
                0 => Ech::Grease,
                1 => Ech::Offer { list: s.bytes().into(), outer_name: s.option(|s| s.text().into()) },
                _ => Ech::Published { required: s.flag(), outer_name: s.option(|s| s.text().into()) },
            }),
            cipher_list: self.option(Seed::text),
            tls13_ciphers: self.option(Seed::text),
            curves: self.option(Seed::text),
            sigalgs: self.option(Seed::text),
            session_cache: self.flag(),
            certinfo: self.flag(),
            key_log: self.option(|s| s.text().into()),
        }
    }

    fn protocol(&mut self) -> Protocol {
        let start_tls = StartTls(self.number());
        match self.below(10) {
            0 => Protocol::Http(self.one(&[
                HttpStart::Negotiated,
                HttpStart::PriorKnowledge,
                HttpStart::Upgrade,
            ])),
            1 => Protocol::WebSocket,
            2 => Protocol::Rtsp,
            3 => Protocol::Ftp(FtpTerms {
                start_tls,
                clear_command_channel: self.number(),
                tls_command: self.number(),
            }),
            4 => Protocol::Ssh(Box::new(SshTerms {
                private_key: self.option(Seed::file),
                public_key: self.option(Seed::file),
                usual_keys: self.list(Seed::file),
                passphrase: self.option(Seed::secret),
                agent: self.option(Seed::file),
                known_hosts: self.option(Seed::file),
                host_md5: self.option(Seed::bytes),
                host_sha256: self.option(Seed::bytes),
                methods: self.number(),
                compression: self.flag(),
                judge: self.option(|s| match s.flag() {
                    true => HostKeyJudge::Handle(s.below(2)),
                    false => HostKeyJudge::Functions([s.below(2) as usize, 1, 2, s.below(2) as usize]),
                }),
            })),
            5 => Protocol::Imap(start_tls),
            6 => Protocol::Pop3(start_tls),
            7 => Protocol::Smtp(start_tls),
            8 => Protocol::Ldap(start_tls),
            _ => Protocol::Other(self.one(&[Family::Dict, Family::Gopher, Family::Mqtt])),
        }
    }

    fn proxy(&mut self) -> ProxyTerms {
        ProxyTerms {
            kind: self.one(&[ProxyKind::Http, ProxyKind::Https3, ProxyKind::Socks4, ProxyKind::Socks5h]),
            origin: self.origin(),
            unix: self.option(Seed::unix),
            tls: self.option(|s| s.tls().into()),
            tunnel: self.option(|s| TunnelTerms {
                to: s.origin(),
                user: s.option(Seed::user),
                method: match s.below(3) {
                    0 => TunnelMethod::Connect {
                        auth: s.number(),
                        lines: s.list(Seed::secret),
                        ticket: s.option(Seed::ticket),
                    },
                    1 => TunnelMethod::Socks4,
                    _ => TunnelMethod::Socks5 { auth: s.number(), nec: s.flag(), ticket: s.ticket() },
                },
            }),
        }
    }

    fn login(&mut self) -> Login {
        match self.flag() {
            true => Login::Session(Box::new(SessionLogin {
                user: self.option(Seed::user),
                options: self.option(Seed::bytes),
                account: self.option(Seed::secret),
                alternative: self.option(Seed::secret),
                bearer: self.option(Seed::secret),
                authorization_id: self.option(Seed::secret),
                service: self.option(Seed::bytes),
            })),
            false => Login::Requests(Box::new(RequestLogin {
                server: self.option(|s| ServerLogin {
                    scheme: s.one(&[Scheme::Http, Scheme::Https]),
                    origin: s.origin(),
                    user: s.user(),
                    method: match s.flag() {
                        true => ConnectionAuth::Ntlm,
                        false => ConnectionAuth::Negotiate(s.ticket()),
                    },
                }),
                proxy: self.option(Seed::user),
            })),
        }
    }

    /// One field drawn anew, so that most pairs differ in little.
    fn change(&mut self, mut key: ConnectionKey) -> ConnectionKey {
        match self.below(17) {
            0 => key.protocol = self.protocol(),
            1 => key.connect_only = self.option(Seed::number),
            2 => key.origin = self.origin(),
            3 => key.transport = self.one(&[Transport::Tcp, Transport::Udp]),
            4 => key.tls = self.option(|s| s.tls().into()),
            5 => key.proxies = self.list(Seed::proxy),
            6 => key.connect_to = self.option(Seed::origin),
            7 => key.ip_version = self.one(&[IpVersion::Any, IpVersion::V4, IpVersion::V6]),
            8 => key.pins = self.list(Seed::bytes),
            9 => {
                key.zone = match self.below(3) {
                    0 => Zone::None,
                    1 => Zone::Name(self.bytes()),
                    _ => Zone::Scope(self.number()),
                }
            }
            10 => {
                key.resolver = ResolverTerms {
                    servers: self.option(Seed::bytes),
                    interface: self.option(Seed::bytes),
                    local_ip4: self.option(Seed::bytes),
                    local_ip6: self.option(Seed::bytes),
                    over_https: self.option(|s| DohTerms { url: s.bytes(), tls: s.tls().into() }),
                }
            }
            11 => {
                let second = |s: &mut Seed| Duration::from_secs(s.below(2));
                key.socket = SocketOptions {
                    nodelay: self.flag(),
                    keepalive: self.option(|s| KeepAlive {
                        idle: second(s),
                        interval: second(s),
                        count: s.below(2) as u32,
                    }),
                    local: LocalBinding {
                        device: self.option(Seed::text),
                        interface: self.option(Seed::text),
                        host: self.option(Seed::text),
                        port: self.below(2) as u16,
                        port_range: self.below(2) as u16,
                    },
                    fast_open: self.flag(),
                    send_buffer: self.option(|s| s.below(2) as usize),
                    guard: Guard {
                        process: self.option(Seed::policy),
                        own: self.option(Seed::policy),
                        of_data: self.flag(),
                    },
                }
            }
            12 => key.unix = self.option(Seed::unix),
            13 => {
                key.haproxy = self.option(|s| match s.flag() {
                    true => HaproxyAddress::Own,
                    false => HaproxyAddress::Client(s.text()),
                })
            }
            14 => key.login = self.option(Seed::login),
            15 => key.by_ticket = self.flag(),
            _ => {
                key.owner = self.option(|s| match s.flag() {
                    true => Owner::Handle(s.below(3)),
                    false => Owner::Kin([s.below(3) as usize, s.below(3) as usize]),
                })
            }
        }
        key
    }
}

/// Equal terms have equal bytes, and different ones never: over keys that differ in a field or two, and
/// over those with many.
#[test]
fn the_encoding_is_canonical_and_injective() {
    let mut seed = Seed(0x9e37_79b9_7f4a_7c15);
    let (mut by_bytes, mut by_value) = (HashMap::new(), HashMap::new());
    let mut key = ConnectionKey::default();
    let mut equal = 0;
    for round in 0..30_000 {
        let from = if round % 3 == 0 { ConnectionKey::default() } else { key };
        key = seed.change(from);
        let bytes = key.canonical_bytes().to_vec();
        if let Some(known) = by_bytes.insert(bytes.clone(), key.clone()) {
            assert_eq!(known, key, "one encoding of two values");
            equal += 1;
        }
        if let Some(known) = by_value.insert(key.clone(), bytes.clone()) {
            assert_eq!(known, bytes, "two encodings of one value");
        }
    }
    assert!(equal > 1_000 && by_bytes.len() > 10_000, "{equal} {}", by_bytes.len());
}

/// No encoding is a prefix of another one, so that the bytes behind a value are never read as a part of it.
#[test]
fn an_encoding_ends_where_its_value_does() {
    let mut seed = Seed(7);
    let mut key = ConnectionKey::default();
    let mut all: Vec<Vec<u8>> = Vec::new();
    for _ in 0..2_000 {
        key = seed.change(key);
        all.push(key.canonical_bytes().to_vec());
    }
    all.sort();
    all.dedup();
    assert!(all.windows(2).all(|pair| !pair[1].starts_with(&pair[0])));
}

/// How bytes travel and where the URL leads part no replies; everything else does.
#[test]
fn replies_depend_on_who_is_reached_and_how_that_is_verified() {
    let left_out = |one: &ConnectionKey| {
        let local = LocalBinding { port: 0, port_range: 0, ..one.socket.local.clone() };
        ConnectionKey {
            protocol: if let Protocol::Http(_) = one.protocol {
                Protocol::default()
            } else {
                one.protocol.clone()
            },
            origin: Origin::default(),
            transport: Transport::default(),
            ip_version: IpVersion::default(),
            socket: SocketOptions { local, guard: one.socket.guard.clone(), ..SocketOptions::default() },
            by_ticket: false,
            owner: None,
            ..one.clone()
        }
    };
    let base = ConnectionKey::default().of_replies();
    for one in variants() {
        let differs = left_out(&one) != ConnectionKey::default();
        assert_eq!(one.of_replies() != base, differs, "{one:?}");
        assert_eq!(one.of_replies().canonical_bytes() != base.canonical_bytes(), differs, "{one:?}");
    }
    let by = |change: fn(&mut TlsConfig)| {
        let mut config = TlsConfig::default();
        change(&mut config);
        ConnectionKey { tls: Some(Arc::new(config)), ..ConnectionKey::default() }.of_replies()
    };
    let usual = by(|_| {});
    assert_eq!(by(|tls| tls.alpn = vec!["h2".to_owned()]), usual);
    assert_eq!(by(|tls| (tls.session_cache, tls.certinfo) = (false, true)), usual);
    assert_ne!(by(|tls| tls.verify_peer = false), usual);
    assert_ne!(by(|tls| tls.crl = Some("/crl".into())), usual);
}

/// Where trust anchors come from counts, for the server and for the proxy.
#[test]
fn replies_depend_on_every_source_of_trust_anchors() {
    let with_anchors = |ca: CaSource, of_the_proxy: bool| {
        let config = Some(Arc::new(TlsConfig { ca: vec![ca], ..TlsConfig::default() }));
        let (tls, proxy) = if of_the_proxy { (None, config) } else { (config, None) };
        let proxies = vec![ProxyTerms {
            kind: ProxyKind::Https,
            origin: Origin::new("p", 1),
            unix: None,
            tls: proxy,
            tunnel: None,
        }];
        ConnectionKey { tls, proxies, ..ConnectionKey::default() }.of_replies()
    };
    let sources = [
        CaSource::File("/ca".into()),
        CaSource::File("/other".into()),
        CaSource::Path("/ca".into()),
        CaSource::Path("/other".into()),
        CaSource::Blob(b"a"[..].into()),
        CaSource::Blob(b"b"[..].into()),
        CaSource::System(None),
        CaSource::System(Some("/ca".into())),
        CaSource::System(Some("/other".into())),
    ];
    let mut seen = vec![ConnectionKey::default().of_replies()];
    for (source, of_the_proxy) in sources.iter().flat_map(|source| [(source, false), (source, true)]) {
        let one = with_anchors(source.clone(), of_the_proxy);
        assert!(!seen.contains(&one), "{source:?} {of_the_proxy}");
        let bytes = one.canonical_bytes();
        assert!(seen.iter().all(|other| other.canonical_bytes() != bytes), "{source:?} {of_the_proxy}");
        seen.push(one);
    }
}

#[test]
fn only_what_others_can_understand_is_portable() {
    let hooked =
        TlsConfig { backend: Backend::System { hook: Some([1, 2]), module: None }, ..TlsConfig::default() };
    let judged = SshTerms { judge: Some(HostKeyJudge::Functions([1, 2, 3, 4])), ..SshTerms::default() };
    assert!(ConnectionKey { tls: Some(Arc::default()), ..ConnectionKey::default() }.is_portable());
    for bound in [
        ConnectionKey { owner: Some(Owner::Handle(1)), ..ConnectionKey::default() },
        ConnectionKey { by_ticket: true, ..ConnectionKey::default() },
        ConnectionKey { tls: Some(Arc::new(hooked)), ..ConnectionKey::default() },
        ConnectionKey { protocol: Protocol::Ssh(Box::new(judged)), ..ConnectionKey::default() },
    ] {
        assert!(!bound.is_portable(), "{bound:?}");
    }
}
