//! Streams that a server opens (RFC 9114 §6.2): its control stream, the two of header compression, and
//! unknown ones.

use super::error::{ErrorCode, Failure};
use super::qpack::{self, DecoderInstructions};
use super::settings::PeerSettings;
use super::{kind, stream_kind, varint};

/// A frame of the control stream that is read has a payload of at most so many bytes.
const LONGEST: u64 = 4096;

/// Connection state from the server's unidirectional streams.
#[derive(Debug, Default)]
pub struct Control {
    /// Which of control, encoder and decoder stream have been opened.
    open: [bool; 3],
    pub settings: Option<PeerSettings>,
    /// No request from this stream on is processed.
    pub going: Option<u64>,
    frame: Frame,
    /// Frames of unknown types.
    unknown: u32,
    decoder: DecoderInstructions,
}

/// Most frames of unknown types that are skipped on a control stream: servers send one or two, so that
/// clients keep ignoring them (RFC 9114 §7.2.8).
const MOST_UNKNOWN: u32 = 10_000;

/// A stream of the server's.
#[derive(Debug, Default)]
pub struct Incoming {
    number: varint::Partial,
    kind: Option<u64>,
}

/// The state of a stream after processing input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamStatus {
    /// It continues.
    More,
    /// It is not read any further, and the peer is informed.
    Unwanted,
}

/// Where in a frame of the control stream.
#[derive(Debug, Default)]
struct Frame {
    number: varint::Partial,
    kind: Option<u64>,
    left: Option<u64>,
    payload: Vec<u8>,
}

impl Incoming {
    /// Processes input of the stream.
    pub fn take(&mut self, mut input: &[u8], control: &mut Control) -> Result<StreamStatus, Failure> {
        while self.kind.is_none() {
            let Some((first, rest)) = input.split_first() else { return Ok(StreamStatus::More) };
            input = rest;
            if let Some(kind) = self.number.push(*first) {
                self.kind = Some(kind);
                control.opened(kind)?;
            }
        }
        match self.kind {
            Some(stream_kind::CONTROL) => control.frames(input)?,
            Some(stream_kind::QPACK_ENCODER) => qpack::encoder_instructions(input)?,
            Some(stream_kind::QPACK_DECODER) => control.decoder.take(input)?,
            _ => return Ok(StreamStatus::Unwanted),
        }
        Ok(StreamStatus::More)
    }

    /// The stream has ended, or was reset.
    pub fn end(&self) -> Result<(), Failure> {
        match self.kind {
            Some(stream_kind::CONTROL | stream_kind::QPACK_ENCODER | stream_kind::QPACK_DECODER) => {
                Err(Failure::connection(
                    ErrorCode::CLOSED_CRITICAL_STREAM,
                    "a stream of the connection was closed",
                ))
            }
            _ => Ok(()),
        }
    }
}

impl Control {
    /// A stream's type is known.
    fn opened(&mut self, kind: u64) -> Result<(), Failure> {
        let at = match kind {
            stream_kind::CONTROL => 0,
            stream_kind::QPACK_ENCODER => 1,
            stream_kind::QPACK_DECODER => 2,
            stream_kind::PUSH => {
                return Err(Failure::connection(ErrorCode::ID_ERROR, "push that was not allowed"));
            }
            _ => return Ok(()),
        };
        match std::mem::replace(&mut self.open[at], true) {
            true => {
                Err(Failure::connection(ErrorCode::STREAM_CREATION_ERROR, "a stream of the connection twice"))
            }
            false => Ok(()),
        }
    }

    /// Processes input of the control stream.
    fn frames(&mut self, mut input: &[u8]) -> Result<(), Failure> {
        while let Some((first, rest)) = input.split_first() {
            let Some(left) = self.frame.left else {
                input = rest;
                if let Some(value) = self.frame.number.push(*first) {
                    self.header(value)?;
                }
                continue;
            };
            let n = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
            if self.is_read() {
                self.frame.payload.extend_from_slice(&input[..n]);
            }
            input = &input[n..];
            self.frame.left = Some(left - n as u64);
            if left == n as u64 {
                self.whole_frame()?;
            }
        }
        Ok(())
    }

    /// Type or length of a frame is known.
    fn header(&mut self, value: u64) -> Result<(), Failure> {
        if self.frame.kind.is_none() {
            self.frame.kind = Some(value);
            return self.expect(value);
        }
        if self.is_read() && value > LONGEST {
            return Err(Failure::connection(
                ErrorCode::EXCESSIVE_LOAD,
                "too long a frame on the control stream",
            ));
        }
        self.frame.left = Some(value);
        if value == 0 { self.whole_frame() } else { Ok(()) }
    }

    fn expect(&self, frame: u64) -> Result<(), Failure> {
        match (frame, &self.settings) {
            (kind::SETTINGS, None) => Ok(()),
            (_, None) => Err(Failure::connection(
                ErrorCode::MISSING_SETTINGS,
                "the control stream begins without SETTINGS",
            )),
            (kind::SETTINGS, _) => Err(Failure::unexpected("SETTINGS twice")),
            (kind::DATA | kind::HEADERS | kind::PUSH_PROMISE, _) => {
                Err(Failure::unexpected("frame of a request on the control stream"))
            }
            (kind::MAX_PUSH_ID, _) => Err(Failure::unexpected("MAX_PUSH_ID of a server")),
            (frame, _) if kind::OF_HTTP2.contains(&frame) => Err(Failure::unexpected("frame of HTTP/2")),
            _ => Ok(()),
        }
    }

