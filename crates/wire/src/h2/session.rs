//! The client side of an HTTP/2 connection (RFC 9113): its interface. The peer's bytes go in through
//! [`Session::next`], output comes from [`Session::write_into`]. Nothing here reads, writes or waits.

use std::collections::VecDeque;

use super::calm::Calm;
use super::error::{ErrorCode, Failure};
use super::fields::Fields;
use super::frame::{self, PREFACE, Priority, flag, kind};
use super::hpack::{Decoder, Encoder};
use super::receive::{Block, EventParts, Reading};
use super::send::write_block;
use super::settings::{Config, OUR_HEADER_TABLE, PeerSettings};
use super::stream::{Remote, Stream, StreamId, Upload};
use super::streams::{Reset, Streams};
use super::window::{LARGEST, ReceiveWindow, SendWindow};

/// A field of a request. Pseudo-fields (`:method`, …) come before the others.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
    /// Whether to keep it out of all tables of header compression.
    pub sensitive: bool,
}

/// How a stream is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// The head is all there is.
    pub end: bool,
    /// Whether the response has no body, whatever length it announces (HEAD).
    pub head_only: bool,
    pub priority: Option<Priority>,
    /// Maximum of its window, if smaller than that of other streams: a slow reader's stays small.
    pub max_window: Option<u32>,
}

/// A connection and its streams.
#[derive(Debug)]
pub struct Session {
    pub(super) config: Config,
    pub(super) peer: PeerSettings,
    pub(super) streams: Streams,
    pub(super) encoder: Encoder,
    pub(super) decoder: Decoder,
    /// Flow control of the whole connection, for sending and receiving.
    pub(super) window: SendWindow,
    pub(super) receive: ReceiveWindow,
    /// Frames that are sent first: replies, and heads in the order of their compression.
    pub(super) control: Vec<u8>,
    /// Updates of streams' windows, which may wait for more of them.
    pub(super) updates: Vec<u8>,
    /// How many of them answer the peer.
    pub(super) answers: u32,
    /// Streams that have something to send.
    pub(super) turns: VecDeque<StreamId>,
    pub(super) reading: Reading,
    pub(super) partial: Vec<u8>,
    pub(super) block: Option<Block>,
    /// The fields of the last block.
    pub(super) fields: Fields,
    pub(super) debug: Vec<u8>,
    pub(super) events: VecDeque<EventParts>,
    pub(super) greeted: bool,
    /// SETTINGS of ours that were not acknowledged yet.
    pub(super) unacknowledged: u32,
    pub(super) calm: Calm,
    /// The last stream that the peer processes, after its GOAWAY.
    pub(super) going: Option<u32>,
    pub(super) failed: Option<Failure>,
}

impl Session {
    /// Creates a session on a connection where both sides know that HTTP/2 is used: by ALPN, or by prior
    /// knowledge.
    pub fn client(config: Config) -> Session {
        let mut session = Session::silent(config);
        session.control = PREFACE.to_vec();
        frame::write(&mut session.control, kind::SETTINGS, 0, 0, &session.config.payload());
        if let Some(more) = session.receive.raise(session.config.connection_window) {
            frame::write_window_update(&mut session.control, 0, more);
        }
        session
    }

    /// Creates a placeholder for a session that was moved elsewhere. It sends nothing and opens no streams.
    pub fn taken_away() -> Session {
        let why = "the session has gone elsewhere";
        let failed = Some(Failure { code: ErrorCode::INTERNAL_ERROR, why });
        Session { failed, ..Session::silent(Config::default()) }
    }

    pub(super) fn silent(config: Config) -> Session {
        let receive = ReceiveWindow::new(65_535, config.connection_window.min(LARGEST));
        Session {
            config,
            receive,
            peer: PeerSettings::default(),
            streams: Streams::default(),
            encoder: Encoder::default(),
            decoder: Decoder::new(OUR_HEADER_TABLE),
            window: SendWindow::new(65_535),
            control: Vec::new(),
            updates: Vec::new(),
            answers: 0,
            turns: VecDeque::new(),
            reading: Reading::default(),
            partial: Vec::new(),
            block: None,
            fields: Fields::default(),
            debug: Vec::new(),
            events: VecDeque::new(),
            greeted: false,
            unacknowledged: 1,
            calm: Calm::default(),
            going: None,
            failed: None,
        }
    }

    /// Creates a session after an upgrade from HTTP/1 (RFC 7540 §3.2). The request that asked for it is now
    /// stream 1, whose response follows.
    pub fn upgraded(config: Config, head_only: bool) -> (Session, StreamId) {
        let mut session = Session::client(config);
        let opening = Opening { end: true, head_only, ..Opening::default() };
        let id = session.add(1, opening);
        (session, id)
    }

    /// How many more streams may be opened now.
    pub fn vacancies(&self) -> usize {
        let numbers = ((LARGEST - self.streams.highest[0]) / 2) as usize;
        match self.going.is_some() || self.failed.is_some() {
            true => 0,
            false => self.peer.max_concurrent_streams.saturating_sub(self.streams.count(true)).min(numbers),
        }
    }

    /// Whether streams can no longer be opened on it, now or later.
    pub fn is_closing(&self) -> bool {
        self.going.is_some() || self.failed.is_some() || self.streams.highest[0] >= LARGEST - 2
    }

