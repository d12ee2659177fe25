//! A scripted HTTP/3 server on its own thread; QUIC is quinn-proto's.

use std::collections::{HashMap, VecDeque};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, IdleTimeout,
    RandomConnectionIdGenerator, ServerConfig, StreamId, TransportConfig, VarInt,
};
use testkit::certs::Leaf;
use wire::h3::{Field, control_stream, data_header, headers};

/// The server's action for each request, in order; further requests get a small response.
#[derive(Clone)]
pub enum Answer {
    /// A reply with a body of so many bytes, once the request is whole.
    Body(usize),
    /// These bytes, and no end.
    Raw(Vec<u8>),
    /// These bytes, once the request is whole.
    Whole(Vec<u8>),
    /// The beginning of a reply, then a reset with this code.
    Reset(u64),
    /// Refuses the request's body, and responds without waiting for it.
    Stop(u64),
    Silence,
}

/// An action that affects all clients.
pub enum Order {
    /// New keys (RFC 9001 §6).
    UpdateKeys,
    /// A goodbye: no request from this one on (RFC 9114 §5.2).
    GoAway(u64),
    /// Loses all state: the next packet is answered with a stateless reset (RFC 9000 §10.3).
    Forget,
}

#[derive(Default)]
pub struct Habits {
    pub answers: Vec<Answer>,
    /// A token proves the client's address first (RFC 9000 §8.1.2).
    pub retry: bool,
    /// Versions other than the usual.
    pub versions: Option<Vec<u32>>,
    pub idle: Option<Duration>,
    pub streams: Option<u32>,
}

pub struct Peer {
    pub address: SocketAddr,
    orders: Sender<(Order, Sender<()>)>,
    thread: Option<JoinHandle<Observations>>,
}

/// Observations about its clients.
#[derive(Default, Debug)]
pub struct Observations {
    pub addresses: Vec<SocketAddr>,
    pub received: usize,
    /// Bytes of replies that its clients gave room for.
    pub sent: usize,
    /// Bytes of the streams in one direction that its clients opened.
    pub unidirectional: Vec<u8>,
}

impl Peer {
    pub fn start(habits: Habits) -> Peer {
        let socket = UdpSocket::bind(super::LOOPBACK).unwrap();
        let address = socket.local_addr().unwrap();
        let (orders, given) = channel();
        let thread = std::thread::spawn(move || Server::new(socket, habits).run(&given));
        Peer { address, orders, thread: Some(thread) }
    }

    /// Returns when the order has been carried out: later packets meet a server that has obeyed.
    pub fn order(&self, order: Order) {
        let (done, obeyed) = channel();
        self.orders.send((order, done)).unwrap();
        obeyed.recv().unwrap();
    }

    /// Ends the server and returns its observations.
    pub fn end(mut self) -> Observations {
        drop(std::mem::replace(&mut self.orders, channel().0));
        self.thread.take().unwrap().join().unwrap()
    }
}

struct Server {
    socket: UdpSocket,
    habits: Habits,
    answers: VecDeque<Answer>,
    config: Arc<EndpointConfig>,
    endpoint: Endpoint,
    clients: HashMap<ConnectionHandle, Client>,
    seen: Observations,
}

struct Client {
    connection: Connection,
    control: Option<StreamId>,
    streams: HashMap<StreamId, Stream>,
    unidirectional: Vec<StreamId>,
    closed: bool,
    /// It sends from another address, where nothing was sent to yet.
    has_moved: bool,
}

#[derive(Default)]
struct Stream {
    answer: Option<Answer>,
    /// The end of the request has arrived.
    whole: bool,
    begun: bool,
    out: Vec<u8>,
    ends: bool,
}

