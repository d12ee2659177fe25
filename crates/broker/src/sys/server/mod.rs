//! The broker: one thread, one epoll set, no files, no connections of its own.
//!
//! A parked socket that becomes readable or hangs up is dropped at once. Either the server closed it, or it
//! speaks: a TLS alert, a timeout message, an HTTP/2 PING or GOAWAY. The broker answers none of them, because
//! it would need the keys, and a connection must not be used by two processes.

mod locked;
mod peers;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::process;
use std::time::{Duration, Instant};

use runtime::environment;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{SocketType, getpeername, sockopt};
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use tables::environment::{POOL_EXIT, POOL_IDLE, POOL_LIMIT, Variable};

use self::locked::Locked;
use self::peers::{Peer, Peers};
use super::link::{Link, Received};
use crate::message::{Give, Head, Instance, MAX_MESSAGE, Mac, Page, Reply, Request, UNKNOWN, VERSION};
use crate::table::{Arrival, Records, Table};

/// The variables that [`Limits::from_environment`] reads.
pub(super) static VARIABLES: [&Variable; 3] = [&POOL_LIMIT, &POOL_IDLE, &POOL_EXIT];

/// Records at one time.
const RECORDS: usize = 256;
/// Token of the listening socket in the epoll set. The token of a parked connection is its number; that of a
/// peer is its number with this bit. The order of tokens is that in which events are served.
const PEER: u64 = 1 << 63;
const LISTENER: u64 = u64::MAX;

/// Limits of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of parked connections.
    pub connections: usize,
    /// Time for which a connection stays idle.
    pub idle: Duration,
    /// Time without connections and requests after which the broker exits.
    pub exit_after: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        // As long as curl keeps an idle connection (CURLOPT_MAXAGE_CONN).
        Limits { connections: 256, idle: Duration::from_secs(118), exit_after: Duration::from_secs(120) }
    }
}

impl Limits {
    /// Reads the limits from the environment; the default where a value is missing or invalid.
    pub fn from_environment() -> Limits {
        let number = |variable| environment::text(variable)?.parse::<u64>().ok();
        let [connections, idle, exit_after] = VARIABLES.map(number);
        let default = Limits::default();
        let connections = connections.and_then(|number| usize::try_from(number).ok());
        Limits {
            connections: connections.unwrap_or(default.connections),
            idle: idle.map_or(default.idle, Duration::from_secs),
            exit_after: exit_after.map_or(default.exit_after, Duration::from_secs),
        }
    }
}

/// A parked connection: its socket, and its state in locked memory.
#[derive(Debug)]
struct Kept {
    socket: OwnedFd,
    state: Locked,
}

/// The step after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Serve,
    Stop,
}

/// The broker.
#[derive(Debug)]
pub struct Server {
    listener: Link,
    epoll: OwnedFd,
    secret: Locked,
    instance: Instance,
    table: Table<Kept>,
    records: Records<Locked>,
    peers: Peers,
    /// Messages are received here.
    buffer: Locked,
    limits: Limits,
    active: Instant,
    user: u32,
}

impl Server {
    /// Returns a broker that serves on a listening socket.
    pub fn new(listener: OwnedFd, limits: Limits) -> io::Result<Server> {
        rustix::io::ioctl_fionbio(&listener, true)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        let mut secret = Locked::new(32)?;
        getrandom(&mut secret[..], GetRandomFlags::empty())?;
        let mut instance = UNKNOWN;
        getrandom(&mut instance, GetRandomFlags::empty())?;
        Ok(Server {
            listener: Link::new(listener),
            epoll,
            secret,
            instance,
            table: Table::new(limits.connections, limits.idle),
            records: Records::new(RECORDS),
            peers: Peers::default(),
            buffer: Locked::new(MAX_MESSAGE)?,
            limits,
            active: Instant::now(),
            user: geteuid().as_raw(),
        })
    }

