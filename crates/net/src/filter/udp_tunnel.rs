//! Datagrams through a proxy (RFC 9298): as capsules on a stream of bytes with any HTTP version, and as QUIC
//! DATAGRAM frames where the connection supports them and they fit.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use runtime::{Reactor, Socket};
use wire::capsule::{self, Capsules};

use super::Filter;
use super::udp::{Batch, Underlay};
use crate::http3::tunnel::Http3Tunnel;
use crate::quic::SendOutcome;

/// Most datagrams in one batch.
const MOST: usize = 16;
/// The datagram size that every QUIC path must carry (RFC 9000 §14).
const NEEDED: usize = 1200;
/// Most bytes passed on in one call, so that other transfers get their turn.
const FAIR_SHARE: usize = 256 << 10;

/// A connection to a proxy for a tunnel.
pub enum Through {
    Bytes(Box<dyn Filter>),
    Quic(Box<Http3Tunnel>),
}

/// A tunnel for datagrams.
pub struct UdpTunnel {
    through: Through,
    capsules: Capsules,
    out: Vec<u8>,
    sent: usize,
    /// Datagrams of the current batch that are sent.
    done: usize,
}

impl Through {
    /// Returns the filter of a tunnel for bytes.
    pub fn into_filter(self) -> Box<dyn Filter> {
        match self {
            Through::Bytes(filter) => filter,
            Through::Quic(tunnel) => tunnel,
        }
    }

    fn filter(&self) -> &dyn Filter {
        match self {
            Through::Bytes(filter) => filter.as_ref(),
            Through::Quic(tunnel) => tunnel.as_ref(),
        }
    }

    fn filter_mut(&mut self) -> &mut dyn Filter {
        match self {
            Through::Bytes(filter) => filter.as_mut(),
            Through::Quic(tunnel) => tunnel.as_mut(),
        }
    }

    /// Takes the datagrams received as DATAGRAM frames.
    fn take_beside(&mut self, take: &mut dyn FnMut(&[u8])) {
        if let Through::Quic(tunnel) = self {
            tunnel.take_udp(take);
        }
    }
}

impl UdpTunnel {
    pub fn new(through: Through) -> UdpTunnel {
        UdpTunnel { through, capsules: Capsules::default(), out: Vec::new(), sent: 0, done: 0 }
    }

    /// Sends waiting capsules.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let filter = self.through.filter_mut();
        while self.sent < self.out.len() {
            match ready!(filter.poll_write(cx, &self.out[self.sent..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => self.sent += n,
            }
        }
        self.sent = 0;
        self.out.clear();
        filter.poll_flush(cx)
    }

    /// Sends one datagram as a DATAGRAM frame, or as a capsule if it must arrive and does not fit.
    fn poll_one(&mut self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>> {
        if let Through::Quic(tunnel) = &mut self.through {
            loop {
                match tunnel.send_udp(datagram) {
                    SendOutcome::Yes => return Poll::Ready(Ok(())),
                    SendOutcome::Blocked => ready!(tunnel.poll_room(cx))?,
                    SendOutcome::TooLarge if tunnel.has_datagrams() && datagram.len() > NEEDED => {
                        return Poll::Ready(Ok(())); // lost, which is how the way's size is found out
                    }
                    SendOutcome::TooLarge => break,
                }
            }
        }
        capsule::write(&mut self.out, datagram);
        Poll::Ready(Ok(()))
    }

    /// Passes on received datagrams of both kinds.
    fn take(&mut self, n: usize, buf: &[u8], take: &mut dyn FnMut(Batch<'_>)) -> usize {
        let mut total = 0;
        let mut hand_on = |payload: &[u8]| {
            total += payload.len();
            take(Batch { bytes: payload, size: payload.len().max(1), ecn: 0 });
        };
        self.capsules.take(&buf[..n], &mut hand_on);
        self.through.take_beside(&mut hand_on);
        total
    }

    /// Reads until so many bytes were passed on or no more have arrived.
    fn receive(
        &mut self,
        buf: &mut [u8],
        take: &mut dyn FnMut(Batch<'_>),
        share: usize,
        mut read: impl FnMut(&mut dyn Filter, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut total = 0;
        loop {
            let came = read(self.through.filter_mut(), buf)?;
            let n = match came {
                Poll::Ready(n) => n,
                Poll::Pending => 0,
            };
            total += self.take(n, buf, take);
            if total >= share || total > 0 && n == 0 {
                return Poll::Ready(Ok(total));
            }
            match came {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
                Poll::Ready(_) => {}
            }
        }
    }
}

impl Underlay for UdpTunnel {
    fn most(&self) -> usize {
        MOST
    }

    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        take: &mut dyn FnMut(Batch<'_>),
    ) -> Poll<io::Result<usize>> {
        let _ = self.poll_out(cx)?;
        self.receive(buf, take, FAIR_SHARE, |filter, buf| filter.poll_read(cx, buf))
    }

    fn try_receive(&mut self, buf: &mut [u8], take: &mut dyn FnMut(Batch<'_>)) -> Poll<io::Result<usize>> {
        self.receive(buf, take, 1, |filter, buf| filter.try_read(buf))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &Batch<'_>) -> Poll<io::Result<()>> {
        // Sent before more capsules are queued, so that at most one batch waits.
        ready!(self.poll_out(cx))?;
        for datagram in batch.bytes.chunks(batch.size).skip(self.done) {
            ready!(self.poll_one(cx, datagram))?;
            self.done += 1;
        }
        self.done = 0;
        let _ = self.poll_out(cx)?;
        if let Through::Quic(tunnel) = &mut self.through {
            let _ = tunnel.poll_send(cx)?;
        }
        Poll::Ready(Ok(()))
    }

    /// The connection to the proxy below handles a changed route.
    fn move_on(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::NetworkUnreachable.into())
    }

    fn retire(&mut self) {
        let _ = self.poll_out(&mut Context::from_waker(Waker::noop()));
        self.through.filter_mut().retire();
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.through.filter_mut().attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.through.filter_mut().detach();
    }

    fn socket(&self) -> &Socket {
        self.through.filter().socket()
    }
}
