//! When an application is notified of name look-ups, and the treatment of addresses of an unwanted family.

use std::cell::Cell;
use std::rc::Rc;

use tables::{Code, EasyOption as O};
use testkit::http::HttpServer;
use testkit::raw::RawPeer;
use warmwire_engine::Easy;
use warmwire_engine::callbacks::Callbacks;

/// Counts its calls.
#[derive(Default)]
struct Listener {
    calls: Cell<usize>,
    refuses: Cell<bool>,
}

struct ResolverListener(Rc<Listener>);

impl Callbacks for ResolverListener {
    fn resolver_start(&self) -> bool {
        self.0.calls.set(self.0.calls.get() + 1);
        !self.0.refuses.get()
    }
}

fn handle() -> (Easy, Rc<Listener>) {
    let listener = Rc::new(Listener::default());
    (Easy::new(Rc::new(ResolverListener(listener.clone()))), listener)
}

/// Runs one transfer; returns its code, and how often the application was called.
fn get(easy: &Easy, listener: &Listener, url: &str) -> (Code, usize) {
    listener.calls.set(0);
    easy.set_text(O::Url, Some(url.as_bytes())).unwrap();
    (easy.perform(), listener.calls.get())
}

fn set(easy: &Easy, option: O, value: i64) {
    easy.state().settings.borrow_mut().set_long(option, value).unwrap();
}

/// covers: CURLOPT_RESOLVER_START_FUNCTION, CURLOPT_FRESH_CONNECT, CURLOPT_DNS_CACHE_TIMEOUT
#[test]
fn one_call_for_each_look_up_that_begins() {
    let server = HttpServer::plain();
    for host in ["127.0.0.1", "localhost", "a.LocalHost"] {
        let (easy, listener) = handle();
        let url = format!("http://{host}:{}/", server.port());
        assert_eq!(get(&easy, &listener, &url), (Code::Ok, 1), "{host}");
        assert_eq!(get(&easy, &listener, &url), (Code::Ok, 0), "{host}: the connection was kept");
        set(&easy, O::FreshConnect, 1);
        assert_eq!(get(&easy, &listener, &url), (Code::Ok, 0), "{host}: the cache knows it");
        set(&easy, O::DnsCacheTimeout, 0);
        assert_eq!(get(&easy, &listener, &url), (Code::Ok, 1), "{host}: nothing is kept");
    }
}

/// covers: CURLOPT_RESOLVE
#[test]
fn no_call_for_what_is_known_or_never_asked_for() {
    let server = HttpServer::plain();
    let (easy, listener) = handle();
    let pin = format!("pinned.example:{}:127.0.0.1", server.port());
    let pins = Some(vec![pin.as_bytes().into()]);
    easy.state().settings.borrow_mut().set_list(O::Resolve, pins).unwrap();
    let url = format!("http://pinned.example:{}/", server.port());
    assert_eq!(get(&easy, &listener, &url), (Code::Ok, 0));
    assert_eq!(get(&easy, &listener, "http://hidden.onion/"), (Code::CouldntResolveHost, 0));
    easy.set_text(O::UnixSocketPath, Some(b"/nowhere")).unwrap();
    assert_eq!(get(&easy, &listener, &url), (Code::CouldntConnect, 0));
}

#[test]
fn a_refusal_ends_the_transfer_and_is_not_remembered() {
    let server = HttpServer::plain();
    let (easy, listener) = handle();
    let url = format!("http://127.0.0.1:{}/", server.port());
    listener.refuses.set(true);
    assert_eq!(get(&easy, &listener, &url), (Code::AbortedByCallback, 1));
    listener.refuses.set(false);
    assert_eq!(get(&easy, &listener, &url), (Code::Ok, 1));
}

/// As in curl: CURLOPT_IPRESOLVE chooses among the addresses of a name; one that is written out was chosen
/// already.
// covers: CURLOPT_IPRESOLVE
#[test]
fn an_address_that_is_written_out_is_connected_to() {
    let server = HttpServer::plain();
    let (easy, listener) = handle();
    set(&easy, O::IpResolve, 2);
    assert_eq!(get(&easy, &listener, &format!("http://127.0.0.1:{}/", server.port())), (Code::Ok, 1));
    let (easy, listener) = handle();
    set(&easy, O::IpResolve, 1);
    let (code, _) = get(&easy, &listener, &format!("http://[::1]:{}/", RawPeer::refused_port()));
    assert_eq!(code, Code::CouldntConnect);
    let text = easy.state().message();
    assert!(text.starts_with("Failed to connect to ::1:"), "{text}");
    let (easy, listener) = handle();
    let url = format!("http://127.0.0.1:{}/", RawPeer::refused_port());
    assert_eq!(get(&easy, &listener, &url), (Code::CouldntConnect, 1));
}

/// As in curl, the host that names the local end is looked up like any other, after the one to connect to; if
/// that is refused there is nothing to bind to. An interface's name is not a host.
// covers: CURLOPT_INTERFACE, CURLOPT_RESOLVER_START_FUNCTION
#[test]
fn the_local_host_is_looked_up_too() {
    let server = HttpServer::plain();
    let url = format!("http://127.0.0.1:{}/", server.port());
    for (name, calls) in [("127.0.0.2", 2), ("host!localhost", 2), ("lo", 1), ("if!lo", 1)] {
        let (easy, listener) = handle();
        easy.set_text(O::Interface, Some(name.as_bytes())).unwrap();
        assert_eq!(get(&easy, &listener, &url), (Code::Ok, calls), "{name}");
        set(&easy, O::FreshConnect, 1);
        assert_eq!(get(&easy, &listener, &url), (Code::Ok, 0), "{name}: the cache knows it");
    }
    let (easy, listener) = handle();
    easy.set_text(O::Interface, Some(b"nowhere.invalid")).unwrap();
    assert_eq!(get(&easy, &listener, &url), (Code::InterfaceFailed, 2));
}

#[test]
fn the_local_host_may_be_pinned_and_refused() {
    let server = HttpServer::plain();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let (easy, listener) = handle();
    easy.state()
        .settings
        .borrow_mut()
        .set_list(O::Resolve, Some(vec![b"here.example:80:127.0.0.3".as_slice().into()]))
        .unwrap();
    easy.set_text(O::Interface, Some(b"here.example")).unwrap();
    assert_eq!(get(&easy, &listener, &url), (Code::Ok, 1), "{}", easy.state().message());
    assert_eq!(easy.state().info.borrow().ends.local_ip(), "127.0.0.3");
    // The address of the server is known by now.
    listener.refuses.set(true);
    set(&easy, O::FreshConnect, 1);
    easy.set_text(O::Interface, Some(b"127.0.0.4")).unwrap();
    assert_eq!(get(&easy, &listener, &url), (Code::InterfaceFailed, 1));
}
