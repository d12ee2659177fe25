//! A tunnel through a proxy that speaks HTTP/3: one CONNECT on a QUIC connection of its own (RFC 9114 §4.4),
//! or one for UDP (RFC 9298). Written bytes become DATA of that stream, received ones are returned, and an
//! unread tunnel stops the proxy at the stream's window. Datagrams travel beside it.
//!
//! As with HTTP/2, only reading and writing drive it: each call receives, processes timers, and sends.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use quinn_proto::{Dir, StreamId, VarInt};
use runtime::{Idle, Reactor, Socket};
use wire::capsule;
use wire::h3::{ErrorCode, Event, Failure, Fields, Reply};

use super::Parked;
use super::outgoing::OutgoingBytes;
use super::session::SessionError;
use crate::Carrier;
use crate::exchange::RequestHead;
use crate::filter::Filter;
use crate::filter::tunnels::{TunnelPayload, field, fields_of, unknown_to_proxy};
use crate::quic::{MachineTimer, Quic, Readable, SendOutcome};

/// Size of one read.
const PIECE: usize = 64 << 10;
/// Receive buffer, as large as the batches of the system.
const ROOM: usize = 64 << 10;

/// Maximum number of receives in one turn, while nobody reads.
const FAIR_SHARE: usize = 16;

/// A connection to a proxy, which becomes a tunnel.
pub struct Http3Tunnel {
    quic: Quic,
    parked: Parked,
    reactor: Option<Arc<Reactor>>,
    due: MachineTimer,
    buf: Box<[u8]>,
    stream: Option<StreamId>,
    reply: Reply,
    /// Bytes of the stream that were not processed.
    input: Bytes,
    /// So many bytes from its front belong to the tunnel.
    body: usize,
    outgoing: OutgoingBytes,
    end: Option<TunnelEnd>,
    /// The waiting reader, while a writer may receive its data.
    reader: Option<Waker>,
}

/// Why the tunnel ended.
#[derive(Clone, Debug)]
enum TunnelEnd {
    /// The stream has ended.
    Clean,
    Reset(ErrorCode),
    /// The connection has ended.
    ConnectionLost(SessionError),
}

impl Http3Tunnel {
    /// Creates the tunnel's connection after the handshake.
    pub fn new(mut quic: Quic, reactor: &Arc<Reactor>) -> Http3Tunnel {
        let parked = Parked::new(&mut quic.machine);
        Http3Tunnel {
            quic,
            parked,
            reactor: Some(reactor.clone()),
            due: MachineTimer::default(),
            buf: vec![0; ROOM].into(),
            stream: None,
            reply: Reply::new(false),
            input: Bytes::new(),
            body: 0,
            outgoing: OutgoingBytes::default(),
            end: None,
            reader: None,
        }
    }

    /// Requests a tunnel on a new stream; one that was refused before is abandoned. Returns the status of the
    /// response and its fields.
    pub async fn connect(
        &mut self,
        request: &RequestHead,
        asked: TunnelPayload<'_>,
    ) -> io::Result<(u16, Fields)> {
        if let Some(refused) = self.stream.take() {
            self.quic.machine.abandon(refused, ErrorCode::REQUEST_CANCELLED.0);
        }
        (self.reply, self.input, self.body) = (Reply::new(false), Bytes::new(), 0);
        (self.outgoing, self.end) = (OutgoingBytes::default(), None);
        if asked.is_extended() && !poll_fn(|cx| self.poll_extended(cx)).await? {
            return Err(unknown_to_proxy());
        }
        let id = poll_fn(|cx| self.poll_open(cx)).await?;
        self.stream = Some(id);
        self.outgoing.fields(fields_of(request, asked).iter().map(field));
        poll_fn(|cx| self.poll_head(cx)).await
    }

