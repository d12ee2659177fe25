//! From addresses to a QUIC connection whose server is known: a connected socket, then the handshake (RFC 9001).

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ConnectionError, Event};
use runtime::Reactor;
use rustls::client::Resumption;

use super::Machine;
use super::trust::Trust;
use crate::connect::Endpoints;
use crate::filter::open::{SocketCallbacks, SocketOptions, Target, Transport, open};
use crate::filter::udp::UdpFilter;
use crate::tls::certinfo;
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::{PeerSessions, TlsConfig, TlsInfo};
use crate::{Filter, NetError, NetErrorKind};

/// The largest datagram.
const DATAGRAM: usize = 65_535;

/// Whereto and how.
pub struct QuicRequest<'a> {
    /// The host that the server must prove to be, and the port that messages name.
    pub host: &'a str,
    pub port: u16,
    /// In the order in which they are tried.
    pub addresses: &'a [SocketAddr],
    pub local_hosts: &'a [SocketAddr],
    pub options: &'a SocketOptions,
    pub callbacks: Option<&'a dyn SocketCallbacks>,
    pub tls: &'a Arc<TlsConfig>,
    pub sessions: &'a Arc<PeerSessions>,
    pub deadline: Instant,
    pub owner: u64,
}

/// A connection whose handshake is done.
pub struct Established {
    pub filter: UdpFilter,
    pub machine: Machine,
    pub endpoints: Endpoints,
}

/// Connects to the first address that answers. Each has its part of the time that is left.
pub async fn connect(reactor: &Arc<Reactor>, request: &QuicRequest<'_>) -> Result<Established, NetError> {
    let mut last = None;
    for (tried, address) in request.addresses.iter().enumerate() {
        let left = request.deadline.saturating_duration_since(reactor.now());
        let share = left / (request.addresses.len() - tried) as u32;
        match attempt(reactor, request, *address, share).await {
            Ok(established) => return Ok(established),
            // Another address of a server that was refused would be refused again.
            Err(e) if e.kind != NetErrorKind::QuicConnectError && e.kind != NetErrorKind::CouldntConnect => {
                return Err(e);
            }
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or_else(|| NetError::new(NetErrorKind::CouldntConnect, "no address to connect to")))
}

async fn attempt(
    reactor: &Arc<Reactor>,
    request: &QuicRequest<'_>,
    address: SocketAddr,
    share: Duration,
) -> Result<Established, NetError> {
    let target = Target::Ip(address);
    let fresh = open(&target, Transport::Udp, request.options, request.local_hosts, request.callbacks)?;
    let address = if let Target::Ip(changed) = fresh.target { changed } else { address };
    let filter = UdpFilter::connect(fresh.socket, address, fresh.already_connected);
    let mut filter = filter.map_err(|e| NetError::from_io(NetErrorKind::CouldntConnect, "", &e))?;
    filter.attach(reactor, request.owner);
    let endpoints = Endpoints::of(filter.socket());
    let trust = Arc::new(Trust::new(request.sessions.built.verifier.clone()));
    let machine = Machine::connect(crypto(request, &trust)?, address, request.host, reactor.now())?;
    let mut handshake = Handshake { filter, machine, buf: vec![0; DATAGRAM], reactor };
    let shaken = handshake.run(share).await;
    shaken.map_err(|lost| handshake.failure(lost, request, &trust))?;
    let info = info(&handshake.machine, request);
    let Handshake { mut filter, machine, .. } = handshake;
    filter.agreed(info);
    Ok(Established { filter, machine, endpoints })
}

fn crypto(
    request: &QuicRequest<'_>,
    trust: &Arc<Trust>,
) -> Result<Arc<dyn quinn_proto::crypto::ClientConfig>, NetError> {
    let resumption = match request.tls.session_cache && !request.tls.verify_status {
        true => Resumption::store(request.sessions.clone()),
        false => Resumption::disabled(),
    };
    let mut config = request.sessions.built.for_one(&request.tls.alpn, resumption);
    config.dangerous().set_certificate_verifier(trust.clone());
    let config = QuicClientConfig::try_from(config).map_err(|e| {
        NetError::new(
            NetErrorKind::SslConnectError,
            format!("QUIC needs TLS 1.3 and its first cipher suite: {e}"),
        )
    })?;
    Ok(Arc::new(config))
}

fn info(machine: &Machine, request: &QuicRequest<'_>) -> TlsInfo {
    let certs: Vec<_> =
        machine.peer_certificates().into_iter().map(rustls::pki_types::CertificateDer::from).collect();
    TlsInfo {
        version: "TLSv1.3",
        alpn: machine.protocol().map(|name| String::from_utf8_lossy(&name).into_owned()),
        verify_result: match request.tls.verify_peer {
            true => 0,
            false => request.sessions.built.verifier.unverified_result(&certs),
        },
        certinfo: if request.tls.certinfo { certinfo::of_chain(&certs) } else { Vec::new() },
        sessions: Some(request.sessions.store().clone()),
        peer_certs: certs.into_iter().map(|der| der.to_vec()).collect(),
        ..TlsInfo::default()
    }
}

/// A handshake under way.
struct Handshake<'a> {
    filter: UdpFilter,
    machine: Machine,
    buf: Vec<u8>,
    reactor: &'a Arc<Reactor>,
}

