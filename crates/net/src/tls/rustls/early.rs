//! Early data (RFC 8446, section 2.3): a connection that is used before its handshake is complete.
//!
//! The first bytes written are sent with the hello, encrypted with keys of the resumed session. The server
//! may accept or refuse them. Refused data is sent again here, with the keys of the handshake. It uses the
//! protocol of that session, the only one that is offered. The handshake verifies the server before anything
//! is read, as always. But an observer of early data may replay it to the server, and only the sender of a
//! request knows whether repeating it does harm.

use std::io;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use super::drive::{Flight, connection};
use super::{DIRECT, TlsFilter};
use crate::handover::{Layer, Obstacle};
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::{Early, Late, PeerSessions, TlsConfig, TlsInfo};
use crate::{Carrier, Filter, Idle, NetError, NetErrorKind};
use runtime::{Reactor, Socket};

/// Maximum number of early bytes, whatever a server accepts: they are stored until it has accepted them.
pub(super) const MOST: usize = 64 * 1024;

/// A TLS client connection, usable before its handshake is complete.
pub(super) struct EarlyFilter {
    state: State,
    /// The expected parameters of the connection, and the negotiated ones in the end.
    info: Arc<TlsInfo>,
    late: Arc<Late>,
}

enum State {
    Opening(Box<Opening>),
    Through(Box<TlsFilter>),
    /// The handshake failed; the layer below is left.
    Failed(Box<dyn Filter>),
    /// Between two states.
    Between,
}

/// A handshake in progress.
struct Opening {
    flight: Flight,
    config: Arc<TlsConfig>,
    peer: (String, u16),
    sessions: Arc<PeerSessions>,
    early: Early,
    /// The early data.
    sent: Vec<u8>,
}

/// Begins a connection whose first bytes are sent with its hello, as the session in `sessions` allows.
/// Nothing is sent before something is written or read.
pub(super) fn begin_early(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    (host, port): (&str, u16),
    sessions: &Arc<PeerSessions>,
    early: Early,
) -> Result<EarlyFilter, NetError> {
    let config = Arc::new(TlsConfig { alpn: vec![early.alpn.to_string()], ..(**config).clone() });
    let conn = connection(&config, host, sessions, true).map_err(|e| e.with_verify_result(UNVERIFIED))?;
    let mut flight = Flight::new(below, conn);
    flight.say_hello()?;
    let late = Arc::new(OnceLock::new());
    let info = Arc::new(TlsInfo {
        version: "TLSv1.3",
        alpn: Some(early.alpn.to_string()),
        resumed: true,
        late: Some(late.clone()),
        ..TlsInfo::default()
    });
    let (peer, sessions) = ((host.to_owned(), port), sessions.clone());
    let opening = Opening { flight, config, peer, sessions, early, sent: Vec::new() };
    Ok(EarlyFilter { state: State::Opening(Box::new(opening)), info, late })
}

impl Opening {
    /// Accepts data that may be sent early; returns the number of bytes.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let room = self.early.most.min(MOST) - self.sent.len();
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return 0;
        }
        let n = self.flight.add_early(bytes);
        self.sent.extend_from_slice(&bytes[..n]);
        n
    }

    /// Handles the end of the handshake.
    fn finish(self) -> Result<Box<TlsFilter>, (NetError, Box<dyn Filter>)> {
        let mut info = self.flight.info(&self.config, &self.sessions);
        let taken = self.flight.early_taken;
        if info.alpn.as_deref() != Some(&*self.early.alpn) {
            let text = format!("ALPN: the server does not agree to {} as before", self.early.alpn);
            return Err((NetError::new(NetErrorKind::SslConnectError, text), self.flight.below));
        }
        self.sessions.agreed(info.alpn.as_deref());
        let amount = self.sent.len() as i64;
        info.early = if taken { amount } else { -amount };
        let mut filter = self.flight.into_filter(info)?;
        if !taken && let Err(e) = filter.seal(&self.sent) {
            let text = format!("TLS connect error: {e}");
            return Err((NetError::new(NetErrorKind::SslConnectError, text), filter.below));
        }
        Ok(filter)
    }
}

