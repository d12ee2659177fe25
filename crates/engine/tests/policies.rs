//! Policies (`warmwire_policy`, WARMWIRE_POLICY) against servers: each place that a transfer connects to is
//! judged, and what is refused sees no connection.
//!
//! covers: CURLOPT_RESOLVE, CURLOPT_UNIX_SOCKET_PATH, CURLOPT_DOH_URL

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::thread;

use crate::common::{App, fetch, handle, long, text};
use std::rc::Rc;
use tables::constant::{CURL_HTTP_VERSION_3ONLY, CURL_SSLVERSION_MAX_TLSv1_2};
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::{Config, HttpServer, Response};
use warmwire_engine::why::Record;
use warmwire_engine::{Easy, Policy};
use wire::policy::Check;

/// Rules that allow the servers of a test.
const LOCAL: &str = "allow address 127.0.0.1";

fn set(easy: &Easy, rules: &str) {
    let policy = Policy::parse("test", format!("version 1\n{rules}\n").as_bytes());
    assert_eq!(policy.fault(), None);
    easy.state().settings.borrow_mut().set_policy(Some(Arc::new(policy)));
    easy.keep_reasons(true.into());
}

fn guarded(url: &str, rules: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(url);
    set(&easy, rules);
    text(&easy, O::NoProxy, "");
    (easy, app)
}

fn list(easy: &Easy, option: O, line: &str) {
    let lines = vec![line.as_bytes().into()];
    easy.state().settings.borrow_mut().set_list(option, Some(lines)).unwrap();
}

