//! Limits what a peer may send on an unread stream, so that the total of all streams of a connection is
//! bounded.
//!
//! `quinn-proto` has one fixed window for all streams, and announces more when an eighth of it has been read.
//! The announced limits are reduced on their way out: in the transport parameters, and in frames before they
//! are encrypted. A limit cannot be taken back once it was announced; an eighth is the least that keeps a
//! stream moving.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::BytesMut;
use quinn_proto::crypto::{CryptoError, KeyPair, Keys, PacketKey};
use wire::varint;

/// Largest amount of unread data of a stream: what a link to a distant server holds at best. A stream that
/// was paused midway never exceeds it.
pub const STREAM: u32 = 8 << 20;
/// The limit of a stream before anything was read, and of each stream if there are many.
const FIRST: u64 = STREAM as u64 / 8;
/// The additional amount that streams share. A stream keeps an announced limit when others are opened: a
/// hundred that start together buffer 100 MiB if all are paused midway, and 164 MiB in the worst order.
const SHARED: u64 = 32 << 20;

/// The window of each stream of a connection. Clones are the same.
#[derive(Clone, Debug)]
pub struct Window(Arc<AtomicU64>);

impl Default for Window {
    fn default() -> Window {
        Window(Arc::new(AtomicU64::new(STREAM.into())))
    }
}

impl Window {
    /// So many streams are open.
    pub fn share(&self, streams: usize) {
        self.0.store((SHARED / streams.max(1) as u64).clamp(FIRST, STREAM.into()), Ordering::Relaxed);
    }

    /// Wraps keys, to reduce limits in the packets that they protect.
    pub fn guard(&self, keys: Keys) -> Keys {
        Keys { packet: self.guard_packets(keys.packet), ..keys }
    }

    pub fn guard_packets(&self, keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair { local: Box::new(Narrowing { key: keys.local, window: self.clone() }), remote: keys.remote }
    }
}

/// Reduces limits before it encrypts.
struct Narrowing {
    key: Box<dyn PacketKey>,
    window: Window,
}

impl PacketKey for Narrowing {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        let less = u64::from(STREAM) - self.window.0.load(Ordering::Relaxed);
        if less > 0 {
            let end = buf.len() - self.key.tag_len();
            narrow(&mut buf[header_len..end], less);
        }
        self.key.encrypt(packet, buf, header_len);
    }

    fn decrypt(&self, packet: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        self.key.decrypt(packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.key.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.key.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.key.integrity_limit()
    }
}

/// Returns transport parameters with the lowest initial limit for each of our streams (RFC 9000 §18.2:
/// initial_max_stream_data_bidi_local).
pub fn narrowed(encoded: &[u8]) -> Vec<u8> {
    const OF_OUR_STREAMS: u64 = 5;
    let mut out = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((id, value, behind)) = parameter(rest) {
        varint::write(&mut out, id);
        let window =
            varint::read(value).filter(|_| id == OF_OUR_STREAMS).map(|(window, _)| window.min(FIRST));
        let mut less = Vec::new();
        window.into_iter().for_each(|window| varint::write(&mut less, window));
        let value = if less.is_empty() { value } else { &less };
        varint::write(&mut out, value.len() as u64);
        out.extend_from_slice(value);
        rest = behind;
    }
    out
}

/// Returns the first of a list of transport parameters: its number, its value, and the rest.
pub fn parameter(list: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (id, used) = varint::read(list)?;
    let (length, more) = varint::read(&list[used..])?;
    let (value, behind) = list[used + more..].split_at_checked(usize::try_from(length).ok()?)?;
    Some((id, value, behind))
}

/// Reduces each MAX_STREAM_DATA (RFC 9000 §19.10) in a packet's frames by this much. A peer ignores one that
/// is below an earlier one (§4.1).
fn narrow(frames: &mut [u8], less: u64) {
    let mut frames = Frames { bytes: frames, at: 0 };
    while frames.narrow(less).is_some() {}
}

