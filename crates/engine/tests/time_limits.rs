//! Limits of time and rate: late replies, time to connect, and speed limits (CURLOPT_TIMEOUT.md,
//! CURLOPT_CONNECTTIMEOUT.md, CURLOPT_MAX_SEND_SPEED_LARGE.md).

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::http::HttpServer;
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire_engine::Multi;
use warmwire_engine::callbacks::WriteAnswer;

/// covers: CURLOPT_TIMEOUT_MS
#[test]
fn results_after_the_time_limit_are_too_late() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    for _ in 0..20 {
        let late = vec![expect("\r\n\r\n"), Step::Sleep(Duration::from_millis(60)), send(ok)];
        let peer = RawPeer::start(vec![late]);
        let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        long(&easy, O::TimeoutMs, 40);
        let multi = Multi::default();
        multi.add(&easy);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(20) {
            multi.perform();
            multi.wait(&mut [], Duration::from_millis(5), false).unwrap();
        }
        sleep(Duration::from_millis(80)); // the reply and the end of the time both wait for the loop
        multi.perform();
        let (message, _) = multi.next_message().expect("it has ended");
        assert_eq!((message.code, app.body.borrow().len()), (Code::OperationTimedout, 0));
    }
}

/// covers: CURLOPT_MAX_SEND_SPEED_LARGE
#[test]
fn an_upload_keeps_to_its_pace_from_the_first_byte() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/sum"));
    *app.upload.borrow_mut() = vec![b'x'; 50_000];
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, 50_000);
    long(&easy, O::MaxSendSpeedLarge, 50_000);
    let begun = Instant::now();
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert!(begun.elapsed() >= Duration::from_millis(900), "{:?}", begun.elapsed());
}

/// covers: CURLOPT_CONNECTTIMEOUT_MS
#[test]
fn a_request_that_is_repeated_has_all_the_time_to_connect_again() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    // The kept connection accepts the second request, waits longer than the connect time-out, and closes
    // silently.
    let dying = vec![
        expect("\r\n\r\n"),
        send(ok),
        expect("\r\n\r\n"),
        Step::Sleep(Duration::from_millis(600)),
        Step::Cut,
    ];
    let peer = RawPeer::start(vec![dying, vec![expect("\r\n\r\n"), send(ok)]]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    long(&easy, O::ConnectTimeoutMs, 500);
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(peer.accepts(), 2);
}

#[test]
fn the_low_speed_limit_does_not_count_while_nothing_can_move() {
    // A listener with a full queue answers no connect: no connection, no speed.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let full: Vec<_> = (0..200)
        .map_while(|_| {
            let address = ([127, 0, 0, 1], port).into();
            std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok()
        })
        .collect();
    assert!(full.len() < 200, "the queue of the listener is full");
    let (easy, _app) = handle(&format!("http://127.0.0.1:{port}/"));
    long(&easy, O::LowSpeedLimit, 1000);
    long(&easy, O::LowSpeedTime, 1);
    long(&easy, O::ConnectTimeoutMs, 2500);
    assert_eq!(easy.perform(), Code::OperationTimedout);
    let message = easy.state().message();
    assert!(message.starts_with("Connection timed out"), "{message}");
}

/// A pause loses nothing, neither names of a directory nor the generated head of a file.
#[test]
fn a_paused_listing_of_a_folder_is_whole() {
    let folder = testkit::temp::TempDir::new("listing").unwrap();
    let names: Vec<String> = (0..50).map(|n| format!("name-{n:02}\n")).collect();
    names.iter().for_each(|name| std::fs::write(folder.path().join(name.trim()), "").unwrap());
    let (easy, app) = handle("");
    text(&easy, O::Url, &format!("file://{}/", folder.path().display()));
    app.answers.borrow_mut().extend([
        WriteAnswer::All,
        WriteAnswer::Pause,
        WriteAnswer::All,
        WriteAnswer::Pause,
    ]);
    let multi = Multi::default();
    multi.add(&easy);
    let code = loop {
        multi.perform();
        easy.pause(0);
        if let Some((message, _)) = multi.next_message() {
            break message.code;
        }
    };
    let body = String::from_utf8(app.body.borrow().clone()).unwrap();
    let mut lines: Vec<&str> = body.split_inclusive('\n').collect();
    lines.sort_unstable();
    assert_eq!((code, lines), (Code::Ok, names.iter().map(String::as_str).collect()));
}
