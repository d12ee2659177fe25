//! Whole conversations of the engine with a server that sends anything, HTTP/1 and FTP, as one function of
//! bytes each, with the properties that hold for any input. The fuzz targets run them under libFuzzer,
//! crates/engine/tests/talk_mutations.rs on mutated seeds.
//!
//! The first octet selects settings, the second how the server's bytes are cut. The rest is what the server
//! sends, in parts: after each request (a head, a command; FTP's greeting needs none) it sends the next part.
//! A part ends at 0x1e, or at 0x1d, where the server closes the connection; after the last one it closes all.

use std::cell::{Cell, RefCell};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

use engine::callbacks::{
    Callbacks, CloseHook, OpenSocketAnswer, Purpose, ReadAnswer, SeekAnswer, SocketCallbacks, SockoptAnswer,
    Target, Transport, WriteAnswer,
};
use engine::{Clock, Easy, Multi};
use tables::{Code, EasyOption as O};

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[("talk_ftp", ftp), ("talk_http1", http1)];

const HOME: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const PASSWORD: &str = "secret-of-home";
/// "user:secret-of-home" in base64.
const BASIC: &str = "dXNlcjpzZWNyZXQtb2YtaG9tZQ==";
const UPLOAD: &[u8] = b"what is sent up";
/// After so much the application has enough.
const MOST_BODY: usize = 1 << 20;
/// Turns of both sides until all has ended; time advances in those without any transfer of bytes.
const TURNS: usize = 20_000;

/// GET, HEAD or PUT, twice on one handle, with redirections, login and decoding as the settings say.
pub fn http1(input: &[u8]) {
    outcome(input, false);
}

/// RETR, LIST or STOR, twice on one handle.
pub fn ftp(input: &[u8]) {
    outcome(input, true);
}

/// Runs both transfers and returns how each ended, and how many bytes it received.
pub fn outcome(input: &[u8], is_ftp: bool) -> Vec<(Code, usize)> {
    let [how, cut, says @ ..] = input else { return Vec::new() };
    let app = Rc::new(App { server: RefCell::new(Server::new(says, *cut, is_ftp)), ..App::default() });
    let (clock, hand) = Clock::manual();
    let multi = Multi::new(clock, false);
    let easy = Easy::new(Rc::new(Callee(app.clone())));
    let mut ends = Vec::new();
    for url in urls(is_ftp, *how) {
        app.fresh();
        dress(&easy, url, *how);
        assert_eq!(multi.add(&easy).id(), 0);
        let (mut turns, mut idle) = (0, 0);
        let code = loop {
            let _ = multi.perform();
            if let Some((message, _)) = multi.next_message() {
                break message.code;
            }
            turns += 1;
            assert!(turns < TURNS, "does not end");
            idle = if app.server.borrow_mut().turn() { 0 } else { idle + 1 };
            // A ready socket is seen one turn after it became ready.
            if idle > 4 {
                hand.advance(multi.timeout().unwrap_or(Duration::from_secs(1)).max(Duration::from_millis(1)));
            }
        };
        multi.remove(&easy);
        let said = app.server.borrow().said;
        let decoded = how & 1 != 0;
        assert!(decoded || app.received.get() <= said, "more has come than was said");
        ends.push((code, app.received.get()));
    }
    easy.close();
    multi.close();
    app.server.borrow_mut().all_is_closed();
    ends
}

fn urls(is_ftp: bool, how: u8) -> [&'static str; 2] {
    match (is_ftp, how & 0x20 != 0) {
        (true, false) => ["ftp://10.0.0.1/dir/file", "ftp://10.0.0.1/dir/other"],
        (true, true) => ["ftp://10.0.0.1/dir/", "ftp://10.0.0.1/file;type=a"],
        (false, _) => ["http://10.0.0.1/first", "http://10.0.0.1/second"],
    }
}

fn dress(easy: &Easy, url: &str, how: u8) {
    let text = |option, value: &str| easy.set_text(option, Some(value.as_bytes())).expect("a good value");
    let long = |option, value| {
        easy.state().settings.borrow_mut().set_long(option, value).expect("a good value");
    };
    let has = |bit: u8| i64::from(how & bit != 0);
    text(O::Url, url);
    text(O::Proxy, "");
    text(O::UserPwd, &format!("user:{PASSWORD}"));
    text(O::CookieFile, "");
    if how & 1 != 0 {
        text(O::AcceptEncoding, "");
    }
    long(O::FollowLocation, has(2));
    long(O::MaxRedirs, 5);
    long(O::NoBody, has(4));
    long(O::Upload, has(8));
    long(O::InFileSizeLarge, UPLOAD.len() as i64);
    long(O::ResumeFromLarge, 3 * has(16));
    long(O::TimeoutMs, 30_000);
}

#[derive(Default)]
struct App {
    server: RefCell<Server>,
    received: Cell<usize>,
    read_at: Cell<usize>,
}

struct Callee(Rc<App>);

impl App {
    fn fresh(&self) {
        self.received.set(0);
        self.read_at.set(0);
    }
}

impl Callbacks for Callee {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        let received = self.0.received.get() + data.len();
        self.0.received.set(received);
        if received > MOST_BODY { WriteAnswer::Failed(0) } else { WriteAnswer::All }
    }

    fn header(&self, _: &[u8]) -> Option<WriteAnswer> {
        Some(WriteAnswer::All)
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        let left = &UPLOAD[self.0.read_at.get().min(UPLOAD.len())..];
        let n = left.len().min(buf.len());
        buf[..n].copy_from_slice(&left[..n]);
        self.0.read_at.set(self.0.read_at.get() + n);
        ReadAnswer::Bytes(n)
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        self.0.read_at.set(usize::try_from(offset).unwrap_or(usize::MAX));
        SeekAnswer::Done
    }

    fn sockets(&self) -> Option<&dyn SocketCallbacks> {
        Some(self)
    }
}

