//! With client certificates, through another TLS connection, and with OpenSSL's server.

use super::tests::*;
use super::*;
use crate::NetErrorKind;
use crate::tls::{Backend, CaSource, CertSource, ClientCert, TlsConfig, TlsVersion, handshake::Server};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{SignatureAlgorithm, SignatureScheme};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::certs::{Authority, Leaf};
use testkit::temp::TempDir;

pub(super) fn shown(leaf: &Leaf) -> ClientCert {
    ClientCert {
        cert: CertSource::Blob(leaf.cert_pem.as_bytes().into()),
        cert_type: "PEM".into(),
        key: Some(CertSource::Blob(leaf.key_pem.as_bytes().into())),
        key_type: String::new(),
        password: None,
    }
}

#[test]
fn client_certificates_are_shown() {
    let authority = Authority::new();
    let client = authority.client("somebody");
    let stranger = Authority::new().client("stranger");
    for (certificate, welcome) in [(Some(&client), true), (Some(&stranger), false), (None, false)] {
        let with = TlsConfig { client: certificate.map(shown), ..trusting(&authority) };
        for config in by_either(with) {
            let demanding = authority.demanding(&authority.good()).unwrap();
            let (port, server) = serve(demanding, 1, |s| answer(s, b"welcome"));
            let got = run(move |reactor| {
                Box::pin(async move {
                    let store = SessionStore::new();
                    let mut f = agree(socket(port, &reactor), &config, "localhost", port, &store)
                        .await
                        .map_err(|e| e.message)?;
                    // With 1.3 the server's refusal arrives after the handshake.
                    let _ = f.write_all(b"go\n").await;
                    read_all(f.as_mut(), 1 << 16).await.map_err(|e| e.to_string())
                })
            });
            server.join().unwrap();
            match got {
                Ok(body) => assert!(welcome && body == b"welcome"),
                Err(e) => assert!(!welcome && e.contains("alert") || e.contains("Connection reset"), "{e}"),
            }
        }
    }
}

#[test]
fn unsupported_parameters_are_named() {
    let refused = |config: TlsConfig| {
        run(move |reactor| {
            Box::pin(async move {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let port = listener.local_addr().unwrap().port();
                let config = Arc::new(config);
                handshake(socket(port, &reactor), &config, "localhost", port, &SessionStore::new())
                    .await
                    .err()
                    .unwrap()
            })
        })
    };
    let e = refused(TlsConfig { max_version: TlsVersion::Tls11, ..TlsConfig::default() });
    assert_eq!(e.kind, NetErrorKind::SslConnectError);
    assert!(e.message.contains("no protocols available"));
    let e = refused(TlsConfig { cipher_list: Some("RC4".into()), ..TlsConfig::default() });
    assert_eq!(e.kind, NetErrorKind::SslCipher);
    let e = refused(TlsConfig { crl: Some("/nonexistent/crl".into()), ..TlsConfig::default() });
    assert_eq!(
        (e.kind, e.message.as_str()),
        (NetErrorKind::SslCrlBadfile, "error loading CRL file: /nonexistent/crl")
    );
}

#[test]
fn tls_inside_tls() {
    let authority = Authority::new();
    let inner = authority.good().server_config().unwrap();
    // Each in each: a proxy's TLS may be another's than the origin's.
    let kinds: Vec<_> = by_either(trusting(&authority)).into_iter().skip(1).step_by(2).collect();
    let pairs: Vec<_> = kinds.iter().flat_map(|outer| kinds.iter().map(move |own| (outer, own))).collect();
    let (port, server) = serve(authority.good().server_config().unwrap(), pairs.len(), move |outer| {
        let mut s = rustls::StreamOwned::new(rustls::ServerConnection::new(inner.clone()).unwrap(), outer);
        let mut line = [0; 3];
        s.read_exact(&mut line).unwrap();
        s.write_all(&testkit::body::pattern(200_000)).unwrap();
        s.conn.send_close_notify();
        s.flush().unwrap();
    });
    for (outer, own) in pairs {
        let (outer, own) = (outer.clone(), own.clone());
        let body = run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let below = socket(port, &reactor);
                let outer = agree(below, &outer, "localhost", port, &store).await.unwrap();
                let mut f = agree(outer, &own, "127.0.0.1", 443, &store).await.unwrap();
                f.write_all(b"go\n").await.unwrap();
                read_all(f.as_mut(), 1 << 18).await.unwrap()
            })
        });
        assert_eq!(body, testkit::body::pattern(200_000));
    }
    server.join().unwrap();
}

