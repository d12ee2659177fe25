//! State shared by driver and streams: the QUIC connection, its unidirectional streams, and the waiting
//! tasks.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use quinn_proto::{Dir, Event, StreamEvent, StreamId, VarInt};
use runtime::Idle;
use wire::h3::{
    Control, ErrorCode, Failure, Incoming, PeerSettings, StreamStatus, control_stream, go_away,
    priority_update,
};

use super::StreamError;
use crate::quic::{Machine, Quic, Readable};
use crate::session::Rested;
use crate::{Carrier, Connection, Memory};

/// Size of one read from a stream of the peer.
const PIECE: usize = 16 << 10;

/// The tasks that wait for a stream.
#[derive(Default)]
pub struct Waiting {
    pub reader: Option<Waker>,
    pub writer: Option<Waker>,
}

/// How a session was lost.
#[derive(Clone, Debug)]
pub enum SessionError {
    Quic(String),
    Io(io::ErrorKind, Option<i32>),
    Failed(Failure),
    /// The driver was dropped with its task, or has ended.
    Abandoned,
}

/// A connection and its streams.
pub struct Session {
    /// State that outlasts the streams; `None` once the driver has ended.
    core: Option<Core>,
    open: HashMap<StreamId, Waiting>,
    /// Streams that were promised and are not open yet.
    pub promised: usize,
    leaving: bool,
    driver: Option<Waker>,
    pub lost: Option<SessionError>,
    room: Vec<Waker>,
}

struct Core {
    connection: Box<Connection<Quic>>,
    parked: Parked,
}

/// A session without streams. It can be moved between threads with its connection.
#[derive(Default)]
pub struct Parked {
    control: Control,
    incoming: HashMap<StreamId, Incoming>,
    /// Our control stream.
    own_control: Option<StreamId>,
    /// Bytes for our unidirectional streams, until there is room for them.
    unsaid: Vec<(StreamId, Vec<u8>)>,
    /// Streams that were opened to see whether they could be, for the next who ask.
    spare: VecDeque<StreamId>,
    /// The most streams that were open at once.
    at_once: usize,
    /// Whether the peer has allowed more streams after some had ended.
    renews_streams: bool,
}

/// Streams of which there is news.
#[derive(Default)]
pub(super) struct StreamEvents {
    readable: Vec<StreamId>,
    writable: Vec<StreamId>,
    /// The handshake is over, ahead of which streams were opened.
    connected: bool,
    pub lost: Option<SessionError>,
}

impl Parked {
    /// Creates the state after the handshake; the first bytes of our streams are queued.
    pub fn new(machine: &mut Machine) -> Parked {
        let mut parked = Parked::default();
        for first in control_stream(machine.takes_datagrams()) {
            if let Some(id) = machine.open(Dir::Uni) {
                parked.own_control.get_or_insert(id);
                parked.unsaid.push((id, first));
            }
        }
        parked
    }

    /// Sends the first bytes of our streams, as far as there is room.
    fn send_preface(&mut self, machine: &mut Machine) {
        for (id, bytes) in &mut self.unsaid {
            if let Ok(n) = machine.write(*id, bytes) {
                bytes.drain(..n);
            }
        }
        self.unsaid.retain(|(_, bytes)| !bytes.is_empty());
    }

    /// Returns the peer's settings, once received.
    pub(super) fn settings(&self) -> Option<&PeerSettings> {
        self.control.settings.as_ref()
    }

    /// Sends another priority of a request, behind what waits for room.
    fn update_priority(&mut self, machine: &mut Machine, id: StreamId, value: &str) {
        let Some(control) = self.own_control else { return };
        let mut frame = Vec::new();
        priority_update(&mut frame, id.into(), value);
        match self.unsaid.iter_mut().find(|(id, _)| *id == control) {
            Some((_, waiting)) => waiting.extend(frame),
            None => self.unsaid.push((control, frame)),
        }
        self.send_preface(machine);
    }

