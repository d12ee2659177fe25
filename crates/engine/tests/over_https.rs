//! Names resolved over HTTPS: the queries, trust in the server, and failures.

use std::sync::Arc;

use crate::common::{handle, long, text, until_done};
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::http::{Config, HttpServer, Request, Response};
use warmwire_engine::multi::Limits;
use warmwire_engine::{Easy, Multi};

const A: u16 = 1;
const AAAA: u16 = 28;

/// A server's answer to a query of this type: records' data, or a response code.
type Answers = fn(u16) -> Result<Vec<Vec<u8>>, u8>;

fn at_home(kind: u16) -> Result<Vec<Vec<u8>>, u8> {
    Ok(if kind == A { vec![vec![127, 0, 0, 1]] } else { Vec::new() })
}

/// The question's type, and the name as text.
fn asked(request: &Request) -> (u16, String) {
    let question = &request.body[12..];
    let end = question.iter().position(|octet| *octet == 0).unwrap();
    let kind = u16::from_be_bytes([question[end + 1], question[end + 2]]);
    let mut name = question[1..end].to_vec();
    name.iter_mut().filter(|octet| **octet < 32).for_each(|octet| *octet = b'.');
    (kind, String::from_utf8(name).unwrap())
}

fn reply(request: &Request, says: Answers) -> Response {
    let (kind, _) = asked(request);
    let mut message = request.body.clone();
    let answer = says(kind);
    message[2] = 0x81;
    message[3] = 0x80 | *answer.as_ref().err().unwrap_or(&0);
    let records = answer.unwrap_or_default();
    message[7] = records.len() as u8;
    for data in records {
        message.extend([0xc0, 12]);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1, 0, 0, 0, 60]);
        message.extend((data.len() as u16).to_be_bytes());
        message.extend(data);
    }
    Response::ok(message).with("Content-Type", "application/dns-message")
}

fn name_server(authority: &Authority, says: Answers) -> HttpServer {
    let tls = Some(authority.good().server_config().unwrap());
    let handler = Arc::new(move |request: &Request| Some(reply(request, says)));
    HttpServer::start(Config { tls, handler: Some(handler), ..Config::default() }).unwrap()
}

fn asking(url: &str, dns: &HttpServer, authority: &Authority) -> Easy {
    let (easy, _) = handle(url);
    text(&easy, O::DohUrl, &dns.url("/dns-query"));
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    easy
}

/// covers: CURLOPT_DOH_URL
#[test]
fn both_families_are_asked_once() {
    let (authority, server) = (Authority::new(), HttpServer::plain());
    let dns = name_server(&authority, at_home);
    let easy = asking(&format!("http://Foo.example.com:{}/", server.port()), &dns, &authority);
    for _ in 0..2 {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        long(&easy, O::FreshConnect, 1);
    }
    assert_eq!((server.accepts(), dns.served()), (2, 2), "the second transfer had it in the cache");
    let mut questions: Vec<_> = dns.requests().iter().map(asked).collect();
    questions.sort();
    assert_eq!(questions, [(A, "foo.example.com".to_owned()), (AAAA, "foo.example.com".to_owned())]);
    let request = dns.last_request().unwrap();
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/dns-query"));
    let fields: Vec<&str> = request.fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(fields, ["Host", "Accept", "Content-Type", "Content-Length"]);
    assert_eq!(request.field("Content-Type"), Some("application/dns-message"));
    assert_eq!((&request.body[..12], request.body.len()), (&b"\0\0\x01\0\0\x01\0\0\0\0\0\0"[..], 33));
}

/// covers: CURLOPT_IPRESOLVE
#[test]
fn one_family_is_one_question_and_numbers_are_none() {
    let (authority, server) = (Authority::new(), HttpServer::plain());
    let dns = name_server(&authority, at_home);
    for (host, version, questions) in [("a.example", 1, 1), ("127.0.0.1", 0, 1), ("localhost", 1, 1)] {
        let easy = asking(&format!("http://{host}:{}/", server.port()), &dns, &authority);
        long(&easy, O::IpResolve, version);
        assert_eq!(easy.perform(), Code::Ok, "{host}: {}", easy.state().message());
        assert_eq!(dns.served(), questions, "{host}");
    }
}

