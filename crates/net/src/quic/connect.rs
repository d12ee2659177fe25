//! From a connected socket to a QUIC connection with a verified server (RFC 9001).

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use quinn_proto::{ConnectionError, Event};
use runtime::{Reactor, Socket};

use super::qlog::Log;
use super::tls::{HandshakeFacts, Hello};
use super::{Machine, MachineTimer, Purpose, Quic};
use crate::connect::{Connected, Endpoints, HasEndpoints};
use crate::filter::udp::{ROOM, Underlay};
use crate::filter::udp_socket::UdpSocket;
use crate::tls::certinfo;
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::verify::verdict;
use crate::tls::{PeerSessions, TlsConfig, TlsInfo, alerts};
use crate::{LayerError, NetError, NetErrorKind};

/// The server and the parameters of a connection.
pub struct QuicRequest<'a> {
    /// The host that the server must prove to be, and the port that messages name.
    pub host: &'a str,
    pub port: u16,
    pub tls: &'a Arc<TlsConfig>,
    pub sessions: &'a Arc<PeerSessions>,
    /// Whether to use the connection before its handshake completes, if the session allows early data.
    pub early: bool,
    pub purpose: Purpose,
    /// A directory for a log of the connection (qlog).
    pub qlog: Option<PathBuf>,
}

/// A connection whose handshake is complete, or in progress while it is used.
pub struct Established {
    pub quic: Quic,
    pub endpoints: Endpoints,
    /// The application's callbacks made, saw or will close its socket.
    pub private: bool,
    pub connected_at: Instant,
}

impl HasEndpoints for Established {
    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

/// The handshake: a stage of a race between addresses ([`connect`](crate::connect::connect)).
pub async fn shake_hands(
    reactor: &Arc<Reactor>,
    connected: Connected,
    request: &QuicRequest<'_>,
) -> Result<Established, LayerError> {
    let Connected { socket, endpoints, private, connected_at } = connected;
    let (underlay, peer) = on_socket(socket, &endpoints)?;
    let quic = shake_hands_through(reactor, underlay, peer, request).await?;
    Ok(Established { quic, endpoints, private, connected_at })
}

/// Wraps a connected socket as a transport for datagrams; returns it and the peer's address.
pub fn on_socket(
    socket: Socket,
    endpoints: &Endpoints,
) -> Result<(Box<dyn Underlay>, SocketAddr), LayerError> {
    let lost = |e: io::Error| LayerError::TryNext(NetError::from_io(NetErrorKind::CouldntConnect, "", &e));
    let peer = endpoints.remote.ok_or_else(|| lost(io::ErrorKind::NotConnected.into()))?;
    Ok((Box::new(UdpSocket::new(socket, peer).map_err(lost)?), peer))
}

/// Does the handshake on any transport for datagrams. The server's address is only a label, and need not be
/// real.
pub async fn shake_hands_through(
    reactor: &Arc<Reactor>,
    underlay: Box<dyn Underlay>,
    peer: SocketAddr,
    request: &QuicRequest<'_>,
) -> Result<Quic, LayerError> {
    let QuicRequest { tls, sessions, .. } = *request;
    let handshake = Handshake {
        host: request.host.to_owned(),
        port: request.port,
        tls: tls.clone(),
        sessions: sessions.clone(),
    };
    let hello = handshake.hello(request.early);
    let machine = Machine::connect(hello.clone(), peer, request.host, request.purpose, reactor.now());
    let machine = machine.map_err(|e| {
        LayerError::Final(hello.fault().map_or(e, alerts::connect_error).with_verify_result(UNVERIFIED))
    })?;
    let mut quic = Quic::new(underlay, machine, request.qlog.clone().map(Log::new));
    if quic.machine.may_go_ahead() {
        quic.go_ahead(handshake);
    } else {
        let shaken = run(&mut quic, reactor).await;
        shaken.map_err(|failed| handshake.fault(&mut quic, failed))?;
        quic.agreed(handshake.info(&quic.machine));
    }
    Ok(quic)
}

/// The server and the parameters of a handshake in progress.
pub struct Handshake {
    host: String,
    port: u16,
    tls: Arc<TlsConfig>,
    pub sessions: Arc<PeerSessions>,
}

impl Handshake {
    fn hello(&self, early: bool) -> Arc<Hello> {
        Arc::new(Hello::new(self.sessions.client_config(&self.tls, early)))
    }

