//! The HTTP server of the cases, as origin and as proxy: it answers with the case's `<data>` parts, selected
//! by the number in the path and the kind of credentials in a request, and follows `<servercmd>`. Behaviour
//! after tests/server/sws.c of curl's repository and FILEFORMAT.md, which describes each rule here.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::case_context::Sink;
use super::wire::{Conn, Got};
use super::{CaseContext, Peer, tunnel};
use crate::prepro::find;

pub fn origin() -> Arc<dyn Peer> {
    Arc::new(Http::new(Role::Origin))
}

pub fn proxy() -> Arc<dyn Peer> {
    Arc::new(Http::new(Role::Proxy))
}

pub fn gopher() -> Arc<dyn Peer> {
    Arc::new(Http::new(Role::Gopher))
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Role {
    Origin,
    Proxy,
    Gopher,
}

/// A longer request is answered before its end.
const LONGEST_REQUEST: usize = 2_000_000;

/// Short writes make the client meet its data in pieces; long bodies go faster once that is done.
const SHORT_WRITE: usize = 20;
const SHORT_UNTIL: usize = 4096;
const LONG_WRITE: usize = 1000;

/// State that outlives a connection.
#[derive(Default)]
struct Memory {
    /// The case and part last answered, if `swsbounce` in it asks for the next part next time.
    bounce: Option<(u64, u64)>,
    /// The part last answered to a Negotiate request: each such request gets the next.
    negotiate: Option<(u64, u64)>,
    /// Whether `connection-monitor` is on: the end of a connection is logged.
    monitored: bool,
}

struct Http {
    role: Role,
    memory: Mutex<Memory>,
}

/// The server commands of a case.
#[derive(Default)]
struct Orders {
    auth_required: bool,
    idle: bool,
    stream: bool,
    monitor: bool,
    upgrade: bool,
    close: bool,
    no_expect: bool,
    skip: usize,
    write_delay: Duration,
    delay: Duration,
}

/// The progress of a request.
enum Progress {
    /// More is to be read, at most so much.
    More(usize),
    Whole(Request),
}

struct Request {
    /// The requested case; `None` is answered with 404.
    number: Option<u64>,
    part: u64,
    /// The port of a CONNECT.
    connect: Option<u16>,
    upgraded: bool,
    orders: Orders,
}

impl Peer for Http {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        let delay = Orders::of(&stage.commands()).delay;
        if !delay.is_zero() {
            stage.sleep(delay);
        }
        while self.exchange(conn, stage) {}
        if self.memory().monitored {
            self.sink(stage).append(b"[DISCONNECT]\n");
        }
    }
}

