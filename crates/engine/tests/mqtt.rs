//! mqtt:// with brokers that reply correctly, in another order, in pieces, oddly, or not at all.
//!
//! covers: CURLOPT_UPKEEP_INTERVAL_MS, CURLOPT_MAXFILESIZE_LARGE

use std::time::Duration;

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step};
use warmwire_engine::Easy;

/// Head and protocol name of a CONNECT of 24 bytes behind the head, which has a client's name of twelve
/// letters.
const CONNECT: &[u8] = b"\x10\x18\0\x04MQTT\x04\x02\0\x3c\0\x0ccurl";
const ACCEPTED: &[u8] = b"\x20\x02\0\0";
const SUBSCRIBE: &[u8] = b"\x82\x06\0\x01\0\x01t\0";
const GRANTED: &[u8] = b"\x90\x03\0\x01\0";
const MESSAGE: &[u8] = b"\x30\x08\0\x01thello";
const BYE: &[u8] = b"\xe0\0";

fn bytes(bytes: &[u8]) -> Step {
    Step::Send(bytes.to_vec())
}

fn expect(bytes: &[u8]) -> Step {
    Step::Expect(bytes.to_vec())
}

/// A broker that accepts the client and its subscription. All scripts end by reading to the client's end.
fn subscribed() -> Script {
    vec![expect(CONNECT), Step::ExpectBytes(8), bytes(ACCEPTED), expect(SUBSCRIBE)]
}

fn run(script: Script, path: &str, set: impl FnOnce(&Easy)) -> (Code, Vec<u8>, Vec<u8>) {
    let script = script.into_iter().chain([Step::ReadAll]).collect();
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("mqtt://127.0.0.1:{}/{path}", peer.port()));
    long(&easy, O::TimeoutMs, 4000);
    set(&easy);
    let code = easy.perform();
    let body = app.body.borrow().clone();
    drop(easy);
    peer.wait_for_ends(1);
    (code, body, peer.received().concat())
}

fn subscribe(answers: &[&[u8]]) -> (Code, Vec<u8>) {
    let script = subscribed().into_iter().chain(answers.iter().map(|a| bytes(a))).chain([Step::Finish]);
    let (code, body, _) = run(script.collect(), "t", |_| {});
    (code, body)
}

#[test]
fn messages_come_until_the_server_says_goodbye() {
    let heard = b"\0\x01thello".to_vec();
    assert_eq!(subscribe(&[GRANTED, MESSAGE, BYE]), (Code::Ok, heard.clone()));
    assert_eq!(subscribe(&[MESSAGE, GRANTED, BYE]), (Code::Ok, heard.clone()), "before it is granted");
    assert_eq!(
        subscribe(&[GRANTED, b"\xd0\0", MESSAGE, b"\x30\0", MESSAGE, BYE]),
        (Code::Ok, heard.repeat(2))
    );
    let all = [GRANTED, MESSAGE, BYE].concat();
    let pieces: Vec<&[u8]> = all.chunks(1).collect();
    assert_eq!(subscribe(&pieces), (Code::Ok, heard));
    let long = [&b"\x30\x80\x80\x40"[..], &vec![b'x'; 1 << 20]].concat();
    assert_eq!(subscribe(&[GRANTED, &long, BYE]), (Code::Ok, vec![b'x'; 1 << 20]), "larger than any buffer");
}

#[test]
fn servers_that_break_off_or_talk_nonsense() {
    assert_eq!(subscribe(&[GRANTED]), (Code::RecvError, vec![]));
    assert_eq!(subscribe(&[GRANTED, &MESSAGE[..6]]), (Code::PartialFile, b"\0\x01th".to_vec()));
    assert_eq!(subscribe(&[&GRANTED[..3]]), (Code::PartialFile, vec![]));
    let odd: [&[u8]; 7] = [
        b"\x90\x03\0\x01\x80",
        b"\x90\x03\0\x02\0",
        b"\x90\x02\0\x01",
        b"\xe0\x02\0\0",
        b"\xd0\x01\0",
        b"\x30\xff\xff\xff\x80\0",
        b"\x10\0",
    ];
    for packet in odd {
        assert_eq!(subscribe(&[packet]), (Code::WeirdServerReply, vec![]), "{packet:?}");
    }
    for answer in [&b"\x20\x02\0\x05"[..], b"\x20\x03\0\0\0", b"\xd0\x02\0\0"] {
        let script = vec![expect(CONNECT), Step::ExpectBytes(8), bytes(answer), Step::Finish];
        assert_eq!(run(script, "t", |_| {}).0, Code::WeirdServerReply, "{answer:?}");
    }
}

