//! The handshake: rustls says what to send and what it waits for; when it is done its keys are taken over. It halts where the
//! server has shown who it is and nothing but hellos has left ([`Answered`]), so that several can be begun and one be finished.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{CipherSuite, Error, HandshakeKind, ProtocolVersion};

use super::{MAX_PLAINTEXT, SessionStore, TlsFilter};
use crate::tls::record::{HEADER, Key};
use crate::tls::sessions::PeerSessions;
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::{TlsConfig, TlsInfo, alerts, certinfo, names, suites, verify};
use crate::{Fault, Filter, NetError, NetErrorKind};

/// Bytes of an unfinished handshake that a server may send: a long chain is 20 KB.
const MAX_FLIGHT: usize = 256 * 1024;

/// What the handshake has in hand.
struct Flight {
    below: Box<dyn Filter>,
    conn: UnbufferedClientConnection,
    incoming: Vec<u8>,
    filled: usize,
    outgoing: Vec<u8>,
    sent: usize,
    /// Data that the server sent right behind its part of the handshake.
    early_plain: Vec<u8>,
}

/// What rustls wants done next.
enum Step {
    Again,
    NeedInput,
    Done,
}

/// Does the handshake on `below` and checks the server. `host` is a name or an address, without brackets; `port` tells the
/// sessions of two servers on one host apart.
pub async fn handshake(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    host: &str,
    port: u16,
    sessions: &SessionStore,
) -> Result<TlsFilter, NetError> {
    let peer = sessions.begin(config, host, port).map_err(|e| e.with_verify_result(UNVERIFIED))?;
    let done = handshake_with(below, config, (host, port), &peer).await;
    peer.settle(done.is_ok());
    done
}

/// The same with sessions that the caller has taken from their store, and settles afterwards.
pub async fn handshake_with(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    peer: (&str, u16),
    sessions: &Arc<PeerSessions>,
) -> Result<TlsFilter, NetError> {
    let answered = begin(below, config, peer, sessions).await.map_err(Fault::into_error)?;
    answered.finish(config, peer, sessions).await
}

/// A server that has answered and is who it should be. What proves who the client is has not left yet, nor anything else that
/// is not meant for everybody.
pub struct Answered(Flight);

/// The first half of a handshake.
pub async fn begin(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    (host, port): (&str, u16),
    sessions: &Arc<PeerSessions>,
) -> Result<Answered, Fault> {
    let conn =
        connection(config, host, sessions).map_err(|e| Fault::Final(e.with_verify_result(UNVERIFIED)))?;
    let incoming = vec![0; 4096];
    let outgoing = Vec::with_capacity(512);
    let mut flight = Flight { below, conn, incoming, filled: 0, outgoing, sent: 0, early_plain: Vec::new() };
    flight.run(host, port, Flight::knows_server).await?;
    Ok(Answered(flight))
}

impl Answered {
    /// The other half.
    pub async fn finish(
        mut self,
        config: &Arc<TlsConfig>,
        (host, port): (&str, u16),
        sessions: &Arc<PeerSessions>,
    ) -> Result<TlsFilter, NetError> {
        self.0.run(host, port, |_| false).await.map_err(Fault::into_error)?;
        let info = self.0.info(config, sessions);
        self.0.into_filter(info)
    }
}

fn connection(
    config: &TlsConfig,
    host: &str,
    peer: &Arc<PeerSessions>,
) -> Result<UnbufferedClientConnection, NetError> {
    let resumption = match config.session_cache && !config.verify_status {
        true => Resumption::store(peer.clone()),
        false => Resumption::disabled(),
    };
    let name = server_name(host).ok_or_else(|| {
        NetError::new(NetErrorKind::SslConnectError, "TLS connect error: invalid host name")
    })?;
    UnbufferedClientConnection::new(Arc::new(peer.built.for_one(&config.alpn, resumption)), name)
        .map_err(|e| alerts::connect_error(&e))
}

