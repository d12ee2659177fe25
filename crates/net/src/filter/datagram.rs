//! A socket for datagrams to a peer whose port may change with its first reply (TFTP): it is never connected.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Direction, Reactor, SEND, Socket, new_socket};
use rustix::net::{AddressFamily, RecvFlags, SocketType, connect, recvfrom, sendto};

use super::open::{SocketCallbacks, SocketOptions, Target, Transport, open};
use crate::error::NetError;

/// Returns whether there is a route to the address: connects an unused socket to it, which sends nothing.
pub fn is_routed(to: &SocketAddr) -> bool {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let probe = new_socket(family, SocketType::DGRAM);
    probe.is_ok_and(|probe| connect(&probe, to).is_ok())
}

/// A socket that sends to and receives from any peer.
pub struct Datagrams {
    socket: Socket,
}

impl Datagrams {
    /// Opens a socket of the peer's family, bound as the options say; returns it and the peer, which the
    /// application's callback may have changed.
    pub fn open(
        reactor: &Arc<Reactor>,
        peer: SocketAddr,
        options: &SocketOptions,
        local_hosts: &[SocketAddr],
        callbacks: Option<&dyn SocketCallbacks>,
        owner: u64,
    ) -> Result<(Datagrams, SocketAddr), NetError> {
        let fresh = open(&Target::Ip(peer), Transport::Udp, options, local_hosts, callbacks)?;
        let mut socket = fresh.socket;
        socket.attach(reactor, owner);
        let peer = if let Target::Ip(changed) = fresh.target { changed } else { peer };
        Ok((Datagrams { socket }, peer))
    }

    /// Sends one datagram. If there is no room for it, it is dropped, like one that is lost on the way.
    pub fn send_to(&self, bytes: &[u8], peer: SocketAddr) -> io::Result<()> {
        match sendto(&self.socket, bytes, SEND, &peer) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Receives the next datagram, truncated to the buffer, with its sender.
    pub fn poll_recv_from(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, Option<SocketAddr>)>> {
        self.socket.poll_io(cx, Direction::Read, |fd| {
            let (_, n, from) = recvfrom(fd, &mut *buf, RecvFlags::empty())?;
            Ok((n, from.and_then(|from| from.try_into().ok())))
        })
    }

    /// The socket underneath.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }
}
