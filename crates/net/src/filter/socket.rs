//! The lowest filter: the socket itself, TCP or unix.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Idle, Reactor, Socket};

use super::Filter;
use crate::Carrier;
use crate::handover::{Layer, Obstacle};

/// A connected stream socket.
pub struct SocketFilter(Socket);

impl SocketFilter {
    /// Uses a socket that is connected, or that the application says is connected.
    pub fn new(socket: Socket) -> SocketFilter {
        SocketFilter(socket)
    }
}

impl Carrier for SocketFilter {
    /// Closing the socket is a proper end for TCP.
    fn retire(&mut self) {}

    fn idle_state(&mut self) -> Idle {
        self.0.idle_state()
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.0.attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.0.detach();
    }

    fn socket(&self) -> &Socket {
        &self.0
    }
}

impl Filter for SocketFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_recv(cx, buf)
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.try_recv(buf)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_send(cx, buf)
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn portable(&self) -> Result<(), Obstacle> {
        if self.0.has_close_hook() { Err(Obstacle::Callbacks) } else { Ok(()) }
    }

    fn take_apart(self: Box<Self>, _: &mut Vec<Layer>) -> Socket {
        self.0
    }
}
