//! The server's side of a request stream (RFC 9114 §4.1): interim heads, the response's head, body, trailers.

use crate::h2::{Fields, Fit, head};

use super::error::{ErrorCode, Failure};
use super::{MAX_FIELD_LIST, kind, qpack, varint};

/// An event in the input.
#[derive(Debug)]
pub enum Event<'a> {
    /// A head of status 1xx.
    Informational { status: u16, fields: &'a Fields },
    /// The reply's head, without pseudo-fields.
    Head { status: u16, fields: &'a Fields },
    /// A piece of body.
    Data(&'a [u8]),
    /// Fields behind the body.
    Trailers(&'a Fields),
}

/// The amount of input used, and the event in it.
#[derive(Debug)]
pub struct Step<'a> {
    pub used: usize,
    /// None when the input is used up.
    pub event: Option<Event<'a>>,
}

/// Reads one reply.
#[derive(Debug)]
pub struct Reply {
    stage: ReplyPhase,
    place: FramePosition,
    number: varint::Partial,
    /// A section that comes in pieces.
    section: Vec<u8>,
    fields: Fields,
    head_only: bool,
    /// Body bytes that the head announced and that are to come.
    expected: Option<u64>,
    /// Consecutive frames without progress.
    idle: u32,
}

/// This many empty DATA frames and frames of unknown types in a row are an attack on the reader's processor:
/// each is legal and costs the sender two bytes.
const MOST_IDLE: u32 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyPhase {
    Head,
    Body,
    /// Trailers have come.
    Done,
}

/// Where in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FramePosition {
    Kind,
    Length(u64),
    Section(usize),
    Data(u64),
    /// An unknown frame; the rest of it is skipped.
    Skipped(u64),
}

impl Reply {
    /// Creates the state for a request. HEAD has a response without a body, whatever length it announces.
    pub fn new(head_only: bool) -> Reply {
        Reply {
            stage: ReplyPhase::Head,
            place: FramePosition::Kind,
            number: varint::Partial::default(),
            section: Vec::new(),
            fields: Fields::default(),
            head_only,
            expected: None,
            idle: 0,
        }
    }

    /// Returns the next event of the input. Call it again with the input after `used`, until there is no
    /// event.
    pub fn next<'a>(&'a mut self, input: &'a [u8]) -> Result<Step<'a>, Failure> {
        let mut used = 0;
        while used < input.len() {
            let rest = &input[used..];
            match self.place {
                FramePosition::Kind | FramePosition::Length(_) => {
                    used += 1;
                    if let Some(value) = self.number.push(rest[0]) {
                        self.header(value)?;
                        if self.place == FramePosition::Section(0) {
                            return self.whole_section(None, used);
                        }
                    }
                }
                FramePosition::Section(left) => {
                    let n = left.min(rest.len());
                    used += n;
                    if n == left {
                        return self.whole_section(Some(&rest[..n]), used);
                    }
                    self.section.extend_from_slice(&rest[..n]);
                    self.place = FramePosition::Section(left - n);
                }
                FramePosition::Data(left) => {
                    let n = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                    self.place = behind(FramePosition::Data, left, n);
                    self.count(n as u64)?;
                    return Ok(Step { used: used + n, event: Some(Event::Data(&rest[..n])) });
                }
                FramePosition::Skipped(left) => {
                    let n = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                    self.place = behind(FramePosition::Skipped, left, n);
                    used += n;
                }
            }
        }
        Ok(Step { used, event: None })
    }

    /// The stream has ended.
    pub fn end(&mut self) -> Result<(), Failure> {
        if self.place != FramePosition::Kind || !self.number.is_new() {
            return Err(Failure::frame("a stream ends within a frame"));
        }
        if self.stage == ReplyPhase::Head {
            return Err(Failure::message("a stream ends without a reply"));
        }
        match self.expected {
            Some(1..) => Err(Failure::message("less body than content-length announced")),
            _ => Ok(()),
        }
    }

    /// Whether the reply's head has arrived.
    pub fn has_head(&self) -> bool {
        self.stage != ReplyPhase::Head
    }

    /// A number of a frame's header is whole.
    fn header(&mut self, value: u64) -> Result<(), Failure> {
        let FramePosition::Length(frame) = self.place else {
            self.place = FramePosition::Length(value);
            return self.expect(value);
        };
        self.note_progress(matches!(frame, kind::HEADERS) || matches!(frame, kind::DATA if value > 0))?;
        self.place = match frame {
            kind::HEADERS if value > MAX_FIELD_LIST as u64 => {
                return Err(Failure::connection(ErrorCode::EXCESSIVE_LOAD, "too large a section of fields"));
            }
            kind::HEADERS => FramePosition::Section(value as usize),
            kind::DATA if value > 0 => FramePosition::Data(value),
            _ if value > 0 => FramePosition::Skipped(value),
            _ => FramePosition::Kind,
        };
        Ok(())
    }

    /// Counts frames without progress; any other frame resets the count.
    fn note_progress(&mut self, moves: bool) -> Result<(), Failure> {
        self.idle = if moves { 0 } else { self.idle + 1 };
        match self.idle > MOST_IDLE {
            true => Err(Failure::connection(ErrorCode::EXCESSIVE_LOAD, "too many frames that move nothing")),
            false => Ok(()),
        }
    }

    /// Checks that a frame of this type is allowed here.
    fn expect(&self, frame: u64) -> Result<(), Failure> {
        match frame {
            kind::DATA if self.stage != ReplyPhase::Body => Err(Failure::unexpected("DATA outside a body")),
            kind::HEADERS if self.stage == ReplyPhase::Done => {
                Err(Failure::unexpected("HEADERS behind trailers"))
            }
            kind::PUSH_PROMISE => {
                Err(Failure::connection(ErrorCode::ID_ERROR, "PUSH_PROMISE that was not allowed"))
            }
            kind::SETTINGS | kind::GOAWAY | kind::CANCEL_PUSH | kind::MAX_PUSH_ID => {
                Err(Failure::unexpected("frame of the control stream"))
            }
            frame if kind::OF_HTTP2.contains(&frame) => Err(Failure::unexpected("frame of HTTP/2")),
            _ => Ok(()),
        }
    }

    /// Handles a complete section: the stored part of it and `last`.
    fn whole_section<'a>(&'a mut self, last: Option<&[u8]>, used: usize) -> Result<Step<'a>, Failure> {
        self.place = FramePosition::Kind;
        let last = last.unwrap_or_default();
        let fit = if self.section.is_empty() {
            qpack::decode(last, &mut self.fields, MAX_FIELD_LIST)?
        } else {
            self.section.extend_from_slice(last);
            let section = std::mem::take(&mut self.section);
            qpack::decode(&section, &mut self.fields, MAX_FIELD_LIST)?
        };
        if fit == Fit::TooLarge {
            return Err(Failure::message("too many fields"));
        }
        let event = Some(self.message()?);
        Ok(Step { used, event })
    }

    fn message(&mut self) -> Result<Event<'_>, Failure> {
        if self.stage == ReplyPhase::Body {
            head::trailers(&mut self.fields).map_err(Failure::message)?;
            self.stage = ReplyPhase::Done;
            return Ok(Event::Trailers(&self.fields));
        }
        let reply = head::reply(&mut self.fields).map_err(Failure::message)?;
        let (status, fields) = (reply.status, &self.fields);
        match status {
            // RFC 9114 §4.5: there is no upgrade.
            101 => Err(Failure::message("status 101")),
            ..200 => Ok(Event::Informational { status, fields }),
            _ => {
                self.stage = ReplyPhase::Body;
                let bodiless = self.head_only || matches!(status, 204 | 304);
                self.expected = if bodiless { None } else { reply.length };
                Ok(Event::Head { status, fields })
            }
        }
    }

    /// Counts bytes of the body that have arrived.
    fn count(&mut self, bytes: u64) -> Result<(), Failure> {
        let Some(left) = &mut self.expected else { return Ok(()) };
        *left = left.checked_sub(bytes).ok_or(Failure::message("more body than content-length announced"))?;
        Ok(())
    }
}

