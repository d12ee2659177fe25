//! Lists of proxies: the next one is tried when one cannot be reached, and a dead one is remembered.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{App, fetch, handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::http::{HttpServer, Response};
use testkit::raw::{RawPeer, expect, send};
use warmwire_engine::why::Record;
use warmwire_engine::{Easy, Policy};

/// A proxy that is also the server at the end of its tunnels.
fn proxy() -> HttpServer {
    HttpServer::with(|request| (request.method == "CONNECT").then(|| Response::ok("")))
}

/// Returns an address where nobody listens.
fn dead_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A handle with this list of proxies, and its application.
fn through(url: &str, list: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(url);
    text(&easy, O::Proxy, list);
    text(&easy, O::NoProxy, "");
    easy.keep_reasons(true.into());
    (easy, app)
}

fn reasons(easy: &Easy) -> String {
    easy.state().why.read(Record::clone).unwrap().text()
}

/// A dead proxy is tried once. Later transfers, also of other handles, begin with the next one.
// covers: CURLOPT_PROXY, --proxy
#[test]
fn the_next_proxy_is_tried_when_one_is_dead() {
    for tunnel in [0, 1] {
        let (proxy, dead) = (proxy(), dead_address());
        let list = format!("http://me:secret@{dead} {}", proxy.url(""));
        let (easy, app) = through("http://a.example/bytes/3", &list);
        long(&easy, O::HttpProxyTunnel, tunnel);
        assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(3));
        let text = reasons(&easy);
        assert!(text.contains(&format!("http://{dead} failed: ")), "{text}");
        assert!(text.contains(&proxy.url("")) && text.contains("from CURLOPT_PROXY"), "{text}");
        assert!(!text.contains("secret"), "{text}");
        let (again, app) = through("http://a.example/bytes/4", &list);
        long(&again, O::HttpProxyTunnel, tunnel);
        assert_eq!(fetch(&again, &app).map(|body| body.len()), Ok(4));
        let text = reasons(&again);
        assert!(!text.contains(" failed: ") && text.contains("is tried last for "), "{text}");
    }
}

/// A proxy that ends while a handle uses it is replaced by the next one.
#[test]
fn a_proxy_that_ends_is_left() {
    let (first, second) = (proxy(), proxy());
    let list = format!("{} {}", first.url(""), second.url(""));
    let (easy, app) = through("http://a.example/bytes/3", &list);
    for _ in 0..2 {
        assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(3));
    }
    assert_eq!((first.served(), second.served()), (2, 0));
    let address = first.address();
    drop(first);
    // The system accepts connections until the socket is closed, and resets them then.
    let end = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < end, "it still listens");
    }
    for _ in 0..2 {
        assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(3), "{}", easy.state().message());
    }
    assert_eq!(second.served(), 2);
}

/// A proxy that refuses is alive: another one must not lead around its refusal.
#[test]
fn a_refusal_is_no_reason_to_try_the_next() {
    let (refusing, other) = (HttpServer::with(|_| Some(Response::status(403))), proxy());
    let list = format!("{} {}", refusing.url(""), other.url(""));
    let (easy, app) = through("http://a.example/bytes/3", &list);
    long(&easy, O::HttpProxyTunnel, 1);
    assert_eq!(fetch(&easy, &app), Err(Code::CouldntConnect));
    assert_eq!((refusing.served(), other.accepts()), (1, 0));
}

/// A proxy that closes without an answer to CONNECT, or never answers, is left in time; so is a SOCKS proxy.
#[test]
fn a_proxy_without_an_answer_is_left() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closing = || RawPeer::start(vec![vec![expect("\r\n\r\n")]]);
    let greeting = RawPeer::start(vec![vec![expect("\x05"), send("")]]);
    let rows = [
        format!("http://{}", silent.local_addr().unwrap()),
        format!("http://{}", closing().address()),
        format!("socks5h://{}", silent.local_addr().unwrap()),
        format!("socks5h://{}", greeting.address()),
    ];
    for first in rows {
        let other = proxy();
        let (easy, app) = through("http://a.example/bytes/3", &format!("{first} {}", other.url("")));
        long(&easy, O::HttpProxyTunnel, 1);
        long(&easy, O::ConnectTimeoutMs, 4000);
        let start = Instant::now();
        assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(3), "{first}: {}", easy.state().message());
        assert!(start.elapsed() < Duration::from_secs(4), "{first}: half of the time is for the second");
        assert!(reasons(&easy).contains(&format!("{first} failed: ")), "{}", reasons(&easy));
    }
}

