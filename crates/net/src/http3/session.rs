//! What driver and streams share: the QUIC connection, the streams that belong to all of it, and who waits for what.

use std::collections::HashMap;
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use quinn_proto::{Dir, Event, StreamEvent, StreamId, VarInt};
use runtime::Idle;
use wire::h3::{Control, ErrorCode, Failure, Incoming, Said, control_stream, go_away};

use super::Fault;
use crate::quic::{Machine, Readable};
use crate::{Filter, Memory};

/// One piece of what came on a stream of the peer's.
const PIECE: usize = 16 << 10;
/// How many datagrams one look at an idle connection takes.
const LOOKS: usize = 64;
const DATAGRAM: usize = 65_535;

/// Who waits for a stream.
#[derive(Default)]
pub struct Waiting {
    pub reader: Option<Waker>,
    pub writer: Option<Waker>,
}

/// How a session was lost.
#[derive(Clone, Debug)]
pub enum Lost {
    Quic(String),
    Io(io::ErrorKind, Option<i32>),
    Failed(Failure),
    /// The driver was dropped with its task, or has ended.
    Abandoned,
}

/// One connection and its streams.
pub struct Session {
    /// What outlasts the streams; gone once the driver has ended.
    core: Option<Parked>,
    open: HashMap<StreamId, Waiting>,
    /// Streams that were promised and are not open yet.
    pub promised: usize,
    leaving: bool,
    driver: Option<Waker>,
    pub lost: Option<Lost>,
    /// When the peer was asked last whether it is there.
    pub kept_up: Instant,
    room: Vec<Waker>,
}

/// A session without streams. It can be moved between threads with its connection.
pub struct Parked {
    machine: Machine,
    control: Control,
    incoming: HashMap<StreamId, Incoming>,
    /// Our control stream.
    own_control: Option<StreamId>,
    /// What our unidirectional streams begin with, until there is room for it.
    unsaid: Vec<(StreamId, Vec<u8>)>,
    /// A stream that was opened to see whether it could be, for the next one who asks.
    spare: Option<StreamId>,
}

impl Parked {
    /// For a connection whose handshake is done: what each side says first is queued.
    pub fn new(mut machine: Machine) -> Parked {
        let mut unsaid = Vec::new();
        let mut own_control = None;
        for first in control_stream() {
            if let Some(id) = machine.open(Dir::Uni) {
                own_control.get_or_insert(id);
                unsaid.push((id, first));
            }
        }
        let (control, incoming) = (Control::default(), HashMap::new());
        Parked { machine, control, incoming, own_control, unsaid, spare: None }
    }

    /// What our streams begin with, as far as there is room.
    fn say(&mut self) {
        for (id, bytes) in &mut self.unsaid {
            if let Ok(n) = self.machine.write(*id, bytes) {
                bytes.drain(..n);
            }
        }
        self.unsaid.retain(|(_, bytes)| !bytes.is_empty());
    }

    /// Says that no more streams are opened.
    fn say_goodbye(&mut self) {
        if let Some(control) = self.own_control.filter(|_| self.unsaid.is_empty()) {
            let mut frame = Vec::new();
            go_away(&mut frame);
            let _ = self.machine.write(control, &frame); // one that has no room is not needed
        }
    }

    fn has_spare(&mut self) -> bool {
        if self.spare.is_none() {
            self.spare = self.machine.open(Dir::Bi);
        }
        self.spare.is_some()
    }

    fn is_closing(&self) -> bool {
        self.control.going.is_some() || self.machine.is_closed()
    }

    fn accept(&mut self) -> Result<(), Failure> {
        while let Some(id) = self.machine.accept() {
            self.incoming.insert(id, Incoming::default());
            self.read_incoming(id)?;
        }
        Ok(())
    }

