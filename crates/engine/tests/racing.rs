//! The race between the addresses of a host with TLS: it extends through the handshake.

use std::io::{self, Read};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::common::{App, handle, long, text};
use tables::constant::CURL_SSLVERSION_TLSv1_0;
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::http::{Config, HttpServer};
use warmwire_engine::Easy;

/// A server at 127.0.0.1, and something else at the same port of ::1.
fn both<T>(authority: &Authority, other: impl Fn(SocketAddr) -> io::Result<T>) -> (HttpServer, T) {
    loop {
        let server = HttpServer::tls(authority.good().server_config().unwrap());
        if let Ok(other) = other((Ipv6Addr::LOCALHOST, server.port()).into()) {
            return (server, other);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum By {
    Rustls,
    OpenSsl,
}

const EITHER: [By; 2] = [By::Rustls, By::OpenSsl];

fn to_localhost(by: By, server: &HttpServer, authority: &Authority) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("https://localhost:{}/bytes/10", server.port()));
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    long(&easy, O::FreshConnect, 1);
    long(&easy, O::ForbidReuse, 1);
    if by == By::OpenSsl {
        // A list that rustls cannot satisfy.
        text(&easy, O::SslCipherList, "DEFAULT@SECLEVEL=0");
        long(&easy, O::SslVersion, CURL_SSLVERSION_TLSv1_0);
    }
    (easy, app)
}

/// The connections that wait to be accepted.
fn callers(listener: &TcpListener) -> Vec<TcpStream> {
    listener.set_nonblocking(true).unwrap();
    std::iter::from_fn(|| listener.accept().ok()).map(|(stream, _)| stream).collect()
}

// covers: CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS
#[test]
fn silent_servers_lose_the_race() {
    EITHER.into_iter().for_each(silence_loses);
}

fn silence_loses(by: By) {
    let authority = Authority::new();
    let (server, silent) = both(&authority, TcpListener::bind);
    let (easy, app) = to_localhost(by, &server, &authority);
    let start = Instant::now();
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert!(start.elapsed() >= Duration::from_millis(190), "it has the delay to itself");
    assert_eq!(app.body.borrow().len(), 10);
    let info = easy.state().info.borrow().clone();
    assert_eq!((info.ends.primary_ip(), info.connects), ("127.0.0.1".to_owned(), 1));
    assert_eq!(info.rare.native_tls.is_some(), by == By::OpenSsl);

    let mut seen = callers(&silent);
    assert_eq!(seen.len(), 1);
    let mut hello = Vec::new();
    seen[0].set_nonblocking(false).unwrap();
    seen[0].read_to_end(&mut hello).unwrap();
    assert_eq!(hello[0], 22);
    let length = usize::from(u16::from_be_bytes([hello[3], hello[4]]));
    assert_eq!(hello.len(), 5 + length, "nothing but the one hello");

    // The winner is remembered, and the other one not tried again.
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert!(callers(&silent).is_empty());
    assert_eq!(server.accepts(), 2);
}

#[test]
fn closing_servers_lose_the_race_at_once() {
    EITHER.into_iter().for_each(gives_way);
}

fn gives_way(by: By) {
    let authority = Authority::new();
    let (server, other) = both(&authority, TcpListener::bind);
    let hangs_up = std::thread::spawn(move || drop(other.accept().unwrap()));
    let (easy, app) = to_localhost(by, &server, &authority);
    long(&easy, O::HappyEyeballsTimeoutMs, 60_000);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().len(), 10);
    hangs_up.join().unwrap();
}

/// A server that is not who it should be ends it, as in curl: it was reached.
#[test]
fn wrong_certificates_end_the_race() {
    EITHER.into_iter().for_each(impostors_end_it);
}

fn impostors_end_it(by: By) {
    let authority = Authority::new();
    let tls = Some(authority.expired().server_config().unwrap());
    let expired =
        |address| HttpServer::start(Config { tls: tls.clone(), address: Some(address), ..Config::default() });
    let (server, impostor) = both(&authority, expired);
    let (easy, _) = to_localhost(by, &server, &authority);
    assert_eq!(easy.perform(), Code::PeerFailedVerification);
    assert_eq!((impostor.accepts(), server.accepts()), (1, 0));
}

#[test]
fn all_failures_are_named() {
    let (easy, _) = handle("https://localhost:1/");
    assert_eq!(easy.perform(), Code::CouldntConnect);
    let message = easy.state().message().to_string();
    let list = "Could not connect to server ([::1]:1: Connection refused, 127.0.0.1:1: Connection refused)";
    assert!(message.ends_with(list), "{message}");
}
