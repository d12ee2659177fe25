//! Blocks of fields (RFC 9113 §4.3, §6.2, §6.6, §6.10): heads, trailers and promises, in one frame or
//! several.

use super::error::{ErrorCode, Failure};
use super::frame::{self, Header, Priority, flag, number, unpadded};
use super::head;
use super::hpack::Fit;
use super::receive::{Block, EventParts};
use super::session::Session;
use super::stream::{Fate, Remote, Stream, StreamId, Upload};
use super::streams::{Reset, StreamState};
use super::window::{ReceiveWindow, SendWindow};

/// Most frames of a block: HEADERS and eight CONTINUATIONs. More are an attack (CVE-2024-28182); nghttp2 has
/// the same limit.
const FRAMES: usize = 9;

impl Session {
    pub(super) fn headers(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        if header.stream == 0 {
            return Err(Failure::protocol("HEADERS on stream 0"));
        }
        let mut fragment =
            unpadded(&header, payload).ok_or(Failure::protocol("more padding than HEADERS"))?;
        if header.has(flag::PRIORITY) {
            let Some((priority, rest)) = fragment.split_at_checked(Priority::LENGTH) else {
                return Err(Failure::size("HEADERS without their priority"));
            };
            if number(priority, 0) == header.stream {
                return Err(Failure::protocol("a stream depends on itself"));
            }
            fragment = rest;
        }
        self.begin_block(header, None, fragment)
    }

    pub(super) fn push_promise(
        &mut self,
        header: Header,
        payload: &[u8],
    ) -> Result<Option<EventParts>, Failure> {
        if !self.config.push || header.stream == 0 {
            return Err(Failure::protocol("PUSH_PROMISE that was not allowed"));
        }
        let fragment =
            unpadded(&header, payload).ok_or(Failure::protocol("more padding than PUSH_PROMISE"))?;
        if fragment.len() < 4 {
            return Err(Failure::size("PUSH_PROMISE without a stream"));
        }
        // Only on a stream that this side has opened (RFC 9113 §6.6).
        if header.stream.is_multiple_of(2) {
            return Err(Failure::protocol("PUSH_PROMISE on a stream that was promised"));
        }
        let promised = number(fragment, 0);
        if promised == 0 || promised % 2 == 1 || promised <= self.streams.highest[1] {
            return Err(Failure::protocol("invalid stream in PUSH_PROMISE"));
        }
        self.begin_block(header, Some(promised), &fragment[4..])
    }

    pub(super) fn continuation(
        &mut self,
        header: Header,
        payload: &[u8],
    ) -> Result<Option<EventParts>, Failure> {
        let limit = self.config.max_field_list;
        let Some(mut block) = self.block.take() else {
            return Err(Failure::protocol("CONTINUATION of nothing"));
        };
        block.bytes.extend_from_slice(payload);
        block.frames += 1;
        if block.frames > FRAMES || block.bytes.len() > limit {
            let why = "too many CONTINUATION frames behind a HEADERS frame";
            return Err(Failure::new(ErrorCode::COMPRESSION_ERROR, why));
        }
        if header.has(flag::END_HEADERS) {
            return self.whole_block(block.header, block.promised, &block.bytes);
        }
        self.block = Some(block);
        Ok(None)
    }

    fn begin_block(
        &mut self,
        header: Header,
        promised: Option<u32>,
        fragment: &[u8],
    ) -> Result<Option<EventParts>, Failure> {
        if header.has(flag::END_HEADERS) {
            return self.whole_block(header, promised, fragment);
        }
        self.block = Some(Block { header, promised, bytes: fragment.to_vec(), frames: 1 });
        Ok(None)
    }

    /// Decodes a complete block. Every block is decoded, even for unknown streams: the table belongs to the
    /// connection.
    fn whole_block(
        &mut self,
        header: Header,
        promised: Option<u32>,
        block: &[u8],
    ) -> Result<Option<EventParts>, Failure> {
        let fit = self
            .decoder
            .decode(block, &mut self.fields, self.config.max_field_list)
            .map_err(|error| Failure::new(ErrorCode::COMPRESSION_ERROR, error.text()))?;
        if let Some(promised) = promised {
            return self.promised(header.stream, promised, fit);
        }
        match self.streams.place(header.stream) {
            StreamState::Live(id) => self.message(id, header.has(flag::END_STREAM), fit),
            StreamState::ResetHere => self.count_idle_frame().map(|()| None),
            StreamState::ResetThere => self.late(header.stream),
            StreamState::Closed => Err(Failure::new(ErrorCode::STREAM_CLOSED, "HEADERS on a closed stream")),
            StreamState::Idle => Err(Failure::protocol("HEADERS on an idle stream")),
        }
    }

