//! Servers that reply before they have read the request's body (RFC 9112 §9.3): whether the rest is sent, and
//! which connections are reused. Expected values are those of curl 7.88 and 8.21.

use std::rc::Rc;
use std::time::Duration;

use crate::common::{App, handle, long};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step, expect, send};
use warmwire_engine::Easy;

const LENGTH: usize = 24 << 20;

/// A body of 24 MiB is being put to this peer.
fn upload(peer: &RawPeer) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    *app.upload.borrow_mut() = vec![b'x'; LENGTH];
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, LENGTH as i64);
    long(&easy, O::Expect100TimeoutMs, 1);
    (easy, app)
}

/// Replies when the body has begun; `rest` happens after that.
fn answering(reply: &str, rest: &[Step]) -> Script {
    [expect("\r\n\r\nx"), send(reply)].into_iter().chain(rest.iter().cloned()).collect()
}

/// Reads the body to its end, then serves one request more.
fn reading_on() -> [Step; 4] {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    [Step::Sleep(Duration::from_millis(50)), Step::ExpectBytes(LENGTH - 1), expect("\r\n\r\n"), send(ok)]
}

/// Returns the code of the upload, then of a GET with the same handle; what the peer received of the body,
/// and the number of connections.
fn upload_then_get(reply: &str, rest: &[Step], change: impl Fn(&Easy)) -> (Code, Code, i64, usize) {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let peer = RawPeer::start(vec![answering(reply, rest), vec![expect("\r\n\r\n"), send(ok)]]);
    let (easy, app) = upload(&peer);
    change(&easy);
    let first = easy.perform();
    let sent = easy.state().info.borrow().uploaded;
    assert_eq!(*app.body.borrow(), b"ok");
    long(&easy, O::Upload, 0);
    let second = easy.perform();
    (first, second, sent, peer.accepts())
}

#[test]
fn a_server_that_said_yes_gets_the_whole_body() {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let found = upload_then_get(reply, &reading_on(), |_| {});
    assert_eq!(found, (Code::Ok, Code::Ok, LENGTH as i64, 1));
}

#[test]
fn a_reply_that_closes_stops_the_upload() {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    let (first, second, sent, connections) = upload_then_get(reply, &[Step::Hold], |_| {});
    assert_eq!((first, second, connections), (Code::Ok, Code::Ok, 2));
    assert!(sent < LENGTH as i64, "{sent}");
}

#[test]
fn an_early_error_or_redirect_stops_the_upload() {
    for status in ["302 Found", "401 Who", "413 Too much", "500 Oh"] {
        let reply = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
        let (first, second, sent, connections) = upload_then_get(&reply, &[Step::Hold], |_| {});
        assert_eq!((first, second, connections), (Code::Ok, Code::Ok, 2), "{status}");
        assert!(sent < LENGTH as i64, "{status}: {sent}");
    }
}

/// covers: CURLOPT_KEEP_SENDING_ON_ERROR
#[test]
fn unless_the_application_wants_to_go_on() {
    for status in ["302 Found", "413 Too much"] {
        let reply = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
        let found = upload_then_get(&reply, &reading_on(), |easy| long(easy, O::KeepSendingOnError, 1));
        assert_eq!(found, (Code::Ok, Code::Ok, LENGTH as i64, 1), "{status}");
    }
    // Even that does not help if the server closes.
    let reply = "HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    let (.., sent, connections) =
        upload_then_get(reply, &[Step::Hold], |easy| long(easy, O::KeepSendingOnError, 1));
    assert!(sent < LENGTH as i64 && connections == 2, "{sent}");
}

/// The reply is seen while the body could go on for long, even when the socket takes everything at once.
#[test]
fn little_is_sent_after_the_reply_has_come() {
    let reply = "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nok";
    let (.., sent, _) = upload_then_get(reply, &[Step::ExpectBytes(LENGTH)], |_| {});
    assert!(sent < 12 << 20, "{sent}");
}

#[test]
fn an_upload_that_broke_off_is_no_success() {
    for reply in ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\n\r\nok"] {
        let rest = [Step::Sleep(Duration::from_millis(200)), Step::Reset];
        let peer = RawPeer::start(vec![answering(reply, &rest)]);
        let (easy, _app) = upload(&peer);
        let code = easy.perform();
        assert!(matches!(code, Code::SendError | Code::RecvError), "{code:?}");
    }
}

/// The server says yes before the body, and to no expectation: the body is sent when the reply has been read,
/// and at once.
#[test]
fn a_yes_that_comes_before_the_go_ahead_is_one() {
    let yes = send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let early: Script =
        [expect("\r\n\r\n"), yes, Step::ExpectBytes(LENGTH)].into_iter().chain(serving()).collect();
    let peer = RawPeer::start(vec![early]);
    let (easy, app) = upload(&peer);
    long(&easy, O::Expect100TimeoutMs, 60_000);
    let start = std::time::Instant::now();
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!((&**app.body.borrow(), easy.state().info.borrow().uploaded), (&b"ok"[..], LENGTH as i64));
    long(&easy, O::Upload, 0);
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1));
}

/// A no before the go-ahead: the body stays here, unless the application wants to go on.
/// covers: CURLOPT_KEEP_SENDING_ON_ERROR
#[test]
fn a_no_that_comes_before_the_go_ahead_is_one_too() {
    for (keep, sent, connections) in [(0, 0, 2), (1, LENGTH as i64, 1)] {
        let no = send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
        let body = [Step::ExpectBytes(LENGTH)].into_iter().filter(|_| keep == 1);
        let early: Script = [expect("\r\n\r\n"), no].into_iter().chain(body).chain(serving()).collect();
        let peer = RawPeer::start(vec![early, serving().into()]);
        let (easy, _app) = upload(&peer);
        long(&easy, O::Expect100TimeoutMs, 60_000);
        long(&easy, O::KeepSendingOnError, keep);
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(easy.state().info.borrow().uploaded, sent);
        long(&easy, O::Upload, 0);
        assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, connections));
    }
}

/// One request more.
fn serving() -> [Step; 2] {
    [expect("\r\n\r\n"), send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")]
}
