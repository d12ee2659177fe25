//! `--why` and `%{why}`.

use super::curl;
use testkit::http::HttpServer;

#[test]
fn tells_why_a_connection_is_new_or_reused() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    let ran = curl(&["--why", "-s", "-o", "a", "-o", "b", &url, &url]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("\n  time        ").count(), 2, "{}", ran.stderr);
    assert!(ran.stderr.contains(" is new: this handle has no open connection there\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains(" reused: "), "{}", ran.stderr);
}

#[test]
fn json_is_one_line_for_each_transfer_and_has_no_secret() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/10").replace("http://", "http://me:secret@");
    let ran = curl(&["--why=json", "-s", "-b", "name=secret", "-o", "a", "-o", "b", &url, &url]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.stderr);
    assert!(lines.iter().all(|line| line.starts_with('{') && line.ends_with('}')), "{}", ran.stderr);
    assert!(lines[0].contains("\"event\":\"connection-new\""), "{}", ran.stderr);
    assert!(lines[1].contains("\"event\":\"connection-reused\""), "{}", ran.stderr);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
}

#[test]
fn a_failure_is_explained_and_a_wrong_format_refused() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = curl(&["--why", "-s", &format!("http://{free}/")]);
    assert_eq!(ran.code, 7);
    assert!(ran.stderr.contains(&format!("  address     {free} failed after ")), "{}", ran.stderr);
    let ran = curl(&["--why=xml", "-s", "http://127.0.0.1/"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

/// Verbose lines do not change, and nothing is printed without the flag.
// covers: --write-out
#[test]
fn write_out_has_the_reasons() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    let ran = curl(&["-s", "-o", "a", "-w", "%{why}", &url]);
    assert!(ran.stdout.starts_with("GET http://"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n  connection  #0 to "), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let plain = curl(&["-s", "-o", "a", "-w", "%{json}", &url]);
    assert!(!plain.stdout.contains("\"why\""), "{}", plain.stdout);
}
