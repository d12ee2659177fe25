//! Replies that never end, or hold more than anybody wants: each fails with curl's code and words, in bounded memory and
//! before the peer has sent much. One test in a process of its own, because the peak of its memory is looked at.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use common::{handle, long, text};
use tables::{Code, EasyOption as O};

/// As much as a peer sends before it gives up.
const ENOUGH: usize = 64 << 20;
/// What one transfer may add to the peak of our memory (KiB); the peer's own piece is part of it.
const MEMORY: u64 = 8 << 10;

/// A peer that sends the head, then pieces of the same until it is left alone.
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

/// The peak of our memory so far, which is begun anew.
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
        Code::RecvError,
        BROKEN_CHUNKS,
    ),
    ("a chunk's size", CHUNKED, "0", Code::RecvError, "chunk hex-length longer than 16"),
    ("a trailer", TRAILERS, "X", Code::RecvError, BROKEN_CHUNKS),
    ("trailers", TRAILERS, "X: y\r\n", Code::RecvError, BROKEN_CHUNKS),
];
const LONG_FIELD: &str =
    "X-Y: 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890\r\n";
const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";

/// covers: CURLOPT_URL
#[test]
fn replies_without_end_do_end() {
    for (name, head, piece, code, message) in ROWS {
        let port = peer(head, piece);
        let (easy, app) = handle(&format!("http://127.0.0.1:{port}/"));
        let (before, started) = (peak_kib(), Instant::now());
        let found = easy.perform();
        let used = peak_kib().saturating_sub(before);
        let said = easy.state().message();
        let said = if said.is_empty() { found.text().to_owned() } else { said };
        assert_eq!((found, said.as_str()), (*code, *message), "{name}");
        assert!(used < MEMORY, "{name}: {used} KiB");
        assert!(started.elapsed() < Duration::from_secs(20), "{name}: {:?}", started.elapsed());
        assert!(app.body.borrow().len() < 1 << 20, "{name}");
    }
    proxies();
}

/// The same of a proxy that shall open a tunnel.
fn proxies() {
    for (head, piece, message) in [
        ("HTTP/1.1 200 OK\r\nX: ", "y", "CONNECT response too large"),
        (OK, LONG_FIELD, "Too large response headers: 307247 > 307200"),
    ] {
        let port = peer(head, piece);
        let (easy, _app) = handle("http://unused.example/");
        text(&easy, O::Proxy, &format!("http://127.0.0.1:{port}"));
        long(&easy, O::Httpproxytunnel, 1);
        let found = easy.perform();
        assert_eq!((found, easy.state().message().as_str()), (Code::RecvError, message));
    }
}
