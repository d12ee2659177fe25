//! Received bytes: cuts frames out of them. Body bytes are returned where they are in the input.

use super::error::{ErrorCode, Failure};
use super::fields::Fields;
use super::frame::{HEADER, Header, USUAL_PAYLOAD, flag, kind};
use super::session::Session;
use super::stream::{Fate, Remote, StreamId};
use super::streams::{Reset, StreamState};

/// An event in the peer's bytes.
#[derive(Debug)]
pub enum Event<'a> {
    /// A head of status 1xx; another follows.
    Informational { stream: StreamId, status: u16, fields: &'a Fields },
    /// The head of the response. With `end` nothing follows.
    Head { stream: StreamId, status: u16, fields: &'a Fields, end: bool },
    /// A piece of body. Call [`Session::consume`] once it is used up.
    Data { stream: StreamId, data: &'a [u8], end: bool },
    /// Fields behind the body; they end it.
    Trailers { stream: StreamId, fields: &'a Fields },
    /// The stream is closed: reset by the peer, or by us for an error of the peer, described by `why`.
    Reset { stream: StreamId, code: ErrorCode, why: Option<&'static str> },
    /// The stream is closed, and the peer has not processed the request: it may be sent again (RFC 9113
    /// §8.7).
    Refused { stream: StreamId },
    /// There is room for body bytes again where there was none.
    Writable { stream: StreamId },
    /// The peer will answer a request that was not made (push). `fields` are that request's, pseudo-fields
    /// first.
    Promise { parent: StreamId, stream: StreamId, fields: &'a Fields },
    /// The answer to a ping.
    Pong([u8; 8]),
    /// The peer opens no more streams and processes none after `last_stream`; later ones get
    /// [`Event::Refused`].
    GoAway { last_stream: u32, code: ErrorCode, debug: &'a [u8] },
    /// The peer's settings have changed: there may be more vacancies, or fewer.
    Settings,
}

/// A step through received bytes.
#[derive(Debug)]
pub struct Step<'a> {
    /// So many of them are done with.
    pub used: usize,
    /// `None` if all input was used.
    pub event: Option<Event<'a>>,
}

/// An event without its fields and bytes, which stay in the session or in the input.
#[derive(Debug)]
pub(super) enum EventParts {
    Informational { id: StreamId, status: u16 },
    Head { id: StreamId, status: u16, end: bool },
    Data { id: StreamId, from: usize, to: usize, end: bool },
    Trailers { id: StreamId },
    Reset { id: StreamId, code: ErrorCode, why: Option<&'static str> },
    Refused(StreamId),
    Writable(StreamId),
    Promise { parent: StreamId, id: StreamId },
    Pong([u8; 8]),
    GoAway { last_stream: u32, code: ErrorCode },
    Settings,
}

/// The position of the input within a frame.
#[derive(Debug)]
pub(super) enum Reading {
    Header {
        have: usize,
        bytes: [u8; HEADER],
    },
    Payload(Header),
    /// Body bytes; without `id` they are dropped, because the stream is closed.
    Data {
        id: Option<StreamId>,
        left: usize,
        padding: Padding,
        end: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Padding {
    /// The byte with its length was not received yet.
    Unread,
    /// Bytes of padding that are still to come.
    Length(usize),
}

impl Default for Reading {
    fn default() -> Reading {
        Reading::Header { have: 0, bytes: [0; HEADER] }
    }
}

/// A block of fields that comes in several frames.
#[derive(Debug)]
pub(super) struct Block {
    pub header: Header,
    /// The stream promised, if it is a promise.
    pub promised: Option<u32>,
    pub bytes: Vec<u8>,
    pub frames: usize,
}

/// The result of one step.
enum Progress {
    Event(EventParts),
    Advanced,
    /// More input is wanted.
    Starved,
}

impl Session {
    /// Returns whether the next byte starts a frame.
    pub fn is_between_frames(&self) -> bool {
        matches!(self.reading, Reading::Header { have: 0, .. })
    }

    /// Processes received bytes up to the next event. Call it again with the rest, until there is neither
    /// input nor event. After a failure, send what [`Session::write_into`] has; no further input is accepted.
    pub fn next<'a>(&'a mut self, input: &'a [u8]) -> Result<Step<'a>, Failure> {
        let mut used = 0;
        let parts = loop {
            if let Some(parts) = self.events.pop_front() {
                break Some(parts);
            }
            if let Some(failure) = self.failed {
                return Err(failure);
            }
            match self.advance(input, &mut used) {
                Ok(Progress::Event(parts)) => break Some(parts),
                Ok(Progress::Advanced) => {}
                Ok(Progress::Starved) => break None,
                Err(failure) => return Err(self.fail(failure)),
            }
        };
        Ok(Step { used, event: parts.map(|parts| self.event(parts, input)) })
    }

    fn event<'a>(&'a self, parts: EventParts, input: &'a [u8]) -> Event<'a> {
        let fields = &self.fields;
        match parts {
            EventParts::Informational { id, status } => Event::Informational { stream: id, status, fields },
            EventParts::Head { id, status, end } => Event::Head { stream: id, status, fields, end },
            EventParts::Data { id, from, to, end } => Event::Data { stream: id, data: &input[from..to], end },
            EventParts::Trailers { id } => Event::Trailers { stream: id, fields },
            EventParts::Reset { id, code, why } => Event::Reset { stream: id, code, why },
            EventParts::Refused(stream) => Event::Refused { stream },
            EventParts::Writable(stream) => Event::Writable { stream },
            EventParts::Promise { parent, id } => Event::Promise { parent, stream: id, fields },
            EventParts::Pong(bytes) => Event::Pong(bytes),
            EventParts::GoAway { last_stream, code } => {
                Event::GoAway { last_stream, code, debug: &self.debug }
            }
            EventParts::Settings => Event::Settings,
        }
    }

    fn advance(&mut self, input: &[u8], used: &mut usize) -> Result<Progress, Failure> {
        let rest = &input[*used..];
        match &mut self.reading {
            Reading::Header { have, bytes } => {
                let n = rest.len().min(HEADER - *have);
                bytes[*have..*have + n].copy_from_slice(&rest[..n]);
                *used += n;
                *have += n;
                if *have < HEADER {
                    return Ok(Progress::Starved);
                }
                let header = Header::parse(bytes);
                self.reading = Reading::default();
                self.begin(header).map(|()| Progress::Advanced)
            }
            Reading::Payload(header) => {
                let header = *header;
                let missing = header.length - self.partial.len();
                let n = rest.len().min(missing);
                *used += n;
                if n < missing {
                    self.partial.extend_from_slice(&rest[..n]);
                    return Ok(Progress::Starved);
                }
                self.reading = Reading::default();
                self.payload(header, &rest[..n])
            }
            Reading::Data { .. } => self.data(input, used),
        }
    }

    /// A frame's header is there.
    fn begin(&mut self, header: Header) -> Result<(), Failure> {
        if header.length > USUAL_PAYLOAD {
            return Err(Failure::size("frame longer than was allowed"));
        }
        if !self.greeted && header.kind != kind::SETTINGS {
            return Err(Failure::protocol("the first frame is no SETTINGS"));
        }
        if let Some(block) = &self.block
            && (header.kind != kind::CONTINUATION || header.stream != block.header.stream)
        {
            return Err(Failure::protocol("a block of fields was interrupted"));
        }
        if header.kind == kind::DATA {
            return self.begin_data(header);
        }
        self.reading = Reading::Payload(header);
        Ok(())
    }

    fn payload(&mut self, header: Header, bytes: &[u8]) -> Result<Progress, Failure> {
        let parts = if self.partial.is_empty() {
            self.dispatch(header, bytes)?
        } else {
            let mut whole = std::mem::take(&mut self.partial);
            whole.extend_from_slice(bytes);
            let parts = self.dispatch(header, &whole);
            whole.clear();
            self.partial = whole;
            parts?
        };
        Ok(parts.map_or(Progress::Advanced, Progress::Event))
    }

    /// Starts a DATA frame. Its whole payload counts in both windows (RFC 9113 §6.9.1), even for a closed
    /// stream.
    fn begin_data(&mut self, header: Header) -> Result<(), Failure> {
        let place = match header.stream {
            0 => return Err(Failure::protocol("DATA on stream 0")),
            number => self.streams.place(number),
        };
        self.receive
            .receive(header.length)
            .map_err(|_| Failure::flow("more DATA than the connection's window"))?;
        // Each stream's window bounds the memory. The connection's is replenished at once, so that a slow
        // reader delays no other stream.
        if let Some(increment) = self.receive.consume(header.length) {
            super::frame::write_window_update(&mut self.control, 0, increment);
        }
        let end = header.has(flag::END_STREAM);
        if header.length == 0 && !end {
            self.count_idle_frame()?;
        }
        let id = match place {
            StreamState::Live(id) => self.admit_data(id, header.length),
            StreamState::ResetHere if self.streams.count_late(header.stream, header.length) => None,
            StreamState::ResetHere | StreamState::ResetThere => self.late(header.stream)?,
            StreamState::Closed => {
                return Err(Failure::new(ErrorCode::STREAM_CLOSED, "DATA on a closed stream"));
            }
            StreamState::Idle => return Err(Failure::protocol("DATA on an idle stream")),
        };
        let padding = if header.has(flag::PADDED) { Padding::Unread } else { Padding::Length(0) };
        self.reading = Reading::Data { id, left: header.length, padding, end };
        Ok(())
    }

    /// Whether a live stream may get DATA; if not, it is an error of the stream.
    fn admit_data(&mut self, id: StreamId, length: usize) -> Option<StreamId> {
        let stream = self.streams.at(id)?;
        let wrong = match stream.remote.on_data() {
            _ if stream.receive.receive(length).is_err() => {
                Some((ErrorCode::FLOW_CONTROL_ERROR, "more DATA than the stream's window"))
            }
            Fate::Data => None,
            Fate::Closed => Some((ErrorCode::STREAM_CLOSED, "DATA after the end of a stream")),
            _ => Some((ErrorCode::PROTOCOL_ERROR, "DATA before a head")),
        };
        match wrong {
            Some((code, why)) => {
                self.stream_error(id, code, why);
                None
            }
            None => Some(id),
        }
    }

    /// A frame for a stream that the peer itself has reset.
    pub(super) fn late<T>(&mut self, number: u32) -> Result<Option<T>, Failure> {
        self.count_idle_frame()?;
        super::frame::write_reset(&mut self.control, number, ErrorCode::STREAM_CLOSED);
        self.answer()?;
        Ok(None)
    }

    /// More of a DATA frame.
    fn data(&mut self, input: &[u8], used: &mut usize) -> Result<Progress, Failure> {
        let Reading::Data { id, left, padding, end } = &mut self.reading else {
            return Ok(Progress::Advanced);
        };
        let Padding::Length(pad) = *padding else {
            return self.padding_length(input, used);
        };
        let available = input.len() - *used;
        let body = (*left - pad).min(available);
        let (from, to) = (*used, *used + body);
        *left -= body;
        let owner = *id;
        let ends = *end && *left == pad;
        if *left == pad {
            // Padding is dropped.
            let skipped = pad.min(available - body);
            (*id, *end) = (None, false);
            (*left, *padding) = (pad - skipped, Padding::Length(pad - skipped));
            *used = to + skipped;
            if *left == 0 {
                self.reading = Reading::default();
            } else if body == 0 && !ends {
                return Ok(Progress::Starved);
            }
        } else {
            *used = to;
            if body == 0 {
                return Ok(Progress::Starved);
            }
        }
        Ok(owner.map_or(Progress::Advanced, |id| self.body(id, from, to, ends)))
    }

    fn padding_length(&mut self, input: &[u8], used: &mut usize) -> Result<Progress, Failure> {
        let Reading::Data { id, left, padding, end } = &mut self.reading else {
            return Ok(Progress::Advanced);
        };
        if *left == 0 {
            return Err(Failure::size("padded DATA without a length of its padding"));
        }
        let Some(length) = input.get(*used).map(|byte| usize::from(*byte)) else {
            return Ok(Progress::Starved);
        };
        *used += 1;
        *left -= 1;
        if length > *left {
            return Err(Failure::protocol("more padding than DATA"));
        }
        *padding = Padding::Length(length);
        let is_empty = length == *left && !*end;
        if let Some(id) = *id {
            self.consume(id, length + 1);
        }
        if is_empty {
            self.count_idle_frame()?;
        }
        Ok(Progress::Advanced)
    }

    /// A piece of body, perhaps the last.
    fn body(&mut self, id: StreamId, from: usize, to: usize, end: bool) -> Progress {
        let Some(stream) = self.streams.at(id) else { return Progress::Advanced };
        let wrong = match stream.count(to - from) {
            false => Some("more body than content-length announced"),
            true if end && !stream.complete() => Some("less body than content-length announced"),
            true => None,
        };
        if let Some(why) = wrong {
            self.stream_error(id, ErrorCode::PROTOCOL_ERROR, why);
            return Progress::Advanced;
        }
        if from == to && !end {
            return Progress::Advanced;
        }
        if end {
            self.end_there(id);
        }
        Progress::Event(EventParts::Data { id, from, to, end })
    }

    /// The peer's side of a stream has ended.
    pub(super) fn end_there(&mut self, id: StreamId) {
        let Some(stream) = self.streams.at(id) else { return };
        stream.remote = Remote::Ended;
        if stream.upload.ended {
            self.streams.remove(id);
        }
    }

    /// Records that the peer has reset a stream.
    pub(super) fn reset_there(&mut self, id: StreamId, code: ErrorCode) -> EventParts {
        self.streams.remove_reset(id, Reset::There);
        match code {
            ErrorCode::REFUSED_STREAM => EventParts::Refused(id),
            _ => EventParts::Reset { id, code, why: None },
        }
    }
}