    /// Says that no more streams are opened.
    fn say_goodbye(&self, machine: &mut Machine) {
        if let Some(control) = self.own_control.filter(|_| self.unsaid.is_empty()) {
            let mut frame = Vec::new();
            go_away(&mut frame);
            let _ = machine.write(control, &frame); // one that has no room is not needed
        }
    }

    /// Whether there is a stream beyond so many.
    fn has_spare(&mut self, machine: &mut Machine, beyond: usize) -> bool {
        while self.spare.len() <= beyond {
            match machine.open(Dir::Bi) {
                Some(id) => self.spare.push_back(id),
                None => return false,
            }
        }
        true
    }

    /// Processes events of the connection and of its unidirectional streams.
    pub(super) fn take_in(&mut self, quic: &mut Quic) -> Result<StreamEvents, Failure> {
        self.send_preface(&mut quic.machine);
        let mut news = StreamEvents::default();
        while let Some(event) = quic.event() {
            let machine = &mut quic.machine;
            match event {
                Event::Stream(StreamEvent::Readable { id }) if id.dir() == Dir::Uni => {
                    self.read_incoming(machine, id)?
                }
                Event::Stream(StreamEvent::Readable { id }) => news.readable.push(id),
                Event::Stream(
                    StreamEvent::Writable { id }
                    | StreamEvent::Finished { id }
                    | StreamEvent::Stopped { id, .. },
                ) => news.writable.push(id),
                Event::Stream(StreamEvent::Available { dir: Dir::Bi }) => self.renews_streams = true,
                // Early data found less room than there is now.
                Event::Connected => {
                    self.send_preface(machine);
                    news.connected = true;
                }
                Event::ConnectionLost { reason } => news.lost = Some(SessionError::Quic(reason.to_string())),
                _ => {}
            }
        }
        let machine = &mut quic.machine;
        while let Some(id) = machine.accept() {
            self.incoming.insert(id, Incoming::default());
            self.read_incoming(machine, id)?;
        }
        Ok(news)
    }

    fn read_incoming(&mut self, machine: &mut Machine, id: StreamId) -> Result<(), Failure> {
        let Parked { control, incoming, .. } = self;
        let Some(stream) = incoming.get_mut(&id) else { return Ok(()) };
        let done = loop {
            match machine.read(id, PIECE) {
                Readable::Bytes(bytes) if stream.take(&bytes, control)? == StreamStatus::Unwanted => {
                    machine.stop(id, ErrorCode::STREAM_CREATION_ERROR.0);
                    break true;
                }
                Readable::Bytes(_) => {}
                Readable::End | Readable::Reset(_) => {
                    stream.end()?;
                    break true;
                }
                Readable::Blocked => break false,
            }
        };
        if done {
            incoming.remove(&id);
        }
        Ok(())
    }
}

impl Core {
    fn quic(&mut self) -> &mut Quic {
        &mut self.connection.carrier
    }

    fn machine(&mut self) -> &mut Machine {
        &mut self.quic().machine
    }

    fn is_closing(&mut self) -> bool {
        self.parked.control.going.is_some() || self.machine().is_closed()
    }

    fn has_spare(&mut self, beyond: usize) -> bool {
        let Core { connection, parked } = self;
        parked.has_spare(&mut connection.carrier.machine, beyond)
    }
}

impl Session {
    /// Starts or resumes a session on its connection.
    pub fn resume(mut connection: Box<Connection<Quic>>, parked: Option<Parked>) -> Session {
        let machine = &mut connection.carrier.machine;
        let parked = parked.unwrap_or_else(|| Parked::new(machine));
        Session {
            core: Some(Core { connection, parked }),
            open: HashMap::new(),
            promised: 0,
            leaving: false,
            driver: None,
            lost: None,
            room: Vec::new(),
        }
    }

    /// The QUIC connection, until the driver has ended.
    pub fn machine(&mut self) -> Option<&mut Machine> {
        self.core.as_mut().map(Core::machine)
    }

