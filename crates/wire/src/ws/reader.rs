//! Frames of a server (RFC 6455, section 5).

use std::ops::Range;

use super::{
    COMPRESSED, CONTINUATION, FIN, FrameError, Kind, LENGTH_16, LENGTH_64, MASKED, MAX_CONTROL, OPCODE,
    RESERVED,
};

/// Parses the frames of a server.
#[derive(Default)]
pub struct Reader {
    /// The received part of a frame's head.
    head: [u8; 10],
    have: usize,
    /// The first byte of that head.
    opening: Option<Opening>,
    /// An unfinished message, and whether it is compressed.
    message: Option<(Kind, bool)>,
    /// The current frame, once its head is complete.
    frame: Option<Frame>,
    /// Messages may be compressed.
    may_compress: bool,
    /// Empty fragments in a row that did not end their message.
    empty: u32,
}

/// This many empty fragments in a row are an attack on the reader's processor. Pings are none of them: they
/// come for hours on an idle connection.
const MOST_EMPTY: u32 = 10_000;

/// The contents of a frame's first byte.
#[derive(Clone, Copy)]
struct Opening {
    kind: Kind,
    last: bool,
    compressed: bool,
}

struct Frame {
    opening: Opening,
    length: u64,
    offset: u64,
}

/// Payload of a frame, or all that there is of one without payload.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    pub kind: Kind,
    /// The frame ends its message.
    pub last: bool,
    /// The message is compressed (RFC 7692).
    pub compressed: bool,
    /// Its offset in the frame.
    pub offset: u64,
    /// How much of the frame is still to come behind it.
    pub left: u64,
    /// Its position in the input.
    pub payload: Range<usize>,
}

/// The result of a step.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// So many bytes of it are done with.
    pub used: usize,
    /// The piece that was found; `None` if more input is needed.
    pub piece: Option<Piece>,
}

impl Reader {
    /// Creates a reader for a server that may compress messages, as negotiated (RFC 7692).
    pub fn of_compressed() -> Reader {
        Reader { may_compress: true, ..Reader::default() }
    }

    /// Returns the length of an incomplete frame head.
    pub fn torn(&self) -> usize {
        self.have
    }

    /// Parses input up to the end of one piece. At most `room` bytes of payload are consumed, of a compressed
    /// message all available. Without room a frame's head is still reported, and its payload stays.
    pub fn next(&mut self, input: &[u8], room: usize) -> Result<Step, FrameError> {
        let mut used = 0;
        let frame = loop {
            if let Some(frame) = &mut self.frame {
                break frame;
            }
            let Some(&byte) = input.get(used) else { return Ok(Step { used, piece: None }) };
            used += 1;
            self.frame = self.head_byte(byte)?;
        };
        let left = frame.length - frame.offset;
        let here = input.len() - used;
        if left > 0 && here == 0 {
            return Ok(Step { used, piece: None });
        }
        let Opening { kind, last, compressed } = frame.opening;
        let room = if compressed { here } else { room };
        let taken = left.min(here.min(room) as u64);
        let offset = frame.offset;
        frame.offset += taken;
        if frame.offset == frame.length {
            self.frame = None;
        }
        let payload = used..used + taken as usize;
        Ok(Step {
            used: payload.end,
            piece: Some(Piece { kind, last, compressed, offset, left: left - taken, payload }),
        })
    }

    /// Takes one byte of a head; the frame, once it is whole.
    fn head_byte(&mut self, byte: u8) -> Result<Option<Frame>, FrameError> {
        let opening = match self.opening {
            Some(opening) => opening,
            None => *self.opening.insert(open(&mut self.message, byte, self.may_compress)?),
        };
        let kind = opening.kind;
        if self.have == 1 && byte & MASKED != 0 {
            return Err(FrameError::Masked);
        }
        if self.have == 1 && kind.is_control() && u64::from(byte) > MAX_CONTROL {
            return Err(FrameError::TooBig(kind));
        }
        self.head[self.have] = byte;
        self.have += 1;
        let Some(length) = length(&self.head[..self.have]) else { return Ok(None) };
        if length > i64::MAX as u64 {
            return Err(FrameError::TooLong);
        }
        if !kind.is_control() {
            self.empty = if length == 0 && !opening.last { self.empty + 1 } else { 0 };
        }
        if self.empty > MOST_EMPTY {
            return Err(FrameError::EmptyFragments);
        }
        (self.have, self.opening) = (0, None);
        Ok(Some(Frame { opening, length, offset: 0 }))
    }
}

/// Takes a frame's first byte apart.
fn open(message: &mut Option<(Kind, bool)>, first: u8, may_compress: bool) -> Result<Opening, FrameError> {
    let last = first & FIN != 0;
    // Only the first frame of a message says that it is compressed.
    let begins_data = matches!(first & OPCODE, 1 | 2) && message.is_none();
    let compressed = first & RESERVED == COMPRESSED && may_compress && begins_data;
    if first & RESERVED != 0 && !compressed {
        return Err(FrameError::Reserved(first));
    }
    let (kind, compressed) = match (first & OPCODE, *message) {
        (CONTINUATION, Some(message)) => message,
        (CONTINUATION, None) => return Err(FrameError::NothingToResume),
        (opcode, message) => match (Kind::from_opcode(opcode).ok_or(FrameError::Opcode(first))?, message) {
            (kind, _) if kind.is_control() => {
                let whole = Opening { kind, last: true, compressed: false };
                return if last { Ok(whole) } else { Err(FrameError::Fragmented(kind)) };
            }
            (kind, Some(_)) => return Err(FrameError::Interrupted(kind)),
            (kind, None) => (kind, compressed),
        },
    };
    *message = if last { None } else { Some((kind, compressed)) };
    Ok(Opening { kind, last, compressed })
}

/// Returns the payload's length, once the head contains it.
fn length(head: &[u8]) -> Option<u64> {
    match head {
        [_, LENGTH_16, long @ ..] => Some(u16::from_be_bytes(long.try_into().ok()?).into()),
        [_, LENGTH_64, long @ ..] => Some(u64::from_be_bytes(long.try_into().ok()?)),
        [_, length] => Some((*length).into()),
        _ => None,
    }
}
