//! Requests that depend on earlier events: a reply of HTTP/1.0, a form that was removed, a URL that was set
//! as a handle.

use std::rc::Rc;

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step, expect, send};
use warmwire_engine::Easy;
use wire::url::{Part, Url, flag};

fn lines(easy: &Easy, option: O, value: &[&str]) {
    let value = value.iter().map(|line| Rc::from(line.as_bytes())).collect();
    assert_eq!(easy.state().settings.borrow_mut().set_list(option, Some(value)), Ok(()));
}

/// Returns what a peer received on its connections, as text.
fn received(peer: &RawPeer) -> Vec<String> {
    peer.received().iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

const OLD: &str = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok";

fn twice(reply: &str) -> Script {
    vec![expect("\r\n\r\n"), send(reply), expect("\r\n\r\n"), send(reply)]
}

#[test]
fn a_connection_of_http_1_0_stays_one() {
    let peer = RawPeer::start(vec![twice(OLD)]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!((easy.perform(), easy.perform()), (Code::Ok, Code::Ok));
    let requests = received(&peer).concat();
    let lines: Vec<&str> = requests.lines().filter(|line| line.starts_with("GET")).collect();
    assert_eq!((lines, peer.accepts()), (vec!["GET / HTTP/1.1", "GET / HTTP/1.0"], 1));
}

#[test]
fn chunks_are_not_redirected_to_http_1_0() {
    let reply = "HTTP/1.0 307 Go\r\nLocation: /x\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
    let peer = RawPeer::start(vec![vec![expect("0\r\n\r\n"), send(reply), Step::Finish]]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    *app.upload.borrow_mut() = b"body".to_vec();
    long(&easy, O::Upload, 1);
    long(&easy, O::FollowLocation, 1);
    lines(&easy, O::HttpHeader, &["Expect:"]);
    assert_eq!(easy.perform(), Code::UploadFailed);
}

/// All the requests of a handle to a peer that says ok.
fn asked(change: impl FnOnce(&Easy, u16)) -> String {
    let peer = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        Step::Finish,
    ]]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    change(&easy, peer.port());
    assert_eq!(easy.perform(), Code::Ok);
    received(&peer).concat()
}

// covers: CURLOPT_MIMEPOST, CURLOPT_HTTPPOST
#[test]
fn no_form_is_an_empty_post() {
    let request = asked(|easy, _| drop(easy.state().settings.borrow_mut().set_mime(None)));
    assert!(request.starts_with("POST / ") && request.contains("\r\nContent-Length: 0\r\n"), "{request}");
}

// covers: CURLOPT_CURLU, CURLOPT_PORT
#[test]
fn a_url_handle_takes_the_port_and_its_blanks_are_encoded() {
    let request = asked(|easy, port| {
        let mut url = Url::parse(b"http://127.0.0.1:1/", 0).unwrap();
        url.set(Part::Path, Some(b"/a b"), flag::ALLOW_SPACE).unwrap();
        easy.state().settings.borrow_mut().uncommon.url_handle = Some(Rc::new(move || url.clone()));
        long(easy, O::Port, i64::from(port));
    });
    assert!(request.starts_with("GET /a%20b HTTP/1.1\r\n"), "{request}");
}

/// The application's Connection fields come after all others, including those of the body.
// covers: CURLOPT_HTTPHEADER
#[test]
fn connection_is_the_last_field() {
    let request = asked(|easy, _| {
        text(easy, O::CopyPostFields, "a=b");
        lines(easy, O::HttpHeader, &["Connection: close", "X-Own: y"]);
    });
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.ends_with("X-Own: y\r\nContent-Length: 3\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close"), "{request}");
    assert_eq!(body, "a=b");
}

// covers: CURLOPT_TRANSFER_ENCODING
#[test]
fn an_empty_connection_field_gives_way_to_te() {
    let request = asked(|easy, _| {
        long(easy, O::TransferEncoding, 1);
        lines(easy, O::HttpHeader, &["Connection;"]);
    });
    assert_eq!(request.matches("Connection:").count(), 1, "{request}");
    assert!(request.contains("\r\nConnection: TE\r\n"), "{request}");
}
