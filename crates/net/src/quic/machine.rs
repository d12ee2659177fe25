//! One QUIC connection as a client has it: datagrams and the time go in, datagrams and what happened come out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, IdleTimeout, ReadError, StreamId, TransportConfig, VarInt, WriteError,
};

use crate::{NetError, NetErrorKind};

/// What a stream may hold that nobody has read; a paused one holds no more.
const STREAM_WINDOW: u32 = 2 << 20;
/// What is kept until the peer has acknowledged it, on all streams together.
const SEND_WINDOW: u64 = 8 << 20;
/// Unused for longer than this, a connection is over (curl's own).
const IDLE: Duration = Duration::from_secs(60);
/// Datagrams that one system call sends.
const BATCH: usize = 10;
/// What the peer opens: its control stream and two for header compression, and some that nobody knows.
const PEERS_STREAMS: u32 = 16;

/// The code of a stream that nobody wants any more, whatever runs on it (RFC 9114 §8.1: H3_REQUEST_CANCELLED).
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
    sent: usize,
    lost: Option<ConnectionError>,
}

/// What a look at a stream has found.
#[derive(Debug)]
pub enum Readable {
    Bytes(Bytes),
    /// All has been read.
    End,
    /// Given up by the peer, for a reason of the protocol above.
    Reset(u64),
    /// Nothing yet.
    Blocked,
}

impl Machine {
    /// Begins a connection to a server of this name.
    pub fn connect(
        crypto: Arc<dyn quinn_proto::crypto::ClientConfig>,
        peer: SocketAddr,
        name: &str,
        now: Instant,
    ) -> Result<Machine, NetError> {
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
        let mut config = ClientConfig::new(crypto);
        config.transport_config(Arc::new(transport()));
        let begun = endpoint.connect(now, config, peer, name);
        let (handle, connection) =
            begun.map_err(|e| NetError::new(NetErrorKind::QuicConnectError, e.to_string()))?;
        Ok(Machine { endpoint, handle, connection, peer, out: Vec::new(), size: 0, sent: 0, lost: None })
    }

    /// Takes in a datagram of the peer's.
    pub fn receive(&mut self, datagram: &[u8], now: Instant) {
        let mut answer = Vec::new();
        let data = BytesMut::from(datagram);
        let event = self.endpoint.handle(now, self.peer, None, None, data, &mut answer);
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
            self.connection.handle_event(event);
        }
        self.settle();
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Instant) {
        while self.connection.poll_timeout().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
        self.settle();
    }

    /// When something is due next.
    pub fn timeout(&mut self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    /// The next datagram to be sent, until [`Machine::datagram_sent`] says that it was; none when there is nothing to say.
    pub fn next_datagram(&mut self, now: Instant) -> Option<&[u8]> {
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
            let transmit = self.connection.poll_transmit(now, BATCH, &mut self.out)?;
            self.size = transmit.segment_size.unwrap_or(transmit.size);
        }
        let end = (self.sent + self.size).min(self.out.len());
        Some(&self.out[self.sent..end])
    }

    /// That datagram has left, or was lost as others are.
    pub fn datagram_sent(&mut self) {
        self.sent = (self.sent + self.size).min(self.out.len());
    }

    /// What has happened next.
    pub fn event(&mut self) -> Option<Event> {
        let event = self.connection.poll()?;
        if let Event::ConnectionLost { reason } = &event {
            self.lost.get_or_insert_with(|| reason.clone());
        }
        Some(event)
    }

    /// Why it ended, if it has.
    pub fn lost(&self) -> Option<&ConnectionError> {
        self.lost.as_ref()
    }

    /// Whether it is over, or about to be.
    pub fn is_closed(&self) -> bool {
        self.lost.is_some() || self.connection.is_closed()
    }

    /// What the handshake has agreed on with ALPN.
    pub fn protocol(&self) -> Option<Vec<u8>> {
        let data = self.connection.crypto_session().handshake_data()?;
        data.downcast::<quinn_proto::crypto::rustls::HandshakeData>().ok()?.protocol
    }

    /// The server's chain in DER, its own certificate first.
    pub fn peer_certificates(&self) -> Vec<Vec<u8>> {
        let identity = self.connection.crypto_session().peer_identity();
        let chain =
            identity.and_then(|any| any.downcast::<Vec<rustls::pki_types::CertificateDer<'static>>>().ok());
        chain.map_or(Vec::new(), |chain| chain.iter().map(|der| der.to_vec()).collect())
    }

    /// Opens a stream; `None` when the peer allows no more now.
    pub fn open(&mut self, dir: Dir) -> Option<StreamId> {
        self.connection.streams().open(dir)
    }

    /// The next stream that the peer has opened to talk to us alone.
    pub fn accept(&mut self) -> Option<StreamId> {
        self.connection.streams().accept(Dir::Uni)
    }

    /// What has come on a stream, in pieces of at most `most` bytes. It makes room for more.
    pub fn read(&mut self, stream: StreamId, most: usize) -> Readable {
        let mut receiving = self.connection.recv_stream(stream);
        let Ok(mut chunks) = receiving.read(true) else { return Readable::End };
        let readable = match chunks.next(most) {
            Ok(Some(chunk)) => Readable::Bytes(chunk.bytes),
            Ok(None) => Readable::End,
            Err(ReadError::Blocked) => Readable::Blocked,
            Err(ReadError::Reset(code)) => Readable::Reset(code.into_inner()),
        };
        let _ = chunks.finalize(); // whoever drives asks for datagrams anyway
        readable
    }

    /// Queues bytes on a stream: how many there was room for; an error is the peer's reason why it wants none.
    pub fn write(&mut self, stream: StreamId, bytes: &[u8]) -> Result<usize, u64> {
        match self.connection.send_stream(stream).write(bytes) {
            Ok(n) => Ok(n),
            Err(WriteError::Blocked) => Ok(0),
            Err(WriteError::Stopped(code)) => Err(code.into_inner()),
            Err(WriteError::ClosedStream) => Err(CANCELLED),
        }
    }

    /// Nothing more follows on a stream.
    pub fn finish(&mut self, stream: StreamId) {
        let _ = self.connection.send_stream(stream).finish(); // the peer may have stopped it
    }

    /// Gives a stream up in both directions.
    pub fn abandon(&mut self, stream: StreamId, code: u64) {
        self.stop(stream, code);
        let _ = self.connection.send_stream(stream).reset(code_of(code)); // it may have ended
    }

    /// Wants nothing more of a stream.
    pub fn stop(&mut self, stream: StreamId, code: u64) {
        let _ = self.connection.recv_stream(stream).stop(code_of(code)); // it may have ended
    }

    /// Ends everything, with a code of the protocol above; one datagram says so.
    pub fn close(&mut self, code: u64, why: &'static str, now: Instant) {
        self.connection.close(now, code_of(code), Bytes::from_static(why.as_bytes()));
    }

    /// Asks for a sign of life.
    pub fn ping(&mut self) {
        self.connection.ping();
    }

    /// What the two halves of the machine have to tell each other.
    fn settle(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
    }
}

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(0_u32.into())
        .max_concurrent_uni_streams(PEERS_STREAMS.into())
        .stream_receive_window(STREAM_WINDOW.into())
        // A stream that nobody reads must not stall the others: what all hold is bounded by each.
        .receive_window(VarInt::MAX)
        .send_window(SEND_WINDOW)
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .datagram_receive_buffer_size(None);
    transport
}

fn code_of(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}
