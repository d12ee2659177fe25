//! Endless or excessive replies: each fails with curl's code and text, in bounded memory and before the peer
//! has sent much. One test in its own process, because the peak of its memory is measured.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use common::{handle, long, text, until_done};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire_engine::callbacks::Callbacks;
use warmwire_engine::{Easy, Multi};

/// Amount that a peer sends before it gives up.
const ENOUGH: usize = 64 << 20;
/// Amount that one transfer may add to the peak of our memory (KiB), including the peer's own piece.
const MEMORY: u64 = 8 << 10;

/// A peer that sends the head, then the same piece endlessly until the client leaves.
fn peer(head: &'static str, piece: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let _ = answer(socket, head, piece);
    });
    port
}

fn answer(mut socket: TcpStream, head: &str, piece: &str) -> std::io::Result<()> {
    let mut request = [0; 4096];
    while !request.windows(4).any(|w| w == b"\r\n\r\n") {
        if socket.read(&mut request)? == 0 {
            return Ok(());
        }
    }
    socket.write_all(head.as_bytes())?;
    let piece = piece.repeat(16 * 1024 / piece.len());
    for _ in 0..ENOUGH / piece.len() {
        socket.write_all(piece.as_bytes())?;
    }
    Ok(())
}

/// Returns the peak of our memory so far, and resets it.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const TRAILERS: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
const BROKEN_CHUNKS: &str = "Out of memory in chunked-encoding";
const LARGER: &str = "A value or data field grew larger than allowed";
/// Name, head, piece, code, message.
const ROWS: &[(&str, &str, &str, Code, &str)] = &[
    ("a field", "HTTP/1.1 200 OK\r\nX: ", "y", Code::TooLarge, LARGER),
    ("a status line", "HTTP/1.1 200 ", "y", Code::TooLarge, LARGER),
    ("no head", "", "y", Code::UnsupportedProtocol, "Received HTTP/0.9 when not allowed"),
    ("fields", OK, "X: y\r\n", Code::TooLarge, "Too many response headers, 5000 is max"),
    ("long fields", OK, LONG_FIELD, Code::RecvError, "Too large response headers: 307247 > 307200"),
    ("a folded field", "HTTP/1.1 200 OK\r\nX: y\r\n", " z\r\n", Code::TooLarge, LARGER),
    (
        "go-aheads",
        "",
        "HTTP/1.1 100 Continue\r\n\r\n",
        Code::RecvError,
        "Too large response headers: 307223 > 307200",
    ),
    ("early hints", "", HINTS, Code::TooLarge, "Too many response headers, 5000 is max"),
    (
        "a chunk's extension",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5",
        ";a=b",
        Code::PartialFile,
        "transfer closed with outstanding read data remaining",
    ),
    ("a chunk's size", CHUNKED, "0", Code::RecvError, "chunk hex-length longer than 16"),
    ("a trailer", TRAILERS, "X", Code::TooLarge, BROKEN_CHUNKS),
    ("trailers", TRAILERS, "X: y\r\n", Code::TooLarge, "Too many response headers, 5000 is max"),
    ("long trailers", TRAILERS, LONG_FIELD, Code::TooLarge, "Too many response headers, 5000 is max"),
];
const LONG_FIELD: &str =
    "X-Y: 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890\r\n";
const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";

/// covers: CURLOPT_URL
#[test]
fn replies_without_end_do_end() {
    plain();
    for (name, head, piece, code, message) in ROWS {
        let port = peer(head, piece);
        let (easy, app) = handle(&format!("http://127.0.0.1:{port}/"));
        let (before, started) = (peak_kib(), Instant::now());
        let found = easy.perform();
        let used = peak_kib().saturating_sub(before);
        let failure = easy.state().message();
        let failure = if failure.is_empty() { found.text().to_owned() } else { failure };
        assert_eq!((found, failure.as_str()), (*code, *message), "{name}");
        assert!(used < MEMORY, "{name}: {used} KiB");
        assert!(started.elapsed() < Duration::from_secs(20), "{name}: {:?}", started.elapsed());
        assert!(app.body.borrow().len() < 1 << 20, "{name}");
    }
    proxies();
    dialogues();
    others_have_their_turn();
    extensions_hold_up_nobody();
}

/// A transfer that ends well, before memory is looked at: the pages of our own code that it brings in (some
/// MiB in a build for tests) are no reply's doing.
fn plain() {
    let port = peer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi");
    let (easy, app) = handle(&format!("http://127.0.0.1:{port}/"));
    assert_eq!((easy.perform(), app.body.borrow().as_slice()), (Code::Ok, b"hi".as_slice()));
}

/// An application that stores nothing.
struct Deaf;

impl Callbacks for Deaf {}

fn deaf(url: &str) -> Easy {
    let easy = Easy::new(Rc::new(Deaf));
    text(&easy, O::Url, url);
    easy
}

/// A server that says this much, waiting for a line before each piece but the first, and then pieces of the
/// same for ever.
fn talker(scheme: &str, first: &'static [&str], piece: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut socket, _) = listener.accept()?;
        for (at, reply) in first.iter().enumerate() {
            if at > 0 {
                let _ = socket.read(&mut [0; 4096])?;
            }
            socket.write_all(reply.as_bytes())?;
        }
        let much = piece.repeat(64 * 1024 / piece.len());
        loop {
            socket.write_all(much.as_bytes())?;
        }
        #[allow(unreachable_code)]
        std::io::Result::Ok(())
    });
    let path = if scheme == "smtp" { "/me" } else { "/1" };
    format!("{scheme}://user:secret@127.0.0.1:{port}{path}")
}

