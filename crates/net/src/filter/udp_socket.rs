//! A connected UDP socket that moves datagrams in batches: one system call for many of them where possible.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState, is_msg_size_err};
use runtime::fd::{AsFd, BorrowedFd};
use runtime::{Direction, Reactor, Socket};
use rustix::net::{connect, connect_unspec};

use super::udp::{Batch, SLOT, SLOTS, Underlay};

/// Requested size of the system's receive buffer; the system may grant less.
const HELD: usize = 4 << 20;

/// Whether a receive continues until all slots are used or nothing is left. On other systems it may take one
/// datagram at a time.
const FILLS_SLOTS: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// A socket for datagrams to and from one peer.
pub struct UdpSocket {
    socket: Socket,
    state: UdpSocketState,
    peer: SocketAddr,
}

impl UdpSocket {
    /// Uses a socket that is connected to this peer.
    pub fn new(mut socket: Socket, peer: SocketAddr) -> io::Result<UdpSocket> {
        socket.set_datagram();
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), HELD); // less is slower
        Ok(UdpSocket { socket, state, peer })
    }
}

impl Underlay for UdpSocket {
    fn most(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Receives as much as one system call returns.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        take: &mut dyn FnMut(Batch<'_>),
    ) -> Poll<io::Result<usize>> {
        let UdpSocket { socket, state, .. } = self;
        let mut meta = [RecvMeta::default(); SLOTS];
        let received = socket.poll_io(cx, Direction::Read, |fd| receive(state, fd, buf, &mut meta));
        if let Poll::Ready(Ok(count)) = received
            && FILLS_SLOTS
            && count < buf.len().div_ceil(SLOT).min(SLOTS)
        {
            socket.found_all();
        }
        received.map_ok(|count| hand_on(&meta[..count], buf, take))
    }

    fn try_receive(&mut self, buf: &mut [u8], take: &mut dyn FnMut(Batch<'_>)) -> Poll<io::Result<usize>> {
        let mut meta = [RecvMeta::default(); SLOTS];
        loop {
            match receive(&self.state, self.socket.as_fd(), buf, &mut meta) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                received => return Poll::Ready(received.map(|count| hand_on(&meta[..count], buf, take))),
            }
        }
    }

    fn may_have_input(&self) -> bool {
        self.socket.has_input()
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &Batch<'_>) -> Poll<io::Result<()>> {
        let UdpSocket { socket, state, peer } = self;
        let transmit = Transmit {
            destination: *peer,
            ecn: EcnCodepoint::from_bits(batch.ecn),
            contents: batch.bytes,
            segment_size: Some(batch.size),
            src_ip: None,
        };
        socket.poll_now(cx, |fd| match state.try_send(UdpSockRef::from(&fd), &transmit) {
            Err(e) if is_msg_size_err(&e) => Ok(()),
            sent => sent,
        })
    }

    /// The descriptor stays the same.
    fn move_on(&mut self) -> io::Result<()> {
        connect_unspec(&self.socket)?;
        Ok(connect(&self.socket, &self.peer)?)
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.socket.attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.socket.detach();
    }

    fn socket(&self) -> &Socket {
        &self.socket
    }
}

/// Receives into slots; the system combines datagrams of one size in a slot.
fn receive(
    state: &UdpSocketState,
    fd: BorrowedFd<'_>,
    buf: &mut [u8],
    meta: &mut [RecvMeta],
) -> io::Result<usize> {
    let count = buf.len().div_ceil(SLOT);
    let mut rooms = buf.chunks_mut(SLOT);
    let mut slots: [IoSliceMut<'_>; SLOTS] =
        std::array::from_fn(|_| IoSliceMut::new(rooms.next().unwrap_or_default()));
    state.recv(UdpSockRef::from(&fd), &mut slots[..count], &mut meta[..count])
}

fn hand_on(meta: &[RecvMeta], buf: &[u8], take: &mut dyn FnMut(Batch<'_>)) -> usize {
    for (meta, slot) in meta.iter().zip(buf.chunks(SLOT)) {
        let ecn = meta.ecn.map_or(0, |ecn| ecn as u8);
        take(Batch { bytes: &slot[..meta.len], size: meta.stride.max(1), ecn });
    }
    meta.iter().map(|meta| meta.len).sum()
}
