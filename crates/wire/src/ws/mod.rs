//! WebSocket for a client (RFC 6455): parsing frames ([`Reader`]) and writing them ([`Writer`]) as state
//! machines without I/O, waits or random numbers, the key of the handshake, and compression ([`deflate`]).
//!
//! A frame may be larger than memory: a reader returns its payload piece by piece, where it was received, and
//! a writer accepts it piece by piece. Nothing is allocated for received data.

pub mod deflate;
mod reader;
mod writer;

use std::fmt;

pub use reader::{Piece, Reader, Step};
pub use writer::Writer;

/// Longest payload of a control frame (section 5.5).
pub const MAX_CONTROL: u64 = 125;

/// The protocol's version, as Sec-WebSocket-Version names it (section 4.1).
pub const VERSION: &str = "13";

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
/// The reserved bit of a compressed message (RFC 7692, section 6).
const COMPRESSED: u8 = 0x40;
const OPCODE: u8 = 0x0f;
const MASKED: u8 = 0x80;
const CONTINUATION: u8 = 0;
/// Lengths that say that the length follows in two or in eight bytes.
const LENGTH_16: u8 = 126;
const LENGTH_64: u8 = 127;

/// The type of a frame; a fragment has that of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

impl Kind {
    const fn opcode(self) -> u8 {
        match self {
            Kind::Text => 1,
            Kind::Binary => 2,
            Kind::Close => 8,
            Kind::Ping => 9,
            Kind::Pong => 10,
        }
    }

    fn from_opcode(opcode: u8) -> Option<Kind> {
        [Kind::Text, Kind::Binary, Kind::Close, Kind::Ping, Kind::Pong]
            .into_iter()
            .find(|k| k.opcode() == opcode)
    }

    /// Control frames come between the fragments of a message, whole and short.
    pub const fn is_control(self) -> bool {
        matches!(self, Kind::Close | Kind::Ping | Kind::Pong)
    }

    /// Returns the name in capitals.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Text => "TEXT",
            Kind::Binary => "BINARY",
            Kind::Close => "CLOSE",
            Kind::Ping => "PING",
            Kind::Pong => "PONG",
        }
    }
}

/// Why bytes of a peer are no frames. Its text is curl's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// Reserved bits in this first byte, which only an extension may use.
    Reserved(u8),
    /// An undefined opcode in this first byte.
    Opcode(u8),
    /// A continuation of no message.
    NothingToResume,
    /// A message within the fragments of another.
    Interrupted(Kind),
    /// A fragmented control frame.
    Fragmented(Kind),
    /// Servers do not mask.
    Masked,
    /// A control frame longer than [`MAX_CONTROL`].
    TooBig(Kind),
    /// A length of more than 63 bits.
    TooLong,
    /// A message of empty fragments that does not end.
    EmptyFragments,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::Reserved(first) => write!(f, "invalid reserved bits: {first:02x}"),
            FrameError::Opcode(first) => write!(f, "invalid opcode: {first:02x}"),
            FrameError::NothingToResume => write!(f, "no ongoing fragmented message to resume"),
            FrameError::Interrupted(kind) => {
                write!(f, "fragmented message interrupted by new {} msg", kind.name())
            }
            FrameError::Fragmented(kind) => write!(f, "invalid fragmented {} frame", kind.name()),
            FrameError::Masked => write!(f, "masked input frame"),
            FrameError::TooBig(kind) => write!(f, "received {} frame is too big", kind.name()),
            FrameError::TooLong => write!(f, "frame length longer than 63 bits not supported"),
            FrameError::EmptyFragments => write!(f, "too many empty fragments"),
        }
    }
}

/// The value of Sec-WebSocket-Key for sixteen random bytes (section 4.1).
pub fn key(nonce: [u8; 16]) -> String {
    crate::base64::encode(&nonce)
}

#[cfg(test)]
mod tests;
