//! Frames (RFC 9113 §4, §6): the common header, and payloads that consist of a few numbers.

use super::error::ErrorCode;

/// The client's connection preface (RFC 9113 §3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame's header.
pub const HEADER: usize = 9;

/// The longest payload both sides take unless they say more.
pub const USUAL_PAYLOAD: usize = 16_384;

/// Types of frames.
pub mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
    pub const PRIORITY_UPDATE: u8 = 16;
}

/// Flags; which a frame may have hangs on its type.
pub mod flag {
    pub const ACK: u8 = 1;
    pub const END_STREAM: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const PADDED: u8 = 8;
    pub const PRIORITY: u8 = 0x20;
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Header {
    pub fn parse(bytes: &[u8; HEADER]) -> Header {
        let [a, b, c, kind, flags, s @ ..] = *bytes;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        Header { length, kind, flags, stream: u32::from_be_bytes(s) & 0x7fff_ffff }
    }

    pub fn bytes(&self) -> [u8; HEADER] {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [s, t, u, v] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, s, t, u, v]
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The priority of a stream (RFC 7540 §5.3; RFC 9113 keeps the format and drops the meaning).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    pub depends_on: u32,
    pub exclusive: bool,
    /// From 1 to 256.
    pub weight: u16,
}

impl Priority {
    /// Bytes it takes.
    pub const LENGTH: usize = 5;

    pub fn bytes(&self) -> [u8; Priority::LENGTH] {
        let [a, b, c, d] = (self.depends_on & 0x7fff_ffff | u32::from(self.exclusive) << 31).to_be_bytes();
        [a, b, c, d, (self.weight.clamp(1, 256) - 1) as u8]
    }
}

/// Appends a frame.
pub fn write(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&Header { length: payload.len(), kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

pub fn write_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    write(out, kind::RST_STREAM, 0, stream, &code.0.to_be_bytes());
}

pub fn write_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    write(out, kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
}

/// Writes a PRIORITY_UPDATE (RFC 9218 §7.1), which is a frame of the connection.
pub fn write_priority_update(out: &mut Vec<u8>, stream: u32, value: &str) {
    write(out, kind::PRIORITY_UPDATE, 0, 0, &[&stream.to_be_bytes(), value.as_bytes()].concat());
}

pub fn write_goaway(out: &mut Vec<u8>, last_stream: u32, code: ErrorCode, debug: &[u8]) {
    let header = Header { length: 8 + debug.len(), kind: kind::GOAWAY, flags: 0, stream: 0 };
    out.extend_from_slice(&header.bytes());
    out.extend_from_slice(&last_stream.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
    out.extend_from_slice(debug);
}

/// A number of four bytes at `at`, without the reserved bit; the caller has seen that it is there.
pub fn number(payload: &[u8], at: usize) -> u32 {
    whole_number(payload, at) & 0x7fff_ffff
}

/// Reads a 32-bit number, including the reserved bit.
pub fn whole_number(payload: &[u8], at: usize) -> u32 {
    payload[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Returns a payload without its padding (RFC 9113 §6.1); `None` if there is more padding than payload.
pub fn unpadded<'a>(header: &Header, payload: &'a [u8]) -> Option<&'a [u8]> {
    if !header.has(flag::PADDED) {
        return Some(payload);
    }
    let (padding, rest) = payload.split_first()?;
    let length = rest.len().checked_sub(usize::from(*padding))?;
    Some(&rest[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        let header = Header { length: 0x01_02_03, kind: kind::HEADERS, flags: 0x25, stream: 0x7fff_fff1 };
        assert_eq!(header.bytes(), [1, 2, 3, 1, 0x25, 0x7f, 0xff, 0xff, 0xf1]);
        assert_eq!(Header::parse(&header.bytes()), header);
        assert_eq!(Header::parse(&[0, 0, 0, 0, 0, 0x80, 0, 0, 1]).stream, 1, "the reserved bit is ignored");
    }

    #[test]
    fn padding_is_taken_off() {
        let header = |flags| Header { length: 0, kind: kind::DATA, flags, stream: 1 };
        assert_eq!(unpadded(&header(0), &[2, 7]), Some(&[2, 7][..]));
        assert_eq!(unpadded(&header(flag::PADDED), &[2, 7, 0, 0]), Some(&[7][..]));
        assert_eq!(unpadded(&header(flag::PADDED), &[2, 0, 0]), Some(&[][..]));
        assert_eq!(unpadded(&header(flag::PADDED), &[2, 0]), None);
        assert_eq!(unpadded(&header(flag::PADDED), &[]), None);
    }

    #[test]
    fn weights_are_one_less_on_the_wire() {
        let bytes = |weight| Priority { depends_on: 3, exclusive: true, weight }.bytes();
        assert_eq!(bytes(256), [0x80, 0, 0, 3, 255]);
        assert_eq!(bytes(1)[4], 0);
        assert_eq!(bytes(0)[4], 0);
    }
}
