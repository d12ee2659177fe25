//! The handshake: rustls determines what to send and what to wait for. When it is done, its keys are taken
//! over. It pauses once the server is verified and only hellos have been sent ([`VerifiedFlight`]), so that
//! several handshakes can be begun and one of them finished. Early data is sent with the hello (see `early`),
//! encrypted by rustls.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use runtime::stack::with_room;
use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{CipherSuite, Error, HandshakeKind, ProtocolVersion};

use super::{MAX_PLAINTEXT, Over, Tickets, TlsFilter};
#[cfg(test)]
use crate::tls::handshake::Server;
use crate::tls::key_schedule::{Overheard, Secrets};
use crate::tls::record::{ALERT, DATA, HEADER, KEY_LIMIT, Key};
use crate::tls::sessions::PeerSessions;
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::{TlsConfig, TlsInfo, alerts, certinfo, names, suites, verify};
use crate::{Filter, LayerError, NetError, NetErrorKind};

/// Limit of received bytes in an unfinished handshake: a long chain is 20 KB.
const MAX_FLIGHT: usize = 256 * 1024;

/// Length of the record of an EndOfEarlyData. A client sends it if the server accepted early data (RFC 8446,
/// section 4.5), and no other encrypted record has this length. rustls does not report the server's answer
/// when it is driven like this.
const END_OF_EARLY_DATA: usize = HEADER + 4 + 1 + 16;
/// Length of the record of an alert of TLS 1.3; every handshake message is longer.
const ALERT_OF_TLS13: usize = HEADER + 2 + 1 + 16;
/// Maximum overhead of a record beyond its plaintext.
const OVERHEAD: usize = 64;

/// The state of a handshake.
pub(super) struct Flight {
    pub(super) below: Box<dyn Filter>,
    conn: Box<UnbufferedClientConnection>,
    overheard: Arc<Overheard>,
    incoming: Vec<u8>,
    filled: usize,
    outgoing: Vec<u8>,
    sent: usize,
    /// Whether rustls needs input.
    waiting: bool,
    /// Whether the server has sent something.
    pub(super) heard: bool,
    /// Whether the server has accepted the early data.
    pub(super) early_taken: bool,
    /// Data that the server sent right after its part of the handshake.
    early_plain: Vec<u8>,
    /// Whether the server has sent close_notify.
    ended: bool,
}

/// The next action that rustls requests.
enum Step {
    Again,
    End(Progress),
}

/// The state of a handshake when there is nothing left to do.
enum Progress {
    NeedInput,
    Done,
}

/// Shakes hands from beginning to end, for tests that need the filter itself.
#[cfg(test)]
pub(super) async fn handshake(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    host: &str,
    port: u16,
    sessions: &crate::tls::SessionStore,
) -> Result<Box<TlsFilter>, NetError> {
    let peer =
        sessions.begin(Server::new(config, host, port)).map_err(|e| e.with_verify_result(UNVERIFIED))?;
    let done = handshake_with(below, config, (host, port), &peer).await;
    peer.settle(done.is_ok());
    done
}

/// Shakes hands with sessions that the test has taken from their store, and settles afterwards.
#[cfg(test)]
pub(super) async fn handshake_with(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    peer: (&str, u16),
    sessions: &Arc<PeerSessions>,
) -> Result<Box<TlsFilter>, NetError> {
    let answered = begin(below, config, peer, sessions).await.map_err(LayerError::into_error)?;
    answered.finish(config, peer, sessions).await
}

/// A handshake with a server that has answered and is verified. Nothing has been sent that authenticates the
/// client or that is confidential.
pub(super) struct VerifiedFlight(Flight);

/// Runs the first half of a handshake.
pub(super) async fn begin(
    below: Box<dyn Filter>,
    config: &Arc<TlsConfig>,
    (host, port): (&str, u16),
    sessions: &Arc<PeerSessions>,
) -> Result<VerifiedFlight, LayerError> {
    let made = connection(config, host, sessions, false);
    let made = made.map_err(|e| LayerError::Final(e.with_verify_result(UNVERIFIED)))?;
    let mut flight = Flight::new(below, made);
    flight.run((host, port), Flight::knows_server).await?;
    Ok(VerifiedFlight(flight))
}

