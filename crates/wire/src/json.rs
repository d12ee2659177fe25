//! A writer of JSON texts (RFC 8259).
//!
//! A text is written from front to back into one buffer; no tree of values is made. Strings are bytes: a
//! sequence that is not UTF-8 passes unchanged, as in curl.

use std::fmt::Display;
use std::io::Write as _;

/// Writes one JSON text. Commas are put where they are needed; the caller pairs keys with values.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    /// The innermost object or array has a member already.
    has_member: bool,
    /// The next member or closing bracket begins on a new line.
    breaks_line: bool,
}

impl Writer {
    /// Writes an object, with the members that `members` writes.
    pub fn object(&mut self, members: impl FnOnce(&mut Writer)) {
        self.bracketed(b'{', members, b'}');
    }

    /// Writes an array, with the values that `items` writes.
    pub fn array(&mut self, items: impl FnOnce(&mut Writer)) {
        self.bracketed(b'[', items, b']');
    }

    /// Writes the name of a member; its value must follow.
    pub fn key(&mut self, name: impl AsRef<[u8]>) -> &mut Writer {
        self.text(name);
        self.out.push(b':');
        self.has_member = false;
        self
    }

    /// Writes a string.
    pub fn text(&mut self, text: impl AsRef<[u8]>) {
        self.separate();
        self.out.push(b'"');
        escape_into(text.as_ref(), &mut self.out);
        self.out.push(b'"');
    }

    /// Writes a number as it is displayed: an integer, or a fraction with its number of digits chosen by
    /// `format_args!`.
    pub fn number(&mut self, number: impl Display) {
        self.separate();
        let _ = write!(self.out, "{number}"); // a Vec takes all
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.number(value);
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.number("null");
    }

    /// Writes a value that is JSON already.
    pub fn json(&mut self, value: &str) {
        self.number(value);
    }

    /// Begins a new line before the next member, or before the bracket that closes the object or array.
    pub fn line(&mut self) {
        self.breaks_line = true;
    }

    /// Returns the text.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Returns the text with each sequence of bytes that is not UTF-8 replaced.
    pub fn into_string(self) -> String {
        String::from_utf8(self.out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }

    fn bracketed(&mut self, open: u8, inside: impl FnOnce(&mut Writer), close: u8) {
        self.separate();
        self.out.push(open);
        self.has_member = false;
        inside(self);
        self.end_line();
        self.out.push(close);
        self.has_member = true;
    }

    fn separate(&mut self) {
        if self.has_member {
            self.out.push(b',');
        }
        self.end_line();
        self.has_member = true;
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.breaks_line) {
            self.out.push(b'\n');
        }
    }
}

/// Returns the inside of a JSON string.
pub fn escape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    escape_into(text, &mut out);
    out
}

fn escape_into(text: &[u8], out: &mut Vec<u8>) {
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
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_members() {
        let mut json = Writer::default();
        json.object(|json| {
            json.key("a").number(1);
            json.key("b").array(|json| {
                json.text("x");
                json.object(|_| {});
                json.array(|json| json.null());
                json.boolean(true);
            });
            json.key("c").object(|json| json.key("d").number(format_args!("{:.2}", 0.5)));
            json.key("e").text("");
        });
        let expected = r#"{"a":1,"b":["x",{},[null],true],"c":{"d":0.50},"e":""}"#;
        assert_eq!(json.into_string(), expected);
    }

    #[test]
    fn lines_break_before_members_and_closing_brackets() {
        let mut json = Writer::default();
        json.array(|json| {
            json.line();
            json.number(1);
            json.line();
            json.object(|json| json.line());
            json.line();
        });
        assert_eq!(json.finish(), b"[\n1,\n{\n}\n]");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(
            escape(b"A\"\\\x01\x08\x0c\n\r\t\x1f\x7f/"),
            b"A\\\"\\\\\\u0001\\b\\f\\n\\r\\t\\u001f\x7f/"
        );
        let mut json = Writer::default();
        json.object(|json| json.key(b"\n\"").text(b"\xff\xc3\xa9"));
        assert_eq!(json.finish(), b"{\"\\n\\\"\":\"\xff\xc3\xa9\"}");
    }

    #[test]
    fn text_that_is_not_utf_8_is_replaced_on_demand() {
        let mut json = Writer::default();
        json.text(b"a\xff");
        assert_eq!(json.into_string(), "\"a\u{fffd}\"");
    }
}
