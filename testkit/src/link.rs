//! A simulated link: a delay line in user space, in front of any server's socket, without root.
//!
//! Each direction delays the bytes by half a round trip, whatever their amount, and a new connection costs
//! one more round trip, like TCP's handshake: the client's first byte counts as sent one round trip after the
//! connection was opened, and the server sees the connection one and a half round trips after. One thread
//! serves all doors of a link with one epoll and a timeout of nanosecond resolution, so five dozen servers
//! cost little CPU.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};

/// Maximum contents of one direction, before it stops reading: more than any window that a test fills.
const LINE_LIMIT: usize = 8 << 20;

/// How long a server may take to accept. The queue of one that hangs is full after a while: the kernel drops
/// further connections, and tries each again after ever longer pauses, the last of a minute.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// A link with one delay and any number of doors.
#[derive(Clone)]
pub struct Link {
    round_trip: Duration,
    doors: Arc<Mutex<Sender<Door>>>,
    wake: Arc<OwnedFd>,
}

struct Door {
    listener: TcpListener,
    target: SocketAddr,
    /// Close the door after the first connection.
    once: bool,
}

impl Link {
    /// A link whose thread ends when the last clone of this value and the last connection are gone.
    pub fn new(round_trip: Duration) -> io::Result<Link> {
        let (doors, arriving) = channel();
        let (reader, wake) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&wake, true)?;
        let mut line = Line::new(round_trip, arriving, reader)?;
        thread::Builder::new().name("link".into()).spawn(move || line.run())?;
        Ok(Link { round_trip, doors: Arc::new(Mutex::new(doors)), wake: Arc::new(wake) })
    }

    pub fn round_trip(&self) -> Duration {
        self.round_trip
    }

    /// The far side's address of a server: connecting there is connecting to `target` through the link.
    pub fn door(&self, target: SocketAddr) -> io::Result<SocketAddr> {
        self.open(target, false)
    }

    /// A door for one connection, as an FTP server needs for each data connection.
    pub fn door_once(&self, target: SocketAddr) -> io::Result<SocketAddr> {
        self.open(target, true)
    }

    /// Opens a door at this address, for a server that reports a port and not an address to its clients.
    pub fn door_at(&self, at: SocketAddr, target: SocketAddr) -> io::Result<SocketAddr> {
        self.put(TcpListener::bind(at)?, target, false)
    }

    fn open(&self, target: SocketAddr, once: bool) -> io::Result<SocketAddr> {
        self.put(TcpListener::bind((target.ip(), 0))?, target, once)
    }

    fn put(&self, listener: TcpListener, target: SocketAddr, once: bool) -> io::Result<SocketAddr> {
        rustix::net::listen(&listener, 1024)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let doors = self.doors.lock().expect("never poisoned");
        doors.send(Door { listener, target, once }).map_err(io::Error::other)?;
        let _ = rustix::io::write(&*self.wake, b"!");
        Ok(address)
    }
}

/// Everything the link's thread owns.
struct Line {
    round_trip: Duration,
    arriving: Receiver<Door>,
    wake: OwnedFd,
    wake_open: bool,
    epoll: OwnedFd,
    doors: HashMap<u64, Door>,
    pairs: HashMap<u64, Pair>,
    next: u64,
}

/// A connection through the link.
struct Pair {
    client: TcpStream,
    /// None until the handshake has crossed the link.
    server: Option<TcpStream>,
    target: SocketAddr,
    /// When the client's side of the handshake is complete: bytes written before are sent then.
    established: Instant,
    /// When the server's is.
    arrival: Instant,
    to_server: Lane,
    to_client: Lane,
}

#[derive(Default)]
struct Lane {
    /// Time of arrival and bytes; empty bytes are the end of the stream.
    parcels: VecDeque<(Instant, Vec<u8>)>,
    held: usize,
    /// The sender has finished.
    ended: bool,
    /// Whether the end was passed to the receiver.
    done: bool,
    /// The receiver's socket buffer is full.
    blocked: bool,
    /// Whether the sender's bytes were left unread because the line is full.
    full: bool,
}

/// The key of the wake-up pipe; doors and pairs count up from 2 by 2, a pair's server side is the odd number
/// above.
const WAKE: u64 = 0;