/// Trust in the origin's certificate does not extend to the name server.
/// covers: CURLOPT_DOH_SSL_VERIFYPEER, CURLOPT_DOH_SSL_VERIFYHOST, CURLOPT_DOH_SSL_VERIFYSTATUS
#[test]
fn the_name_server_is_verified_by_options_of_its_own() {
    let (authority, server) = (Authority::new(), HttpServer::plain());
    let dns = name_server(&authority, at_home);
    let url = format!("http://a.example:{}/", server.port());
    let rows = [(O::SslVerifyPeer, Code::CouldntResolveHost), (O::DohSslVerifyPeer, Code::Ok)];
    for (option, code) in rows {
        let (easy, _) = handle(&url);
        text(&easy, O::DohUrl, &dns.url("/"));
        long(&easy, option, 0);
        assert_eq!(easy.perform(), code, "{}", easy.state().message());
    }
    let elsewhere = authority.wrong_name().server_config().unwrap();
    let handler = Arc::new(|request: &Request| Some(reply(request, at_home)));
    let config = Config { tls: Some(elsewhere), handler: Some(handler), ..Config::default() };
    let dns = HttpServer::start(config).unwrap();
    for (option, code) in [(O::SslVerifyHost, Code::CouldntResolveHost), (O::DohSslVerifyHost, Code::Ok)] {
        let easy = asking(&url, &dns, &authority);
        long(&easy, option, 0);
        assert_eq!(easy.perform(), code, "{}", easy.state().message());
    }
    let easy = asking(&url, &dns, &authority);
    long(&easy, O::DohSslVerifyHost, 0);
    long(&easy, O::DohSslVerifyStatus, 1);
    assert_eq!(easy.perform(), Code::CouldntResolveHost, "nothing is stapled");
}

/// covers: CURLOPT_RESOLVE
#[test]
fn the_name_servers_own_name_is_not_asked_of_itself() {
    let (authority, server) = (Authority::new(), HttpServer::plain());
    let dns = name_server(&authority, at_home);
    let (easy, _) = handle(&format!("http://a.example:{}/", server.port()));
    let pin = format!("dns.example:{}:127.0.0.1", dns.port());
    let pins = Some(vec![pin.as_bytes().into()]);
    easy.state().settings.borrow_mut().set_list(O::Resolve, pins).unwrap();
    text(&easy, O::DohUrl, &format!("https://dns.example:{}/", dns.port()));
    long(&easy, O::DohSslVerifyPeer, 0);
    long(&easy, O::DohSslVerifyHost, 0);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert!(dns.requests().iter().all(|request| asked(request).1 == "a.example"));
}

#[test]
fn invalid_answers_resolve_no_name() {
    let authority = Authority::new();
    let says: [Answers; 3] = [|_| Ok(Vec::new()), |_| Err(3), |_| Err(2)];
    for says in says {
        let dns = name_server(&authority, says);
        let easy = asking("http://a.example/", &dns, &authority);
        for questions in [2, if says(A) == Err(2) { 4 } else { 2 }] {
            assert_eq!(easy.perform(), Code::CouldntResolveHost);
            assert_eq!(easy.state().message(), "Could not resolve host: a.example");
            assert_eq!(dns.served(), questions, "that a server failed is not remembered");
        }
    }
    let tls = Some(authority.good().server_config().unwrap());
    let garbage = Arc::new(|_: &Request| Some(Response::ok(&b"no message"[..])));
    let dns = HttpServer::start(Config { tls, handler: Some(garbage), ..Config::default() }).unwrap();
    let easy = asking("http://a.example/", &dns, &authority);
    assert_eq!(easy.perform(), Code::CouldntResolveHost);
    text(&easy, O::Proxy, "http://proxy.example:1");
    assert_eq!(easy.perform(), Code::CouldntResolveProxy);
}

/// Only https is accepted: queries in clear text would not be secret.
#[test]
fn a_name_server_without_tls_is_none() {
    let dns = HttpServer::with(|request| Some(reply(request, at_home)));
    let (easy, _) = handle("http://a.example/");
    text(&easy, O::DohUrl, &dns.url("/"));
    assert_eq!(easy.perform(), Code::CouldntResolveHost);
    assert_eq!(dns.accepts(), 0);
}

/// covers: CURLOPT_CONNECTTIMEOUT_MS
#[test]
fn a_name_server_that_is_silent_is_a_time_out() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (easy, _) = handle("http://a.example/");
    text(&easy, O::DohUrl, &format!("https://{}/", silent.local_addr().unwrap()));
    long(&easy, O::ConnectTimeoutMs, 200);
    assert_eq!(easy.perform(), Code::OperationTimedout);
    assert!(easy.state().message().starts_with("Resolving timed out after "), "{}", easy.state().message());
}

/// A transfer has its place among the connections already when it asks for the name.
/// covers: CURLMOPT_MAX_TOTAL_CONNECTIONS
#[test]
fn limits_of_connections_do_not_hold_look_ups_up() {
    let (authority, server) = (Authority::new(), HttpServer::plain());
    let dns = name_server(&authority, at_home);
    let multi = Multi::default();
    multi.set_limits(Limits { max_total: 1, ..Limits::default() });
    let easy = asking(&format!("http://a.example:{}/", server.port()), &dns, &authority);
    multi.add(&easy);
    assert_eq!(until_done(&multi), Code::Ok, "{}", easy.state().message());
    assert_eq!((multi.running(), multi.members().len()), (0, 1), "what asks is no member");
    multi.remove(&easy);
    multi.close();
}
