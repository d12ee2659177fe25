//! References in style sheets: `url()` and `@import` (CSS Syntax Level 3, sections 4.3.4 to 4.3.6).

use std::ops::Range;

/// Returns the places of all references, without quotes.
pub fn references(text: &[u8]) -> Vec<Range<usize>> {
    let mut scanner = Scanner { text, at: 0, after_import: false, found: Vec::new() };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.found
}

/// Returns the reference at a place: escapes become their characters.
pub fn value(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'\\' {
            out.push(first);
            continue;
        }
        let (escape, tail) = rest.split_at(escape_length(rest));
        rest = tail;
        let digits = escape.trim_ascii_end();
        if digits.first().is_some_and(u8::is_ascii_hexdigit) {
            let number = std::str::from_utf8(digits).ok().and_then(|hex| u32::from_str_radix(hex, 16).ok());
            let c = number.and_then(char::from_u32).filter(|c| *c != '\0');
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else if escape != b"\n" {
            out.extend_from_slice(escape); // a line that continues has no character
        }
    }
    out
}

/// Returns how long the escape after a backslash is: up to six digits and a blank, or one octet.
fn escape_length(rest: &[u8]) -> usize {
    let digits = rest.iter().take(6).take_while(|octet| octet.is_ascii_hexdigit()).count();
    let blank = usize::from(digits > 0 && rest.get(digits).is_some_and(u8::is_ascii_whitespace));
    if digits > 0 { digits + blank } else { rest.len().min(1) }
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether the next string is what `@import` names.
    after_import: bool,
    found: Vec<Range<usize>>,
}

impl Scanner<'_> {
    /// Reads one token.
    fn step(&mut self) {
        let rest = &self.text[self.at..];
        match rest[0] {
            b'/' if rest.starts_with(b"/*") => {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                self.at = end.map_or(self.text.len(), |end| self.at + end + 4);
            }
            b'"' | b'\'' => {
                let string = self.string();
                if std::mem::take(&mut self.after_import) {
                    self.found.push(string);
                }
            }
            b'@' => {
                self.at += 1;
                let word = self.word();
                self.after_import = self.text[word].eq_ignore_ascii_case(b"import");
            }
            b'\\' => self.at += 1 + escape_length(&rest[1..]),
            first if is_of_name(first) => {
                let word = self.word();
                if self.text[word].eq_ignore_ascii_case(b"url") && self.text.get(self.at) == Some(&b'(') {
                    self.at += 1;
                    self.url();
                }
                self.after_import = false;
            }
            first => {
                self.after_import &= first.is_ascii_whitespace();
                self.at += 1;
            }
        }
    }

    fn word(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += self.text[start..].iter().take_while(|octet| is_of_name(**octet)).count();
        start..self.at
    }

    /// Reads a string up to its quote, or to the end of its line if it has none.
    fn string(&mut self) -> Range<usize> {
        let quote = self.text[self.at];
        let start = self.at + 1;
        let mut end = start;
        while let Some(&octet) = self.text.get(end) {
            match octet {
                _ if octet == quote => {
                    self.at = end + 1;
                    return start..end;
                }
                b'\n' => break,
                b'\\' => end += 1 + escape_length(&self.text[end + 1..]),
                _ => end += 1,
            }
        }
        self.at = end.min(self.text.len());
        start..self.at
    }

    /// Reads what is between the parentheses of `url()`.
    fn url(&mut self) {
        self.blanks();
        match self.text.get(self.at) {
            Some(b'"' | b'\'') => {
                let string = self.string();
                self.found.push(string);
            }
            _ => {
                let start = self.at;
                while let Some(&octet) = self.text.get(self.at) {
                    match octet {
                        b')' => break,
                        b'\\' => self.at += 1 + escape_length(&self.text[self.at + 1..]),
                        _ if octet.is_ascii_whitespace() => break,
                        _ => self.at += 1,
                    }
                }
                self.at = self.at.min(self.text.len());
                self.found.push(start..self.at);
            }
        }
    }

    fn blanks(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|octet| octet.is_ascii_whitespace()).count();
    }
}

fn is_of_name(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_') || !octet.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found() {
        for (sheet, expected) in [
            ("a { background: url(x.png) }", &["x.png"][..]),
            ("a{background:URL( 'x y.png' )no-repeat}", &["x y.png"]),
            ("@import \"a.css\" screen; b { content: \"c.css\" }", &["a.css"]),
            ("@import url(a.css); @import/**/'b.css';", &["a.css", "b.css"]),
            ("/* url(no) @import 'no' */ c { d: url(yes) }", &["yes"]),
            ("a { content: 'url(no)' }", &[]),
            ("@font-face { src: url(f.woff2) format(\"woff2\"), url(f.woff) }", &["f.woff2", "f.woff"]),
            ("@namespace \"no\"; @charset 'no'; @import screen 'no'", &[]),
            ("a { b: url(x\\29 y\\).png) }", &["x)y).png"]),
            ("a { b: url(data:image/png;base64,AA==) }", &["data:image/png;base64,AA=="]),
            ("my-url(no) url (no)", &[]),
            ("url(", &[""]),
            ("url('open", &["open"]),
            ("url(x\\", &["x"]),
            ("/*", &[]),
        ] {
            let found: Vec<String> = references(sheet.as_bytes())
                .into_iter()
                .map(|place| String::from_utf8(value(&sheet.as_bytes()[place])).unwrap())
                .collect();
            assert_eq!(found, expected, "{sheet}");
        }
    }
}
