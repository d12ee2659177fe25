//! Small conversions of text: URL escapes, JSON strings, base64, and what a terminal may be shown.

/// Percent-encodes everything but letters, digits and `-._~`.
pub fn url_escape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte);
        } else {
            out.extend(format!("%{byte:02X}").bytes());
        }
    }
    out
}

/// The inside of a JSON string, perhaps in lower case.
pub fn json_escape(text: &[u8], lower: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    for &byte in text {
        match byte {
            b'\\' => out.extend(b"\\\\"),
            b'"' => out.extend(b"\\\""),
            0x08 => out.extend(b"\\b"),
            0x0c => out.extend(b"\\f"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0..=0x1f => out.extend(format!("\\u{byte:04x}").bytes()),
            _ if lower => out.push(byte.to_ascii_lowercase()),
            _ => out.push(byte),
        }
    }
    out
}

/// Text for a terminal: control characters, of which escapes are made, become question marks.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Several lines, which keep their ends.
pub fn harmless_lines(lines: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(lines).replace('\t', " ");
    let keep = |c: char| if c.is_control() && !matches!(c, '\r' | '\n') { '?' } else { c };
    text.chars().map(keep).collect::<String>().into_bytes()
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn base64(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len().div_ceil(3) * 4);
    for chunk in data.chunks(3) {
        let word =
            chunk.iter().enumerate().fold(0u32, |word, (at, byte)| word | u32::from(*byte) << (16 - 8 * at));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= chunk.len() { letter } else { b'=' });
        }
    }
    out
}

/// Undoes [`base64`]; none for anything that is not exactly such a text.
pub fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let letters = &text[..text.len() - padding.min(2)];
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in letters.chunks(4) {
        let mut word = 0u32;
        for (place, letter) in chunk.iter().enumerate() {
            let value = LETTERS.iter().position(|known| known == letter)?;
            word |= (value as u32) << (18 - 6 * place);
        }
        let bytes = word.to_be_bytes();
        out.extend(&bytes[1..chunk.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_there_and_back() {
        for text in ["f", "fo", "foo", "foob"] {
            let coded = base64(text.as_bytes());
            assert_eq!(from_base64(&coded).unwrap(), text.as_bytes());
        }
        assert_eq!(base64(b"fo"), b"Zm8=");
        assert!(from_base64(b"Zm8").is_none());
        assert!(from_base64(b"====").is_none());
        assert!(from_base64(b"Z*8=").is_none());
    }

    #[test]
    fn a_terminal_is_not_told_what_to_do() {
        assert_eq!(harmless("a\x1b[31m\u{9b}0m\r\né"), "a?[31m?0m??é");
        assert_eq!(harmless_lines(b"X: a\x1bb\tc\r\nY\x07\n"), b"X: a?b c\r\nY?\n");
        assert_eq!(harmless_lines(b"\x9b\xff"), "\u{fffd}\u{fffd}".as_bytes());
    }

    #[test]
    fn escapes() {
        assert_eq!(url_escape(b"a b/\xff~"), b"a%20b%2F%FF~");
        assert_eq!(json_escape(b"A\"\x01", true), b"a\\\"\\u0001");
    }
}
