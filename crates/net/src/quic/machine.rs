//! One client-side QUIC connection as a state machine: datagrams and the time go in, datagrams and events
//! come out.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, IdleTimeout, PathStats, ReadError, SendDatagramError, StreamEvent, StreamId,
    TransportConfig, TransportError, TransportErrorCode, VarInt, WriteError,
};

use super::early::Early;
use super::terms::{Purpose, SendOutcome};
use super::tls::{HandshakeFacts, Hello};
use super::window::{self, Window};
use crate::filter::udp::Batch;
use runtime::stack::with_room;

use crate::{NetError, NetErrorKind};

/// The largest datagram accepted, as announced to the peer: the payload of an Ethernet frame over IPv4.
pub const DATAGRAM: usize = 1472;
/// Limit of unacknowledged data, on all streams together.
const SEND_WINDOW: u64 = 8 << 20;
/// Unused for longer than this, a connection is over (curl's own).
const IDLE: Duration = Duration::from_secs(60);
/// No keep-alive for a peer whose idle timeout is shorter than twice this.
const LEAST_SILENCE: Duration = Duration::from_millis(500);
/// Datagrams that one system call sends: no more than 64 KiB.
const BATCH: usize = 44;
/// Number of streams that the peer may open: its control stream, two for header compression, and some of
/// unknown types.
const PEERS_STREAMS: u32 = 16;

/// Limit of queued payloads of tunnelled datagrams, in each direction.
const DATAGRAMS: usize = 1 << 20;
/// Initial MTU if datagrams of 1,200 bytes have to fit into ours: the first ones of a tunnelled QUIC
/// connection (RFC 9000 §14.1). A smaller path MTU is detected.
const FOR_DATAGRAMS: u16 = 1350;

/// The code of a stream that is not needed any more, whatever protocol uses it (RFC 9114 §8.1:
/// H3_REQUEST_CANCELLED).
const CANCELLED: u64 = 0x10c;

/// A connection.
pub struct Machine {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    peer: SocketAddr,
    /// Datagrams of one size, the last perhaps shorter, that wait for the socket.
    out: Vec<u8>,
    size: usize,
    ecn: u8,
    /// Whether reading has made room that has to be announced to the peer.
    stirred: bool,
    lost: Option<ConnectionError>,
    /// When the peer was last heard or probed, and how long silence may last while the connection is driven.
    heard: Instant,
    silence: Option<Duration>,
    window: Window,
    /// Early data, until the server has accepted it.
    early: Option<Early>,
    /// Bytes of it that the server accepted; negative if it refused them.
    taken_early: i64,
    /// Whether it panicked: its state is unusable.
    broken: bool,
    purpose: Purpose,
}

/// The result of reading from a stream.
#[derive(Debug)]
pub enum Readable {
    Bytes(Bytes),
    /// All has been read.
    End,
    /// Reset by the peer, with a code of the protocol above.
    Reset(u64),
    /// Nothing yet.
    Blocked,
}

impl Machine {
    /// Starts a connection to a server of this name. It is built where the stack has room: it is large until
    /// it is on the heap, and so are the frames that compute the keys for its hello.
    pub fn connect(
        hello: Arc<Hello>,
        peer: SocketAddr,
        name: &str,
        purpose: Purpose,
        now: Instant,
    ) -> Result<Box<Machine>, NetError> {
        with_room(|| Machine::new(hello, peer, name, purpose, now))
    }

    fn new(
        hello: Arc<Hello>,
        peer: SocketAddr,
        name: &str,
        purpose: Purpose,
        now: Instant,
    ) -> Result<Box<Machine>, NetError> {
        let mut config = EndpointConfig::default();
        let _ = config.max_udp_payload_size(DATAGRAM as u16); // RFC 9000 §18.2 allows any from 1200 on
        let mut endpoint = Endpoint::new(Arc::new(config), None, true, None);
        let window = hello.window.clone();
        let mut config = ClientConfig::new(hello);
        config.transport_config(Arc::new(transport(purpose)));
        let begun = endpoint.connect(now, config, peer, name);
        let (handle, connection) =
            begun.map_err(|e| NetError::new(NetErrorKind::QuicConnectError, e.to_string()))?;
        let early = connection.has_0rtt().then(Early::new);
        Ok(Box::new(Machine {
            endpoint,
            handle,
            connection,
            early,
            taken_early: 0,
            heard: now,
            silence: None,
            window,
            peer,
            out: Vec::new(),
            size: 0,
            ecn: 0,
            stirred: false,
            lost: None,
            broken: false,
            purpose,
        }))
    }

