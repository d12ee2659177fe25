//! Header lines (RFC 9112 §5): cutting them out of what was received, and taking one apart.

use memchr::{memchr, memchr3};

/// Collects received bytes and hands out whole lines.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    start: usize,
    /// Up to here no end of a line or field was found, so that a slow peer does not make the search quadratic.
    searched: usize,
}

/// More storage than this is given back once it is empty.
const LARGE: usize = 65_536;

/// A line longer than its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl LineBuffer {
    /// An empty one that fills storage used before.
    pub fn with_storage(mut bytes: Vec<u8>) -> LineBuffer {
        bytes.clear();
        LineBuffer { bytes, start: 0, searched: 0 }
    }

    /// The storage, empty, for another one.
    pub fn into_storage(mut self) -> Vec<u8> {
        self.bytes.clear();
        self.bytes
    }

    /// Adds what was received.
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
            self.searched = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// What has not been taken yet.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Marks `n` bytes of the rest as taken. Large storage is given back once it is empty.
    pub fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.bytes.len());
        self.searched = self.start;
        if self.start == self.bytes.len() {
            self.start = 0;
            self.searched = 0;
            self.bytes.clear();
            if self.bytes.capacity() > LARGE {
                self.bytes = Vec::new();
            }
        }
    }

    /// The next line with its line feed, or `None` when it is not complete yet. At most `budget`
    /// bytes are kept for a line that does not end.
    pub fn line(&mut self, budget: usize) -> Result<Option<Vec<u8>>, TooLarge> {
        let Some(len) = self.line_len(budget)? else { return Ok(None) };
        let line = self.rest()[..len].to_vec();
        self.consume(len);
        Ok(Some(line))
    }

    /// How many bytes of the rest are its first line. The line stays where it is until it is consumed.
    pub fn line_len(&mut self, budget: usize) -> Result<Option<usize>, TooLarge> {
        let end = memchr(b'\n', &self.bytes[self.searched..]).map(|at| self.searched + at + 1);
        self.searched = end.map_or(self.bytes.len(), |end| end - 1);
        self.within(budget, end)
    }

    /// How many bytes of the rest are its first field: a line and those that continue it, which is not known
    /// before the line after them has begun (RFC 9112 §5.2). An empty line is not continued.
    pub fn field_len(&mut self, budget: usize) -> Result<Option<usize>, TooLarge> {
        loop {
            let Some(at) = memchr(b'\n', &self.bytes[self.searched..]) else {
                self.searched = self.bytes.len();
                return self.within(budget, None);
            };
            let end = self.searched + at + 1;
            match self.bytes.get(end) {
                _ if is_empty_line(&self.bytes[self.start..end]) => return self.within(budget, Some(end)),
                // Found again with what comes next.
                None => {
                    self.searched = end - 1;
                    return self.within(budget, None);
                }
                Some(b' ' | b'\t') => self.searched = end,
                Some(_) => {
                    self.searched = end - 1;
                    return self.within(budget, Some(end));
                }
            }
        }
    }

    fn within(&self, budget: usize, end: Option<usize>) -> Result<Option<usize>, TooLarge> {
        let len = end.unwrap_or(self.bytes.len()) - self.start;
        if len > budget { Err(TooLarge) } else { Ok(end.map(|_| len)) }
    }
}

/// Whether a line is the one that ends a head.
pub fn is_empty_line(line: &[u8]) -> bool {
    matches!(line, b"\r\n" | b"\n")
}

/// A line without its ending.
pub fn text_of(line: &[u8]) -> &[u8] {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Whether a part of a head is one line without any octet that readers understand in different ways, as nearly all are.
pub fn is_plain(part: &[u8]) -> bool {
    memchr3(0, b'\r', b'\n', text_of(part)).is_none()
}

/// One header line taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderLine<'a> {
    /// Field name, as received.
    pub name: &'a [u8],
    /// Field value without surrounding blanks.
    pub value: &'a [u8],
}

impl<'a> HeaderLine<'a> {
    /// Splits at the first colon; `None` for a line without one.
    pub fn parse(line: &'a [u8]) -> Option<HeaderLine<'a>> {
        let colon = memchr(b':', line)?;
        Some(HeaderLine { name: line[..colon].trim_ascii_end(), value: line[colon + 1..].trim_ascii() })
    }

    /// Compares the name without case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Whether a comma-separated value holds this token (without case).
    pub fn has_token(&self, token: &str) -> bool {
        self.value.split(|b| *b == b',').any(|t| t.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_arrive_in_any_pieces() {
        let text = b"HTTP/1.1 200 OK\r\nA: b\n\r\nbody";
        for cut in 0..text.len() {
            let mut b = LineBuffer::default();
            let mut lines = Vec::new();
            for piece in [&text[..cut], &text[cut..]] {
                b.extend(piece);
                while lines.len() < 3 {
                    match b.line(100).unwrap() {
                        Some(l) => lines.push(l),
                        None => break,
                    }
                }
            }
            assert_eq!(lines, [b"HTTP/1.1 200 OK\r\n".to_vec(), b"A: b\n".to_vec(), b"\r\n".to_vec()]);
            assert_eq!(b.rest(), b"body");
        }
    }

    #[test]
    fn a_line_has_a_budget() {
        let mut b = LineBuffer::default();
        b.extend(&[b'x'; 101]);
        assert_eq!(b.line(100), Err(TooLarge));
    }

    #[test]
    fn a_field_has_all_its_lines() {
        let text = b"A: b\r\n c\r\n\td\r\nE: f\n\r\n body";
        for cut in 0..text.len() {
            let mut b = LineBuffer::default();
            let mut fields = Vec::new();
            for piece in [&text[..cut], &text[cut..]] {
                b.extend(piece);
                while fields.last().is_none_or(|last: &Vec<u8>| !is_empty_line(last))
                    && let Some(len) = b.field_len(100).unwrap()
                {
                    fields.push(b.rest()[..len].to_vec());
                    b.consume(len);
                }
            }
            let expected = [&b"A: b\r\n c\r\n\td\r\n"[..], b"E: f\n", b"\r\n"];
            assert_eq!(fields, expected, "cut at {cut}");
            assert_eq!(b.rest(), b" body");
        }
    }

    #[test]
    fn a_field_has_a_budget() {
        let mut b = LineBuffer::default();
        b.extend(b"A: b\r\n");
        for _ in 0..14 {
            assert_eq!(b.field_len(100), Ok(None));
            b.extend(b" more\r\n");
        }
        assert_eq!(b.field_len(100), Err(TooLarge));
    }

    #[test]
    fn what_is_plain() {
        for plain in [&b"A: b\r\n"[..], b"A: b\n", b"\r\n", b"A: b"] {
            assert!(is_plain(plain), "{plain:?}");
        }
        for odd in [&b"A: b\r\n c\r\n"[..], b"A: b\n c\n", b"A\0: b\r\n", b"A: b\r\r\n", b"A:\rb\n"] {
            assert!(!is_plain(odd), "{odd:?}");
        }
    }

    #[test]
    fn fields() {
        let h = HeaderLine::parse(b"Connection:  Keep-Alive, Upgrade \r\n").unwrap();
        assert!(h.is("connection") && h.has_token("upgrade") && !h.has_token("keep"));
        assert_eq!(h.value, b"Keep-Alive, Upgrade");
        assert!(HeaderLine::parse(b"no colon\r\n").is_none());
    }
}
