//! HTTP Datagrams (RFC 9297): as capsules on a stream (§3.2, §3.5) and as the contents of a QUIC DATAGRAM
//! (§2.1). UDP payloads have the context 0 in front (RFC 9298 §5); other contexts are ignored.

use crate::varint::{self, Partial};

/// The type of a DATAGRAM capsule (RFC 9297 §3.5).
const DATAGRAM: u64 = 0;
/// The context of UDP payloads (RFC 9298 §4).
const UDP: u64 = 0;
/// More no UDP payload has (RFC 9298 §5), with the context in front.
const LONGEST: u64 = 65_527 + 8;

/// Appends a UDP payload as a capsule.
pub fn write(out: &mut Vec<u8>, payload: &[u8]) {
    varint::write(out, DATAGRAM);
    varint::write(out, payload.len() as u64 + 1); // with a context of one byte
    varint::write(out, UDP);
    out.extend_from_slice(payload);
}

/// Encodes a UDP payload as a QUIC DATAGRAM for the request on this stream. The DATAGRAM contains a quarter
/// of the stream ID.
pub fn on_quic(stream: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 9);
    varint::write(&mut out, stream / 4);
    varint::write(&mut out, UDP);
    out.extend_from_slice(payload);
    out
}

/// Decodes a QUIC DATAGRAM. Returns `None` for another stream, another context or a malformed one.
pub fn of_quic(stream: u64, datagram: &[u8]) -> Option<&[u8]> {
    let (quarter, used) = varint::read(datagram)?;
    (quarter == stream / 4).then(|| of_udp(&datagram[used..])).flatten()
}

fn of_udp(datagram: &[u8]) -> Option<&[u8]> {
    let (context, used) = varint::read(datagram)?;
    (context == UDP).then_some(&datagram[used..])
}

/// Takes a stream of capsules apart.
#[derive(Debug, Default)]
pub struct Capsules {
    number: Partial,
    kind: Option<u64>,
    /// Remaining length of an incomplete capsule.
    left: Option<u64>,
    /// A datagram that comes in pieces.
    held: Vec<u8>,
    /// Another type, or too long: passed over.
    unwanted: bool,
}

impl Capsules {
    /// Processes input and passes on the UDP payloads in it. Skipped or fragmented capsules need no more
    /// memory than one payload.
    pub fn take(&mut self, mut input: &[u8], mut payload: impl FnMut(&[u8])) {
        while let Some((first, rest)) = input.split_first() {
            let Some(left) = self.left else {
                input = rest;
                if let Some(value) = self.number.push(*first) {
                    self.header(value);
                }
                continue;
            };
            let n = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
            let (piece, rest) = input.split_at(n);
            let whole = n as u64 == left;
            match (self.unwanted, whole) {
                (true, _) => {}
                (false, true) if self.held.is_empty() => of_udp(piece).into_iter().for_each(&mut payload),
                (false, _) => self.held.extend_from_slice(piece),
            }
            if whole {
                of_udp(&self.held).into_iter().for_each(&mut payload);
                self.held.clear();
                (self.kind, self.left) = (None, None);
            } else {
                self.left = Some(left - n as u64);
            }
            input = rest;
        }
    }

    /// Whether the last capsule is whole, so that the stream may end.
    pub fn is_between(&self) -> bool {
        self.kind.is_none() && self.number.is_new()
    }

    /// Type or length is known.
    fn header(&mut self, value: u64) {
        let Some(kind) = self.kind else {
            self.kind = Some(value);
            return;
        };
        self.unwanted = kind != DATAGRAM || value > LONGEST;
        match value {
            0 => self.kind = None,
            _ => self.left = Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, bool) {
        let (mut capsules, mut payloads) = (Capsules::default(), Vec::new());
        pieces.iter().for_each(|piece| capsules.take(piece, |payload| payloads.push(payload.to_vec())));
        (payloads, capsules.is_between())
    }

    /// A payload, an unknown type, an empty capsule, another context, one too long, an empty payload, a
    /// payload.
    fn stream() -> (Vec<u8>, Vec<Vec<u8>>) {
        let mut bytes = Vec::new();
        write(&mut bytes, b"one");
        bytes.extend([0x40, 0x99, 3, b'x', b'y', b'z', 0, 0, 0, 3, 2, b'n', b'o']);
        varint::write(&mut bytes, DATAGRAM);
        varint::write(&mut bytes, LONGEST + 1);
        bytes.extend(vec![0; LONGEST as usize + 1]);
        write(&mut bytes, b"");
        write(&mut bytes, &[7; 1200]);
        (bytes, vec![b"one".to_vec(), Vec::new(), vec![7; 1200]])
    }

    #[test]
    fn payloads_are_found_wherever_the_stream_is_cut() {
        let (bytes, wanted) = stream();
        assert_eq!(taken(&[&bytes]), (wanted.clone(), true));
        for cut in (0..200).chain(bytes.len() - 1300..bytes.len()) {
            let (front, back) = bytes.split_at(cut);
            assert_eq!(taken(&[front, back]).0, wanted, "{cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(taken(&single), (wanted, true));
        assert!(!taken(&[&bytes[..bytes.len() - 1]]).1 && !taken(&[&[0x40]]).1);
    }

    #[test]
    fn a_large_announced_capsule_allocates_nothing() {
        let mut capsules = Capsules::default();
        capsules.take(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], |_| panic!("none is whole"));
        for _ in 0..100 {
            capsules.take(&[0; 10_000], |_| panic!("none is whole"));
        }
        assert_eq!(capsules.held.capacity(), 0);
    }

    #[test]
    fn quic_carries_one_for_a_stream() {
        let datagram = on_quic(8, b"abc");
        assert_eq!(datagram, [2, 0, b'a', b'b', b'c']);
        assert_eq!(of_quic(8, &datagram), Some(&b"abc"[..]));
        assert_eq!(of_quic(4, &datagram), None);
        assert_eq!(of_quic(8, &[2, 1, 5]), None);
        for cut in 0..2 {
            assert_eq!(of_quic(8, &datagram[..cut]), None);
        }
    }
}
