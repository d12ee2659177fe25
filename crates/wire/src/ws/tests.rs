//! The frames of RFC 6455's examples, frames that are refused, and reading back a writer's output.

use testkit::dice::Dice;

use super::writer::apply;
use super::*;

/// Kind, end of message, and payload of each frame in these bytes, fed in steps of so many.
fn frames(bytes: &[u8], step: usize) -> Result<Vec<(Kind, bool, Vec<u8>)>, FrameError> {
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
fn malformed_frames_are_refused() {
    let refused = [
        (&b"\xc1\x00"[..], FrameError::Reserved(0xc1), "invalid reserved bits: c1"),
        (b"\x83\x00", FrameError::Opcode(0x83), "invalid opcode: 83"),
        (b"\x80\x00", FrameError::NothingToResume, "no ongoing fragmented message to resume"),
        (
            b"\x01\x00\x82\x00",
            FrameError::Interrupted(Kind::Binary),
            "fragmented message interrupted by new BINARY msg",
        ),
        (b"\x01\x00\x80\x00\x80\x00", FrameError::NothingToResume, "no ongoing fragmented message to resume"),
        (b"\x09\x00", FrameError::Fragmented(Kind::Ping), "invalid fragmented PING frame"),
        (b"\x81\x80", FrameError::Masked, "masked input frame"),
        (b"\x88\x7e", FrameError::TooBig(Kind::Close), "received CLOSE frame is too big"),
        (
            b"\x82\x7f\x80\0\0\0\0\0\0\0",
            FrameError::TooLong,
            "frame length longer than 63 bits not supported",
        ),
    ];
    for (bytes, fault, text) in refused {
        assert_eq!(frames(bytes, 100), Err(fault));
        assert_eq!(fault.to_string(), text);
    }
}

/// An endless message of empty fragments is refused; any number of pings and of empty messages is allowed.
#[test]
fn empty_fragments_are_bounded() {
    let fragments = |count: usize| [b"\x01\x00".to_vec(), b"\x00\x00".repeat(count)].concat();
    assert_eq!(frames(&fragments(20_000), 4096).err(), Some(FrameError::EmptyFragments));
    let moving = [&fragments(9_000)[..], b"\x00\x01a", &b"\x00\x00".repeat(9_000), b"\x80\x00"].concat();
    assert!(frames(&moving, 4096).is_ok());
    assert!(frames(&b"\x89\x00\x81\x00".repeat(20_000), 4096).is_ok());
}

/// A frame of exabytes is returned piece by piece, and reported even without room.
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

/// Unmasks a client's bytes, as a server would.
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
fn written_frames_are_read_back() {
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
            let reported = if kind.is_control() { kind } else { message.unwrap_or(kind) };
            if !kind.is_control() {
                message = (!last).then_some(reported);
            }
            assert_eq!(writer.in_message(), message.is_some());
            wanted.push((reported, last, payload));
        }
        assert_eq!(frames(&unmasked(&out), 1 + dice.roll(70_000)), Ok(wanted));
    }
}

use deflate::{Agreed, Corrupt, Deflater, Inflater, Offer};

const USUAL: Agreed = Agreed { server_forgets: false, client_forgets: false, client_window: 15 };

/// The messages in these fragments, each with whether it ends one.
fn inflated(agreed: Agreed, fragments: &[(&[u8], bool)]) -> Result<Vec<Vec<u8>>, Corrupt> {
    let (mut inflater, mut messages, mut message) = (Inflater::new(agreed), Vec::new(), Vec::new());
    for (payload, ends) in fragments {
        inflater.feed(payload, *ends);
        while let Some(slice) = inflater.slice()? {
            assert!(slice.bytes.len() <= 16 * 1024);
            message.extend(slice.bytes);
            if slice.last {
                messages.push(std::mem::take(&mut message));
            }
        }
        assert!(!inflater.is_pending());
    }
    Ok(messages)
}