    fn read_incoming(&mut self, id: StreamId) -> Result<(), Failure> {
        let Parked { machine, control, incoming, .. } = self;
        let Some(stream) = incoming.get_mut(&id) else { return Ok(()) };
        let done = loop {
            match machine.read(id, PIECE) {
                Readable::Bytes(bytes) if stream.take(&bytes, control)? == Said::Unwanted => {
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

    /// Sends what there is to send, without waiting.
    fn send(&mut self, filter: &mut dyn Filter, now: Instant) {
        let mut cx = Context::from_waker(Waker::noop());
        while let Some(datagram) = self.machine.next_datagram(now) {
            match filter.poll_write(&mut cx, datagram) {
                Poll::Ready(Ok(_)) => self.machine.datagram_sent(),
                _ => break,
            }
        }
    }
}

impl Session {
    pub fn resume(core: Option<Parked>) -> Session {
        Session {
            core,
            open: HashMap::new(),
            promised: 0,
            leaving: false,
            driver: None,
            lost: None,
            kept_up: Instant::now(),
            room: Vec::new(),
        }
    }

    /// The QUIC connection, until the driver has ended.
    pub fn machine(&mut self) -> Option<&mut Machine> {
        self.core.as_mut().map(|core| &mut core.machine)
    }

    /// What is left when there are no streams. Whoever still has the session finds it lost.
    pub fn take(&mut self) -> (Option<Parked>, bool) {
        let good = self.lost.is_none() && !self.is_closing();
        self.lose(Lost::Abandoned);
        (self.core.take(), good)
    }

    /// How many more streams may be opened now: QUIC tells of one at a time.
    pub fn vacancies(&mut self) -> usize {
        usize::from(!self.is_closing() && self.promised == 0 && self.has_spare())
    }

    pub fn streams(&self) -> usize {
        self.open.len() + self.promised
    }

    pub fn is_closing(&self) -> bool {
        self.leaving || self.lost.is_some() || self.core.as_ref().is_none_or(Parked::is_closing)
    }

    /// No more streams are opened.
    pub fn leave(&mut self) {
        if !std::mem::replace(&mut self.leaving, true) {
            self.core.iter_mut().for_each(Parked::say_goodbye);
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
        self.core.as_mut().is_some_and(Parked::has_spare)
    }

    /// Opens a stream.
    pub fn open(&mut self) -> Option<StreamId> {
        if self.is_closing() || !self.has_spare() {
            return None;
        }
        let id = self.core.as_mut()?.spare.take()?;
        self.open.insert(id, Waiting::default());
        self.wake_driver();
        Some(id)
    }

    /// Nobody has the stream any more.
    pub fn close(&mut self, id: StreamId) {
        self.open.remove(&id);
        self.tell_of_vacancies();
        self.wake_driver(); // it may have been the last
    }

    pub fn waiting(&mut self, id: StreamId) -> &mut Waiting {
        self.open.entry(id).or_default()
    }

    /// The driver has something to do.
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
        let going = self.core.as_ref().and_then(|core| core.control.going);
        going.is_some_and(|first| VarInt::from(id).into_inner() >= first)
    }

    /// Lets everybody know what has happened.
    pub fn take_in(&mut self) -> Result<(), Failure> {
        let Some(core) = &mut self.core else { return Ok(()) };
        core.say();
        let mut moved = Vec::new();
        let mut end = None;
        while let Some(event) = core.machine.event() {
            match event {
                Event::Stream(StreamEvent::Readable { id }) if id.dir() == Dir::Uni => {
                    core.read_incoming(id)?
                }
                Event::Stream(
                    StreamEvent::Readable { id }
                    | StreamEvent::Writable { id }
                    | StreamEvent::Finished { id }
                    | StreamEvent::Stopped { id, .. },
                ) => moved.push(id),
                Event::ConnectionLost { reason } => end = Some(Lost::Quic(reason.to_string())),
                _ => {}
            }
        }
        core.accept()?;
        if core.control.going.is_some() {
            moved.extend(self.open.keys().copied().filter(|id| self.is_unprocessed(*id)));
        }
        moved.into_iter().for_each(|id| self.wake(id));
        if let Some(lost) = end {
            self.lose(lost);
        }
        self.tell_of_vacancies();
        Ok(())
    }

    fn wake(&mut self, id: StreamId) {
        self.open.get_mut(&id).into_iter().for_each(Waiting::wake);
    }

    pub fn tell_of_vacancies(&mut self) {
        if !self.room.is_empty() && (self.is_closing() || self.has_spare()) {
            self.room.drain(..).for_each(Waker::wake);
        }
    }

    /// A fault of the peer's ends the connection, and the peer hears why.
    pub fn fail(&mut self, failure: Failure, now: Instant) {
        if let Some(machine) = self.machine() {
            machine.close(failure.code.0, failure.why, now);
        }
        self.lose(Lost::Failed(failure));
    }

    /// The connection is lost: every stream that waits for something hears of it.
    pub fn lose(&mut self, lost: Lost) {
        self.lost.get_or_insert(lost);
        self.open.values_mut().for_each(Waiting::wake);
        self.room.drain(..).for_each(Waker::wake);
        self.wake_driver();
    }

    /// The fault of a stream of a session that was lost.
    pub fn fault(&self) -> Option<Fault> {
        Some(match self.lost.as_ref()? {
            Lost::Quic(why) => Fault::Closed(why.clone()),
            Lost::Io(_, Some(number)) => Fault::Io(io::Error::from_raw_os_error(*number)),
            Lost::Io(kind, None) => Fault::Io((*kind).into()),
            Lost::Failed(failure) => Fault::Failed(*failure),
            Lost::Abandoned => Fault::Io(io::ErrorKind::ConnectionAborted.into()),
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

impl Memory for Parked {
    fn keep_up(&mut self, filter: &mut dyn Filter) -> Idle {
        self.machine.ping();
        self.idle_state(filter)
    }

    fn retire(&mut self, filter: &mut dyn Filter) {
        let now = Instant::now();
        self.machine.close(ErrorCode::NO_ERROR.0, "", now);
        self.send(filter, now);
    }

    /// Looks at the idle connection without waiting: takes what has come, does what was due, answers.
    fn idle_state(&mut self, filter: &mut dyn Filter) -> Idle {
        let mut buf = vec![0; DATAGRAM];
        let now = Instant::now();
        for _ in 0..LOOKS {
            match filter.try_read(&mut buf) {
                Poll::Pending => break,
                Poll::Ready(Ok(n)) => self.machine.receive(&buf[..n], now),
                Poll::Ready(Err(_)) => return Idle::Closed,
            }
        }
        self.machine.tick(now);
        self.send(filter, now);
        // What the streams of the connection say is read when a session runs on it: a goodbye is found then.
        match self.machine.is_closed() {
            true => Idle::Closed,
            false => Idle::Alive,
        }
    }
}
