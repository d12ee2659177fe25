//! Data that handles store from replies: alternative services and hosts that want TLS, with their files,
//! their callbacks and their share.
//!
//! covers: CURLOPT_ALTSVC, CURLOPT_ALTSVC_CTRL, CURLOPT_HSTS, CURLOPT_HSTS_CTRL, CURLOPT_HSTSREADFUNCTION,
//! CURLOPT_HSTSWRITEFUNCTION

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::common::{handle, long};
use tables::{Code, EasyOption as O, LockData};
use testkit::certs::Authority;
use testkit::http::{Config, HttpServer, Request, Response};
use testkit::raw::RawPeer;
use testkit::temp::TempDir;
use warmwire_engine::callbacks::{Callbacks, HstsAnswer, HstsEntry};
use warmwire_engine::{Easy, Share};

fn set(easy: &Easy, option: O, value: &str) {
    easy.set_text(option, Some(value.as_bytes())).unwrap();
}

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

/// Two servers of the same name, of which the first names the second as its alternative.
fn pair(authority: &Authority) -> (HttpServer, HttpServer) {
    let there = HttpServer::tls(authority.good().server_config().unwrap());
    let value = format!("h1=\"localhost:{}\"; ma=600", there.port());
    let answer = move |_: &Request| Some(Response::status(200).with("Alt-Svc", &*value));
    (tls_with(authority, answer), there)
}

fn tls_with(
    authority: &Authority,
    handler: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static,
) -> HttpServer {
    let tls = Some(authority.good().server_config().unwrap());
    HttpServer::start(Config { tls, handler: Some(Arc::new(handler)), ..Config::default() }).unwrap()
}

#[test]
fn an_alternative_takes_over_and_is_kept_in_the_file() {
    let authority = Authority::new();
    let (here, there) = pair(&authority);
    let folder = TempDir::new("stores").unwrap();
    let file = folder.path().join("altsvc");
    let name = file.to_str().unwrap().to_owned();
    let open = || {
        let (easy, app) = handle(&here.url("/bytes/5"));
        set(&easy, O::CaInfoBlob, authority.ca_pem());
        set(&easy, O::AltSvc, &name);
        (easy, app)
    };
    let (easy, _app) = open();
    perform(&easy);
    assert_eq!((here.served(), there.served()), (1, 0));
    perform(&easy);
    assert_eq!((here.served(), there.served()), (1, 1));
    let port = there.port();
    let asked = there.last_request().unwrap();
    assert_eq!(asked.field("Alt-Used"), Some(&*format!("localhost:{port}")));
    assert_eq!(asked.field("Host"), Some(&*format!("localhost:{}", here.port())));
    easy.close();
    let kept = std::fs::read_to_string(&file).unwrap();
    let line = format!("h1 localhost {} h1 localhost {port} \"", here.port());
    assert!(kept.starts_with("# Your alt-svc cache.") && kept.contains(&line), "{kept}");
    // The next process reads it; without permission for HTTP/1 it is not used.
    let (easy, _app) = open();
    perform(&easy);
    assert_eq!((here.served(), there.served()), (1, 2));
    let (easy, _app) = open();
    long(&easy, O::AltSvcCtrl, 16);
    perform(&easy);
    assert_eq!((here.served(), there.served()), (2, 2));
}

#[test]
fn an_alternative_shows_the_certificate_of_the_origin() {
    let authority = Authority::new();
    let there = HttpServer::tls(authority.wrong_name().server_config().unwrap());
    let value = format!("h1=\":{}\"", there.port());
    let here = tls_with(&authority, move |_| Some(Response::status(200).with("Alt-Svc", &*value)));
    let (easy, _app) = handle(&here.url("/"));
    set(&easy, O::CaInfoBlob, authority.ca_pem());
    long(&easy, O::AltSvcCtrl, 8);
    perform(&easy);
    assert_eq!(easy.perform(), Code::PeerFailedVerification);
    assert_eq!(there.served(), 0);
}

/// curl has no way back to the origin (its wish for one was dropped from its list of things to do in March
/// 2026).
#[test]
fn an_alternative_that_is_not_there_fails_the_transfer() {
    let authority = Authority::new();
    let value = format!("h1=\":{}\"", RawPeer::refused_port());
    let here = tls_with(&authority, move |_| Some(Response::status(200).with("Alt-Svc", &*value)));
    let (easy, _app) = handle(&here.url("/"));
    set(&easy, O::CaInfoBlob, authority.ca_pem());
    long(&easy, O::AltSvcCtrl, 8);
    perform(&easy);
    assert_eq!(easy.perform(), Code::CouldntConnect);
    assert_eq!(here.served(), 1);
    // A transfer that does not want the alternative uses the origin.
    long(&easy, O::AltSvcCtrl, 16);
    perform(&easy);
    assert_eq!(here.served(), 2);
}