/// Performs; the refusal must contain this text, and be the one among the reasons of the transfer.
fn refused(easy: &Easy, app: &App, check: Check, wanted: &str) {
    assert_eq!(fetch(easy, app), Err(Code::RemoteAccessDenied), "{wanted}: {}", easy.state().message());
    let message = easy.state().message();
    assert!(message.starts_with("policy test refuses ") && message.contains(wanted), "{wanted}: {message}");
    assert_eq!(denials(easy), [(check, message.clone())]);
    let record = easy.state().why.read(Record::clone).unwrap();
    let line = format!(
        "  policy      {}",
        message.trim_start_matches("policy ").replacen(": ", &format!(" (check: {}): ", check.name()), 1)
    );
    assert!(record.text().contains(&line), "{}\nlacks {line}", record.text());
    let member = format!(r#""event":"policy-refused","check":"{}","policy":"test""#, check.name());
    assert!(record.json().contains(&member), "{}", record.json());
}

/// Returns the refusals among the reasons of the last transfer: the check, and the text.
fn denials(easy: &Easy) -> Vec<(Check, String)> {
    let texts =
        |record: &Record| record.denials().map(|refusal| (refusal.check, refusal.to_string())).collect();
    easy.state().why.read(texts).unwrap()
}

#[test]
fn addresses_are_judged_in_every_spelling() {
    let server = HttpServer::plain();
    let port = server.port();
    let hosts = [
        "127.0.0.1",
        "127.1",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "2130706433",
        "0x7f000001",
        "017700000001",
        "localhost",
        "LOCALHOST.",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "%31%32%37.0.0.1",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "127\u{3002}0\u{3002}0\u{3002}1",
        "0",
        "[::]",
        "[::1]",
    ];
    for host in hosts {
        let (easy, app) = guarded(&format!("http://{host}:{port}/bytes/1"), "");
        assert_ne!(fetch(&easy, &app).ok().map(|body| body.len()), Some(1), "{host}");
        assert_eq!(server.accepts(), 0, "{host}");
    }
    let (easy, app) = guarded(&server.url("/bytes/1"), "");
    refused(&easy, &app, Check::Address, "address 127.0.0.1: it is not public");
    let (easy, app) = guarded(&server.url("/bytes/1"), LOCAL);
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
}

#[test]
fn names_are_judged_by_their_addresses() {
    let server = HttpServer::plain();
    let port = server.port();
    let url = format!("http://host.test:{port}/bytes/1");
    let (easy, app) = guarded(&url, "");
    list(&easy, O::Resolve, &format!("host.test:{port}:127.0.0.1"));
    refused(&easy, &app, Check::Address, "address 127.0.0.1");
    assert_eq!(server.accepts(), 0);
    set(&easy, LOCAL);
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
    // The name moves to another address, as when it is bound anew between a check and the connection.
    easy.state().settings.borrow_mut().set_list(O::Resolve, None).unwrap();
    list(&easy, O::Resolve, &format!("host.test:{port}:127.0.0.2"));
    long(&easy, O::FreshConnect, 1);
    refused(&easy, &app, Check::Address, "address 127.0.0.2");
    // Of several addresses, those that are allowed are tried.
    let (easy, app) = guarded(&url, LOCAL);
    list(&easy, O::Resolve, &format!("host.test:{port}:127.0.0.2,127.0.0.1"));
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
    assert!(
        denials(&easy).iter().all(|(check, text)| *check == Check::Address && text.contains("127.0.0.2"))
    );
    assert_eq!(denials(&easy).len(), 1);
    // So is a host that replaces the one of the URL.
    let (easy, app) = guarded(&url, "deny host other.test");
    list(&easy, O::ConnectTo, "::other.test:80");
    refused(&easy, &app, Check::ConnectTo, "host \"other.test\"");
}

#[test]
fn redirects_are_judged() {
    let inner = HttpServer::plain();
    let to = inner.url("/bytes/1");
    let outer = HttpServer::with(move |request| {
        let to = if request.target == "/ftp" { "ftp://127.0.0.1/x" } else { &*to };
        Some(Response::status(302).with("Location", to))
    });
    let (easy, app) = guarded(&outer.url("/"), &format!("{LOCAL}\ndeny port {}", inner.port()));
    long(&easy, O::FollowLocation, 1);
    refused(&easy, &app, Check::Redirect, &format!("port {}: line 3", inner.port()));
    assert_eq!((outer.served(), inner.accepts()), (1, 0));
    text(&easy, O::Url, &outer.url("/ftp"));
    refused(&easy, &app, Check::Redirect, "scheme \"ftp\": no \"allow scheme\" line");
    set(&easy, LOCAL);
    text(&easy, O::Url, &outer.url("/"));
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
}

#[test]
fn a_connection_made_under_another_policy_is_not_reused() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/bytes/1"));
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
    set(&easy, "");
    refused(&easy, &app, Check::Address, "address 127.0.0.1");
    set(&easy, LOCAL);
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
    assert_eq!(server.accepts(), 2);
    set(&easy, LOCAL);
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
    assert_eq!(server.accepts(), 2, "an equal policy");
    set(&easy, &format!("{LOCAL}\ndeny port 1"));
    assert_eq!(fetch(&easy, &app).unwrap().len(), 1);
    assert_eq!(server.accepts(), 3);
}

#[test]
fn data_connections_of_ftp_are_judged() {
    let server = FtpServer::with_file("/file", "content");
    let port = server.address().port();
    let (easy, app) = guarded(&server.url("/file"), LOCAL);
    refused(&easy, &app, Check::Url, "scheme \"ftp\"");
    assert_eq!(server.accepts(), 0);
    let rules = format!("{LOCAL}\nallow scheme ftp\n");
    set(&easy, &format!("{rules}allow port {port}"));
    assert_eq!(fetch(&easy, &app).unwrap(), b"content");
    let others = format!("deny port 1-{} {}-65535", port - 1, port + 1);
    for _ in 0..2 {
        // The second time there may be a kept control connection with a port asked for in advance.
        set(&easy, &format!("{rules}{others}"));
        let before = server.data_accepts();
        refused(&easy, &app, Check::DataConnection, "of a data connection: line 4");
        assert_eq!(server.data_accepts(), before);
    }
}