/// For SNI: an address sends none, and a name goes without the dot of the root.
fn server_name(host: &str) -> Option<ServerName<'static>> {
    if let Some(ip) = names::address(host) {
        return Some(ServerName::IpAddress(ip.into()));
    }
    ServerName::try_from(host.strip_suffix('.').unwrap_or(host).to_string()).ok()
}

impl Flight {
    /// Until it is done, or halts for want of input.
    async fn run(&mut self, host: &str, port: u16, halts: fn(&Flight) -> bool) -> Result<(), Fault> {
        loop {
            match self.step() {
                Ok(Step::Again) => {}
                Ok(Step::Done) => return Ok(()),
                Ok(Step::NeedInput) if halts(self) => return Ok(()),
                Ok(Step::NeedInput) => {
                    let exchanged = self.exchange().await;
                    exchanged.map_err(|e| {
                        Fault::Lost(alerts::connect_io_error(&e, host, port).with_verify_result(UNVERIFIED))
                    })?;
                }
                Err(e) => {
                    self.last_words();
                    let other = || alerts::connect_error(&e).with_verify_result(UNVERIFIED);
                    return Err(Fault::Final(verify::verdict(&e).unwrap_or_else(other)));
                }
            }
        }
    }

    /// Its certificate has been judged, and our answer to that lies ready (TLS 1.2; with 1.3 the handshake is done then).
    fn knows_server(&self) -> bool {
        !self.outgoing.is_empty() && self.conn.peer_certificates().is_some()
    }

