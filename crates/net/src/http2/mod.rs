//! HTTP/2 on a connection: one session, many streams (RFC 9113). `wire::h2` has the protocol; this module
//! connects it to a filter.
//!
//! One driver task for each session reads, distributes events to the streams, and writes. What arrives for a
//! stream waits in its inbox, bounded by its window, until it is read. Without streams the driver ends and
//! returns connection and session, which are idle until another stream is needed.

mod driver;
mod encoding;
mod hosted;
mod inbox;
mod parked;
mod stream;
mod watchers;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use slab::Slab;
use wire::h2::{Config, ErrorCode, Event, Failure, Field, Fields, Opening, Session, StreamId};

pub use driver::{Driver, Rested};
pub use encoding::decode_memory;
pub use hosted::{Terms, UpgradeReply, host, host_upgraded};
use inbox::{Inbox, Promise, SpareBuffers};
pub use inbox::{NumberedError, StreamError};
pub use parked::{Parked, is_parked};
pub use stream::{Pushed, Stream};
pub use watchers::Trace;
use watchers::Watchers;

use crate::Connection;

/// A session with its driver, while it runs. Clones are the same.
#[derive(Clone)]
pub struct Http2(Rc<RefCell<State>>);

/// State shared by the driver and the streams.
struct State {
    session: Box<Session>,
    inboxes: Slab<Inbox>,
    spares: SpareBuffers,
    /// For each slot of the session: its stream and the stream's inbox.
    slots: Vec<Option<(StreamId, usize)>>,
    /// Streams that were promised and are not open yet.
    promised: usize,
    driver: Option<Waker>,
    /// Why the session ended.
    lost: Option<SessionError>,
    /// Tasks that wait for a free stream.
    room: Vec<Waker>,
    /// Observers of frames.
    watchers: Watchers,
}

/// How a connection was lost.
#[derive(Clone, Copy, Debug)]
enum SessionError {
    Closed,
    Os(i32),
    Io(io::ErrorKind),
    Failed(Failure),
    /// The driver was dropped with its task.
    Abandoned,
}

impl Http2 {
    /// Creates a session on a connection, and its driver task. Nothing happens before the driver is polled.
    pub fn new(connection: Box<Connection>, config: Config) -> (Http2, Driver) {
        let parked = Parked::new(Box::new(Session::client(config)), Vec::new(), connection.created);
        Http2::resume(connection, parked)
    }

    /// Resumes a parked session on its connection.
    pub fn resume(connection: Box<Connection>, parked: Parked) -> (Http2, Driver) {
        let (session, out) = parked.into_parts();
        let state = State {
            session,
            inboxes: Slab::new(),
            spares: SpareBuffers::default(),
            slots: Vec::new(),
            promised: 0,
            driver: None,
            lost: None,
            room: Vec::new(),
            watchers: Watchers::default(),
        };
        let http2 = Http2(Rc::new(RefCell::new(state)));
        let driver = Driver::new(http2.clone(), connection, out);
        (http2, driver)
    }

    /// Returns how many more streams may be opened now, in addition to the reserved ones.
    pub fn vacancies(&self) -> usize {
        let state = self.0.borrow();
        if state.lost.is_some() { 0 } else { state.session.vacancies().saturating_sub(state.promised) }
    }

    /// How many streams are open or promised.
    pub fn streams(&self) -> usize {
        let state = self.0.borrow();
        state.inboxes.len() + state.promised
    }

    /// Changes the number of reserved streams: they count as used, and keep the session driven.
    pub(crate) fn promised(&self, more: isize) {
        let mut state = self.0.borrow_mut();
        state.promised = state.promised.saturating_add_signed(more);
        state.wake_driver();
    }

    /// Whether no stream can be opened any more, now or later.
    pub fn is_closing(&self) -> bool {
        let state = self.0.borrow();
        state.lost.is_some() || state.session.is_closing()
    }

    /// Whether the peer has said goodbye and that it has begun on that stream.
    pub fn has_begun(&self, stream: u32) -> bool {
        self.0.borrow().session.has_begun(stream)
    }

