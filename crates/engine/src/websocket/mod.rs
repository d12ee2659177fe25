//! The WebSocket of a handle (libcurl-ws.md): the state of incoming and outgoing frames. It is beside the
//! future of the transfer, because the application sends from inside its callbacks. After a transfer with
//! CURLOPT_CONNECT_ONLY 2 it belongs to the connection that the application uses itself (`by_hand`).

mod api;
mod decide;
mod deflate;
mod manual_frames;
#[cfg(test)]
mod tests;

use std::task::Waker;

use tables::Code;
use tables::constant::{CURLWS_BINARY, CURLWS_CONT};
use wire::ws::{Kind, Piece, Reader, Writer};

use crate::error::{Error, Result};
use decide::{Goodbye, bit};
pub use deflate::Payload;

/// Amount of queued output above which nothing is received: a peer that sends and never reads fills no
/// memory.
const MUCH: usize = 1024 * 1024;

/// The description of a piece of payload for the application (struct curl_ws_frame).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// CURLWS_* bits.
    pub flags: i32,
    /// Offset of the piece in the frame.
    pub offset: i64,
    /// How much of the frame is still to come behind it.
    pub bytes_left: i64,
    /// Length of the piece.
    pub len: usize,
}

/// A frame and its payload.
type Come = (Frame, Payload);

impl From<&Piece> for Frame {
    fn from(piece: &Piece) -> Frame {
        let more = if piece.last { 0 } else { CURLWS_CONT };
        let (offset, bytes_left) = (piece.offset as i64, piece.left as i64);
        Frame { flags: bit(piece.kind) | more, offset, bytes_left, len: piece.payload.len() }
    }
}

/// How the options want a ping to be treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pings {
    /// Answered, and not shown.
    Answered,
    /// The application's (CURLWS_NOAUTOPONG, CURLWS_RAW_MODE).
    Shown,
}

/// The two directions of a WebSocket.
#[derive(Default)]
pub struct WebSocket {
    /// The piece handed out last.
    pub shown: Frame,
    reader: Reader,
    writer: Writer,
    /// Whether a frame was started by [`WebSocket::begin`] since this was last cleared.
    pub begun: bool,
    /// Output that was not sent.
    out: Vec<u8>,
    /// How much of that has been sent.
    sent: usize,
    /// Payload of a ping, as far as it has arrived.
    ping: Vec<u8>,
    /// The last ping that was not answered yet: one answer may serve several (RFC 6455, section 5.5.3).
    pong: Option<Vec<u8>>,
    masks: Masks,
    /// The task that sends, while it waits for something to send.
    pub waker: Option<Waker>,
    /// The connection is the application's.
    hand: Option<manual_frames::ManualFrames>,
    /// It is over when both sides have said goodbye: a stream has no connection that the server would close
    /// then.
    ends_by_word: bool,
    said_goodbye: bool,
    heard_goodbye: bool,
    /// Messages are compressed, because the server has agreed to that.
    deflate: Option<Box<deflate::Deflate>>,
}

impl WebSocket {
    /// Checks at the end of input that no frame's head is incomplete. (curl does not check the payload, and
    /// the application knows its length.)
    pub fn check_end(&self) -> Result<()> {
        match self.reader.torn() {
            0 => Ok(()),
            n => {
                Err(Error::new(Code::RecvError, format!("[WS] decode ending with {n} frame bytes remaining")))
            }
        }
    }

    /// Parses input up to the end of one piece, with at most `room` bytes of payload. Returns the number of
    /// bytes used, and the piece.
    pub fn next(&mut self, input: &[u8], room: usize, pings: Pings) -> Result<(usize, Option<Come>)> {
        let mut used = 0;
        loop {
            if let Some(come) = self.inflated(room)? {
                return Ok((used, Some(come)));
            }
            // A ping that is not shown needs no room.
            let wanted = if used == 0 { room } else { usize::MAX };
            let step = self
                .reader
                .next(&input[used..], wanted)
                .map_err(|fault| Error::new(Code::RecvError, format!("[WS] {fault}")))?;
            let from = used;
            used += step.used;
            let Some(piece) = step.piece else { return Ok((used, None)) };
            let payload = from + piece.payload.start..from + piece.payload.end;
            if piece.compressed {
                self.inflate(&piece, &input[payload]);
                continue;
            }
            self.heard_goodbye |= piece.kind == Kind::Close && piece.left == 0;
            if piece.kind != Kind::Ping || pings == Pings::Shown {
                return Ok((used, Some((Frame::from(&piece), Payload::Received(payload)))));
            }
            self.ping.extend_from_slice(&input[payload]);
            if piece.left == 0 {
                self.pong = Some(std::mem::take(&mut self.ping));
                self.answer()?;
                return Ok((used, None));
            }
            if used == input.len() {
                return Ok((used, None));
            }
        }
    }