/// `direct` is an entry as others are, first and last.
#[test]
fn direct_is_an_entry() {
    let (server, proxy, dead) = (HttpServer::plain(), proxy(), dead_address());
    let (easy, app) = through(&server.url("/bytes/3"), &format!("http://{dead} direct"));
    assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(3));
    assert!(reasons(&easy).contains("none: direct, from CURLOPT_PROXY"), "{}", reasons(&easy));
    let nobody = dead_address();
    let (easy, app) = through(&format!("http://{nobody}/bytes/4"), &format!("direct {}", proxy.url("")));
    assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(4), "{}", easy.state().message());
    assert_eq!((server.served(), proxy.served()), (1, 1));
}

/// If all are dead, the error is that of the last one. Afterwards they are tried all the same.
#[test]
fn dead_proxies_are_better_than_none() {
    let (one, two) = (dead_address(), dead_address());
    let (easy, app) = through("http://a.example/", &format!("http://{one} http://{two}"));
    assert_eq!(fetch(&easy, &app), Err(Code::CouldntConnect));
    assert!(easy.state().message().contains(&two.to_string()), "{}", easy.state().message());
    let text = reasons(&easy);
    assert!(text.contains(&format!("{one} failed: ")) && text.contains(&format!("{two} failed: ")), "{text}");
    assert_eq!(fetch(&easy, &app), Err(Code::CouldntConnect));
    assert_eq!(reasons(&easy).matches(" failed: ").count(), 2);
}

/// The exceptions count before the list, and after a redirect the list is read for the new host.
// covers: CURLOPT_NOPROXY
#[test]
fn exceptions_count_before_the_list() {
    let server = HttpServer::plain();
    let to = server.url("/bytes/3");
    let proxy = HttpServer::with(move |_| Some(Response::status(302).with("Location", &to)));
    let (easy, app) = through("http://a.example/", &format!("http://{} {}", dead_address(), proxy.url("")));
    text(&easy, O::NoProxy, "127.0.0.1");
    long(&easy, O::FollowLocation, 1);
    assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(3));
    assert_eq!((proxy.served(), server.served()), (1, 1));
    assert!(reasons(&easy).contains("none: CURLOPT_NOPROXY names this host"), "{}", reasons(&easy));
}

/// A policy judges each proxy of a list; the next one is no way around a refusal.
#[test]
fn policies_judge_each_proxy_of_a_list() {
    let (proxy, dead) = (proxy(), dead_address());
    let (easy, app) = through("http://a.example/bytes/3", &format!("http://{dead} {}", proxy.url("")));
    let rules = format!("version 1\nallow lookup-by-proxy a.example\nallow proxy {dead}\n");
    easy.state().settings.borrow_mut().set_policy(Some(Arc::new(Policy::parse("p", rules.as_bytes()))));
    assert_eq!(fetch(&easy, &app), Err(Code::RemoteAccessDenied));
    let message = easy.state().message();
    assert!(message.contains(&format!("proxy \"{}\"", proxy.address())), "{message}");
    assert_eq!(proxy.accepts(), 0);
}

/// The engine alone evaluates no PAC file. Its transfer fails: it does not go without a proxy.
#[test]
fn without_an_evaluator_a_pac_file_is_an_error() {
    let server = HttpServer::plain();
    let (easy, app) = through(&server.url("/bytes/3"), "pac+http://127.0.0.1:9/proxy.pac");
    assert_eq!(fetch(&easy, &app), Err(Code::NotBuiltIn));
    assert!(easy.state().message().contains("no JavaScript engine"), "{}", easy.state().message());
    text(&easy, O::NoProxy, "127.0.0.1");
    assert_eq!(fetch(&easy, &app).map(|body| body.len()), Ok(3), "the host is exempt");
}