/// Why it came to nothing.
enum Failed {
    Io(io::Error),
    Lost(ConnectionError),
    TooLate,
}

impl Handshake<'_> {
    async fn run(&mut self, share: Duration) -> Result<(), Failed> {
        let mut late = pin!(self.reactor.sleep(share));
        let mut due = self.reactor.sleep(share);
        poll_fn(|cx| {
            if late.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(Failed::TooLate));
            }
            loop {
                if let Poll::Ready(done) = self.step(cx) {
                    return Poll::Ready(done);
                }
                let Some(at) = self.machine.timeout() else { return Poll::Pending };
                due.reset(at);
                if std::pin::Pin::new(&mut due).poll(cx).is_pending() {
                    return Poll::Pending;
                }
                self.machine.tick(self.reactor.now());
            }
        })
        .await
    }

    /// Sends, receives, and looks what came of it.
    fn step(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        loop {
            while let Some(datagram) = self.machine.next_datagram(self.reactor.now()) {
                match self.filter.poll_write(cx, datagram) {
                    Poll::Ready(Ok(_)) => self.machine.datagram_sent(),
                    Poll::Ready(Err(e)) => return Poll::Ready(Err(Failed::Io(e))),
                    Poll::Pending => break,
                }
            }
            while let Some(event) = self.machine.event() {
                match event {
                    Event::Connected => return Poll::Ready(Ok(())),
                    Event::ConnectionLost { reason } => return Poll::Ready(Err(Failed::Lost(reason))),
                    _ => {}
                }
            }
            match self.filter.poll_read(cx, &mut self.buf) {
                Poll::Ready(Ok(n)) => self.machine.receive(&self.buf[..n], self.reactor.now()),
                Poll::Ready(Err(e)) => return Poll::Ready(Err(Failed::Io(e))),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The error for it. The peer is told, in one try, when it was us who ended it.
    fn failure(&mut self, failed: Failed, request: &QuicRequest<'_>, trust: &Trust) -> NetError {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        if let Some(last) = self.machine.next_datagram(self.reactor.now()) {
            let _ = self.filter.poll_write(&mut cx, last);
        }
        let (host, port) = (request.host, request.port);
        if let Some(refusal) = trust.refusal() {
            return refusal;
        }
        let connect = |kind, text: String| NetError::new(kind, text);
        match failed {
            Failed::Io(e) => NetError::from_io(
                NetErrorKind::CouldntConnect,
                format!("QUIC: connection to {host} port {port} failed: {e}"),
                &e,
            ),
            Failed::Lost(reason) => connect(
                NetErrorKind::QuicConnectError,
                format!("QUIC: connection to {host} port {port} refused: {reason}"),
            )
            .with_verify_result(UNVERIFIED),
            Failed::TooLate => {
                connect(NetErrorKind::QuicConnectError, format!("QUIC: {host} port {port} does not answer"))
            }
        }
    }
}
