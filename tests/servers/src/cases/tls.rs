//! Certificates that must be refused, and the options that disable it.

use std::path::Path;
use std::sync::Arc;

use testkit::certs::{Leaf, ServerConfig};
use testkit::http::HttpServer;
use testkit::raw::{RawPeer, Step, send};
use testkit::temp::TempDir;

use super::case;
use super::openssl::{Served, authority, openssl};
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![
        case("certificates-refused", refused),
        case("certificates-accepted-unverified", accepted),
        case("missing-ca-file", missing_ca),
        case("tls-connection-kept", kept),
        case("not-tls-at-all", plain_peer),
        case("stapled-answers", stapled),
    ]
}

fn servers(run: &Context) -> Vec<(&'static str, Arc<ServerConfig>)> {
    let authority = &run.world.authority;
    let leaves = [
        ("wrong name", authority.wrong_name()),
        ("expired", authority.expired()),
        ("not yet valid", authority.not_yet_valid()),
        ("self-signed", Leaf::self_signed()),
    ];
    leaves.into_iter().map(|(name, leaf)| (name, leaf.server_config().expect("a usable pair"))).collect()
}

// covers: CURLOPT_CAINFO, CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST
fn refused(run: &Context) {
    let ca = format!("CAINFO={}", run.world.ca());
    for (name, config) in servers(run) {
        let server = HttpServer::tls(config);
        for way in ["easy", "poll", "event"] {
            let output = run.program("fetch", &["-w", way, "-o", &ca, &server.url("/bytes/10")]);
            assert_eq!(output.fact("code"), "60", "{name} by {way}: {output:?}");
            assert_eq!(output.fact("bytes"), "0", "{name}");
        }
        assert_eq!(server.served(), 0, "{name}: a request was sent");
    }
    let good = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    assert_eq!(run.program("fetch", &[&good.url("/bytes/10")]).fact("code"), "60", "an unknown authority");
}

// covers: CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST
fn accepted(run: &Context) {
    for (name, config) in servers(run) {
        let server = HttpServer::tls(config);
        let off = ["-o", "SSL_VERIFYPEER=0", "-o", "SSL_VERIFYHOST=0", &*server.url("/bytes/10")];
        assert_eq!(run.program("fetch", &off).fact("code"), "0", "{name}");
    }
    let ca = format!("CAINFO={}", run.world.ca());
    let wrong = HttpServer::tls(run.world.authority.wrong_name().server_config().expect("a usable pair"));
    let output = run.program("fetch", &["-o", &ca, "-o", "SSL_VERIFYHOST=0", &wrong.url("/bytes/10")]);
    assert_eq!(output.fact("code"), "0", "{output:?}");
    let common = run.world.authority.common_name_only("localhost").server_config().expect("a usable pair");
    let output = run.program("fetch", &["-o", &ca, &HttpServer::tls(common).url("/bytes/10")]);
    assert_eq!(output.fact("code"), "0", "only a common name: {output:?}");
}

// covers: CURLOPT_CAINFO
fn missing_ca(run: &Context) {
    let good = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let output = run.program("fetch", &["-o", "CAINFO=/nonexistent/ca.pem", &good.url("/bytes/10")]);
    assert_eq!(output.fact("code"), "77", "{output:?}");
}

fn kept(run: &Context) {
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let ca = format!("CAINFO={}", run.world.ca());
    let output = run.program("fetch", &["-n", "30", "-o", &ca, &server.url("/bytes/20000")]);
    assert_eq!(output.facts("code"), ["0"; 30], "{output:?}");
    assert_eq!(server.accepts(), 1);
}

fn plain_peer(run: &Context) {
    let peer = RawPeer::start(vec![vec![Step::ExpectBytes(5), send("HTTP/1.1 400 Bad Request\r\n\r\n")]]);
    let url = format!("https://127.0.0.1:{}/bytes/1", peer.port());
    assert_eq!(run.program("fetch", &[&url]).fact("code"), "35");
}

/// An authority with one certificate, and the question whether that is still good.
fn authority_that_is_asked(folder: &Path) {
    authority(folder);
    openssl(folder, "ocsp -issuer ca.pem -cert cert.pem -no_nonce -reqout asked.der");
}

// covers: CURLOPT_SSL_VERIFYSTATUS
fn stapled(run: &Context) {
    let place = TempDir::new("stapled").expect("a folder is made");
    let folder = place.path();
    authority_that_is_asked(folder);
    let answer = |name: &str, index: &str| {
        std::fs::write(folder.join("index"), index).expect("a folder of our own");
        let line = "ocsp -index index -CA ca.pem -reqin asked.der -ndays 1 -rsigner ca.pem -rkey ca.key";
        openssl(folder, &format!("{line} -respout {name}"));
    };
    answer("good", "V\t400101000000Z\t\t05\tunknown\t/CN=leaf\n");
    answer("revoked", "R\t400101000000Z\t250101000000Z,keyCompromise\t05\tunknown\t/CN=leaf\n");
    let ca = format!("CAINFO={}", folder.join("ca.pem").display());
    let rows: [(&[&str], &str, &str); 5] = [
        (&["-status_file", "good"], "1", "0"),
        (&["-status_file", "revoked"], "1", "91"),
        // A proof of revocation counts here without the option (docs/decisions/0018-revocation.md).
        (&["-status_file", "revoked"], "0", if run.ours() { "91" } else { "0" }),
        (&[], "1", "91"),
        (&[], "0", "0"),
    ];
    for (more, asked, code) in rows {
        // 7.88 searches the issuer among the server's certificates.
        let server = Served::start(folder, &[&["-cert_chain", "ca.pem"], more].concat());
        let status = format!("SSL_VERIFYSTATUS={asked}");
        let output = run.program("fetch", &["-o", &ca, "-o", &status, &server.url]);
        assert_eq!(output.fact("code"), code, "{more:?} {status}: {output:?}");
    }
}
