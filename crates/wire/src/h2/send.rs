//! Output of a session: first replies and heads, in order; then bodies, a frame of each stream in turn.

use super::fields::Fields;
use super::frame::{self, HEADER, Header, flag, kind};
use super::hpack::Encoder;
use super::session::{Field, Session};
use super::stream::StreamId;

/// Most bytes of a body that are queued: as much as one write sends.
const QUEUE: usize = 64 << 10;

impl Session {
    /// Appends what may be sent now to `out`, up to about `limit` bytes. Leaves it unchanged if there is
    /// nothing to send.
    pub fn write_into(&mut self, out: &mut Vec<u8>, limit: usize) {
        // Updates first: none may follow the reset of its stream.
        for part in [&mut self.updates, &mut self.control] {
            match out.is_empty() {
                true => std::mem::swap(out, part),
                false => out.append(part),
            }
        }
        self.answers = 0;
        while out.len() < limit
            && let Some(id) = self.turns.pop_front()
        {
            let Some(stream) = self.streams.at(id) else { continue };
            stream.in_turn = false;
            if !stream.upload.queued().is_empty() && self.window.available() == 0 {
                stream.in_turn = true;
                self.turns.push_front(id);
                break;
            }
            self.write_one(id, out);
        }
    }

    /// Whether [`Session::write_into`] would add something.
    pub fn has_output(&self) -> bool {
        !self.control.is_empty()
            || !self.updates.is_empty()
            || self.turns.iter().any(|id| {
                let stream = self.streams.peek(*id);
                stream.is_some_and(|s| s.upload.queued().is_empty() || self.window.available() > 0)
            })
    }

    /// Returns whether that would be updates of streams' windows and nothing else.
    pub fn has_only_updates(&self) -> bool {
        !self.updates.is_empty() && self.control.is_empty() && self.turns.is_empty()
    }

    /// Returns the room for body bytes of a stream. It is bounded by the stream's window, so that nothing is
    /// read that could not be sent.
    pub fn room(&self, id: StreamId) -> usize {
        let Some(stream) = self.streams.peek(id) else { return 0 };
        let queued = stream.upload.queued().len();
        if stream.upload.last { 0 } else { stream.send.available().min(QUEUE).saturating_sub(queued) }
    }

    /// Returns whether the peer keeps a stream from sending more of its body: by the stream's window, all of
    /// which the queued bytes take, or by that of the connection (RFC 9113 §5.2).
    pub fn is_kept_by_window(&self, id: StreamId) -> bool {
        self.streams.peek(id).is_some_and(|stream| {
            let queued = stream.upload.queued().len();
            stream.send.available() <= queued || self.window.available() == 0
        })
    }

    /// Returns the queued bytes of a stream's body.
    pub fn queued(&self, id: StreamId) -> usize {
        self.streams.peek(id).map_or(0, |stream| stream.upload.queued().len())
    }

    /// Like [`Session::room`]; if there is none, [`Event::Writable`](super::Event) reports when there is.
    pub fn want_room(&mut self, id: StreamId) -> usize {
        let room = self.room(id);
        if let Some(stream) = self.streams.at(id) {
            stream.starved = room == 0;
        }
        room
    }

    /// Returns whether a stream's whole request has been written, including its end. If not,
    /// [`Event::Writable`](super::Event) reports when it has.
    pub fn want_sent(&mut self, id: StreamId) -> bool {
        match self.streams.at(id).filter(|stream| !stream.upload.ended) {
            Some(stream) => {
                stream.starved = true;
                false
            }
            None => true,
        }
    }

    /// Returns storage for `len` bytes of a body, at most the room there is. Reading into it saves a copy.
    pub fn space(&mut self, id: StreamId, len: usize) -> &mut [u8] {
        let len = len.min(self.room(id));
        self.streams.at(id).map_or(&mut [], |stream| stream.upload.space(len))
    }

    /// Queues `len` bytes that were written into that storage.
    pub fn filled(&mut self, id: StreamId, len: usize) {
        if let Some(stream) = self.streams.at(id) {
            stream.upload.fill(len);
        }
        self.line_up(id);
    }

    /// Queues as much of a piece of body as there is room for, and returns the length.
    pub fn queue(&mut self, id: StreamId, bytes: &[u8]) -> usize {
        let len = bytes.len().min(self.want_room(id));
        if len > 0 {
            self.space(id, len).copy_from_slice(&bytes[..len]);
            self.filled(id, len);
        }
        len
    }