impl VerifiedFlight {
    /// Runs the second half.
    pub(super) async fn finish(
        mut self,
        config: &Arc<TlsConfig>,
        peer: (&str, u16),
        sessions: &Arc<PeerSessions>,
    ) -> Result<Box<TlsFilter>, NetError> {
        self.0.run(peer, |_| false).await.map_err(LayerError::into_error)?;
        let info = self.0.info(config, sessions);
        sessions.agreed(info.alpn.as_deref());
        self.0.into_filter(info).map_err(|(error, _)| error)
    }
}

/// Returns whether a record that rustls made is an alert.
fn is_alert(record: &[u8]) -> bool {
    record.first().is_some_and(|kind| *kind == ALERT || *kind == DATA && record.len() <= ALERT_OF_TLS13)
}

/// Returns a connection that has sent nothing yet; with `early` it may send more than its hello.
#[inline(never)]
pub(super) fn connection(
    config: &TlsConfig,
    host: &str,
    peer: &Arc<PeerSessions>,
    early: bool,
) -> Result<(Box<UnbufferedClientConnection>, Arc<Overheard>), NetError> {
    // The keys for the hello take more stack than a caller may have.
    with_room(|| new_connection(config, host, peer, early))
}

fn new_connection(
    config: &TlsConfig,
    host: &str,
    peer: &Arc<PeerSessions>,
    early: bool,
) -> Result<(Box<UnbufferedClientConnection>, Arc<Overheard>), NetError> {
    let name = server_name(host).ok_or_else(|| {
        NetError::new(NetErrorKind::SslConnectError, "TLS connect error: invalid host name")
    })?;
    let mut client = peer.client_config(config, early);
    let overheard = Arc::new(Overheard::new(client.key_log.clone()));
    client.key_log = overheard.clone();
    let conn =
        UnbufferedClientConnection::new(Arc::new(client), name).map_err(|e| alerts::connect_error(&e))?;
    Ok((Box::new(conn), overheard))
}

/// Returns the name for SNI: none for an address; a name without its final dot.
fn server_name(host: &str) -> Option<ServerName<'static>> {
    if let Some(ip) = names::address(host) {
        return Some(ServerName::IpAddress(ip.into()));
    }
    ServerName::try_from(host.strip_suffix('.').unwrap_or(host).to_string()).ok()
}

impl Flight {
    pub(super) fn new(
        below: Box<dyn Filter>,
        (conn, overheard): (Box<UnbufferedClientConnection>, Arc<Overheard>),
    ) -> Flight {
        Flight {
            below,
            conn,
            overheard,
            incoming: vec![0; 4096],
            filled: 0,
            outgoing: Vec::with_capacity(512),
            sent: 0,
            waiting: false,
            heard: false,
            early_taken: false,
            early_plain: Vec::new(),
            ended: false,
        }
    }

    async fn run(&mut self, peer: (&str, u16), halts: fn(&Flight) -> bool) -> Result<(), LayerError> {
        poll_fn(|cx| self.poll_run(cx, peer, halts)).await
    }

    /// Runs until the handshake is done, or `halts` returns true when input is needed.
    pub(super) fn poll_run(
        &mut self,
        cx: &mut Context<'_>,
        (host, port): (&str, u16),
        halts: fn(&Flight) -> bool,
    ) -> Poll<Result<(), LayerError>> {
        loop {
            if self.waiting {
                ready!(self.poll_exchange(cx)).map_err(|e| {
                    LayerError::TryNext(
                        alerts::connect_io_error(&e, host, port).with_verify_result(UNVERIFIED),
                    )
                })?;
                self.waiting = false;
            }
            // Key exchange and the check of certificates take more stack than a caller may have.
            match with_room(|| self.steps()) {
                Ok(Progress::Done) => return Poll::Ready(Ok(())),
                Ok(Progress::NeedInput) if halts(self) => return Poll::Ready(Ok(())),
                Ok(Progress::NeedInput) => self.waiting = true,
                Err(e) => {
                    self.last_words();
                    let other = || alerts::connect_error(&e).with_verify_result(UNVERIFIED);
                    return Poll::Ready(Err(LayerError::Final(verify::verdict(&e).unwrap_or_else(other))));
                }
            }
        }
    }

    /// Creates the hello, and leaves rustls in a state where early data may follow it.
    pub(super) fn say_hello(&mut self) -> Result<(), NetError> {
        while let UnbufferedStatus { state: Ok(ConnectionState::EncodeTlsData(mut data)), .. } =
            self.conn.process_tls_records(&mut [])
        {
            encode(&mut self.outgoing, |out| data.encode(out)).map_err(|e| alerts::connect_error(&e))?;
        }
        self.waiting = true;
        Ok(())
    }