fn behind(place: fn(u64) -> FramePosition, left: u64, n: usize) -> FramePosition {
    match left - n as u64 {
        0 => FramePosition::Kind,
        left => place(left),
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Scope;
    use super::super::write;
    use super::*;
    use crate::h2::Field;

    fn head(status: &str, more: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        let field =
            |name, value| Field { name: str::as_bytes(name), value: str::as_bytes(value), sensitive: false };
        let fields = more.iter().map(|(name, value)| field(name, value));
        write::headers(&mut out, std::iter::once(field(":status", status)).chain(fields));
        out
    }

    fn trailers(name: &str, value: &str) -> Vec<u8> {
        let mut out = Vec::new();
        write::headers(
            &mut out,
            [Field { name: name.as_bytes(), value: value.as_bytes(), sensitive: false }],
        );
        out
    }

    fn data(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write::data_header(&mut out, bytes.len());
        out.extend_from_slice(bytes);
        out
    }

    /// Describes a response that arrives in pieces of this size; its body is concatenated.
    fn read(bytes: &[u8], piece: usize, head_only: bool) -> Result<String, Failure> {
        let mut reply = Reply::new(head_only);
        let mut described = String::new();
        let mut body = Vec::new();
        for mut input in bytes.chunks(piece) {
            loop {
                let step = reply.next(input)?;
                let used = step.used;
                match step.event {
                    None => break assert_eq!(used, input.len()),
                    Some(Event::Data(data)) => body.extend_from_slice(data),
                    Some(Event::Informational { status, .. }) => described += &format!("{status}? "),
                    Some(Event::Head { status, fields }) => {
                        described += &format!("{status} {} ", fields.len())
                    }
                    Some(Event::Trailers(fields)) => described += &format!("+{} ", fields.len()),
                }
                input = &input[used..];
            }
        }
        reply.end()?;
        Ok(described + &String::from_utf8_lossy(&body))
    }

    #[test]
    fn a_reply_however_it_is_cut() {
        let bytes = [
            head("103", &[("link", "</a>")]),
            vec![0x21, 3, 1, 2, 3], // reserved, to be ignored
            head("200", &[("content-length", "10"), ("x", "y")]),
            data(b"01234"),
            data(b""),
            data(b"56789"),
            vec![0x40, 0x5f, 0],
            trailers("checksum", "z"),
        ]
        .concat();
        for piece in 1..bytes.len() {
            assert_eq!(read(&bytes, piece, false).as_deref(), Ok("103? 200 2 +1 0123456789"), "{piece}");
        }
    }

    #[test]
    fn bodies_are_as_long_as_was_said() {
        let short = [head("200", &[("content-length", "3")]), data(b"ab")].concat();
        let long = [head("200", &[("content-length", "1")]), data(b"ab")].concat();
        for bytes in [&short, &long] {
            let failure = read(bytes, 100, false).expect_err("a lie");
            assert_eq!((failure.scope, failure.code), (Scope::Stream, ErrorCode::MESSAGE_ERROR));
        }
        assert_eq!(read(&head("200", &[("content-length", "3")]), 100, true).as_deref(), Ok("200 1 "));
        assert_eq!(read(&head("304", &[("content-length", "3")]), 100, false).as_deref(), Ok("304 1 "));
    }

    #[test]
    fn frames_that_move_nothing_are_bounded() {
        for idle in [data(b""), vec![0x21, 0], vec![0x21, 1, 9]] {
            let flood = |count: usize, last: &[u8]| {
                [head("200", &[]), idle.repeat(count), data(last), idle.repeat(count), data(last)].concat()
            };
            assert_eq!(read(&flood(9_000, b"ab"), 4096, false).as_deref(), Ok("200 0 abab"));
            let failure = read(&flood(9_000, b""), 4096, false).expect_err("a flood");
            assert_eq!((failure.scope, failure.code), (Scope::Connection, ErrorCode::EXCESSIVE_LOAD));
        }
    }

    #[test]
    fn misplaced_and_malformed_frames_are_errors() {
        let ok = head("200", &[]);
        for (bytes, code) in [
            (data(b"x"), ErrorCode::FRAME_UNEXPECTED),
            ([head("100", &[]), data(b"x")].concat(), ErrorCode::FRAME_UNEXPECTED),
            ([ok.clone(), trailers("a", "b"), data(b"x")].concat(), ErrorCode::FRAME_UNEXPECTED),
            ([ok.clone(), trailers("a", "b"), trailers("a", "b")].concat(), ErrorCode::FRAME_UNEXPECTED),
            ([ok.clone(), head("200", &[])].concat(), ErrorCode::MESSAGE_ERROR),
            (vec![4, 0], ErrorCode::FRAME_UNEXPECTED),
            (vec![9, 0], ErrorCode::FRAME_UNEXPECTED),
            (vec![5, 1, 0], ErrorCode::ID_ERROR),
            (vec![1, 0], ErrorCode::QPACK_DECOMPRESSION_FAILED),
            (vec![1, 0x80, 0x10, 0, 0], ErrorCode::EXCESSIVE_LOAD),
            (ok[..ok.len() - 1].to_vec(), ErrorCode::FRAME_ERROR),
            ([ok.clone(), vec![0, 5, 1]].concat(), ErrorCode::FRAME_ERROR),
            (head("101", &[]), ErrorCode::MESSAGE_ERROR),
            (head("200", &[("connection", "x")]), ErrorCode::MESSAGE_ERROR),
            (head("103", &[]), ErrorCode::MESSAGE_ERROR),
            (Vec::new(), ErrorCode::MESSAGE_ERROR),
        ] {
            let failure = read(&bytes, 7, false).expect_err(&format!("{bytes:?}"));
            assert_eq!(failure.code, code, "{bytes:?}: {}", failure.why);
        }
    }
}