    /// Returns the expected TLS parameters of a handshake in progress.
    pub fn expected(&self) -> TlsInfo {
        TlsInfo {
            version: "TLSv1.3",
            alpn: self.tls.alpn.first().cloned(),
            resumed: true,
            ..TlsInfo::default()
        }
    }

    /// Returns the negotiated TLS parameters.
    pub fn info(&self, machine: &Machine) -> TlsInfo {
        let Handshake { tls, sessions, .. } = self;
        let Some(HandshakeFacts { alpn, cipher, group, resumed, certificates: certs, .. }) =
            machine.handshake_facts()
        else {
            return self.expected();
        };
        sessions.agreed(alpn.as_deref());
        let info = TlsInfo {
            version: "TLSv1.3",
            cipher,
            group,
            alpn,
            resumed,
            early: machine.taken_early(),
            verify_result: match tls.verify_peer {
                true => 0,
                false => sessions.built.verifier.unverified_result(&certs),
            },
            certinfo: if tls.certinfo { certinfo::of_chain(&certs) } else { Vec::new() },
            sessions: Some(sessions.store().clone()),
            peer_cert: certs.first().map(|leaf| sessions.leaf(leaf)),
            ..TlsInfo::default()
        };
        sessions.describe_chain(info, &certs)
    }

    /// Converts a failure. A server that has answered would answer the same from another address. If we ended
    /// the handshake, the peer is notified in one try.
    pub fn fault(&self, quic: &mut Quic, failed: HandshakeFailure) -> LayerError {
        quic.send();
        let Handshake { host, port, .. } = self;
        if let Some(refusal) = quic.machine.handshake_facts().and_then(|facts| refusal(&facts.fault?)) {
            return LayerError::Final(refusal);
        }
        match failed {
            HandshakeFailure::Io(e) => LayerError::TryNext(NetError::from_io(
                NetErrorKind::CouldntConnect,
                format!("QUIC: connection to {host} port {port} failed: {e}"),
                &e,
            )),
            HandshakeFailure::Lost(ConnectionError::TimedOut) => LayerError::TryNext(NetError::new(
                NetErrorKind::QuicConnectError,
                format!("QUIC: {host} port {port} does not answer"),
            )),
            HandshakeFailure::Lost(reason) => {
                let text = format!("QUIC: connection to {host} port {port} refused: {reason}");
                let refused = NetError::new(NetErrorKind::QuicConnectError, text);
                LayerError::Final(refused.with_verify_result(UNVERIFIED))
            }
        }
    }
}

/// Returns TLS's reason if the server was refused for its certificate, or because it could not decrypt the
/// encrypted hello.
fn refusal(fault: &rustls::Error) -> Option<NetError> {
    let of_ech = || Some(alerts::connect_error(fault)).filter(|e| e.kind == NetErrorKind::EchRequired);
    verdict(fault).or_else(of_ech)
}

/// Why a handshake failed.
pub enum HandshakeFailure {
    Io(io::Error),
    Lost(ConnectionError),
}

async fn run(quic: &mut Quic, reactor: &Arc<Reactor>) -> Result<(), HandshakeFailure> {
    let mut due = MachineTimer::default();
    let mut buf = vec![0; ROOM];
    poll_fn(|cx| {
        loop {
            if let Poll::Ready(done) = step(quic, cx, &mut buf) {
                return Poll::Ready(done);
            }
            ready!(due.poll(cx, &mut quic.machine, reactor));
        }
    })
    .await
}

/// Sends, receives, and checks the result.
fn step(quic: &mut Quic, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<(), HandshakeFailure>> {
    loop {
        let _ = quic.poll_send(cx).map_err(HandshakeFailure::Io)?;
        while let Some(event) = quic.event() {
            match event {
                Event::Connected => return Poll::Ready(Ok(())),
                Event::ConnectionLost { reason } => return Poll::Ready(Err(HandshakeFailure::Lost(reason))),
                _ => {}
            }
        }
        ready!(quic.poll_receive(cx, buf)).map_err(HandshakeFailure::Io)?;
    }
}