    /// Takes in datagrams of the peer's.
    pub fn receive(&mut self, batch: &Batch<'_>, now: Instant) {
        match self.connection.is_handshaking() {
            // Key exchange and the check of certificates take more stack than a caller may have.
            true => self.guarded((), |machine| with_room(|| machine.take_in(batch, now))),
            false => self.guarded((), |machine| machine.take_in(batch, now)),
        }
    }

    fn take_in(&mut self, batch: &Batch<'_>, now: Instant) {
        let mut answer = Vec::new(); // not used by a client
        let mut bytes = BytesMut::from(batch.bytes);
        let ecn = EcnCodepoint::from_bits(batch.ecn);
        while !bytes.is_empty() {
            let datagram = bytes.split_to(batch.size.min(bytes.len()));
            let event = self.endpoint.handle(now, self.peer, None, ecn, datagram, &mut answer);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                self.connection.handle_event(event);
                self.heard = now;
            }
        }
        self.settle();
    }

    /// Processes expired timers.
    pub fn tick(&mut self, now: Instant) {
        self.guarded((), |machine| {
            while machine.connection.poll_timeout().is_some_and(|at| at <= now) {
                machine.connection.handle_timeout(now);
            }
            machine.settle();
        });
    }

    /// Returns the time at which something is due next.
    pub fn timeout(&mut self) -> Option<Instant> {
        if self.broken { None } else { self.connection.poll_timeout() }
    }

    /// Returns when to probe the peer: while a stream is open, silence may last longer than the idle timeout
    /// (RFC 9114 §5.1, RFC 9000 §10.1.2). Half of that timeout, as in curl.
    pub fn silent_until(&self) -> Option<Instant> {
        let silence = self.silence.filter(|_| !self.is_closed())?;
        Some(self.heard + silence)
    }

    /// Asks for it, when it is time to.
    pub fn break_silence(&mut self, now: Instant) {
        if self.silent_until().is_some_and(|at| at <= now) {
            self.heard = now;
            self.ping();
        }
    }

    /// Returns the next datagrams to send, at most `most`, until [`Machine::sent`] confirms them; `None` if
    /// there are none.
    pub fn next_batch(&mut self, most: usize, now: Instant) -> Option<Batch<'_>> {
        if self.out.is_empty() {
            let transmit = self.guarded(None, |machine| {
                machine.connection.poll_transmit(now, most.min(BATCH), &mut machine.out)
            })?;
            self.size = transmit.segment_size.unwrap_or(transmit.size);
            self.ecn = transmit.ecn.map_or(0, |ecn| ecn as u8);
        }
        Some(Batch { bytes: &self.out, size: self.size, ecn: self.ecn })
    }

    /// Records that the batch was sent, or lost like others.
    pub fn sent(&mut self) {
        self.out.clear();
    }

    /// Returns the next event.
    pub fn event(&mut self) -> Option<Event> {
        if self.broken {
            return self.lost.is_none().then(|| {
                let mut error = TransportError::from(TransportErrorCode::INTERNAL_ERROR);
                error.reason = "given up after a fault of ours".to_owned();
                let reason = self.lost.insert(error.into()).clone();
                Event::ConnectionLost { reason }
            });
        }
        let event = self.connection.poll()?;
        match &event {
            Event::ConnectionLost { reason } => {
                self.lost.get_or_insert_with(|| reason.clone());
            }
            Event::Connected => {
                let idle = self
                    .handshake_facts()
                    .and_then(|facts| facts.idle)
                    .map_or(IDLE, |theirs| theirs.min(IDLE));
                self.silence = Some((idle / 2).max(LEAST_SILENCE));
                return Some(self.settle_early().unwrap_or(event));
            }
            Event::Stream(StreamEvent::Writable { .. }) => {
                self.early.take_if(|early| early.go_on(&mut self.connection));
            }
            _ => {}
        }
        Some(event)
    }

    /// Whether streams may be opened, and written to, before the handshake is over.
    pub fn may_go_ahead(&self) -> bool {
        self.early.is_some()
    }

    /// Returns the early bytes that the server accepted; negative if it refused them and they were sent
    /// again.
    pub fn taken_early(&self) -> i64 {
        self.taken_early
    }

    /// Handles the end of the handshake. Refused data is sent again; if there is no room for its streams any
    /// more, the connection fails.
    fn settle_early(&mut self) -> Option<Event> {
        let mut early = self.early.take()?;
        self.taken_early = early.amount() as i64;
        if self.connection.accepted_0rtt() {
            return None;
        }
        self.taken_early = -self.taken_early;
        if !early.say_again(&mut self.connection) {
            let reason = self.lost.insert(ConnectionError::LocallyClosed).clone();
            return Some(Event::ConnectionLost { reason });
        }
        self.early = Some(early).filter(|early| !early.is_done());
        None
    }

    /// Returns statistics of the path to the peer.
    pub fn path(&self) -> PathStats {
        self.connection.stats().path
    }

    /// Why it ended, if it has.
    pub fn lost(&self) -> Option<&ConnectionError> {
        self.lost.as_ref()
    }

    /// Whether it is over, or about to be.
    pub fn is_closed(&self) -> bool {
        self.broken || self.lost.is_some() || self.connection.is_closed()
    }

    /// Returns the facts about the handshake.
    pub fn handshake_facts(&self) -> Option<HandshakeFacts> {
        let facts = self.connection.crypto_session().handshake_data()?;
        facts.downcast().ok().map(|facts| *facts)
    }

    /// Opens a stream; `None` when the peer allows no more now.
    pub fn open(&mut self, dir: Dir) -> Option<StreamId> {
        if self.broken {
            return None;
        }
        let stream = self.connection.streams().open(dir)?;
        self.early.iter_mut().for_each(|early| early.opened(stream));
        Some(stream)
    }

    /// Returns the next unidirectional stream that the peer has opened.
    pub fn accept(&mut self) -> Option<StreamId> {
        if self.broken {
            return None;
        }
        self.connection.streams().accept(Dir::Uni)
    }

    /// Sets the number of our open streams, which share the limit of unread data.
    pub fn share_window(&self, streams: usize) {
        self.window.share(streams);
    }

    /// Reads from a stream, in pieces of at most `most` bytes. This makes room for more.
    pub fn read(&mut self, stream: StreamId, most: usize) -> Readable {
        if self.broken {
            return Readable::Blocked;
        }
        let mut receiving = self.connection.recv_stream(stream);
        let Ok(mut chunks) = receiving.read(true) else { return Readable::End };
        let readable = match chunks.next(most) {
            Ok(Some(chunk)) => Readable::Bytes(chunk.bytes),
            Ok(None) => Readable::End,
            Err(ReadError::Blocked) => Readable::Blocked,
            Err(ReadError::Reset(code)) => Readable::Reset(code.into_inner()),
        };
        self.stirred |= chunks.finalize().should_transmit();
        readable
    }

    /// Returns whether reading since the last call has to be announced to the peer.
    pub fn take_stirred(&mut self) -> bool {
        std::mem::take(&mut self.stirred)
    }

    /// Queues bytes on a stream: how many there was room for; an error is the peer's reason why it wants
    /// none.
    pub fn write(&mut self, stream: StreamId, bytes: &[u8]) -> Result<usize, u64> {
        if self.broken {
            return Ok(0);
        }
        let room = self.early.as_mut().map_or(usize::MAX, |early| early.room(stream));
        if room == 0 {
            return Ok(0);
        }
        match self.connection.send_stream(stream).write(&bytes[..bytes.len().min(room)]) {
            Ok(n) => {
                self.early.iter_mut().for_each(|early| early.record(stream, &bytes[..n]));
                Ok(n)
            }
            Err(WriteError::Blocked) => Ok(0),
            Err(WriteError::Stopped(code)) => Err(code.into_inner()),
            Err(WriteError::ClosedStream) => Err(CANCELLED),
        }
    }

    /// Ends our side of a stream.
    pub fn finish(&mut self, stream: StreamId) {
        if self.broken {
            return;
        }
        if self.early.as_mut().is_none_or(|early| early.finished(stream)) {
            let _ = self.connection.send_stream(stream).finish(); // the peer may have stopped it
        }
    }

    /// Whether the peer has all that was sent on a stream up to its end.
    pub fn has_arrived(&mut self, stream: StreamId) -> bool {
        self.broken || self.connection.send_stream(stream).stopped().is_err()
    }

    /// Abandons a stream in both directions.
    pub fn abandon(&mut self, stream: StreamId, code: u64) {
        if self.broken {
            return;
        }
        self.stop(stream, code);
        self.early.iter_mut().for_each(|early| early.reset(stream, code_of(code)));
        let _ = self.connection.send_stream(stream).reset(code_of(code)); // it may have ended
    }

    /// Tells the peer to stop sending on a stream.
    pub fn stop(&mut self, stream: StreamId, code: u64) {
        if self.broken {
            return;
        }
        self.early.iter_mut().for_each(|early| early.stopped(stream, code_of(code)));
        let _ = self.connection.recv_stream(stream).stop(code_of(code)); // it may have ended
    }

    /// Whether datagrams of the peer's are taken.
    pub fn takes_datagrams(&self) -> bool {
        self.purpose == Purpose::Datagrams
    }

    /// Sends a datagram beside the streams (RFC 9221).
    pub fn send_datagram(&mut self, datagram: Vec<u8>) -> SendOutcome {
        if self.broken {
            return SendOutcome::Blocked;
        }
        match self.connection.datagrams().send(datagram.into(), false) {
            Ok(()) => SendOutcome::Yes,
            Err(SendDatagramError::Blocked(_)) => SendOutcome::Blocked,
            Err(_) => SendOutcome::TooLarge,
        }
    }

    /// Returns the next received datagram.
    pub fn receive_datagram(&mut self) -> Option<Bytes> {
        if self.broken { None } else { self.connection.datagrams().recv() }
    }

    /// Ends everything, with a code of the protocol above; one datagram says so.
    pub fn close(&mut self, code: u64, why: &'static str, now: Instant) {
        if self.broken {
            return;
        }
        self.connection.close(now, code_of(code), Bytes::from_static(why.as_bytes()));
    }

    /// Records that our address has changed.
    pub fn address_changed(&mut self) {
        self.connection.local_address_changed();
    }

    /// Asks for a sign of life.
    pub fn ping(&mut self) {
        self.connection.ping();
    }

    /// Runs code of others on a peer's input. If it panics, this connection ends, and other connections
    /// continue. Nothing in there calls an application.
    fn guarded<T>(&mut self, otherwise: T, f: impl FnOnce(&mut Machine) -> T) -> T {
        if self.broken {
            return otherwise;
        }
        catch_unwind(AssertUnwindSafe(|| f(self))).unwrap_or_else(|_| {
            (self.broken, self.out) = (true, Vec::new());
            otherwise
        })
    }

    #[cfg(test)]
    pub fn panic_for_tests(&mut self) {
        self.guarded((), |_| panic!("a panic of a dependency's, for a test"));
    }

    /// Exchanges pending events between the two halves of the machine.
    fn settle(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
    }
}

fn transport(purpose: Purpose) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(0_u32.into())
        .max_concurrent_uni_streams(PEERS_STREAMS.into())
        .stream_receive_window(window::STREAM.into())
        // An unread stream must not block the others: the total is bounded by the windows of the streams.
        .receive_window(VarInt::MAX)
        .send_window(SEND_WINDOW)
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .datagram_receive_buffer_size(None);
    if purpose == Purpose::Datagrams {
        transport
            .datagram_receive_buffer_size(Some(DATAGRAMS))
            .datagram_send_buffer_size(DATAGRAMS)
            .initial_mtu(FOR_DATAGRAMS);
    }
    transport
}

fn code_of(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}