    /// Returns whether the proxy supports CONNECT for protocols other than TCP (RFC 9220), once its settings
    /// have arrived.
    fn poll_extended(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            if let Some(settings) = self.parked.settings() {
                return Poll::Ready(Ok(settings.connect_protocol));
            }
            self.check_end()?;
            ready!(self.poll_turn(cx))?;
        }
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<StreamId>> {
        loop {
            if let Some(id) = self.quic.machine.open(Dir::Bi) {
                return Poll::Ready(Ok(id));
            }
            self.check_end()?;
            ready!(self.poll_turn(cx))?;
        }
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(u16, Fields)>> {
        loop {
            self.push();
            if let Some(head) = self.read_on()? {
                return Poll::Ready(Ok(head));
            }
            if self.body > 0 {
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
            self.check_end()?;
            ready!(self.poll_turn(cx))?;
        }
    }

    /// A clean end is none for who waits for a reply, or writes.
    fn check_end(&self) -> io::Result<()> {
        match &self.end {
            None => Ok(()),
            Some(TunnelEnd::Clean) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(TunnelEnd::Reset(code)) => {
                Err(io::Error::other(format!("proxy reset the tunnel: {code:?}")))
            }
            Some(TunnelEnd::ConnectionLost(SessionError::Io(_, Some(number)))) => {
                Err(io::Error::from_raw_os_error(*number))
            }
            Some(TunnelEnd::ConnectionLost(lost)) => {
                Err(io::Error::other(format!("connection to the proxy: {lost:?}")))
            }
        }
    }

    /// Receives once, processes timers, and sends. Ready if something may have changed.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let received = self.quic.poll_receive(cx, &mut self.buf)?.is_ready();
        self.do_what_is_due(cx);
        self.take_in();
        let _ = self.quic.poll_send(cx)?;
        // Sending has changed the timer.
        while self.do_what_is_due(cx) {
            self.take_in();
            let _ = self.quic.poll_send(cx)?;
        }
        match received || self.end.is_some() {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    /// Runs a turn on behalf of a writer; a waiting reader is woken.
    fn poll_turn_beside(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let turned = self.poll_turn(cx);
        if turned.is_ready() {
            self.reader.take().into_iter().for_each(Waker::wake);
        }
        turned
    }

    fn do_what_is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(reactor) = &self.reactor else { return false };
        let mut any = false;
        while self.due.poll(cx, &mut self.quic.machine, reactor).is_ready() {
            any = true;
        }
        any
    }

    fn take_in(&mut self) {
        let lost = match self.parked.take_in(&mut self.quic) {
            Ok(news) => news.lost,
            Err(failure) => Some(self.fail(failure)),
        };
        if let Some(lost) = lost {
            self.end.get_or_insert(TunnelEnd::ConnectionLost(lost));
        }
    }

    /// The proxy broke the protocol, and hears so.
    fn fail(&mut self, failure: Failure) -> SessionError {
        let now = self.quic.now();
        self.quic.machine.close(failure.code.0, failure.why, now);
        SessionError::Failed(failure)
    }

    /// Processes received bytes of the stream, up to bytes of the tunnel or to the response's head, which is
    /// returned.
    fn read_on(&mut self) -> io::Result<Option<(u16, Fields)>> {
        let Some(id) = self.stream else { return Ok(None) };
        while self.body == 0 && self.end.is_none() {
            if self.input.is_empty() {
                match self.quic.machine.read(id, PIECE) {
                    Readable::Bytes(bytes) => self.input = bytes,
                    Readable::End => self.end = Some(TunnelEnd::Clean),
                    Readable::Reset(code) => self.end = Some(TunnelEnd::Reset(ErrorCode(code))),
                    Readable::Blocked => return Ok(None),
                }
                continue;
            }
            let input = self.input.clone();
            let step = self.reply.next(&input);
            let step = match step {
                Ok(step) => step,
                Err(failure) => {
                    let lost = self.fail(failure);
                    self.end = Some(TunnelEnd::ConnectionLost(lost));
                    continue;
                }
            };
            let used = step.used;
            match step.event {
                Some(Event::Data(data)) => {
                    self.body = data.len();
                    self.input = input.slice(used - data.len()..); // the piece is the last of the used bytes
                }
                Some(Event::Head { status, fields }) => {
                    let head = (status, fields.clone());
                    self.input = input.slice(used..);
                    return Ok(Some(head));
                }
                _ => self.input = input.slice(used..),
            }
        }
        Ok(None)
    }

    /// Moves received bytes to `buf`.
    fn take(&mut self, buf: &mut [u8]) -> usize {
        let n = self.body.min(buf.len());
        buf[..n].copy_from_slice(&self.input.split_to(n));
        self.body -= n;
        n
    }

    /// Announces the new room to the proxy.
    fn tell_of_room(&mut self, cx: &mut Context<'_>) {
        if self.quic.machine.take_stirred() {
            let _ = self.quic.poll_send(cx); // an error is found by the next wait
        }
    }

    fn push(&mut self) {
        if let Some(id) = self.stream {
            self.outgoing.push(&mut self.quic.machine, id);
        }
    }

    fn number(&self) -> u64 {
        self.stream.map_or(0, |id| VarInt::from(id).into_inner())
    }

    /// Returns whether datagrams of the tunnel can travel beside the stream (RFC 9297 §2.1), and not only on
    /// it.
    pub fn has_datagrams(&self) -> bool {
        self.parked.settings().is_some_and(|settings| settings.datagrams)
    }

    /// Sends a UDP payload beside the stream.
    pub fn send_udp(&mut self, payload: &[u8]) -> SendOutcome {
        match self.has_datagrams() {
            true => self.quic.machine.send_datagram(capsule::on_quic(self.number(), payload)),
            false => SendOutcome::TooLarge,
        }
    }

    /// Sends queued data; ready when there may be room for more.
    pub fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_end()?;
        self.poll_turn_beside(cx)
    }

    /// Sends queued data.
    pub fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.quic.poll_send(cx)
    }