/// RFC 7692, section 7.2.3.
#[test]
fn compressed_examples_of_the_rfc() {
    let hello = vec![b"Hello".to_vec()];
    let whole = &b"\xf2\x48\xcd\xc9\xc9\x07\x00"[..];
    assert_eq!(inflated(USUAL, &[(whole, true)]), Ok(hello.clone()));
    assert_eq!(inflated(USUAL, &[(&whole[..3], false), (&whole[3..], true)]), Ok(hello.clone()));
    let twice = Ok([hello.clone(), hello.clone()].concat());
    assert_eq!(inflated(USUAL, &[(whole, true), (b"\xf2\x00\x11\x00\x00", true)]), twice);
    for way in [
        &b"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00"[..],
        b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
        b"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00",
    ] {
        assert_eq!(inflated(USUAL, &[(way, true), (whole, true)]), twice, "{way:x?}");
    }
    assert_eq!(inflated(USUAL, &[(b"\x00", true)]), Ok(vec![vec![]]));
    let forgets = Agreed { server_forgets: true, ..USUAL };
    assert_ne!(inflated(forgets, &[(whole, true), (b"\xf2\x00\x11\x00\x00", true)]), twice);
    assert_eq!(inflated(USUAL, &[(b"\xff\xff\xff", true)]), Err(Corrupt));
}

/// A megabyte of zeros in a thousand bytes is returned in slices. The last slice is marked, even if they fit
/// exactly.
#[test]
fn a_compressed_message_is_returned_in_slices() {
    for (length, slices) in [(0, 1), (1, 1), (16_384, 1), (16_385, 2), (1 << 20, 64)] {
        let (mut packed, mut inflater) = (Vec::new(), Inflater::new(USUAL));
        let mut deflater = Deflater::new(USUAL);
        deflater.piece(&vec![0; length], &mut packed);
        deflater.end(true, &mut packed);
        assert!(packed.len() < 2000, "{}", packed.len());
        inflater.feed(&packed, true);
        let mut slice_lengths = Vec::new();
        while let Some(slice) = inflater.slice().unwrap() {
            slice_lengths.push((slice.bytes.len(), slice.last));
        }
        assert_eq!(slice_lengths.len(), slices, "{slice_lengths:?}");
        assert_eq!(slice_lengths.iter().map(|(n, _)| n).sum::<usize>(), length);
        assert!(slice_lengths.iter().rev().skip(1).all(|(_, last)| !last) && slice_lengths.last().unwrap().1);
    }
}

/// Random messages in random pieces and fragments, with every window size, with and without context takeover.
#[test]
fn compressed_messages_are_read_back() {
    let mut dice = Dice::new(7692);
    for round in 0..64 {
        let forgets = round % 2 == 0;
        let agreed =
            Agreed { server_forgets: forgets, client_forgets: forgets, client_window: 8 + round / 8 };
        let (mut deflater, mut wanted, mut fragments) = (Deflater::new(agreed), Vec::new(), Vec::new());
        for _ in 0..4 {
            let mut message = Vec::new();
            let count = dice.roll(4);
            for fragment in 0..=count {
                let mut packed = Vec::new();
                for _ in 0..dice.roll(4) {
                    let piece: Vec<u8> = (0..dice.roll(20_000)).map(|_| dice.roll(9) as u8).collect();
                    deflater.piece(&piece, &mut packed);
                    message.extend(piece);
                }
                deflater.end(fragment == count, &mut packed);
                fragments.push((packed, fragment == count));
            }
            wanted.push(message);
        }
        let fragments: Vec<_> = fragments.iter().map(|(packed, ends)| (&packed[..], *ends)).collect();
        assert_eq!(inflated(agreed, &fragments), Ok(wanted));
    }
}