fn server_config(habits: &Habits) -> ServerConfig {
    let leaf = Leaf::self_signed();
    let mut crypto = (*leaf.server_config().unwrap()).clone();
    crypto.alpn_protocols = vec![b"h3".to_vec()];
    crypto.max_early_data_size = u32::MAX;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(crypto).unwrap()));
    let mut transport = TransportConfig::default();
    transport.max_concurrent_bidi_streams(habits.streams.unwrap_or(100).into());
    transport.max_idle_timeout(habits.idle.map(|idle| IdleTimeout::try_from(idle).unwrap()));
    config.transport_config(Arc::new(transport));
    config
}

impl Server {
    fn new(socket: UdpSocket, mut habits: Habits) -> Server {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[7; 64]);
        let mut config = EndpointConfig::new(Arc::new(key));
        // Its next life must know them for its own.
        config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(8)));
        if let Some(versions) = habits.versions.take() {
            config.supported_versions(versions);
        }
        let config = Arc::new(config);
        let endpoint = Endpoint::new(config.clone(), Some(Arc::new(server_config(&habits))), true, None);
        let answers = habits.answers.drain(..).collect();
        let (clients, seen) = (HashMap::new(), Observations::default());
        Server { socket, habits, answers, config, endpoint, clients, seen }
    }

    /// Runs until no orders can come any more.
    fn run(mut self, orders: &Receiver<(Order, Sender<()>)>) -> Observations {
        let mut buf = vec![0; 65_536];
        self.socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        loop {
            match orders.try_recv() {
                Ok((order, done)) => {
                    self.obey(&order);
                    done.send(()).unwrap();
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return self.seen,
            }
            match self.socket.recv_from(&mut buf) {
                Ok((n, from)) => self.receive(from, &buf[..n]),
                Err(e) => assert!(matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{e}"),
            }
            self.serve();
        }
    }

    fn obey(&mut self, order: &Order) {
        match order {
            Order::UpdateKeys => {
                self.clients.values_mut().for_each(|client| client.connection.force_key_update())
            }
            Order::GoAway(from) => {
                for client in self.clients.values_mut() {
                    let frame = [7, 1, *from as u8];
                    client.connection.send_stream(client.control.unwrap()).write(&frame).unwrap();
                }
            }
            Order::Forget => {
                self.clients.clear();
                let crypto = Arc::new(server_config(&self.habits));
                self.endpoint = Endpoint::new(self.config.clone(), Some(crypto), true, None);
            }
        }
    }

    fn receive(&mut self, from: SocketAddr, bytes: &[u8]) {
        if !self.seen.addresses.contains(&from) {
            self.seen.addresses.push(from);
        }
        let (now, mut out) = (Instant::now(), Vec::new());
        match self.endpoint.handle(now, from, None, None, BytesMut::from(bytes), &mut out) {
            Some(DatagramEvent::NewConnection(incoming)) if self.habits.retry && incoming.may_retry() => {
                let transmit = self.endpoint.retry(incoming, &mut out).unwrap();
                self.socket.send_to(&out[..transmit.size], from).unwrap();
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut out, None);
                let Ok((handle, connection)) = accepted.map_err(|e| e.cause) else { return };
                let client = Client {
                    connection,
                    control: None,
                    streams: HashMap::new(),
                    unidirectional: Vec::new(),
                    closed: false,
                    has_moved: false,
                };
                self.clients.insert(handle, client);
            }
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(client) = self.clients.get_mut(&handle) {
                    let before = client.connection.remote_address();
                    client.connection.handle_event(event);
                    client.has_moved |= client.connection.remote_address() != before;
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.socket.send_to(&out[..transmit.size], from).unwrap();
            }
            None => {}
        }
    }

    fn serve(&mut self) {
        let now = Instant::now();
        for (handle, client) in &mut self.clients {
            // quinn-proto 0.11.19 keeps the old path's timer for lost packets when a client moves. A debug
            // assertion fails if that expires before anything is in flight on the new path.
            while !client.has_moved && client.connection.poll_timeout().is_some_and(|at| at <= now) {
                client.connection.handle_timeout(now);
            }
            while let Some(event) = client.connection.poll() {
                client.closed |= matches!(event, quinn_proto::Event::ConnectionLost { .. });
            }
            if !client.closed && !client.connection.is_handshaking() {
                client.serve(&mut self.answers, &mut self.seen);
            }
            while let Some(event) = client.connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    client.connection.handle_event(event);
                }
            }
            let mut out = Vec::new();
            while let Some(transmit) = client.connection.poll_transmit(now, 1, &mut out) {
                let _ = self.socket.send_to(&out[..transmit.size], transmit.destination);
                client.has_moved &= transmit.destination != client.connection.remote_address();
                out.clear();
            }
        }
    }
}