#[test]
fn proxies_must_be_allowed() {
    let proxy = HttpServer::with(|_| Some(Response::ok("by the proxy")));
    let port = proxy.port();
    let (easy, app) = guarded("http://host.test/", "");
    text(&easy, O::Proxy, &format!("http://127.0.0.1:{port}"));
    refused(&easy, &app, Check::Proxy, &format!("proxy \"127.0.0.1:{port}\""));
    let rules = format!("allow proxy 127.0.0.1:{port}\n");
    set(&easy, &rules);
    refused(&easy, &app, Check::LookupByProxy, "host \"host.test\", whose address only the proxy sees");
    assert_eq!(proxy.accepts(), 0);
    set(&easy, &format!("{rules}allow lookup-by-proxy host.test"));
    assert_eq!(fetch(&easy, &app).unwrap(), b"by the proxy");
    for url in ["http://127.0.0.1/", "http://2130706433/", "http://[::1]/"] {
        set(&easy, &format!("{rules}allow lookup-by-proxy *"));
        text(&easy, O::Url, url);
        refused(&easy, &app, Check::Address, "address ");
    }
    assert_eq!(proxy.served(), 1);
}

#[test]
fn addresses_that_socks_proxies_get_are_judged() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (easy, app) = guarded("http://host.test/", &format!("allow proxy 127.0.0.1:{port}"));
    list(&easy, O::Resolve, "host.test:80:10.0.0.1");
    text(&easy, O::Proxy, &format!("socks5://127.0.0.1:{port}"));
    refused(&easy, &app, Check::Address, "address 10.0.0.1");
    text(&easy, O::Proxy, &format!("socks4://127.0.0.1:{port}"));
    refused(&easy, &app, Check::Address, "address 10.0.0.1");
}

#[test]
fn unix_sockets_and_files_must_be_allowed() {
    let (easy, app) = guarded("http://host.test/", "");
    text(&easy, O::UnixSocketPath, "/nonexistent/socket");
    refused(&easy, &app, Check::UnixSocket, "unix socket \"/nonexistent/socket\"");
    set(&easy, "allow unix /nonexistent/socket");
    assert_eq!(fetch(&easy, &app), Err(Code::CouldntConnect));
    let (easy, app) = guarded("file:///nonexistent", "");
    refused(&easy, &app, Check::Url, "scheme \"file\"");
    set(&easy, "allow scheme file");
    assert_eq!(fetch(&easy, &app), Err(Code::FileCouldntReadFile));
}

#[test]
fn a_server_of_dns_over_https_is_judged() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (easy, app) = guarded("http://host.test/", "");
    text(&easy, O::DohUrl, &format!("https://{}/", listener.local_addr().unwrap()));
    long(&easy, O::TimeoutMs, 5000);
    assert_eq!(fetch(&easy, &app), Err(Code::CouldntResolveHost));
    let wanted =
        "policy test refuses address 127.0.0.1: it is not public, and no \"allow address\" line covers it";
    assert_eq!(denials(&easy), [(Check::Doh, wanted.to_owned())]);
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn no_datagram_is_sent_to_a_refused_address() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let address = server.local_addr().unwrap();
    for (url, version) in
        [(format!("tftp://{address}/x"), 0), (format!("https://{address}/"), CURL_HTTP_VERSION_3ONLY)]
    {
        let (easy, app) = guarded(&url, "allow scheme tftp https");
        long(&easy, O::HttpVersion, version);
        long(&easy, O::TimeoutMs, 5000);
        refused(&easy, &app, Check::Address, "address 127.0.0.1");
        assert_eq!(server.recv_from(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock, "{url}");
    }
}

/// A server of TFTP answers from a port of its own (RFC 1350 section 4), and could answer from any address.
#[test]
fn the_address_that_a_tftp_server_answers_from_is_judged() {
    let answer = |rules: &str| {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (easy, app) = guarded(
            &format!("tftp://{}/x", server.local_addr().unwrap()),
            &format!("allow scheme tftp\n{rules}"),
        );
        long(&easy, O::TimeoutMs, 5000);
        let server = thread::spawn(move || {
            let (_, client) = server.recv_from(&mut [0; 600]).unwrap();
            let elsewhere = UdpSocket::bind("127.0.0.2:0").unwrap();
            elsewhere.send_to(b"\0\x03\0\x01content", client).unwrap();
        });
        (easy, app, server)
    };
    let (easy, app, server) = answer(LOCAL);
    refused(&easy, &app, Check::Address, "address 127.0.0.2");
    server.join().unwrap();
    let (easy, app, server) = answer("allow address loopback");
    assert_eq!(fetch(&easy, &app).unwrap(), b"content", "{}", easy.state().message());
    server.join().unwrap();
}

