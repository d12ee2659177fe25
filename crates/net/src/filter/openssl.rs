//! TLS by the system's OpenSSL, for programs that ask for it: ciphertext goes through the library's memory, so that the multi
//! handle stays the reactor and nothing blocks.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use openssl::{Connection, Failure, Progress};
use rustls::pki_types::{CertificateDer, UnixTime};

use super::tls::SessionStore;
use crate::tls::openssl::Prepared;
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::verify::Verifier;
use crate::tls::written::{self, Written};
use crate::tls::{TlsConfig, TlsInfo, alerts, binding, certinfo, names, verdict};
use crate::{Carrier, Filter, Idle, NetError, NetErrorKind};
use runtime::{Reactor, Socket};

/// What is received at once.
const ROOM: usize = 16 * 1024 + 512;
/// Plaintext enciphered before it must be sent.
const WRITE_AHEAD: usize = 128 * 1024;
/// Bytes of an unfinished handshake that a server may send: a long chain is 20 KB.
const MAX_FLIGHT: usize = 256 * 1024;

/// A TLS connection as the client, by OpenSSL.
pub struct OpenSslFilter {
    below: Box<dyn Filter>,
    tls: Connection,
    info: Arc<TlsInfo>,
    /// Where what comes with the connection's life is kept.
    kept: Kept,
    /// Plaintext that was met while nobody read.
    own: Vec<u8>,
    outbox: Vec<u8>,
    sent: usize,
    said_goodbye: bool,
    /// The peer has said goodbye.
    ended: bool,
}

/// Whose sessions they are.
struct Kept {
    store: SessionStore,
    config: Arc<TlsConfig>,
    host: String,
    port: u16,
    wanted: bool,
}

impl Kept {
    fn put(&self, tls: &mut Connection) {
        for session in tls.sessions() {
            self.put_back(Written {
                ticket: session.der,
                version: session.version,
                until: written::now().saturating_add(session.lifetime),
                alpn: tls.alpn(),
                early: session.early,
            });
        }
    }

    fn put_back(&self, session: Written) {
        self.store.written().put(&self.config.sessions_of(), &self.host, self.port, session);
    }

    fn take(&self) -> Option<Written> {
        self.store.written().take(&self.config.sessions_of(), &self.host, self.port)
    }
}

/// Does the handshake on `below`, with what is prepared, and checks the server.
pub async fn handshake(
    below: Box<dyn Filter>,
    prepared: Prepared,
    config: &Arc<TlsConfig>,
    (host, port): (&str, u16),
    sessions: &SessionStore,
) -> Result<OpenSslFilter, NetError> {
    let Prepared { context, verifier } = prepared;
    let name = host.strip_suffix('.').unwrap_or(host);
    let sni = names::address(host).is_none().then_some(name);
    let wanted = config.resumes();
    let tls = context.connect(sni, config.verify_status).map_err(|e| refused(&e, None))?;
    let kept = Kept {
        store: sessions.clone(),
        config: config.clone(),
        host: host.to_ascii_lowercase(),
        port,
        wanted,
    };
    let mut filter = OpenSslFilter {
        below,
        tls,
        info: Arc::default(),
        kept,
        own: Vec::new(),
        outbox: Vec::new(),
        sent: 0,
        said_goodbye: false,
        ended: false,
    };
    let resumable = wanted.then(|| filter.kept.take()).flatten();
    if let Some(session) = &resumable {
        filter.tls.resume(&session.ticket);
    }
    let mut heard = 0;
    poll_fn(|cx| filter.poll_handshake(cx, (host, port), &mut heard)).await?;
    filter.judge(&verifier, host)?;
    // One of TLS 1.2 is good for many connections, and no other is given for it.
    if let Some(session) = resumable.filter(|_| filter.tls.is_resumed() && filter.info.version != "TLSv1.3") {
        filter.kept.put_back(session);
    }
    filter.kept.put(&mut filter.tls);
    Ok(filter)
}

/// What a handshake is called that failed.
fn refused(failure: &Failure, tls: Option<&Connection>) -> NetError {
    let result = tls.map_or(0, |tls| tls.verdict());
    if failure.is(openssl::CERTIFICATE_VERIFY_FAILED) {
        let text = match tls.filter(|_| result != verdict::OK) {
            Some(tls) => format!("SSL certificate OpenSSL verify result: {} ({result})", tls.verdict_text()),
            None => "SSL certificate verification failed".to_owned(),
        };
        return NetError::new(NetErrorKind::PeerFailedVerification, text).with_verify_result(result);
    }
    let kind = match failure.is(openssl::CERTIFICATE_REQUIRED) {
        true => NetErrorKind::SslClientcert,
        false => NetErrorKind::SslConnectError,
    };
    NetError::new(kind, format!("TLS connect error: {failure}")).with_verify_result(UNVERIFIED)
}

