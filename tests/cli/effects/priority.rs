//! `--priority` (RFC 9218).

use super::{curl, curl_in, folder_with};
use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::launch::{Http2Kind, Http2Server};

#[test]
fn the_field_has_the_priority() {
    let server = HttpServer::plain();
    let sent = |words: &[&str]| {
        let ran = curl(&[words, &["-s", "-o", "f", &server.url("/")]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        server.last_request().unwrap().all("Priority").join("|")
    };
    assert_eq!(sent(&[]), "");
    assert_eq!(sent(&["--priority", "u=1,i"]), "u=1, i");
    assert_eq!(sent(&["--priority", "i"]), "u=3, i");
    assert_eq!(sent(&["--priority", "u=7"]), "u=7");
    assert_eq!(sent(&["--priority", "u=7", "-H", "Priority: u=0"]), "u=0");
    assert_eq!(sent(&["--priority", "u=7", "-H", "Priority:"]), "");
    for wrong in ["", "u=8", "7", "u=1;i", "u=1,u=2"] {
        let ran = curl(&["--priority", wrong, &server.url("/")]);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.stderr);
        assert!(ran.stderr.contains("--priority: takes u=0 to u=7, i, or both"), "{}", ran.stderr);
    }
}

/// The priority of each request on one connection arrives at nghttpd.
#[test]
fn nghttpd_reads_the_priority_of_each_request() {
    let authority = Authority::new();
    let server = Http2Server::start(Http2Kind::NghttpdLogging, &authority.good(), &[1000]).unwrap();
    let folder = folder_with("ca.pem", authority.ca_pem());
    let url = server.https("/bytes-1000");
    let last = ["-sS", "--cacert", "ca.pem", "-o", "last", "--priority", "u=7", &url];
    let first = ["--cacert", "ca.pem", "-o", "first", "--priority", "u=0,i", "-w", "%{num_connects}", &url];
    let ran = curl_in(folder, &[&last[..], &["--next"], &first].concat());
    assert_eq!((ran.code, &*ran.stdout), (0, "0"), "{}", ran.stderr);
    let log = server.log();
    assert!(log.contains("priority: u=7\n") && log.contains("priority: u=0, i\n"), "{log}");
}