#[test]
fn tickets_through_a_tunnel_leave_the_connection_alive() {
    let authority = Authority::new();
    let server = authority.good().server_config().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let proxy = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let mut tls = rustls::StreamOwned::new(rustls::ServerConnection::new(server).unwrap(), stream);
        tls.read_exact(&mut [0; 3]).unwrap(); // sends the tickets, and nothing else
        let _ = tls.read(&mut byte);
    });
    let config = Arc::new(trusting(&authority));
    run(move |reactor| {
        Box::pin(async move {
            let mut tunnel = crate::filter::http_proxy::TunnelFilter::new(socket(port, &reactor));
            tunnel.send(b"CONNECT localhost:443 HTTP/1.1\r\n\r\n").await.unwrap();
            while tunnel.line(1000).await.unwrap().unwrap() != b"\r\n" {}
            let store = SessionStore::new();
            let mut f = handshake(Box::new(tunnel), &config, "localhost", 443, &store).await.unwrap();
            (f.as_mut() as &mut dyn Filter).write_all(b"go\n").await.unwrap();
            let start = Instant::now();
            while f.socket().idle_state() == Idle::Alive {
                assert!(start.elapsed() < Duration::from_secs(5), "no ticket came");
                std::thread::sleep(Duration::from_millis(1));
            }
            f.detach();
            assert_eq!(f.idle_state(), Idle::Alive);
            f.retire();
        })
    });
    proxy.join().unwrap();
}

#[test]
fn uploads_arrive_whole_though_the_server_dawdles() {
    let authority = Authority::new();
    let body = testkit::body::pattern(3_000_000);
    for config in by_either(trusting(&authority)) {
        let expected = body.clone();
        let (port, server) = serve(authority.good().server_config().unwrap(), 1, move |mut s| {
            std::thread::sleep(Duration::from_millis(50));
            let mut got = vec![0; expected.len()];
            s.read_exact(&mut got).unwrap();
            assert!(got == expected);
            answer(s, b"thanks");
        });
        let sent = body.clone();
        let got = run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let mut f = agree(socket(port, &reactor), &config, "localhost", port, &store).await.unwrap();
                f.write_all(&sent).await.unwrap();
                f.write_all(b"\n").await.unwrap();
                read_all(f.as_mut(), 1 << 16).await.unwrap()
            })
        });
        assert_eq!(got, b"thanks");
        server.join().unwrap();
    }
}

#[test]
fn a_server_that_speaks_first_is_heard() {
    let authority = Authority::new();
    for config in by_either(TlsConfig { alpn: vec!["imap".into(), "h2".into()], ..trusting(&authority) }) {
        let mut server = (*authority.good().server_config().unwrap()).clone();
        server.alpn_protocols = vec![b"h2".to_vec()];
        let (port, server) = serve(Arc::new(server), 1, |mut s| {
            s.write_all(b"* OK\r\n").unwrap();
            let _ = s.read(&mut [0; 10]);
        });
        run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let mut f = agree(socket(port, &reactor), &config, "localhost", port, &store).await.unwrap();
                assert_eq!(f.tls().unwrap().alpn.as_deref(), Some("h2"));
                let mut buf = [0; 4];
                assert_eq!(read(f.as_mut(), &mut buf).await.unwrap(), 4);
                assert_eq!(read(f.as_mut(), &mut buf).await.unwrap(), 2, "the rest from our own buffer");
                f.retire();
            })
        });
        server.join().unwrap();
    }
}

/// Signs as it likes, whatever is asked of it.
#[derive(Debug)]
struct StubSigner(Arc<dyn SigningKey>);