impl Line {
    fn new(round_trip: Duration, arriving: Receiver<Door>, wake: OwnedFd) -> io::Result<Line> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &wake, epoll::EventData::new_u64(WAKE), epoll::EventFlags::IN)?;
        let (doors, pairs) = (HashMap::new(), HashMap::new());
        Ok(Line { round_trip, arriving, wake, wake_open: true, epoll, doors, pairs, next: 2 })
    }

    fn run(&mut self) {
        let mut events = Vec::with_capacity(256);
        while self.wake_open || !self.pairs.is_empty() {
            let timeout = self.timeout();
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
            for event in &events {
                self.handle(event.data.u64());
            }
            self.deliver();
        }
    }

    /// Returns the time until the next parcel arrives.
    fn timeout(&self) -> Option<Timespec> {
        let due = self.pairs.values().filter_map(Pair::next_due).min()?;
        let left = due.saturating_duration_since(Instant::now());
        Some(Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) })
    }

    fn handle(&mut self, key: u64) {
        if key == WAKE {
            return self.take_doors();
        }
        if self.doors.contains_key(&key) {
            return self.enter(key);
        }
        let half = self.round_trip / 2;
        if let Some(pair) = self.pairs.get_mut(&(key & !1)) {
            pair.fill(half, key & 1 == 0);
        }
    }

    fn take_doors(&mut self) {
        let mut scratch = [0; 64];
        while let Ok(length) = rustix::io::read(&self.wake, &mut scratch) {
            if length == 0 {
                self.wake_open = false;
                self.doors.clear();
                let _ = epoll::delete(&self.epoll, &self.wake);
                break;
            }
        }
        while let Ok(door) = self.arriving.try_recv() {
            let key = self.fresh_key();
            let data = epoll::EventData::new_u64(key);
            if epoll::add(&self.epoll, &door.listener, data, epoll::EventFlags::IN).is_ok() {
                self.doors.insert(key, door);
            }
        }
    }

    fn enter(&mut self, key: u64) {
        let door = &self.doors[&key];
        let Ok((client, _)) = door.listener.accept() else { return };
        let target = door.target;
        if door.once {
            self.doors.remove(&key);
        }
        let _ = client.set_nonblocking(true);
        let _ = client.set_nodelay(true);
        let key = self.fresh_key();
        watch(&self.epoll, &client, key);
        let (to_server, to_client) = (Lane::default(), Lane::default());
        let established = Instant::now() + self.round_trip;
        let arrival = established + self.round_trip / 2;
        self.pairs
            .insert(key, Pair { client, server: None, target, established, arrival, to_server, to_client });
    }

    fn fresh_key(&mut self) -> u64 {
        self.next += 2;
        self.next
    }

    /// Delivers every parcel that has arrived.
    fn deliver(&mut self) {
        let now = Instant::now();
        let (epoll, half) = (&self.epoll, self.round_trip / 2);
        self.pairs.retain(|key, pair| pair.deliver(now, half, epoll, *key).is_ok() && !pair.over());
    }
}

impl Pair {
    fn next_due(&self) -> Option<Instant> {
        let Some(_) = self.server else { return Some(self.arrival) };
        let lanes = [&self.to_server, &self.to_client];
        lanes
            .into_iter()
            .filter(|lane| !lane.blocked)
            .filter_map(|lane| lane.parcels.front())
            .map(|(due, _)| *due)
            .min()
    }

    /// Reads from one side.
    fn fill(&mut self, half: Duration, from_client: bool) {
        match (from_client, &mut self.server) {
            (true, _) => self.to_server.fill(&mut self.client, self.established, half),
            (false, Some(server)) => self.to_client.fill(server, self.established, half),
            (false, None) => {}
        }
    }