    /// Whether the frame says something that is looked at; others are passed over.
    fn is_read(&self) -> bool {
        matches!(self.frame.kind, Some(kind::SETTINGS | kind::GOAWAY | kind::CANCEL_PUSH))
    }

    fn whole_frame(&mut self) -> Result<(), Failure> {
        let Frame { kind, mut payload, .. } = std::mem::take(&mut self.frame);
        match kind {
            Some(kind::SETTINGS) => self.settings = Some(PeerSettings::parse(&payload)?),
            Some(kind::GOAWAY) => self.go_away(only_number(&payload)?)?,
            // No push was allowed: none can be cancelled (§7.2.3).
            Some(kind::CANCEL_PUSH) => {
                only_number(&payload)?;
                return Err(Failure::connection(ErrorCode::ID_ERROR, "CANCEL_PUSH of nothing"));
            }
            _ => self.unknown += 1,
        }
        if self.unknown > MOST_UNKNOWN {
            return Err(Failure::connection(ErrorCode::EXCESSIVE_LOAD, "too many frames that move nothing"));
        }
        payload.clear();
        self.frame.payload = payload;
        Ok(())
    }

    /// Handles GOAWAY. The number never grows, and is that of a stream that a client opens (§5.2).
    fn go_away(&mut self, stream: u64) -> Result<(), Failure> {
        if !stream.is_multiple_of(4) || self.going.is_some_and(|before| stream > before) {
            return Err(Failure::connection(ErrorCode::ID_ERROR, "GOAWAY with a wrong stream"));
        }
        self.going = Some(stream);
        Ok(())
    }
}

fn only_number(payload: &[u8]) -> Result<u64, Failure> {
    match varint::read(payload) {
        Some((value, used)) if used == payload.len() => Ok(value),
        _ => Err(Failure::frame("frame of a wrong length")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use super::*;

    /// Parses the bytes of a control stream in pieces of this size.
    fn control(bytes: &[u8], piece: usize) -> Result<Control, Failure> {
        let mut control = Control::default();
        let mut stream = Incoming::default();
        for input in bytes.chunks(piece) {
            assert_eq!(stream.take(input, &mut control)?, StreamStatus::More);
        }
        Ok(control)
    }

    #[test]
    fn settings_and_goodbyes_are_read() {
        let [mut bytes, ..] = write::control_stream(false);
        bytes.extend_from_slice(&[0x21, 2, 9, 9, 7, 1, 8, 7, 1, 4]);
        for piece in 1..bytes.len() {
            let control = control(&bytes, piece).expect("fine");
            assert!(control.settings.is_some());
            assert_eq!(control.going, Some(4));
        }
    }

    #[test]
    fn misplaced_and_malformed_control_frames_are_errors() {
        for (bytes, code) in [
            (&[0, 7, 1, 0][..], ErrorCode::MISSING_SETTINGS),
            (&[0, 4, 0, 4, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[0, 4, 0, 0, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[0, 4, 0, 6, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[0, 4, 0, 0xd, 1, 0], ErrorCode::FRAME_UNEXPECTED),
            (&[0, 4, 0, 7, 2, 0, 0], ErrorCode::FRAME_ERROR),
            (&[0, 4, 0, 7, 0], ErrorCode::FRAME_ERROR),
            (&[0, 4, 0, 7, 1, 1], ErrorCode::ID_ERROR),
            (&[0, 4, 0, 7, 1, 0, 7, 1, 4], ErrorCode::ID_ERROR),
            (&[0, 4, 0, 3, 1, 0], ErrorCode::ID_ERROR),
            (&[0, 4, 0x80, 0x10, 0, 0], ErrorCode::EXCESSIVE_LOAD),
            (&[1], ErrorCode::ID_ERROR),
            (&[&[0, 4, 0][..], &[0x21, 0].repeat(10_001)].concat(), ErrorCode::EXCESSIVE_LOAD),
        ] {
            assert_eq!(control(bytes, 3).map(drop).map_err(|e| e.code), Err(code), "{bytes:?}");
        }
    }

    #[test]
    fn streams_of_the_connection_are_one_each_and_stay() {
        let mut control = Control::default();
        for kind in [0, 2, 3] {
            let mut stream = Incoming::default();
            assert!(stream.end().is_ok(), "nobody knows yet what it is");
            assert_eq!(stream.take(&[kind], &mut control), Ok(StreamStatus::More));
            let again = Incoming::default().take(&[kind], &mut control).map_err(|e| e.code);
            assert_eq!(again, Err(ErrorCode::STREAM_CREATION_ERROR));
            assert_eq!(stream.end().map_err(|e| e.code), Err(ErrorCode::CLOSED_CRITICAL_STREAM));
        }
        let mut other = Incoming::default();
        assert_eq!(other.take(&[0x40], &mut control), Ok(StreamStatus::More));
        assert_eq!(other.take(&[0x99, 1, 2], &mut control), Ok(StreamStatus::Unwanted));
        assert!(other.end().is_ok());
    }
}
