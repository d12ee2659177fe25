//! Base64 (RFC 4648 §4) as key files and known_hosts have it.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub use wire::base64::encode;

/// `None` for anything else; the padding may be left away.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|b| *b != b'=').map_or(0, |at| at + 1);
    let digits = &text[..end];
    if text.len() - end > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let mut n = 0u32;
        for digit in chunk {
            n = n << 6 | DIGITS.iter().position(|d| d == digit)? as u32;
        }
        n <<= 6 * (4 - chunk.len());
        out.extend_from_slice(&n.to_be_bytes()[1..chunk.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648 §10.
    #[test]
    fn there_and_back() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode(b"Z"), None);
        assert_eq!(decode(b"Zg!="), None);
    }
}
