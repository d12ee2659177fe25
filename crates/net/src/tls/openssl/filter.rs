//! TLS by the system's OpenSSL, for programs that request it. Ciphertext passes through memory of the
//! library, so that the multi handle remains the reactor and nothing blocks.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use openssl::{self as library, Connection, Failure, Progress};
use rustls::pki_types::{CertificateDer, UnixTime};

use super::PreparedContext;
use super::sessions::StoredSession;
use crate::tls::handshake::{ChainDetail, Server};
use crate::tls::record::KEY_LIMIT;
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::verify::{Presented, Verifier};
use crate::tls::{
    Expiry, SessionStore, TlsConfig, TlsInfo, TrustReport, alerts, binding, certinfo, names, verdict,
};
use crate::{Carrier, Filter, Idle, LayerError, NetError, NetErrorKind};
use runtime::{Reactor, Sleep, Socket, seconds_since_1970};

/// Indices into [`OpenSslFilter::used`].
const OURS: usize = 0;
const PEERS: usize = 1;
/// Size of one read.
const ROOM: usize = 16 * 1024 + 512;
/// Maximum plaintext that is encrypted before it must be sent.
const WRITE_AHEAD: usize = 128 * 1024;
/// Limit of received bytes without data, in a handshake and later: a long chain is 20 KB.
const MAX_FLIGHT: usize = 256 * 1024;
/// Limit of bytes that wait to be sent, for a peer that keeps requesting new keys and reads nothing.
const MAX_OWED: usize = WRITE_AHEAD + MAX_FLIGHT;

/// A TLS connection as the client, by OpenSSL.
pub struct OpenSslFilter {
    below: Box<dyn Filter>,
    tls: Connection,
    info: Arc<TlsInfo>,
    /// As in [`TlsInfo`], until the handshake is over.
    expiry: Option<Expiry>,
    trust: Option<Arc<TrustReport>>,
    /// Access to the session store during the connection's life.
    kept: SessionAccess,
    /// Plaintext that was received during a check of the idle connection.
    own: Vec<u8>,
    outbox: Vec<u8>,
    sent: usize,
    /// Bytes received since the last data.
    heard: usize,
    /// Number of records under our current key, and under the peer's. OpenSSL 3 renews no key by itself.
    used: [u64; 2],
    /// Number of records after which a key of TLS 1.3 is renewed ([`KEY_LIMIT`]).
    key_limit: u64,
    /// Ends the pause before the next call of the verify callback.
    retry: Option<Sleep>,
    said_goodbye: bool,
    /// Whether the peer has sent close_notify.
    ended: bool,
}

/// The sessions of one server, as used by one connection. It takes one before its handshake, and stores new
/// ones after it. Only these two steps need an application's lock.
pub struct SessionAccess {
    store: SessionStore,
    config: Arc<TlsConfig>,
    host: String,
    port: u16,
    detail: ChainDetail,
    wanted: bool,
    taken: Option<StoredSession>,
    /// The clock of a handshake whose verdict is postponed.
    reactor: Arc<Reactor>,
}

/// Pause before a verify callback that has put off its verdict is called again. curl 8.22 waits for another
/// event of the transfer; an application that has none to offer would wait until its time is over.
const VERDICT_PAUSE: Duration = Duration::from_millis(10);

impl SessionAccess {
    /// Takes a session to resume out of the store.
    pub fn begin(store: &SessionStore, server: Server<'_>, reactor: &Arc<Reactor>) -> SessionAccess {
        let (host, wanted, reactor) = (server.host.to_owned(), server.config.resumes(), reactor.clone());
        let Server { port, detail, .. } = server;
        let (store, config) = (store.clone(), server.config.clone());
        let mut kept = SessionAccess { store, config, host, port, detail, wanted, taken: None, reactor };
        kept.taken = server.takes_session().then(|| kept.take()).flatten();
        kept
    }

    fn put(&self, tls: &mut Connection) {
        for session in tls.sessions() {
            self.put_back(StoredSession {
                ticket: session.der,
                version: session.version,
                until: seconds_since_1970().saturating_add(session.lifetime),
                alpn: tls.alpn(),
                early: session.early,
            });
        }
    }

