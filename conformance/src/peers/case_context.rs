//! State shared by the servers of one case, and their listeners: one thread accepts on all of them, each
//! connection gets a thread, and the case can wait until all connections have ended.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustls::ServerConfig;
use testkit::launch::Nghttpx;

use super::Peer;
use super::wire::{Conn, Stream, is_timeout};
use crate::format::Script;

/// A log that several servers append to; it is compared with a case's `<protocol>`.
#[derive(Default)]
pub struct Sink(Mutex<Vec<u8>>);

impl Sink {
    pub fn append(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).extend_from_slice(bytes);
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

/// The case as its servers know it.
pub struct CaseContext {
    pub number: u64,
    /// The directory for `%LOGDIR`.
    pub log: PathBuf,
    /// The folder of the case files: a request may ask for the data of another case.
    pub cases: PathBuf,
    script: OnceLock<Script>,
    pub server_input: Sink,
    pub proxy_input: Sink,
    pub socks_input: Sink,
    pub dns_input: Sink,
    transcript: Option<Sink>,
    started: Instant,
    stop: AtomicBool,
}

impl CaseContext {
    pub fn new(number: u64, log: PathBuf, cases: PathBuf, keep_transcript: bool) -> CaseContext {
        CaseContext {
            number,
            log,
            cases,
            script: OnceLock::new(),
            server_input: Sink::default(),
            proxy_input: Sink::default(),
            socks_input: Sink::default(),
            dns_input: Sink::default(),
            transcript: keep_transcript.then(Sink::default),
            started: Instant::now(),
            stop: AtomicBool::new(false),
        }
    }

    /// Sets the preprocessed case. The servers were opened before, because it contains their ports.
    pub fn set_script(&self, script: Script) {
        let _ = self.script.set(script);
    }

    /// The script of the case with that number: its own, or another's as written.
    pub fn script_of(&self, number: u64) -> Option<Script> {
        if number == self.number {
            return self.script.get().cloned();
        }
        Script::parse(&std::fs::read(self.cases.join(format!("test{number}"))).ok()?).ok()
    }

