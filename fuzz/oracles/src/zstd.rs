//! Zstandard compared with libzstd, which curl uses, with the window of RFC 9659: both accept the same input
//! and decode it to the same output; of incomplete or damaged input both decode the same as far as each gets.
//!
//! Our decoder checks one thing that libzstd ignores: whether the size in the frame's header was reached when
//! the last block is empty.

use std::io::{Read, Write};

use arbitrary::Unstructured;
use wire::content_encoding::{DEPTH_LIMIT, Decoder, Error};

use crate::one_of;

const MOST: u64 = 1 << 20;
/// RFC 9659: 8 MiB.
const WINDOW_LOG: u32 = 23;

pub fn agrees(input: &[u8]) {
    let Some((&way, rest)) = input.split_first() else { return };
    if way & 1 == 0 {
        return compare(way, rest);
    }
    let mut choices = Unstructured::new(rest);
    let mut all = Vec::new();
    for _ in 0..one_of(&mut choices, &[1, 1, 2, 3]) {
        all.extend(frame(&mut choices));
    }
    crate::damage(&mut choices, &mut all);
    compare(way, &all);
}

/// A frame as libzstd writes it, or one to be skipped.
fn frame(choices: &mut Unstructured) -> Vec<u8> {
    if one_of(choices, &[false, false, false, true]) {
        let content = choices.bytes(choices.len().min(20)).unwrap_or_default();
        let magic = 0x184d_2a50_u32 + one_of(choices, &[0, 1, 15]);
        return [&magic.to_le_bytes(), &(content.len() as u32).to_le_bytes(), content].concat();
    }
    let level = one_of(choices, &[3, 1, 9, -5]);
    let (checksum, sized) = (one_of(choices, &[true, false]), one_of(choices, &[true, false]));
    let window = one_of(choices, &[20, 10, 17, 23]);
    let pieces = one_of(choices, &[1, 2, 5]);
    let text = crate::plain_text(choices);
    let mut encoder = zstd::Encoder::new(Vec::new(), level).expect("a level");
    encoder.include_checksum(checksum).expect("before the first octet");
    encoder.window_log(window).expect("a window");
    encoder.include_contentsize(sized).expect("before the first octet");
    if sized {
        encoder.set_pledged_src_size(Some(text.len() as u64)).expect("before the first octet");
    }
    for piece in text.chunks(text.len() / pieces + 1) {
        encoder.write_all(piece).and_then(|()| encoder.flush()).expect("memory takes it");
    }
    encoder.finish().expect("memory takes it")
}

fn compare(way: u8, coded: &[u8]) {
    // Empty input is an empty body, which is valid in any coding.
    if coded.is_empty() {
        return;
    }
    let step = [1, 7, 4096, usize::MAX][usize::from(way >> 1 & 3)];
    let mut theirs = Vec::new();
    let mut decoder = zstd::Decoder::with_buffer(coded).expect("a decoder");
    decoder.window_log_max(WINDOW_LOG).expect("a window");
    let end = decoder.take(MOST).read_to_end(&mut theirs);
    let (ours, outcome) = decode(coded, step);
    let common = ours.len().min(theirs.len());
    let said = || {
        let (made, other) = (ours.len(), theirs.len());
        format!("{outcome:?} after {made}, libzstd: {end:?} after {other}: {}", coded.escape_ascii())
    };
    assert!(ours[..common] == theirs[..common], "{}", said());
    if theirs.len() as u64 == MOST {
        return;
    }
    match end {
        Ok(_) if coded.ends_with(&[1, 0, 0]) && outcome == Err(Error::Corrupt) => assert_eq!(ours, theirs),
        Ok(_) => assert!(outcome.is_ok() && ours.len() == theirs.len(), "{}", said()),
        Err(_) => assert!(outcome.is_err(), "{}", said()),
    }
}

fn decode(coded: &[u8], step: usize) -> (Vec<u8>, Result<(), Error>) {
    let mut decoder = Decoder::new("zstd", DEPTH_LIMIT).expect("one coding");
    let mut out = Vec::new();
    for piece in coded.chunks(step) {
        decoder.feed(piece);
        loop {
            match decoder.next_slice() {
                Ok(Some(slice)) => out.extend_from_slice(slice),
                Ok(None) => break,
                Err(error) => return (out, Err(error)),
            }
            if out.len() as u64 > MOST {
                return (out, Ok(()));
            }
        }
    }
    (out, decoder.finish())
}