impl Http {
    fn new(role: Role) -> Http {
        Http { role, memory: Mutex::default() }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn sink<'a>(&self, stage: &'a CaseContext) -> &'a Sink {
        if self.role == Role::Proxy { &stage.proxy_input } else { &stage.server_input }
    }

    /// One request and its answer; false ends the connection.
    fn exchange(&self, conn: &mut Conn, stage: &CaseContext) -> bool {
        let mut received = vec![];
        let Some(mut request) = self.request(conn, stage, &mut received) else {
            self.sink(stage).append(&received);
            return false;
        };
        if request.upgraded {
            return self.upgraded(conn, stage, &request, &received);
        }
        self.sink(stage).append(&received);
        self.rebound(&mut request);
        let keep = self.answer(conn, stage, &request).unwrap_or(false);
        if let (true, Some(port), Role::Proxy) = (keep, request.connect, self.role) {
            // curl 7 could take bytes that follow the answer at once for part of it
            stage.sleep(Duration::from_millis(100));
            if let Ok(server) = tunnel::connect(port) {
                let _ = tunnel::carry(conn, server, stage);
            }
            return false;
        }
        if !keep {
            // closing with unread bytes resets, and the client would lose the reply: let it read first
            stage.sleep(Duration::from_millis(50));
        }
        keep
    }

    fn request(&self, conn: &mut Conn, stage: &CaseContext, received: &mut Vec<u8>) -> Option<Request> {
        let mut buffer = vec![0; 150_000];
        let mut most = buffer.len();
        loop {
            let slice = most.clamp(1, buffer.len());
            match conn.read(&mut buffer[..slice], stage) {
                Got::Closed => return None,
                Got::Data(n) => received.extend_from_slice(&buffer[..n]),
            }
            match self.examine(received, stage) {
                Progress::Whole(request) => return Some(request),
                Progress::More(_) if received.len() > LONGEST_REQUEST => return None,
                Progress::More(limit) => most = limit,
            }
        }
    }

    /// Examines the received bytes.
    fn examine(&self, received: &[u8], stage: &CaseContext) -> Progress {
        let end_mark: &[u8] = if self.role == Role::Gopher { b"\r\n" } else { b"\r\n\r\n" };
        let Some(head) = find(received, end_mark).map(|at| at + end_mark.len()) else {
            return Progress::More(usize::MAX);
        };
        let mut request = Request::read(received, stage, self.role);
        let lines = received[..head].split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
        let has = |name: &[u8]| lines.clone().any(|l| starts_with_ignoring_case(l, name));
        self.memory().monitored |= request.orders.monitor;
        if has(b"Transfer-Encoding: chunked") {
            return if is_chunked_end(received) {
                Progress::Whole(request)
            } else {
                Progress::More(usize::MAX)
            };
        }
        if request.orders.auth_required && find(received, b"Authorization:").is_none() {
            return Progress::Whole(request);
        }
        let skips_body = request.orders.no_expect && has(b"Expect: 100-continue");
        let length = lines.clone().find_map(content_length).unwrap_or(0);
        let length = if skips_body { 0 } else { length.saturating_sub(request.orders.skip) };
        if request.orders.upgrade && find(received, b"Upgrade:").is_some() {
            request.upgraded = true;
        } else if received.len() - head < length {
            return Progress::More(if request.orders.skip > 0 { length } else { usize::MAX });
        }
        self.pick_part(&mut request, received);
        Progress::Whole(request)
    }

    /// Credentials decide which part of the reply is sent.
    fn pick_part(&self, request: &mut Request, received: &[u8]) {
        let has = |text: &str| find(received, text.as_bytes()).is_some();
        if has("Authorization: Negotiate") {
            let number = request.number.unwrap_or(0);
            let mut memory = self.memory();
            let last = memory.negotiate.filter(|(n, _)| *n == number).map_or(request.part, |(_, part)| part);
            memory.negotiate = Some((number, last + 1));
            request.part = last + 1;
        } else if has("Authorization: Digest") {
            request.part += 1000;
        } else if has("Authorization: NTLM TlRMTVNTUAAD") {
            request.part += 1002;
        } else if has("Authorization: NTLM TlRMTVNTUAAB") {
            request.part += 1001;
        } else if request.part >= 1000 && has("Authorization: Basic") {
            request.part += 1;
        }
    }

    /// After a `swsbounce` the next request of the case gets the next part, whichever it asks for.
    fn rebound(&self, request: &mut Request) {
        let last = self.memory().bounce.take();
        if let Some((number, part)) = last
            && request.number == Some(number)
        {
            request.part = part + 1;
        }
    }

    /// Sends the reply; returns whether the connection stays open.
    fn answer(&self, conn: &mut Conn, stage: &CaseContext, request: &Request) -> io::Result<bool> {
        let orders = &request.orders;
        if orders.idle {
            return Ok(true);
        }
        while orders.stream && !stage.stopped() {
            conn.write(b"a string to stream 01234567890\n", stage)?;
        }
        let Some(number) = request.number else {
            conn.write(NOT_FOUND, stage)?;
            return Ok(false);
        };
        let Some(script) = stage.script_of(number) else { return Ok(false) };
        let stem = if request.connect.is_some() { "connect" } else { "data" };
        let name = if request.part == 0 { stem.to_owned() } else { format!("{stem}{}", request.part) };
        let data = script.reply(&name);
        if find(&data, b"swsbounce").is_some() {
            self.memory().bounce = Some((number, request.part));
        }
        send(conn, stage, &data, orders.write_delay)?;
        for command in script.words("reply", "postcmd") {
            if let Some(seconds) = command.strip_prefix("wait ").and_then(|s| s.trim().parse().ok()) {
                stage.sleep(Duration::from_secs(seconds));
            }
        }
        let closes = orders.close || data.is_empty() || find(&data, b"swsclose").is_some();
        Ok(!closes && self.role != Role::Gopher)
    }

    /// After an accepted `Upgrade:` the rest of the connection is another protocol: answered once and logged.
    fn upgraded(&self, conn: &mut Conn, stage: &CaseContext, request: &Request, received: &[u8]) -> bool {
        let open = self.answer(conn, stage, request).unwrap_or(false);
        self.sink(stage).append(received);
        if !open {
            return false;
        }
        let mut traffic = vec![];
        let mut buffer = vec![0; 65_536];
        while let Some(Got::Data(n)) = conn.read_within(&mut buffer, stage, Duration::from_secs(1)) {
            traffic.extend_from_slice(&buffer[..n]);
        }
        self.sink(stage).append(&traffic);
        false
    }
}

