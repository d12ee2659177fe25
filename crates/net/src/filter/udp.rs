//! A connected UDP socket as a filter that moves whole datagrams: each read receives one, each write sends one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Idle, Reactor, Socket};

use crate::Filter;
use crate::tls::TlsInfo;

/// The bottom of a QUIC connection.
pub struct UdpFilter {
    socket: Socket,
    tls: Option<Arc<TlsInfo>>,
}

impl UdpFilter {
    /// Binds the socket to its peer, which waits for nothing; who has connected it himself has done so.
    pub fn connect(socket: Socket, peer: SocketAddr, connected: bool) -> io::Result<UdpFilter> {
        if !connected {
            rustix::net::connect(&socket, &peer)?;
        }
        Ok(UdpFilter { socket, tls: None })
    }

    /// The handshake above has agreed on this.
    pub fn agreed(&mut self, tls: TlsInfo) {
        self.tls = Some(Arc::new(tls));
    }
}

impl Filter for UdpFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.socket.poll_recv(cx, buf)
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.socket.try_recv(buf)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.socket.poll_send(cx, buf)
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The goodbye is the protocol's.
    fn retire(&mut self) {}

    /// What has come is for the protocol to read, which knows what it means.
    fn idle_state(&mut self) -> Idle {
        Idle::Alive
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

    fn tls(&self) -> Option<&Arc<TlsInfo>> {
        self.tls.as_ref()
    }
}