    fn deliver(&mut self, now: Instant, half: Duration, epoll: &OwnedFd, key: u64) -> io::Result<()> {
        if now < self.arrival {
            return Ok(());
        }
        if self.server.is_none() {
            let server = TcpStream::connect_timeout(&self.target, CONNECT_LIMIT)?;
            server.set_nonblocking(true)?;
            server.set_nodelay(true)?;
            watch(epoll, &server, key | 1);
            self.server = Some(server);
        }
        let server = self.server.as_mut().expect("connected just above");
        self.to_server.empty(server, now)?;
        self.to_client.empty(&mut self.client, now)?;
        for (refill, from_client) in [(self.to_server.full, true), (self.to_client.full, false)] {
            if refill {
                self.fill(half, from_client);
            }
        }
        Ok(())
    }

    fn over(&self) -> bool {
        self.to_server.done && self.to_client.done
    }
}

impl Lane {
    /// Reads from the sender.
    fn fill(&mut self, from: &mut TcpStream, established: Instant, half: Duration) {
        let due = Instant::now().max(established) + half;
        let mut scratch = [0; 65_536];
        self.full = false;
        while !self.ended {
            if self.held >= LINE_LIMIT {
                self.full = true;
                return;
            }
            match from.read(&mut scratch) {
                Ok(length) => {
                    self.ended = length == 0;
                    self.held += length;
                    self.parcels.push_back((due, scratch[..length].to_vec()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.ended = true;
                    self.parcels.push_back((due, Vec::new()));
                }
            }
        }
    }

    /// Writes what has arrived.
    fn empty(&mut self, to: &mut TcpStream, now: Instant) -> io::Result<()> {
        self.blocked = false;
        while let Some((due, bytes)) = self.parcels.front_mut() {
            if *due > now {
                return Ok(());
            }
            if bytes.is_empty() {
                self.done = true;
                let _ = to.shutdown(Shutdown::Write);
                self.parcels.pop_front();
                continue;
            }
            match to.write(bytes) {
                Ok(length) => {
                    self.held -= length;
                    bytes.drain(..length);
                    if bytes.is_empty() {
                        self.parcels.pop_front();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Edge-triggered, both directions: an event is a reason to try again.
fn watch(epoll: &OwnedFd, socket: &TcpStream, key: u64) {
    let flags =
        epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    let _ = epoll::add(epoll, socket, epoll::EventData::new_u64(key), flags);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::pattern;
    use crate::http::HttpServer;

    const TRIP: Duration = Duration::from_millis(40);

    fn ask(stream: &mut TcpStream, path: &str, length: usize) -> (Vec<u8>, Duration) {
        let start = Instant::now();
        stream.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut scratch = [0; 65_536];
        while answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .is_none_or(|end| answer.len() < end + 4 + length)
        {
            let length = stream.read(&mut scratch).unwrap();
            assert!(length > 0);
            answer.extend_from_slice(&scratch[..length]);
        }
        (answer, start.elapsed())
    }

    #[test]
    fn the_first_exchange_costs_two_round_trips_and_the_next_one() {
        let server = HttpServer::plain();
        let link = Link::new(TRIP).unwrap();
        // A busy machine makes it longer now and then, never shorter.
        let prompt = (0..10).any(|_| {
            let mut stream = TcpStream::connect(link.door(server.address()).unwrap()).unwrap();
            let (_, first) = ask(&mut stream, "/bytes/10", 10);
            let (_, second) = ask(&mut stream, "/bytes/10", 10);
            assert!(first >= 2 * TRIP && second >= TRIP, "{first:?} {second:?}");
            first < 3 * TRIP && second < 2 * TRIP
        });
        assert!(prompt, "always later than the link's delay");
    }

    #[test]
    fn more_than_the_line_holds_passes_whole() {
        let server = HttpServer::plain();
        let link = Link::new(Duration::from_millis(2)).unwrap();
        let mut stream = TcpStream::connect(link.door(server.address()).unwrap()).unwrap();
        let length = 3 * LINE_LIMIT;
        let (answer, _) = ask(&mut stream, &format!("/bytes/{length}"), length);
        assert!(answer.ends_with(&pattern(length)));
    }

    #[test]
    fn the_end_of_the_stream_crosses_too() {
        let server = HttpServer::plain();
        let link = Link::new(Duration::from_millis(2)).unwrap();
        let mut stream = TcpStream::connect(link.door_once(server.address()).unwrap()).unwrap();
        stream.write_all(b"GET /close/100 HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.ends_with(&pattern(100)));
    }
}