    /// Serves until it has been idle for a while, or is stopped.
    pub fn serve(&mut self) -> io::Result<()> {
        loop {
            let now = Instant::now();
            drop(self.table.expire(now));
            self.peers.expire(now);
            if self.table.len() == 0 && now.duration_since(self.active) >= self.limits.exit_after {
                return Ok(());
            }
            let mut events = [MaybeUninit::uninit(); 64];
            let ready = match epoll::wait(&self.epoll, &mut events, Some(&self.timeout(now))) {
                Ok((ready, _)) => ready,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let mut tokens: Vec<u64> = ready.iter().map(|event| event.data.u64()).collect();
            // Dead connections go first, so that nobody receives them. Connected peers come before new ones:
            // a process that has given its connection was there before the process that wants it.
            tokens.sort_unstable();
            for token in tokens {
                if self.turn(token) == After::Stop {
                    return Ok(());
                }
            }
        }
    }

    /// The time until a connection or peer expires, or the broker exits.
    fn timeout(&self, now: Instant) -> Timespec {
        let exit = (self.table.len() == 0).then(|| self.active + self.limits.exit_after);
        let ends = [exit, self.table.next_end(), self.peers.next_end()];
        let next = ends.into_iter().flatten().min().unwrap_or(now);
        // The kernel may round down; a millisecond more avoids an empty turn.
        let left = next.saturating_duration_since(now) + Duration::from_millis(1);
        Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() }
    }

    fn turn(&mut self, token: u64) -> After {
        if token == LISTENER {
            self.accept();
            return After::Serve;
        }
        if token & PEER != 0 {
            return self.serve_requests(token & !PEER);
        }
        drop(self.table.remove(token));
        After::Serve
    }

    /// Accepts processes of this user. Their requests are read in a later turn: a peer that was there before
    /// may have given a connection since this turn began, and the new peer may want it.
    fn accept(&mut self) {
        loop {
            let accepted = match peers::accept(&self.listener) {
                Ok(accepted) => accepted,
                // Out of descriptors. The listener stays readable, so doing nothing would be a busy loop.
                Err(Errno::MFILE | Errno::NFILE) if self.table.evict().is_some() || self.peers.evict() => {
                    continue;
                }
                Err(_) => return,
            };
            if !accepted.is_of_user(self.user) {
                continue;
            }
            let number = self.peers.add(accepted, Instant::now());
            let token = epoll::EventData::new_u64(number | PEER);
            let peer = self.peers.get(number);
            let is_watched = peer.is_some_and(|peer| {
                epoll::add(&self.epoll, &peer.link, token, epoll::EventFlags::IN).is_ok()
            });
            if !is_watched {
                self.peers.remove(number);
            }
        }
    }

    /// Reads the requests of a peer. A malformed one ends the talk.
    fn serve_requests(&mut self, number: u64) -> After {
        let Some(mut peer) = self.peers.remove(number) else { return After::Serve };
        loop {
            match peer.link.try_receive(&mut self.buffer) {
                Ok(None) => break,
                Ok(Some(Received { bytes: 0, .. })) | Err(_) => return After::Serve,
                Ok(Some(received)) => {
                    self.active = Instant::now();
                    let answer = self.serve_request(&peer, received);
                    match answer {
                        Ok(After::Serve) => {}
                        Ok(After::Stop) => return After::Stop,
                        Err(_) => return After::Serve,
                    }
                }
            }
        }
        peer.note_activity(Instant::now());
        self.peers.restore(number, peer);
        After::Serve
    }