impl SigningKey for StubSigner {
    fn choose_scheme(&self, _: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        self.0.choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256])
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl ResolvesServerCert for Always {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

#[test]
fn a_list_of_signatures_binds_a_server_that_ignores_it() {
    let authority = Authority::new();
    let leaf = authority.good();
    let key = PrivateKeyDer::from_pem_slice(leaf.key_pem.as_bytes()).unwrap();
    let chain = CertificateDer::pem_slice_iter(leaf.cert_pem.as_bytes()).map(Result::unwrap).collect();
    let stub = Arc::new(StubSigner(rustls::crypto::ring::sign::any_supported_type(&key).unwrap()));
    let mut server = (*leaf.server_config().unwrap()).clone();
    server.cert_resolver = Arc::new(Always(Arc::new(CertifiedKey::new(chain, stub))));
    let server = Arc::new(server);
    for (list, good) in [("ECDSA+SHA384:RSA-PSS+SHA256", false), ("RSA-PSS+SHA256:ECDSA+SHA256", true)] {
        let config = TlsConfig { sigalgs: Some(list.to_owned()), ..trusting(&authority) };
        for config in by_either(config) {
            let (port, _) = serve(server.clone(), 1, |s| answer(s, b"x"));
            let agreed = exchange(port, "localhost", &config, &SessionStore::new());
            assert_eq!(agreed.is_ok(), good, "{list}: {:?}", agreed.err());
        }
    }
}

#[test]
fn resumption_needs_no_trust_anchors() {
    let authority = Authority::new();
    let dir = TempDir::new("tls").unwrap();
    let file = dir.write("ca.pem", authority.ca_pem()).unwrap();
    for config in both(TlsConfig {
        ca: vec![CaSource::File(file.clone().into())],
        ca_cache: None,
        ..TlsConfig::default()
    }) {
        dir.write("ca.pem", authority.ca_pem()).unwrap();
        // The file as it is now.
        let ca = vec![CaSource::File(file.clone().into())];
        let config = Arc::new(TlsConfig { ca, ..(*config).clone() });
        let store = SessionStore::new();
        let (port, server) = serve(authority.good().server_config().unwrap(), 2, |s| answer(s, b"x"));
        assert!(!exchange(port, "localhost", &config, &store).unwrap().0.resumed);
        std::fs::remove_file(&file).unwrap();
        assert!(exchange(port, "localhost", &config, &store).unwrap().0.resumed);
        server.join().unwrap();
    }
}

#[test]
fn a_session_is_resumed_whatever_alpn_offers() {
    let authority = Authority::new();
    for config in by_either(trusting(&authority)) {
        let store = SessionStore::new();
        let mut server = (*authority.good().server_config().unwrap()).clone();
        server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let (port, server) = serve(Arc::new(server), 3, |s| answer(s, b"x"));
        let offers: [&[&str]; 3] = [&["http/1.1"], &["h2", "http/1.1"], &[]];
        for (i, (offer, agreed)) in offers.iter().zip([Some("http/1.1"), Some("h2"), None]).enumerate() {
            let alpn = offer.iter().map(ToString::to_string).collect();
            let config = Arc::new(TlsConfig { alpn, ..(*config).clone() });
            let info = exchange(port, "localhost", &config, &store).unwrap().0;
            assert_eq!((info.resumed, info.alpn.as_deref()), (i > 0, agreed));
        }
        assert_eq!(
            store.len(),
            usize::from(config.backend == Backend::Rustls),
            "one, or written down by OpenSSL"
        );
        server.join().unwrap();
    }
}

#[test]
fn revoked_certificates() {
    use rcgen::{CertificateRevocationListParams, RevokedCertParams};
    let mut root = rcgen::CertificateParams::default();
    root.distinguished_name.push(rcgen::DnType::CommonName, "root");
    root.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    root.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    let key = rcgen::KeyPair::generate().unwrap();
    let ca = root.self_signed(&key).unwrap().pem();
    let issuer = rcgen::Issuer::new(root, key);
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_string()]).unwrap();
    params.serial_number = Some(7u64.into());
    let key = rcgen::KeyPair::generate().unwrap();
    let leaf =
        Leaf { cert_pem: params.signed_by(&key, &issuer).unwrap().pem(), key_pem: key.serialize_pem() };
    let dir = TempDir::new("crl").unwrap();
    for (serial, until, text) in [
        (8u64, 2400, None),
        (7, 2400, Some("SSL certificate OpenSSL verify result: certificate revoked (23)")),
        (8, 2001, Some("SSL certificate OpenSSL verify result: CRL has expired (12)")),
    ] {
        let list = CertificateRevocationListParams {
            this_update: rcgen::date_time_ymd(2000, 1, 1),
            next_update: rcgen::date_time_ymd(until, 1, 1),
            crl_number: 1u64.into(),
            issuing_distribution_point: None,
            revoked_certs: vec![RevokedCertParams {
                serial_number: serial.into(),
                revocation_time: rcgen::date_time_ymd(2000, 1, 1),
                reason_code: None,
                invalidity_date: None,
            }],
            key_identifier_method: rcgen::KeyIdMethod::Sha256,
        };
        let file = dir.write("crl.pem", list.signed_by(&issuer).unwrap().pem().unwrap()).unwrap();
        let config = TlsConfig {
            ca: vec![CaSource::Blob(ca.as_bytes().into())],
            crl: Some(file.into()),
            ..TlsConfig::default()
        };
        for config in by_either(config) {
            let (port, server) = serve(leaf.server_config().unwrap(), 1, |s| answer(s, b"x"));
            let got = exchange(port, "localhost", &config, &SessionStore::new());
            assert_eq!(got.err().map(|e| e.message).as_deref(), text);
            server.join().unwrap();
        }
    }
}

