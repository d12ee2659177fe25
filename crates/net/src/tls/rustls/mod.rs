//! The TLS client filter: rustls does the handshake, then `tls::record` moves records (RFC 8446, RFC 5246).
//!
//! Ciphertext is received into the caller's buffer, decrypted in place and compacted to its front. Only an
//! incomplete record is stored here, at most one. Written data leaves as several records in one send. The
//! last flight of the handshake waits for the first written bytes or the first read, and is sent with them.

mod client;
mod drive;
mod early;
mod handover;
mod yields;

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rustls::client::ClientConnectionData;
use rustls::kernel::KernelConnection;

use crate::handover::{Layer, Obstacle};
use crate::tls::TlsInfo;
use crate::tls::alerts;
use crate::tls::key_schedule::Secrets;
use crate::tls::record::{self, Key, MAX_PLAINTEXT, MAX_RECORD, RecordError, Shape};
use crate::{Carrier, Filter, Idle};
use runtime::{Reactor, Socket};

#[cfg(test)]
use crate::tls::SessionStore;
pub use client::RustlsClient;
#[cfg(test)]
use drive::handshake;
use yields::YIELDS;

/// Smallest caller's buffer that is used directly. A smaller one has no room for a record and the rest of
/// another.
const DIRECT: usize = 2 * MAX_RECORD;
/// Size of our own buffer, which is used when the caller's is too small.
const OWN: usize = DIRECT;
/// A read of this size is part of a stream, and more is in transit. A server that encrypts sends record by
/// record. Waiting for each record would cost a sleep and a wake-up on both sides. So the processor is
/// yielded once, and the next record is waited for only if nothing arrived (335,114 bytes from nginx: 2 reads
/// instead of 14, CPU 40 % less). After a read that filled its room there is nothing to wait for: of 30
/// files of 50 MB from httpd all reads are full, and a yield before each costs up to a quarter of the CPU.
const STREAM: usize = MAX_PLAINTEXT / 2;
/// Number of unsuccessful yields in a row after which this lease of the connection stops yielding.
const MAX_PATIENCE: u8 = 4;
/// Storage of the handshake that is kept: enough for a usual request.
const KEPT_OUTBOX: usize = 256;
/// Maximum plaintext that is encrypted before it must be sent.
const WRITE_AHEAD: usize = 8 * MAX_PLAINTEXT;
/// Longest handshake message after the handshake (a ticket).
const MAX_MESSAGE: usize = 64 * 1024;
/// Maximum number of consecutive records without data.
const MAX_EMPTY: u32 = 64;

/// A TLS connection as the client.
pub struct TlsFilter {
    below: Box<dyn Filter>,
    rx: Key,
    tx: Key,
    /// The secrets behind the keys.
    secrets: Secrets,
    tickets: Option<Tickets>,
    info: Arc<TlsInfo>,
    /// Ciphertext of an incomplete record.
    inbox: Vec<u8>,
    /// Decrypted data that was not returned yet: `own[start..end]`.
    own: Vec<u8>,
    start: usize,
    end: usize,
    outbox: Vec<u8>,
    sent: usize,
    /// Whether the outbox holds only handshake messages, so that more may be added.
    corked: bool,
    /// The start of an incomplete handshake message.
    message: Vec<u8>,
    empty: u32,
    asked_for_keys: bool,
    /// Number of records under one key of TLS 1.3 after which the key is renewed ([`record::KEY_LIMIT`]).
    key_limit: u64,
    over: Option<Over>,
    said_goodbye: bool,
    streaming: bool,
    patience: u8,
    /// Whether the last read in a stream filled its room, so that more has arrived.
    full: bool,
}

/// The receiver of tickets: rustls. For them it keeps the server's whole chain, its facts about the server,
/// and a configuration.
struct Tickets {
    kernel: Box<KernelConnection<ClientConnectionData>>,
    /// Whether a ticket was received.
    came: bool,
}

