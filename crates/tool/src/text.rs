//! Small conversions of text: URL escapes, and text that is safe for a terminal.

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
    fn control_characters_are_replaced() {
        assert_eq!(harmless("a\x1b[31m\u{9b}0m\r\né"), "a?[31m?0m??é");
        assert_eq!(harmless_lines(b"X: a\x1bb\tc\r\nY\x07\n"), b"X: a?b c\r\nY?\n");
        assert_eq!(harmless_lines(b"\x9b\xff"), "\u{fffd}\u{fffd}".as_bytes());
    }

    #[test]
    fn escapes() {
        assert_eq!(url_escape(b"a b/\xff~"), b"a%20b%2F%FF~");
    }
}