/// `openssl s_server` with commands on its standard input; it is stopped when dropped.
pub(super) struct OpensslServer(pub Child);

impl OpensslServer {
    pub fn start(dir: &TempDir, leaf: &Leaf, args: &[&str]) -> (OpensslServer, u16) {
        OpensslServer::with_commands(dir, leaf, &[&["-quiet"], args].concat())
    }

    /// Starts an `s_server` that obeys letters at the beginning of a line (CONNECTED COMMANDS).
    pub fn with_commands(dir: &TempDir, leaf: &Leaf, args: &[&str]) -> (OpensslServer, u16) {
        dir.write("cert.pem", &leaf.cert_pem).unwrap();
        dir.write("key.pem", &leaf.key_pem).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("openssl")
            .args(["s_server", "-cert", "cert.pem", "-key", "key.pem"])
            .args(["-accept", &format!("127.0.0.1:{port}")])
            .args(args)
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(10), "openssl s_server doesn't listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        (OpensslServer(child), port)
    }
}

impl Drop for OpensslServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn openssl_with_every_suite_and_group() {
    let authority = Authority::new();
    let suites = [
        ("TLS_AES_128_GCM_SHA256", TlsVersion::Tls13),
        ("TLS_AES_256_GCM_SHA384", TlsVersion::Tls13),
        ("TLS_CHACHA20_POLY1305_SHA256", TlsVersion::Tls13),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", TlsVersion::Tls12),
        ("ECDHE-ECDSA-AES256-GCM-SHA384", TlsVersion::Tls12),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", TlsVersion::Tls12),
    ];
    let dir = TempDir::new("s_server").unwrap();
    let (_server, port) = OpensslServer::start(&dir, &authority.good(), &["-rev"]);
    for (i, (suite, version)) in suites.into_iter().enumerate() {
        let group = ["X25519", "prime256v1", "secp384r1"][i % 3];
        let config = TlsConfig {
            cipher_list: (version == TlsVersion::Tls12).then(|| suite.to_string()),
            tls13_ciphers: (version == TlsVersion::Tls13).then(|| suite.to_string()),
            curves: Some(format!("{group}:P-256")), // 1.2 wants the curve of the server's key among them
            min_version: version,
            max_version: version,
            ..trusting(&authority)
        };
        let store = SessionStore::new();
        for resumed in [false, true] {
            let (config, store) = (Arc::new(config.clone()), store.clone());
            run(move |reactor| {
                Box::pin(async move {
                    let mut f =
                        handshake(socket(port, &reactor), &config, "localhost", port, &store).await.unwrap();
                    assert_eq!((f.info().cipher, f.info().resumed), (suite, resumed));
                    assert!(
                        resumed || version == TlsVersion::Tls12 || f.info().group == group,
                        "{}",
                        f.info().group
                    );
                    for length in [1, 5000, 16_000] {
                        let line = "x".repeat(length) + "y\n";
                        (f.as_mut() as &mut dyn Filter).write_all(line.as_bytes()).await.unwrap();
                        let mut got = vec![0; line.len()];
                        (f.as_mut() as &mut dyn Filter).read_exact(&mut got).await.unwrap();
                        assert!(got.starts_with(b"yxx") || length == 1, "{suite}");
                    }
                    f.retire();
                })
            });
        }
    }
}

