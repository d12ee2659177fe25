//! HTTP/3 with caddy, which is quic-go underneath.

use super::{Ran, curl_in};
use crate::empty_folder;
use testkit::certs::Authority;
use testkit::launch::{Http2Kind, Http2Server};

struct Site {
    server: Http2Server,
    authority: Authority,
}

impl Site {
    fn start(kind: Http2Kind) -> Site {
        let authority = Authority::new();
        let server = Http2Server::start(kind, &authority.good(), &[10, 300_000]).unwrap();
        Site { server, authority }
    }

    fn run(&self, words: &[&str]) -> Ran {
        let folder = empty_folder();
        std::fs::write(folder.join("ca.pem"), self.authority.ca_pem()).unwrap();
        curl_in(folder, &[&["-s", "-S", "-g", "--cacert", "ca.pem", "--max-time", "20"], words].concat())
    }
}

const TOLD: [&str; 4] =
    ["-o", "out", "-w", "%{http_version} %{response_code} %{num_connects} %{size_download}\\n"];

// covers: --http3-only, --http3
#[test]
fn one_connection_serves_many_requests() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let (small, large) = (site.server.https("/bytes-10"), site.server.https("/bytes-300000"));
    for flag in ["--http3-only", "--http3"] {
        let more = ["-o", "out2", small.as_str(), "-o", "out3", &large];
        let ran = site.run(&[&[flag], &TOLD[..], &[&large], &more[..]].concat());
        let lines: Vec<_> = ran.stdout.lines().collect();
        assert_eq!(lines, ["3 200 1 300000", "3 200 0 10", "3 200 0 300000"], "{flag}: {}", ran.stderr);
    }
    let ran = site.run(&["--http3-only", "-I", &small]);
    assert!(ran.stdout.starts_with("HTTP/3 200 \r\n"), "{}", ran.stdout);
    let ran = site.run(&["--http3-only", "-r", "2-4", &small]);
    assert_eq!(ran.stdout.len(), 3, "{}", ran.stderr);
}

// covers: --http3-only
#[test]
fn uploads_leave_whole() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let body = "0123456789".repeat(50_000);
    let folder = empty_folder();
    std::fs::write(folder.join("body"), &body).unwrap();
    let path = folder.join("body");
    let ran = site.run(
        &[&["--http3-only", "-T", path.to_str().unwrap()], &TOLD[..], &[&site.server.https("/up")]].concat(),
    );
    assert!(ran.stdout.starts_with("3 "), "{} {}", ran.stdout, ran.stderr);
    let asked = site.server.origin.requests();
    let upload = asked.iter().find(|request| request.path() == "/up").expect("it came through");
    assert_eq!(upload.body.len(), body.len());
    assert_eq!(&upload.body[..], body.as_bytes());
}

// covers: --http3, --http3-only
#[test]
fn where_quic_does_not_answer() {
    let site = Site::start(Http2Kind::Nginx);
    let url = site.server.https("/bytes-10");
    let ran = site.run(&[&["--http3"], &TOLD[..], &[&url]].concat());
    assert_eq!(ran.stdout, "2 200 1 10\n", "{}", ran.stderr);
    assert_eq!(site.run(&["--http3-only", "--connect-timeout", "3", &url]).code, 7);
    let ran = site.run(&["--http3-only", "http://localhost/"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (3, "curl: (3) HTTP/3 requested for non-HTTPS URL\n"));
    let ran = site.run(&["--http3-only", "-x", "http://localhost:1/", &url]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (3, "curl: (3) HTTP/3 is not supported over an HTTP proxy\n")
    );
}

/// CVE-2025-13034: a pinned key counts over QUIC, too.
// covers: --http3-only, --pinnedpubkey
#[test]
fn the_certificate_is_judged_as_always() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let url = site.server.https("/bytes-10");
    let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    assert_eq!(site.run(&["--http3-only", "--pinnedpubkey", pin, &url]).code, 90);
    let others = Site { server: site.server, authority: Authority::new() };
    assert_eq!(others.run(&["--http3-only", &url]).code, 60, "another authority");
    assert_eq!(others.run(&["--http3-only", "-k", &url]).stdout.len(), 10, "nobody asks");
}

/// CVE-2026-9545: a session that is kept of one server sends nothing to another one in its place before that has shown who
/// it is.
#[test]
fn what_was_kept_of_a_server_is_no_trust_in_another() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let impostor = Site::start(Http2Kind::CaddyQuic);
    let way = |to: &Site| {
        let url = to.server.https("");
        format!("localhost:443:localhost:{}", url.rsplit(':').next().unwrap_or_default())
    };
    let ran = site.run(&[
        "--http3-only",
        "--connect-to",
        &way(&site),
        "https://localhost/bytes-10",
        "-o",
        "out",
        "--next",
        "-s",
        "--http3-only",
        "--cacert",
        "ca.pem",
        "--tls-earlydata",
        "--connect-to",
        &way(&impostor),
        "-d",
        "secret",
        "https://localhost/",
    ]);
    assert_eq!(ran.code, 60, "{}", ran.stderr);
    assert_eq!(impostor.server.origin.requests().len(), 0, "the impostor was asked something");
}
