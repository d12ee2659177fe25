//! Round trips through encoders of other implementations, cut at every position, and input that must be
//! refused.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::{DEPTH_LIMIT, Decoder, Error, SLICE_LIMIT};

/// Feeds `input` in pieces of `step` octets.
fn decode(list: &str, input: &[u8], step: usize) -> Result<Vec<u8>, Error> {
    let mut decoder = Decoder::new(list, DEPTH_LIMIT)?;
    let mut out = Vec::new();
    for piece in input.chunks(step) {
        decoder.feed(piece);
        while let Some(slice) = decoder.next_slice()? {
            assert!(!slice.is_empty() && slice.len() <= SLICE_LIMIT);
            out.extend_from_slice(slice);
        }
    }
    decoder.finish()?;
    Ok(out)
}

fn sample() -> Vec<u8> {
    (0..9_000u32).flat_map(|number| (number * number / 7).to_string().into_bytes()).collect()
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn raw(plain: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
}

/// "hello world" three times over, by the reference encoder.
const BROTLI: &[u8] = include_bytes!("brotli.sample");

#[test]
fn every_coding_in_pieces_of_any_size() {
    let plain = sample();
    let rows: [(&str, Vec<u8>); 9] = [
        ("gzip", gzip(&plain)),
        ("X-GZIP", gzip(&plain)),
        ("gzip", zlib(&plain)),
        ("deflate", zlib(&plain)),
        ("deflate", raw(&plain)),
        ("zstd", zstd(&plain)),
        ("deflate, identity, gzip", gzip(&zlib(&plain))),
        ("zstd,none , deflate", zlib(&zstd(&plain))),
        ("identity", plain.clone()),
    ];
    for (list, coded) in &rows {
        for step in [1, 2, 3, 7, 1000, 100_000, usize::MAX] {
            assert!(decode(list, coded, step).as_ref() == Ok(&plain), "{list} {step}");
        }
    }
}

/// Short text has fixed codes, whose first octet is among the two that decide whether there is a zlib header.
#[test]
fn short_text_without_a_header() {
    for plain in ["", "a", "hello", "hello, hello"] {
        for step in [1, 2, 3, 100] {
            assert_eq!(
                decode("deflate", &raw(plain.as_bytes()), step),
                Ok(plain.as_bytes().to_vec()),
                "{step}"
            );
        }
    }
}

#[test]
fn brotli_in_pieces() {
    let wanted = b"hello world hello world hello world\n".to_vec();
    for step in [1, 2, 5, 100] {
        assert_eq!(decode("br", BROTLI, step), Ok(wanted.clone()));
    }
    assert_eq!(decode("br", &BROTLI[..BROTLI.len() - 1], 4), Err(Error::Truncated));
    assert_eq!(decode("br", &[BROTLI, b"x"].concat(), 1), Err(Error::TrailingData));
    assert_eq!(decode("br", &[BROTLI, b"x"].concat(), 1000), Err(Error::TrailingData));
    assert_eq!(decode("br", b"-foo- this is no brotli at all, is it", 1000), Err(Error::Corrupt));
}

#[test]
fn gzip_header_fields() {
    let plain = b"text".to_vec();
    let coded = flate2::GzBuilder::new()
        .filename("name")
        .comment("a comment")
        .extra(vec![1, 2, 3])
        .write(Vec::new(), Compression::default());
    let mut encoder = coded;
    encoder.write_all(&plain).unwrap();
    let coded = encoder.finish().unwrap();
    for step in [1, 4, 100] {
        assert_eq!(decode("gzip", &coded, step), Ok(plain.clone()));
    }
    let endless = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0][..], &[b'x'; 70_000]].concat();
    assert_eq!(decode("gzip", &endless, 1000), Err(Error::TooLarge));
}

#[test]
fn truncated_and_trailing_data_are_errors() {
    let plain = sample();
    for (list, coded) in [("gzip", gzip(&plain)), ("deflate", zlib(&plain)), ("zstd", zstd(&plain))] {
        for cut in [1, coded.len() / 2, coded.len() - 1] {
            assert_eq!(decode(list, &coded[..cut], 999), Err(Error::Truncated), "{list} {cut}");
        }
        let outcome = decode(list, &[coded.as_slice(), b"garbage"].concat(), 1 << 20);
        assert_eq!(outcome, Err(if list == "zstd" { Error::Corrupt } else { Error::TrailingData }), "{list}");
        assert_eq!(decode(list, b"", 1), Ok(Vec::new()), "{list}");
    }
    assert_eq!(decode("deflate", &[raw(&plain).as_slice(), b"1234"].concat(), 100), Ok(plain.clone()));
    assert_eq!(
        decode("deflate", &[raw(&plain).as_slice(), b"12345"].concat(), 100),
        Err(Error::TrailingData)
    );
    assert_eq!(decode("gzip", &[gzip(&plain), gzip(&plain)].concat(), 100), Err(Error::TrailingData));
    let twice = [plain.as_slice(), plain.as_slice()].concat();
    assert_eq!(decode("zstd", &[zstd(&plain), zstd(&plain)].concat(), 100), Ok(twice));
}

