//! A simulated network: each connection is a pair of sockets whose far end is here, and nothing arrives
//! unless [`Network::step`] delivers it. How much, when and in which order is random.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use testkit::dice::Dice;

use crate::{ftp, http, http2};

/// Bytes of a body of so many.
pub fn content(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 7 + at / 251 + size) as u8).collect()
}

/// Returns the checksum of an upload.
pub fn sum(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(5381u64, |sum, byte| sum.wrapping_mul(33) ^ u64::from(*byte));
    format!("{} {sum:x}", bytes.len())
}

/// The actions of a peer in its turn.
#[derive(Default)]
pub struct Say {
    pub bytes: Vec<u8>,
    /// Closes when that is said.
    pub ends: bool,
    /// Set if only the end of the connection delimits the data: a truncation could not be detected.
    pub whole_or_nothing: bool,
}

/// The other side of a connection, as a state machine.
pub trait Peer {
    /// Runs a turn with the input since the last one, which may be empty, and whether more can follow.
    fn turn(&mut self, heard: &[u8], ended: bool, world: &mut Shared) -> Say;
}

/// State shared by all peers.
pub struct Shared {
    pub dice: Dice,
    /// Whether there are no faults.
    pub calm: bool,
    /// FTP's data connections by their ports.
    pub data: BTreeMap<u16, ftp::Data>,
    /// Violations of the invariants.
    pub faults: Vec<String>,
}

impl Shared {
    /// Returns true once in `times`, if there are faults at all.
    pub fn odd(&mut self, times: usize) -> bool {
        !self.calm && self.dice.roll(times) == 0
    }
}

/// One connection, seen from the far end.
struct Line {
    far: UnixStream,
    peer: Box<dyn Peer>,
    out: VecDeque<u8>,
    ends: bool,
    protected: bool,
    silent: bool,
    heard_end: bool,
}

pub struct Network {
    pub shared: Shared,
    lines: Vec<Line>,
    /// Most bytes of one piece.
    piece: usize,
    /// Connections that the engine holds, by host and port; data connections are at (0, 0).
    pub open: BTreeMap<(u8, u16), Arc<AtomicI64>>,
    pub opened: usize,
}

impl Network {
    pub fn new(seed: u64, calm: bool) -> Network {
        // Consecutive seeds must not begin alike.
        let mut dice = Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let piece = [1, 7, 100, 5000, 70_000][dice.roll(5)];
        let shared = Shared { dice, calm, data: BTreeMap::new(), faults: Vec::new() };
        Network { shared, lines: Vec::new(), piece, open: BTreeMap::new(), opened: 0 }
    }

    /// Returns the near end of a new connection; `None` if it is refused.
    pub fn connect(&mut self, host: u8, port: u16) -> Option<OwnedFd> {
        if self.shared.odd(25) {
            return None;
        }
        let peer: Box<dyn Peer> = match port {
            80 => Box::new(http::Server::new(host)),
            http2::PORT => Box::new(http2::Server::new(host)),
            21 => Box::new(ftp::Control::new()),
            _ => Box::new(ftp::Channel::new(port)),
        };
        let (near, far) = UnixStream::pair().expect("descriptors for two more");
        far.set_nonblocking(true).expect("a socket can be");
        // Little fits in, in some worlds: writes are short, and there is no room now and then.
        if self.shared.dice.roll(2) == 0 {
            testkit::stream::narrow(&near, 1 + self.shared.dice.roll(8000));
        }
        self.opened += 1;
        let (out, silent) = (VecDeque::new(), self.shared.odd(60));
        self.lines.push(Line { far, peer, out, ends: false, protected: false, silent, heard_end: false });
        Some(near.into())
    }

    /// A size that is through in some thousand steps.
    pub fn any_size(&mut self) -> usize {
        let most = if self.piece < 100 { 3 } else { 6 };
        [0, 1, 300, 5000, 40_000, 150_000][self.shared.dice.roll(most)]
    }

    /// Returns the counter of this host's connections that the engine holds.
    pub fn counter(&mut self, host: (u8, u16)) -> Arc<AtomicI64> {
        self.open.entry(host).or_default().clone()
    }

    /// Returns how many it holds to each host, without data connections.
    pub fn held(&self) -> impl Iterator<Item = ((u8, u16), i64)> {
        self.open
            .iter()
            .filter(|(host, _)| **host != (0, 0))
            .map(|(host, n)| (*host, n.load(Ordering::SeqCst)))
    }

    /// One thing happens on one connection. Whether anything moved.
    pub fn step(&mut self) -> bool {
        if self.lines.is_empty() {
            return false;
        }
        let at = self.shared.dice.roll(self.lines.len());
        let (moved, over) = self.lines[at].step(&mut self.shared, self.piece);
        let cut = self.shared.odd(400) && !self.lines[at].protected;
        if over || cut {
            self.lines.remove(at);
        }
        moved || over || cut
    }

    /// Delivers everything on every connection, until nothing moves.
    pub fn settle(&mut self) {
        while (0..self.lines.len() * 4).any(|_| self.step()) {}
    }
}

impl Line {
    fn step(&mut self, shared: &mut Shared, piece: usize) -> (bool, bool) {
        if self.silent {
            return (false, false);
        }
        let mut heard = vec![0; 1 + shared.dice.roll(piece.max(4000))];
        let n = match self.far.read(&mut heard) {
            Ok(0) => {
                self.heard_end = true;
                0
            }
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => return (true, true),
        };
        let before = self.out.len();
        let say = self.peer.turn(&heard[..n], self.heard_end, shared);
        self.out.extend(say.bytes);
        self.ends |= say.ends;
        self.protected |= say.whole_or_nothing;
        let mut moved = n > 0 || self.out.len() != before;
        let most = (1 + shared.dice.roll(piece)).min(self.out.len());
        if most > 0 && shared.dice.roll(3) > 0 {
            match self.far.write(&self.out.make_contiguous()[..most]) {
                Ok(sent) => {
                    self.out.drain(..sent);
                    moved = true;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return (true, true),
            }
        }
        (moved, self.out.is_empty() && (self.ends || self.heard_end))
    }
}