    /// Queues a piece of body, `start..end` of `storage`, by swapping buffers, so that nothing is copied.
    /// Takes all of it, or nothing while an earlier piece is queued.
    pub fn trade(&mut self, id: StreamId, storage: &mut Vec<u8>, start: usize, end: usize) -> bool {
        let stream = self.streams.at(id).filter(|stream| !stream.upload.last);
        let traded = stream.is_some_and(|stream| stream.upload.trade(storage, start, end));
        self.line_up(id);
        traded
    }

    /// Ends the body after what is queued.
    pub fn end(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.at(id) {
            stream.upload.last = true;
        }
        self.line_up(id);
    }

    /// Ends the body after what is queued, with these trailers.
    pub fn end_with<'a>(&mut self, id: StreamId, trailers: impl IntoIterator<Item = Field<'a>>) {
        let mut fields = Fields::default();
        trailers.into_iter().for_each(|field| fields.push(field.name, field.value));
        if let Some(stream) = self.streams.at(id)
            && !stream.upload.last
            && !fields.is_empty()
        {
            stream.upload.trailers = Some(Box::new(fields));
        }
        self.end(id);
    }

    /// Adds a stream to those that have something to send.
    pub(super) fn line_up(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.at(id)
            && !stream.in_turn
            && stream.can_send()
        {
            stream.in_turn = true;
            self.turns.push_back(id);
        }
    }

    fn write_one(&mut self, id: StreamId, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.at(id) else { return };
        let queued = stream.upload.queued();
        let allowed = stream.send.available().min(self.window.available()).min(self.peer.max_frame);
        let length = queued.len().min(allowed);
        let trailers = stream.upload.trailers.is_some();
        let last = stream.upload.last && length == queued.len();
        let flags = if last && !trailers { flag::END_STREAM } else { 0 };
        if length > 0 || flags != 0 {
            let header = Header { length, kind: kind::DATA, flags, stream: id.number };
            out.extend_from_slice(&header.bytes());
            out.extend_from_slice(&queued[..length]);
            stream.upload.take(length);
            stream.send.take(length);
            self.window.take(length);
            self.calm.earn(length);
        }
        if last {
            stream.upload.ended = true;
            let waited = std::mem::take(&mut stream.starved);
            if let Some(fields) = stream.upload.trailers.take() {
                let list = fields.iter().map(|(name, value)| Field { name, value, sensitive: false });
                write_block(
                    &mut self.encoder,
                    out,
                    id.number,
                    flag::END_STREAM,
                    &[],
                    list,
                    self.peer.max_frame,
                );
            }
            self.end_here(id);
            if waited {
                self.events.push_back(super::receive::EventParts::Writable(id));
            }
        } else {
            self.tell_of_room(id);
            self.line_up(id);
        }
    }

    /// Reports room to a stream that found none before.
    pub(super) fn tell_of_room(&mut self, id: StreamId) {
        let room = self.room(id);
        if let Some(stream) = self.streams.at(id)
            && stream.starved
            && room > 0
        {
            stream.starved = false;
            self.events.push_back(super::receive::EventParts::Writable(id));
        }
    }
}

/// Writes a header block as HEADERS and as many CONTINUATIONs as it needs. `before` precedes the block.
pub(super) fn write_block<'a>(
    encoder: &mut Encoder,
    out: &mut Vec<u8>,
    stream: u32,
    flags: u8,
    before: &[u8],
    fields: impl IntoIterator<Item = Field<'a>>,
    max_frame: usize,
) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    out.extend_from_slice(before);
    encoder.begin(out);
    fields.into_iter().for_each(|field| encoder.field(field.name, field.value, field.sensitive, out));
    let length = out.len() - start - HEADER;
    let mut header = Header { length, kind: kind::HEADERS, flags: flags | flag::END_HEADERS, stream };
    if length <= max_frame {
        return out[start..start + HEADER].copy_from_slice(&header.bytes());
    }
    let rest = out.split_off(start + HEADER + max_frame);
    (header.length, header.flags) = (max_frame, flags);
    out[start..start + HEADER].copy_from_slice(&header.bytes());
    let mut pieces = rest.chunks(max_frame).peekable();
    while let Some(piece) = pieces.next() {
        let flags = if pieces.peek().is_none() { flag::END_HEADERS } else { 0 };
        frame::write(out, kind::CONTINUATION, flags, stream, piece);
    }
}
