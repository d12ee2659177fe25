//! Compressed messages (RFC 7692), once the server has agreed. The application sees plain payload. What it
//! sends is framed anew, because the length of a compressed frame is not known in advance. Incoming messages
//! are delivered as fragments of at most 16 KiB, each a frame of known length.

use std::ops::Range;

use tables::Code;
use tables::constant::CURLWS_CONT;
use wire::ws::deflate::{Agreed, Deflater, Inflater, Slice};
use wire::ws::{Kind, Piece, Reader, Writer};

use super::decide::bit;
use super::{Come, Frame, WebSocket};
use crate::error::{Error, Result};

/// Amount of compressed data after which a fragment is sent.
const FRAGMENT: usize = 16 * 1024;

/// The payload of a piece of a frame.
pub enum Payload {
    /// A range of the received bytes.
    Received(Range<usize>),
    /// It was compressed.
    Inflated(Vec<u8>),
}

impl Payload {
    /// Returns the bytes, which may be in `received`.
    pub fn bytes<'a>(&'a self, received: &'a [u8]) -> &'a [u8] {
        match self {
            Payload::Received(place) => &received[place.clone()],
            Payload::Inflated(bytes) => bytes,
        }
    }
}

/// The two directions.
pub struct Deflate {
    inflater: Inflater,
    /// The type of the incoming message.
    kind: Kind,
    /// A piece of it, taken up to `at`.
    slice: Option<(Slice, usize)>,
    deflater: Deflater,
    sending: Sending,
}

/// The frame that the application has begun.
struct Sending {
    kind: Kind,
    last: bool,
    left: u64,
    /// Compressed data that was not sent.
    packed: Vec<u8>,
}

impl WebSocket {
    /// Messages are compressed from the first one on.
    pub fn compressed(mut self, agreed: Agreed) -> WebSocket {
        (self.reader, self.writer) = (Reader::of_compressed(), Writer::of_compressed());
        let sending = Sending { kind: Kind::Binary, last: true, left: 0, packed: Vec::new() };
        let (inflater, deflater) = (Inflater::new(agreed), Deflater::new(agreed));
        self.deflate =
            Some(Box::new(Deflate { inflater, kind: Kind::Binary, slice: None, deflater, sending }));
        self
    }

    /// Whether [`WebSocket::next`] may have more without more input.
    pub fn has_more(&self) -> bool {
        self.deflate.as_ref().is_some_and(|deflate| deflate.slice.is_some() || deflate.inflater.is_pending())
    }

    /// Returns whether output is compressed, so that queued bytes do not correspond to the application's
    /// payload.
    pub(super) fn compresses(&self) -> bool {
        self.deflate.is_some()
    }

    /// Takes payload of a compressed message.
    pub(super) fn inflate(&mut self, piece: &Piece, payload: &[u8]) {
        if let Some(deflate) = &mut self.deflate {
            deflate.kind = piece.kind;
            deflate.inflater.feed(payload, piece.last && piece.left == 0);
        }
    }

    /// Returns decompressed payload, as much as there is room for.
    pub(super) fn inflated(&mut self, room: usize) -> Result<Option<Come>> {
        let Some(deflate) = &mut self.deflate else { return Ok(None) };
        let (slice, from) = match deflate.slice.take() {
            Some(begun) => begun,
            None => match deflate.inflater.slice() {
                Ok(Some(slice)) => (slice, 0),
                Ok(None) => return Ok(None),
                Err(corrupt) => return Err(Error::new(Code::RecvError, format!("[WS] {corrupt}"))),
            },
        };
        let to = slice.bytes.len().min(from.saturating_add(room));
        let more = if slice.last { 0 } else { CURLWS_CONT };
        let left = slice.bytes.len() - to;
        let frame = Frame {
            flags: bit(deflate.kind) | more,
            offset: from as i64,
            bytes_left: left as i64,
            len: to - from,
        };
        if (from, left) == (0, 0) {
            return Ok(Some((frame, Payload::Inflated(slice.bytes))));
        }
        let piece = slice.bytes[from..to].to_vec();
        deflate.slice = (left > 0).then_some((slice, to));
        Ok(Some((frame, Payload::Inflated(piece))))
    }

    /// How much payload the frame that is compressed still wants.
    pub(super) fn compressed_left(&self) -> u64 {
        self.deflate.as_ref().map_or(0, |deflate| deflate.sending.left)
    }

    /// Starts a frame of a message.
    pub(super) fn begin_compressed(&mut self, kind: Kind, last: bool, length: u64) -> Result<()> {
        if let Some(deflate) = &mut self.deflate {
            let packed = std::mem::take(&mut deflate.sending.packed);
            deflate.sending = Sending { kind, last, left: length, packed };
        }
        if length == 0 { self.end_compressed() } else { Ok(()) }
    }

    /// Adds payload to the current frame; returns how much was accepted. Long payload is sent in several
    /// frames.
    pub(super) fn compress(&mut self, bytes: &[u8]) -> Result<usize> {
        let wanted = usize::try_from(self.compressed_left()).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(wanted)];
        for piece in taken.chunks(FRAGMENT) {
            let Some(Deflate { deflater, sending, .. }) = self.deflate.as_deref_mut() else { break };
            deflater.piece(piece, &mut sending.packed);
            sending.left -= piece.len() as u64;
            if sending.left == 0 {
                self.end_compressed()?;
            } else if sending.packed.len() >= FRAGMENT {
                self.send_fragment(false)?;
            }
        }
        Ok(taken.len())
    }

    /// The frame is complete.
    fn end_compressed(&mut self) -> Result<()> {
        let Some(Deflate { deflater, sending, .. }) = self.deflate.as_deref_mut() else { return Ok(()) };
        deflater.end(sending.last, &mut sending.packed);
        let last = sending.last;
        self.send_fragment(last)
    }

    /// Sends the compressed data as a frame.
    fn send_fragment(&mut self, last: bool) -> Result<()> {
        let mask = self.masks.next()?;
        let Some(Deflate { sending, .. }) = self.deflate.as_deref_mut() else { return Ok(()) };
        self.writer.begin(sending.kind, last, sending.packed.len() as u64, mask, &mut self.out);
        self.writer.payload(&sending.packed, &mut self.out);
        sending.packed.clear();
        Ok(())
    }
}
