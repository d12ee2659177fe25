//! Hexadecimal digits, both ways.

/// The value of one digit, either case.
pub fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        b'A'..=b'F' => Some(character - b'A' + 10),
        _ => None,
    }
}

/// Lower case digits, as every protocol here wants its digests.
pub fn encode(input: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    input
        .iter()
        .flat_map(|octet| [DIGITS[usize::from(octet >> 4)], DIGITS[usize::from(octet & 15)]])
        .map(char::from)
        .collect()
}

/// Decodes an even number of digits; `None` for anything else.
pub fn decode(input: &[u8]) -> Option<Vec<u8>> {
    if !input.len().is_multiple_of(2) {
        return None;
    }
    input.chunks_exact(2).map(|pair| Some((digit(pair[0])? << 4) | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_lower_case_and_decodes_either_case() {
        assert_eq!(encode(&[0, 0xab, 0xff]), "00abff");
        assert_eq!(decode(b"00aBFf"), Some(vec![0, 0xab, 0xff]));
        assert_eq!(decode(b"abc"), None);
        assert_eq!(decode(b"0g"), None);
    }
}