    /// Serves one request in the buffer, which is wiped afterwards.
    fn serve_request(&mut self, peer: &Peer, received: Received) -> io::Result<After> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let served = self.serve_message(peer, &buffer[..received.bytes], received.descriptor);
        buffer.wipe(received.bytes);
        self.buffer = buffer;
        served
    }

    fn serve_message(&mut self, peer: &Peer, message: &[u8], socket: Option<OwnedFd>) -> io::Result<After> {
        let head = Head::decode(message).ok_or(io::ErrorKind::InvalidData)?;
        if head.version != VERSION {
            self.reply(peer, &Reply::OtherVersion, None)?;
            return Ok(After::Serve);
        }
        let request = Request::decode(message).ok_or(io::ErrorKind::InvalidData)?;
        let has_key = !matches!(request, Request::Hello | Request::Status(_) | Request::Stop);
        if has_key && head.instance != self.instance {
            if !matches!(request, Request::Give(_) | Request::Put { .. }) {
                self.reply(peer, &Reply::OtherInstance, None)?;
            }
            return Ok(After::Serve);
        }
        let now = Instant::now();
        match request {
            Request::Hello => {
                let secret = self.secret.first_chunk().ok_or(io::ErrorKind::InvalidData)?;
                self.reply(peer, &Reply::Welcome(secret), None)?;
            }
            Request::Give(give) => self.park(&give, socket.ok_or(io::ErrorKind::InvalidData)?, now)?,
            Request::Take(mac) => self.take(peer, &mac, now)?,
            Request::Put { mac, time_to_live, value } => {
                self.records.put(mac, Locked::of(value)?, time_to_live, now);
            }
            Request::Get(mac) => match self.records.get(&mac, now) {
                Some((value, left)) => self.reply(peer, &Reply::Entry { left, value }, None)?,
                None => self.reply(peer, &Reply::Nothing, None)?,
            },
            Request::Status(from) => self.reply(peer, &Reply::Status(self.page(from as usize, now)), None)?,
            Request::Stop => {
                let _ = self.reply(peer, &Reply::Stopping, None);
                return Ok(After::Stop);
            }
        }
        Ok(After::Serve)
    }

    fn reply(&self, peer: &Peer, reply: &Reply<'_>, socket: Option<&OwnedFd>) -> io::Result<()> {
        let head = reply.encode(&self.instance);
        let socket = socket.map(|socket| socket.as_fd());
        // A peer that does not read its replies is dropped.
        if peer.link.try_send([&head, reply.payload()], socket)? {
            Ok(())
        } else {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    /// Parks a connection. It is closed if it is of no use.
    fn park(&mut self, give: &Give<'_>, socket: OwnedFd, now: Instant) -> io::Result<()> {
        if sockopt::socket_type(&socket)? != SocketType::STREAM {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Fails for a listening socket, and for a connection that has been reset.
        getpeername(&socket)?;
        if self.table.is_full() {
            drop(self.table.evict());
        }
        let Give { mac, times, idle_limit, scheme, host, port, state } = *give;
        let arrival = Arrival { mac, scheme, host, port, times, idle_limit };
        let kept = Kept { socket, state: Locked::of(state)? };
        let Ok(number) = self.table.park(&arrival, kept, now) else { return Ok(()) };
        let events = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::PRI;
        let token = epoll::EventData::new_u64(number);
        let slot = self.table.get(number);
        if slot.is_none_or(|kept| epoll::add(&self.epoll, &kept.socket, token, events).is_err()) {
            drop(self.table.remove(number));
        }
        Ok(())
    }

    /// Moves a connection to a peer. It has left the table before it is sent, so that it never has two
    /// owners: if the message does not arrive, the connection is closed.
    fn take(&mut self, peer: &Peer, mac: &Mac, now: Instant) -> io::Result<()> {
        let Some(slot) = self.table.take(mac) else { return self.reply(peer, &Reply::Nothing, None) };
        let times = slot.times(now);
        let Kept { socket, state } = slot.connection;
        // The registration belongs to the open socket, not to the descriptor: it would outlive the move.
        epoll::delete(&self.epoll, &socket)?;
        self.reply(peer, &Reply::Taken { times, state: &state }, Some(&socket))
    }

    fn page(&self, from: usize, now: Instant) -> Page {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut page = Page {
            process: process::id(),
            exit_after: self.limits.exit_after,
            names: count(self.records.len()),
            total: count(self.table.len()),
            parked: Vec::new(),
        };
        for parked in self.table.list(from, now) {
            if !page.add(parked) {
                break;
            }
        }
        page
    }
}
