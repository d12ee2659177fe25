//! RTSP from peers that answer oddly or not at all. What well-behaved ones answer is compared in
//! tests/twin/rtsp.c.
//!
//! covers: CURLOPT_RTSP_REQUEST, CURLOPT_HTTPAUTH

use crate::common::{handle, long};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step, expect, send};

const OPTIONS: i64 = 1;
const DESCRIBE: i64 = 2;
const SETUP: i64 = 4;
const RECEIVE: i64 = 11;

/// Returns the result of a request of that kind, and what reached the application.
fn ask(request: i64, script: Script) -> (Code, Vec<u8>) {
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("rtsp://127.0.0.1:{}/", peer.port()));
    long(&easy, O::RtspRequest, request);
    long(&easy, O::TimeoutMs, 3000);
    easy.set_text(O::RtspTransport, Some(b"RTP/AVP/TCP;interleaved=0-1")).unwrap();
    (easy.perform(), app.body.borrow().clone())
}

const REPLY: &str = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: s\r\nContent-Length: 4\r\n\r\n$\u{0}\u{0}\u{0}";

/// Wherever a server stops, the transfer ends. Complete lines count as a head, as in HTTP; the body has its
/// announced length, whatever it contains.
#[test]
fn a_server_that_stops_after_each_byte() {
    let numbered = REPLY.find("Session").unwrap();
    let body_start = REPLY.find("4\r\n").unwrap() + 3;
    for end in 0..REPLY.len() {
        let (code, _) = ask(DESCRIBE, vec![expect("\r\n\r\n"), send(&REPLY[..end]), Step::Finish]);
        let allowed = (numbered..body_start).contains(&end);
        assert!(allowed || code != Code::Ok, "{end}");
        assert_ne!(code, Code::OperationTimedout, "{end}");
    }
    let whole = ask(DESCRIBE, vec![expect("\r\n\r\n"), send(REPLY), Step::Finish]);
    assert_eq!(whole, (Code::Ok, b"$\0\0\0".to_vec()));
}

#[test]
fn a_reply_byte_by_byte() {
    let mut script = vec![expect("\r\n\r\n")];
    script.extend(REPLY.bytes().map(|byte| Step::Send(vec![byte])));
    script.push(Step::Finish);
    assert_eq!(ask(DESCRIBE, script), (Code::Ok, b"$\0\0\0".to_vec()));
}

/// Data that is neither packet nor reply is skipped; nothing of it is stored.
#[test]
fn junk_before_a_reply() {
    let reply = "RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n";
    for junk in ["HTTP/1.1 200 OK\r\n\r\n", "$", "$\u{1}\u{0}\u{1}x", "R", "RTSPRTSP", "\r\n\r\n"] {
        let script = vec![expect("\r\n\r\n"), send(junk), send(reply), Step::Finish];
        assert_eq!(ask(OPTIONS, script), (Code::Ok, Vec::new()), "{junk:?}");
    }
    let much = Step::Send(vec![b'x'; 1 << 20]);
    let script = vec![expect("\r\n\r\n"), much.clone(), much.clone(), much, Step::Finish];
    assert_eq!(ask(OPTIONS, script), (Code::GotNothing, Vec::new()));
}

#[test]
fn heads_that_are_none() {
    let answer = |text: &str| ask(OPTIONS, vec![expect("\r\n\r\n"), send(text), Step::Finish]).0;
    assert_eq!(answer("RTSP/1.0 OK\r\n\r\n"), Code::WeirdServerReply);
    assert_eq!(answer("RTSP/1.1 200 OK\r\nCSeq: 1\r\n\r\n"), Code::WeirdServerReply);
    assert_eq!(answer("RTSP/2.0 200 OK\r\nCSeq: 1\r\n\r\n"), Code::WeirdServerReply);
    assert_eq!(answer("RTSP/1.0 200 OK\r\nno field\r\n\r\n"), Code::WeirdServerReply);
    assert_eq!(answer("RTSP/1.0 200 OK\r\nCSeq: -1\r\n\r\n"), Code::RtspCseqError);
    assert_eq!(answer("RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: ;x\r\n\r\n"), Code::RtspSessionError);
    let long_line = format!("RTSP/1.0 200 OK\r\nX: {}", "x".repeat(200 * 1024));
    assert_eq!(answer(&long_line), Code::TooLarge);
}

/// A packet's length has two bytes; a truncated packet is an error if packets were requested.
#[test]
fn packets_with_lying_lengths() {
    let setup = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: s\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n";
    let mut largest = b"$\x01\xff\xff".to_vec();
    largest.resize(4 + 0xffff, b'p');
    let script = vec![
        expect("\r\n\r\n"),
        send(setup),
        Step::Send(largest.clone()),
        Step::Send(b"$\0\xff\xffcut".to_vec()),
    ];
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("rtsp://127.0.0.1:{}/", peer.port()));
    easy.set_text(O::RtspTransport, Some(b"RTP/AVP/TCP;interleaved=0-1")).unwrap();
    long(&easy, O::TimeoutMs, 3000);
    long(&easy, O::RtspRequest, SETUP);
    assert_eq!(easy.perform(), Code::Ok);
    long(&easy, O::RtspRequest, RECEIVE);
    let mut code = easy.perform();
    for _ in 0..10 {
        if code != Code::Ok {
            break;
        }
        code = easy.perform();
    }
    assert_eq!(code, Code::RecvError);
    assert_eq!(*app.body.borrow(), largest);
}

/// Each request has its own number, including the one that answers a challenge; the URI of the stream is
/// signed.
#[test]
fn a_challenge_is_answered() {
    let refusal = "RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\n\
        WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n\r\n";
    let peer = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send(refusal),
        expect("CSeq: 2\r\n"),
        expect("uri=\"rtsp://stream/\""),
        expect("\r\n\r\n"),
        send("RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n"),
        Step::Hold,
    ]]);
    let (easy, _) = handle(&format!("rtsp://user:secret@127.0.0.1:{}/", peer.port()));
    long(&easy, O::TimeoutMs, 3000);
    long(&easy, O::HttpAuth, 2);
    easy.set_text(O::RtspStreamUri, Some(b"rtsp://stream/")).unwrap();
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!(easy.state().info.borrow().response_code, 200);
}