impl SocketCallbacks for Callee {
    fn open(&self, _: Purpose, target: &mut Target, _: Transport) -> OpenSocketAnswer {
        let Target::Ip(address) = target else { return OpenSocketAnswer::Refused };
        OpenSocketAnswer::Socket(self.0.server.borrow_mut().connect(address.ip(), address.port()).into())
    }

    fn configure(&self, _: BorrowedFd<'_>, _: Purpose) -> SockoptAnswer {
        SockoptAnswer::AlreadyConnected
    }

    fn close_hook(&self) -> Option<CloseHook> {
        None
    }

    fn kin(&self) -> Option<[usize; 2]> {
        Some([1, 1])
    }
}

/// The other side of all connections.
#[derive(Default)]
struct Server {
    /// The parts that are left, each with whether the connection ends after it; the next one is the last
    /// element.
    parts: Vec<(Vec<u8>, bool)>,
    piece: usize,
    is_ftp: bool,
    /// Contents of data connections.
    data: Vec<u8>,
    said: usize,
    lines: Vec<Line>,
}

struct Line {
    far: UnixStream,
    is_home: bool,
    is_data: bool,
    heard: Vec<u8>,
    out: Vec<u8>,
    ends: bool,
}

impl Server {
    fn new(says: &[u8], cut: u8, is_ftp: bool) -> Server {
        let parts = says.split_inclusive(|octet| matches!(octet, 0x1d | 0x1e));
        let part = |part: &[u8]| match part {
            [part @ .., 0x1e] => (part.to_vec(), false),
            [part @ .., 0x1d] => (part.to_vec(), true),
            part => (part.to_vec(), false),
        };
        let mut parts: Vec<_> = parts.map(part).collect();
        parts.reverse();
        let data = says[..says.len().min(300)].to_vec();
        Server { parts, piece: 1 + usize::from(cut), is_ftp, data, said: 0, lines: Vec::new() }
    }

    fn connect(&mut self, host: IpAddr, port: u16) -> UnixStream {
        let (near, far) = UnixStream::pair().expect("descriptors for two more");
        far.set_nonblocking(true).expect("a socket can be");
        let is_data = self.is_ftp && port != 21;
        // A reply to PASV may name any host; the client connects only to the server's own.
        assert!(!is_data || host == HOME, "sent to {host}");
        let out = if is_data { self.data.clone() } else { Vec::new() };
        let line = Line { far, is_home: host == HOME, is_data, heard: Vec::new(), out, ends: is_data };
        self.lines.push(line);
        if self.is_ftp && !is_data {
            let at = self.lines.len() - 1;
            self.say_next(at); // the greeting
        }
        near
    }

    fn say_next(&mut self, at: usize) {
        let (part, ends) = self.parts.pop().unwrap_or((Vec::new(), true));
        self.lines[at].out.extend(part);
        self.lines[at].ends = ends;
    }

    /// Each connection has its turn. Whether anything moved.
    fn turn(&mut self) -> bool {
        let mut moved = false;
        for at in 0..self.lines.len() {
            let line = &mut self.lines[at];
            moved |= line.hear();
            if !line.is_data && !line.ends && line.question(self.is_ftp) {
                self.say_next(at);
                moved = true;
            }
            let sent = self.lines[at].send(self.piece);
            self.said += sent;
            moved |= sent > 0;
        }
        let before = self.lines.len();
        self.lines.retain(|line| !(line.ends && line.out.is_empty()));
        moved || self.lines.len() != before
    }

    fn all_is_closed(&mut self) {
        for line in &mut self.lines {
            let mut rest = Vec::new();
            let end = line.far.read_to_end(&mut rest);
            assert!(!end.is_err_and(|e| e.kind() == ErrorKind::WouldBlock), "a connection is left");
        }
    }
}

impl Line {
    /// Reads what arrived; returns whether there was any.
    fn hear(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match self.far.read(&mut buffer) {
            Ok(n @ 1..) => self.heard.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return false,
            _ => {
                // The client has closed; the remaining output is dropped.
                self.out.clear();
                self.ends = true;
                return false;
            }
        }
        let text = String::from_utf8_lossy(&self.heard);
        let knows_password = text.contains(BASIC) || text.contains(PASSWORD);
        assert!(self.is_home || !knows_password, "a foreign host receives the password: {text}");
        true
    }

    /// Whether there is a question, which is taken then.
    fn question(&mut self, is_ftp: bool) -> bool {
        let end: &[u8] = if is_ftp { b"\r\n" } else { b"\r\n\r\n" };
        let Some(at) = self.heard.windows(end.len()).position(|window| window == end) else { return false };
        let head: Vec<u8> = self.heard.drain(..at + end.len()).collect();
        let bare = head.split_inclusive(|octet| *octet == b'\n').any(|line| !line.ends_with(b"\r\n"));
        assert!(!bare && !head.contains(&0), "{:?}", String::from_utf8_lossy(&head));
        true
    }

    fn send(&mut self, piece: usize) -> usize {
        let most = self.out.len().min(piece);
        match self.far.write(&self.out[..most]) {
            Ok(sent) => {
                self.out.drain(..sent);
                sent
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => {
                self.out.clear();
                self.ends = true;
                0
            }
        }
    }
}