/// The reason why no more is read.
enum Over {
    /// close_notify.
    Clean,
    Failed(io::ErrorKind, String),
}

/// Reads in a stream without waiting, after the processor was yielded. It is not if the last read was `full`,
/// unless nothing has arrived.
fn receive_in_stream(
    room: &mut [u8],
    full: &mut bool,
    mut yield_now: impl FnMut(),
    mut try_read: impl FnMut(&mut [u8]) -> Poll<io::Result<usize>>,
) -> Poll<io::Result<usize>> {
    let mut tried = if *full { try_read(room) } else { Poll::Pending };
    if tried.is_pending() {
        yield_now();
        tried = try_read(room);
    }
    *full = matches!(tried, Poll::Ready(Ok(n)) if n == room.len());
    tried
}

impl TlsFilter {
    /// Returns the negotiated parameters.
    pub fn info(&self) -> &TlsInfo {
        &self.info
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let _ = self.push(cx); // an answer of ours: reading neither waits for it nor fails with it
        let streaming = self.streaming && YIELDS.are_open();
        let mut patience = if streaming { self.patience } else { 0 };
        let mut full = self.full;
        let filled = self.fill(buf, |below, room| {
            if patience > 0 {
                let tried =
                    receive_in_stream(room, &mut full, || YIELDS.yield_now(), |room| below.try_read(room));
                patience = if tried.is_ready() { MAX_PATIENCE } else { patience - 1 };
                if tried.is_ready() {
                    return tried;
                }
            }
            below.poll_read(cx, room)
        });
        if streaming {
            (self.patience, self.full) = (patience, full);
        }
        self.streaming =
            matches!(filled, Poll::Ready(Ok(n)) if n >= STREAM) || self.streaming && filled.is_pending();
        filled
    }

    /// Receives into `buf` after the rest of the last read, decrypts complete records and keeps the rest,
    /// until there is data.
    fn fill(
        &mut self,
        buf: &mut [u8],
        mut receive: impl FnMut(&mut dyn Filter, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        loop {
            if let Some(end) = &self.over {
                return Poll::Ready(end.result());
            }
            let kept = self.inbox.len();
            buf[..kept].copy_from_slice(&self.inbox);
            let got = match receive(self.below.as_mut(), &mut buf[kept..]) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Ready(Ok(n)) => n,
            };
            if got == 0 {
                self.over = Some(Over::unexpected_eof());
                continue;
            }
            self.inbox = Vec::new(); // its memory too: a pool holds thousands of connections
            let plain = self.open_all(&mut buf[..kept + got]);
            if plain > 0 {
                if self.outbox.is_empty() && self.outbox.capacity() > DIRECT {
                    self.outbox = Vec::new(); // an upload is over
                }
                return Poll::Ready(Ok(plain));
            }
        }
    }

    /// Decrypts each complete record of `buf`, with the plaintext to its front; the rest goes to the inbox.
    /// An error after some data is reported after the data.
    fn open_all(&mut self, buf: &mut [u8]) -> usize {
        let (mut to, mut at) = (0, 0);
        while self.over.is_none() {
            match self.rx.open(buf, to, at) {
                Ok(None) => {
                    self.inbox.extend_from_slice(&buf[at..]);
                    break;
                }
                Err(e) => self.fail_record(e),
                Ok(Some(opened)) => {
                    at += opened.consumed;
                    self.ask_for_keys();
                    if opened.kind == record::DATA && opened.len > 0 && self.message.is_empty() {
                        to += opened.len;
                        self.empty = 0;
                        // Servers send tickets right after the handshake. One or two sessions are enough, so
                        // later tickets are not read.
                        self.tickets.take_if(|tickets| tickets.came);
                    } else {
                        self.control(opened.kind, &buf[to..to + opened.len]);
                    }
                }
            }
        }
        to
    }