    fn put_back(&self, session: StoredSession) {
        let host = self.host.to_ascii_lowercase();
        self.store.of_system().put(&self.config.sessions_of(), &host, self.port, session);
    }

    fn take(&self) -> Option<StoredSession> {
        let host = self.host.to_ascii_lowercase();
        self.store.of_system().take(&self.config.sessions_of(), &host, self.port)
    }
}

/// Shakes hands until the server has answered and is verified.
pub(super) async fn answered(
    below: Box<dyn Filter>,
    prepared: PreparedContext,
    kept: SessionAccess,
) -> Result<Box<OpenSslFilter>, LayerError> {
    let PreparedContext { context, verifier } = prepared;
    let mut filter = Box::new(OpenSslFilter::new(below, context, kept).map_err(LayerError::Final)?);
    let shaken = poll_fn(|cx| filter.poll_handshake(cx, OpenSslFilter::knows_server)).await;
    shaken.map_err(|fault| filter.with_report(fault, &verifier))?;
    let judged = filter.judge(&verifier).map_err(LayerError::Final);
    judged.map_err(|fault| filter.with_report(fault, &verifier))?;
    filter.note_chain(&verifier);
    Ok(filter)
}

/// Shakes hands from beginning to end, for tests that need the filter itself.
#[cfg(test)]
pub(in crate::tls) async fn handshake(
    below: Box<dyn Filter>,
    server: Server<'_>,
    sessions: &SessionStore,
    reactor: &Arc<Reactor>,
) -> Result<Box<OpenSslFilter>, NetError> {
    let prepared = PreparedContext::new(server.config)?;
    let kept = SessionAccess::begin(sessions, server, reactor);
    let mut filter = answered(below, prepared, kept).await.map_err(LayerError::into_error)?;
    filter.finish().await?;
    filter.settle();
    Ok(filter)
}

/// Converts the error of a failed handshake. An error of the chain may be reported before the verdict.
fn refused(failure: &Failure, tls: &Connection, verifies: bool) -> NetError {
    let result = tls.verdict();
    if verifies && result != verdict::OK {
        let text = format!("SSL certificate OpenSSL verify result: {} ({result})", tls.verdict_text());
        return NetError::new(NetErrorKind::PeerFailedVerification, text).with_verify_result(result);
    }
    if failure.is(library::CERTIFICATE_VERIFY_FAILED) {
        let text = "SSL certificate verification failed";
        return NetError::new(NetErrorKind::PeerFailedVerification, text).with_verify_result(result);
    }
    let kind = match failure.is(library::CERTIFICATE_REQUIRED) {
        true => NetErrorKind::SslClientcert,
        false => NetErrorKind::SslConnectError,
    };
    NetError::new(kind, connect_error(failure)).with_verify_result(UNVERIFIED)
}

fn not_begun(failure: &Failure) -> NetError {
    NetError::new(NetErrorKind::SslConnectError, connect_error(failure)).with_verify_result(UNVERIFIED)
}

fn connect_error(failure: &Failure) -> String {
    format!("TLS connect error: {failure}")
}

/// A failed read or write of an established connection.
fn broken(what: &str, failure: &Failure) -> io::Error {
    let kind = match failure.is(library::UNEXPECTED_EOF) || failure.code == 0 {
        true => io::ErrorKind::UnexpectedEof,
        false => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, format!("OpenSSL {what}: {failure}, errno 0"))
}

