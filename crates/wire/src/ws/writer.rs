//! Frames as a client sends them, masked (RFC 6455, section 5).

use super::{COMPRESSED, CONTINUATION, FIN, Kind, LENGTH_16, LENGTH_64, MASKED, MAX_CONTROL};

/// Makes frames, one after the other.
#[derive(Default)]
pub struct Writer {
    mask: [u8; 4],
    /// Which byte of the mask is next.
    phase: usize,
    /// Payload of the frame that is still to come.
    left: u64,
    in_message: bool,
    /// Reserved bits of a message's first frame.
    bits: u8,
}

impl Writer {
    /// Creates a writer of messages that are compressed, each of them (RFC 7692).
    pub fn of_compressed() -> Writer {
        Writer { bits: COMPRESSED, ..Writer::default() }
    }

    /// How much payload the frame that was begun still wants.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns whether the last data frame left its message open.
    pub fn in_message(&self) -> bool {
        self.in_message
    }

    /// Starts a frame of this length by writing its head. Inside a message, a data frame continues it,
    /// whatever its kind; `last` ends the message. Control frames are never fragmented. The previous frame
    /// must be complete.
    ///
    /// The mask must be unpredictable (section 5.3).
    pub fn begin(&mut self, kind: Kind, last: bool, length: u64, mask: [u8; 4], out: &mut Vec<u8>) {
        debug_assert!(self.left == 0, "a frame is not finished");
        let first = match kind.is_control() {
            true => FIN | kind.opcode(),
            false => {
                let opcode = if self.in_message { CONTINUATION } else { kind.opcode() | self.bits };
                self.in_message = !last;
                if last { FIN | opcode } else { opcode }
            }
        };
        out.push(first);
        match length {
            _ if length <= MAX_CONTROL => out.push(MASKED | length as u8),
            ..=0xffff => {
                out.push(MASKED | LENGTH_16);
                out.extend_from_slice(&(length as u16).to_be_bytes());
            }
            _ => {
                out.push(MASKED | LENGTH_64);
                out.extend_from_slice(&length.to_be_bytes());
            }
        }
        out.extend_from_slice(&mask);
        (self.mask, self.phase, self.left) = (mask, 0, length);
    }

    /// Writes payload, as much of it as the frame wants: so much.
    pub fn payload(&mut self, data: &[u8], out: &mut Vec<u8>) -> usize {
        let taken = data.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let start = out.len();
        out.extend_from_slice(&data[..taken]);
        let mut mask = self.mask;
        mask.rotate_left(self.phase);
        apply(mask, &mut out[start..]);
        self.phase = (self.phase + taken) % self.mask.len();
        self.left -= taken as u64;
        taken
    }
}

/// Masks bytes, or takes the mask off again.
pub(super) fn apply(mask: [u8; 4], data: &mut [u8]) {
    let word = u64::from(u32::from_ne_bytes(mask));
    let word = word << 32 | word;
    let (words, rest) = data.as_chunks_mut::<8>();
    for bytes in words {
        *bytes = (u64::from_ne_bytes(*bytes) ^ word).to_ne_bytes();
    }
    rest.iter_mut().zip(mask.into_iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
}