struct Frames<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Frames<'_> {
    /// Moves past a frame; `None` at the end, and at frames that extend to the end.
    fn narrow(&mut self, less: u64) -> Option<()> {
        match self.number()? {
            0 | 1 | 0x1e => Some(()), // PADDING, PING, HANDSHAKE_DONE
            kind @ (2 | 3) => {
                // ACK: the largest, the delay, the number of ranges after the first; ECN counts.
                self.numbers(2)?;
                let ranges = self.number()?;
                self.numbers(1 + ranges.checked_mul(2)? + if kind == 3 { 3 } else { 0 })
            }
            4 => self.numbers(3),        // RESET_STREAM
            5 | 0x15 => self.numbers(2), // STOP_SENDING, STREAM_DATA_BLOCKED
            0x10 | 0x12 | 0x13 | 0x14 | 0x16 | 0x17 | 0x19 => self.numbers(1), // limits of the connection, and RETIRE_CONNECTION_ID
            0x11 => {
                self.numbers(1)?;
                let from = self.at;
                let most = self.number()?;
                write_over(&mut self.bytes[from..self.at], most.saturating_sub(less));
                Some(())
            }
            0x1a | 0x1b => self.skip(8), // PATH_CHALLENGE, PATH_RESPONSE
            _ => None,
        }
    }

    fn number(&mut self) -> Option<u64> {
        let (value, used) = varint::read(self.bytes.get(self.at..)?)?;
        self.at += used;
        Some(value)
    }

    fn numbers(&mut self, count: u64) -> Option<()> {
        for _ in 0..count {
            self.number()?;
        }
        Some(())
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.at += count;
        (self.at <= self.bytes.len()).then_some(())
    }
}

/// Writes a smaller number in the room of another, however long that makes it.
fn write_over(room: &mut [u8], value: u64) {
    let length = room[0] & 0xc0;
    let bytes = value.to_be_bytes();
    room.copy_from_slice(&bytes[bytes.len() - room.len()..]);
    room[0] |= length;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_parameter_is_narrowed() {
        let encoded = [
            &[4, 1, 7][..],
            &[5, 4, 0x80, 0x80, 0, 0],
            &[6, 4, 0x80, 0x80, 0, 0],
            &[0x0f, 0],
            &[0x40, 0x99, 1, 9],
        ];
        let narrow = [encoded[0], &[5, 4, 0x80, 0x10, 0, 0][..], encoded[2], encoded[3], encoded[4]];
        assert_eq!(narrowed(&encoded.concat()), narrow.concat());
        assert_eq!(narrowed(&narrow.concat()), narrow.concat());
    }

    /// The result does not depend on the frames around it, and keeps the length of the number.
    #[test]
    fn stream_limits_in_frames_are_narrowed() {
        let max = |value: &[u8]| [&[0x11, 0x40, 8][..], value].concat();
        let (before, behind) = (max(&[0x80, 0x90, 0, 1]), max(&[0x80, 0x10, 0, 1]));
        let others: [&[u8]; 6] = [
            &[0, 0, 1, 0x1e],
            &[2, 0x40, 0x50, 1, 2, 3, 4, 5, 6, 7, 3, 9, 0, 0, 1, 2, 3, 4],
            &[4, 1, 2, 0x80, 0, 0, 3, 5, 4, 0x41, 0],
            &[0x10, 0xc0, 0, 0, 0, 0, 0, 0, 0x11, 0x12, 1, 0x13, 2, 0x14, 3, 0x15, 4, 5, 0x16, 1, 0x19, 1],
            &[0x1a, 0x11, 4, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11],
            &[],
        ];
        for other in others {
            let mut frames = [other, &before, &before, &[8, 0x11, 4, 9]].concat();
            narrow(&mut frames, 0x80_0000);
            assert_eq!(frames, [other, &behind, &behind, &[8, 0x11, 4, 9]].concat(), "behind {other:?}");
        }
        for (announced, less, says) in [
            (&[0xc0, 0, 0, 1, 0, 0, 0, 0][..], 1, &[0xc0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff][..]),
            (&[0x41, 0], 0xff, &[0x40, 1]),
            (&[7], 9, &[0]),
        ] {
            let mut frames = max(announced);
            narrow(&mut frames, less);
            assert_eq!(frames, max(says));
        }
        // Truncated or unknown frames stay unchanged.
        for odd in [&[0x11][..], &[0x11, 1], &[0x11, 1, 0xc0, 1], &[2, 1, 1, 0xff], &[0x1a, 1], &[0x40]] {
            let mut frames = odd.to_vec();
            narrow(&mut frames, 1);
            assert_eq!(frames, odd);
        }
    }

    #[test]
    fn many_have_less_each() {
        let window = Window::default();
        let share = |streams: usize| {
            window.share(streams);
            window.0.load(Ordering::Relaxed)
        };
        assert_eq!(
            [0, 1, 4, 5, 32, 100].map(share),
            [8 << 20, 8 << 20, 8 << 20, SHARED / 5, 1 << 20, 1 << 20]
        );
        // Each got its share when there were that many.
        let worst: u64 = (1..=100).map(share).sum();
        assert!(worst < 164 << 20, "{worst}");
    }
}