    /// Encrypts early data to send with the hello. Encrypts nothing if the session allows no more, or the
    /// server has answered.
    pub(super) fn add_early(&mut self, bytes: &[u8]) -> usize {
        if self.heard {
            return 0;
        }
        let status = self.conn.process_tls_records(&mut []);
        let Ok(ConnectionState::TransmitTlsData(mut data)) = status.state else { return 0 };
        let Some(mut early) = data.may_encrypt_early_data() else { return 0 };
        let start = self.outgoing.len();
        let room = bytes.len() + bytes.len().div_ceil(MAX_PLAINTEXT) * OVERHEAD;
        self.outgoing.resize(start + room, 0);
        let sealed = early.encrypt(bytes, &mut self.outgoing[start..]);
        self.outgoing.truncate(start + sealed.as_ref().copied().unwrap_or(0));
        if sealed.is_ok() { bytes.len() } else { 0 }
    }

    /// Returns whether the certificate is verified and our response is ready to be sent (TLS 1.2; a handshake
    /// of TLS 1.3 is done by then).
    fn knows_server(&self) -> bool {
        !self.outgoing.is_empty() && self.conn.peer_certificates().is_some()
    }

    /// Lets rustls process the input until there is nothing left to do.
    fn steps(&mut self) -> Result<Progress, Error> {
        loop {
            match self.step()? {
                Step::Again => {}
                Step::End(progress) => return Ok(progress),
            }
        }
    }

    /// Lets rustls process the input for one step.
    fn step(&mut self) -> Result<Step, Error> {
        let UnbufferedStatus { discard, state } =
            self.conn.process_tls_records(&mut self.incoming[..self.filled]);
        let step = match state {
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                let start = self.outgoing.len();
                encode(&mut self.outgoing, |out| data.encode(out))?;
                let record = &self.outgoing[start..];
                self.early_taken |= record.len() == END_OF_EARLY_DATA && record[0] == DATA;
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
            Ok(ConnectionState::WriteTraffic(_)) => Ok(Step::End(Progress::Done)),
            // Who was asked early may have answered and said goodbye by now.
            Ok(ConnectionState::PeerClosed) => {
                self.ended = true;
                Ok(Step::End(Progress::Done))
            }
            Ok(ConnectionState::BlockedHandshake) => Ok(Step::End(Progress::NeedInput)),
            Ok(_) => Err(unexpected_end()),
            Err(e) => Err(e),
        };
        self.incoming.copy_within(discard..self.filled, 0);
        self.filled -= discard;
        match step {
            Ok(_) if self.ended && self.conn.is_handshaking() => Err(unexpected_end()),
            // rustls has opened the first part of a ticket where it lies, and must see the rest.
            Ok(Step::End(Progress::Done)) if !self.ended && holds_record(&self.incoming[..self.filled]) => {
                match discard {
                    0 => Ok(Step::End(Progress::NeedInput)),
                    _ => Ok(Step::Again),
                }
            }
            step => step,
        }
    }