#[test]
fn corrupt_bodies_are_errors() {
    let mut wrong_checksum = gzip(b"text");
    *wrong_checksum.last_mut().unwrap() ^= 1;
    assert_eq!(decode("gzip", &wrong_checksum, 100), Err(Error::Deflate("incorrect length check")));
    assert_eq!(decode("gzip", b"-foo-", 100), Err(Error::Deflate("incorrect header check")));
    assert_eq!(decode("zstd", b"-foo-", 100), Err(Error::Corrupt));
    assert_eq!(decode("deflate", b"\x58\xdb\x6e\xe3\x36\x10", 100), Err(Error::Deflate("corrupt data")));
    let wide_window = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 14 << 3][..], &[1, 0, 0]].concat();
    assert_eq!(decode("zstd", &wide_window, 100), Err(Error::TooLarge));
    let skipped = [&[0x5f, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &zstd(b"text")].concat();
    assert_eq!(decode("zstd", &skipped, 3), Ok(b"text".to_vec()));
}

/// zlib and libzstd refuse these; other implementations accept them.
#[test]
fn checksums_references_and_sizes_are_checked() {
    let plain = gzip(b"text");
    let mut header = plain[..10].to_vec();
    header[3] = 2; // FHCRC
    let mut crc = flate2::Crc::new();
    crc.update(&header);
    for (change, wanted) in [(0, Ok(b"text".to_vec())), (1, Err(Error::Deflate("header crc mismatch")))] {
        let checksum = (crc.sum() as u16 ^ change).to_le_bytes();
        let coded = [&header[..], &checksum, &plain[10..]].concat();
        assert_eq!(decode("gzip", &coded, 1), wanted);
        assert_eq!(decode("gzip", &coded, 100), wanted);
    }
    assert_eq!(
        decode("deflate", b"\x92\x03\x92\x03", 100),
        Err(Error::Deflate("corrupt data")),
        "from before the beginning"
    );
    // A raw block of three octets in a frame that announces so many.
    for (announced, wanted) in [(3, Ok(b"abc".to_vec())), (2, Err(Error::Corrupt)), (4, Err(Error::Corrupt))]
    {
        let coded = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, announced, 3 << 3 | 1, 0, 0][..], b"abc"].concat();
        assert_eq!(decode("zstd", &coded, 100), wanted, "{announced}");
        assert_eq!(decode("zstd", &coded, 1), wanted, "{announced}");
    }
}

/// A block of zstd holds at most 128 KiB (RFC 8878, section 3.1.1.2.3), whatever its sequences say: 98,000
/// sequences could expand to gigabytes.
#[test]
fn a_block_of_zstd_has_an_end() {
    // A raw block of eight octets; then a block whose literals are one octet eight times, and whose sequences
    // have one code each: no literals, a repeated offset, and a match of 259 octets plus the value of eight
    // bits, which are zero.
    let frame = |sequences: usize| {
        let literals = [1 | 8 << 3, b'x'];
        let header = [(sequences >> 8) as u8 + 128, sequences as u8, 0b01_01_01_00, 0, 0, 44];
        let block = [&literals[..], &header, &vec![0; sequences], &[1]].concat();
        let size = (block.len() << 3 | 2 << 1 | 1).to_le_bytes();
        [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x68, 8 << 3, 0, 0][..], b"abcdefgh", &size[..3], &block].concat()
    };
    assert_eq!(decode("zstd", &frame(400), 1000).map(|plain| plain.len()), Ok(8 + 400 * 259 + 8));
    assert_eq!(decode("zstd", &frame(600), 1000), Err(Error::Corrupt));
}

/// CVE-2022-32206
#[test]
fn names_and_depth() {
    assert_eq!(decode("compress", b"x", 1), Err(Error::Unknown));
    assert_eq!(decode("compress", b"", 1), Ok(Vec::new()));
    assert_eq!(decode("gzip,gzip,gzip,gzip,gzip,gzip", b"", 1), Err(Error::TooMany));
    assert!(Decoder::new("gzip,,gzip,gzip,gzip,gzip", DEPTH_LIMIT).is_ok());
    assert!(Decoder::new("identity, none", 2).is_ok_and(|decoder| decoder.is_identity()));
    assert_eq!(Decoder::new("identity, none, gzip", 2).err(), Some(Error::TooMany));
}

#[test]
fn a_bomb_is_decoded_one_slice_at_a_time() {
    let bomb = gzip(&gzip(&vec![0; 64 << 20]));
    assert!(bomb.len() < 1000);
    let mut decoder = Decoder::new("gzip, gzip", DEPTH_LIMIT).unwrap();
    decoder.feed(&bomb);
    for _ in 0..100 {
        assert_eq!(decoder.next_slice().unwrap().map(<[u8]>::len), Some(SLICE_LIMIT));
    }
    let held: usize = decoder.stages.iter().map(|stage| stage.input.capacity()).sum();
    assert!(held <= 4 * SLICE_LIMIT, "{held}");
    assert_eq!(decoder.finish(), Err(Error::Truncated));
}