/// Runs openssl in the directory.
pub(super) fn openssl(dir: &TempDir, args: &str) {
    let out = Command::new("openssl").args(args.split(' ')).current_dir(dir.path()).output().unwrap();
    assert!(out.status.success(), "openssl {args}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Keys of P-521 on both sides, agreed on by P-521, under an authority whose signatures have each digest; the
/// client shows its certificate from either form of key.
#[test]
fn openssl_with_p521_alone() {
    let dir = TempDir::new("p521").unwrap();
    openssl(&dir, "ecparam -name secp521r1 -genkey -noout -out ca.key");
    for name in ["server", "client"] {
        openssl(&dir, &format!("ecparam -name secp521r1 -genkey -noout -out {name}.key"));
        openssl(&dir, &format!("req -new -key {name}.key -subj /CN={name} -out {name}.csr"));
    }
    openssl(&dir, "pkcs8 -topk8 -nocrypt -in client.key -out client.p8");
    dir.write("ext", "subjectAltName=DNS:localhost\n").unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    for (hash, client_key) in [("sha512", "client.key"), ("sha384", "client.p8"), ("sha256", "client.key")] {
        openssl(&dir, &format!("req -x509 -new -key ca.key -{hash} -subj /CN=ca -days 30 -out ca.pem"));
        let sign =
            format!("x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -{hash} -extfile ext");
        for name in ["server", "client"] {
            openssl(&dir, &format!("{sign} -in {name}.csr -out {name}.pem"));
        }
        let leaf = Leaf { cert_pem: read("server.pem"), key_pem: read("server.key") };
        let asks = ["-rev", "-groups", "P-521", "-CAfile", "ca.pem", "-Verify", "2", "-verify_return_error"];
        let (_server, port) = OpensslServer::start(&dir, &leaf, &asks);
        let client = ClientCert {
            cert: CertSource::Blob(read("client.pem").as_bytes().into()),
            cert_type: "PEM".into(),
            key: Some(CertSource::Blob(read(client_key).as_bytes().into())),
            key_type: "PEM".into(),
            password: None,
        };
        let ca = vec![CaSource::Blob(read("ca.pem").as_bytes().into())];
        for config in both(TlsConfig { ca, client: Some(client), ..TlsConfig::default() }) {
            let hash = hash.to_owned();
            run(move |reactor| {
                Box::pin(async move {
                    let store = SessionStore::new();
                    let below = socket(port, &reactor);
                    let mut f = handshake(below, &config, "localhost", port, &store).await.unwrap();
                    if config.max_version == TlsVersion::Tls13 {
                        assert_eq!(f.info().group, "secp521r1");
                    }
                    (f.as_mut() as &mut dyn Filter).write_all(b"read\n").await.unwrap();
                    let mut got = [0; 5];
                    (f.as_mut() as &mut dyn Filter).read_exact(&mut got).await.unwrap();
                    assert_eq!(&got, b"daer\n", "{hash}");
                })
            });
        }
    }
}

/// The certificates that `openssl x509 -req` makes by default: version 1, a common name, RSA.
#[test]
fn version_1_certificates_with_rsa_keys() {
    let dir = TempDir::new("v1").unwrap();
    openssl(&dir, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=root -days 2");
    openssl(&dir, "req -new -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr -subj /CN=localhost");
    openssl(&dir, "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 5 -days 2 -out leaf.pem");
    openssl(
        &dir,
        "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem -subj /CN=root -days 2",
    );
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let leaf = Leaf { cert_pem: text("leaf.pem"), key_pem: text("leaf.key") };
    let (_server, port) = OpensslServer::start(&dir, &leaf, &["-rev"]);
    for (ca, result) in [("ca.pem", Ok("localhost")), ("other.pem", Err(7)), ("leaf.pem", Ok("localhost"))] {
        for config in
            both(TlsConfig { ca: vec![CaSource::File(dir.path().join(ca).into())], ..TlsConfig::default() })
        {
            let got = run(move |reactor| {
                Box::pin(async move {
                    let store = SessionStore::new();
                    agree(socket(port, &reactor), &config, "localhost", port, &store)
                        .await
                        .map(|mut f| f.retire())
                })
            });
            assert_eq!(got.map_err(|e| e.verify_result), result.map(drop), "{ca}");
        }
    }
}

#[test]
fn secrets_are_logged_on_demand() {
    let authority = Authority::new();
    let dir = TempDir::new("keylog").unwrap();
    for n in 0..2 * backends().len() {
        let log = dir.path().join(format!("keys{}", n / 2));
        let config = TlsConfig { key_log: Some(log.clone()), ..trusting(&authority) };
        let config = by_either(config).swap_remove(n);
        let (port, server) = serve(authority.good().server_config().unwrap(), 1, |s| answer(s, b"x"));
        exchange(port, "localhost", &config, &SessionStore::new()).unwrap();
        server.join().unwrap();
        if n % 2 == 0 {
            continue; // TLS 1.2 comes next
        }
        let text = std::fs::read_to_string(log).unwrap();
        for label in ["CLIENT_RANDOM ", "CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "] {
            assert!(text.lines().any(|l| l.starts_with(label) && l.split(' ').count() == 3), "{label}");
        }
    }
}

/// Where the user lowers what OpenSSL takes for safe.
#[test]
fn openssl_reaches_a_server_of_old() {
    let (dir, authority) = (TempDir::new("old").unwrap(), Authority::new());
    let args = ["-tls1", "-cipher", "ALL:@SECLEVEL=0", "-rev"];
    let (_server, port) = OpensslServer::start(&dir, &authority.good(), &args);
    for (list, version) in
        [(None, None), (Some("AES128-SHA:ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"), Some("TLSv1"))]
    {
        let config = TlsConfig {
            backend: Backend::SYSTEM,
            min_version: TlsVersion::Tls10,
            max_version: TlsVersion::Tls11,
            cipher_list: list.map(str::to_owned),
            ..trusting(&authority)
        };
        assert!(crate::tls::backend::is_system_needed(&config));
        let got = run(move |reactor| {
            Box::pin(async move {
                let below = socket(port, &reactor);
                let f = agree(below, &Arc::new(config), "localhost", port, &SessionStore::new()).await;
                f.map(|f| f.tls().unwrap().version).map_err(|e| e.kind)
            })
        });
        assert_eq!(got, version.ok_or(NetErrorKind::SslConnectError));
    }
}

/// Far beyond the limit of a key, here five records: ours is renewed before it, OpenSSL is asked for its own,
/// and nothing is lost. TLS 1.2 has no such message, and continues.
#[test]
fn keys_are_renewed_before_their_limit() {
    const LIMIT: u64 = 5;
    let authority = Authority::new();
    let dir = TempDir::new("s_server").unwrap();
    let (_server, port) = OpensslServer::start(&dir, &authority.good(), &["-rev"]);
    for config in both(trusting(&authority)) {
        run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let below = socket(port, &reactor);
                let mut f = handshake(below, &config, "localhost", port, &store).await.unwrap();
                f.key_limit = LIMIT;
                let renews = f.tx.shape() == Shape::Tls13;
                let (mut renewed, mut before) = ([0; 2], [0; 2]);
                for round in 0..8 * LIMIT {
                    let line = format!("{round:08}{}", "x".repeat(2000));
                    (f.as_mut() as &mut dyn Filter).write_all(format!("{line}\n").as_bytes()).await.unwrap();
                    let mut got = vec![0; line.len() + 1];
                    (f.as_mut() as &mut dyn Filter).read_exact(&mut got).await.unwrap();
                    assert!(got[..line.len()].iter().rev().eq(line.as_bytes()), "{round}");
                    let used = [f.tx.used(), f.rx.used()];
                    assert!(!renews || used[0] <= LIMIT && used[1] <= LIMIT + 2, "{round}: {used:?}");
                    for side in 0..2 {
                        renewed[side] += u64::from(used[side] < before[side]);
                    }
                    before = used;
                }
                match renews {
                    true => assert!(renewed.iter().all(|times| (4..=20).contains(times)), "{renewed:?}"),
                    false => assert!(renewed == [0; 2] && before.iter().all(|used| *used >= 8 * LIMIT)),
                }
            })
        });
    }
}