    /// Sends what is ready, then waits for input.
    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        if self.filled == self.incoming.len() {
            if self.filled >= MAX_FLIGHT {
                return Poll::Ready(Err(io::Error::other("excessive message size")));
            }
            self.incoming.resize(self.filled * 2, 0);
        }
        match ready!(self.below.poll_read(cx, &mut self.incoming[self.filled..]))? {
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            n => {
                self.heard = true;
                self.filled += n;
                Poll::Ready(Ok(()))
            }
        }
    }

    pub(super) fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
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

    /// Sends the alert that informs the server of the error, if it can be sent at once.
    fn last_words(&mut self) {
        // The alert may be behind messages that were ready before it. After the alert rustls must not see the
        // input again: it asserts that it fails once.
        while let Ok(ConnectionState::EncodeTlsData(mut data)) =
            self.conn.process_tls_records(&mut self.incoming[..self.filled]).state
        {
            let start = self.outgoing.len();
            let encoded = encode(&mut self.outgoing, |out| data.encode(out));
            if encoded.is_err() || is_alert(&self.outgoing[start..]) {
                break;
            }
        }
        let _ = self.poll_send(&mut Context::from_waker(Waker::noop()));
    }

    pub(super) fn info(&self, config: &TlsConfig, peer: &PeerSessions) -> TlsInfo {
        let conn = &self.conn;
        let resumed = conn.handshake_kind() == Some(HandshakeKind::Resumed);
        let certs = conn.peer_certificates().unwrap_or_default();
        let suite =
            conn.negotiated_cipher_suite().map_or(CipherSuite::TLS_NULL_WITH_NULL_NULL, |s| s.suite());
        let info = TlsInfo {
            version: if conn.protocol_version() == Some(ProtocolVersion::TLSv1_2) {
                "TLSv1.2"
            } else {
                "TLSv1.3"
            },
            cipher: suites::name(suite),
            group: conn.negotiated_key_exchange_group().map_or("", |g| suites::group_name(g.name())),
            alpn: conn.alpn_protocol().map(|a| String::from_utf8_lossy(a).into_owned()),
            exported: conn.negotiated_cipher_suite().and_then(|suite| self.overheard.name(suite)),
            resumed,
            verify_result: if config.verify_peer { 0 } else { peer.built.verifier.unverified_result(certs) },
            certinfo: if config.certinfo { certinfo::of_chain(certs) } else { Vec::new() },
            sessions: Some(peer.store().clone()),
            peer_cert: certs.first().map(|leaf| peer.leaf(leaf)),
            ..TlsInfo::default()
        };
        peer.describe_chain(info, certs)
    }

    /// Takes the keys over. An error returns the layer below.
    pub(super) fn into_filter(self, info: TlsInfo) -> Result<Box<TlsFilter>, (NetError, Box<dyn Filter>)> {
        // The state of rustls (8 KiB) is moved through the frame.
        with_room(|| self.take_keys(info))
    }

    fn take_keys(mut self, info: TlsInfo) -> Result<Box<TlsFilter>, (NetError, Box<dyn Filter>)> {
        let tls13 = info.version == "TLSv1.3";
        let suite = self.conn.negotiated_cipher_suite();
        let traffic = suite.and_then(|suite| self.overheard.take_traffic(suite));
        let keys = self.conn.dangerous_into_kernel_connection().ok().and_then(|(passed, kernel)| {
            let (tx, rx) = (passed.tx, passed.rx);
            let secrets = match traffic {
                Some(traffic) => Secrets::Tls13(Box::new(traffic)),
                None => Secrets::of_tls12(suite?.suite(), [&tx.1, &rx.1])?,
            };
            Some((Key::new(rx.1, rx.0, tls13)?, Key::new(tx.1, tx.0, tls13)?, secrets, kernel))
        });
        let agrees = |secrets: &Secrets| matches!(secrets, Secrets::Tls13(_)) == tls13;
        let Some((rx, tx, secrets, kernel)) = keys.filter(|(.., secrets, _)| agrees(secrets)) else {
            let text = "TLS connect error: no traffic keys";
            return Err((NetError::new(NetErrorKind::SslConnectError, text), self.below));
        };
        self.incoming.truncate(self.filled);
        let mut filter = Box::new(TlsFilter {
            below: self.below,
            rx,
            tx,
            secrets,
            // With TLS 1.2 the ticket was part of the handshake.
            tickets: tls13.then(|| Tickets { kernel: Box::new(kernel), came: false }),
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
            key_limit: KEY_LIMIT,
            over: self.ended.then_some(Over::Clean),
            said_goodbye: false,
            streaming: false,
            patience: super::MAX_PATIENCE,
            full: false,
        });
        filter.take_over(self.incoming);
        Ok(filter)
    }
}

impl TlsFilter {
    /// Decrypts records that arrived with the end of the handshake and that rustls did not process.
    fn take_over(&mut self, mut records: Vec<u8>) {
        let n = self.open_all(&mut records);
        self.own.truncate(self.end);
        self.own.extend_from_slice(&records[..n]);
        self.end = self.own.len();
        debug_assert!(self.inbox.len() <= MAX_PLAINTEXT * 2);
    }
}

/// A close_notify within the handshake.
fn unexpected_end() -> Error {
    Error::General("unexpected eof while reading".into())
}

/// Returns whether the input begins with a complete record.
fn holds_record(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<HEADER>() {
        Some([.., hi, lo]) => bytes.len() >= HEADER + usize::from(u16::from_be_bytes([*hi, *lo])),
        None => false,
    }
}

/// Appends the output of an encoder.
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