impl EarlyFilter {
    /// Returns the connection after its handshake.
    fn poll_through(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&mut TlsFilter>> {
        if let State::Opening(opening) = &mut self.state {
            let (flight, (host, port)) = (&mut opening.flight, &opening.peer);
            let outcome = ready!(flight.poll_run(cx, (host, *port), |_| false));
            self.end(outcome.map_err(crate::LayerError::into_error));
        }
        Poll::Ready(match &mut self.state {
            State::Through(filter) => Ok(filter),
            _ => Err(io::Error::other("the TLS handshake has failed")),
        })
    }

    /// Publishes the result of the handshake, and changes to the state after it.
    fn end(&mut self, outcome: Result<(), NetError>) {
        let State::Opening(opening) = std::mem::replace(&mut self.state, State::Between) else { return };
        let sessions = opening.sessions.clone();
        let ended = match outcome {
            Ok(()) => opening.finish(),
            Err(error) => Err((error, opening.flight.below)),
        };
        sessions.settle(ended.is_ok());
        let outcome = match ended {
            Ok(filter) => {
                self.info = filter.info.clone();
                self.state = State::Through(filter);
                Ok(self.info.clone())
            }
            Err((error, below)) => {
                self.state = State::Failed(below);
                Err(error)
            }
        };
        let _ = self.late.set(outcome); // it ends once
    }

    /// Returns the carrier of the bytes: this layer once it is established, otherwise the one below.
    fn carrier(&self) -> Option<&dyn Filter> {
        match &self.state {
            State::Opening(opening) => Some(opening.flight.below.as_ref()),
            State::Through(filter) => Some(filter.as_ref()),
            State::Failed(below) => Some(below.as_ref()),
            State::Between => None,
        }
    }

    fn carrier_mut(&mut self) -> Option<&mut dyn Filter> {
        match &mut self.state {
            State::Opening(opening) => Some(opening.flight.below.as_mut()),
            State::Through(filter) => Some(filter.as_mut()),
            State::Failed(below) => Some(below.as_mut()),
            State::Between => None,
        }
    }

    fn through(&mut self) -> Option<&mut TlsFilter> {
        match &mut self.state {
            State::Through(filter) => Some(filter),
            _ => None,
        }
    }
}

impl Carrier for EarlyFilter {
    fn retire(&mut self) {
        if let Some(carrier) = self.carrier_mut() {
            carrier.retire();
        }
    }

    fn idle_state(&mut self) -> Idle {
        self.through().map_or(Idle::Closed, |filter| filter.idle_state())
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        if let Some(carrier) = self.carrier_mut() {
            carrier.attach(reactor, owner);
        }
    }

    fn detach(&mut self) {
        if let Some(carrier) = self.carrier_mut() {
            carrier.detach();
        }
    }

    fn socket(&self) -> &Socket {
        self.carrier().expect("one state becomes another within a call").socket()
    }

    fn tls(&self) -> Option<&Arc<TlsInfo>> {
        Some(&self.info)
    }
}

impl Filter for EarlyFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_through(cx))?.poll_read(cx, buf)
    }

    fn direct_read(&self) -> usize {
        DIRECT
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.through().map_or(Poll::Pending, |filter| filter.try_read(buf))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        match self.through() {
            Some(filter) => filter.forget_read(cx),
            None => self.socket().forget(runtime::Direction::Read),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if let State::Opening(opening) = &mut self.state {
            let n = opening.take(buf);
            if n > 0 {
                let _ = opening.flight.poll_send(cx)?; // taken is taken, as ever
                return Poll::Ready(Ok(n));
            }
        }
        ready!(self.poll_through(cx))?.poll_write(cx, buf)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.state {
            State::Opening(opening) => opening.flight.poll_send(cx),
            _ => ready!(self.poll_through(cx))?.poll_flush(cx),
        }
    }

    fn say_goodbye(&mut self) {
        if let Some(filter) = self.through() {
            filter.say_goodbye();
        }
    }

    fn portable(&self) -> Result<(), Obstacle> {
        match &self.state {
            State::Through(filter) => filter.portable(),
            _ => Err(Obstacle::NotOpen),
        }
    }

    fn take_apart(self: Box<Self>, layers: &mut Vec<Layer>) -> Socket {
        match self.state {
            State::Through(filter) => filter.take_apart(layers),
            _ => unreachable!("only a portable layer is taken apart"),
        }
    }

    fn uncover(self: Box<Self>) -> Option<Box<dyn Filter>> {
        match self.state {
            State::Through(filter) => filter.uncover(),
            _ => None,
        }
    }
}