/// A server that wants to know who the client is learns nothing before its own answer has been judged and it
/// has won the race: until then nothing but the hello has left.
#[test]
fn client_certificates_wait_for_the_winner() {
    let authority = Authority::new();
    let with = TlsConfig { client: Some(shown(&authority.client("somebody"))), ..trusting(&authority) };
    for config in both(with) {
        let (request, requested) = std::sync::mpsc::channel::<()>();
        let (report, read) = std::sync::mpsc::channel();
        let (report, requested) = (std::sync::Mutex::new(report), std::sync::Mutex::new(requested));
        let demanding = authority.demanding(&authority.good()).unwrap();
        let (port, server) = serve(demanding, 1, move |mut s| {
            while s.conn.wants_read() && !s.conn.wants_write() {
                s.conn.read_tls(&mut s.sock).unwrap();
                s.conn.process_new_packets().unwrap();
            }
            while s.conn.wants_write() {
                s.conn.write_tls(&mut s.sock).unwrap();
            }
            requested.lock().unwrap().recv().unwrap(); // the client says that it has judged us
            s.sock.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            let heard = s.sock.peek(&mut [0; 1]);
            report.lock().unwrap().send(heard.map_err(|e| e.kind())).unwrap();
            s.sock.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let mut line = [0; 3];
            s.read_exact(&mut line).unwrap();
            assert!(s.conn.peer_certificates().is_some_and(|shown| shown.len() == 1));
        });
        run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let (below, peer) = (socket(port, &reactor), ("localhost", port));
                let sessions = store.begin(Server::new(&config, peer.0, port)).unwrap();
                let answered = drive::begin(below, &config, peer, &sessions).await;
                let answered = answered.map_err(crate::LayerError::into_error).unwrap();
                request.send(()).unwrap();
                // What Unix says of a socket on which nothing came in time, and Windows.
                let nothing =
                    matches!(read.recv().unwrap(), Err(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut));
                assert!(nothing, "the client has spoken");
                let mut f = answered.finish(&config, peer, &sessions).await.unwrap();
                (f.as_mut() as &mut dyn Filter).write_all(b"go\n").await.unwrap();
            })
        });
        server.join().unwrap();
    }
}

