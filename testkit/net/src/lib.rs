//! Connections without a network, for tests and measurements of a pool: keys, requests, and a
//! connection that is alive and silent.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::task::{Context, Poll};

use net::connect::Endpoints;
use net::connection_key::Origin;
use net::{AcquireRequest, Ages, Carrier, Connection, ConnectionKey, Filter, HashedKey, Idle};
use runtime::{Reactor, Runtime, Socket};

/// Returns the key of connections in clear to that host.
pub fn of_host(host: &str, port: u16) -> HashedKey {
    HashedKey::from(ConnectionKey { origin: Origin::new(host, port), ..ConnectionKey::default() })
}

/// Returns a request as a usual handle makes it.
pub fn wish(key: &HashedKey) -> AcquireRequest<'_> {
    AcquireRequest {
        key,
        fresh: false,
        streams: false,
        by_tcp: false,
        patience: 0,
        refusal: None,
        ages: Ages::default(),
        owner: 1,
    }
}

/// Returns a connection that is alive and silent. All share one socket, so that ten thousand are possible.
pub fn mute(runtime: &Runtime, key: &HashedKey) -> Box<Connection> {
    let filter: Box<dyn Filter> = Box::new(Mute);
    Box::new(Connection::new(key.clone(), filter, Endpoints::default(), runtime.reactor().now()))
}

struct Mute;

thread_local! {
    static SOCKET: &'static Socket = Box::leak(Box::new(Socket::new(
        UdpSocket::bind("127.0.0.1:0").expect("a port is free").into(),
    )));
}

impl Carrier for Mute {
    fn retire(&mut self) {}

    fn idle_state(&mut self) -> Idle {
        Idle::Alive
    }

    fn attach(&mut self, _: &Arc<Reactor>, _: u64) {}

    fn detach(&mut self) {}

    fn socket(&self) -> &Socket {
        SOCKET.with(|socket| *socket)
    }
}

impl Filter for Mute {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_write(&mut self, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