#[test]
fn without_tls_nobody_names_alternatives() {
    let there = HttpServer::plain();
    let value = format!("h1=\":{}\"", there.port());
    let here = HttpServer::with(move |_| Some(Response::status(200).with("Alt-Svc", &*value)));
    let (easy, _app) = handle(&here.url("/"));
    long(&easy, O::AltSvcCtrl, 8);
    assert_eq!(easy.state().settings.borrow_mut().set_long(O::AltSvcCtrl, 0), Err(Code::BadFunctionArgument));
    perform(&easy);
    perform(&easy);
    assert_eq!((here.served(), there.served()), (2, 0));
}

/// A file that cannot be read counts as empty, as in curl; the transfer does not report it.
#[test]
fn a_folder_holds_no_alternatives() {
    let folder = TempDir::new("stores").unwrap();
    let (easy, _app) = handle("http://localhost/");
    let name = folder.path().to_str().unwrap();
    assert_eq!(easy.set_text(O::AltSvc, Some(name.as_bytes())), Ok(()));
}

/// An application that has its own place for HSTS.
#[derive(Default)]
struct Keeper {
    answers: RefCell<Vec<HstsAnswer>>,
    written: RefCell<Vec<(HstsEntry, usize, usize)>>,
    takes: Cell<usize>,
}

struct HstsCallbacks(Rc<Keeper>);

impl Callbacks for HstsCallbacks {
    fn hsts_read(&self) -> HstsAnswer {
        self.0.answers.borrow_mut().pop().unwrap_or(HstsAnswer::Done)
    }

    fn hsts_write(&self, entry: &HstsEntry, index: usize, total: usize) -> bool {
        self.0.written.borrow_mut().push((entry.clone(), index, total));
        self.0.written.borrow().len() < self.0.takes.get()
    }
}

fn keeper(url: &str) -> (Easy, Rc<Keeper>) {
    let keeper = Rc::new(Keeper { takes: Cell::new(9), ..Keeper::default() });
    let easy = Easy::new(Rc::new(HstsCallbacks(keeper.clone())));
    set(&easy, O::Url, url);
    long(&easy, O::HstsCtrl, 1);
    (easy, keeper)
}

fn entry(host: &str, includes_subdomains: bool, expires: &str) -> HstsEntry {
    HstsEntry { host: host.into(), includes_subdomains, expires: expires.into() }
}

#[test]
fn the_application_keeps_the_hosts_that_want_tls() {
    let server = HttpServer::plain();
    let (easy, keeper) = keeper(&server.url("/bytes/1"));
    let entries = [
        entry("old.example", false, "20010101 00:00:00"),
        entry("b.example", true, "20991231 10:00:00"),
        entry("a.example", false, ""),
    ];
    *keeper.answers.borrow_mut() = entries.iter().cloned().map(HstsAnswer::Entry).collect();
    perform(&easy);
    set(&easy, O::Url, "http://x.b.example:1/");
    set(&easy, O::NoProxy, "*");
    set(&easy, O::ProtocolsStr, "http");
    assert_eq!(easy.perform(), Code::UnsupportedProtocol, "it has become https");
    assert!(easy.state().message().contains("https"), "{}", easy.state().message());
    easy.close();
    let written = keeper.written.borrow().clone();
    let wanted = [
        (entry("a.example", false, "unlimited"), 0, 2),
        (entry("b.example", true, "20991231 10:00:00"), 1, 2),
    ];
    assert_eq!(written, wanted);
}

#[test]
fn a_writer_that_stops_gets_no_more_entries() {
    let server = HttpServer::plain();
    let (easy, keeper) = keeper(&server.url("/bytes/1"));
    keeper.takes.set(1);
    *keeper.answers.borrow_mut() = ["a", "b"].map(|host| HstsAnswer::Entry(entry(host, false, ""))).to_vec();
    perform(&easy);
    easy.close();
    assert_eq!(keeper.written.borrow().len(), 1);
}

#[test]
fn a_reader_that_fails_fails_the_transfer() {
    let (easy, keeper) = keeper("http://localhost:1/");
    keeper.answers.borrow_mut().push(HstsAnswer::Failed);
    assert_eq!(easy.perform(), Code::AbortedByCallback);
    keeper.answers.borrow_mut().push(HstsAnswer::Invalid);
    assert_eq!(easy.perform(), Code::BadFunctionArgument);
}

/// CURL_LOCK_DATA_HSTS.
#[test]
fn a_share_holds_the_cache_for_its_handles() {
    let authority = Authority::new();
    let strict = |_: &Request| Some(Response::status(200).with("Strict-Transport-Security", "max-age=600"));
    let server = tls_with(&authority, strict);
    let share = Share::default();
    share.set_kind(LockData::Hsts, true);
    let (first, _app) = handle(&server.url("/"));
    first.set_share(Some(share.clone()));
    set(&first, O::CaInfoBlob, authority.ca_pem());
    perform(&first);
    let (second, _app) = handle("http://localhost:1/");
    set(&second, O::ProtocolsStr, "http");
    assert_eq!(second.perform(), Code::CouldntConnect);
    second.set_share(Some(share));
    assert_eq!(second.perform(), Code::UnsupportedProtocol, "it has become https");
}