/// Returns the name for SNI and for the certificate: without its final dot.
fn named(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// The error of a peer that exceeds a limit.
fn excessive() -> io::Error {
    alerts::violation("error:0A000098:SSL routines::excessive message size")
}

impl OpenSslFilter {
    /// Creates a connection that has sent nothing yet.
    fn new(
        below: Box<dyn Filter>,
        context: library::Context,
        kept: SessionAccess,
    ) -> Result<OpenSslFilter, NetError> {
        let name = names::address(&kept.host).is_none().then(|| named(&kept.host));
        let mut tls = context.connect(name).map_err(|e| not_begun(&e))?;
        if let Some(session) = &kept.taken {
            tls.resume(&session.ticket);
        }
        Ok(OpenSslFilter {
            below,
            tls,
            info: Arc::default(),
            expiry: None,
            trust: None,
            kept,
            own: Vec::new(),
            outbox: Vec::new(),
            sent: 0,
            heard: 0,
            used: [0; 2],
            key_limit: KEY_LIMIT,
            retry: None,
            said_goodbye: false,
            ended: false,
        })
    }

    /// Ends the handshake with a server that has answered.
    pub(super) async fn finish(&mut self) -> Result<(), NetError> {
        poll_fn(|cx| self.poll_handshake(cx, |_, _| false)).await.map_err(LayerError::into_error)?;
        self.retry = None;
        self.describe();
        Ok(())
    }

    #[cfg(test)]
    pub(in crate::tls) fn renew_keys_after(&mut self, records: u64) {
        self.key_limit = records;
    }

    /// Puts the sessions that were received with the handshake into the store.
    pub fn settle(&mut self) {
        // A session of TLS 1.2 serves many connections, and the server sends no new one.
        let taken = self.kept.taken.take();
        if let Some(session) = taken.filter(|_| self.tls.is_resumed() && self.info.version != "TLSv1.3") {
            self.kept.put_back(session);
        }
        self.kept.put(&mut self.tls);
    }

    /// Runs until the handshake is done, or `halts` returns true.
    fn poll_handshake(
        &mut self,
        cx: &mut Context<'_>,
        halts: fn(&OpenSslFilter, Progress) -> bool,
    ) -> Poll<Result<(), LayerError>> {
        let (host, port) = (self.kept.host.clone(), self.kept.port);
        let lost = |e: io::Error| {
            LayerError::TryNext(alerts::connect_io_error(&e, &host, port).with_verify_result(UNVERIFIED))
        };
        let mut hung_up = false;
        loop {
            let progress = match self.tls.handshake() {
                Ok(progress) => progress,
                Err(failure) => {
                    let _ = self.push(&mut Context::from_waker(Waker::noop())); // the alert with the reason
                    let error = refused(&failure, &self.tls, self.kept.config.verify_peer);
                    // A peer that hangs up is not verified, whatever error the library reports.
                    let fault = if hung_up { LayerError::TryNext(error) } else { LayerError::Final(error) };
                    return Poll::Ready(Err(fault));
                }
            };
            if halts(self, progress) {
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_send(cx)).map_err(lost)?;
            match progress {
                Progress::Done(_) => return Poll::Ready(Ok(())),
                Progress::Closed => return Poll::Ready(Err(lost(io::ErrorKind::UnexpectedEof.into()))),
                Progress::Unjudged => {
                    let timer = self.retry.insert(self.kept.reactor.sleep(VERDICT_PAUSE));
                    ready!(Pin::new(timer).poll(cx));
                    continue;
                }
                Progress::NeedsInput => {}
            }
            hung_up = ready!(self.poll_receive(cx)).map_err(lost)? == 0;
        }
    }

    /// Returns whether the certificate is verified and our response is ready to be sent. With TLS 1.3 the
    /// handshake is done by then. Before that, only a second hello could be sent (after a HelloRetryRequest).
    fn knows_server(&self, progress: Progress) -> bool {
        match progress {
            Progress::Done(_) => true,
            Progress::NeedsInput if self.heard > 0 && self.tls.has_output() => {
                self.tls.version() != "TLSv1.3" && !self.tls.chain().is_empty()
            }
            _ => false,
        }
    }

    /// Checks name, status, issuer and pinned key.
    fn judge(&self, verifier: &Verifier) -> Result<(), NetError> {
        let chain = self.certificates();
        let config = &self.kept.config;
        match chain.split_first() {
            // A resumed session was verified by the same rules.
            Some((leaf, others)) if !self.tls.is_resumed() => {
                let (name, now) = (named(&self.kept.host), UnixTime::now());
                verifier.check_leaf(leaf, others, name, self.tls.status(), now)?;
            }
            None if config.verify_peer || config.verify_host || config.pinned_key.is_some() => {
                let text = "SSL: could not get peer certificate";
                return Err(NetError::new(NetErrorKind::PeerFailedVerification, text));
            }
            _ => {}
        }
        Ok(())
    }

    /// Records what is to be reported about the server's certificates, once they are verified.
    fn note_chain(&mut self, verifier: &Verifier) {
        if self.kept.detail != ChainDetail::Leaf {
            self.expiry = verifier.expiry(&self.certificates());
        }
        if self.kept.detail == ChainDetail::Checks {
            self.trust = Some(Arc::new(self.report(verifier, None)));
        }
    }

    /// Describes how the server's certificates are judged. The library's verdict counts.
    fn report(&self, verifier: &Verifier, refusal: Option<&NetError>) -> TrustReport {
        let (certs, host) = (self.certificates(), named(&self.kept.host));
        let presented = Presented { certs: &certs, host, stapled: self.tls.status(), now: UnixTime::now() };
        let verdict = self.kept.config.verify_peer.then(|| self.tls.verdict());
        verifier.report(presented, verdict, refusal)
    }

    /// Adds a report to the refusal of a server that has presented certificates, if it is to be reported.
    fn with_report(&self, fault: LayerError, verifier: &Verifier) -> LayerError {
        if self.kept.detail != ChainDetail::Checks || self.tls.chain().is_empty() {
            return fault;
        }
        let report = Arc::new(self.report(verifier, Some(fault.error())));
        fault.map(|error| error.with_trust(report))
    }

    /// Records the negotiated parameters.
    fn describe(&mut self) {
        let chain = self.certificates();
        let config = &self.kept.config;
        let version = self.tls.version();
        self.info = Arc::new(TlsInfo {
            version,
            cipher: self.tls.cipher(),
            group: self.tls.group(),
            alpn: self.tls.alpn(),
            exported: (version == "TLSv1.3").then(|| self.tls.export(binding::EXPORTER_LABEL)).flatten(),
            resumed: self.tls.is_resumed(),
            early: 0,
            late: None,
            verify_result: self.tls.verdict(),
            expiry: self.expiry.take(),
            trust: self.trust.take(),
            certinfo: if config.certinfo { certinfo::of_chain(&chain) } else { Vec::new() },
            peer_cert: chain.first().map(|leaf| (**leaf).into()),
            native: Some(self.tls.addresses()),
            sessions: Some(self.kept.store.clone()),
        });
    }

    fn certificates(&self) -> Vec<CertificateDer<'static>> {
        self.tls.chain().into_iter().map(Into::into).collect()
    }

    /// Receives once and passes the input to the library; 0 is the end.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.receive(|below, room| below.poll_read(cx, room))
    }

    fn receive(
        &mut self,
        receive: impl FnOnce(&mut dyn Filter, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.heard > MAX_FLIGHT || self.outbox.len() - self.sent > MAX_OWED {
            return Poll::Ready(Err(excessive()));
        }
        // A waiting connection holds no such buffer, and a caller's stack may not have room for it.
        let mut room = vec![0; ROOM];
        let n = ready!(receive(self.below.as_mut(), &mut room))?;
        match n {
            0 => self.tls.end_input(),
            n => self.tls.put(&room[..n]),
        }
        self.heard += n;
        Poll::Ready(Ok(n))
    }

    /// Reads until there is data, an end, or no more input now. `cx` is the context of the task that waits to
    /// send: any other one would replace it.
    fn read_by(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        mut receive: impl FnMut(&mut dyn Filter, &mut Context<'_>, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let progress = self.tls.read(buf);
            if self.kept.wanted {
                self.kept.put(&mut self.tls);
            }
            // An answer of the library's own (a key update, a certificate asked for later) leaves at once, or
            // with the next.
            let _ = self.push(cx); // reading neither waits for it nor fails with it
            match progress.map_err(|e| broken("SSL_read", &e))? {
                Progress::Done(n) => {
                    self.heard = 0;
                    self.count(PEERS);
                    return Poll::Ready(Ok(n));
                }
                Progress::Closed => {
                    self.ended = true;
                    return Poll::Ready(Ok(0));
                }
                // Only a handshake calls the verify callback; a renegotiation under way is bounded by its
                // input.
                Progress::NeedsInput | Progress::Unjudged => {
                    ready!(self.receive(|below, room| receive(below, cx, room)))?;
                }
            }
        }
    }

    /// Counts a record under a key. A key of TLS 1.3 that reaches the limit is renewed (RFC 8446, section
    /// 5.5); for a key of the peer's, new ones are requested.
    fn count(&mut self, whose: usize) {
        self.used[whose] += 1;
        if self.used[whose] >= self.key_limit && self.info.version == "TLSv1.3" {
            self.used[whose] = 0;
            self.tls.renew_keys(whose == PEERS);
        }
    }

    /// Sends the output of the library.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.push(cx))?;
        self.below.poll_flush(cx)
    }

    fn push(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.tls.take(&mut self.outbox);
        while self.sent < self.outbox.len() {
            match ready!(self.below.poll_write(cx, &self.outbox[self.sent..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => self.sent += n,
            }
        }
        self.outbox.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    fn take_own(&mut self, buf: &mut [u8]) -> usize {
        let n = buf.len().min(self.own.len());
        buf[..n].copy_from_slice(&self.own[..n]);
        self.own.drain(..n);
        n
    }
}

impl Carrier for OpenSslFilter {
    fn retire(&mut self) {
        self.say_goodbye();
        self.below.retire();
    }

    fn idle_state(&mut self) -> Idle {
        if !self.own.is_empty() {
            return Idle::Data;
        }
        let mut room = [0; 256];
        for _ in 0..4 {
            if self.ended {
                return Idle::Closed;
            }
            match self.below.idle_state() {
                Idle::Data => {}
                state => {
                    self.outbox = Vec::new(); // an unused connection holds no buffers
                    return state;
                }
            }
            let nobody = &mut Context::from_waker(Waker::noop());
            match self.read_by(nobody, &mut room, |below, _, room| below.try_read(room)) {
                Poll::Ready(Ok(n)) if n > 0 => {
                    self.own.extend_from_slice(&room[..n]);
                    return Idle::Data;
                }
                Poll::Ready(_) => return Idle::Closed,
                Poll::Pending => {} // it was tickets, or part of a record
            }
        }
        Idle::Closed // a server that sends without a request
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.below.attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.below.detach();
    }

    fn socket(&self) -> &Socket {
        self.below.socket()
    }

    fn tls(&self) -> Option<&Arc<TlsInfo>> {
        Some(&self.info)
    }
}

impl Filter for OpenSslFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.own.is_empty() {
            return Poll::Ready(Ok(self.take_own(buf)));
        }
        self.read_by(cx, buf, |below, cx, room| below.poll_read(cx, room))
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.own.is_empty() {
            return Poll::Ready(Ok(self.take_own(buf)));
        }
        let nobody = &mut Context::from_waker(Waker::noop());
        self.read_by(nobody, buf, |below, _, room| below.try_read(room))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.below.forget_read(cx);
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.push(cx))?;
        let mut taken = 0;
        while taken < buf.len().min(WRITE_AHEAD) {
            match self.tls.write(&buf[taken..]).map_err(|e| broken("SSL_write", &e))? {
                Progress::Done(n) => {
                    taken += n;
                    self.count(OURS);
                }
                // A renegotiation: the peer's messages come first.
                Progress::NeedsInput | Progress::Unjudged if taken == 0 => {
                    ready!(self.poll_receive(cx))?;
                }
                Progress::NeedsInput | Progress::Unjudged => break,
                Progress::Closed => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            }
        }
        let _ = self.push(cx)?; // taken is taken: what doesn't fit now goes with the next write or flush
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_send(cx)
    }

    fn say_goodbye(&mut self) {
        if !self.said_goodbye {
            self.said_goodbye = true;
            self.tls.shut_down();
            let _ = self.push(&mut Context::from_waker(Waker::noop()));
        }
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.say_goodbye();
        self.below.poll_end(cx)
    }

    fn uncover(self: Box<Self>) -> Option<Box<dyn Filter>> {
        // Anybody could have sent data in the clear before our close_notify was sent.
        let ended = self.ended && self.said_goodbye && self.outbox.is_empty();
        (ended && !self.tls.has_input()).then_some(self.below)
    }
}
