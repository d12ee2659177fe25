//! GSS-API with SOCKS proxies that follow a script, well-behaved and hostile ones. The security context is a
//! toy: tokens are words, wrapping puts one octet in front. Real ones are the matter of tests/servers.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;

use crate::common::{block_on, dial, listener, runtime};
use gss::{Error, Protection, Step};
use warmwire_net::filter::socks::{SocksRequest, Version, establish};
use warmwire_net::filter::socks_gssapi::{Gssapi, MakeSecurity, Security};
use warmwire_net::filter::{Filter, SocketFilter};
use warmwire_net::{NetError, NetErrorKind};
use wire::socks::Destination;

const GSSAPI: NetErrorKind = NetErrorKind::Proxy(4);
const PERMSG: NetErrorKind = NetErrorKind::Proxy(5);
const PROTECTION: NetErrorKind = NetErrorKind::Proxy(6);

struct Toy(Protection);

fn refused() -> Error {
    Error::Failed { call: "toy", text: "no. ".to_owned() }
}

impl Security for Toy {
    fn step(&mut self, token: Option<&[u8]>) -> Result<Step, Error> {
        match token {
            None => Ok(Step::Continue(b"hello".to_vec())),
            Some(b"more") => Ok(Step::Continue(b"again".to_vec())),
            Some(b"done") => Ok(Step::Complete(Vec::new())),
            Some(_) => Err(refused()),
        }
    }

    fn protection(&self) -> Protection {
        self.0
    }

    fn user(&mut self) -> Result<String, Error> {
        Ok("toy@BOX".to_owned())
    }

    fn wrap(&mut self, message: &[u8], confidential: bool) -> Result<Vec<u8>, Error> {
        Ok([if confidential { b"c" } else { b"s" }, message].concat())
    }

    fn unwrap(&mut self, message: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        match message {
            [b'c', rest @ ..] => Ok((rest.to_vec(), true)),
            [b's', rest @ ..] => Ok((rest.to_vec(), false)),
            _ => Err(refused()),
        }
    }
}

/// Bytes that the proxy expects and sends, in turn; then it closes. False if something else arrived.
type Script = Vec<(&'static [u8], Vec<u8>)>;

fn scripted(script: Script) -> (SocketAddr, JoinHandle<bool>) {
    let (listener, to) = listener();
    let thread = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let expected = |peer: &mut TcpStream, bytes: &[u8]| {
            let mut got = vec![0; bytes.len()];
            peer.read_exact(&mut got).is_ok() && got == bytes
        };
        script.iter().all(|(bytes, answer)| {
            let as_expected = expected(&mut peer, bytes);
            // A client that has given up does not read the rest.
            let _ = peer.write_all(answer);
            as_expected
        })
    });
    (to, thread)
}

/// Reads six bytes through the proxy after sending "question"; notes of the handshake come before them.
fn converse(to: SocketAddr, protection: Protection, nec: bool) -> Result<String, NetError> {
    let rt = runtime();
    let reactor = rt.reactor().clone();
    block_on(&rt, async move {
        let made = dial(reactor.clone(), vec![to], None).await.unwrap();
        let filter: Box<dyn Filter> = Box::new(SocketFilter::new(made.socket));
        let noted = std::cell::RefCell::new(String::new());
        let security: MakeSecurity = Box::new(move || Ok(Box::new(Toy(protection))));
        let gssapi = Gssapi {
            reactor: &reactor,
            security,
            nec,
            used: &Cell::new(false),
            note: &|text| *noted.borrow_mut() += &(text + "\n"),
        };
        let request = asks(true, Some(gssapi));
        let mut filter = establish(filter, request).await?;
        filter.write_all(b"question").await.unwrap();
        let mut tunnel = [0; 6];
        let read = filter.read_exact(&mut tunnel).await;
        let heard = match read {
            Ok(()) => String::from_utf8_lossy(&tunnel).into_owned(),
            Err(e) => e.to_string(),
        };
        Ok(noted.take() + &heard)
    })
}

const GREETING: &[u8] = b"\x05\x02\0\x01";
const HELLO: &[u8] = b"\x01\x01\0\x05hello";
const DONE: &[u8] = b"\x01\x01\0\x04done";
const REQUEST: &[u8] = b"\x05\x01\0\x03\x03a.b\0\x50";
const GRANTED: &[u8] = b"\x05\0\0\x01\0\0\0\0\0\0";

fn greeted() -> Script {
    vec![(GREETING, b"\x05\x01".to_vec()), (HELLO, DONE.to_vec())]
}