impl Client {
    fn serve(&mut self, answers: &mut VecDeque<Answer>, seen: &mut Observations) {
        if self.control.is_none() {
            self.control = self.connection.streams().open(Dir::Uni);
            let [settings, ..] = control_stream(false);
            self.connection.send_stream(self.control.unwrap()).write(&settings).unwrap();
        }
        while let Some(id) = self.connection.streams().accept(Dir::Uni) {
            self.unidirectional.push(id);
        }
        for id in &self.unidirectional {
            let mut receiving = self.connection.recv_stream(*id);
            let Ok(mut chunks) = receiving.read(true) else { continue };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                seen.unidirectional.extend_from_slice(&chunk.bytes);
            }
            let _ = chunks.finalize();
        }
        while let Some(id) = self.connection.streams().accept(Dir::Bi) {
            let answer = answers.pop_front().unwrap_or(Answer::Body(10));
            self.streams.insert(id, Stream { answer: Some(answer), ..Stream::default() });
        }
        for (id, stream) in &mut self.streams {
            let mut receiving = self.connection.recv_stream(*id);
            if let Ok(mut chunks) = receiving.read(true) {
                loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => seen.received += chunk.bytes.len(),
                        Ok(None) => stream.whole = true,
                        Err(_) => {}
                    }
                    if stream.whole || chunks.next(0).is_err() {
                        break;
                    }
                }
                let _ = chunks.finalize();
            }
            seen.sent += stream.answer(&mut self.connection, *id);
        }
    }
}

impl Stream {
    /// How many bytes there was room for.
    fn answer(&mut self, connection: &mut Connection, id: StreamId) -> usize {
        let mut sent = 0;
        let at_once = matches!(self.answer, Some(Answer::Stop(_) | Answer::Raw(_) | Answer::Reset(_)));
        if !self.begun && (self.whole || at_once) {
            self.begun = true;
            match self.answer.clone().unwrap() {
                Answer::Body(size) => (self.out, self.ends) = (reply(size), true),
                Answer::Raw(bytes) => self.out = bytes,
                Answer::Whole(bytes) => (self.out, self.ends) = (bytes, true),
                Answer::Reset(_) => self.out = reply(100)[..40].to_vec(),
                Answer::Stop(code) => {
                    connection.recv_stream(id).stop(VarInt::from_u64(code).unwrap()).unwrap();
                    (self.out, self.ends) = (reply(10), true);
                }
                Answer::Silence => {}
            }
        }
        if !self.out.is_empty()
            && let Ok(n) = connection.send_stream(id).write(&self.out)
        {
            self.out.drain(..n);
            sent = n;
        }
        if self.begun && self.out.is_empty() {
            if let Some(Answer::Reset(code)) = self.answer.take() {
                connection.send_stream(id).reset(VarInt::from_u64(code).unwrap()).unwrap();
            }
            if std::mem::take(&mut self.ends) {
                let _ = connection.send_stream(id).finish();
            }
        }
        sent
    }
}

/// A head of that status, or trailers.
pub fn head(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    headers(
        &mut out,
        fields.iter().map(|(name, value)| Field {
            name: name.as_bytes(),
            value: value.as_bytes(),
            sensitive: false,
        }),
    );
    out
}

/// A reply of status 200 with a body of sevens.
pub fn reply(size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(head(&[(":status", "200")]));
    data_header(&mut out, size);
    out.resize(out.len() + size, 7);
    out
}
