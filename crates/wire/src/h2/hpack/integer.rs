//! Integers and string literals of header compression (RFC 7541 §5).

use super::{HpackError, huffman};

/// Largest length, index or table size in a block. A larger one is an error, before anything is allocated for
/// it.
const LARGEST: u64 = 1 << 28;

/// Reads an integer whose first `prefix` bits are in the byte at `at`, and moves `at` after it.
pub fn decode(block: &[u8], at: &mut usize, prefix: u32) -> Result<usize, HpackError> {
    let mask = (1u64 << prefix) - 1;
    let mut value = u64::from(*block.get(*at).ok_or(HpackError::Truncated)?) & mask;
    *at += 1;
    if value < mask {
        return Ok(value as usize);
    }
    for shift in (0..35).step_by(7) {
        let byte = *block.get(*at).ok_or(HpackError::Truncated)?;
        *at += 1;
        value += u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return if value <= LARGEST { Ok(value as usize) } else { Err(HpackError::TooLong) };
        }
    }
    Err(HpackError::TooLong)
}

/// Writes an integer after the bits that `first` holds above its prefix.
pub fn encode(out: &mut Vec<u8>, first: u8, prefix: u32, value: usize) {
    let mask = (1usize << prefix) - 1;
    if value < mask {
        return out.push(first | value as u8);
    }
    out.push(first | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends the string literal at `at` to `out` and returns its length. The length is in the low `prefix` bits
/// of the first byte, and the bit above them says whether the Huffman code is used: 7 here (RFC 7541 §5.2),
/// others in QPACK (RFC 9204 §4.1.2).
pub fn decode_text(
    block: &[u8],
    at: &mut usize,
    prefix: u32,
    out: &mut Vec<u8>,
) -> Result<usize, HpackError> {
    let coded = block.get(*at).ok_or(HpackError::Truncated)? & 1 << prefix != 0;
    let length = decode(block, at, prefix)?;
    let end = at.checked_add(length).filter(|end| *end <= block.len()).ok_or(HpackError::Truncated)?;
    let text = &block[*at..end];
    *at = end;
    let before = out.len();
    match coded {
        true => huffman::decode(text, out)?,
        false => out.extend_from_slice(text),
    }
    Ok(out.len() - before)
}

/// Writes a string literal after the bits that `first` holds, in the Huffman code if that is shorter. The
/// caller converts names to lower case.
pub fn encode_text(out: &mut Vec<u8>, first: u8, prefix: u32, text: &[u8]) {
    let coded = huffman::encoded_len(text);
    if coded < text.len() {
        encode(out, first | 1 << prefix, prefix, coded);
        huffman::encode(text, out);
    } else {
        encode(out, first, prefix, text.len());
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541 C.1.
    #[test]
    fn integers_of_the_rfc() {
        for (prefix, value, bytes) in
            [(5, 10, &[0x0a][..]), (5, 1337, &[0x1f, 0x9a, 0x0a]), (8, 42, &[0x2a]), (7, 127, &[0x7f, 0])]
        {
            let mut out = Vec::new();
            encode(&mut out, 0, prefix, value);
            assert_eq!(out, bytes);
            let mut at = 0;
            assert_eq!(decode(bytes, &mut at, prefix), Ok(value));
            assert_eq!(at, bytes.len());
        }
    }

    #[test]
    fn integers_without_end_or_measure_are_refused() {
        assert_eq!(decode(&[0x1f, 0x80, 0x80], &mut 0, 5), Err(HpackError::Truncated));
        assert_eq!(
            decode(&[0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0], &mut 0, 5),
            Err(HpackError::TooLong)
        );
        assert_eq!(decode(&[0x1f, 0xff, 0xff, 0xff, 0xff, 0x0f], &mut 0, 5), Err(HpackError::TooLong));
        assert_eq!(decode(&[], &mut 0, 5), Err(HpackError::Truncated));
        // Zeros that only lengthen it are allowed, within measure.
        assert_eq!(decode(&[0x1f, 0x80, 0x80, 0x00], &mut 0, 5), Ok(31));
    }

    #[test]
    fn a_string_may_not_reach_beyond_its_block() {
        let mut out = Vec::new();
        assert_eq!(decode_text(&[5, b'a', b'b'], &mut 0, 7, &mut out), Err(HpackError::Truncated));
        assert_eq!(
            decode_text(&[0x7f, 0xff, 0xff, 0x7f, b'a'], &mut 0, 7, &mut out),
            Err(HpackError::Truncated)
        );
        assert!(out.is_empty());
    }
}