/// No reference exceeds the negotiated window.
#[test]
fn a_small_window_is_kept_to() {
    let mut dice = Dice::new(8);
    let noise: Vec<u8> = (0..256).map(|_| dice.roll(256) as u8).collect();
    for (client_window, fits) in [(15, 0..400), (8, 512..700)] {
        let (mut deflater, mut packed) = (Deflater::new(Agreed { client_window, ..USUAL }), Vec::new());
        deflater.piece(&noise, &mut packed);
        deflater.end(true, &mut packed);
        deflater.piece(&noise, &mut packed);
        deflater.end(true, &mut packed);
        assert!(fits.contains(&packed.len()), "{client_window}: {}", packed.len());
    }
}

#[test]
fn only_offered_parameters_are_accepted() {
    let usual = Offer { forgets: false, window: 15 };
    let small = Offer { forgets: true, window: 10 };
    assert_eq!(usual.field(), "permessage-deflate; client_max_window_bits");
    assert_eq!(
        small.field(),
        "permessage-deflate; client_max_window_bits=10; server_max_window_bits=10; \
         server_no_context_takeover; client_no_context_takeover"
    );
    let agreed = |server_forgets, client_forgets, client_window| {
        Ok(Some(Agreed { server_forgets, client_forgets, client_window }))
    };
    assert_eq!(usual.agree(b""), Ok(None));
    assert_eq!(usual.agree(b"permessage-deflate"), agreed(false, false, 15));
    assert_eq!(
        usual.agree(b" Permessage-Deflate ; server_no_context_takeover;client_max_window_bits = \"12\""),
        agreed(true, false, 12)
    );
    assert_eq!(
        usual.agree(b"permessage-deflate; client_no_context_takeover; server_max_window_bits=9"),
        agreed(false, true, 15)
    );
    assert_eq!(small.agree(b"permessage-deflate; client_max_window_bits=15"), agreed(false, true, 10));
    for wrong in [
        "x-webkit-deflate-frame",
        "permessage-deflate, permessage-deflate",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; nonsense",
    ] {
        assert!(usual.agree(wrong.as_bytes()).is_err(), "{wrong}");
    }
    assert!(small.agree(b"permessage-deflate; server_max_window_bits=11").is_err());
}

/// The bit of a compressed message is on its first frame, and is an error if compression was not negotiated.
#[test]
fn the_first_frame_marks_a_compressed_message() {
    let bytes = b"\x41\x01a\x89\x00\x80\x01b\x81\x00";
    let mut reader = Reader::of_compressed();
    let (mut rest, mut pieces) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let step = reader.next(rest, 0).unwrap();
        pieces.extend(step.piece.map(|piece| (piece.kind, piece.compressed, piece.payload.len())));
        rest = &rest[step.used..];
    }
    let (text, ping) = (Kind::Text, Kind::Ping);
    assert_eq!(pieces, [(text, true, 1), (ping, false, 0), (text, true, 1), (text, false, 0)]);
    for wrong in [&b"\xc9\x00"[..], b"\x01\x00\xc0\x00", b"\xa1\x00", b"\xe1\x00", b"\x01\x00\xc1\x00"] {
        let mut reader = Reader::of_compressed();
        let (mut rest, mut fault) = (wrong, None);
        while !rest.is_empty() && fault.is_none() {
            match reader.next(rest, 9) {
                Ok(step) => rest = &rest[step.used..],
                Err(found) => fault = Some(found),
            }
        }
        assert_eq!(fault, Some(FrameError::Reserved(wrong[wrong.len() - 2])));
    }
    let (mut writer, mut out) = (Writer::of_compressed(), Vec::new());
    for (kind, last) in [(Kind::Text, false), (Kind::Ping, true), (Kind::Text, true), (Kind::Binary, true)] {
        writer.begin(kind, last, 0, [0; 4], &mut out);
    }
    assert_eq!(out.chunks(6).map(|frame| frame[0]).collect::<Vec<_>>(), [0x41, 0x89, 0x80, 0xc2]);
}
