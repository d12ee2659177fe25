//! HTTPS through the engine: certificates are checked, sessions resumed, connections kept.

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::http::HttpServer;

fn trusting(url: &str, authority: &Authority) -> (warmwire_engine::Easy, std::rc::Rc<crate::common::App>) {
    let (easy, app) = handle(url);
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    (easy, app)
}

#[test]
fn gets_over_one_kept_connection() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let (easy, app) = trusting(&server.url("/bytes/335114"), &authority);
    for number in 0..5 {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        // A reused connection has no handshake: CURLINFO_APPCONNECT_TIME is 0 there, as in curl 8.22.
        assert_eq!(easy.state().info.borrow().app_connect.is_zero(), number > 0, "request {number}");
    }
    assert_eq!(app.body.borrow().len(), 5 * 335_114);
    assert_eq!(server.accepts(), 1);
}

#[test]
fn bad_certificates_are_refused() {
    let authority = Authority::new();
    for (leaf, words) in [
        (authority.wrong_name(), "no alternative certificate subject name matches target hostname"),
        (authority.expired(), "certificate has expired"),
    ] {
        let server = HttpServer::tls(leaf.server_config().unwrap());
        let (easy, app) = trusting(&server.url("/bytes/10"), &authority);
        assert_eq!(easy.perform(), Code::PeerFailedVerification);
        assert!(easy.state().message().contains(words), "{}", easy.state().message());
        assert!(app.body.borrow().is_empty());
        long(&easy, O::SslVerifyPeer, 0);
        long(&easy, O::SslVerifyHost, 0);
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    }
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let (easy, _) = trusting(&server.url("/"), &Authority::new());
    assert_eq!(easy.perform(), Code::PeerFailedVerification);
}

#[test]
fn another_verification_is_another_connection() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let (easy, _) = trusting(&server.url("/bytes/10"), &authority);
    long(&easy, O::SslVerifyPeer, 0);
    assert_eq!(easy.perform(), Code::Ok);
    long(&easy, O::SslVerifyPeer, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(server.accepts(), 2);
}

/// A server that does not know "http/1.0" would end a handshake that offers nothing else. A request for TLS
/// 1.0 or later gets a note about its meaning here.
// covers: CURLOPT_HTTP_VERSION, CURLOPT_SSL_ENABLE_ALPN, CURLOPT_SSLVERSION
#[test]
fn old_versions_of_http_and_tls() {
    let authority = Authority::new();
    let mut config = (*authority.good().server_config().unwrap()).clone();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let server = HttpServer::tls(std::sync::Arc::new(config));
    let (easy, app) = trusting(&server.url("/bytes/10"), &authority);
    long(&easy, O::HttpVersion, 1);
    long(&easy, O::SslVersion, 4);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().len(), 10);
}