    /// Takes the UDP payloads received beside the stream.
    pub fn take_udp(&mut self, mut take: impl FnMut(&[u8])) {
        let stream = self.number();
        while let Some(datagram) = self.quic.machine.receive_datagram() {
            capsule::of_quic(stream, &datagram).into_iter().for_each(&mut take);
        }
    }
}

impl Carrier for Http3Tunnel {
    fn retire(&mut self) {
        if let Some(id) = self.stream {
            self.outgoing.end();
            self.outgoing.push(&mut self.quic.machine, id);
            self.quic.send();
        }
        self.quic.say_goodbye();
    }

    fn idle_state(&mut self) -> Idle {
        let state = self.quic.process(&mut self.buf);
        self.take_in();
        match self.read_on() {
            Ok(_) if self.body > 0 => Idle::Data,
            Ok(_) if self.end.is_none() => state,
            _ => Idle::Closed,
        }
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.reactor = Some(reactor.clone());
        self.quic.attach(reactor, owner);
    }

    fn detach(&mut self) {
        (self.reactor, self.due, self.reader) = (None, MachineTimer::default(), None);
        self.quic.detach();
    }

    fn socket(&self) -> &Socket {
        self.quic.socket()
    }
}

impl Filter for Http3Tunnel {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            self.read_on()?;
            if self.body > 0 {
                let n = self.take(buf);
                self.tell_of_room(cx);
                return Poll::Ready(Ok(n));
            }
            match &self.end {
                Some(TunnelEnd::Clean) => return Poll::Ready(Ok(0)),
                Some(_) => return Poll::Ready(self.check_end().map(|()| 0)),
                None => {}
            }
            if self.poll_turn(cx)?.is_pending() {
                self.reader = Some(cx.waker().clone());
                return Poll::Pending;
            }
        }
    }

    /// Keeps QUIC running without returning data: it replies, keeps the connection alive, and receives up to
    /// the window.
    fn forget_read(&mut self, cx: &mut Context<'_>) {
        for _ in 0..FAIR_SHARE {
            match self.poll_turn(cx) {
                Poll::Ready(Ok(())) if self.end.is_none() => {}
                _ => return, // the next read finds the error
            }
        }
        cx.waker().wake_by_ref();
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.idle_state();
        if self.body > 0 {
            let n = self.take(buf);
            self.tell_of_room(&mut Context::from_waker(Waker::noop()));
            return Poll::Ready(Ok(n));
        }
        match &self.end {
            None => Poll::Pending,
            Some(TunnelEnd::Clean) => Poll::Ready(Ok(0)),
            Some(_) => Poll::Ready(self.check_end().map(|()| 0)),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            self.check_end()?;
            let Some(id) = self.stream else {
                return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
            };
            // Before more is queued, so that no more is buffered than QUIC keeps.
            ready!(self.quic.poll_send(cx))?;
            match self.outgoing.queue(&mut self.quic.machine, id, buf) {
                // The proxy grants room by a frame.
                0 => ready!(self.poll_turn_beside(cx))?,
                n => {
                    let _ = self.quic.poll_send(cx)?;
                    return Poll::Ready(Ok(n));
                }
            }
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.push();
        self.quic.poll_send(cx)
    }

    /// Ready when the proxy has received everything: afterwards nothing drives the rest.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(id) = self.stream else { return Poll::Ready(Ok(())) };
        self.outgoing.end();
        loop {
            self.push();
            if self.outgoing.stopped.is_some() || self.outgoing.finished && self.quic.machine.has_arrived(id)
            {
                return Poll::Ready(Ok(()));
            }
            if let Some(TunnelEnd::Reset(_) | TunnelEnd::ConnectionLost(_)) = self.end {
                return Poll::Ready(self.check_end());
            }
            ready!(self.poll_turn_beside(cx))?;
        }
    }
}
