//! HTTP/3 on a QUIC connection, with a server whose QUIC is valid and which sends anything on it, as one
//! function of bytes, with the properties that hold for any input. The fuzz target runs it under libFuzzer,
//! crates/net/tests/quic_mutations.rs on mutated seeds.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::net::{SocketAddr, UdpSocket};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::BytesMut;
use net::connect::{ConnectRequest, Through, connect};
use net::exchange::BodyStep;
use net::filter::open::{SocketOptions, Transport};
use net::http3::{Http3, Opening, Parked, Stream, StreamError};
use net::quic::{Established, Purpose, QuicRequest, shake_hands};
use net::resolver::Candidates;
use net::session::Buffer;
use net::tls::handshake;
use net::tls::{SessionStore, TlsConfig};
use net::{Connection, ConnectionKey, HashedKey};
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, ServerConfig, StreamId, VarInt,
};
use runtime::{Clock, Runtime};
use testkit::certs::Leaf;
use wire::h3::Field;

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[("quic_session", session)];

/// Requests of the client.
const REQUESTS: usize = 4;
/// A turn of either side takes no time: what is not finished after this many hangs.
const TURNS: usize = 2000;

/// A session, and a server that is controlled by the bytes: each step is an octet for the action, one for the
/// stream, one for the number of octets that belong to it, and these octets. In the end the server closes the
/// connection, and every stream of the client must have ended.
pub fn session(input: &[u8]) {
    outcome(input);
}

/// Runs `session` and returns how many bytes of bodies arrived, and how streams failed.
pub fn outcome(input: &[u8]) -> (usize, Vec<String>) {
    let mut server = Server::new();
    let runtime = Rc::new(Runtime::new(Clock::system()));
    let client = Rc::new(RefCell::new(Client::default()));
    runtime.spawn(Box::pin(ask(runtime.clone(), server.address, client.clone())));
    let turn = |server: &mut Server| {
        server.turn();
        runtime.perform().expect("a reactor");
    };
    let mut turns = 0;
    while !server.is_asked() {
        turn(&mut server);
        turns += 1;
        assert!(turns < TURNS, "no connection");
    }
    let mut rest = input;
    while let [what, stream, length, behind @ ..] = rest {
        let (bytes, behind) = behind.split_at(usize::from(*length).min(behind.len()));
        server.act(what % 8, usize::from(*stream), bytes);
        turn(&mut server);
        rest = behind;
    }
    for _ in 0..8 {
        turn(&mut server);
    }
    server.close();
    let mut turns = 0;
    while client.borrow().ended < REQUESTS {
        turn(&mut server);
        turns += 1;
        assert!(turns < TURNS, "a stream hangs");
    }
    let Client { received, faults, .. } = client.take();
    assert!(received <= server.written, "{received} bytes of {}", server.written);
    assert!(faults.iter().all(|fault| !fault.contains("fault of ours")), "{faults:?}");
    (received, faults)
}

/// The data that the client has received.
#[derive(Default)]
struct Client {
    ended: usize,
    received: usize,
    faults: Vec<String>,
}

/// Connects and asks, half of the requests with a body.
async fn ask(runtime: Rc<Runtime>, to: SocketAddr, client: Rc<RefCell<Client>>) {
    let tls = TlsConfig {
        verify_peer: false,
        verify_host: false,
        alpn: vec!["h3".to_owned()],
        ..TlsConfig::default()
    };
    let tls = Arc::new(tls);
    let sessions = SessionStore::new()
        .begin(handshake::Server::new(&tls, "localhost", to.port()))
        .expect("a configuration");
    let reactor = runtime.reactor();
    let connecting = ConnectRequest {
        place: &"localhost",
        protocols: &[],
        needs_record: false,
        local_hosts: &[],
        transport: Transport::Udp,
        options: &SocketOptions::default(),
        callbacks: None,
        attempt_delay: std::time::Duration::from_millis(200),
        favourite: None,
        report: None,
        started: reactor.now(),
        deadline: None,
        owner: 1,
    };
    let request = QuicRequest {
        host: "localhost",
        port: to.port(),
        tls: &tls,
        sessions: &sessions,
        early: false,
        purpose: Purpose::Streams,
        qlog: None,
    };
    let stage =
        |connected| -> Through<'_, Established> { Box::pin(shake_hands(reactor, connected, &request)) };
    let mut candidates = Candidates::known(&[to], reactor.now());
    let won = connect(reactor, &connecting, &mut candidates, &stage).await;
    let Ok(Established { mut quic, endpoints, .. }) = won else { panic!("no connection") };
    let parked = Parked::new(&mut quic.machine);
    let key = HashedKey::from(ConnectionKey::default());
    let connection = Connection::new(key, Box::new(quic), endpoints, reactor.now());
    let (http3, driver) = Http3::resume(Box::new(connection), Some(parked), reactor, Buffer::default());
    runtime.spawn(Box::pin(async move { drop(driver.await) }));
    let fields: [(&[u8], &[u8]); 4] =
        [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"localhost"), (b":path", b"/")];
    for number in 0..REQUESTS {
        let fields = fields.map(|(name, value)| Field { name, value, sensitive: false });
        let opening = Opening { end: number % 2 == 0, head_only: false };
        let stream = http3.open(fields, opening).expect("the peer allows many");
        let client = client.clone();
        runtime.spawn(Box::pin(async move {
            let outcome = exchange(stream, number % 2 == 1, &client).await;
            let mut client = client.borrow_mut();
            client.ended += 1;
            client.faults.extend(outcome.err().map(|fault| format!("{fault:?}")));
        }));
    }
}