    /// Starts a frame for a first piece of that many bytes.
    fn begin_with(&mut self, len: usize, fragment: i64, flags: u32) -> Result<()> {
        self.begin(flags, decide::whole_length(len, fragment, flags)?)
    }

    /// Starts a frame (curl_ws_start_frame.md).
    pub fn begin(&mut self, flags: u32, length: i64) -> Result<()> {
        let length = decide::length(length, self.frame_left())?;
        let (kind, last) = decide::kind(flags, self.writer.in_message())?;
        decide::check_control(kind, length)?;
        self.answer()?;
        self.begun = true;
        if self.deflate.is_some() && !kind.is_control() {
            return self.begin_compressed(kind, last, length);
        }
        let mask = self.masks.next()?;
        self.writer.begin(kind, last, length, mask, &mut self.out);
        self.said_goodbye |= kind == Kind::Close;
        Ok(())
    }

    /// Payload of the frame that was begun; how much of it the frame wanted.
    pub fn payload(&mut self, bytes: &[u8]) -> Result<usize> {
        let taken = match self.compressed_left() {
            0 => self.writer.payload(bytes, &mut self.out),
            _ => self.compress(bytes)?,
        };
        self.answer()?;
        Ok(taken)
    }

    /// Processes data from the read callback: payload of the frame that it has started, or else a frame of
    /// its own.
    pub fn uploaded(&mut self, mut bytes: &[u8]) -> Result<()> {
        if self.begun || self.frame_left() > 0 {
            bytes = &bytes[self.payload(bytes)?..];
        }
        if !bytes.is_empty() {
            self.begin(CURLWS_BINARY as u32, bytes.len() as i64)?;
            self.payload(bytes)?;
        }
        Ok(())
    }

    /// Bytes that are no frames of ours (CURLWS_RAW_MODE).
    fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Answers a ping, when no other frame is in the way.
    fn answer(&mut self) -> Result<()> {
        if self.writer.left() > 0 || self.hand.as_ref().is_some_and(manual_frames::ManualFrames::is_sending) {
            return Ok(());
        }
        let Some(payload) = self.pong.take() else { return Ok(()) };
        let mask = self.masks.next()?;
        self.writer.begin(Kind::Pong, true, payload.len() as u64, mask, &mut self.out);
        self.writer.payload(&payload, &mut self.out);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        Ok(())
    }

    /// How much payload the frame that was begun still wants.
    pub fn frame_left(&self) -> u64 {
        self.writer.left() + self.compressed_left()
    }

    /// Marks it as running on a stream of HTTP/2, beside others.
    pub fn on_stream(mut self) -> WebSocket {
        self.ends_by_word = true;
        self
    }

    /// Returns whether nothing more is sent or received.
    pub fn is_over(&self) -> bool {
        decide::is_over(&Goodbye {
            on_stream: self.ends_by_word,
            said: self.said_goodbye,
            heard: self.heard_goodbye,
            waiting: self.waiting() > 0,
            unfinished: self.frame_left() > 0,
        })
    }

    /// How much waits to be sent.
    pub fn waiting(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Returns whether so much output is queued that nothing is to be received.
    pub fn is_full(&self) -> bool {
        self.waiting() > MUCH
    }

    /// Moves output to `buf`, as much as fits.
    pub fn take_into(&mut self, buf: &mut [u8]) -> usize {
        let n = self.waiting().min(buf.len());
        buf[..n].copy_from_slice(&self.out[self.sent..self.sent + n]);
        self.mark_sent(n);
        n
    }

    fn mark_sent(&mut self, n: usize) {
        self.sent += n;
        if self.sent == self.out.len() {
            (self.out, self.sent) = (Vec::new(), 0);
        }
    }
}

/// Random masks, drawn from the system some at a time.
#[derive(Default)]
struct Masks(Vec<[u8; 4]>);

impl Masks {
    fn next(&mut self) -> Result<[u8; 4]> {
        if let Some(mask) = self.0.pop() {
            return Ok(mask);
        }
        let mut drawn = [0; 64];
        net::random(&mut drawn).map_err(|_| Error::from(Code::FailedInit))?;
        let (masks, _) = drawn.as_chunks::<4>();
        self.0.extend_from_slice(&masks[1..]);
        Ok(masks[0])
    }
}
