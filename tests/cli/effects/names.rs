//! Which resolver is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use testkit::certs::Authority;
use testkit::dns::{A, DnsAnswer, NameServer, address};
use testkit::http::{Config, HttpServer, Request, Response};

use super::curl;

// covers: --dns-servers, --dns-ipv4-addr, --dns-ipv6-addr, --dns-interface
#[test]
fn name_servers_of_the_users_own() {
    let dns = NameServer::start(|asked| match asked.kind {
        A => address(A, "127.0.0.1"),
        _ => DnsAnswer::Code(3),
    });
    let server = HttpServer::with(|_| Some(Response::ok("there")));
    let (at, url) = (dns.address().to_string(), format!("http://a.example:{}/", server.port()));
    let flags = ["--dns-servers", &at, "--dns-ipv4-addr", "127.0.0.9", "--dns-ipv6-addr", "::1", &url];
    assert_eq!(curl(&flags).text(), "there");
    assert!(dns.asked().iter().all(|asked| asked.from.ip().to_string() == "127.0.0.9"));
    assert_eq!(curl(&["--dns-servers", &at, "--dns-interface", "lo", &url]).text(), "there");
    let ran = curl(&["--dns-servers", &at, "--dns-interface", "no-such-thing", &url]);
    assert_eq!((ran.code, ran.stderr.as_str()), (6, "curl: (6) Could not resolve host: a.example\n"));
    for bad in [["--dns-servers", "name.example"], ["--dns-ipv4-addr", "::1"], ["--dns-ipv6-addr", "x"]] {
        assert_eq!(curl(&[bad[0], bad[1], "file:///dev/null"]).code, 43, "{bad:?}");
    }
}

// covers: --doh-url, --doh-insecure, --doh-cert-status
#[test]
fn names_over_https() {
    let config = Authority::new().good().server_config().unwrap();
    let handler = |request: &Request| {
        let mut message = request.body.clone();
        let kind = message[message.len() - 3];
        (message[2], message[3], message[7]) = (0x81, 0x80, u8::from(kind == 1));
        if kind == 1 {
            message.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x01");
        }
        Some(Response::ok(message))
    };
    let config = Config { tls: Some(config), handler: Some(Arc::new(handler)), ..Config::default() };
    let dns = HttpServer::start(config).unwrap();
    let server = HttpServer::with(|_| Some(Response::ok("there")));
    let (doh, url) = (dns.url("/dns-query"), format!("http://a.example:{}/", server.port()));
    assert_eq!(curl(&["--doh-url", &doh, "--doh-insecure", &url]).text(), "there");
    assert_eq!(curl(&["-k", "--doh-url", &doh, &url]).code, 6, "that is about the origin");
    assert_eq!(curl(&["--doh-url", &doh, "--doh-insecure", "--doh-cert-status", &url]).code, 6);
    // Without a DoH server they have no effect; an empty URL removes the server.
    for flags in [&["--doh-insecure"][..], &["--doh-cert-status"], &["--doh-url", &doh, "--doh-url", ""]] {
        let ran = curl(&[flags, &["file:///dev/null"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{flags:?}");
    }
}

/// While the second transfer lasts, longer than the name's time to live, the name moves. The third one goes
/// to the new address if the tool follows names: by its flag, or because a pool is on.
#[test]
fn a_connection_is_left_when_its_name_moves() {
    let rows: [(&[&str], bool); 4] = [
        (&[], false),
        (&["--follow-names"], true),
        (&["--pool", "process"], true),
        (&["--pool", "process", "--no-follow-names"], false),
    ];
    for (flags, follows) in rows {
        let (moved, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (moves, sees) = (moved.clone(), seen.clone());
        let first = move |request: &Request| {
            if request.path() == "/slow" {
                moves.store(true, SeqCst);
                std::thread::sleep(Duration::from_millis(1200));
            }
            sees.store(request.path() == "/last", SeqCst);
            Some(Response::ok("first "))
        };
        let second = |_: &Request| Some(Response::ok("second"));
        let (first, _second) = HttpServer::twins(Some(Arc::new(first)), Some(Arc::new(second)));
        let dns = NameServer::start(move |asked| {
            let place = if moved.load(SeqCst) { "127.0.0.2" } else { "127.0.0.1" };
            match asked.kind {
                A => DnsAnswer::Lasting(1, Box::new(address(A, place))),
                _ => DnsAnswer::Code(3),
            }
        });
        let url = |path: &str| format!("http://a.example:{}/{path}", first.port());
        let servers = dns.address().to_string();
        let common = ["--dns-servers", &servers, "--why", &url("fast"), &url("slow"), &url("last")];
        let ran = curl(&[flags, &common].concat());
        let last = if follows { "second" } else { "first " };
        assert_eq!(ran.stdout, format!("first first {last}"), "{flags:?}: {}", ran.stderr);
        let reason = "the name does not resolve any more to the address of the open one, 127.0.0.1";
        assert_eq!((ran.stderr.contains(reason), seen.load(SeqCst)), (follows, !follows), "{}", ran.stderr);
    }
}