/// A failed read or write of an established connection.
fn broken(what: &str, failure: &Failure) -> io::Error {
    let kind = match failure.is(openssl::UNEXPECTED_EOF) || failure.code == 0 {
        true => io::ErrorKind::UnexpectedEof,
        false => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, format!("OpenSSL {what}: {failure}, errno 0"))
}

impl OpenSslFilter {
    /// What was agreed on.
    pub fn info(&self) -> &TlsInfo {
        &self.info
    }

    fn poll_handshake(
        &mut self,
        cx: &mut Context<'_>,
        (host, port): (&str, u16),
        heard: &mut usize,
    ) -> Poll<Result<(), NetError>> {
        let lost = |e: io::Error| alerts::connect_io_error(&e, host, port).with_verify_result(UNVERIFIED);
        loop {
            let progress = self.tls.handshake();
            if let Err(failure) = &progress {
                let _ = self.push(&mut Context::from_waker(Waker::noop())); // the alert that says why
                return Poll::Ready(Err(refused(failure, Some(&self.tls))));
            }
            ready!(self.poll_send(cx)).map_err(lost)?;
            match progress {
                Ok(Progress::Done(_)) => return Poll::Ready(Ok(())),
                Ok(Progress::Closed) => return Poll::Ready(Err(lost(io::ErrorKind::UnexpectedEof.into()))),
                _ => {}
            }
            *heard += ready!(self.poll_receive(cx)).map_err(lost)?;
            if *heard > MAX_FLIGHT {
                return Poll::Ready(Err(lost(io::Error::other("excessive message size"))));
            }
        }
    }

    /// Name, status, issuer and pinned key, and what is told of the connection.
    fn judge(&mut self, verifier: &Verifier, host: &str) -> Result<(), NetError> {
        let chain: Vec<CertificateDer<'static>> = self.tls.chain().into_iter().map(Into::into).collect();
        let config = &self.kept.config;
        let resumed = self.tls.is_resumed();
        match chain.split_first() {
            // Who is resumed was judged under the same rules.
            Some((leaf, others)) if !resumed => {
                let name = host.strip_suffix('.').unwrap_or(host);
                verifier.check_leaf(leaf, others, name, self.tls.status(), UnixTime::now())?;
            }
            None if config.verify_peer || config.verify_host || config.pinned_key.is_some() => {
                let text = "SSL: could not get peer certificate";
                return Err(NetError::new(NetErrorKind::PeerFailedVerification, text));
            }
            _ => {}
        }
        let version = self.tls.version();
        self.info = Arc::new(TlsInfo {
            version,
            cipher: self.tls.cipher(),
            group: self.tls.group(),
            alpn: self.tls.alpn(),
            exported: (version == "TLSv1.3").then(|| self.tls.export(binding::EXPORTER_LABEL)).flatten(),
            resumed,
            early: 0,
            late: None,
            verify_result: self.tls.verdict(),
            certinfo: if config.certinfo { certinfo::of_chain(&chain) } else { Vec::new() },
            peer_cert: chain.first().map(|leaf| (**leaf).into()),
            native: Some(self.tls.addresses()),
            sessions: Some(self.kept.store.clone()),
        });
        Ok(())
    }

    /// Receives once and hands it to the library; 0 is the end.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.receive(|below, room| below.poll_read(cx, room))
    }

    fn receive(
        &mut self,
        receive: impl FnOnce(&mut dyn Filter, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut room = [0; ROOM];
        let n = ready!(receive(self.below.as_mut(), &mut room))?;
        match n {
            0 => self.tls.end_input(),
            n => self.tls.put(&room[..n]),
        }
        Poll::Ready(Ok(n))
    }

    /// Reads until there is data, an end, or nothing more to be received now. Whoever is to be woken when more can be sent is
    /// in the context: another one there would take his place.
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
            // An answer of the library's own (a key update, a certificate asked for later) leaves at once, or with the next.
            let _ = self.push(cx); // reading neither waits for it nor fails with it
            match progress.map_err(|e| broken("SSL_read", &e))? {
                Progress::Done(n) => return Poll::Ready(Ok(n)),
                Progress::Closed => {
                    self.ended = true;
                    return Poll::Ready(Ok(0));
                }
                Progress::NeedsInput => {
                    ready!(self.receive(|below, room| receive(below, cx, room)))?;
                }
            }
        }
    }

    /// Sends what the library has made.
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
        Idle::Closed // a server that goes on without being asked anything
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

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.push(cx))?;
        let mut taken = 0;
        while taken < buf.len().min(WRITE_AHEAD) {
            match self.tls.write(&buf[taken..]).map_err(|e| broken("SSL_write", &e))? {
                Progress::Done(n) => taken += n,
                // A renegotiation: what the peer has to say comes first.
                Progress::NeedsInput if taken == 0 => {
                    ready!(self.poll_receive(cx))?;
                }
                Progress::NeedsInput => break,
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
        // What came in clear before the goodbye was answered could be anybody's.
        let ended = self.ended && self.said_goodbye && self.outbox.is_empty();
        (ended && !self.tls.has_input()).then_some(self.below)
    }
}
