//! Header lines (RFC 9112 §5): cutting them out of received bytes, and parsing them.

use memchr::{memchr, memchr3};

/// Collects received bytes and returns whole lines.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    start: usize,
    /// Up to here no end of a line or field was found, so that a slow peer does not make the search
    /// quadratic.
    searched: usize,
    /// The part before that is not plain.
    odd: bool,
}

/// Larger storage is freed once it is empty.
const LARGE: usize = 65_536;

/// A line longer than its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl LineBuffer {
    /// An empty one that fills storage used before.
    pub fn with_storage(mut bytes: Vec<u8>) -> LineBuffer {
        bytes.clear();
        LineBuffer { bytes, ..LineBuffer::default() }
    }

    /// The storage, empty, for another one.
    pub fn into_storage(mut self) -> Vec<u8> {
        self.bytes.clear();
        self.bytes
    }

    /// Returns whether it holds neither bytes nor storage.
    pub fn has_no_storage(&self) -> bool {
        self.bytes.capacity() == 0
    }

    /// Appends received bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
            self.searched = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the unconsumed bytes.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Moves as many unconsumed bytes to `buf` as fit.
    pub fn take_into(&mut self, buf: &mut [u8]) -> usize {
        let n = self.rest().len().min(buf.len());
        buf[..n].copy_from_slice(&self.rest()[..n]);
        self.consume(n);
        n
    }

    /// Consumes `n` bytes. Large storage is freed once it is empty.
    pub fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.bytes.len());
        (self.searched, self.odd) = (self.start, false);
        if self.start == self.bytes.len() {
            self.start = 0;
            self.searched = 0;
            self.bytes.clear();
            if self.bytes.capacity() > LARGE {
                self.bytes = Vec::new();
            }
        }
    }

    /// Drops all but the first `n` bytes of the rest.
    pub fn truncate_rest(&mut self, n: usize) {
        self.bytes.truncate(self.start + n);
        self.searched = self.searched.min(self.bytes.len());
    }

    /// Returns the next line with its line feed, or `None` if it is incomplete. At most `budget` bytes are
    /// kept for an incomplete line.
    pub fn line(&mut self, budget: usize) -> Result<Option<Vec<u8>>, TooLarge> {
        let Some(part) = self.line_part(budget)? else { return Ok(None) };
        let line = self.rest()[..part.len].to_vec();
        self.consume(part.len);
        Ok(Some(line))
    }

    /// The first line of the rest. It stays where it is until it is consumed.
    pub fn line_part(&mut self, budget: usize) -> Result<Option<Part>, TooLarge> {
        if !self.search_line() {
            return self.incomplete(budget);
        }
        self.found(budget)
    }

    /// Returns the first field: a line and its continuation lines. Its end is known only when the following
    /// line has begun (RFC 9112 §5.2). An empty line is not continued.
    pub fn field_part(&mut self, budget: usize) -> Result<Option<Part>, TooLarge> {
        while self.search_line() {
            let end = self.searched;
            match self.bytes.get(end) {
                _ if ends_head(&self.bytes[self.start..end]) => return self.found(budget),
                Some(b' ' | b'\t') => self.odd = true,
                Some(_) => return self.found(budget),
                // The line feed is found again when more input arrives.
                None => {
                    self.searched = end - 1;
                    break;
                }
            }
        }
        self.incomplete(budget)
    }

    /// Advances the search past the next line feed, if there is one. The same pass notices unusual octets.
    fn search_line(&mut self) -> bool {
        while let Some(at) = memchr3(0, b'\r', b'\n', &self.bytes[self.searched..]) {
            let at = self.searched + at;
            match (self.bytes[at], self.bytes.get(at + 1)) {
                (b'\n', _) => {
                    self.searched = at + 1;
                    return true;
                }
                (b'\r', Some(b'\n')) => {
                    self.searched = at + 2;
                    return true;
                }
                (b'\r', None) => {
                    self.searched = at;
                    return false;
                }
                _ => {
                    self.odd = true;
                    self.searched = at + 1;
                }
            }
        }
        self.searched = self.bytes.len();
        false
    }

    /// Returns what ends at the search position. Until it is consumed, the next call finds it again.
    fn found(&mut self, budget: usize) -> Result<Option<Part>, TooLarge> {
        let len = self.searched - self.start;
        self.searched -= 1;
        if len > budget { Err(TooLarge) } else { Ok(Some(Part { len, plain: !self.odd })) }
    }

    fn incomplete(&self, budget: usize) -> Result<Option<Part>, TooLarge> {
        if self.rest().len() > budget { Err(TooLarge) } else { Ok(None) }
    }
}

/// A line or a field at the front of the received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its length with its line endings.
    pub len: usize,
    /// It is one line without any octet that readers understand in different ways, as nearly all are.
    pub plain: bool,
}

/// Returns whether a line ends a head: the empty line and, as in curl, any line that starts with a line
/// ending.
pub fn ends_head(line: &[u8]) -> bool {
    matches!(line, [b'\r' | b'\n', ..])
}

/// A line without its ending.
pub fn text_of(line: &[u8]) -> &[u8] {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// An octet that different readers read in different ways; the texts are curl's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadOctet {
    Nul,
    /// A carriage return that ends no line.
    CarriageReturn,
}

impl BadOctet {
    /// curl's words for it.
    pub fn text(self) -> &'static str {
        match self {
            BadOctet::Nul => "Nul byte in header",
            BadOctet::CarriageReturn => "Carriage return found in header",
        }
    }
}

