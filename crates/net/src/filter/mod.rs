//! A filter is one layer of a connection and carries bytes: socket, (haproxy), (socks | http proxy), (tls).

pub mod datagram;
pub mod haproxy;
pub mod http2_proxy;
pub mod http_proxy;
pub mod messages;
pub mod open;
pub mod scripted;
pub mod sealed;
mod socket;
pub mod socks;
pub mod socks_gssapi;
pub mod tunnels;
pub mod udp;
#[cfg(feature = "http3")]
pub mod udp_socket;
pub mod udp_tunnel;

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use runtime::{Direction, Socket};

use crate::Carrier;
use crate::handover::{Layer, Obstacle};

pub use socket::SocketFilter;

/// A layer of a connection, with those below it.
pub trait Filter: Carrier {
    /// Reads what has arrived; 0 is a clean end. `buf` is never empty.
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Returns the size of the smallest buffer into which data is received without a copy.
    fn direct_read(&self) -> usize {
        1
    }

    /// Reads without waiting and without a reactor, for a connection that is not used: a layer takes what is
    /// meant for itself. `Pending` when there is nothing, and nobody is woken later.
    fn try_read(&mut self, _buf: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    /// Writes as much as fits.
    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;

    /// Pushes out what the layer still holds.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Nobody reads for a while: an application's loop must not hear of what nobody takes. A layer that would
    /// not live if it fell silent goes on by itself; `cx` is woken when it has something to do, for this to
    /// be called again.
    fn forget_read(&mut self, _cx: &mut Context<'_>) {
        self.socket().forget(Direction::Read);
    }

    /// Returns why the layer, or one below, cannot move to another process in its present state.
    fn portable(&self) -> Result<(), Obstacle> {
        Err(Obstacle::Layer)
    }

    /// Takes the layers apart, from the lowest, down to the socket. Called only where
    /// [`portable`](Filter::portable) agrees.
    fn take_apart(self: Box<Self>, _layers: &mut Vec<Layer>) -> Socket {
        unreachable!("only a portable layer is taken apart")
    }

    /// Says that the topmost layer ends, and leaves those below alone.
    fn say_goodbye(&mut self) {}

    /// Ends the sending direction, and continues to receive. Ready when the sent bytes no longer need this
    /// process.
    fn poll_end(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket().end_sending();
        Poll::Ready(Ok(()))
    }

    /// Takes off a topmost layer that has ended on both sides; `None` when there is none, or when the peer
    /// did not wait for that. What lies below goes on.
    fn uncover(self: Box<Self>) -> Option<Box<dyn Filter>> {
        None
    }
}

impl dyn Filter + '_ {
    /// Reads once.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_read(cx, buf)).await
    }

    /// Writes everything and flushes it.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let n = poll_fn(|cx| self.poll_write(cx, bytes)).await?;
            if n == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[n..];
        }
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Reads exactly as much as `buf` holds.
    pub async fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.read(&mut buf[filled..]).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => filled += n,
            }
        }
        Ok(())
    }
}
