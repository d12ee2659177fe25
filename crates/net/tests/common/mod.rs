//! Common code of this crate's tests: runs one future to its end on its own runtime.
#![allow(dead_code)]

use std::cell::RefCell;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[allow(unused_imports)]
pub use netkit::{of_host, wish};
use runtime::fd::OwnedFd;
use runtime::{Clock, Reactor, Runtime};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
use warmwire_net::connect::{ConnectRequest, Connected, at_once, connect};
use warmwire_net::filter::SocketFilter;
use warmwire_net::filter::open::{SocketOptions, Transport};
use warmwire_net::resolver::Candidates;
use warmwire_net::{ByCarrier, Connection, Granted, HashedKey, Lease, NetError};

pub fn runtime() -> Runtime {
    Runtime::new(Clock::system())
}

/// Runs the future to its end; panics after twenty seconds.
pub fn block_on<T: 'static>(rt: &Runtime, future: impl Future<Output = T> + 'static) -> T {
    let out = Rc::new(RefCell::new(None));
    let slot = out.clone();
    rt.spawn(Box::pin(async move {
        let value = future.await;
        *slot.borrow_mut() = Some(value);
    }));
    let start = Instant::now();
    loop {
        rt.perform().unwrap();
        if let Some(value) = out.borrow_mut().take() {
            return value;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "hangs");
        rt.wait(&mut [], Duration::from_secs(1), false).unwrap();
    }
}

/// Connects to these addresses with the usual options.
pub async fn dial(
    reactor: Arc<Reactor>,
    list: Vec<SocketAddr>,
    deadline: Option<Duration>,
) -> Result<Connected, NetError> {
    let started = reactor.now();
    let request = ConnectRequest {
        place: &"host.test",
        protocols: &[],
        needs_record: false,
        local_hosts: &[],
        transport: Transport::Tcp,
        options: &SocketOptions::default(),
        callbacks: None,
        attempt_delay: Duration::from_millis(200),
        favourite: None,
        report: None,
        started,
        deadline: deadline.map(|d| started + d),
        owner: 1,
    };
    let mut candidates = Candidates::known(&list, started);
    connect(&reactor, &request, &mut candidates, &at_once).await
}

pub fn key_of(port: u16) -> HashedKey {
    of_host("host.test", port)
}

/// A fresh connection to that address, for that key.
pub async fn open(reactor: Arc<Reactor>, key: HashedKey, to: SocketAddr) -> Box<Connection> {
    let made = dial(reactor.clone(), vec![to], None).await.unwrap();
    let endpoints = made.endpoints;
    let filter: Box<dyn warmwire_net::Filter> = Box::new(SocketFilter::new(made.socket));
    Box::new(Connection::new(key, filter, endpoints, reactor.now()))
}

/// Returns a granted connection of bytes or stream as a transfer uses it.
pub fn bytes(granted: Granted) -> Lease {
    match granted.by_carrier() {
        ByCarrier::Bytes(lease) => lease,
        ByCarrier::Quic(_) => panic!("nothing was opened over QUIC"),
    }
}

pub fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Returns a port that refuses connections.
pub fn dead_port() -> SocketAddr {
    listener().1
}

/// Creates a listener whose queue is full: connecting to it neither succeeds nor fails.
pub fn black_hole(at: SocketAddr) -> (OwnedFd, Vec<OwnedFd>, SocketAddr) {
    let family = if at.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let hole = socket(family, SocketType::STREAM, None).unwrap();
    bind(&hole, &at).unwrap();
    listen(&hole, 0).unwrap();
    let address: SocketAddr = getsockname(&hole).unwrap().try_into().unwrap();
    let fill = (0..3)
        .map(|_| {
            let fd = socket(family, SocketType::STREAM, None).unwrap();
            rustix::io::ioctl_fionbio(&fd, true).unwrap();
            let _ = rustix::net::connect(&fd, &address);
            fd
        })
        .collect();
    std::thread::sleep(Duration::from_millis(50));
    (hole, fill, address)
}
