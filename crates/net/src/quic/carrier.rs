//! The carrier of a QUIC connection: the socket, and the protocol's state.

use std::io;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use quinn_proto::Event;
use runtime::{Idle, Reactor, Socket};
use wire::h3::ErrorCode;

use super::Machine;
use super::connect::{Handshake, HandshakeFailure};
use super::qlog::Log;
use crate::Carrier;
use crate::filter::udp::{Batch, Underlay};
use crate::tls::{Late, TlsInfo};

/// Maximum number of receive calls in one check: an idle peer has little to say.
const MAX_RECEIVES: usize = 64;
/// Size of the buffer in which an idle connection receives.
const IDLE_BUFFER: usize = 16 << 10;
/// Between two moves.
const MOVES: Duration = Duration::from_secs(1);

/// A connection's state, and the transport of its datagrams.
pub struct Quic {
    socket: Box<dyn Underlay>,
    pub machine: Box<Machine>,
    tls: Option<Arc<TlsInfo>>,
    /// When it moved to another local address last.
    moved: Option<Instant>,
    /// The handshake, while it is in progress and the connection is in use already.
    ahead: Option<Box<EarlyData>>,
    log: Option<Log>,
}

struct EarlyData {
    handshake: Handshake,
    late: Arc<Late>,
}

impl Quic {
    pub(super) fn new(socket: Box<dyn Underlay>, machine: Box<Machine>, log: Option<Log>) -> Quic {
        Quic { socket, machine, tls: None, moved: None, ahead: None, log }
    }

    /// The handshake has agreed on this.
    pub(super) fn agreed(&mut self, tls: TlsInfo) {
        self.tls = Some(Arc::new(tls));
    }

    /// The connection is used before its handshake is over.
    pub(super) fn go_ahead(&mut self, handshake: Handshake) {
        let late = Arc::new(OnceLock::new());
        self.agreed(TlsInfo { late: Some(late.clone()), ..handshake.expected() });
        self.ahead = Some(Box::new(EarlyData { handshake, late }));
    }

    /// Returns the next event. After early data, the result of the handshake is one.
    pub fn event(&mut self) -> Option<Event> {
        let event = self.machine.event()?;
        match &event {
            Event::Connected => self.end_handshake(None),
            Event::ConnectionLost { reason } => {
                self.end_handshake(Some(HandshakeFailure::Lost(reason.clone())));
                let now = self.now();
                self.log.iter_mut().for_each(|log| log.closed(&reason.to_string(), now));
            }
            _ => {}
        }
        Some(event)
    }

    fn end_handshake(&mut self, failed: Option<HandshakeFailure>) {
        let Some(ahead) = self.ahead.take() else { return };
        let EarlyData { handshake, late } = *ahead;
        let outcome = match failed {
            None => {
                let info = Arc::new(handshake.info(&self.machine));
                self.tls = Some(info.clone());
                Ok(info)
            }
            Some(failed) => Err(handshake.fault(self, failed).into_error()),
        };
        handshake.sessions.settle(outcome.is_ok());
        let _ = late.set(outcome); // it ends once
    }

    fn lost<T>(&mut self, e: io::Error) -> Poll<io::Result<T>> {
        if self.ahead.is_some() {
            let same = e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error);
            self.end_handshake(Some(HandshakeFailure::Io(same)));
        }
        Poll::Ready(Err(e))
    }

    /// Returns the time of the socket's reactor, or of the system's clock without one.
    pub fn now(&self) -> Instant {
        self.socket().now().unwrap_or_else(Instant::now)
    }

    /// Receives once, and returns the number of bytes.
    pub fn poll_receive(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let (now, machine, log) = (self.now(), &mut self.machine, &mut self.log);
        let mut take = |batch: Batch<'_>| {
            log.iter_mut().for_each(|log| log.received(batch.bytes.len(), batch.size, now));
            machine.receive(&batch, now);
        };
        match ready!(self.socket.poll_receive(cx, buf, &mut take)) {
            Ok(n) => {
                self.log.iter_mut().for_each(|log| log.metrics(&self.machine.path(), now));
                Poll::Ready(Ok(n))
            }
            Err(e) => self.lost(e),
        }
    }

    /// Sends pending datagrams. If the local address is gone, the connection migrates to the address that
    /// leads to the peer now (RFC 9000 §9). This is limited in rate, so that an unreachable peer is detected.
    pub fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (now, most) = (self.now(), self.socket.most());
        while let Some(batch) = self.machine.next_batch(most, now) {
            match ready!(self.socket.poll_send(cx, &batch)) {
                Ok(()) => {
                    self.log.iter_mut().for_each(|log| log.sent(batch.bytes, batch.size, now));
                    self.machine.sent();
                }
                Err(e) if is_lost_way(&e) && self.moved.is_none_or(|at| now >= at + MOVES) => {
                    self.move_on()?
                }
                Err(e) => return self.lost(e),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Migrates to another local address; the peer notices it by the packets from there.
    pub fn move_on(&mut self) -> io::Result<()> {
        self.moved = Some(self.now());
        self.socket.move_on()?;
        self.machine.address_changed();
        Ok(())
    }

    /// Ends the connection without an error in HTTP/3, and notifies the peer in one try.
    pub fn say_goodbye(&mut self) {
        let now = self.now();
        self.machine.close(ErrorCode::NO_ERROR.0, "", now);
        self.send();
    }

    /// Sends pending datagrams as far as there is room, without waiting.
    pub fn send(&mut self) {
        let _ = self.poll_send(&mut Context::from_waker(Waker::noop()));
    }

    /// Processes timers, receives and replies, without waiting. Received datagrams count as arriving now: if
    /// they waited beyond the idle timeout, the peer has given up the connection, too. Coalesced datagrams
    /// that do not fit into `buf` are lost. With an empty one nothing is received.
    pub fn process(&mut self, buf: &mut [u8]) -> Idle {
        let now = self.now();
        self.machine.tick(now);
        for _ in 0..if buf.is_empty() { 0 } else { MAX_RECEIVES } {
            let machine = &mut self.machine;
            match self.socket.try_receive(buf, &mut |batch| machine.receive(&batch, now)) {
                Poll::Pending => break,
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => return Idle::Closed,
            }
        }
        self.send();
        match self.machine.is_closed() {
            true => Idle::Closed,
            false => Idle::Alive,
        }
    }
}

/// Returns whether the error means that the local address or route is gone.
fn is_lost_way(e: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(
        e.kind(),
        K::NetworkUnreachable | K::HostUnreachable | K::AddrNotAvailable | K::NetworkDown | K::InvalidInput
    )
}

impl Carrier for Quic {
    /// Sends the goodbye. The protocol above has a code of its own.
    fn retire(&mut self) {
        self.socket.retire();
    }

    fn idle_state(&mut self) -> Idle {
        // Mostly nothing has come, which shows without a buffer.
        let size = if self.socket.may_have_input() { IDLE_BUFFER } else { 0 };
        self.process(&mut vec![0; size])
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.socket.attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.socket.detach();
    }

    fn socket(&self) -> &Socket {
        self.socket.socket()
    }

    fn tls(&self) -> Option<&Arc<TlsInfo>> {
        self.tls.as_ref()
    }
}
