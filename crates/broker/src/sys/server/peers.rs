//! The processes that talk to the broker.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};

use crate::sys::link::Link;

/// How long a silent peer stays connected. A client connects for one call, which it makes at once.
const SILENCE: Duration = Duration::from_secs(1);
/// Peers at one time; further ones replace the oldest.
const LIMIT: usize = 256;

/// A connected process.
#[derive(Debug)]
pub(super) struct Peer {
    pub link: Link,
    until: Instant,
}

impl Peer {
    /// Notes that the peer has spoken.
    pub fn note_activity(&mut self, now: Instant) {
        self.until = now + SILENCE;
    }
}

/// The connected processes, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Peers {
    peers: Vec<(u64, Peer)>,
    next: u64,
}

impl Peers {
    pub fn add(&mut self, link: Link, now: Instant) -> u64 {
        if self.peers.len() >= LIMIT {
            self.evict();
        }
        let number = self.next;
        self.next += 1;
        self.restore(number, Peer { link, until: now + SILENCE });
        number
    }

    /// Adds a peer that had been removed.
    pub fn restore(&mut self, number: u64, peer: Peer) {
        self.peers.push((number, peer));
    }

    pub fn get(&self, number: u64) -> Option<&Peer> {
        self.peers.iter().find(|(known, _)| *known == number).map(|(_, peer)| peer)
    }

    pub fn remove(&mut self, number: u64) -> Option<Peer> {
        let place = self.peers.iter().position(|(known, _)| *known == number)?;
        Some(self.peers.remove(place).1)
    }

    /// Drops the oldest; `false` if there is none.
    pub fn evict(&mut self) -> bool {
        let exists = !self.peers.is_empty();
        if exists {
            self.peers.remove(0);
        }
        exists
    }

    /// Drops the silent ones.
    pub fn expire(&mut self, now: Instant) {
        self.peers.retain(|(_, peer)| peer.until > now);
    }

    pub fn next_end(&self) -> Option<Instant> {
        self.peers.iter().map(|(_, peer)| peer.until).min()
    }
}

/// Accepts one connection, if there is one.
pub(super) fn accept(listener: &Link) -> Result<Link, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    accept_with(listener.as_fd(), flags).map(Link::new)
}
