//! The reasons of a transfer: made by a real exchange with a scripted peer.

use std::time::Duration;

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::ftp::FtpServer;
use testkit::raw::{RawPeer, Script, Step, expect, send};
use warmwire_engine::Easy;
use warmwire_engine::why::Record;
use warmwire_engine::why::event::{CloseReason, Event, GoAhead, NewReason, OneByOne, ReplayReason, Withheld};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn round(reply: &str) -> Script {
    vec![expect("\r\n\r\n"), send(reply)]
}

fn record(easy: &Easy) -> Record {
    easy.state().why.read(Record::clone).expect("the reasons are kept")
}

fn events(easy: &Easy) -> Vec<Event> {
    record(easy).events.into_iter().map(|(_, event)| event).collect()
}

/// Returns why the last connection of a transfer was new; `None` if it was reused.
fn new_reason(easy: &Easy) -> Option<NewReason> {
    events(easy).into_iter().rev().find_map(|event| match event {
        Event::Opened(opened) => Some(opened.why),
        _ => None,
    })
}

/// Performs on a handle with reasons; returns why its connection was new.
fn perform(easy: &Easy) -> Option<NewReason> {
    easy.state().why.keep(true.into());
    assert_eq!(easy.perform(), Code::Ok);
    new_reason(easy)
}

