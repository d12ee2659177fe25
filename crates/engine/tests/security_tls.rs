//! curl's past vulnerabilities that concern TLS: connections that were used although a demand had changed,
//! and checks that were left out. Each names its CVE.
//!
//! covers: CURLOPT_SSL_VERIFYHOST, CURLOPT_USE_SSL

use crate::common::{handle, long, text};
use tables::constant::{CURL_HTTP_VERSION_3ONLY, CURLUSESSL_ALL};
use tables::{Code, EasyOption as O};
use testkit::certs::{Authority, Leaf};
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::raw::{RawPeer, Step, expect, send};
use testkit::temp::TempDir;
use warmwire_engine::Easy;

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

/// CVE-2026-8932, CVE-2022-27782, CVE-2021-22924, CVE-2016-7141, CVE-2021-22897, CVE-2026-80231: every TLS
/// setting makes another connection, including the case of paths.
#[test]
fn every_demand_on_tls_makes_another_connection() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.demanding(&authority.good()).unwrap());
    let dir = TempDir::new("demands").unwrap();
    let me = authority.client("me");
    let file = |name: &str, content: &str| dir.write(name, content).unwrap().to_str().unwrap().to_owned();
    let (ca, same_ca) = (file("ca.pem", authority.ca_pem()), file("CA.pem", authority.ca_pem()));
    let (cert, key, same_key) =
        (file("cert.pem", &me.cert_pem), file("key.pem", &me.key_pem), file("KEY.pem", &me.key_pem));
    let texts = [
        (O::CaInfo, same_ca.as_str()),
        (O::IssuerCert, ca.as_str()),
        (O::IssuerCert, same_ca.as_str()),
        (O::SslKey, same_key.as_str()),
        (O::KeyPasswd, "unused"),
        (O::KeyPasswd, "Unused"),
        (O::SslCipherList, "ECDHE-ECDSA-AES128-GCM-SHA256"),
        (O::Tls13Ciphers, "TLS_AES_256_GCM_SHA384"),
        (O::SslEcCurves, "P-256"),
    ];
    let (easy, _app) = handle(&server.url("/bytes/1"));
    text(&easy, O::CaInfo, &ca);
    text(&easy, O::SslCert, &cert);
    text(&easy, O::SslKey, &key);
    perform(&easy);
    perform(&easy);
    assert_eq!(server.accepts(), 1);
    for (count, (option, value)) in texts.iter().enumerate() {
        text(&easy, *option, value);
        perform(&easy);
        assert_eq!(server.accepts(), count + 2, "{option:?} {value}");
    }
    // CURLSSLOPT_NATIVE_CA, another version, and less verification.
    for (count, (option, value)) in
        [(O::SslOptions, 16), (O::SslVersion, 7), (O::SslVerifyHost, 0)].into_iter().enumerate()
    {
        long(&easy, option, value);
        perform(&easy);
        assert_eq!(server.accepts(), texts.len() + count + 2, "{option:?}");
    }
    // A transfer without a client certificate does not get a connection with one.
    for option in [O::SslCert, O::SslKey] {
        easy.state().settings.borrow_mut().set_text(option, None).unwrap();
    }
    assert_ne!(easy.perform(), Code::Ok);
    assert_eq!(server.accepts(), texts.len() + 5);
}

/// CVE-2016-3739, CVE-2014-2522, CVE-2014-1263, CVE-2025-4947: a host that is an address has its name
/// checked, too. CVE-2013-6422, CVE-2013-4545: also when the chain is not.
#[test]
fn addresses_are_names_and_names_are_checked_alone() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.for_names(&["localhost"]).server_config().unwrap());
    let by_address = format!("https://127.0.0.1:{}/bytes/1", server.port());
    let (easy, _app) = handle(&by_address);
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    assert_eq!(easy.perform(), Code::PeerFailedVerification);
    long(&easy, O::SslVerifyPeer, 0);
    assert_eq!(easy.perform(), Code::PeerFailedVerification);
    assert!(easy.state().message().contains("127.0.0.1"), "{}", easy.state().message());
    long(&easy, O::SslVerifyHost, 0);
    perform(&easy);
}

/// CVE-2024-2379: an unknown name does not disable the setting.
#[test]
fn unknown_curves_and_ciphers_are_errors() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let options = [O::SslEcCurves, O::SslCipherList, O::Tls13Ciphers, O::SslSignatureAlgorithms];
    // Nobody answers by QUIC: a demand that was left out would end with the time limit.
    for (option, version) in options.iter().flat_map(|o| [(*o, 0), (*o, CURL_HTTP_VERSION_3ONLY)]) {
        let (easy, _app) = handle(&server.url("/bytes/1"));
        long(&easy, O::HttpVersion, version);
        long(&easy, O::TimeoutMs, 3000);
        text(&easy, O::CaInfoBlob, authority.ca_pem());
        text(&easy, option, "nonsense");
        assert_eq!(easy.perform(), Code::SslCipher, "{option:?} {version}: {}", easy.state().message());
        assert_eq!(server.served(), 0);
    }
}

/// CVE-2026-4873: a control connection in clear text does not serve who demands TLS.
#[test]
fn a_clear_connection_does_not_serve_a_transfer_that_requires_tls() {
    let server = FtpServer::with_file("/file", "x");
    let (easy, _app) = handle(&server.url("/file"));
    perform(&easy);
    long(&easy, O::UseSsl, CURLUSESSL_ALL);
    assert_eq!(easy.perform(), Code::UseSslFailed);
    assert_eq!(server.accepts(), 2);
}

/// CVE-2021-22947: data in clear after the reply to AUTH is not taken for a reply within TLS.
#[test]
fn replies_before_the_handshake_are_dropped() {
    let leaf = Leaf::self_signed();
    let injected = "234 go\r\n232 you are in\r\n257 \"/\" is here\r\n";
    let script = vec![send("220 hello\r\n"), expect("AUTH SSL\r\n"), send(injected), Step::Hold];
    let peer = RawPeer::start(vec![script]);
    let (easy, _app) = handle(&format!("ftp://127.0.0.1:{}/file", peer.port()));
    long(&easy, O::UseSsl, CURLUSESSL_ALL);
    long(&easy, O::SslVerifyPeer, 0);
    text(&easy, O::CaInfoBlob, &leaf.cert_pem);
    long(&easy, O::TimeoutMs, 5000);
    // Data left unread before the handshake would fail as SSL_CONNECT_ERROR here, and after one be taken for
    // a reply.
    assert_eq!(easy.perform(), Code::WeirdServerReply);
    assert_eq!(peer.received().concat(), b"AUTH SSL\r\n");
}
