//! What the tests of this crate share: driving one future to its end on a runtime of its own.
#![allow(dead_code)]

use std::cell::RefCell;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::{Clock, Reactor, Runtime};
use warmwire_net::connect::{ConnectRequest, Connected, at_once, connect};
use warmwire_net::filter::SocketFilter;
use warmwire_net::filter::open::{SocketOptions, Transport};
use warmwire_net::identity::Origin;
use warmwire_net::resolver::Addresses;
use warmwire_net::{Ages, Connection, Identity, Key, NetError, Wish};

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
        host: "host.test",
        port: list[0].port(),
        addresses: &Addresses { list },
        local_hosts: &[],
        transport: Transport::Tcp,
        options: &SocketOptions::default(),
        callbacks: None,
        attempt_delay: Duration::from_millis(200),
        favourite: None,
        tell: None,
        started,
        deadline: deadline.map(|d| started + d),
        owner: 1,
    };
    connect(&reactor, &request, &at_once).await
}

pub fn identity(port: u16) -> Key {
    of_host("host.test", port)
}

pub fn of_host(host: &str, port: u16) -> Key {
    Key::from(Identity { scheme: "http".into(), origin: Origin::new(host, port), ..Identity::default() })
}

/// A wish as a usual handle has it.
pub fn wish(identity: &Key) -> Wish<'_> {
    Wish { identity, fresh: false, streams: false, patient: false, ages: Ages::default(), owner: 1 }
}

/// A fresh connection to that address, for that identity.
pub async fn open(reactor: Arc<Reactor>, identity: Key, to: SocketAddr) -> Connection {
    let made = dial(reactor.clone(), vec![to], None).await.unwrap();
    let endpoints = made.endpoints;
    Connection::new(identity, Box::new(SocketFilter::new(made.socket)), endpoints, reactor.now())
}

pub fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A port on which nobody listens.
pub fn dead_port() -> SocketAddr {
    listener().1
}