    /// Closes the session for new streams. Open ones continue.
    pub fn leave(&self) {
        let mut state = self.0.borrow_mut();
        if state.lost.is_none() && !state.session.is_closing() {
            state.session.go_away(ErrorCode::NO_ERROR);
            state.wake_driver();
        }
    }

    /// Returns ready when a stream may be opened, or when none can be any more: [`Http2::vacancies`] decides
    /// which.
    pub fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.borrow_mut();
        if state.lost.is_some() || state.session.is_closing() || state.session.vacancies() > 0 {
            return Poll::Ready(());
        }
        state.wait_for_room(cx);
        Poll::Pending
    }

    /// Returns whether CONNECT with `:protocol` may be sent (RFC 8441), once the peer has sent its settings;
    /// `None` if it will not.
    pub fn poll_extended_connect(&self, cx: &mut Context<'_>) -> Poll<Option<bool>> {
        let mut state = self.0.borrow_mut();
        if state.lost.is_some() || state.session.is_closing() {
            return Poll::Ready(None);
        }
        if let Some(supported) = state.session.takes_extended_connect() {
            return Poll::Ready(Some(supported));
        }
        state.wait_for_room(cx);
        Poll::Pending
    }

    /// Opens a stream with a request's head, pseudo-fields first; `None` when there is no vacancy.
    pub fn open<'a>(&self, fields: impl IntoIterator<Item = Field<'a>>, opening: Opening) -> Option<Stream> {
        let mut state = self.0.borrow_mut();
        if state.lost.is_some() {
            return None;
        }
        let id = state.session.open(fields, opening)?;
        let inbox = state.give_inbox(id);
        state.wake_driver();
        Some(Stream::new(self.clone(), id, inbox))
    }

    /// Returns the stream of a request that was sent in HTTP/1 and asked for the upgrade. The bytes after its
    /// response were received already.
    pub fn upgraded(
        connection: Box<Connection>,
        config: Config,
        switched: UpgradeReply,
    ) -> (Http2, Driver, Stream) {
        let (session, id) = Session::upgraded(config, switched.head_only);
        let parked = Parked::new(Box::new(session), Vec::new(), connection.created);
        let (http2, mut driver) = Http2::resume(connection, parked);
        driver.has_received(switched.received);
        let inbox = http2.0.borrow_mut().give_inbox(id);
        let stream = Stream::new(http2.clone(), id, inbox);
        (http2, driver, stream)
    }

    /// The connection is of no more use, and every stream on it has failed.
    pub fn break_off(&self) {
        let mut state = self.0.borrow_mut();
        state.lose(SessionError::Abandoned);
        state.wake_driver();
    }

    /// Asks whether the peer is there.
    pub fn ping(&self, bytes: [u8; 8]) {
        let mut state = self.0.borrow_mut();
        state.session.ping(bytes);
        state.wake_driver();
    }
}

impl State {
    fn give_inbox(&mut self, id: StreamId) -> usize {
        let inbox = self.inboxes.insert(Inbox::default());
        if self.slots.len() <= id.slot() {
            self.slots.resize(id.slot() + 1, None);
        }
        self.slots[id.slot()] = Some((id, inbox));
        inbox
    }

    /// The driver has something to do.
    fn wake_driver(&mut self) {
        if let Some(waker) = self.driver.take() {
            waker.wake();
        }
    }

    /// Wakes the driver after a change that may need no frame.
    fn wake_driver_to_send(&mut self) {
        if self.session.has_output() {
            self.wake_driver();
        }
    }

    /// Shows received bytes to the observers of frames.
    fn watch(&mut self, input: &[u8]) {
        self.watchers.received(self.session.is_between_frames(), input);
    }

