//! A connected UDP socket that moves datagrams by the batch, with what IP says of congestion: one call of the system's for
//! many of them, where it can.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState, is_msg_size_err};
use runtime::fd::{AsFd, BorrowedFd};
use runtime::{Direction, Reactor, Socket};
use rustix::net::{connect, connect_unspec};

/// What the system is asked to hold until it is taken; it gives what it allows.
const HELD: usize = 4 << 20;

/// As many datagrams of one size as the system puts together have room in a slot, and one call fills so many of them.
const SLOT: usize = 64 << 10;
const SLOTS: usize = 16;
/// What one call receives into.
pub const ROOM: usize = SLOT * SLOTS;

/// What takes datagrams to one peer and brings its own: a socket, or a tunnel.
pub trait Underlay: Send {
    /// How many datagrams one call sends.
    fn most(&self) -> usize;

    /// Receives what has come and hands it on batch by batch; tells how many bytes that was. `buf` is of [`ROOM`], or a small
    /// one for little.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        take: &mut dyn FnMut(Batch<'_>),
    ) -> Poll<io::Result<usize>>;

    /// The same without waiting and without a reactor.
    fn try_receive(&mut self, buf: &mut [u8], take: &mut dyn FnMut(Batch<'_>)) -> Poll<io::Result<usize>>;

    /// Sends all, or waits, and is asked again with the same. Datagrams that are too large for the way are lost, which is how
    /// its size is found out.
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &Batch<'_>) -> Poll<io::Result<()>>;

    /// Leaves a local address that is no more for another one, by the way that leads to the peer now.
    fn move_on(&mut self) -> io::Result<()>;

    /// One try, without waiting, to end politely.
    fn retire(&mut self) {}

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64);

    fn detach(&mut self);

    /// The socket at the bottom.
    fn socket(&self) -> &Socket;
}

/// Datagrams to one peer and from it.
pub struct UdpSocket {
    socket: Socket,
    state: UdpSocketState,
    peer: SocketAddr,
}

/// Datagrams of one size, the last perhaps shorter.
pub struct Batch<'a> {
    pub bytes: &'a [u8],
    pub size: usize,
    /// The two bits of IP's header for congestion (RFC 3168).
    pub ecn: u8,
}

impl UdpSocket {
    /// On a socket that is connected to this peer.
    pub fn new(socket: Socket, peer: SocketAddr) -> io::Result<UdpSocket> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), HELD); // less is slower
        Ok(UdpSocket { socket, state, peer })
    }
}

impl Underlay for UdpSocket {
    fn most(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// As much as one call of the system's gives.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        take: &mut dyn FnMut(Batch<'_>),
    ) -> Poll<io::Result<usize>> {
        let UdpSocket { socket, state, .. } = self;
        let mut meta = [RecvMeta::default(); SLOTS];
        let received = socket.poll_io(cx, Direction::Read, |fd| receive(state, fd, buf, &mut meta));
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

    /// The descriptor stays.
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

/// Each slot of the buffer takes what the system has put together of one size.
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
