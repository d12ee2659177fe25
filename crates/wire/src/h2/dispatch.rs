//! Frames with a fixed payload (RFC 9113 §6): their checks and effects. Header blocks are in `message`.

use super::error::{ErrorCode, Failure};
use super::frame::{self, Header, Priority, flag, kind, number, whole_number};
use super::receive::EventParts;
use super::session::Session;
use super::stream::StreamId;
use super::streams::{Reset, StreamState};

/// How many answers may wait for a peer that does not read them.
const ANSWERS: u32 = 1000;
/// Most bytes kept of a GOAWAY's debug data.
const DEBUG: usize = 1024;

impl Session {
    pub(super) fn dispatch(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        match header.kind {
            kind::HEADERS => self.headers(header, payload),
            kind::PRIORITY => self.priority(header, payload),
            kind::RST_STREAM => self.rst_stream(header, payload),
            kind::SETTINGS => self.settings(header, payload),
            kind::PUSH_PROMISE => self.push_promise(header, payload),
            kind::PING => self.ping_received(header, payload),
            kind::GOAWAY => self.goaway_received(header, payload),
            kind::WINDOW_UPDATE => self.window_update(header, payload),
            kind::CONTINUATION => self.continuation(header, payload),
            // Unknown frame types are ignored (RFC 9113 §5.5).
            _ => self.count_idle_frame().map(|()| None),
        }
    }

    /// Counts a frame that makes no progress.
    pub(super) fn count_idle_frame(&mut self) -> Result<(), Failure> {
        match self.calm.take() {
            true => Ok(()),
            false => Err(Failure::new(ErrorCode::ENHANCE_YOUR_CALM, "too many frames that move nothing")),
        }
    }

    /// Counts an answer that the peer has to read.
    pub(super) fn answer(&mut self) -> Result<(), Failure> {
        self.answers += 1;
        match self.answers <= ANSWERS {
            true => Ok(()),
            false => Err(Failure::new(ErrorCode::ENHANCE_YOUR_CALM, "answers are not read")),
        }
    }

    fn priority(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        self.count_idle_frame()?;
        if header.stream == 0 {
            return Err(Failure::protocol("PRIORITY on stream 0"));
        }
        let wrong = if payload.len() != Priority::LENGTH {
            Some((ErrorCode::FRAME_SIZE_ERROR, "PRIORITY of a wrong length"))
        } else if number(payload, 0) == header.stream {
            Some((ErrorCode::PROTOCOL_ERROR, "a stream depends on itself"))
        } else {
            None
        };
        if let Some((code, why)) = wrong {
            match self.streams.place(header.stream) {
                StreamState::Live(id) => self.stream_error(id, code, why),
                _ => return Err(Failure::new(code, why)),
            }
        }
        Ok(None)
    }

    fn rst_stream(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        if payload.len() != 4 {
            return Err(Failure::size("RST_STREAM of a wrong length"));
        }
        if header.stream == 0 {
            return Err(Failure::protocol("RST_STREAM on stream 0"));
        }
        self.count_idle_frame()?;
        match self.streams.place(header.stream) {
            StreamState::Live(id) => Ok(Some(self.reset_there(id, ErrorCode(whole_number(payload, 0))))),
            StreamState::Idle => Err(Failure::protocol("RST_STREAM on an idle stream")),
            _ => Ok(None),
        }
    }

    fn settings(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        if header.stream != 0 {
            return Err(Failure::protocol("SETTINGS on a stream"));
        }
        if header.has(flag::ACK) {
            return self.settings_acknowledged(payload);
        }
        self.count_idle_frame()?;
        let before = self.peer.initial_window;
        self.peer.apply(payload)?;
        self.greeted = true;
        self.encoder.limit(self.peer.header_table_size);
        self.move_windows(i64::from(self.peer.initial_window) - i64::from(before))?;
        frame::write(&mut self.control, kind::SETTINGS, flag::ACK, 0, &[]);
        self.answer()?;
        Ok(Some(EventParts::Settings))
    }

    fn settings_acknowledged(&mut self, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        if !payload.is_empty() {
            return Err(Failure::size("an acknowledgement with SETTINGS"));
        }
        if !self.greeted {
            return Err(Failure::protocol("the first frame is no SETTINGS"));
        }
        self.unacknowledged = match self.unacknowledged.checked_sub(1) {
            Some(left) => left,
            None => return Err(Failure::protocol("SETTINGS acknowledged that were not sent")),
        };
        Ok(None)
    }

