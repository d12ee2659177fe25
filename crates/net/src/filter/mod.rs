//! A filter is one layer of a connection and carries bytes: socket, (haproxy), (socks | http proxy), (tls).

pub mod datagram;
pub mod haproxy;
pub mod http2_proxy;
pub mod http_proxy;
pub mod messages;
pub mod open;
pub mod sealed;
mod socket;
pub mod socks;
pub mod socks_gssapi;
pub mod tls;
pub mod udp;

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Idle, Reactor, Socket};

use crate::tls::TlsInfo;

pub use socket::SocketFilter;

/// One layer of a connection, with those below it.
pub trait Filter: Send {
    /// Reads what has arrived; 0 is a clean end. `buf` is never empty.
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;

    /// With a buffer of this size or more nothing is copied on the way to it.
    fn direct_read(&self) -> usize {
        1
    }

    /// Reads without waiting and without a reactor, for a connection that is not used: a layer takes what is meant for
    /// itself. `Pending` when there is nothing, and nobody is woken later.
    fn try_read(&mut self, _buf: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    /// Writes as much as fits.
    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;

    /// Pushes out what the layer still holds.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// One try, without waiting, to end politely.
    fn retire(&mut self);

    /// Says that the topmost layer ends, and leaves those below alone.
    fn say_goodbye(&mut self) {}

    /// Takes off a topmost layer that has ended on both sides; `None` when there is none, or when the peer did not wait
    /// for that. What lies below goes on.
    fn uncover(self: Box<Self>) -> Option<Box<dyn Filter>> {
        None
    }

    /// Looks whether an unused connection may be used again. Takes what belongs to the layer itself.
    fn idle_state(&mut self) -> Idle;

    /// Registers the socket with a reactor.
    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64);

    /// Takes the socket from its reactor.
    fn detach(&mut self);

    /// The socket at the bottom.
    fn socket(&self) -> &Socket;

    /// What the topmost TLS layer agreed on, if there is one.
    fn tls(&self) -> Option<&Arc<TlsInfo>> {
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