fn then(rows: Vec<(&'static [u8], Vec<u8>)>) -> Script {
    [greeted(), rows].concat()
}

fn data(message: &[u8]) -> Vec<u8> {
    [&[1, 3], &(message.len() as u16).to_be_bytes()[..], message].concat()
}

#[test]
fn without_protection_nothing_stays_between() {
    for (nec, asked, answer) in [
        (false, &b"\x01\x02\0\x02s\x02"[..], &b"\x01\x02\0\x02s\0"[..]),
        (true, b"\x01\x02\0\x01\x02", b"\x01\x02\0\x01\0"),
    ] {
        let (to, peer) = scripted(vec![
            (GREETING, b"\x05\x01".to_vec()),
            (HELLO, b"\x01\x01\0\x04more".to_vec()),
            (b"\x01\x01\0\x05again", DONE.to_vec()),
            (asked, answer.to_vec()),
            (REQUEST, GRANTED.to_vec()),
            (b"question", b"answer".to_vec()),
        ]);
        let heard = converse(to, Protection::Confidential, nec).unwrap();
        let notes = "SOCKS5 server authenticated user toy@BOX with GSS-API.\n\
                     SOCKS5 server supports GSS-API confidentiality data protection.\n\
                     SOCKS5 access without GSS-API data protection granted.\nanswer";
        assert_eq!(heard, notes);
        assert!(peer.join().unwrap());
    }
}

#[test]
fn everything_is_protected_as_agreed() {
    for (level, kind) in [(1, b's'), (2, b'c'), (3, b'c')] {
        let sealed = |bytes: &[u8]| data(&[&[kind], bytes].concat());
        let request: &'static [u8] = sealed(REQUEST).leak();
        let question: &'static [u8] = sealed(b"question").leak();
        // An empty message in between, and the answer in two.
        let answer = [sealed(b""), sealed(b"ans"), sealed(b"wer")].concat();
        let (to, peer) = scripted(then(vec![
            (b"\x01\x02\0\x02s\x02", vec![1, 2, 0, 2, b's', level]),
            (request, sealed(GRANTED)),
            (question, answer),
        ]));
        let heard = converse(to, Protection::Confidential, false).unwrap();
        assert!(heard.ends_with("protection granted.\nanswer"), "{level}: {heard}");
        assert!(peer.join().unwrap(), "{level}");
    }
}

#[test]
fn a_context_promises_what_it_can() {
    // (what it supports, what is requested, what is answered, whether that is accepted)
    let rows = [
        (Protection::None, 0, 0, true),
        (Protection::Signed, 1, 0, true),
        (Protection::Signed, 1, 2, false),
        (Protection::Signed, 1, 3, false),
        (Protection::None, 0, 1, false),
        (Protection::Confidential, 2, 9, false),
    ];
    for (protection, asked, level, good) in rows {
        let asked: &'static [u8] = vec![1, 2, 0, 2, b's', asked].leak();
        let (to, _peer) = scripted(then(vec![
            (asked, vec![1, 2, 0, 2, b's', level]),
            (REQUEST, GRANTED.to_vec()),
            (b"question", b"answer".to_vec()),
        ]));
        match converse(to, protection, false) {
            Ok(heard) => assert!(good && heard.ends_with("answer"), "{protection:?} {level}: {heard}"),
            Err(e) => assert!(!good && e.kind == PROTECTION, "{protection:?} {level}: {e}"),
        }
    }
}

/// Data with less protection than negotiated, or malformed, is refused.
#[test]
fn protection_can_not_be_taken_off() {
    let agreed: (&'static [u8], Vec<u8>) = (b"\x01\x02\0\x02s\x02", b"\x01\x02\0\x02s\x02".to_vec());
    let sealed = |bytes: &[u8]| data(&[b"c", bytes].concat());
    let request: &'static [u8] = sealed(REQUEST).leak();
    let question: &'static [u8] = sealed(b"question").leak();
    let endless = sealed(b"").repeat(1000);
    for (answer, noted) in [
        (data(b"sanswer"), "a message that is not encrypted"),
        (data(b"?answer"), "toy() failed: no. "),
        (b"answer".to_vec(), "what is no data message (97 110)"),
        (b"\x01\x03\0\0".to_vec(), "what is no data message (1 3)"),
        (endless, "messages without data"),
        (b"\x01\x03\xff\xffc".to_vec(), "unexpected end of file"),
        (b"\x01\x03".to_vec(), "unexpected end of file"),
    ] {
        let (to, _peer) = scripted(then(vec![
            (agreed.0, agreed.1.clone()),
            (request, sealed(GRANTED)),
            (question, answer),
        ]));
        let heard = converse(to, Protection::Confidential, false).unwrap();
        assert!(heard.ends_with(noted), "{noted}: {heard}");
    }
    // The proxy's own reply is protected too.
    let (to, _peer) = scripted(then(vec![agreed, (request, GRANTED.to_vec())]));
    let error = converse(to, Protection::Confidential, false).unwrap_err();
    assert_eq!(error.kind, NetErrorKind::Proxy(16), "{error}");
}

#[test]
fn hostile_proxies() {
    let level: &'static [u8] = b"\x01\x02\0\x02s\x02";
    let rows: Vec<(Script, NetErrorKind, &str)> = vec![
        (vec![(GREETING, b"\x04\x01".to_vec())], NetErrorKind::Proxy(2), "invalid version"),
        (vec![(GREETING, b"\x05\x01".to_vec()), (HELLO, b"\x01\xff".to_vec())], GSSAPI, "rejected"),
        (vec![(GREETING, b"\x05\x01".to_vec()), (HELLO, b"\x01\x02\0\x01x".to_vec())], GSSAPI, "type (1 2)"),
        (vec![(GREETING, b"\x05\x01".to_vec()), (HELLO, b"\x01\x01\0\0".to_vec())], GSSAPI, "zero-length"),
        (
            vec![(GREETING, b"\x05\x01".to_vec()), (HELLO, b"\x01\x01\0\x03bad".to_vec())],
            GSSAPI,
            "toy() failed",
        ),
        (vec![(GREETING, b"\x05\x01".to_vec()), (HELLO, b"\x01\x01\xff\xffx".to_vec())], GSSAPI, "token"),
        (then(vec![(level, b"\x01\xff".to_vec())]), GSSAPI, "rejected"),
        (then(vec![(level, b"\x01\x01\0\x02s\0".to_vec())]), GSSAPI, "encryption response type (1 1)"),
        (then(vec![(level, b"\x01\x02\0\0".to_vec())]), GSSAPI, "zero-length"),
        (then(vec![(level, b"\x01\x02\0\x01\0".to_vec())]), GSSAPI, "toy() failed"),
        (then(vec![(level, b"\x01\x02\0\x01s".to_vec())]), GSSAPI, "length (0)"),
        (then(vec![(level, b"\x01\x02\0\x03s\0\0".to_vec())]), GSSAPI, "length (2)"),
    ];
    for (script, kind, text) in rows {
        let (to, _peer) = scripted(script);
        let error = converse(to, Protection::Confidential, false).unwrap_err();
        assert_eq!(error.kind, kind, "{text}: {error}");
        assert!(error.message.contains(text), "{text}: {error}");
    }
}

/// A proxy that always requests more tokens is abandoned.
#[test]
fn a_conversation_has_an_end() {
    let more = || b"\x01\x01\0\x04more".to_vec();
    let mut script = vec![(GREETING, b"\x05\x01".to_vec()), (HELLO, more())];
    script.extend((0..40).map(|_| (&b"\x01\x01\0\x05again"[..], more())));
    let (to, _peer) = scripted(script);
    let error = converse(to, Protection::Confidential, false).unwrap_err();
    assert_eq!((error.kind, error.message.contains("end")), (GSSAPI, true), "{error}");
}

#[test]
fn a_proxy_cut_off_at_every_byte() {
    let answers: [&[u8]; 3] = [b"\x05\x01", DONE, b"\x01\x02\0\x02s\0"];
    let expected: [&'static [u8]; 3] = [GREETING, HELLO, b"\x01\x02\0\x02s\x02"];
    for last in 0..3 {
        for cut in 0..answers[last].len() {
            let mut script: Script =
                (0..last).map(|index| (expected[index], answers[index].to_vec())).collect();
            script.push((expected[last], answers[last][..cut].to_vec()));
            let (to, _peer) = scripted(script);
            let error = converse(to, Protection::Confidential, false).unwrap_err();
            let kind = if last == 0 { NetErrorKind::Proxy(3) } else { GSSAPI };
            assert_eq!(error.kind, kind, "{last} {cut}: {error}");
        }
    }
}

/// Without GSS-API in the offer, a proxy that picks it is refused.
#[test]
fn methods_that_were_not_offered() {
    let (to, _peer) = scripted(vec![(b"\x05\x01\0", b"\x05\x01".to_vec())]);
    let rt = runtime();
    let reactor = rt.reactor().clone();
    let error = block_on(&rt, async move {
        let made = dial(reactor, vec![to], None).await.unwrap();
        let request = asks(false, None);
        establish(Box::new(SocketFilter::new(made.socket)), request).await.err().unwrap()
    });
    assert_eq!(error.kind, PERMSG, "{error}");
}

/// A connection to port 80 of "a.b", by a proxy that is offered no name.
fn asks(by_password: bool, gssapi: Option<Gssapi<'_>>) -> SocksRequest<'_> {
    SocksRequest {
        version: Version::V5,
        destination: Destination::Name("a.b"),
        port: 80,
        host: "a.b",
        user: None,
        password: b"",
        by_password,
        gssapi,
    }
}
