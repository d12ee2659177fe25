//! Streams that are reset and connections that are lost: curl's codes and texts, and what is sent again.

use std::io;

use tables::Code;
use testkit::frames::{FramePeer, Talk, kind};

use super::{long, message, put, status, to};
use tables::EasyOption as O;

const NO_ERROR: u32 = 0;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;
const ENHANCE_YOUR_CALM: u32 = 11;
const HTTP_1_1_REQUIRED: u32 = 13;

/// The code and words of a GET for which the peer does this, once; and how many connections that took.
fn fetch(act: impl Fn(&mut Talk, u32) -> io::Result<()> + Send + Sync + 'static) -> (Code, String, usize) {
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        act(talk, stream)?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    let code = easy.perform();
    (code, message(&easy), peer.accepts())
}

fn half(talk: &mut Talk, stream: u32) -> io::Result<()> {
    talk.head(stream, &[(":status", "200"), ("content-length", "10")], false)?;
    talk.data(stream, b"hello", false)
}

#[test]
fn an_error_of_a_stream_is_its_transfers_end() {
    for (error, name) in [
        (INTERNAL_ERROR, "INTERNAL_ERROR"),
        (CANCEL, "CANCEL"),
        (ENHANCE_YOUR_CALM, "ENHANCE_YOUR_CALM"),
        (99, "unknown"),
    ] {
        let words = format!("HTTP/2 stream 1 was not closed cleanly: {name} (err {error})");
        let wanted = (Code::Http2Stream, words, 1);
        assert_eq!(fetch(move |talk, stream| talk.reset(stream, error)), wanted, "before a head");
        let mid = fetch(move |talk, stream| {
            half(talk, stream)?;
            talk.reset(stream, error)
        });
        assert_eq!(mid, wanted, "within a body");
    }
}

#[test]
fn a_reset_without_an_error_leaves_half_a_body_or_nothing() {
    let words = "HTTP/2 stream 1 was reset".to_owned();
    let before = fetch(|talk, stream| talk.reset(stream, NO_ERROR));
    assert_eq!(before, (Code::Http2, words.clone(), 1));
    let within = fetch(|talk, stream| {
        half(talk, stream)?;
        talk.reset(stream, NO_ERROR)
    });
    assert_eq!(within, (Code::PartialFile, words, 1));
}

#[test]
fn a_connection_that_is_lost() {
    let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let (code, words, accepts) = fetch(move |_, _| Err(end()));
    assert_eq!((code, &*words, accepts), (Code::Http2, Code::Http2.text(), 1), "closed before a reply");
    let (code, ..) = fetch(move |talk, stream| half(talk, stream).and(Err(end())));
    assert_eq!(code, Code::PartialFile, "closed within a body");
    let (code, ..) = fetch(|talk, _| talk.break_off());
    assert_eq!(code, Code::RecvError, "reset");
}

/// The first connection refuses, the second answers: the body travels twice.
#[test]
fn refused_streams_go_to_another_connection() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        if talk.number == 0 {
            talk.until(|frame| frame.kind == kind::DATA)?;
            talk.reset(stream, REFUSED_STREAM)?;
            return talk.hold();
        }
        let length = talk.body(stream)?;
        talk.answer(stream, 200, length.to_string().as_bytes())?;
        talk.hold()
    });
    let (easy, app) = put(&peer, 200_000);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!((&app.body.borrow()[..], peer.accepts()), (&b"200000"[..], 2));
}

/// A refusal after part of the reply is too late: the application would receive that part twice.
#[test]
fn streams_refused_within_a_reply_are_not_repeated() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        if talk.number == 0 {
            half(talk, stream)?;
            talk.reset(stream, REFUSED_STREAM)?;
            return talk.hold();
        }
        talk.answer(stream, 200, b"helloworld")?;
        talk.hold()
    });
    let (easy, app) = to(&peer);
    let code = easy.perform();
    assert_eq!((code, peer.accepts()), (Code::SendError, 1), "{}", message(&easy));
    assert_eq!(&app.body.borrow()[..], b"hello");
}

#[test]
fn a_server_that_always_refuses_is_asked_six_times() {
    let (code, words, accepts) = fetch(|talk, stream| talk.reset(stream, REFUSED_STREAM));
    assert_eq!((code, accepts), (Code::SendError, 6));
    assert_eq!(words, "Connection died, tried 5 times before giving up");
}

#[test]
fn a_server_that_wants_http_1_1_gets_it() {
    let peer = FramePeer::start(|talk| {
        if talk.number == 0 {
            talk.greet(&[])?;
            let stream = talk.request()?;
            talk.reset(stream, HTTP_1_1_REQUIRED)?;
            return talk.hold();
        }
        loop {
            let head = talk.http1_head()?;
            assert!(head.starts_with("GET / HTTP/1.1\r\n"), "{head}");
            talk.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")?;
        }
    });
    let (easy, app) = to(&peer);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!((&app.body.borrow()[..], peer.accepts()), (&b"hi"[..], 2));
}

/// A stream that fails affects neither the others nor the connection.
#[test]
fn the_connection_of_a_failed_stream_serves_on() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.reset(stream, INTERNAL_ERROR)?;
        let stream = talk.request()?;
        talk.answer(stream, 200, b"hi")?;
        talk.hold()
    });
    let (easy, app) = to(&peer);
    assert_eq!(easy.perform(), Code::Http2Stream);
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1));
    assert_eq!((&app.body.borrow()[..], status(&easy)), (&b"hi"[..], 200));
}

/// covers: CURLOPT_FORBID_REUSE
#[test]
fn a_connection_that_may_not_serve_again_says_goodbye() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.answer(stream, 200, b"hi")?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    long(&easy, O::ForbidReuse, 1);
    for accepts in 1..=2 {
        assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, accepts), "{}", message(&easy));
    }
    super::eventually(|| peer.frames(0).iter().any(|frame| frame.is(kind::GOAWAY, 0)));
}

/// Whatever ends an idle connection, the server is notified.
#[test]
fn an_idle_connection_is_closed_with_a_goodbye() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.answer(stream, 200, b"hi")?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    assert_eq!(easy.perform(), Code::Ok);
    drop(easy);
    super::eventually(|| peer.frames(0).iter().any(|frame| frame.is(kind::GOAWAY, 0)));
}