    /// Handles a record of any type other than data.
    fn control(&mut self, kind: u8, content: &[u8]) {
        // A server may cut a message into records of one byte each; their sum has a limit of its own.
        self.empty += u32::from(kind != record::HANDSHAKE);
        if self.empty > MAX_EMPTY {
            return self
                .violate(alerts::UNEXPECTED_MESSAGE, "error:0A00012A:SSL routines::too many empty records");
        }
        match (kind, content) {
            (record::ALERT, [_, alerts::CLOSE_NOTIFY]) => self.over = Some(Over::Clean),
            (record::ALERT, [_, alerts::USER_CANCELED]) => {}
            (record::ALERT, [1, _]) if self.rx.shape() != Shape::Tls13 => {} // a warning
            (record::ALERT, [_, alert]) => {
                let e = alerts::received(*alert);
                self.over = Some(Over::Failed(e.kind(), e.to_string()));
            }
            (record::HANDSHAKE, [_, ..]) if self.message.len() + content.len() <= MAX_MESSAGE => {
                self.message.extend_from_slice(content);
                self.messages();
            }
            (record::DATA, []) if self.message.is_empty() => {}
            _ => self.violate(alerts::UNEXPECTED_MESSAGE, "error:0A0000F4:SSL routines::unexpected message"),
        }
    }

    /// Handles the complete handshake messages received so far. The start of another one is not copied, since
    /// it may grow by one byte per record.
    fn messages(&mut self) {
        let mut all = std::mem::take(&mut self.message);
        let mut rest = &all[..];
        while let Some(&[kind, a, b, c]) = rest.first_chunk::<4>() {
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            if length > MAX_MESSAGE {
                return self
                    .violate(alerts::DECODE_ERROR, "error:0A000098:SSL routines::excessive message size");
            }
            let Some(body) = rest.get(4..4 + length) else {
                break;
            };
            rest = &rest[4 + length..];
            self.empty += 1;
            match (kind, self.rx.shape()) {
                (4, Shape::Tls13) => {
                    let Some(tickets) = &mut self.tickets else { continue };
                    if tickets.kernel.handle_new_session_ticket(body).is_err() {
                        return self
                            .violate(alerts::DECODE_ERROR, "error:0A00009F:SSL routines::length mismatch");
                    }
                    tickets.came = true;
                }
                (24, Shape::Tls13) if rest.is_empty() && matches!(body, [0 | 1]) => {
                    self.next_keys(body == [1])
                }
                // HelloRequest: renegotiation is declined, RFC 5246, section 7.4.1.1
                (0, shape) if shape != Shape::Tls13 && body.is_empty() => {
                    if self.may_answer() {
                        self.queue(record::ALERT, &[1, alerts::NO_RENEGOTIATION]);
                    }
                }
                _ => {
                    return self.violate(
                        alerts::UNEXPECTED_MESSAGE,
                        "error:0A0000F4:SSL routines::unexpected message",
                    );
                }
            }
        }
        // Frees the buffer if nothing is left: an idle connection keeps none.
        let handled = all.len() - rest.len();
        if handled < all.len() {
            all.drain(..handled);
            self.message = all;
        }
    }

    /// Handles a KeyUpdate: the peer has new keys (RFC 8446, section 4.6.3), and may request new ones of
    /// ours.
    fn next_keys(&mut self, asked: bool) {
        match self.secrets.renew(1) {
            Some(key) => self.rx = key,
            None => {
                return self.violate(alerts::INTERNAL_ERROR, "error:0A000044:SSL routines::internal error");
            }
        }
        self.asked_for_keys = false;
        if asked && self.may_answer() {
            self.renew_tx(false);
        }
    }

    /// Requests a new key, once, from a peer that has used its key for long. Its records are read in any
    /// case.
    fn ask_for_keys(&mut self) {
        let old = self.rx.used() >= self.key_limit && self.rx.shape() == Shape::Tls13;
        if old && !self.asked_for_keys && self.may_answer() {
            self.asked_for_keys = true;
            self.renew_tx(true);
        }
    }

