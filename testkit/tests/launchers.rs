//! Each launcher starts its server, and the distribution's curl can use it. Needs the packages of
//! `tests/packages.txt`.

use std::io::ErrorKind;
use std::process::Command;

use warmwire_testkit::body::pattern;
use warmwire_testkit::certs::Authority;
use warmwire_testkit::http::HttpServer;
use warmwire_testkit::launch::{Apache, Nginx, Squid, Vsftpd};
use warmwire_testkit::temp::TempDir;

fn curl(args: &[&str]) -> (i32, Vec<u8>) {
    let output = Command::new("curl").args(["-sSf", "--max-time", "30"]).args(args).output().unwrap();
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), output.stdout)
}

#[test]
fn nginx_serves_http_and_tls() {
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[1024, 335_114]).unwrap();
    let directory = TempDir::new("launchers").unwrap();
    let ca = directory.write("ca.pem", authority.ca_pem()).unwrap();
    assert_eq!(curl(&[&nginx.http("/bytes-1024")]), (0, pattern(1024)));
    assert_eq!(
        curl(&["--cacert", ca.to_str().unwrap(), &nginx.https("/bytes-335114")]),
        (0, pattern(335_114))
    );
    assert_eq!(curl(&[&nginx.https("/bytes-1024")]).0, 60);
}

#[test]
fn apache_asks_for_both_kinds_of_password() {
    let apache = Apache::start(&[100]).unwrap();
    assert_eq!(curl(&[&apache.http("/bytes-100")]), (0, pattern(100)));
    for (scheme, path) in [("--basic", "/basic/bytes-100"), ("--digest", "/digest/bytes-100")] {
        assert_eq!(curl(&[scheme, "-u", "user:secret", &apache.http(path)]), (0, pattern(100)), "{path}");
        assert_eq!(curl(&[scheme, "-u", "user:wrong", &apache.http(path)]).0, 22, "{path}");
    }
}

#[test]
fn squid_forwards() {
    let (squid, server) = (Squid::start().unwrap(), HttpServer::plain());
    assert_eq!(curl(&["-x", &squid.url(), &server.url("/bytes/77")]), (0, pattern(77)));
    assert_eq!(curl(&["-p", "-x", &squid.url(), &server.url("/bytes/77")]), (0, pattern(77)));
    assert!(server.requests()[0].field("Via").is_some_and(|via| via.contains("squid")));
}

#[test]
fn vsftpd_sends_and_takes() {
    let vsftpd = match Vsftpd::start(&[5000]) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => warmwire_testkit::left_out(error),
        result => result.unwrap(),
    };
    assert_eq!(curl(&[&vsftpd.url("/bytes-5000")]), (0, pattern(5000)));
    assert_eq!(curl(&["-T", "/etc/hostname", &vsftpd.url("/up/name")]).0, 0);
    assert_eq!(vsftpd.file("/up/name"), std::fs::read("/etc/hostname").ok());
}