    /// Applies a new initial window to all streams (RFC 9113 §6.9.2).
    fn move_windows(&mut self, by: i64) -> Result<(), Failure> {
        if by == 0 {
            return Ok(());
        }
        for stream in self.streams.iter_mut() {
            stream.send.change(by).map_err(|_| Failure::flow("SETTINGS make a window too large"))?;
        }
        if by > 0 {
            let ids: Vec<StreamId> = self.streams.ids().collect();
            ids.into_iter().for_each(|id| self.grown(id));
        }
        Ok(())
    }

    fn grown(&mut self, id: StreamId) {
        self.line_up(id);
        self.tell_of_room(id);
    }

    fn ping_received(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        let Ok(bytes) = <[u8; 8]>::try_from(payload) else {
            return Err(Failure::size("PING of a wrong length"));
        };
        if header.stream != 0 {
            return Err(Failure::protocol("PING on a stream"));
        }
        self.count_idle_frame()?;
        if header.has(flag::ACK) {
            return Ok(Some(EventParts::Pong(bytes)));
        }
        frame::write(&mut self.control, kind::PING, flag::ACK, 0, &bytes);
        self.answer()?;
        Ok(None)
    }

    fn goaway_received(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        if header.stream != 0 {
            return Err(Failure::protocol("GOAWAY on a stream"));
        }
        if payload.len() < 8 {
            return Err(Failure::size("GOAWAY of a wrong length"));
        }
        self.count_idle_frame()?;
        // A later GOAWAY must not have a higher last stream than an earlier one (RFC 9113 §6.8).
        let last_stream = number(payload, 0).min(self.going.unwrap_or(u32::MAX));
        self.going = Some(last_stream);
        let debug = &payload[8..];
        self.debug.clear();
        self.debug.extend_from_slice(&debug[..debug.len().min(DEBUG)]);
        let beyond = |id: &StreamId| id.number() % 2 == 1 && id.number() > last_stream;
        let refused: Vec<StreamId> = self.streams.ids().filter(beyond).collect();
        let code = ErrorCode(whole_number(payload, 4));
        for id in refused {
            self.streams.remove_reset(id, Reset::Here);
            self.events.push_back(match code {
                // A peer that asks for calm gets no immediate retry.
                ErrorCode::ENHANCE_YOUR_CALM => EventParts::Reset { id, code, why: None },
                _ => EventParts::Refused(id),
            });
        }
        Ok(Some(EventParts::GoAway { last_stream, code }))
    }

    fn window_update(&mut self, header: Header, payload: &[u8]) -> Result<Option<EventParts>, Failure> {
        if payload.len() != 4 {
            return Err(Failure::size("WINDOW_UPDATE of a wrong length"));
        }
        let increment = number(payload, 0);
        if header.stream == 0 {
            return self.connection_window(increment).map(|()| None);
        }
        match self.streams.place(header.stream) {
            StreamState::Live(id) => self.stream_window(id, increment)?,
            StreamState::Idle => return Err(Failure::protocol("WINDOW_UPDATE on an idle stream")),
            _ => self.count_idle_frame()?,
        }
        Ok(None)
    }

    fn connection_window(&mut self, increment: u32) -> Result<(), Failure> {
        if increment == 0 {
            return Err(Failure::protocol("WINDOW_UPDATE by nothing"));
        }
        if self.window.available() > 0 {
            self.count_idle_frame()?;
        }
        self.window
            .change(increment.into())
            .map_err(|_| Failure::flow("the connection's window is too large"))
    }

    fn stream_window(&mut self, id: StreamId, increment: u32) -> Result<(), Failure> {
        let Some(stream) = self.streams.at(id) else { return Ok(()) };
        let useless = stream.upload.ended || stream.send.available() > 0;
        if increment == 0 {
            self.stream_error(id, ErrorCode::PROTOCOL_ERROR, "WINDOW_UPDATE by nothing");
        } else if stream.send.change(increment.into()).is_err() {
            self.stream_error(id, ErrorCode::FLOW_CONTROL_ERROR, "the stream's window is too large");
        } else {
            self.grown(id);
        }
        if useless { self.count_idle_frame() } else { Ok(()) }
    }
}
