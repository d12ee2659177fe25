//! Round trips through encoders of other implementations, cut at every position, and input that must be
//! refused.

use std::io::Write;
use std::rc::Rc;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::{DEPTH_LIMIT, Decoder, Dictionary, Error, SLICE_LIMIT};
use crate::hex;

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

/// Dictionary, content and encodings of the web platform tests (fetch/compression-dictionary).
const WPT_DICTIONARY: &[u8] = b"This is a test dictionary.\n";
const WPT_CONTENT: &[u8] = b"This is compressed test data using a test dictionary";
const WPT_SUM: &str = "53969bcf5e960e0edbf0a4bdde6b0b3e9381e156de7f5b91ce8391624270f416";
const WPT_DCB: &str = "a198018062a44c1ddf12848caec2ca6022076e810514c9b7c3448ebc16e0150eecc1ee34333e0d";
const WPT_DCZ: &str = "28b52ffd2434f5000098636f6d7072657373656461746120\
    7573696e67030059f97354462726109e99f2bc";

fn offered(bytes: &[u8]) -> Rc<Dictionary> {
    Rc::new(Dictionary::new(bytes.to_vec()))
}

fn decode_with(list: &str, dictionary: &Rc<Dictionary>, input: &[u8], step: usize) -> Result<Vec<u8>, Error> {
    let mut decoder = Decoder::with_dictionary(list, DEPTH_LIMIT, Some(dictionary))?;
    let mut out = Vec::new();
    for piece in input.chunks(step) {
        decoder.feed(piece);
        while let Some(slice) = decoder.next_slice()? {
            out.extend_from_slice(slice);
        }
    }
    decoder.finish()?;
    Ok(out)
}

/// Puts the header of a coding before compressed data.
fn headed(coding: &str, sum: &[u8], data: &str) -> Vec<u8> {
    let magic: &[u8] = if coding == "dcb" { b"\xffDCB" } else { b"\x5e\x2a\x4d\x18\x20\0\0\0" };
    [magic, sum, &hex::decode(data.as_bytes()).unwrap()].concat()
}

#[test]
fn codings_with_a_dictionary() {
    let sum = hex::decode(WPT_SUM.as_bytes()).unwrap();
    let wpt = offered(WPT_DICTIONARY);
    assert_eq!(wpt.sum, *sum);
    let dictionary = &sample()[..20_000];
    let swapped = [&dictionary[10_000..], &dictionary[..10_000]].concat();
    let large = offered(dictionary);
    // The last two by the reference encoders: brotli 1.2.1 with a window of 1 KiB, so that the dictionary
    // lies far outside of it, and zstd 1.5.4.
    for (coding, offered, data, content) in [
        ("dcb", &wpt, WPT_DCB, WPT_CONTENT),
        ("dcz", &wpt, WPT_DCZ, WPT_CONTENT),
        ("DCB", &large, "a1f870c22f011087d5431f297b00b0a6ec01d046", &*swapped),
        ("DCZ", &large, "28b52ffd64204d7500000002000d67a6663c349c89c35720b9eeddf7", &*swapped),
    ] {
        let input = headed(&coding.to_ascii_lowercase(), &offered.sum, data);
        for step in [1, 7, 100_000] {
            let found = decode_with(coding, offered, &input, step);
            assert!(found.as_deref() == Ok(content), "{coding} {step} {:?}", found.map(|found| found.len()));
        }
        for end in 1..input.len() {
            let found = decode_with(coding, offered, &input[..end], 100_000);
            assert_eq!(found, Err(Error::Truncated), "{coding} {end}");
        }
        assert_eq!(decode_with(coding, offered, b"", 1), Ok(Vec::new()));
        assert_eq!(decode(coding, &input, 1), Err(Error::Unknown), "{coding}: none was offered");
        // With another dictionary the data is not decoded, even if its header lies.
        let other = self::offered(b"another dictionary");
        assert_eq!(decode_with(coding, &other, &input, 5), Err(Error::OtherDictionary), "{coding}");
        let lie = headed(&coding.to_ascii_lowercase(), &other.sum, data);
        assert_ne!(decode_with(coding, &other, &lie, 100_000).as_deref(), Ok(content), "{coding}");
        for at in 0..4 {
            let mut bad = input.clone();
            bad[at] ^= 1;
            assert_eq!(decode_with(coding, offered, &bad, 1), Err(Error::Corrupt), "{coding} {at}");
        }
    }
    // Both codings in one list, the outer one last.
    let inner = headed("dcz", &large.sum, "28b52ffd64204d7500000002000d67a6663c349c89c35720b9eeddf7");
    assert_eq!(decode_with("dcz, gzip", &large, &gzip(&inner), 11).as_deref(), Ok(&*swapped));
}

#[test]
fn the_window_may_be_larger_with_a_large_dictionary() {
    const MIB: u64 = 1 << 20;
    for (dictionary, limit) in [(0, 8), (6, 8), (16, 20), (1024, 128)] {
        let found = super::dictionary::window_limit(dictionary * MIB, 8 * MIB);
        assert_eq!(found, limit * MIB, "{dictionary}");
    }
}
