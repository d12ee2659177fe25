//! Connections whose hosts' names move to other addresses.

use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{eventually, handle, long, run_until, text};
use tables::constant::CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
use tables::{Code, EasyOption as O, MultiCode};
use testkit::dns::{A, AAAA, DnsAnswer, NameServer, address};
use testkit::frames::FramePeer;
use testkit::http::HttpServer;
use warmwire_engine::why::Record;
use warmwire_engine::why::event::{Event, NewReason};
use warmwire_engine::{Easy, Multi, process_pool};

/// Lifetime of an answer: CURLOPT_DNS_CACHE_TIMEOUT.
const LIFETIME: i64 = 1;
/// Time after which it is stale.
const STALE: Duration = Duration::from_millis(1100);

/// A name server whose answer for addresses of IPv4 changes. There are none of IPv6.
struct Names {
    server: NameServer,
    answer: Arc<Mutex<DnsAnswer>>,
}

impl Names {
    fn at(ip: &str) -> Names {
        let answer = Arc::new(Mutex::new(address(A, ip)));
        let known = answer.clone();
        let server = NameServer::start(move |asked| match (asked.kind, &*known.lock().unwrap()) {
            (A, answer) => answer.clone(),
            // The whole server fails or is silent.
            (_, DnsAnswer::Code(2)) => DnsAnswer::Code(2),
            (_, DnsAnswer::Silence) => DnsAnswer::Silence,
            _ => DnsAnswer::Records(Vec::new()),
        });
        Names { server, answer }
    }

    fn answer(&self, answer: DnsAnswer) {
        *self.answer.lock().unwrap() = answer;
    }

    fn asked(&self) -> usize {
        self.server.asked().len()
    }

    /// Returns a handle for this URL. Its answers are stale soon.
    fn handle(&self, url: &str) -> Easy {
        let (easy, _) = handle(url);
        text(&easy, O::DnsServers, &self.server.address().to_string());
        long(&easy, O::DnsCacheTimeout, LIFETIME);
        easy.state().why.keep(true.into());
        easy
    }
}

fn url(server: &HttpServer) -> String {
    format!("http://a.example:{}/", server.port())
}

