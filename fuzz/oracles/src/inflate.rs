//! gzip and deflate compared with zlib, which curl uses: both accept the same input and decode it to the same
//! output; of incomplete or damaged input both decode the same as far as each gets. Like curl, "gzip" may
//! also be zlib's format, and "deflate" may be raw with up to four octets after it; zlib is called
//! accordingly.

use std::ffi::c_int;

use arbitrary::Unstructured;
use wire::content_encoding::{DEPTH_LIMIT, Decoder, Error};

use crate::one_of;
use crate::zlib::{self, End, Manner};

/// Most output that is compared.
const MOST: usize = 1 << 20;
/// RFC 1950: a preset dictionary is required. curl refuses it; our decoder reads the input as deflate without
/// a header, which it may be as well.
const WANTS_DICTIONARY: u8 = 0x20;

pub fn agrees(input: &[u8]) {
    let Some((&way, rest)) = input.split_first() else { return };
    if way & 1 == 0 {
        return compare(way, rest);
    }
    let mut choices = Unstructured::new(rest);
    let mut coded = coded(&mut choices);
    crate::damage(&mut choices, &mut coded);
    compare(way, &coded);
}

/// Everything that zlib can write.
fn coded(choices: &mut Unstructured) -> Vec<u8> {
    let manner = Manner {
        level: one_of(choices, &[6, 0, 1, 9]),
        window_bits: one_of(choices, &[31, 15, -15, 25, 9, -9, 28, 12, -12]),
        memory: one_of(choices, &[8, 1, 9]),
        strategy: one_of(choices, &[0, 1, 2, 3, 4]),
    };
    // Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK
    const FLUSHES: [c_int; 5] = [0, 1, 2, 3, 5];
    let flushes: Vec<c_int> = (0..one_of(choices, &[1, 2, 5])).map(|_| one_of(choices, &FLUSHES)).collect();
    let text = crate::plain_text(choices);
    let piece = text.len() / flushes.len() + 1;
    let pieces: Vec<(&[u8], c_int)> = text.chunks(piece).zip(flushes).collect();
    let coded = zlib::deflate(&pieces, manner);
    let whole = manner.window_bits;
    assert_eq!(zlib::inflate(&coded, if whole > 15 { 31 } else { whole.signum() * 15 }, MOST).0, text);
    coded
}

fn compare(way: u8, coded: &[u8]) {
    let list = if way & 2 == 0 { "gzip" } else { "deflate" };
    let step = [1, 7, 4096, usize::MAX][usize::from(way >> 2 & 3)];
    let is_zlib = matches!(*coded, [first, second, ..]
        if first & 15 == 8 && first >> 4 <= 7 && (u16::from(first) << 8 | u16::from(second)).is_multiple_of(31));
    if coded.is_empty() || (is_zlib && coded[1] & WANTS_DICTIONARY != 0) {
        return;
    }
    // 47: gzip or zlib, detected by the header.
    let (window_bits, stray) = match list {
        "gzip" => (47, 0),
        _ if is_zlib => (15, 0),
        _ => (-15, 4),
    };
    let (theirs, end) = zlib::inflate(coded, window_bits, MOST);
    let (ours, outcome) = decode(list, coded, step);
    let common = ours.len().min(theirs.len());
    let said = || {
        let (made, other) = (ours.len(), theirs.len());
        format!("{list}, {outcome:?} after {made}, zlib: {end:?} after {other}: {}", coded.escape_ascii())
    };
    assert!(ours[..common] == theirs[..common], "{}", said());
    match end {
        End::Whole(left) if left <= stray => assert!(outcome == Ok(()) && ours == theirs, "{}", said()),
        End::Whole(_) => assert!(outcome == Err(Error::TrailingData) && ours == theirs, "{}", said()),
        // Under a fuzzer miniz_oxide does not look at the checksum.
        End::Refused if cfg!(fuzzing) && outcome.is_ok() => assert!(ours == theirs, "{}", said()),
        End::Refused | End::Short => assert!(outcome.is_err(), "{}", said()),
        End::Long => assert!(ours.len() >= MOST, "{}", said()),
    }
}

/// Our output, about as much as zlib is asked for, and how it ended.
fn decode(list: &str, coded: &[u8], step: usize) -> (Vec<u8>, Result<(), Error>) {
    let mut decoder = Decoder::new(list, DEPTH_LIMIT).expect("one coding");
    let mut out = Vec::new();
    for piece in coded.chunks(step) {
        decoder.feed(piece);
        loop {
            match decoder.next_slice() {
                Ok(Some(slice)) => out.extend_from_slice(slice),
                Ok(None) => break,
                Err(error) => return (out, Err(error)),
            }
            if out.len() > MOST {
                return (out, Ok(()));
            }
        }
    }
    (out, decoder.finish())
}