impl Request {
    fn read(received: &[u8], stage: &CaseContext, role: Role) -> Request {
        let mut request =
            Request { number: None, part: 0, connect: None, upgraded: false, orders: Orders::default() };
        if role == Role::Gopher {
            let line = received.split(|&b| b == b'\r').next().unwrap_or_default();
            let digits = line.rsplit(|&b| b == b'/').next().unwrap_or_default();
            let start = digits.iter().position(u8::is_ascii_digit).unwrap_or(digits.len());
            request.asks_for(leading_number(&digits[start..]));
        } else if let Some((word, target)) = request_line(received) {
            if let Some(slash) = target.iter().rposition(|&b| b == b'/') {
                request.asks_for(leading_number(&target[slash + 1..]));
            }
            if request.number.is_none() && word == b"CONNECT" {
                request.connects(target);
            }
            // Curl's test runner passes the number of the case to its servers.
            request.number = request.number.or(Some(stage.number));
        } else if let Some(at) = find(received, b"\nTestno: ") {
            request.number = leading_number(&received[at + 9..]);
        }
        request.orders = match request.number.and_then(|n| stage.script_of(n)) {
            Some(script) => Orders::of(&script.words("reply", "servercmd")),
            None => Orders::default(),
        };
        request
    }

    /// Sets the number. If it is above 10000, its last four digits are the part.
    fn asks_for(&mut self, number: Option<u64>) {
        let Some(number) = number.filter(|n| *n > 0) else { return };
        (self.number, self.part) =
            if number > 10_000 { (Some(number / 10_000), number % 10_000) } else { (Some(number), 0) };
    }

    /// The last group of an IPv6 address is a case number; so are the digits of other host names.
    fn connects(&mut self, target: &[u8]) {
        let text = String::from_utf8_lossy(target);
        let port = match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            Some((address, rest)) => {
                let group = address.rsplit([':', '.']).find(|g| !g.is_empty()).unwrap_or_default();
                self.number = u64::from_str_radix(group, 16).ok();
                rest.strip_prefix(':').map(str::to_owned)
            }
            None => text.split_once(':').map(|(_, port)| port.to_owned()),
        };
        self.connect = Some(port.and_then(|p| p.parse().ok()).unwrap_or(0));
    }
}

impl Orders {
    fn of(commands: &[String]) -> Orders {
        let mut orders = Orders::default();
        for command in commands {
            let number = |name: &str| -> Option<u64> { command.strip_prefix(name)?.trim().parse().ok() };
            match command.as_str() {
                c if c.starts_with("auth_required") => orders.auth_required = true,
                c if c.starts_with("idle") => orders.idle = true,
                c if c.starts_with("stream") => orders.stream = true,
                c if c.starts_with("connection-monitor") => orders.monitor = true,
                c if c.starts_with("upgrade") => orders.upgrade = true,
                c if c.starts_with("swsclose") => orders.close = true,
                c if c.starts_with("no-expect") => orders.no_expect = true,
                _ => {}
            }
            if let Some(bytes) = number("skip:") {
                orders.skip = bytes as usize;
            }
            if let Some(milliseconds) = number("writedelay:") {
                orders.write_delay = Duration::from_millis(milliseconds);
            }
            if let Some(milliseconds) = number("delay:") {
                orders.delay = Duration::from_millis(milliseconds);
            }
        }
        orders
    }
}

fn send(conn: &mut Conn, stage: &CaseContext, data: &[u8], pause: Duration) -> io::Result<()> {
    let mut sent = 0;
    while sent < data.len() {
        let most = if sent < SHORT_UNTIL || !pause.is_zero() { SHORT_WRITE } else { LONG_WRITE };
        let end = data.len().min(sent + most);
        conn.write(&data[sent..end], stage)?;
        sent = end;
        if !pause.is_zero() {
            stage.sleep(pause);
        }
    }
    Ok(())
}

