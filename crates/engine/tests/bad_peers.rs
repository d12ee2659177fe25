//! The small protocols with peers that stop after each byte of a reply, or never stop: each transfer ends,
//! soon and with little memory, and truncated data is not taken for complete if the protocol can distinguish
//! them.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::common::{App, handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Step};
use warmwire_engine::Easy;
use wire::ldap::ber::{element, integer};

/// A protocol, and a reply to any request that ends its transfer successfully, in pieces that each wait for
/// input.
struct Talk {
    scheme: &'static str,
    path: &'static str,
    /// How much is heard before each piece.
    asks: &'static [usize],
    answers: Vec<Vec<u8>>,
    /// The end of the connection is an end of the protocol's, anywhere.
    ends_anywhere: bool,
}

fn outcome(id: u32, tag: u8) -> Vec<u8> {
    let content = [integer(10, 0), element(4, b""), element(4, b"")].concat();
    element(0x30, &[integer(2, id), element(tag, &content)].concat())
}

fn entry() -> Vec<u8> {
    let attribute = element(0x30, &[element(4, b"cn"), element(0x31, &element(4, b"A"))].concat());
    let content = element(0x64, &[element(4, b"dc=x"), element(0x30, &attribute)].concat());
    element(0x30, &[integer(2, 2), content].concat())
}

fn talks() -> Vec<Talk> {
    let bytes = |pieces: &[&[u8]]| pieces.iter().map(|piece| piece.to_vec()).collect::<Vec<_>>();
    vec![
        Talk {
            scheme: "mqtt",
            path: "/t",
            asks: &[26, 8],
            answers: bytes(&[b"\x20\x02\0\0", b"\x90\x03\0\x01\0\x30\x08\0\x01thello\xe0\0"]),
            ends_anywhere: false,
        },
        Talk {
            scheme: "ldap",
            path: "/dc=x",
            asks: &[14, 20],
            answers: vec![outcome(1, 0x61), [entry(), outcome(2, 0x65)].concat()],
            ends_anywhere: false,
        },
        Talk {
            scheme: "ws",
            path: "/",
            asks: &[100],
            answers: bytes(&[
                b"HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello\x89\x01p\x02\x7e\0\x80",
            ]),
            ends_anywhere: true,
        },
        Talk {
            scheme: "gopher",
            path: "/1x",
            asks: &[3],
            answers: bytes(&[b"line\r\n.\r\n"]),
            ends_anywhere: true,
        },
        Talk {
            scheme: "dict",
            path: "/d:x",
            asks: &[10],
            answers: bytes(&[b"220 hello\r\n552 no match\r\n221 bye\r\n"]),
            ends_anywhere: true,
        },
        Talk {
            scheme: "telnet",
            path: "/",
            asks: &[0],
            answers: bytes(&[b"\xff\xfb\x01\xff\xfd\x18hello\xff\xff\xff\xf6"]),
            ends_anywhere: true,
        },
        Talk {
            scheme: "rtsp",
            path: "/",
            asks: &[20],
            answers: bytes(&[b"RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n"]),
            ends_anywhere: true,
        },
    ]
}

fn to(talk: &Talk, port: u16) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("{}://127.0.0.1:{port}{}", talk.scheme, talk.path));
    long(&easy, O::TimeoutMs, 10_000);
    text(&easy, O::UserAgent, "x");
    (easy, app)
}

#[test]
fn peers_that_stop_after_each_byte() {
    for talk in talks() {
        let length: usize = talk.answers.iter().map(Vec::len).sum();
        for end in 0..=length {
            let mut left = end;
            let mut script = Vec::new();
            for (asked, answer) in talk.asks.iter().zip(&talk.answers) {
                let piece = &answer[..left.min(answer.len())];
                left -= piece.len();
                script.extend([Step::ExpectBytes(*asked), Step::Send(piece.to_vec())]);
                if piece.len() < answer.len() {
                    break;
                }
            }
            script.push(Step::Finish);
            let peer = RawPeer::start(vec![script]);
            let code = to(&talk, peer.port()).0.perform();
            assert_ne!(code, Code::OperationTimedout, "{} {end}", talk.scheme);
            let fits = if end == length { code == Code::Ok } else { talk.ends_anywhere || code != Code::Ok };
            assert!(fits, "{} {end} of {length}: {code:?}", talk.scheme);
        }
    }
}