    /// Returns whether another reply may be queued. This bounds the memory of a peer that sends requests and
    /// never reads.
    fn may_answer(&self) -> bool {
        self.outbox.len() - self.sent < MAX_PLAINTEXT
    }

    /// Renews our sending keys; optionally requests new keys of the peer.
    fn renew_tx(&mut self, ask: bool) {
        self.queue(record::HANDSHAKE, &[24, 0, 0, 1, u8::from(ask)]);
        match self.secrets.renew(0) {
            Some(key) => self.tx = key,
            None => self.violate(alerts::INTERNAL_ERROR, "error:0A000044:SSL routines::internal error"),
        }
    }

    fn fail_record(&mut self, error: RecordError) {
        let (alert, text) = alerts::of_record(error);
        self.violate(alert, text);
    }

    /// Closes the connection because of the peer's data, and sends it an alert.
    fn violate(&mut self, alert: u8, text: &str) {
        let e = alerts::violation(text);
        self.over = Some(Over::Failed(e.kind(), e.to_string()));
        self.queue(record::ALERT, &[2, alert]);
        self.said_goodbye = true;
        let _ = self.push(&mut Context::from_waker(Waker::noop()));
    }

    fn queue(&mut self, kind: u8, content: &[u8]) {
        let _ = self.tx.seal(kind, content, &mut self.outbox); // an exhausted key also fails the next write
    }

    /// Sends the outbox.
    fn push(&mut self, cx: &mut Context<'_>) -> io::Result<Poll<()>> {
        while self.sent < self.outbox.len() {
            match self.below.poll_write(cx, &self.outbox[self.sent..]) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(n)) => self.sent += n,
                Poll::Ready(Err(e)) => return Err(e),
                Poll::Pending => return Ok(Poll::Pending),
            }
        }
        self.outbox.clear();
        self.sent = 0;
        if std::mem::take(&mut self.corked) {
            self.free_flight();
        }
        Ok(Poll::Ready(()))
    }

    /// Frees most of the storage of the handshake, if all is sent: a handshake takes more than what follows.
    fn free_flight(&mut self) {
        if self.outbox.is_empty() {
            self.outbox.shrink_to(KEPT_OUTBOX);
        }
    }

    /// Sends what can be sent now, without waiting for the rest. A caller that only reads would otherwise
    /// wait for the reply to a request that is still queued here.
    fn push_once(&mut self) {
        if !self.outbox.is_empty() {
            let _ = self.push(&mut Context::from_waker(Waker::noop()));
        }
    }

    /// Encrypts as much of `bytes` as is sent at once.
    fn seal(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(WRITE_AHEAD)];
        self.outbox.reserve(bytes.len() + bytes.len().div_ceil(MAX_PLAINTEXT) * 64);
        for fragment in bytes.chunks(MAX_PLAINTEXT) {
            if self.tx.used() >= self.key_limit && self.tx.shape() == Shape::Tls13 {
                self.renew_tx(false);
            }
            self.tx
                .seal(record::DATA, fragment, &mut self.outbox)
                .map_err(|e| io::Error::other(alerts::of_record(e).1))?;
        }
        Ok(bytes.len())
    }

    fn take_own(&mut self, buf: &mut [u8]) -> usize {
        let n = buf.len().min(self.end - self.start);
        buf[..n].copy_from_slice(&self.own[self.start..self.start + n]);
        self.start += n;
        n
    }

    /// Fills our own buffer.
    fn fill_own(
        &mut self,
        receive: impl FnMut(&mut dyn Filter, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut own = std::mem::take(&mut self.own);
        if own.len() < OWN {
            own.resize(OWN, 0);
        }
        let filled = self.fill(&mut own, receive);
        self.own = own;
        if let Poll::Ready(Ok(n)) = filled {
            (self.start, self.end) = (0, n);
        }
        filled
    }
}