    fn message(&mut self, id: StreamId, end: bool, fit: Fit) -> Result<Option<EventParts>, Failure> {
        let Some(stream) = self.streams.at(id) else { return Ok(None) };
        let fate = stream.remote.on_headers(end);
        if fit == Fit::TooLarge {
            self.stream_error(id, ErrorCode::ENHANCE_YOUR_CALM, "too large a list of fields");
            return Ok(None);
        }
        let parts = match fate {
            Fate::Head => self.head(id, end)?,
            Fate::Trailers if !stream.complete() => Err("less body than content-length announced"),
            Fate::Trailers => head::trailers(&mut self.fields).map(|()| {
                self.end_there(id);
                EventParts::Trailers { id }
            }),
            Fate::Closed => {
                self.stream_error(id, ErrorCode::STREAM_CLOSED, "HEADERS after the end of a stream");
                return Ok(None);
            }
            _ => Err("a second head"),
        };
        match parts {
            Ok(parts) => Ok(Some(parts)),
            Err(why) => {
                self.stream_error(id, ErrorCode::PROTOCOL_ERROR, why);
                Ok(None)
            }
        }
    }

    fn head(&mut self, id: StreamId, end: bool) -> Result<Result<EventParts, head::Malformed>, Failure> {
        let head = match head::reply(&mut self.fields) {
            Ok(head) => head,
            Err(why) => return Ok(Err(why)),
        };
        let status = head.status;
        if status < 200 {
            self.count_idle_frame()?;
            // HTTP/2 does not use status 101 (RFC 9113 §8.6).
            let wrong = if end { Some("a stream ends with status 1xx") } else { None };
            let wrong = wrong.or((status == 101).then_some("status 101"));
            return Ok(wrong.map_or(Ok(EventParts::Informational { id, status }), Err));
        }
        let Some(stream) = self.streams.at(id) else { return Ok(Err("no stream")) };
        stream.remote = Remote::Body;
        let bodiless = stream.head_only || matches!(status, 204 | 304);
        stream.expected = if bodiless { None } else { head.length };
        if end && !stream.complete() {
            return Ok(Err("less body than content-length announced"));
        }
        if end {
            self.end_there(id);
        }
        Ok(Ok(EventParts::Head { id, status, end }))
    }

    /// The fields of a promise are there.
    fn promised(&mut self, parent: u32, promised: u32, fit: Fit) -> Result<Option<EventParts>, Failure> {
        self.count_idle_frame()?;
        let parent = match self.streams.place(parent) {
            StreamState::Live(parent) => Some(parent),
            StreamState::ResetHere => None,
            _ => return Err(Failure::protocol("PUSH_PROMISE on a stream that is not open")),
        };
        if parent.and_then(|id| self.streams.peek(id)).is_some_and(|stream| stream.remote == Remote::Ended) {
            return Err(Failure::protocol("PUSH_PROMISE after the end of a stream"));
        }
        let refusal = if fit == Fit::TooLarge || head::promise(&mut self.fields).is_err() {
            Some(ErrorCode::PROTOCOL_ERROR)
        } else if self.streams.count(false) >= self.config.max_concurrent_streams as usize {
            Some(ErrorCode::REFUSED_STREAM)
        } else {
            None
        };
        match (parent, refusal) {
            (Some(parent), None) => Ok(Some(EventParts::Promise { parent, id: self.reserve(promised) })),
            (_, refusal) => {
                self.streams.use_number(promised);
                self.streams.remember(promised, Reset::Here, self.config.initial_window);
                frame::write_reset(&mut self.control, promised, refusal.unwrap_or(ErrorCode::CANCEL));
                self.answer()?;
                Ok(None)
            }
        }
    }

    fn reserve(&mut self, promised: u32) -> StreamId {
        let head_only = self.fields.value(b":method") == Some(b"HEAD");
        let receive = ReceiveWindow::new(self.config.initial_window, self.config.max_window);
        self.streams.add(promised, |id| Stream {
            id,
            remote: Remote::Head,
            send: SendWindow::new(0),
            receive,
            expected: None,
            head_only,
            upload: Upload::none(),
            in_turn: false,
            starved: false,
        })
    }
}
