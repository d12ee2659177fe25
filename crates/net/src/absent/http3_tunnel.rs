//! A tunnel through a proxy that speaks HTTP/3, without the feature `http3`.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Idle, Reactor, Socket};
use wire::h2::Fields;

use crate::Carrier;
use crate::exchange::RequestHead;
use crate::filter::Filter;
use crate::filter::tunnels::TunnelPayload;
use crate::quic::{Quic, SendOutcome};

/// A tunnel. It has no value.
pub struct Http3Tunnel(Quic);

impl Http3Tunnel {
    /// Requests a tunnel.
    pub async fn connect(&mut self, _: &RequestHead, _: TunnelPayload<'_>) -> io::Result<(u16, Fields)> {
        self.0.never()
    }

    /// Returns whether the peer takes DATAGRAM frames.
    pub fn has_datagrams(&self) -> bool {
        self.0.never()
    }

    /// Sends a datagram.
    pub fn send_udp(&mut self, _: &[u8]) -> SendOutcome {
        self.0.never()
    }

    /// Waits for room for a datagram.
    pub fn poll_room(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.never()
    }

    /// Sends what waits.
    pub fn poll_send(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.never()
    }

    /// Takes the datagrams received.
    pub fn take_udp(&mut self, _: impl FnMut(&[u8])) {
        self.0.never()
    }
}

impl Carrier for Http3Tunnel {
    fn retire(&mut self) {
        self.0.never()
    }

    fn idle_state(&mut self) -> Idle {
        self.0.never()
    }

    fn attach(&mut self, _: &Arc<Reactor>, _: u64) {
        self.0.never()
    }

    fn detach(&mut self) {
        self.0.never()
    }

    fn socket(&self) -> &Socket {
        self.0.never()
    }
}

impl Filter for Http3Tunnel {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.never()
    }

    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        self.0.never()
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.never()
    }
}
