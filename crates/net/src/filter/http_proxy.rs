//! The bytes of an HTTP CONNECT: sends a head, reads reply lines, and then becomes the tunnel. Bytes received
//! after the reply's head belong to the tunnel and are read first.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Idle, Reactor, Socket};
use wire::http1::LineBuffer;

use super::Filter;
use crate::Carrier;
use crate::handover::{Layer, Obstacle};

/// A connection to a proxy that becomes a tunnel through it.
pub struct TunnelFilter {
    below: Box<dyn Filter>,
    received: LineBuffer,
}

impl TunnelFilter {
    /// Uses a connection to the proxy.
    pub fn new(below: Box<dyn Filter>) -> TunnelFilter {
        TunnelFilter { below, received: LineBuffer::default() }
    }

    /// Sends the request's head.
    pub async fn send(&mut self, head: &[u8]) -> io::Result<()> {
        self.below.write_all(head).await
    }

    /// Returns the next reply line with its line ending; `None` when the proxy closed. A line over its budget
    /// is an error.
    pub async fn line(&mut self, budget: usize) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.received.line(budget) {
                Ok(Some(line)) => return Ok(Some(line)),
                Ok(None) => {}
                Err(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "too long a header line")),
            }
            if !self.receive().await? {
                return Ok(None);
            }
        }
    }

    /// Returns the next octet without consuming it: whether it continues a field (RFC 9112 §5.2). `None` when
    /// the proxy closed.
    pub async fn next_octet(&mut self) -> io::Result<Option<u8>> {
        while self.received.rest().is_empty() {
            if !self.receive().await? {
                return Ok(None);
            }
        }
        Ok(self.received.rest().first().copied())
    }

    async fn receive(&mut self) -> io::Result<bool> {
        // TLS below needs room for a whole record.
        let mut buf = vec![0; 32 * 1024];
        let n = poll_fn(|cx| self.below.poll_read(cx, &mut buf)).await?;
        self.received.extend(&buf[..n]);
        Ok(n > 0)
    }
}

impl Carrier for TunnelFilter {
    fn retire(&mut self) {
        self.below.retire();
    }

    fn idle_state(&mut self) -> Idle {
        if self.received.rest().is_empty() { self.below.idle_state() } else { Idle::Data }
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.below.attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.below.detach();
    }

    fn socket(&self) -> &Socket {
        self.below.socket()
    }
}

impl Filter for TunnelFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.received.rest().is_empty() {
            return Poll::Ready(Ok(self.received.take_into(buf)));
        }
        self.below.poll_read(cx, buf)
    }

    fn direct_read(&self) -> usize {
        self.below.direct_read()
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        match self.received.rest().is_empty() {
            true => self.below.try_read(buf),
            false => self.poll_read(&mut Context::from_waker(std::task::Waker::noop()), buf), // what is left of its answer
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.below.poll_write(cx, buf)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.below.forget_read(cx);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.below.poll_flush(cx)
    }

    fn portable(&self) -> Result<(), Obstacle> {
        if self.received.rest().is_empty() { self.below.portable() } else { Err(Obstacle::Buffered) }
    }

    fn take_apart(self: Box<Self>, layers: &mut Vec<Layer>) -> Socket {
        let socket = self.below.take_apart(layers);
        layers.push(Layer::Tunnel);
        socket
    }
}
