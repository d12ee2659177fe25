//! telnet:// with servers that negotiate, in pieces, oddly, or not at all.
//!
//! covers: CURLOPT_TELNETOPTIONS

use std::time::Duration;

use crate::common::{App, handle, long};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step, expect, send};
use warmwire_engine::Easy;

fn bytes(bytes: &[u8]) -> Step {
    Step::Send(bytes.to_vec())
}

fn heard(bytes: &[u8]) -> Step {
    Step::Expect(bytes.to_vec())
}

/// Returns the code, the delivered data, and what the server received.
fn talk(script: Script, set: impl FnOnce(&Easy, &App)) -> (Code, Vec<u8>, Vec<u8>) {
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("telnet://127.0.0.1:{}/", peer.port()));
    long(&easy, O::TimeoutMs, 4000);
    set(&easy, &app);
    let code = easy.perform();
    let body = app.body.borrow().clone();
    (code, body, peer.received().concat())
}

fn options(easy: &Easy, options: &[&str]) {
    let options = options.iter().map(|option| option.as_bytes().into()).collect();
    easy.state().settings.borrow_mut().set_list(O::TelnetOptions, Some(options)).unwrap();
}

#[test]
fn a_server_that_is_none_hears_the_words_alone() {
    let script = vec![expect("GET /\r\n"), send("moo"), Step::Finish];
    let (code, body, sent) = talk(script, |_, app| *app.upload.borrow_mut() = b"GET /\r\n".to_vec());
    assert_eq!((code, &body[..], &sent[..]), (Code::Ok, &b"moo"[..], &b"GET /\r\n"[..]));
    let script = vec![heard(b"a\xff\xffb"), bytes(b"c\xff\xffd"), Step::Finish];
    let (code, body, sent) = talk(script, |_, app| *app.upload.borrow_mut() = b"a\xffb".to_vec());
    assert_eq!((code, &body[..], &sent[..]), (Code::Ok, &b"c\xffd"[..], &b"a\xff\xffb"[..]));
}

/// Options are answered before the first word.
#[test]
fn options_are_settled_first() {
    let asked = b"\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0";
    let answered =
        b"\xff\xfb\x18\xff\xfa\x18\0vt100\xff\xf0\xff\xfb\0\xff\xfd\0\xff\xfb\x03\xff\xfd\x03hello";
    let script = vec![bytes(asked), heard(answered), send("bye"), Step::Finish];
    let (code, body, sent) = talk(script, |easy, app| {
        options(easy, &["TTYPE=vt100"]);
        *app.upload.borrow_mut() = b"hello".to_vec();
    });
    assert_eq!((code, &body[..], &sent[..]), (Code::Ok, &b"bye"[..], &answered[..]));
}

/// Commands count as received, wherever they occur.
#[test]
fn received_bytes_include_commands() {
    let ask = b"\xff\xfd\x18\xff\xfb\x01";
    let script = vec![
        bytes(b"hi"),
        bytes(ask),
        Step::ExpectBytes(6),
        bytes(b"there"),
        bytes(b"\xff\xf1"),
        Step::Finish,
    ];
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("telnet://127.0.0.1:{}/", peer.port()));
    long(&easy, O::TimeoutMs, 4000);
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!((&app.body.borrow()[..], easy.state().info.borrow().downloaded), (&b"hithere"[..], 15));
}

/// An application without data is asked again, and the server's data is delivered meanwhile; data that
/// appears in the end is sent.
#[test]
fn silence_is_no_end() {
    let script = vec![
        send("login: "),
        Step::Sleep(Duration::from_millis(150)),
        send("still there?"),
        heard(b"yes"),
        Step::Finish,
    ];
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("telnet://127.0.0.1:{}/", peer.port()));
    long(&easy, O::TimeoutMs, 4000);
    let late = app.clone();
    *app.on_write.borrow_mut() = Some(std::rc::Rc::new(move || {
        if late.body.borrow().len() > 3 {
            *late.upload.borrow_mut() = b"yes".to_vec();
        }
    }));
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!(*app.body.borrow(), b"login: still there?");
    assert_eq!(easy.state().info.borrow().uploaded, 3);
}

/// More than any buffer in both directions, from a server that reads late.
#[test]
fn much_is_said() {
    let words: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8 | 1).collect();
    let sent = words.clone();
    let script = vec![bytes(&b"x".repeat(1 << 20)), Step::ExpectBytes(1 << 20), send("done"), Step::Finish];
    let (code, body, heard) = talk(script, |_, app| *app.upload.borrow_mut() = words);
    assert_eq!((code, body.len()), (Code::Ok, (1 << 20) + 4));
    assert!(heard == sent);
}

#[test]
fn wishes_that_are_none() {
    let fails = |wish: &str| talk(vec![Step::Hold], |easy, _| options(easy, &[wish])).0;
    assert_eq!(fails("TTTYPE=vt100"), Code::UnknownOption);
    assert_eq!(fails("TTYPE"), Code::SetoptOptionSyntax);
    assert_eq!(fails("WS=80"), Code::SetoptOptionSyntax);
}

#[test]
fn servers_that_break_off_or_talk_nonsense() {
    let fails = |bytes_of: &[u8], then| talk(vec![bytes(bytes_of), then], |_, _| ()).0;
    assert_eq!(fails(b"\xff\xfa\x18\xff\xfb", Step::Hold), Code::RecvError);
    assert_eq!(fails(b"\xff\xfa\x18\x01\xff\xf0", Step::Hold), Code::BadFunctionArgument);
    assert_eq!(fails(b"\xff", Step::Finish), Code::Ok, "where it ends is the server's matter");
    let script = vec![bytes(b"abc"), Step::Hold];
    let (code, body, _) = talk(script, |easy, _| long(easy, O::TimeoutMs, 300));
    assert_eq!((code, &body[..]), (Code::OperationTimedout, &b"abc"[..]));
    let script = vec![bytes(&b"y".repeat(5000)), Step::Finish];
    let (code, body, _) = talk(script, |easy, _| long(easy, O::MaxFileSizeLarge, 99));
    assert_eq!((code, body.len()), (Code::FilesizeExceeded, 99));
}