/// curl's texts, which programs match.
#[test]
fn words_for_what_brokers_do() {
    let rows: [(&[u8], &str); 5] = [
        (b"\x20\x02\0\x05", "Expected 0000 but got 0005"),
        (b"\x20\x02\x01\0", "Expected 0000 but got 0100"),
        (b"\x20\x03\0\0\0", "CONNACK expected Remaining Length 2, got 3"),
        (b"\xd0\x02\0\0", "Broker sent malformed PINGRESP (remaining_length=2, header byte=0xd0)"),
        (b"\xe1\x02\0\0", "Broker sent malformed DISCONNECT (remaining_length=2, header byte=0xe1)"),
    ];
    for (answer, words) in rows {
        let script = vec![expect(CONNECT), Step::ExpectBytes(8), bytes(answer), Step::Finish];
        let peer = RawPeer::start(vec![script]);
        let (easy, _app) = handle(&format!("mqtt://127.0.0.1:{}/t", peer.port()));
        long(&easy, O::TimeoutMs, 20_000);
        assert_eq!(easy.perform(), Code::WeirdServerReply);
        assert_eq!(easy.state().message(), words);
    }
}

#[test]
fn a_message_is_published() {
    let publish = b"\x30\x0c\0\x03a b1234567";
    let script = vec![expect(CONNECT), Step::ExpectBytes(8), bytes(ACCEPTED), expect(publish), expect(BYE)];
    let (code, _, sent) = run(script, "a%20b", |easy| {
        long(easy, O::Post, 1);
        text(easy, O::CopyPostFields, "1234567");
    });
    assert_eq!(code, Code::Ok);
    assert!(sent.ends_with(BYE));
}

#[test]
fn login_is_sent_in_connect() {
    let connect = b"\x10\x20\0\x04MQTT\x04\xc2\0\x3c\0\x0ccurl";
    let login = b"\0\x02me\0\x02pw";
    let script = vec![
        expect(connect),
        Step::ExpectBytes(8),
        expect(login),
        bytes(ACCEPTED),
        expect(SUBSCRIBE),
        bytes(BYE),
    ];
    let result = run(script, "t", |easy| text(easy, O::UserPwd, "me:pw"));
    assert_eq!(result.0, Code::Ok);
    let (code, ..) = run(vec![Step::ReadAll], "t", |easy| text(easy, O::UserPwd, &"x".repeat(70_000)));
    assert_eq!(code, Code::WeirdServerReply);
}

#[test]
fn topics() {
    let accepted = || vec![expect(CONNECT), Step::ExpectBytes(8), bytes(ACCEPTED), Step::ReadAll];
    for path in ["", "a%00b", "a%0ab", &"x".repeat(70_000)] {
        let (code, _, sent) = run(accepted(), path, |_| {});
        assert_eq!((code, sent.len()), (Code::UrlMalformat, 26), "nothing is asked for");
    }
}

/// A broker drops silent clients; pings prevent that.
#[test]
fn a_long_subscription_is_kept_up() {
    let mut script = subscribed();
    script.extend([
        bytes(GRANTED),
        expect(b"\xc0\0"),
        bytes(b"\xd0\0"),
        expect(b"\xc0\0"),
        bytes(MESSAGE),
        bytes(BYE),
    ]);
    let (code, body, _) = run(script, "t", |easy| long(easy, O::UpkeepIntervalMs, 150));
    assert_eq!((code, body), (Code::Ok, b"\0\x01thello".to_vec()));
    let mut silent = subscribed();
    silent.extend([bytes(GRANTED), Step::Sleep(Duration::from_millis(400)), bytes(BYE), Step::Finish]);
    let (code, _, sent) = run(silent, "t", |easy| long(easy, O::UpkeepIntervalMs, 0));
    assert_eq!(code, Code::Ok);
    assert!(sent.ends_with(SUBSCRIBE), "nothing was asked");
}

#[test]
fn a_message_may_be_too_long() {
    let mut script = subscribed();
    script.extend([bytes(GRANTED), bytes(MESSAGE), Step::ReadAll]);
    let (code, body, _) = run(script, "t", |easy| long(easy, O::MaxFileSizeLarge, 7));
    assert_eq!((code, body), (Code::FilesizeExceeded, vec![]));
}
