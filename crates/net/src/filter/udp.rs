//! Datagrams to and from one peer in batches, with the congestion bits of IP.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Reactor, Socket};

/// A slot holds as many datagrams of one size as the system combines, and one call fills all slots.
pub(super) const SLOT: usize = 64 << 10;
pub(super) const SLOTS: usize = 16;
/// Size of the buffer for one receiving call.
pub const ROOM: usize = SLOT * SLOTS;

/// Carries datagrams to and from one peer: a socket, or a tunnel.
pub trait Underlay: Send {
    /// How many datagrams one call sends.
    fn most(&self) -> usize;

    /// Receives datagrams and passes them on batch by batch; returns the number of bytes. `buf` has [`ROOM`]
    /// bytes, or fewer if little is expected.
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        take: &mut dyn FnMut(Batch<'_>),
    ) -> Poll<io::Result<usize>>;

    /// Receives without waiting and without a reactor.
    fn try_receive(&mut self, buf: &mut [u8], take: &mut dyn FnMut(Batch<'_>)) -> Poll<io::Result<usize>>;

    /// Returns whether [`try_receive`](Self::try_receive) may find something.
    fn may_have_input(&self) -> bool {
        true
    }

    /// Sends the whole batch, or waits, and is then called again with the same one. Datagrams that are too
    /// large for the path are lost, which path MTU discovery relies on.
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &Batch<'_>) -> Poll<io::Result<()>>;

    /// Replaces a local address that is gone by that of the current route to the peer.
    fn move_on(&mut self) -> io::Result<()>;

    /// Tries once, without waiting, to send a closing message.
    fn retire(&mut self) {}

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64);

    fn detach(&mut self);

    /// The lowest socket.
    fn socket(&self) -> &Socket;
}

/// Datagrams of one size; the last may be shorter.
pub struct Batch<'a> {
    pub bytes: &'a [u8],
    pub size: usize,
    /// The two bits of IP's header for congestion (RFC 3168).
    pub ecn: u8,
}