#[test]
fn nothing_is_kept_unless_asked_for() {
    let peer = RawPeer::start(vec![round(OK)]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(easy.perform(), Code::Ok);
    assert!(easy.state().why.read(|_| ()).is_none());
}

#[test]
fn a_reused_connection_reports_its_age_and_uses() {
    let peer = RawPeer::start(vec![[round(OK), round(OK)].concat()]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(perform(&easy), Some(NewReason::NothingOpen));
    assert_eq!(perform(&easy), None);
    let reused = events(&easy).into_iter().find_map(|event| match event {
        Event::Reused(reused) => Some(reused),
        _ => None,
    });
    let past = reused.and_then(|reused| reused.past).expect("an idle connection was taken");
    assert_eq!(past.uses, 1);
    assert!(past.age >= past.idle && past.age < Duration::from_secs(60), "{past:?}");
}

#[test]
fn a_new_connection_names_the_option_that_differs() {
    let peer = RawPeer::start(vec![round(OK), round(OK)]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    perform(&easy);
    long(&easy, O::TcpKeepAlive, 1);
    assert!(matches!(perform(&easy), Some(NewReason::Differs { others: 1, .. })));
    let text = record(&easy).text();
    assert!(text.contains("is new: the open one differs in CURLOPT_TCP_KEEPALIVE\n"), "{text}");
}

#[test]
fn a_closed_connection_says_who_closed_it() {
    let close = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    let old = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let endless = "HTTP/1.1 200 OK\r\n\r\nok";
    for (reply, forbid, why) in [
        (close, 0, CloseReason::PeerSaidClose),
        (old, 0, CloseReason::Http10),
        (endless, 0, CloseReason::EndsBody),
        (OK, 1, CloseReason::Forbidden),
    ] {
        let mut first = round(reply);
        first.push(testkit::raw::Step::Finish);
        let peer = RawPeer::start(vec![first, round(OK)]);
        let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        long(&easy, O::ForbidReuse, forbid);
        perform(&easy);
        let closed = |event: &Event| matches!(event, Event::Closed { why: found, .. } if *found == why);
        assert!(events(&easy).iter().any(closed), "{why:?}: {:?}", events(&easy));
        assert_eq!(perform(&easy), Some(NewReason::LastClosed(why)));
    }
}

#[test]
fn fresh_connect_is_named() {
    let peer = RawPeer::start(vec![round(OK), round(OK)]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    perform(&easy);
    long(&easy, O::FreshConnect, 1);
    assert_eq!(perform(&easy), Some(NewReason::Forbidden(O::FreshConnect)));
}

/// The peer closes without a reply when it has read the second request.
#[test]
fn a_replay_reports_its_reason() {
    let dead = [round(OK), vec![expect("\r\n\r\n"), testkit::raw::Step::Finish]].concat();
    let peer = RawPeer::start(vec![dead, round(OK)]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    perform(&easy);
    perform(&easy);
    let died = Event::Replayed { why: ReplayReason::ConnectionDied, count: 1 };
    assert!(events(&easy).contains(&died), "{:?}", events(&easy));
}

#[test]
fn an_expectation_without_an_answer_is_late() {
    let peer = RawPeer::start(vec![vec![expect("body"), send(OK)]]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    *app.upload.borrow_mut() = b"body".to_vec();
    long(&easy, O::Upload, 1);
    long(&easy, O::Expect100TimeoutMs, 20);
    let list = vec![std::rc::Rc::from(&b"Expect: 100-continue"[..])];
    easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(list)).unwrap();
    perform(&easy);
    assert!(events(&easy).contains(&Event::GoesOn(GoAhead::Late)), "{:?}", events(&easy));
}

#[test]
fn a_redirect_divides_the_record_into_requests_whose_times_sum_up() {
    let away = "HTTP/1.1 302 Found\r\nLocation: /b?x=1\r\nContent-Length: 0\r\n\r\n";
    let peer = RawPeer::start(vec![[round(away), round(OK)].concat()]);
    let (easy, _app) = handle(&format!("http://user:secret@127.0.0.1:{}/a", peer.port()));
    long(&easy, O::FollowLocation, 1);
    perform(&easy);
    let record = record(&easy);
    let (url, text) = (|at: usize| record.requests[at].url.clone(), record.text());
    assert!(url(0).ends_with("/a") && url(1).ends_with("/b?x=1"), "{text}");
    assert!(!text.contains("secret") && !record.json().contains("secret"), "{text}");
    let statuses: Vec<i64> = record.requests.iter().map(|request| request.status).collect();
    assert_eq!(statuses, [302, 200]);
    let sum: Duration =
        record.requests.iter().flat_map(|request| request.stages.iter()).map(|(_, length)| length).sum();
    assert_eq!(Some(sum), record.outcome.as_ref().map(|outcome| outcome.total));
    assert!(text.contains("  redirect    302 to http://127.0.0.1:"), "{text}");
}

#[test]
fn cookies_are_sent_or_withheld_with_a_reason() {
    let peer = RawPeer::start(vec![round(OK)]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/here", peer.port()));
    for line in
        ["Set-Cookie: a=secret; domain=127.0.0.1", "Set-Cookie: b=secret; domain=127.0.0.1; path=/there"]
    {
        easy.set_text(O::CookieList, Some(line.as_bytes())).unwrap();
    }
    perform(&easy);
    let cookies =
        Event::Cookies { sent: vec!["a".to_owned()], withheld: vec![("b".to_owned(), Withheld::Path)] };
    assert!(events(&easy).contains(&cookies), "{:?}", events(&easy));
    assert!(!record(&easy).json().contains("secret"));
}

#[test]
fn a_refused_connection_ends_the_story() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (easy, _app) = handle(&format!("http://{free}/"));
    easy.state().why.keep(true.into());
    assert_eq!(easy.perform(), Code::CouldntConnect);
    let text = record(&easy).text();
    assert!(text.contains(&format!("  address     {free} failed after ")), "{text}");
    assert!(text.contains("\n  failed      (7) "), "{text}");
}

/// Performs a transfer that may fail; returns why its connection was new.
fn attempt(easy: &Easy) -> Option<NewReason> {
    easy.state().why.keep(true.into());
    easy.perform();
    new_reason(easy)
}

#[test]
fn ftp_says_why_a_control_connection_was_closed_and_commands_waited() {
    let server = FtpServer::with_file("/file", b"content".to_vec());
    let (easy, _app) = handle(&server.url("/file"));
    assert_eq!(perform(&easy), Some(NewReason::NothingOpen));
    assert!(events(&easy).contains(&Event::OneByOne(OneByOne::NewConnection)), "{:?}", events(&easy));
    let text_of = |easy: &Easy| record(easy).text();
    assert!(text_of(&easy).contains(" round trips in all\n"), "{}", text_of(&easy));
    assert_eq!(perform(&easy), None);
    assert!(events(&easy).contains(&Event::OneByOne(OneByOne::Unknown)), "{:?}", events(&easy));
    long(&easy, O::ForbidReuse, 1);
    assert_eq!(perform(&easy), None);
    assert_eq!(perform(&easy), Some(NewReason::LastClosed(CloseReason::Forbidden)));
}

#[test]
fn pop3_and_smtp_say_that_a_transfer_failed_on_the_connection() {
    let pop3: Script = vec![
        send("+OK ready\r\n"),
        expect("CAPA\r\n"),
        send("+OK\r\nUSER\r\n.\r\n"),
        expect("USER user\r\n"),
        send("+OK\r\n"),
        expect("PASS secret\r\n"),
        send("+OK\r\n"),
        expect("RETR 1\r\n"),
        send("-ERR no such message\r\n"),
        Step::Finish,
    ];
    let smtp: Script = vec![
        send("220 hi\r\n"),
        expect("EHLO client\r\n"),
        send("250 me\r\n"),
        expect("MAIL FROM"),
        send("550 no\r\n"),
        Step::Finish,
    ];
    for (scheme, path, script) in [("pop3", "1", pop3), ("smtp", "client", smtp)] {
        let peer = RawPeer::start(vec![script.clone(), script]);
        let (easy, app) = handle(&format!("{scheme}://127.0.0.1:{}/{path}", peer.port()));
        long(&easy, O::TimeoutMs, 5000);
        if scheme == "pop3" {
            text(&easy, O::Username, "user");
            text(&easy, O::Password, "secret");
        } else {
            text(&easy, O::MailFrom, "me@example.com");
            let list = vec![std::rc::Rc::from(&b"you@example.com"[..])];
            easy.state().settings.borrow_mut().set_list(O::MailRcpt, Some(list)).unwrap();
            long(&easy, O::Upload, 1);
            *app.upload.borrow_mut() = b"text".to_vec();
        }
        assert_eq!(attempt(&easy), Some(NewReason::NothingOpen), "{scheme}");
        assert_eq!(attempt(&easy), Some(NewReason::LastClosed(CloseReason::Failed)), "{scheme}");
        let waited = events(&easy).contains(&Event::OneByOne(OneByOne::NotOffered));
        assert_eq!(waited, scheme == "smtp", "{:?}", events(&easy));
    }
}
