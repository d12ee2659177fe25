//! Name servers that the application sets, and local addresses for their queries.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use crate::common::{handle, long, text, until_done};
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::dns::{A, AAAA, DnsAnswer, NameServer, address};
use testkit::http::{Config, HttpServer};
use warmwire_engine::{Easy, Multi};

fn at_home() -> NameServer {
    NameServer::start(|asked| match asked.kind {
        A if asked.name.eq_ignore_ascii_case("a.example") => address(A, "127.0.0.1"),
        _ => DnsAnswer::Code(3),
    })
}

fn asking(url: &str, dns: &NameServer) -> Easy {
    let (easy, _) = handle(url);
    text(&easy, O::DnsServers, &dns.address().to_string());
    easy
}

/// covers: CURLOPT_DNS_SERVERS, CURLOPT_DNS_LOCAL_IP4, CURLOPT_DNS_INTERFACE
#[test]
fn named_servers_replace_those_of_the_system() {
    let (server, dns) = (HttpServer::plain(), at_home());
    let easy = asking(&format!("http://a.example:{}/", server.port()), &dns);
    text(&easy, O::DnsLocalIp4, "127.0.0.3");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(dns.asked().len(), 2);
    assert!(dns.asked().iter().all(|asked| asked.from.ip().to_string() == "127.0.0.3"));
    let easy = asking("http://b.example/", &dns);
    for _ in 0..2 {
        assert_eq!(easy.perform(), Code::CouldntResolveHost);
        assert_eq!(dns.asked().len(), 4, "that there is no such name is remembered");
    }
    let easy = asking("http://a.example/", &dns);
    text(&easy, O::DnsInterface, "no-such-interface");
    text(&easy, O::DnsServers, "127.0.0.1:1");
    assert_eq!(easy.perform(), Code::CouldntResolveHost);
}

/// A connection to a name that other servers resolve differently is not shared with users of those.
#[test]
fn connections_are_not_shared_across_name_servers() {
    let (server, dns, other) = (HttpServer::plain(), at_home(), at_home());
    let easy = asking(&format!("http://a.example:{}/", server.port()), &dns);
    assert_eq!(easy.perform(), Code::Ok);
    text(&easy, O::DnsServers, &other.address().to_string());
    assert_eq!((easy.perform(), server.accepts()), (Code::Ok, 2));
    assert_eq!((easy.perform(), server.accepts()), (Code::Ok, 2));
}

/// covers: CURLOPT_DNS_SERVERS, CURLOPT_DNS_LOCAL_IP4, CURLOPT_DNS_LOCAL_IP6
#[test]
fn malformed_server_addresses_are_refused() {
    let (easy, _) = handle("http://a.example/");
    for (option, good, bad) in [
        (O::DnsServers, "127.0.0.1:5300, [::1]:53", "name.example"),
        (O::DnsServers, "::1", "127.0.0.1:0"),
        (O::DnsServers, "::1", ""),
        (O::DnsServers, "::1", "127.0.0.1,,x"),
        (O::DnsLocalIp4, "127.0.0.1", "::1"),
        (O::DnsLocalIp6, "::1", "127.0.0.1"),
    ] {
        assert_eq!(easy.set_text(option, Some(good.as_bytes())), Ok(()), "{good}");
        assert_eq!(easy.set_text(option, Some(bad.as_bytes())), Err(Code::BadFunctionArgument), "{bad}");
        assert_eq!(easy.state().settings.borrow().string(option).as_deref(), Some(good), "it stays");
        assert_eq!(easy.set_text(option, None), Ok(()));
    }
}

/// Their sockets are reported to an event loop.
#[test]
fn time_runs_out_over_silence() {
    let dns = NameServer::start(|_| DnsAnswer::Silence);
    let multi = Multi::default();
    let easy = asking("http://a.example/", &dns);
    long(&easy, O::ConnectTimeoutMs, 200);
    multi.add(&easy);
    multi.perform();
    assert_eq!(multi.interests().len(), 2, "a socket for each family");
    assert_eq!(until_done(&multi), Code::OperationTimedout);
    assert!(easy.state().message().starts_with("Resolving timed out after "), "{}", easy.state().message());
    assert!(multi.interests().is_empty());
    multi.remove(&easy);
    multi.close();
}

/// The name server is asked for what it has published, where that counts.
/// covers: CURLOPT_ECH
#[test]
fn published_configurations_are_asked_for() {
    let port = testkit::raw::RawPeer::refused_port();
    let dns = NameServer::start(|asked| match asked.kind {
        A => address(A, "127.0.0.1"),
        _ => DnsAnswer::Records(Vec::new()),
    });
    let url = format!("https://a.example:{port}/");
    // Without ECH, or with GREASE, protocols and ports are still queried.
    for wish in ["hard", "grease", "false"] {
        let easy = asking(&url, &dns);
        let before = dns.asked().len();
        easy.set_text(O::Ech, Some(wish.as_bytes())).unwrap();
        assert_eq!(easy.perform(), Code::CouldntConnect, "{}", easy.state().message());
        let questions = &dns.asked()[before..];
        let name = format!("_{port}._https.a.example");
        let https = |q: &&testkit::dns::ReceivedQuery| q.name.eq_ignore_ascii_case(&name);
        assert_eq!((questions.iter().any(|q| https(&q)), questions.len()), (true, 3), "{wish}");
    }
}

/// A server only on IPv6. The same port on IPv4 is unused, or accepts and stays silent.
fn on_six(authority: &Authority, silent: bool) -> (HttpServer, Option<TcpListener>) {
    let six = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    for _ in 0..100 {
        let tls = Some(authority.for_names(&["a.example"]).server_config().unwrap());
        let server = HttpServer::start(Config { tls, address: Some(six), ..Config::default() }).unwrap();
        // Another test may use it.
        if let Ok(four) = TcpListener::bind(("127.0.0.1", server.port())) {
            return (server, silent.then_some(four));
        }
    }
    panic!("no port is free for both");
}

/// The race is under way, or would be lost, when the answer comes that leads to the server.
#[test]
fn a_late_answer_is_not_too_late() {
    let authority = Authority::new();
    for silent in [false, true] {
        let (server, other) = on_six(&authority, silent);
        let dns = NameServer::start(|asked| match asked.kind {
            A => address(A, "127.0.0.1"),
            _ => DnsAnswer::Late(Duration::from_millis(400), Box::new(address(AAAA, "::1"))),
        });
        let easy = asking(&format!("https://a.example:{}/", server.port()), &dns);
        text(&easy, O::CaInfoBlob, authority.ca_pem());
        long(&easy, O::HappyEyeballsTimeoutMs, 100);
        let start = Instant::now();
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert!(start.elapsed() >= Duration::from_millis(400));
        let info = easy.state().info.borrow().clone();
        assert_eq!(info.ends.primary_ip(), "::1");
        assert!(Duration::from(info.name_lookup) < Duration::from_millis(400), "{:?}", info.name_lookup);
        drop(other);
    }
}
