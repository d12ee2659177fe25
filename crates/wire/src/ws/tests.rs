//! The frames of RFC 6455's examples, what is refused, and whatever a writer makes read back.

use testkit::dice::Dice;

use super::writer::apply;
use super::*;

/// Kind, end of message, and payload of each frame in these bytes, fed in steps of so many.
fn frames(bytes: &[u8], step: usize) -> Result<Vec<(Kind, bool, Vec<u8>)>, Fault> {
    let (mut reader, mut frames, mut payload) = (Reader::default(), Vec::new(), Vec::new());
    for mut input in bytes.chunks(step) {
        while !input.is_empty() {
            let step = reader.next(input, usize::MAX)?;
            if let Some(piece) = step.piece {
                assert_eq!(piece.offset, payload.len() as u64);
                payload.extend_from_slice(&input[piece.payload]);
                if piece.left == 0 {
                    frames.push((piece.kind, piece.last, std::mem::take(&mut payload)));
                }
            }
            input = &input[step.used..];
        }
    }
    Ok(frames)
}

#[test]
fn examples_of_the_rfc() {
    let hello = |kind, last, text: &[u8]| (kind, last, text.to_vec());
    assert_eq!(frames(b"\x81\x05Hello", 1), Ok(vec![hello(Kind::Text, true, b"Hello")]));
    let parts = vec![hello(Kind::Text, false, b"Hel"), hello(Kind::Text, true, b"lo")];
    assert_eq!(frames(b"\x01\x03Hel\x80\x02lo", 3), Ok(parts));
    let mut out = Vec::new();
    let mut writer = Writer::default();
    writer.begin(Kind::Text, true, 5, [0x37, 0xfa, 0x21, 0x3d], &mut out);
    assert_eq!(writer.payload(b"Hello", &mut out), 5);
    assert_eq!(out, b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    assert_eq!(key(*b"the sample nonce"), "dGhlIHNhbXBsZSBub25jZQ==");
}

#[test]
fn what_is_refused() {
    let refused = [
        (&b"\xc1\x00"[..], Fault::Reserved(0xc1), "invalid reserved bits: c1"),
        (b"\x83\x00", Fault::Opcode(0x83), "invalid opcode: 83"),
        (b"\x80\x00", Fault::NothingToResume, "no ongoing fragmented message to resume"),
        (
            b"\x01\x00\x82\x00",
            Fault::Interrupted(Kind::Binary),
            "fragmented message interrupted by new BINARY msg",
        ),
        (b"\x01\x00\x80\x00\x80\x00", Fault::NothingToResume, "no ongoing fragmented message to resume"),
        (b"\x09\x00", Fault::Fragmented(Kind::Ping), "invalid fragmented PING frame"),
        (b"\x81\x80", Fault::Masked, "masked input frame"),
        (b"\x88\x7e", Fault::TooBig(Kind::Close), "received CLOSE frame is too big"),
        (b"\x82\x7f\x80\0\0\0\0\0\0\0", Fault::TooLong, "frame length longer than 63 bits not supported"),
    ];
    for (bytes, fault, text) in refused {
        assert_eq!(frames(bytes, 100), Err(fault));
        assert_eq!(fault.to_string(), text);
    }
}

/// A frame of exabytes is handed out as it comes, and told of without being taken.
#[test]
fn a_frame_larger_than_memory() {
    let mut reader = Reader::default();
    let head = b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xffab";
    let peek = reader.next(head, 0).unwrap();
    assert_eq!(peek.used, 10);
    let piece = peek.piece.unwrap();
    assert_eq!((piece.offset, piece.left, piece.payload.len()), (0, i64::MAX as u64, 0));
    let piece = reader.next(b"ab", 1).unwrap().piece.unwrap();
    assert_eq!((piece.offset, piece.left, piece.payload), (0, i64::MAX as u64 - 1, 0..1));
    let piece = reader.next(b"b", 9).unwrap().piece.unwrap();
    assert_eq!((piece.offset, piece.left), (1, i64::MAX as u64 - 2));
}

/// What a server would read of a client's bytes, which it unmasks.
fn unmasked(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let (length, head) = match bytes[1] & 0x7f {
            126 => (u64::from(u16::from_be_bytes([bytes[2], bytes[3]])), 4),
            127 => (u64::from_be_bytes(bytes[2..10].try_into().unwrap()), 10),
            short => (u64::from(short), 2),
        };
        assert_ne!(bytes[1] & MASKED, 0);
        out.push(bytes[0]);
        out.push(bytes[1] & !MASKED);
        out.extend_from_slice(&bytes[2..head]);
        let mask = bytes[head..head + 4].try_into().unwrap();
        let (payload, rest) = bytes[head + 4..].split_at(length as usize);
        let start = out.len();
        out.extend_from_slice(payload);
        apply(mask, &mut out[start..]);
        bytes = rest;
    }
    out
}

/// Random fragments with control frames between them, written in random pieces and read in random steps.
#[test]
fn what_is_written_reads_back() {
    let mut dice = Dice::new(6455);
    for _ in 0..500 {
        let (mut writer, mut out, mut wanted) = (Writer::default(), Vec::new(), Vec::new());
        let mut message = None;
        for _ in 0..1 + dice.roll(8) {
            let kind = [Kind::Text, Kind::Binary, Kind::Close, Kind::Ping, Kind::Pong][dice.roll(5)];
            let last = kind.is_control() || dice.roll(2) == 0;
            let length = [0, 1, 125, 126, 127, 300, 65_535, 65_536][dice.roll(8)];
            let length = if kind.is_control() { length.min(125) } else { length };
            let payload: Vec<u8> = (0..length).map(|_| dice.roll(256) as u8).collect();
            writer.begin(
                kind,
                last,
                length as u64,
                [dice.roll(256) as u8, 2, 3, dice.roll(256) as u8],
                &mut out,
            );
            let mut rest = &payload[..];
            while !rest.is_empty() {
                let piece = rest.len().min(1 + dice.roll(9_000));
                assert_eq!(writer.payload(&rest[..piece], &mut out), piece);
                rest = &rest[piece..];
            }
            assert_eq!((writer.left(), writer.payload(b"too much", &mut out)), (0, 0));
            let told = if kind.is_control() { kind } else { message.unwrap_or(kind) };
            if !kind.is_control() {
                message = (!last).then_some(told);
            }
            assert_eq!(writer.in_message(), message.is_some());
            wanted.push((told, last, payload));
        }
        assert_eq!(frames(&unmasked(&out), 1 + dice.roll(70_000)), Ok(wanted));
    }
}