/// Returns the method and the text between it and `HTTP/`, if there is a version at all.
fn request_line(received: &[u8]) -> Option<(&[u8], &[u8])> {
    let word = received.iter().position(|b| b.is_ascii_whitespace())?;
    let version = find(&received[word..], b"HTTP/")? + word;
    let mut rest = received[version + 5..].iter();
    let numbered = rest.next()?.is_ascii_digit() && *rest.next()? == b'.';
    let target = received[word..version].trim_ascii();
    (numbered && !target.is_empty()).then_some((&received[..word], target))
}

fn leading_number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

fn content_length(line: &[u8]) -> Option<usize> {
    let value = starts_with_ignoring_case(line, b"Content-Length:").then(|| line[15..].trim_ascii())?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// The last chunk with its trailer has arrived.
fn is_chunked_end(received: &[u8]) -> bool {
    find(received, b"\r\n0\r\n").is_some_and(|at| find(&received[at + 3..], b"\r\n\r\n").is_some())
}

fn starts_with_ignoring_case(line: &[u8], prefix: &[u8]) -> bool {
    line.len() >= prefix.len() && line[..prefix.len()].eq_ignore_ascii_case(prefix)
}

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\nServer: conformance\r\nConnection: close\r\n\
    Content-Type: text/html\r\n\r\n<!DOCTYPE html>\n<title>404 Not Found</title>\n<p>No such case.\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(case: &str) -> CaseContext {
        let stage = CaseContext::new(42, "/nonexistent".into(), "/nonexistent".into(), false);
        stage.set_script(crate::format::Script::parse(case.as_bytes()).unwrap());
        stage
    }

    fn read(text: &str) -> Request {
        Request::read(text.as_bytes(), &stage(""), Role::Origin)
    }

    #[test]
    fn numbers_and_parts() {
        let number_and_part = |text: &str| (read(text).number, read(text).part);
        assert_eq!(number_and_part("GET /a/42 HTTP/1.1\r\n\r\n"), (Some(42), 0));
        assert_eq!(number_and_part("GET /420003?x HTTP/1.1\r\n\r\n"), (Some(42), 3));
        assert_eq!(number_and_part("GET http://a.b/ HTTP/1.1\r\n\r\n"), (Some(42), 0));
        assert_eq!(number_and_part("junk\r\n\r\n"), (None, 0));
        assert_eq!(number_and_part("CONNECT [::7f]:80 HTTP/1.1\r\n\r\n"), (Some(127), 0));
        assert_eq!(read("CONNECT a:81 HTTP/1.1\r\n\r\n").connect, Some(81));
    }

    #[test]
    fn credentials_choose_the_part() {
        let server = Http::new(Role::Origin);
        let stage = stage("");
        let part = |header: &str| {
            let text = format!("GET /420001 HTTP/1.1\r\nAuthorization: {header}\r\n\r\n");
            match server.examine(text.as_bytes(), &stage) {
                Progress::Whole(request) => request.part,
                Progress::More(_) => panic!("incomplete"),
            }
        };
        assert_eq!(part("Basic x"), 1);
        assert_eq!(part("Digest x"), 1001);
        assert_eq!(part("NTLM TlRMTVNTUAAB"), 1002);
        assert_eq!(part("Negotiate x"), 2);
        assert_eq!(part("Negotiate x"), 3);
    }

    #[test]
    fn a_request_is_whole_with_its_body() {
        let server = Http::new(Role::Origin);
        let stage = stage("<reply>\n<servercmd>\nskip: 2\n</servercmd>\n</reply>\n");
        let whole = |text: &str| matches!(server.examine(text.as_bytes(), &stage), Progress::Whole(_));
        assert!(!whole("PUT /1 HTTP/1.1\r\nContent-Length: 2\r\n\r\na"));
        assert!(whole("PUT /1 HTTP/1.1\r\nContent-Length: 2\r\n\r\nab"));
        assert!(whole("PUT /42 HTTP/1.1\r\nContent-Length: 4\r\n\r\nab"));
        assert!(!whole("PUT /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"));
        assert!(whole("PUT /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n"));
    }
}