    /// The instructions to the server.
    pub fn commands(&self) -> Vec<String> {
        self.script.get().map(|s| s.words("reply", "servercmd")).unwrap_or_default()
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Sleeps, or wakes early when the case is over.
    pub fn sleep(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.stopped() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    /// Adds transferred bytes to the printable transcript.
    pub fn note(&self, who: &str, way: &str, bytes: &[u8]) {
        if let Some(transcript) = &self.transcript {
            let at = self.started.elapsed().as_millis();
            transcript.append(format!("{at:>6} {who} {way} {}\n", bytes.escape_ascii()).as_bytes());
        }
    }

    pub fn transcript(&self) -> String {
        self.transcript.as_ref().map(|t| String::from_utf8_lossy(&t.bytes()).into_owned()).unwrap_or_default()
    }
}

pub enum Door {
    Tcp(TcpListener),
    Unix(UnixListener),
    Udp(UdpSocket),
}

struct Reception {
    name: &'static str,
    door: Door,
    tls: Option<Arc<ServerConfig>>,
    peer: Arc<dyn Peer>,
}

/// The doors of a case.
pub struct Hall {
    sockets: PathBuf,
    receptions: Vec<Reception>,
    servers: Vec<Nghttpx>,
}

impl Hall {
    /// `sockets` is a folder with a short name, for Unix sockets.
    pub fn new(sockets: PathBuf) -> Hall {
        Hall { sockets, receptions: vec![], servers: vec![] }
    }

    pub fn socket_path(&self, name: &str) -> PathBuf {
        self.sockets.join(name)
    }

    pub fn add(
        &mut self,
        name: &'static str,
        door: Door,
        tls: Option<Arc<ServerConfig>>,
        peer: Arc<dyn Peer>,
    ) -> io::Result<()> {
        match &door {
            Door::Tcp(l) => l.set_nonblocking(true)?,
            Door::Unix(l) => l.set_nonblocking(true)?,
            Door::Udp(s) => s.set_nonblocking(true)?,
        }
        self.receptions.push(Reception { name, door, tls, peer });
        Ok(())
    }

    /// Keeps a process in front of one of the servers until the listeners close.
    pub fn keep(&mut self, server: Nghttpx) {
        self.servers.push(server);
    }

    /// Starts receiving.
    pub fn open(self, stage: Arc<CaseContext>) -> Open {
        let Hall { receptions, servers, .. } = self;
        let guests = Arc::new(AtomicUsize::new(0));
        let closing = Arc::new(AtomicBool::new(false));
        let rounds = Arc::new(AtomicUsize::new(0));
        let porter = {
            let (guests, closing, rounds) = (guests.clone(), closing.clone(), rounds.clone());
            std::thread::spawn(move || receive(&receptions, &stage, &guests, &closing, &rounds))
        };
        Open { guests, closing, rounds, porter: Some(porter), servers }
    }
}

/// A hall that receives. Dropping it closes the doors.
pub struct Open {
    guests: Arc<AtomicUsize>,
    closing: Arc<AtomicBool>,
    rounds: Arc<AtomicUsize>,
    porter: Option<std::thread::JoinHandle<()>>,
    /// Processes that are ended before the listeners close, so that none connects in vain.
    servers: Vec<Nghttpx>,
}

impl Open {
    /// Waits until all connections have ended and none is pending, or the time is over.
    pub fn wait_until_empty(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while Instant::now() < until {
            // two whole rounds of the accepting thread: nothing was pending when the second began
            let seen = self.rounds.load(Ordering::SeqCst);
            while self.rounds.load(Ordering::SeqCst) < seen + 2 && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(2));
            }
            if self.guests.load(Ordering::SeqCst) == 0 {
                return;
            }
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.servers.clear();
        self.closing.store(true, Ordering::SeqCst);
        if let Some(porter) = self.porter.take() {
            let _ = porter.join();
        }
    }
}

fn receive(
    receptions: &[Reception],
    stage: &Arc<CaseContext>,
    guests: &Arc<AtomicUsize>,
    closing: &AtomicBool,
    rounds: &AtomicUsize,
) {
    let pause = rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    while !closing.load(Ordering::SeqCst) {
        let mut fds: Vec<PollFd> = receptions
            .iter()
            .map(|r| match &r.door {
                Door::Tcp(l) => PollFd::from_borrowed_fd(l.as_fd(), PollFlags::IN),
                Door::Unix(l) => PollFd::from_borrowed_fd(l.as_fd(), PollFlags::IN),
                Door::Udp(s) => PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN),
            })
            .collect();
        let _ = poll(&mut fds, Some(&pause));
        for reception in receptions {
            while admit(reception, stage, guests) {}
        }
        rounds.fetch_add(1, Ordering::SeqCst);
    }
}

/// Takes one visitor in, if one is there.
fn admit(reception: &Reception, stage: &Arc<CaseContext>, guests: &Arc<AtomicUsize>) -> bool {
    let stream = match &reception.door {
        Door::Tcp(l) => l.accept().map(|(s, _)| Stream::Tcp(s)),
        Door::Unix(l) => l.accept().map(|(s, _)| Stream::Unix(s)),
        Door::Udp(socket) => return admit_datagram(socket, reception, stage, guests),
    };
    let Ok(stream) = stream else { return false };
    let (name, tls, peer) = (reception.name, reception.tls.clone(), reception.peer.clone());
    visit(stage, guests, move |stage| {
        stage.note(name, "*", b"connected");
        let conn = match (tls, stream) {
            (Some(config), Stream::Tcp(tcp)) => Conn::secured(name, tcp, config, stage),
            (_, stream) => Conn::new(name, stream),
        };
        match conn {
            Ok(mut conn) => peer.serve(&mut conn, stage),
            Err(e) => stage.note("tls", "*", e.to_string().as_bytes()),
        }
    });
    true
}

fn admit_datagram(
    socket: &UdpSocket,
    reception: &Reception,
    stage: &Arc<CaseContext>,
    guests: &Arc<AtomicUsize>,
) -> bool {
    let mut packet = [0; 65_536];
    let (n, from): (usize, SocketAddr) = match socket.recv_from(&mut packet) {
        Ok(got) => got,
        Err(e) => return !is_timeout(&e) && e.kind() == io::ErrorKind::ConnectionRefused,
    };
    let Ok(socket) = socket.try_clone() else { return true };
    let (peer, packet) = (reception.peer.clone(), packet[..n].to_vec());
    visit(stage, guests, move |stage| peer.datagram(&socket, &packet, from, stage));
    true
}

struct Leaves(Arc<AtomicUsize>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn visit(
    stage: &Arc<CaseContext>,
    guests: &Arc<AtomicUsize>,
    work: impl FnOnce(&CaseContext) + Send + 'static,
) {
    guests.fetch_add(1, Ordering::SeqCst);
    let leaves = Leaves(guests.clone());
    let stage = stage.clone();
    std::thread::spawn(move || {
        work(&stage);
        drop(leaves);
    });
}