    /// Distributes the events in received bytes to the streams.
    fn take_in(&mut self, input: &[u8]) -> Result<(), Failure> {
        let mut at = 0;
        loop {
            let State { session, inboxes, spares, slots, .. } = self;
            let step = session.next(&input[at..])?;
            at += step.used;
            let Some(event) = step.event else { return Ok(()) };
            if let Event::Promise { parent, stream, fields } = event {
                let fields = fields.clone();
                self.promise(parent, stream, fields);
                continue;
            }
            let Some(id) = stream_of(&event) else { continue };
            let known = slots.get(id.slot()).copied().flatten().filter(|(owner, _)| *owner == id);
            // A dropped stream receives nothing.
            let Some(inbox) = known.and_then(|(_, inbox)| inboxes.get_mut(inbox)) else { continue };
            if !inbox.put(event, spares) {
                session.reset(id, ErrorCode::ENHANCE_YOUR_CALM);
                inbox.end(StreamError::Reset {
                    code: ErrorCode::ENHANCE_YOUR_CALM,
                    why: Some("too many heads"),
                });
            }
        }
    }

    /// Records a server push. The owner of the stream on which it was promised may take it.
    fn promise(&mut self, parent: StreamId, id: StreamId, fields: Fields) {
        let known = self.slots.get(parent.slot()).copied().flatten().filter(|(owner, _)| *owner == parent);
        let Some((_, parent)) = known else { return self.session.reset(id, ErrorCode::CANCEL) };
        let inbox = self.give_inbox(id);
        if let Some(parent) = self.inboxes.get_mut(parent) {
            parent.promises.push_back(Promise { id, inbox, fields });
            inbox::wake(&mut parent.reader);
        }
    }

    /// Takes the inbox of a dropped stream. Pushes promised on it are refused.
    fn take_inbox(&mut self, id: StreamId, index: usize) -> Inbox {
        let mut inbox = self.inboxes.remove(index);
        if self.slots.get(id.slot()).copied().flatten() == Some((id, index)) {
            self.slots[id.slot()] = None;
        }
        for promise in std::mem::take(&mut inbox.promises) {
            self.take_inbox(promise.id, promise.inbox);
            self.session.reset(promise.id, ErrorCode::CANCEL);
        }
        inbox
    }

    fn wait_for_room(&mut self, cx: &Context<'_>) {
        if !self.room.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.room.push(cx.waker().clone());
        }
    }

    /// Wakes the tasks that wait for a free stream.
    fn tell_of_vacancies(&mut self) {
        if self.lost.is_some() || self.session.is_closing() || self.session.vacancies() > 0 {
            self.room.drain(..).for_each(Waker::wake);
        }
    }

    /// Takes the session and leaves a placeholder, which opens no streams.
    fn take_session(&mut self) -> Box<Session> {
        std::mem::replace(&mut self.session, Box::new(Session::taken_away()))
    }

    /// The connection is lost: every stream that waits for something hears of it.
    fn lose(&mut self, lost: SessionError) {
        let lost = *self.lost.get_or_insert(lost);
        self.inboxes.iter_mut().for_each(|(_, inbox)| inbox.end(lost.fault()));
        self.tell_of_vacancies();
    }
}

impl SessionError {
    fn fault(self) -> StreamError {
        match self {
            SessionError::Closed => StreamError::Closed,
            SessionError::Os(number) => StreamError::Io(io::Error::from_raw_os_error(number)),
            SessionError::Io(kind) => StreamError::Io(kind.into()),
            SessionError::Failed(failure) => StreamError::Failed(failure),
            SessionError::Abandoned => StreamError::Io(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

impl From<io::Error> for SessionError {
    fn from(e: io::Error) -> SessionError {
        e.raw_os_error().map_or(SessionError::Io(e.kind()), SessionError::Os)
    }
}

fn stream_of(event: &Event<'_>) -> Option<StreamId> {
    match event {
        Event::Informational { stream, .. }
        | Event::Head { stream, .. }
        | Event::Data { stream, .. }
        | Event::Trailers { stream, .. }
        | Event::Reset { stream, .. }
        | Event::Refused { stream }
        | Event::Writable { stream } => Some(*stream),
        Event::Promise { .. } | Event::Pong(_) | Event::GoAway { .. } | Event::Settings => None,
    }
}