/// Sends a beginning once it has received something, then the same data endlessly, until the client leaves.
fn endless(beginning: Vec<Vec<u8>>, again: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept()?;
        for piece in beginning {
            let _ = socket.read(&mut [0; 4096])?;
            socket.write_all(&piece)?;
        }
        let much = again.repeat(64 * 1024 / again.len());
        loop {
            socket.write_all(&much)?;
        }
        #[allow(unreachable_code)]
        std::io::Result::Ok(())
    });
    port
}

/// Protocol, beginning, endless part, and expected result.
type Row<'a> = (usize, Vec<Vec<u8>>, &'a [u8], Code);

/// Endless input is ended by an error in it, by a limit of the application, or by a time-out; little of it is
/// stored.
#[test]
fn peers_that_never_stop() {
    let ws = b"HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".to_vec();
    let accepted = b"\x20\x02\0\0".to_vec();
    let other = element(0x30, &[integer(2, 99), element(0x73, b"ldap://other/")].concat());
    let rows: [Row<'_>; 15] = [
        (0, vec![], b"\x20\x02\0\0", Code::WeirdServerReply),
        (0, vec![accepted.clone()], b"\xff\xff\xff\xff", Code::WeirdServerReply),
        (0, vec![accepted.clone()], b"\xd0\0", Code::OperationTimedout),
        (0, vec![accepted], b"\x30\x08\0\x01thello", Code::FilesizeExceeded),
        (1, vec![], b"x", Code::WeirdServerReply),
        (1, vec![], b"\x30\x84\x7f\xff\xff\xff", Code::WeirdServerReply),
        (1, vec![outcome(1, 0x61)], &entry(), Code::FilesizeExceeded),
        (2, vec![ws.clone()], b"\x81\x7e\x01\0", Code::FilesizeExceeded),
        (2, vec![ws.clone()], b"\x82\x7f\0\0\0\0\x7f\0\0\0", Code::FilesizeExceeded),
        (2, vec![ws], b"\x89\x01p", Code::OperationTimedout),
        (3, vec![vec![]], b"i\t\t\t\r\n", Code::FilesizeExceeded),
        (5, vec![], b"\xff\xf1", Code::OperationTimedout),
        (6, vec![vec![]], b"junk", Code::OperationTimedout),
        (6, vec![vec![]], b"$\0\x40\0", Code::OperationTimedout),
        (1, vec![vec![], other.clone()], &other, Code::OperationTimedout),
    ];
    let talks = talks();
    for (which, beginning, again, wanted) in rows {
        let talk = &talks[which];
        let (easy, app) = to(talk, endless(beginning, again.to_vec()));
        long(&easy, O::TimeoutMs, 700);
        long(&easy, O::MaxFileSizeLarge, 100_000);
        let begun = Instant::now();
        let code = easy.perform();
        println!(
            "{} {again:?}: {code:?} wanted {wanted:?} {:?} {}",
            talk.scheme,
            begun.elapsed(),
            app.body.borrow().len()
        );
        assert_ne!(code, Code::Ok, "{} {again:?}", talk.scheme);
        assert!(app.body.borrow().len() <= 100_000, "{} {again:?}", talk.scheme);
        assert!(begun.elapsed() < Duration::from_secs(5), "{} {again:?}", talk.scheme);
    }
}

/// Without headers CURLOPT_NOBODY has nothing to return: a body is an error, as in curl, and none is
/// delivered.
// covers: CURLOPT_NOBODY
#[test]
fn a_body_that_nobody_asked_for() {
    for talk in talks().into_iter().filter(|talk| !matches!(talk.scheme, "rtsp" | "ws")) {
        let asked = talk.asks.iter().map(|length| Step::ExpectBytes(*length));
        let script = asked.zip(talk.answers.iter().map(|answer| Step::Send(answer.clone())));
        let script = script.flat_map(|(asked, answer)| [asked, answer]).chain([Step::Finish]).collect();
        let peer = RawPeer::start(vec![script]);
        let (easy, app) = to(&talk, peer.port());
        long(&easy, O::NoBody, 1);
        let found = (easy.perform(), app.body.borrow().len());
        assert_eq!(found, (Code::WeirdServerReply, 0), "{}", talk.scheme);
    }
}
