//! Small conversions of text: URL escapes, JSON strings, and text that is safe for a terminal.

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

/// Makes several lines safe, and keeps their ends.
pub fn harmless_lines(lines: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(lines).replace('\t', " ");
    let keep = |c: char| if c.is_control() && !matches!(c, '\r' | '\n') { '?' } else { c };
    text.chars().map(keep).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

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
