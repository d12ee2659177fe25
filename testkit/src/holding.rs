//! A server that holds replies back, for clients with thousands of transfers, most of which wait. One thread
//! with one epoll serves all.
//!
//! `/hold` answers a head and the first of ten bytes, `/release` ends all held replies, `/drip/US/N` sends N
//! bytes with that many microseconds between them, `/bytes/N` N bytes at once.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};
use rustls::{ServerConfig, ServerConnection};

/// The keys of the listener, and of the pipe whose end stops the server; connections count up from there.
const LISTENER: u64 = 0;
const END: u64 = 1;

/// The running server; it ends when dropped.
pub struct Holding {
    port: u16,
    secured: bool,
    _end: OwnedFd,
}

impl Holding {
    pub fn plain() -> io::Result<Holding> {
        Holding::start(None)
    }

    pub fn tls(config: Arc<ServerConfig>) -> io::Result<Holding> {
        Holding::start(Some(config))
    }

    fn start(tls: Option<Arc<ServerConfig>>) -> io::Result<Holding> {
        let secured = tls.is_some();
        // Every address of 127.0.0.0/8 leads here.
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        rustix::net::listen(&listener, 4096)?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let (end, kept) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        epoll::add(&epoll, &end, epoll::EventData::new_u64(END), epoll::EventFlags::IN)?;
        let mut server =
            Server { listener, tls, epoll, talks: HashMap::new(), drips: BTreeMap::new(), next: 2 };
        thread::Builder::new().name("holding".into()).spawn(move || {
            let _end = end;
            server.run();
        })?;
        Ok(Holding { port, secured, _end: kept })
    }

    /// An address of this machine's; another of 127.0.0.0/8 does as well.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.secured { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}{path}", self.port)
    }
}

struct Server {
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    epoll: OwnedFd,
    talks: HashMap<u64, HeldConnection>,
    /// By when the next byte of it is due.
    drips: BTreeMap<(Instant, u64), Drip>,
    next: u64,
}

/// The remaining bytes, sent one at a time.
struct Drip {
    left: usize,
    pause: Duration,
}

struct HeldConnection {
    stream: TcpStream,
    tls: Option<Box<ServerConnection>>,
    request: Vec<u8>,
    held: bool,
}

impl Server {
    fn run(&mut self) {
        let mut events = Vec::with_capacity(256);
        loop {
            let due =
                self.drips.first_key_value().map(|((at, _), _)| at.saturating_duration_since(Instant::now()));
            let timeout = due.map(|left| Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            });
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
            for event in &events {
                match event.data.u64() {
                    END => return,
                    LISTENER => self.accept(),
                    key => self.hear(key),
                }
            }
            self.drip();
        }
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let tls = self.tls.clone().and_then(|config| ServerConnection::new(config).ok()).map(Box::new);
            let data = epoll::EventData::new_u64(self.next);
            let ready = stream.set_nonblocking(true).is_ok() && stream.set_nodelay(true).is_ok();
            if ready && epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN).is_ok() {
                self.talks
                    .insert(self.next, HeldConnection { stream, tls, request: Vec::new(), held: false });
                self.next += 1;
            }
        }
    }

    fn hear(&mut self, key: u64) {
        let Some(talk) = self.talks.get_mut(&key) else { return };
        if talk.receive().is_err() {
            self.talks.remove(&key);
            return;
        }
        while let Some(path) = self.talks.get_mut(&key).and_then(HeldConnection::next_request) {
            self.answer(key, &path);
        }
    }

    fn answer(&mut self, key: u64, path: &str) {
        let number = path.rsplit('/').next().and_then(|text| text.parse().ok()).unwrap_or(0);
        if path == "/release" {
            let held = self.talks.values_mut().filter(|talk| talk.held);
            held.for_each(|talk| {
                talk.held = false;
                talk.send(b"234567890");
            });
        }
        let Some(talk) = self.talks.get_mut(&key) else { return };
        if path == "/hold" {
            talk.held = true;
            talk.send(&[head(10).as_bytes(), b"1"].concat());
        } else if path.starts_with("/drip/") {
            talk.send(head(number).as_bytes());
            let pause_us = path.split('/').nth(2).and_then(|text| text.parse().ok()).unwrap_or(0);
            let pause = Duration::from_micros(pause_us);
            self.drips.insert((Instant::now() + pause, key), Drip { left: number, pause });
        } else {
            talk.send(&[head(number).into_bytes(), vec![b'x'; number]].concat());
        }
    }

    fn drip(&mut self) {
        let now = Instant::now();
        while let Some(entry) = self.drips.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((_, key), drip) = entry.remove_entry();
            if let Some(talk) = self.talks.get_mut(&key) {
                talk.send(b"x");
                if drip.left > 1 {
                    self.drips.insert((now + drip.pause, key), Drip { left: drip.left - 1, ..drip });
                }
            }
        }
    }
}

fn head(length: usize) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nServer: holding\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n"
    )
}

impl HeldConnection {
    /// Receives; an error if the client has left.
    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let n = match self.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(e),
            };
            self.request.extend_from_slice(&buffer[..n]);
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.stream.read(buffer) };
        while tls.wants_read() {
            match tls.read_tls(&mut self.stream) {
                Ok(0) => return Ok(0),
                Ok(_) => {
                    tls.process_new_packets().map_err(io::Error::other)?;
                    while tls.wants_write() {
                        tls.write_tls(&mut self.stream)?;
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        tls.reader().read(buffer)
    }

    /// The path of a request that has arrived as a whole.
    fn next_request(&mut self) -> Option<String> {
        let end = self.request.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        let head: Vec<u8> = self.request.drain(..end).collect();
        let text = String::from_utf8_lossy(&head).into_owned();
        Some(text.split(' ').nth(1).unwrap_or("/").to_owned())
    }

    /// Sends bytes that fit into the kernel's buffer: a client that has left is noticed at its next event.
    fn send(&mut self, bytes: &[u8]) {
        let Some(tls) = &mut self.tls else {
            let _ = self.stream.write_all(bytes);
            return;
        };
        let _ = tls.writer().write_all(bytes);
        while tls.wants_write() && tls.write_tls(&mut self.stream).is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_requests_end_when_they_are_released() {
        let server = Holding::plain().unwrap();
        let ask = |path: &str| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
            stream.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
            stream
        };
        let until = |stream: &mut TcpStream, end: &str| {
            let (mut all, mut byte) = (String::new(), [0]);
            while !all.ends_with(end) {
                stream.read_exact(&mut byte).unwrap();
                all.push(char::from(byte[0]));
            }
        };
        let mut held = ask("/hold");
        until(&mut held, "\r\n\r\n1");
        until(&mut ask("/drip/500/5"), "\r\n\r\nxxxxx");
        held.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        assert!(held.read(&mut [0]).is_err(), "nothing more before it is released");
        held.set_read_timeout(None).unwrap();
        until(&mut ask("/release"), "\r\n\r\n");
        until(&mut held, "234567890");
    }
}