impl Carrier for TlsFilter {
    fn retire(&mut self) {
        self.say_goodbye();
        self.below.retire();
    }

    fn idle_state(&mut self) -> Idle {
        if self.start < self.end {
            return Idle::Data;
        }
        self.patience = MAX_PATIENCE;
        for _ in 0..4 {
            if self.over.is_some() {
                return Idle::Closed;
            }
            match self.below.idle_state() {
                Idle::Data => {}
                state => {
                    self.own = Vec::new(); // an unused connection holds no buffers
                    self.outbox.shrink_to(MAX_RECORD);
                    return state;
                }
            }
            match self.fill_own(|below, room| below.try_read(room)) {
                Poll::Ready(Ok(n)) if n > 0 => return Idle::Data,
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

impl Filter for TlsFilter {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.start < self.end {
            return Poll::Ready(Ok(self.take_own(buf)));
        }
        if buf.len() >= DIRECT {
            return self.poll_fill(cx, buf);
        }
        let _ = self.push(cx);
        match self.fill_own(|below, room| below.poll_read(cx, room)) {
            Poll::Ready(Ok(n)) if n > 0 => Poll::Ready(Ok(self.take_own(buf))),
            other => other,
        }
    }

    fn direct_read(&self) -> usize {
        DIRECT
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.push_once();
        if self.start == self.end {
            match self.fill_own(|below, room| below.try_read(room)) {
                Poll::Ready(Ok(n)) if n > 0 => {}
                other => return other,
            }
        }
        Poll::Ready(Ok(self.take_own(buf)))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.below.forget_read(cx);
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(Over::Failed(kind, text)) = &self.over {
            return Poll::Ready(Err(io::Error::new(*kind, text.clone())));
        }
        if !self.corked && self.push(cx)?.is_pending() {
            return Poll::Pending;
        }
        let ends_handshake = std::mem::take(&mut self.corked);
        self.streaming = false;
        let n = self.seal(buf)?;
        let _ = self.push(cx)?; // taken is taken: what doesn't fit now goes with the next write or flush
        if ends_handshake {
            self.free_flight();
        }
        Poll::Ready(Ok(n))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.push(cx)?.is_pending() {
            return Poll::Pending;
        }
        self.below.poll_flush(cx)
    }

    fn say_goodbye(&mut self) {
        if !self.said_goodbye {
            self.said_goodbye = true;
            self.queue(record::ALERT, &[1, alerts::CLOSE_NOTIFY]);
            let _ = self.push(&mut Context::from_waker(Waker::noop()));
        }
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.say_goodbye();
        self.below.poll_end(cx)
    }

    fn portable(&self) -> Result<(), Obstacle> {
        self.below.portable()?;
        self.obstacle().map_or(Ok(()), Err)
    }

    fn take_apart(self: Box<Self>, layers: &mut Vec<Layer>) -> Socket {
        let (below, state) = self.into_state();
        let socket = below.take_apart(layers);
        layers.push(Layer::Tls(Box::new(state)));
        socket
    }

    fn uncover(self: Box<Self>) -> Option<Box<dyn Filter>> {
        let ended = matches!(self.over, Some(Over::Clean)) && self.said_goodbye && self.outbox.is_empty();
        // What came in clear before the goodbye was answered could be anybody's.
        (ended && self.inbox.is_empty()).then_some(self.below)
    }
}

impl Over {
    fn unexpected_eof() -> Over {
        let e = alerts::unexpected_eof();
        Over::Failed(e.kind(), e.to_string())
    }

    fn result(&self) -> io::Result<usize> {
        match self {
            Over::Clean => Ok(0),
            Over::Failed(kind, text) => Err(io::Error::new(*kind, text.clone())),
        }
    }
}

#[cfg(test)]
mod early_tests;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod handover_tests;
#[cfg(test)]
mod later_tests;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod stapling_tests;
#[cfg(test)]
pub(super) mod tests;