    /// Lets rustls work on what has arrived.
    fn step(&mut self) -> Result<Step, Error> {
        let UnbufferedStatus { discard, state } =
            self.conn.process_tls_records(&mut self.incoming[..self.filled]);
        let step = match state {
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                encode(&mut self.outgoing, |out| data.encode(out))?;
                Ok(Step::Again)
            }
            Ok(ConnectionState::TransmitTlsData(data)) => {
                data.done(); // it is in `outgoing`, which is sent before the next wait
                Ok(Step::Again)
            }
            Ok(ConnectionState::ReadTraffic(mut records)) => {
                while let Some(record) = records.next_record() {
                    self.early_plain.extend_from_slice(record?.payload);
                }
                Ok(Step::Again)
            }
            Ok(ConnectionState::WriteTraffic(_)) => Ok(Step::Done),
            Ok(ConnectionState::BlockedHandshake) => Ok(Step::NeedInput),
            Ok(_) => Err(Error::General("unexpected eof while reading".into())), // close_notify in the middle
            Err(e) => Err(e),
        };
        self.incoming.copy_within(discard..self.filled, 0);
        self.filled -= discard;
        match step {
            // rustls has opened the first part of a ticket where it lies, and must see the rest.
            Ok(Step::Done) if holds_record(&self.incoming[..self.filled]) => match discard {
                0 => Ok(Step::NeedInput),
                _ => Ok(Step::Again),
            },
            step => step,
        }
    }

    /// Sends what is ready, then waits for more.
    async fn exchange(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_send(cx)).await?;
        if self.filled == self.incoming.len() {
            if self.filled >= MAX_FLIGHT {
                return Err(io::Error::other("excessive message size"));
            }
            self.incoming.resize(self.filled * 2, 0);
        }
        let (below, room) = (&mut self.below, &mut self.incoming[self.filled..]);
        match poll_fn(|cx| below.poll_read(cx, room)).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                self.filled += n;
                Ok(())
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.outgoing.len() {
            match self.below.poll_write(cx, &self.outgoing[self.sent..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(n)) => self.sent += n,
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.outgoing.clear();
        self.sent = 0;
        self.below.poll_flush(cx)
    }

    /// The alert that tells the server why, if it can be sent at once.
    fn last_words(&mut self) {
        let state = self.conn.process_tls_records(&mut self.incoming[..self.filled]).state;
        if let Ok(ConnectionState::EncodeTlsData(mut data)) = state {
            let _ = encode(&mut self.outgoing, |out| data.encode(out));
        }
        let _ = self.poll_send(&mut Context::from_waker(Waker::noop()));
    }

    fn info(&self, config: &TlsConfig, peer: &PeerSessions) -> TlsInfo {
        let conn = &self.conn;
        let resumed = conn.handshake_kind() == Some(HandshakeKind::Resumed);
        let certs = conn.peer_certificates().unwrap_or_default();
        let suite =
            conn.negotiated_cipher_suite().map_or(CipherSuite::TLS_NULL_WITH_NULL_NULL, |s| s.suite());
        TlsInfo {
            version: if conn.protocol_version() == Some(ProtocolVersion::TLSv1_2) {
                "TLSv1.2"
            } else {
                "TLSv1.3"
            },
            cipher: suites::name(suite),
            group: conn.negotiated_key_exchange_group().map_or("", |g| suites::group_name(g.name())),
            alpn: conn.alpn_protocol().map(|a| String::from_utf8_lossy(a).into_owned()),
            resumed,
            early: 0,
            verify_result: if config.verify_peer { 0 } else { peer.built.verifier.unverified_result(certs) },
            certinfo: if config.certinfo { certinfo::of_chain(certs) } else { Vec::new() },
            sessions: Some(peer.store().clone()),
            peer_certs: certs.iter().map(|c| c.to_vec()).collect(),
        }
    }

    fn into_filter(mut self, info: TlsInfo) -> Result<TlsFilter, NetError> {
        let failed = || NetError::new(NetErrorKind::SslConnectError, "TLS connect error: no traffic keys");
        let tls13 = info.version == "TLSv1.3";
        let (secrets, kernel) = self.conn.dangerous_into_kernel_connection().map_err(|_| failed())?;
        let (tx, rx) = (secrets.tx, secrets.rx);
        self.incoming.truncate(self.filled);
        let mut filter = TlsFilter {
            below: self.below,
            rx: Key::new(rx.1, rx.0, tls13).ok_or_else(failed)?,
            tx: Key::new(tx.1, tx.0, tls13).ok_or_else(failed)?,
            kernel,
            info: Arc::new(info),
            inbox: Vec::new(),
            start: 0,
            end: self.early_plain.len(),
            own: self.early_plain,
            outbox: self.outgoing,
            sent: self.sent,
            corked: true,
            message: Vec::new(),
            empty: 0,
            asked_for_keys: false,
            over: None,
            said_goodbye: false,
            streaming: false,
            patience: super::MAX_PATIENCE,
        };
        filter.take_over(self.incoming);
        Ok(filter)
    }
}

impl TlsFilter {
    /// Records that arrived with the end of the handshake and that rustls left alone.
    fn take_over(&mut self, mut records: Vec<u8>) {
        let n = self.open_all(&mut records);
        self.own.truncate(self.end);
        self.own.extend_from_slice(&records[..n]);
        self.end = self.own.len();
        debug_assert!(self.inbox.len() <= MAX_PLAINTEXT * 2);
    }
}

/// A whole record stands at the front.
fn holds_record(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<HEADER>() {
        Some([.., hi, lo]) => bytes.len() >= HEADER + usize::from(u16::from_be_bytes([*hi, *lo])),
        None => false,
    }
}

/// Appends what an encoder writes.
fn encode(
    out: &mut Vec<u8>,
    mut f: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
) -> Result<(), Error> {
    let start = out.len();
    let mut room = 512;
    loop {
        out.resize(start + room, 0);
        match f(&mut out[start..]) {
            Ok(n) => {
                out.truncate(start + n);
                return Ok(());
            }
            Err(EncodeError::InsufficientSize(e)) if e.required_size > room => room = e.required_size,
            Err(e) => return Err(Error::General(e.to_string())),
        }
    }
}