    /// Returns whether the peer's GOAWAY says that it has or may have started to process that stream. Its
    /// request must then not be sent again (RFC 9113 §6.8). A GOAWAY with the largest possible number says
    /// nothing about any stream.
    pub fn has_begun(&self, number: u32) -> bool {
        self.going.is_some_and(|last| last < LARGEST && number <= last)
    }

    /// How many streams of ours the peer allows at once.
    pub fn max_streams(&self) -> usize {
        self.peer.max_concurrent_streams
    }

    /// Returns whether the peer supports CONNECT with `:protocol` (RFC 8441); `None` before its SETTINGS.
    pub fn takes_extended_connect(&self) -> Option<bool> {
        self.greeted.then_some(self.peer.connect_protocol)
    }

    /// Whether no stream lives.
    pub fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }

    /// Opens a stream with a request's head; `None` when there is no vacancy.
    pub fn open<'a>(
        &mut self,
        fields: impl IntoIterator<Item = Field<'a>>,
        opening: Opening,
    ) -> Option<StreamId> {
        if self.vacancies() == 0 {
            return None;
        }
        let number = if self.streams.highest[0] == 0 { 1 } else { self.streams.highest[0] + 2 };
        let mut flags = if opening.end { flag::END_STREAM } else { 0 };
        let priority = opening.priority.map(|priority| priority.bytes());
        flags |= if priority.is_some() { flag::PRIORITY } else { 0 };
        let before = priority.as_ref().map_or(&[][..], |bytes| bytes);
        let max_frame = self.peer.max_frame;
        write_block(&mut self.encoder, &mut self.control, number, flags, before, fields, max_frame);
        Some(self.add(number, opening))
    }

    fn add(&mut self, number: u32, opening: Opening) -> StreamId {
        let max = opening.max_window.unwrap_or(self.config.max_window);
        let receive = ReceiveWindow::new(self.config.initial_window, max);
        let send = SendWindow::new(self.peer.initial_window);
        let upload = if opening.end { Upload::none() } else { Upload::default() };
        self.streams.add(number, |id| Stream {
            id,
            remote: Remote::Head,
            send,
            receive,
            expected: None,
            head_only: opening.head_only,
            upload,
            in_turn: false,
            starved: false,
        })
    }

    /// Records that bytes of a stream's body were consumed. A reader that consumes nothing stops the peer at
    /// the stream's window.
    pub fn consume(&mut self, id: StreamId, bytes: usize) {
        let Some(stream) = self.streams.at(id) else { return };
        if let Some(increment) = stream.receive.consume(bytes)
            && stream.remote != Remote::Ended
        {
            frame::write_window_update(&mut self.updates, id.number, increment);
        }
    }

    /// Resets a stream. Data for it that is still in transit is dropped.
    pub fn reset(&mut self, id: StreamId, code: ErrorCode) {
        if self.streams.peek(id).is_some() {
            frame::write_reset(&mut self.control, id.number, code);
            self.streams.remove_reset(id, Reset::Here);
        }
    }

    /// Moves a stream in the order of importance (RFC 7540 §6.3).
    pub fn prioritise(&mut self, id: StreamId, priority: Priority) {
        if self.streams.peek(id).is_some() {
            frame::write(&mut self.control, kind::PRIORITY, 0, id.number, &priority.bytes());
        }
    }

    /// Sends another priority of a request whose reply is not complete (RFC 9218 §7.1).
    pub fn update_priority(&mut self, id: StreamId, value: &str) {
        if self.streams.peek(id).is_some() {
            frame::write_priority_update(&mut self.control, id.number, value);
        }
    }

    /// Asks whether the peer is there; [`Event::Pong`](super::Event) brings the same bytes.
    pub fn ping(&mut self, bytes: [u8; 8]) {
        frame::write(&mut self.control, kind::PING, 0, 0, &bytes);
    }

    /// Announces that no more streams will be opened. Open ones continue.
    pub fn go_away(&mut self, code: ErrorCode) {
        self.going.get_or_insert(LARGEST);
        frame::write_goaway(&mut self.control, self.streams.highest[1], code, b"");
    }

    /// Sets the time, in milliseconds from any fixed instant, for rate limits.
    pub fn tell_time(&mut self, now_ms: u64) {
        self.calm.set_time(now_ms);
    }

    /// Our side of a stream has ended.
    pub(super) fn end_here(&mut self, id: StreamId) {
        if self.streams.at(id).is_some_and(|stream| stream.remote == Remote::Ended) {
            self.streams.remove(id);
        }
    }

    /// An error of one stream: the peer and its owner hear of it.
    pub(super) fn stream_error(&mut self, id: StreamId, code: ErrorCode, why: &'static str) {
        self.reset(id, code);
        self.events.push_back(EventParts::Reset { id, code, why: Some(why) });
    }

    /// Fails the connection: the peer receives a GOAWAY, and no more input is accepted.
    pub(super) fn fail(&mut self, failure: Failure) -> Failure {
        let first = *self.failed.get_or_insert_with(|| {
            let debug = failure.why.as_bytes();
            frame::write_goaway(&mut self.control, self.streams.highest[1], failure.code, debug);
            failure
        });
        self.turns.clear();
        first
    }
}
