//! Base64 (RFC 4648 sections 4 and 5).

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes with the standard alphabet and padding.
pub fn encode(input: &[u8]) -> String {
    encode_with(STANDARD, input, true)
}

/// Encodes with the alphabet for URLs, without padding.
pub fn encode_url(input: &[u8]) -> String {
    encode_with(URL_SAFE, input, false)
}

/// Decodes the standard alphabet, padded to a multiple of four and without white space. Returns `None` for
/// anything else.
pub fn decode(input: &[u8]) -> Option<Vec<u8>> {
    if input.is_empty() || !input.len().is_multiple_of(4) {
        return None;
    }
    decode_unpadded(input)
}

/// Decodes the standard alphabet. The padding is optional, and an empty text is an empty value. Key files and
/// `known_hosts` use this form.
pub fn decode_unpadded(input: &[u8]) -> Option<Vec<u8>> {
    let padding = input.iter().rev().take_while(|&&character| character == b'=').count();
    let (digits, _) = input.split_at(input.len() - padding);
    if padding > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &character in group {
            bits = (bits << 6) | value(character)?;
        }
        let octets = (bits << (6 * (4 - group.len()))).to_be_bytes();
        out.extend_from_slice(&octets[1..group.len()]);
    }
    Some(out)
}

fn encode_with(alphabet: &[u8; 64], input: &[u8], pads: bool) -> String {
    let mut out = String::with_capacity(input.len().div_ceil(3) * 4);
    for group in input.chunks(3) {
        let mut octets = [0; 4];
        octets[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(octets);
        for position in 0..=group.len() {
            let index = (bits >> (18 - 6 * position)) & 63;
            out.push(char::from(alphabet[index as usize]));
        }
        if pads {
            (group.len()..3).for_each(|_| out.push('='));
        }
    }
    out
}

fn value(character: u8) -> Option<u32> {
    let value = match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_the_rfc() {
        let rows = [
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, encoded) in rows {
            assert_eq!(encode(plain.as_bytes()), encoded);
            assert_eq!(decode(encoded.as_bytes()).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(encode(b""), "");
        assert_eq!(encode(&[0xfb, 0xff]), "+/8=");
        assert_eq!(encode_url(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn refuses_what_is_not_base64() {
        for input in ["", "A", "AA", "AAA", "A===", "====", "AA=A", "AAA\n", "AA-_", "=AAA", "Zg==Zg=="] {
            assert_eq!(decode(input.as_bytes()), None, "{input}");
        }
    }

    #[test]
    fn padding_may_be_left_out_where_the_caller_says_so() {
        for (plain, encoded) in [("", ""), ("f", "Zg"), ("f", "Zg=="), ("fo", "Zm8"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(decode_unpadded(encoded.as_bytes()).as_deref(), Some(plain.as_bytes()), "{encoded}");
        }
        for input in ["Z", "Zg===", "Zg!=", "Zm9vY"] {
            assert_eq!(decode_unpadded(input.as_bytes()), None, "{input}");
        }
    }
}