    /// Returns the QUIC connection with its socket.
    pub fn quic(&mut self) -> Option<&mut Quic> {
        self.core.as_mut().map(Core::quic)
    }

    /// Takes the session's remains when there are no streams. Remaining users of the session find it lost.
    pub fn rest(&mut self) -> Option<Rested<Parked, Quic>> {
        if self.streams() > 0 {
            return None;
        }
        let good = self.lost.is_none() && !self.is_closing();
        self.lose(SessionError::Abandoned);
        let Core { mut connection, mut parked } = self.core.take()?;
        if !good {
            parked.retire(&mut connection.carrier);
        }
        Some(Rested { connection, session: good.then_some(parked) })
    }

    /// Ends the session abruptly and returns what is needed for a goodbye.
    pub fn abandon(&mut self) -> Option<(Box<Connection<Quic>>, Parked)> {
        let good = self.lost.is_none();
        self.lose(SessionError::Abandoned);
        self.core.take().filter(|_| good).map(|core| (core.connection, core.parked))
    }

    /// Probes the peer at most once in `interval`, and returns whether it did.
    pub fn keep_up(&mut self, interval: std::time::Duration, now: Instant) {
        let Some(core) = &mut self.core else { return };
        if now.saturating_duration_since(core.connection.kept_up) >= interval {
            core.connection.kept_up = now;
            core.machine().ping();
            self.wake_driver();
        }
    }

    /// Returns how many more streams may be opened now or soon: QUIC reports one at a time.
    pub fn vacancies(&mut self) -> usize {
        let promised = self.promised;
        let is_open = !self.is_closing();
        let has_spare = is_open && self.core.as_mut().is_some_and(|core| core.has_spare(promised));
        usize::from(has_spare || is_open && self.expects_stream())
    }

    /// Returns whether the peer's permission for one more stream is probably on its way: permissions are for
    /// a number of streams in all (RFC 9000 §4.6), and return after each end. Waiting for one costs a round
    /// trip, another connection costs a handshake.
    fn expects_stream(&self) -> bool {
        let parked = self.core.as_ref().map(|core| &core.parked);
        let is_below = |parked: &Parked| parked.renews_streams && self.streams() < parked.at_once;
        !self.open.is_empty() && parked.is_some_and(is_below)
    }

    pub fn streams(&self) -> usize {
        self.open.len() + self.promised
    }

    pub fn is_closing(&mut self) -> bool {
        self.leaving || self.lost.is_some() || self.core.as_mut().is_none_or(Core::is_closing)
    }

    /// Stops opening streams.
    pub fn leave(&mut self) {
        if !std::mem::replace(&mut self.leaving, true) {
            if let Some(Core { connection, parked }) = &mut self.core {
                parked.say_goodbye(&mut connection.carrier.machine);
            }
            self.wake_driver();
        }
    }

