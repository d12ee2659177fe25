//! From a connected socket to a QUIC connection whose server is known (RFC 9001).

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use quinn_proto::{ConnectionError, Event};
use runtime::{Reactor, Socket};
use rustls::client::Resumption;

use super::qlog::Log;
use super::tls::{Hello, Told};
use super::{Due, Machine, Purpose, Quic};
use crate::connect::{Connected, Endpoints, Reached};
use crate::filter::udp::{ROOM, UdpSocket, Underlay};
use crate::tls::certinfo;
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::verify::verdict;
use crate::tls::{PeerSessions, TlsConfig, TlsInfo, alerts};
use crate::{Fault, NetError, NetErrorKind};

/// With whom and how.
pub struct QuicRequest<'a> {
    /// The host that the server must prove to be, and the port that messages name.
    pub host: &'a str,
    pub port: u16,
    pub tls: &'a Arc<TlsConfig>,
    pub sessions: &'a Arc<PeerSessions>,
    /// Where the session in hand allows early data, the connection is used before its handshake is over.
    pub early: bool,
    pub purpose: Purpose,
    /// A folder for a file of what happens on the connection (qlog).
    pub qlog: Option<PathBuf>,
}

/// A connection whose handshake is done, or goes on while it is used.
pub struct Established {
    pub quic: Quic,
    pub endpoints: Endpoints,
    /// The application's callbacks made, saw or will close its socket.
    pub private: bool,
    pub connected_at: Instant,
}

impl Reached for Established {
    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

/// The handshake: a stage of a race between addresses ([`connect`](crate::connect::connect)).
pub async fn shake_hands(
    reactor: &Arc<Reactor>,
    connected: Connected,
    request: &QuicRequest<'_>,
) -> Result<Established, Fault> {
    let Connected { socket, endpoints, private, connected_at } = connected;
    let (underlay, peer) = on_socket(socket, &endpoints)?;
    let quic = shake_hands_through(reactor, underlay, peer, request).await?;
    Ok(Established { quic, endpoints, private, connected_at })
}

/// A connected socket as what takes QUIC's datagrams, and whom it leads to.
pub fn on_socket(socket: Socket, endpoints: &Endpoints) -> Result<(Box<dyn Underlay>, SocketAddr), Fault> {
    let lost = |e: io::Error| Fault::Lost(NetError::from_io(NetErrorKind::CouldntConnect, "", &e));
    let peer = endpoints.remote.ok_or_else(|| lost(io::ErrorKind::NotConnected.into()))?;
    Ok((Box::new(UdpSocket::new(socket, peer).map_err(lost)?), peer))
}

/// The same on whatever takes datagrams to the server; its address is a name for it, and need not be true.
pub async fn shake_hands_through(
    reactor: &Arc<Reactor>,
    underlay: Box<dyn Underlay>,
    peer: SocketAddr,
    request: &QuicRequest<'_>,
) -> Result<Quic, Fault> {
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
        Fault::Final(hello.fault().map_or(e, alerts::connect_error).with_verify_result(UNVERIFIED))
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

/// With whom and how, for as long as it goes on.
pub struct Handshake {
    host: String,
    port: u16,
    tls: Arc<TlsConfig>,
    pub sessions: Arc<PeerSessions>,
}

impl Handshake {
    fn hello(&self, early: bool) -> Arc<Hello> {
        let resumption = match self.tls.resumes() {
            true => Resumption::store(self.sessions.clone()),
            false => Resumption::disabled(),
        };
        Arc::new(Hello::new(self.sessions.built.for_one(&self.tls.alpn, resumption, early)))
    }

    /// What is known of one that is not over.
    pub fn expected(&self) -> TlsInfo {
        TlsInfo {
            version: "TLSv1.3",
            alpn: self.tls.alpn.first().cloned(),
            resumed: true,
            ..TlsInfo::default()
        }
    }

    /// What it has agreed on.
    pub fn info(&self, machine: &Machine) -> TlsInfo {
        let Handshake { tls, sessions, .. } = self;
        let Some(Told { alpn, cipher, group, resumed, certificates: certs, .. }) = machine.told() else {
            return self.expected();
        };
        sessions.agreed(alpn.as_deref());
        TlsInfo {
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
        }
    }

    /// The fault for it: who has answered answers the same from another address. The peer is told, in one
    /// try, when it was us who ended it.
    pub fn fault(&self, quic: &mut Quic, failed: Failed) -> Fault {
        quic.send();
        let Handshake { host, port, .. } = self;
        if let Some(refusal) = quic.machine.told().and_then(|told| refusal(&told.fault?)) {
            return Fault::Final(refusal);
        }
        match failed {
            Failed::Io(e) => Fault::Lost(NetError::from_io(
                NetErrorKind::CouldntConnect,
                format!("QUIC: connection to {host} port {port} failed: {e}"),
                &e,
            )),
            Failed::Lost(ConnectionError::TimedOut) => Fault::Lost(NetError::new(
                NetErrorKind::QuicConnectError,
                format!("QUIC: {host} port {port} does not answer"),
            )),
            Failed::Lost(reason) => {
                let text = format!("QUIC: connection to {host} port {port} refused: {reason}");
                let refused = NetError::new(NetErrorKind::QuicConnectError, text);
                Fault::Final(refused.with_verify_result(UNVERIFIED))
            }
        }
    }
}

/// What TLS has said of a server that was refused for its certificate, or for not having the key of what was
/// encrypted for it.
fn refusal(fault: &rustls::Error) -> Option<NetError> {
    let of_ech = || Some(alerts::connect_error(fault)).filter(|e| e.kind == NetErrorKind::EchRequired);
    verdict(fault).or_else(of_ech)
}

/// Why it came to nothing.
pub enum Failed {
    Io(io::Error),
    Lost(ConnectionError),
}

async fn run(quic: &mut Quic, reactor: &Arc<Reactor>) -> Result<(), Failed> {
    let mut due = Due::default();
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

/// Sends, receives, and looks what came of it.
fn step(quic: &mut Quic, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<(), Failed>> {
    loop {
        let _ = quic.poll_send(cx).map_err(Failed::Io)?;
        while let Some(event) = quic.event() {
            match event {
                Event::Connected => return Poll::Ready(Ok(())),
                Event::ConnectionLost { reason } => return Poll::Ready(Err(Failed::Lost(reason))),
                _ => {}
            }
        }
        ready!(quic.poll_receive(cx, buf)).map_err(Failed::Io)?;
    }
}