/// The server receives the name, without the dot of the root, but no address (RFC 6066, section 3). Both
/// implementations report the server's certificates alike.
#[test]
fn the_server_name_is_sent_and_certificates_are_reported() {
    let authority = Authority::new();
    let config = TlsConfig { certinfo: true, ..trusting(&authority) };
    for (host, name) in
        [("localhost", Some("localhost")), ("LOCALHOST.", Some("localhost")), ("127.0.0.1", None)]
    {
        let (say, hear) = std::sync::mpsc::channel();
        let configs = by_either(config.clone());
        let (port, server) = serve(authority.good().server_config().unwrap(), configs.len(), move |mut s| {
            let mut line = [0; 3];
            s.read_exact(&mut line).unwrap();
            say.send(s.conn.server_name().map(str::to_ascii_lowercase)).unwrap();
            s.write_all(b"x").unwrap();
            s.conn.send_close_notify();
            s.flush().unwrap();
        });
        let reports = configs.into_iter().map(|config| {
            let (info, _) = exchange(port, host, &config, &SessionStore::new()).unwrap();
            assert_eq!(hear.recv().unwrap().as_deref(), name, "{host}");
            info.certinfo
        });
        let reports: Vec<_> = reports.collect();
        assert!(reports.iter().all(|one| *one == reports[0]) && reports[0].len() == 1, "{reports:?}");
        assert!(reports[0][0].iter().any(|field| field.starts_with("Subject:")), "{reports:?}");
        server.join().unwrap();
    }
}