async fn exchange(mut stream: Stream, sends: bool, client: &RefCell<Client>) -> Result<(), StreamError> {
    if sends {
        poll_fn(|cx| stream.poll_room(cx)).await?;
        let _ = stream.queue(&[7; 2000]);
        stream.end();
    }
    let mut buf = [0; 3000];
    while poll_fn(|cx| stream.poll_head(cx)).await?.status < 200 {}
    while let BodyStep::Bytes(n) = poll_fn(|cx| stream.poll_body(cx, &mut buf)).await? {
        client.borrow_mut().received += n;
    }
    drop(stream.take_trailers());
    Ok(())
}

struct Server {
    socket: UdpSocket,
    address: SocketAddr,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, quinn_proto::Connection)>,
    client: Option<SocketAddr>,
    /// The client's requests, and the streams that were opened here.
    asked: Vec<StreamId>,
    opened: Vec<StreamId>,
    /// Data that waits for room.
    queued: HashMap<StreamId, Vec<u8>>,
    written: usize,
    /// XORed into the next datagram.
    spoils: Vec<u8>,
}

/// Made once: keys are dear.
fn configuration() -> Arc<ServerConfig> {
    static MADE: OnceLock<Arc<ServerConfig>> = OnceLock::new();
    MADE.get_or_init(|| {
        let leaf = Leaf::self_signed();
        let mut crypto = (*leaf.server_config().expect("a leaf")).clone();
        crypto.alpn_protocols = vec![b"h3".to_vec()];
        let crypto = QuicServerConfig::try_from(crypto).expect("TLS 1.3");
        Arc::new(ServerConfig::with_crypto(Arc::new(crypto)))
    })
    .clone()
}

impl Server {
    fn new() -> Server {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_nonblocking(true).expect("a socket");
        let address = socket.local_addr().expect("an address");
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), Some(configuration()), true, None);
        Server {
            socket,
            address,
            endpoint,
            connection: None,
            client: None,
            asked: Vec::new(),
            opened: Vec::new(),
            queued: HashMap::new(),
            written: 0,
            spoils: Vec::new(),
        }
    }

    fn is_asked(&self) -> bool {
        self.asked.len() == REQUESTS
    }

    /// Receives, writes what there is room for, and sends.
    fn turn(&mut self) {
        let (now, mut buf, mut out) = (Instant::now(), [0; 4096], Vec::new());
        while let Ok((n, from)) = self.socket.recv_from(&mut buf) {
            self.client = Some(from);
            match self.endpoint.handle(now, from, None, None, BytesMut::from(&buf[..n]), &mut out) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = self.endpoint.accept(incoming, now, &mut out, None);
                    self.connection = accepted.ok();
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_event(event);
                    }
                }
                _ => {}
            }
            out.clear();
        }
        let Some((handle, connection)) = &mut self.connection else { return };
        while connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll() {
            drop::<Event>(event);
        }
        self.asked.extend(std::iter::from_fn(|| connection.streams().accept(Dir::Bi)));
        self.asked.iter().for_each(|id| take_all(connection, *id));
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            take_all(connection, id);
        }
        for (id, bytes) in &mut self.queued {
            if let Ok(n) = connection.send_stream(*id).write(bytes) {
                bytes.drain(..n);
            }
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut out) {
            let spoils = std::mem::take(&mut self.spoils);
            out.iter_mut().zip(spoils).for_each(|(byte, with)| *byte ^= with);
            let _ = self.socket.send_to(&out[..transmit.size], transmit.destination);
            out.clear();
        }
    }

    fn act(&mut self, what: u8, which: usize, bytes: &[u8]) {
        let Some((_, connection)) = &mut self.connection else { return };
        let asked = self.asked[which % self.asked.len()];
        let code = VarInt::from_u32(0x100 + u32::try_from(bytes.len()).unwrap_or(0));
        match what {
            // On a request's stream, or on one that the server opens: the first of those should be the
            // control stream.
            0 | 1 => self.write(asked, bytes),
            2 => {
                if self.opened.len() <= which % 4
                    && let Some(id) = connection.streams().open(Dir::Uni)
                {
                    self.opened.push(id);
                }
                if let Some(id) = self.opened.get(which % 4).copied() {
                    self.write(id, bytes);
                }
            }
            3 => drop(connection.send_stream(asked).finish()),
            4 => drop(connection.send_stream(asked).reset(code)),
            5 => drop(connection.recv_stream(asked).stop(code)),
            6 => {
                let client = self.client.expect("it has asked");
                let _ = self.socket.send_to(bytes, client);
            }
            _ => self.spoils = bytes.to_vec(),
        }
    }

    fn write(&mut self, id: StreamId, bytes: &[u8]) {
        self.written += bytes.len();
        self.queued.entry(id).or_default().extend_from_slice(bytes);
    }

    fn close(&mut self) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(Instant::now(), VarInt::from_u32(0x100), bytes::Bytes::new());
        }
    }
}

/// Reads and ignores what arrived.
fn take_all(connection: &mut quinn_proto::Connection, id: StreamId) {
    let mut stream = connection.recv_stream(id);
    if let Ok(mut chunks) = stream.read(true) {
        while let Ok(Some(_)) = chunks.next(usize::MAX) {}
        let _ = chunks.finalize();
    }
}