/// Splits behind the first line and its end.
pub fn split_line(lines: &[u8]) -> (&[u8], &[u8]) {
    lines.split_at(memchr(b'\n', lines).map_or(lines.len(), |at| at + 1))
}

/// Looks for such octets in a line.
pub fn check_octets(line: &[u8]) -> Result<(), BadOctet> {
    let text = text_of(line);
    if text.contains(&0) {
        return Err(BadOctet::Nul);
    }
    if text.contains(&b'\r') { Err(BadOctet::CarriageReturn) } else { Ok(()) }
}

/// A header line taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderLine<'a> {
    /// Field name, as received.
    pub name: &'a [u8],
    /// Field value without surrounding blanks.
    pub value: &'a [u8],
}

impl<'a> HeaderLine<'a> {
    /// Splits at the first colon; `None` for a line without one. A blank before the colon is part of the
    /// name, so the field matches none: parsers that skip it and parsers that do not would see different
    /// messages (RFC 9112 §5.1).
    pub fn parse(line: &'a [u8]) -> Option<HeaderLine<'a>> {
        let colon = memchr(b':', line)?;
        Some(HeaderLine { name: &line[..colon], value: line[colon + 1..].trim_ascii() })
    }

    /// Compares the name without case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Returns whether a comma-separated value contains this token (ignoring case).
    pub fn has_token(&self, token: &str) -> bool {
        self.value.split(|b| *b == b',').any(|t| t.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }
}

/// A header line of an application's own: "Name: value", "Name:", which takes a field away, or "Name;", which
/// asks for an empty one. The value is empty for the second form and `None` for the third. A line without a
/// name is no field.
pub fn own_line(line: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    if let Some(name) = line.strip_suffix(b";").filter(|name| !name.iter().any(|b| matches!(b, b':' | b';')))
    {
        return (!name.is_empty()).then(|| (name.trim_ascii_end(), None));
    }
    let at = line.iter().position(|b| *b == b':').filter(|at| *at > 0)?;
    Some((line[..at].trim_ascii_end(), Some(line[at + 1..].trim_ascii())))
}

/// Joins a line with one that continues it (RFC 9112 section 5.2), with one blank in the place of all around
/// the break.
pub fn continue_line(line: &mut Vec<u8>, more: &[u8]) {
    line.truncate(line.trim_ascii_end().len());
    line.push(b' ');
    let text = more.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(more.len());
    line.extend_from_slice(&more[text..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_an_application() {
        assert_eq!(own_line(b"A: b "), Some((&b"A"[..], Some(&b"b"[..]))));
        assert_eq!(own_line(b"A:"), Some((&b"A"[..], Some(&b""[..]))));
        assert_eq!(own_line(b"A;"), Some((&b"A"[..], None)));
        assert_eq!(own_line(b"A;b: c"), Some((&b"A;b"[..], Some(&b"c"[..]))));
        assert_eq!(own_line(b"A:;"), Some((&b"A"[..], Some(&b";"[..]))));
        for nothing in [&b": b"[..], b"A; b", b"A; ", b"nothing", b";", b":", b""] {
            assert_eq!(own_line(nothing), None);
        }
    }

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
                while fields.last().is_none_or(|last: &Vec<u8>| !ends_head(last))
                    && let Some(part) = b.field_part(100).unwrap()
                {
                    fields.push(b.rest()[..part.len].to_vec());
                    b.consume(part.len);
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
            assert_eq!(b.field_part(100), Ok(None));
            b.extend(b" more\r\n");
        }
        assert_eq!(b.field_part(100), Err(TooLarge));
    }

    #[test]
    fn plain_fields_are_recognised() {
        let plain = |text: &[u8]| {
            // All at once and byte by byte must give the same result.
            let (mut whole, mut slow) = (LineBuffer::default(), LineBuffer::default());
            whole.extend(text);
            text.iter().for_each(|byte| {
                assert_eq!(slow.field_part(100), Ok(None));
                slow.extend(&[*byte]);
            });
            let part = whole.field_part(100).unwrap().unwrap();
            assert_eq!((slow.field_part(100), part.len), (Ok(Some(part)), text.len() - 1), "{text:?}");
            part.plain
        };
        for text in [&b"A: b\r\nC"[..], b"A: b\nC"] {
            assert!(plain(text), "{text:?}");
        }
        for text in [&b"A: b\r\n c\r\nC"[..], b"A: b\n\tc\nC", b"A\0: b\r\nC", b"A: b\r\r\nC", b"A:\rb\nC"] {
            assert!(!plain(text), "{text:?}");
        }
        let mut b = LineBuffer::default();
        b.extend(b"A\0: b\r\nC: d\r\n\r\n");
        let odd = b.field_part(100).unwrap().unwrap();
        b.consume(odd.len);
        assert!(!odd.plain && b.field_part(100).unwrap().unwrap().plain);
    }

    #[test]
    fn fields() {
        let h = HeaderLine::parse(b"Connection:  Keep-Alive, Upgrade \r\n").unwrap();
        assert!(h.is("connection") && h.has_token("upgrade") && !h.has_token("keep"));
        assert_eq!(h.value, b"Keep-Alive, Upgrade");
        assert!(HeaderLine::parse(b"no colon\r\n").is_none());
        assert!(!HeaderLine::parse(b"Content-Length : 5\r\n").unwrap().is("Content-Length"));
    }
}