#[test]
fn an_alternative_service_that_a_policy_refuses_is_not_used() {
    let authority = Authority::new();
    let tls = || authority.good().server_config().unwrap();
    let there = HttpServer::tls(tls());
    let value = format!("h1=\"localhost:{}\"; ma=600", there.port());
    let answer = move |_: &_| Some(Response::status(200).with("Alt-Svc", &*value));
    let config = Config { tls: Some(tls()), handler: Some(Arc::new(answer)), ..Config::default() };
    let here = HttpServer::start(config).unwrap();
    let refuses = format!("allow address loopback\ndeny port {}", there.port());
    for (rules, by_alternative) in [(refuses.as_str(), 0), ("allow address loopback", 1)] {
        let (easy, app) = guarded(&here.url("/"), rules);
        text(&easy, O::CaInfoBlob, authority.ca_pem());
        long(&easy, O::AltSvcCtrl, 8);
        for _ in 0..2 {
            assert_eq!(fetch(&easy, &app).err(), None, "{rules}: {}", easy.state().message());
        }
        assert_eq!(there.served(), by_alternative, "{rules}");
        let port = there.port();
        let text = format!("policy test refuses port {port}: line 3, \"deny port {port}\"");
        let wanted = if by_alternative == 0 { vec![(Check::AltSvc, text)] } else { Vec::new() };
        assert_eq!(denials(&easy), wanted, "{rules}");
    }
    assert_eq!(here.served(), 3);
}

#[test]
fn servers_have_the_version_of_tls_and_the_key_that_a_policy_demands() {
    let authority = Authority::new();
    let leaf = authority.good();
    let (new, old) = (
        HttpServer::tls(leaf.server_config().unwrap()),
        HttpServer::tls(leaf.tls12_server_config().unwrap()),
    );
    let (good, bad) = (leaf.public_key_hash(), format!("sha256//{}=", "A".repeat(43)));
    for (server, rule, wanted) in [
        (&new, "tls min 1.3".to_owned(), Ok(1)),
        (&old, "tls min 1.2".to_owned(), Ok(1)),
        (&old, "tls min 1.3".to_owned(), Err(Code::SslConnectError)),
        (&new, format!("pin localhost {bad} {good}"), Ok(1)),
        (&old, format!("pin localhost {good}"), Ok(1)),
        (&new, format!("pin localhost {bad}"), Err(Code::SslPinnedpubkeynotmatch)),
        (&old, format!("pin *.localhost {bad}"), Ok(1)),
    ] {
        let (easy, app) = guarded(&server.url("/bytes/1"), &format!("allow address loopback\n{rule}"));
        text(&easy, O::CaInfoBlob, authority.ca_pem());
        // A key that is wrong is refused whether or not the certificate is looked at.
        long(&easy, O::SslVerifyPeer, i64::from(wanted.is_ok()));
        let served = server.served();
        let answer = fetch(&easy, &app).map(|body| body.len());
        assert_eq!(answer, wanted, "{rule}: {}", easy.state().message());
        assert_eq!(server.served() > served, wanted.is_ok(), "{rule}");
    }
    let (easy, app) = guarded(&new.url("/bytes/1"), "allow address loopback\ntls min 1.3");
    long(&easy, O::SslVersion, CURL_SSLVERSION_MAX_TLSv1_2);
    refused(&easy, &app, Check::Tls, "it demands TLS 1.3");
}

#[test]
fn a_policy_with_an_error_refuses_everything() {
    let server = HttpServer::plain();
    for policy in [Policy::parse("test", b"version 1\nallow all"), Policy::unreadable("test", "gone")] {
        let (easy, app) = handle(&server.url("/bytes/1"));
        easy.state().settings.borrow_mut().set_policy(Some(Arc::new(policy)));
        assert_eq!(fetch(&easy, &app), Err(Code::RemoteAccessDenied));
        assert!(easy.state().message().starts_with("policy test refuses every transfer: "));
    }
    assert_eq!(server.accepts(), 0);
}