/// Endless output of mail and FTP servers: what precedes it, and the expected result.
const TALKERS: &[(&str, &[&str], &str, Code)] = &[
    ("imap", &[], "* NO greeting\n", Code::WeirdServerReply),
    ("imap", &[], "B001 OK\r\n", Code::OperationTimedout),
    ("imap", &["* OK hi\r\n"], "* CAPABILITY AUTH=PLAIN\r\n", Code::OperationTimedout),
    ("imap", &["* OK hi\r\n"], "* 1 FETCH {2}\r\nab\r\n", Code::OperationTimedout),
    ("imap", &["* OK hi\r\n"], "+ go on\r\n", Code::WeirdServerReply),
    ("imap", &["* OK hi\r\n", "A001 OK\r\n", "A002 OK\r\n"], "* LIST () / a\r\n", Code::OperationTimedout),
    ("imap", &["* OK hi\r\n"], "no end of it", Code::WeirdServerReply),
    ("pop3", &[], "more\r\n", Code::OperationTimedout),
    ("pop3", &["+OK\r\n"], "SASL PLAIN\r\n", Code::OperationTimedout),
    ("pop3", &["+OK\r\n", "+OK\r\nUSER\r\n.\r\n"], "no reply\r\n", Code::OperationTimedout),
    ("pop3", &["+OK\r\n"], "no end of it", Code::WeirdServerReply),
    ("smtp", &[], "220-more\r\n", Code::WeirdServerReply),
    ("smtp", &["220 hi\r\n"], "250-AUTH PLAIN\r\n", Code::WeirdServerReply),
    ("smtp", &["220 hi\r\n"], "no reply\r\n", Code::WeirdServerReply),
    ("smtp", &["220 hi\r\n"], "250-no end", Code::WeirdServerReply),
    ("ftp", &[], "220-more\r\n", Code::WeirdServerReply),
];

fn dialogues() {
    for (scheme, first, piece, code) in TALKERS {
        let easy = deaf(&talker(scheme, first, piece));
        long(&easy, O::ServerResponseTimeoutMs, 700);
        let (before, started) = (peak_kib(), Instant::now());
        let found = easy.perform();
        let used = peak_kib().saturating_sub(before);
        assert_eq!(found, *code, "{scheme} {piece:?}: {}", easy.state().message());
        assert!(used < MEMORY, "{scheme} {piece:?}: {used} KiB");
        assert!(started.elapsed() < Duration::from_secs(15), "{scheme} {piece:?}: {:?}", started.elapsed());
    }
}

/// One multi handle, in which a server talks and talks, and another one answers.
fn others_have_their_turn() {
    let multi = Multi::default();
    let talking = deaf(&talker("imap", &["* OK hi\r\n"], "* 1 EXISTS\r\n"));
    long(&talking, O::ServerResponseTimeoutMs, 60_000);
    multi.add(&talking);
    for _ in 0..20 {
        multi.perform();
        multi.wait(&mut [], Duration::from_millis(20), false).unwrap();
    }
    let peer = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
        Step::Hold,
    ]]);
    let (other, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    multi.add(&other);
    let started = Instant::now();
    assert_eq!(until_done(&multi), Code::Ok);
    assert_eq!(*app.body.borrow(), b"hi");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    multi.remove(&talking);
}

/// An extension of a chunk that does not end brings no body. Another transfer of the same handle continues.
fn extensions_hold_up_nobody() {
    let multi = Multi::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let flood = thread::spawn(move || {
        let (mut socket, _) = listener.accept()?;
        let _received = socket.read(&mut [0; 4096])?;
        socket.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;")?;
        let (piece, started) = (vec![b'x'; 256 << 10], Instant::now());
        while started.elapsed() < Duration::from_secs(90) {
            socket.write_all(&piece)?;
        }
        Ok::<(), std::io::Error>(())
    });
    let flooded = deaf(&format!("http://127.0.0.1:{port}/"));
    multi.add(&flooded);
    for _ in 0..5 {
        multi.perform();
        multi.wait(&mut [], Duration::from_millis(20), false).unwrap();
    }
    let reply = send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    let other = RawPeer::start(vec![vec![expect("\r\n\r\n"), reply, Step::Hold]]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", other.port()));
    multi.add(&easy);
    let started = Instant::now();
    assert_eq!(until_done(&multi), Code::Ok);
    assert_eq!(*app.body.borrow(), b"hi");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    multi.remove(&flooded);
    drop(multi);
    assert!(flood.join().unwrap().is_err(), "the flood was cut off");
}

/// A proxy's endless reply to CONNECT is aborted.
fn proxies() {
    for (head, piece, message) in [
        ("HTTP/1.1 200 OK\r\nX: ", "y", "CONNECT response too large"),
        ("HTTP/1.1 200 OK\r\nX: folded\r\n", " and more of it\r\n", "CONNECT response too large"),
        (OK, LONG_FIELD, "Too large response headers: 307247 > 307200"),
    ] {
        let port = peer(head, piece);
        let (easy, _app) = handle("http://unused.example/");
        text(&easy, O::Proxy, &format!("http://127.0.0.1:{port}"));
        long(&easy, O::HttpProxyTunnel, 1);
        let found = easy.perform();
        assert_eq!((found, easy.state().message().as_str()), (Code::RecvError, message));
    }
}