fn fetch(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

/// Returns why the connection of the last transfer was new; `None` if it was reused.
fn new_reason(easy: &Easy) -> Option<NewReason> {
    let record = easy.state().why.read(Record::clone).expect("the reasons are kept");
    record.events.into_iter().rev().find_map(|(_, event)| match event {
        Event::Opened(opened) => Some(opened.why),
        _ => None,
    })
}

fn moved() -> Option<NewReason> {
    Some(NewReason::Refused(net::Refusal::Moved("127.0.0.1".parse().unwrap())))
}

#[test]
fn connections_of_the_process_follow_their_names() {
    process_pool::enable(true);
    let ((first, second), names) = (HttpServer::twins(None, None), Names::at("127.0.0.1"));
    // Two connections, which become idle together.
    let (multi, both) = (Multi::default(), [names.handle(&url(&first)), names.handle(&url(&first))]);
    both.iter().for_each(|easy| assert_eq!(multi.add(easy), MultiCode::Ok));
    while multi.perform().1 > 0 {
        multi.wait(&mut [], Duration::from_millis(20), false).unwrap();
    }
    both.iter().for_each(|easy| assert_eq!(multi.remove(easy), MultiCode::Ok));
    multi.close();
    let asked = names.asked();
    names.answer(address(A, "127.0.0.2"));
    let easy = names.handle(&url(&first));
    fetch(&easy);
    easy.close();
    assert_eq!((first.accepts(), second.accepts(), names.asked()), (2, 0, asked), "the answer is fresh");
    sleep(STALE);
    let easy = names.handle(&url(&first));
    fetch(&easy);
    assert_eq!((second.accepts(), new_reason(&easy)), (1, moved()));
    eventually(|| first.open() == 0);
    assert_eq!(easy.state().info.borrow().ends.primary_ip(), "127.0.0.2");
    easy.close();
    sleep(STALE);
    let (easy, asked) = (names.handle(&url(&first)), names.asked());
    fetch(&easy);
    assert_eq!((second.accepts(), new_reason(&easy), names.asked()), (1, None, asked + 2), "it stays there");
}

#[test]
fn a_handle_chooses_for_itself() {
    let rows =
        [("the default of a handle's own pool", None, 0), ("on", Some(true), 1), ("off", Some(false), 0)];
    for (name, choice, wanted) in rows {
        let ((first, second), names) = (HttpServer::twins(None, None), Names::at("127.0.0.1"));
        let (multi, easy) = (Multi::default(), names.handle(&url(&first)));
        multi.set_pool_kind(process_pool::Pool::Off);
        easy.state().settings.borrow_mut().set_follow_names(choice);
        for _ in 0..2 {
            multi.add(&easy);
            assert_eq!(crate::common::until_done(&multi), Code::Ok, "{}", easy.state().message());
            multi.remove(&easy);
            names.answer(address(A, "127.0.0.2"));
            sleep(STALE);
        }
        assert_eq!((first.accepts(), second.accepts()), (1, wanted), "{name}");
        multi.close();
    }
}

#[test]
fn without_an_answer_a_connection_is_kept() {
    let late = Duration::from_millis(400);
    let answers = [
        ("no such name", DnsAnswer::Code(3), false),
        ("failure", DnsAnswer::Code(2), false),
        ("silence", DnsAnswer::Silence, true),
        ("late", DnsAnswer::Late(late, Box::new(address(A, "127.0.0.2"))), true),
    ];
    for (name, answer, waits) in answers {
        let ((first, _second), names) = (HttpServer::twins(None, None), Names::at("127.0.0.1"));
        let easy = names.handle(&url(&first));
        easy.state().settings.borrow_mut().set_follow_names(Some(true));
        fetch(&easy);
        names.answer(answer);
        sleep(STALE);
        let (start, asked) = (Instant::now(), names.asked());
        fetch(&easy);
        let took = start.elapsed();
        assert_eq!((first.accepts(), new_reason(&easy)), (1, None), "{name}");
        assert!(names.asked() > asked, "{name}: it was asked");
        assert_eq!(took >= Duration::from_millis(250), waits, "{name}: {took:?}");
        let asked = names.asked();
        fetch(&easy);
        assert_eq!((first.accepts(), names.asked()), (1, asked), "{name}: nobody is asked again at once");
    }
}

/// A new request does not join a session whose host has moved; the streams in it go on.
#[test]
fn running_streams_outlive_a_move() {
    let (answer, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        let _ = wait.lock().unwrap().recv();
        talk.answer(stream, 200, b"hi")
    });
    let names = Names::at("127.0.0.1");
    let handle = || {
        let easy = names.handle(&format!("http://a.example:{}/", peer.port()));
        long(&easy, O::HttpVersion, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
        long(&easy, O::PipeWait, 1);
        easy.state().settings.borrow_mut().set_follow_names(Some(true));
        easy
    };
    let (multi, first, second) = (Multi::default(), handle(), handle());
    multi.add(&first);
    run_until(&multi, || peer.accepts() == 1 && peer.requests(0) == 1);
    // Nobody listens there.
    names.answer(address(A, "127.0.0.2"));
    sleep(STALE);
    multi.add(&second);
    run_until(&multi, || multi.running() == 1);
    let (message, _) = multi.next_message().expect("the second has ended");
    assert_eq!(message.code, Code::CouldntConnect, "{}", second.state().message());
    assert_eq!(new_reason(&second), moved());
    answer.send(()).unwrap();
    run_until(&multi, || multi.running() == 0);
    let (message, _) = multi.next_message().expect("the first has ended");
    assert_eq!((message.code, first.state().info.borrow().response_code), (Code::Ok, 200));
    assert_eq!((peer.accepts(), peer.requests(0)), (1, 1));
    [&first, &second].into_iter().for_each(|easy| assert_eq!(multi.remove(easy), MultiCode::Ok));
    multi.close();
}

/// The socket leads to the proxy: the name of the proxy counts, not that of the origin.
#[test]
fn the_name_of_a_proxy_is_followed() {
    let ((first, second), names) = (HttpServer::twins(None, None), Names::at("127.0.0.1"));
    let easy = names.handle("http://origin.example/");
    text(&easy, O::Proxy, &url(&first));
    easy.state().settings.borrow_mut().set_follow_names(Some(true));
    fetch(&easy);
    names.answer(address(A, "127.0.0.2"));
    sleep(STALE);
    fetch(&easy);
    assert_eq!((first.accepts(), second.accepts(), new_reason(&easy)), (1, 1, moved()));
    assert!(names.server.asked().iter().all(|asked| asked.name.eq_ignore_ascii_case("a.example")));
}

#[test]
fn addresses_that_are_given_are_not_looked_up() {
    let ((first, second), names) = (HttpServer::twins(None, None), Names::at("127.0.0.2"));
    let port = first.port();
    for (option, value) in [
        (O::Url, format!("http://127.0.0.1:{port}/")),
        (O::Resolve, format!("a.example:{port}:127.0.0.1")),
        (O::ConnectTo, format!("a.example:{port}:127.0.0.1:{port}")),
    ] {
        let easy = names.handle(&url(&first));
        match option {
            O::Url => text(&easy, option, &value),
            _ => easy
                .state()
                .settings
                .borrow_mut()
                .set_list(option, Some(vec![value.as_bytes().into()]))
                .unwrap(),
        }
        easy.state().settings.borrow_mut().set_follow_names(Some(true));
        let before = first.accepts();
        fetch(&easy);
        sleep(STALE);
        fetch(&easy);
        assert_eq!((first.accepts(), second.accepts(), names.asked()), (before + 1, 0, 0), "{value}");
    }
}

/// The answer about the family of the connection is missing: it may still name the address.
#[test]
fn an_answer_about_the_other_family_is_not_enough() {
    let server = HttpServer::plain();
    let fails = Arc::new(Mutex::new(false));
    let failing = fails.clone();
    let dns = NameServer::start(move |asked| match (asked.kind, *failing.lock().unwrap()) {
        (A, false) => address(A, "127.0.0.1"),
        (A, true) => DnsAnswer::Code(2),
        (AAAA, _) => address(AAAA, "::1"),
        _ => DnsAnswer::Records(Vec::new()),
    });
    let (easy, _) = handle(&url(&server));
    text(&easy, O::DnsServers, &dns.address().to_string());
    long(&easy, O::DnsCacheTimeout, LIFETIME);
    easy.state().settings.borrow_mut().set_follow_names(Some(true));
    fetch(&easy);
    *fails.lock().unwrap() = true;
    sleep(STALE);
    fetch(&easy);
    assert_eq!(server.accepts(), 1);
}