    pub fn poll_vacancy(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_closing() || self.has_spare() {
            return Poll::Ready(());
        }
        if !self.room.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.room.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn has_spare(&mut self) -> bool {
        self.core.as_mut().is_some_and(|core| core.has_spare(0))
    }

    /// Opens a stream.
    pub fn open(&mut self) -> Option<StreamId> {
        if self.is_closing() || !self.has_spare() {
            return None;
        }
        let parked = &mut self.core.as_mut()?.parked;
        let id = parked.spare.pop_front()?;
        self.open.insert(id, Waiting::default());
        parked.at_once = parked.at_once.max(self.open.len());
        self.share_window();
        self.wake_driver();
        Some(id)
    }

    /// Removes a dropped stream.
    pub fn close(&mut self, id: StreamId) {
        self.open.remove(&id);
        self.share_window();
        self.tell_of_vacancies();
        self.wake_driver(); // it may have been the last
    }

    fn share_window(&mut self) {
        let streams = self.open.len();
        self.machine().into_iter().for_each(|machine| machine.share_window(streams));
    }

    pub fn waiting(&mut self, id: StreamId) -> &mut Waiting {
        self.open.entry(id).or_default()
    }

    /// The driver has something to do.
    /// Sends another priority of the request on a stream.
    pub fn update_priority(&mut self, id: StreamId, value: &str) {
        if let Some(Core { connection, parked }) = &mut self.core {
            parked.update_priority(&mut connection.carrier.machine, id, value);
        }
    }

    pub fn wake_driver(&mut self) {
        if let Some(waker) = self.driver.take() {
            waker.wake();
        }
    }

    pub fn driver_sleeps(&mut self, waker: &Waker) {
        self.driver = Some(waker.clone());
    }

    /// Whether a request was not looked at by a peer that has said goodbye (RFC 9114 §5.2).
    pub fn is_unprocessed(&self, id: StreamId) -> bool {
        let going = self.core.as_ref().and_then(|core| core.parked.control.going);
        going.is_some_and(|first| VarInt::from(id).into_inner() >= first)
    }

    /// Processes events and wakes the tasks concerned.
    pub fn take_in(&mut self) -> Result<(), Failure> {
        let Some(Core { connection, parked }) = &mut self.core else { return Ok(()) };
        let StreamEvents { mut readable, mut writable, connected, lost } =
            parked.take_in(&mut connection.carrier)?;
        if connected {
            writable.extend(self.open.keys());
        }
        if parked.control.going.is_some() {
            readable.extend(self.open.keys().copied().filter(|id| self.is_unprocessed(*id)));
        }
        let open = &mut self.open;
        let readers = readable.iter().filter_map(|id| open.get_mut(id)?.reader.take());
        readers.for_each(Waker::wake);
        let writers = writable.iter().filter_map(|id| open.get_mut(id)?.writer.take());
        writers.for_each(Waker::wake);
        if let Some(lost) = lost {
            self.lose(lost);
        }
        self.tell_of_vacancies();
        Ok(())
    }

    pub fn tell_of_vacancies(&mut self) {
        if !self.room.is_empty() && (self.is_closing() || self.has_spare()) {
            self.room.drain(..).for_each(Waker::wake);
        }
    }

    /// A fault of the peer's ends the connection, and the peer hears why.
    pub fn fail(&mut self, failure: Failure) {
        if let Some(quic) = self.quic() {
            let now = quic.now();
            quic.machine.close(failure.code.0, failure.why, now);
        }
        self.lose(SessionError::Failed(failure));
    }

    /// The connection is lost: every stream that waits for something hears of it.
    pub fn lose(&mut self, lost: SessionError) {
        self.lost.get_or_insert(lost);
        self.open.values_mut().for_each(Waiting::wake);
        self.room.drain(..).for_each(Waker::wake);
        self.wake_driver();
    }

    /// The fault of a stream of a session that was lost.
    pub fn fault(&self) -> Option<StreamError> {
        Some(match self.lost.as_ref()? {
            SessionError::Quic(why) => StreamError::Closed(why.clone()),
            SessionError::Io(_, Some(number)) => StreamError::Io(io::Error::from_raw_os_error(*number)),
            SessionError::Io(kind, None) => StreamError::Io((*kind).into()),
            SessionError::Failed(failure) => StreamError::Failed(*failure),
            SessionError::Abandoned => StreamError::Io(io::ErrorKind::ConnectionAborted.into()),
        })
    }
}

impl Waiting {
    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()].into_iter().flatten() {
            waker.wake();
        }
    }
}

impl Memory<Quic> for Parked {
    /// Checks the idle connection without waiting. If the peer said goodbye or violated the protocol, it has
    /// ended.
    fn idle_state(&mut self, carrier: &mut Quic) -> Idle {
        let state = carrier.idle_state();
        match self.take_in(carrier) {
            Ok(StreamEvents { lost: None, .. }) if self.control.going.is_none() => state,
            _ => Idle::Closed,
        }
    }

    fn keep_up(&mut self, carrier: &mut Quic) -> Idle {
        carrier.machine.ping();
        self.idle_state(carrier)
    }

    fn retire(&mut self, carrier: &mut Quic) {
        carrier.say_goodbye();
    }
}
