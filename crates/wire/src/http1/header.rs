//! Header lines (RFC 9112 §5): cutting them out of what was received, and taking one apart.

/// Collects received bytes and hands out whole lines.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    start: usize,
    /// Up to here no line feed was found, so that a slow peer does not make the search quadratic.
    searched: usize,
}

/// A line longer than its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl LineBuffer {
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

    /// Mutable view of what has not been taken yet, for decoding in place.
    pub fn rest_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }

    /// Marks `n` bytes of the rest as taken. Large storage is given back once it is empty.
    pub fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.bytes.len());
        self.searched = self.start;
        if self.start == self.bytes.len() {
            self.start = 0;
            self.searched = 0;
            self.bytes.clear();
            if self.bytes.capacity() > 65536 {
                self.bytes = Vec::new();
            }
        }
    }

    /// The next line with its line feed, or `None` when it is not complete yet. At most `budget`
    /// bytes are kept for a line that does not end.
    pub fn line(&mut self, budget: usize) -> Result<Option<Vec<u8>>, TooLarge> {
        let from = self.searched.max(self.start);
        match self.bytes[from..].iter().position(|b| *b == b'\n') {
            Some(at) => {
                let end = from + at + 1;
                if end - self.start > budget {
                    return Err(TooLarge);
                }
                let line = self.bytes[self.start..end].to_vec();
                self.consume(end - self.start);
                Ok(Some(line))
            }
            None => {
                self.searched = self.bytes.len();
                if self.rest().len() > budget {
                    return Err(TooLarge);
                }
                Ok(None)
            }
        }
    }
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
        let colon = line.iter().position(|b| *b == b':')?;
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
    fn fields() {
        let h = HeaderLine::parse(b"Connection:  Keep-Alive, Upgrade \r\n").unwrap();
        assert!(h.is("connection") && h.has_token("upgrade") && !h.has_token("keep"));
        assert_eq!(h.value, b"Keep-Alive, Upgrade");
        assert!(HeaderLine::parse(b"no colon\r\n").is_none());
    }
}
