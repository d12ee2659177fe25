//! URL globbing: `{a,b}`, `[1-10:2]`, `[a-z]`, named as in `{<day>mon,tue}`, and `#1` or `#<day>` in output
//! names.
//!
//! See curl(1), "Globbing". Brackets around an IPv6 address, and empty ones, are no globs.

use crate::bytes::Bytes;
use crate::numbers::leading;
use std::net::Ipv6Addr;

/// More patterns than this in one URL are refused.
const MOST_PATTERNS: usize = 256;
const MOST_ITEMS: usize = 100_000;
const LONGEST_NAME: usize = 64;
const LONGEST_ADDRESS: usize = 127;
/// Error texts are cut off here, as in curl.
const LONGEST_ERROR: usize = 511;
const LONGEST_OUTPUT: usize = 1 << 20;

/// Why a pattern is wrong, and where; a position of 0 means nowhere in particular.
#[derive(Debug, PartialEq, Eq)]
pub struct GlobError {
    pub text: &'static str,
    pub position: usize,
    pub code: i32,
}

impl GlobError {
    /// Returns curl's text, with a mark below the place.
    pub fn shown(&self, pattern: &[u8]) -> String {
        let (text, position) = (self.text, self.position);
        if position == 0 {
            return text.to_string();
        }
        let pattern = String::from_utf8_lossy(pattern);
        let blanks = " ".repeat((position - 1).max(1));
        let mut shown = format!("{text} in position {position}:\n{pattern}\n{blanks}^");
        while shown.len() > LONGEST_ERROR {
            shown.pop();
        }
        shown
    }
}

fn wrong<T>(text: &'static str, position: usize) -> Result<T, GlobError> {
    Err(GlobError { text, position, code: 3 })
}

#[derive(Clone, Debug)]
struct Pattern {
    kind: Kind,
    /// Counted from one; none for the text between globs.
    number: Option<usize>,
    name: Option<Bytes>,
}

#[derive(Clone, Debug)]
enum Kind {
    Items { items: Vec<Bytes>, at: usize },
    Letters { first: u8, last: u8, step: u8, at: u8 },
    Numbers { first: i64, last: i64, step: i64, at: i64, digits: usize },
}

impl Kind {
    fn text(&self) -> Bytes {
        match self {
            Kind::Items { items, at } => items[*at].clone(),
            Kind::Letters { at, .. } => vec![*at],
            Kind::Numbers { at, digits, .. } => format!("{at:0digits$}").into_bytes(),
        }
    }

    /// Moves to the next value; false when it wraps around to the first.
    fn advance(&mut self) -> bool {
        match self {
            Kind::Items { items, at } => {
                *at = (*at + 1) % items.len();
                *at != 0
            }
            Kind::Letters { first, last, step, at } => {
                let next = u16::from(*at) + u16::from(*step);
                let more = next <= u16::from(*last);
                *at = if more { next as u8 } else { *first };
                more
            }
            Kind::Numbers { first, last, step, at, .. } => {
                let more = *at <= *last - *step;
                *at = if more { *at + *step } else { *first };
                more
            }
        }
    }
}

/// A parsed pattern and its current combination.
#[derive(Clone, Debug)]
pub struct Glob {
    patterns: Vec<Pattern>,
    started: bool,
    /// How many combinations there are.
    pub count: i64,
}

impl Glob {
    pub fn parse(text: &[u8]) -> Result<Glob, GlobError> {
        let glob = Glob { patterns: Vec::new(), started: false, count: 1 };
        let mut reader = Reader { text, at: 0, position: 1, glob, globs: 0 };
        reader.all()?;
        Ok(reader.glob)
    }

    /// The next combination, the rightmost glob changing fastest.
    pub fn next_text(&mut self) -> Option<Bytes> {
        if self.started {
            let moved = self.patterns.iter_mut().rev().any(|pattern| pattern.kind.advance());
            if !moved {
                return None;
            }
        }
        self.started = true;
        Some(self.patterns.iter().flat_map(|pattern| pattern.kind.text()).collect())
    }

    fn named(&self, name: &[u8]) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.name.as_deref() == Some(name))
    }

    fn numbered(&self, number: i64) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.number.is_some_and(|own| own as i64 == number))
    }

    fn multiply(&mut self, by: i64, position: usize) -> Result<(), GlobError> {
        match self.count.checked_mul(by) {
            Some(count) => {
                self.count = count;
                Ok(())
            }
            None => wrong("range overflow", position),
        }
    }
}

/// Returns whether a text has anything that is special to [`Glob::parse`], even a mistake.
pub fn may_be_one(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b'\\'))
}

/// Fills `#1` and `#<name>` in an output name; `upload` may define further names.
pub fn output_name(template: &[u8], url: Option<&Glob>, upload: Option<&Glob>) -> Result<Bytes, GlobError> {
    let mut out = Bytes::with_capacity(template.len());
    let mut rest = template;
    while let Some((first, tail)) = rest.split_first() {
        let found = if *first == b'#' { reference(template, tail, url, upload)? } else { None };
        match found {
            Some((text, after)) => {
                out.extend(text);
                rest = after;
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
        if out.len() > LONGEST_OUTPUT {
            return Err(GlobError { text: "output glob too long", position: 0, code: 27 });
        }
    }
    Ok(out)
}

/// Returns the value of a reference, and the rest; an unknown number is plain text.
fn reference<'t>(
    template: &[u8],
    tail: &'t [u8],
    url: Option<&Glob>,
    upload: Option<&Glob>,
) -> Result<Option<(Bytes, &'t [u8])>, GlobError> {
    if let Some((number, after)) = leading(tail, i64::MAX) {
        let pattern = url.and_then(|glob| glob.numbered(number));
        return Ok(pattern.map(|pattern| (pattern.kind.text(), after)));
    }
    let Some(inside) = tail.strip_prefix(b"<") else { return Ok(None) };
    let Some(length) = inside.iter().take(LONGEST_NAME + 1).position(|byte| *byte == b'>') else {
        return Ok(None);
    };
    let (name, after) = (&inside[..length], &inside[length + 1..]);
    if name.is_empty() {
        return Ok(None);
    }
    let in_url = url.and_then(|glob| glob.named(name));
    match in_url.or_else(|| upload.and_then(|glob| glob.named(name))) {
        Some(pattern) => Ok(Some((pattern.kind.text(), after))),
        None => {
            let position = template.len() - after.len();
            Err(GlobError { text: "no glob exists with this name", position, code: 43 })
        }
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// Counted as curl does, for its error messages: a closing brace does not count.
    position: usize,
    glob: Glob,
    globs: usize,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn all(&mut self) -> Result<(), GlobError> {
        while self.at < self.text.len() {
            let literal = self.literal()?;
            if !literal.is_empty() {
                self.push(Kind::Items { items: vec![literal], at: 0 }, None, None)?;
            } else if let Some(open) = self.peek(0) {
                self.glob(open)?;
            }
        }
        Ok(())
    }

    fn glob(&mut self, open: u8) -> Result<(), GlobError> {
        self.at += 1;
        self.position += 1;
        let name = self.name()?;
        let kind = if open == b'{' { self.items()? } else { self.range()? };
        self.globs += 1;
        self.push(kind, Some(self.globs), name)
    }

    fn push(&mut self, kind: Kind, number: Option<usize>, name: Option<Bytes>) -> Result<(), GlobError> {
        self.glob.patterns.push(Pattern { kind, number, name });
        if self.glob.patterns.len() >= MOST_PATTERNS {
            return wrong("too many {} sets", self.position);
        }
        Ok(())
    }

    /// Text up to the next glob.
    fn literal(&mut self) -> Result<Bytes, GlobError> {
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|octet| b"{[".contains(octet)).unwrap_or(rest.len());
        let mut out = Bytes::with_capacity(end);
        while let Some(byte) = self.peek(0) {
            match byte {
                b'{' => break,
                b'[' => match self.no_glob() {
                    0 => break,
                    length => {
                        out.extend(&self.text[self.at..self.at + length]);
                        self.at += length;
                        continue;
                    }
                },
                b'}' | b']' => return wrong("unmatched close brace/bracket", self.position),
                b'\\' if self.peek(1).is_some_and(|next| b"{}[]".contains(&next)) => {
                    self.at += 1;
                    self.position += 1;
                }
                _ => {}
            }
            out.push(self.text[self.at]);
            self.at += 1;
            self.position += 1;
        }
        Ok(out)
    }

    /// The length of `[]` or of an address in brackets, or 0.
    fn no_glob(&self) -> usize {
        let rest = &self.text[self.at..];
        let Some(close) = rest.iter().take(LONGEST_ADDRESS).position(|byte| *byte == b']') else {
            return 0;
        };
        let inside = std::str::from_utf8(&rest[1..close]).unwrap_or("x");
        let address = inside.split_once('%').map_or(inside, |(address, _)| address);
        if inside.is_empty() || address.parse::<Ipv6Addr>().is_ok() { close + 1 } else { 0 }
    }

    fn name(&mut self) -> Result<Option<Bytes>, GlobError> {
        if self.peek(0) != Some(b'<') {
            return Ok(None);
        }
        let inside = &self.text[self.at + 1..];
        let length = inside.iter().take(LONGEST_NAME + 1).position(|byte| *byte == b'>');
        let Some(length) = length.filter(|length| *length > 0) else { return Ok(None) };
        let name = inside[..length].to_vec();
        self.at += length + 2;
        if self.glob.named(&name).is_some() {
            return wrong("Duplicate glob name", self.at);
        }
        self.position += length + 2;
        Ok(Some(name))
    }

    fn items(&mut self) -> Result<Kind, GlobError> {
        let mut items = Vec::new();
        let mut item = Bytes::new();
        let start = self.at;
        loop {
            let Some(byte) = self.peek(0) else { return wrong("unmatched brace", self.position) };
            match byte {
                b'{' | b'[' => return wrong("nested brace", self.position),
                b']' => return wrong("unexpected close bracket", self.position),
                b'}' if self.at == start => return wrong("empty string within braces", self.position),
                b'}' | b',' => {
                    items.push(std::mem::take(&mut item));
                    self.at += 1;
                    if items.len() > MOST_ITEMS {
                        return wrong("range overflow", 0);
                    }
                    if byte == b'}' {
                        self.glob.multiply(items.len() as i64, 0)?;
                        return Ok(Kind::Items { items, at: 0 });
                    }
                }
                _ => {
                    if byte == b'\\' && self.peek(1).is_some() {
                        self.at += 1;
                        self.position += 1;
                    }
                    item.push(self.text[self.at]);
                    self.at += 1;
                }
            }
            self.position += 1;
        }
    }

    fn range(&mut self) -> Result<Kind, GlobError> {
        match self.peek(0) {
            Some(byte) if byte.is_ascii_alphabetic() => self.letters(),
            Some(byte) if byte.is_ascii_digit() => self.numbers(),
            _ => wrong("bad range specification", self.position),
        }
    }

    fn letters(&mut self) -> Result<Kind, GlobError> {
        let rest = &self.text[self.at..];
        let (Some(first), Some(b'-'), Some(last)) = (self.peek(0), self.peek(1), self.peek(2)) else {
            return wrong("bad range", self.position);
        };
        let (step, length) = match rest.get(3) {
            Some(b']') => (1, 4),
            Some(b':') => match leading(&rest[4..], 255) {
                Some((step, after)) if after.starts_with(b"]") => (step as u8, rest.len() - after.len() + 1),
                _ => (0, 4),
            },
            _ => (0, 0),
        };
        self.position += length;
        let span = last.wrapping_sub(first);
        let sound = first <= last
            && span <= b'z' - b'a'
            && step > 0
            && (if span == 0 { step == 1 } else { step <= span });
        if !sound {
            return wrong("bad range", self.position);
        }
        self.at += length;
        self.glob.multiply(i64::from(span / step) + 1, self.position)?;
        Ok(Kind::Letters { first, last, step, at: first })
    }

    fn numbers(&mut self) -> Result<Kind, GlobError> {
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = if rest[0] == b'0' { digits } else { 0 };
        let (first, last, step, after) = match number_range(rest) {
            Ok(range) => range,
            Err(unread) => return wrong("bad range", self.position + rest.len() - unread.len()),
        };
        let length = rest.len() - after.len();
        self.at += length;
        self.position += length;
        let span = last - first;
        let sound = span >= 0 && step > 0 && (if span == 0 { step == 1 } else { step <= span });
        if !sound || digits > LONGEST_ADDRESS {
            return wrong("bad range", self.position);
        }
        if i64::MAX - step < last {
            return wrong("range end/step overflow", self.position);
        }
        self.glob.multiply(span / step + 1, self.position)?;
        Ok(Kind::Numbers { first, last, step, at: first, digits })
    }
}

/// Parses `from-to]` or `from-to:step]`; an error is the text from the first invalid character.
fn number_range(text: &[u8]) -> Result<(i64, i64, i64, &[u8]), &[u8]> {
    let number = |text| leading(text, i64::MAX).ok_or(text);
    let (first, rest) = number(text)?;
    let rest = rest.strip_prefix(b"-").ok_or(rest)?;
    let (last, rest) = number(rest.trim_ascii_start())?;
    if let Some(after) = rest.strip_prefix(b"]") {
        return Ok((first, last, 1, after));
    }
    let (step, rest) = number(rest.strip_prefix(b":").ok_or(rest)?)?;
    Ok((first, last, step, rest.strip_prefix(b"]").ok_or(rest)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::dice::Dice;

    fn all(text: &str) -> Vec<String> {
        let mut glob = Glob::parse(text.as_bytes()).unwrap();
        let mut found = Vec::new();
        while let Some(text) = glob.next_text() {
            found.push(String::from_utf8(text).unwrap());
        }
        assert_eq!(found.len() as i64, glob.count, "{text}");
        found
    }

    #[test]
    fn sets_ranges_and_their_product() {
        assert_eq!(all("x{a,b,}"), ["xa", "xb", "x"]);
        assert_eq!(all("[1-3]"), ["1", "2", "3"]);
        assert_eq!(all("[001-3]"), ["001", "002", "003"]);
        assert_eq!(all("[0-10:5]"), ["0", "5", "10"]);
        assert_eq!(all("[a-e:2]"), ["a", "c", "e"]);
        assert_eq!(all("{a,b}[1-2]"), ["a1", "a2", "b1", "b2"]);
        assert_eq!(all("[5-5]"), ["5"]);
        assert_eq!(all("plain"), ["plain"]);
    }

    #[test]
    fn escapes_and_ipv6_addresses_are_no_globs() {
        assert_eq!(all("http://[::1]:80/[]"), ["http://[::1]:80/[]"]);
        assert_eq!(all("http://[fe80::1%25eth0]/"), ["http://[fe80::1%25eth0]/"]);
        assert_eq!(all("\\{a\\}"), ["{a}"]);
        assert_eq!(all("{a\\,b,c}"), ["a,b", "c"]);
    }

    #[test]
    fn wrong_patterns() {
        let error = |text: &str| Glob::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error("{a"), GlobError { text: "unmatched brace", position: 3, code: 3 });
        assert_eq!(error("a}").text, "unmatched close brace/bracket");
        assert_eq!(error("{}").text, "empty string within braces");
        assert_eq!(error("{a{b}}").text, "nested brace");
        assert_eq!(error("{a]").text, "unexpected close bracket");
        // The position is after the valid part.
        for (text, position) in
            [("[0", 3), ("[0-", 4), ("[01-x]", 5), ("[0-6:x]", 6), ("[1-99999999999999999999]", 4)]
        {
            assert_eq!((error(text).text, error(text).position), ("bad range", position), "{text}");
        }
        assert_eq!(error("[a-").text, "bad range");
        assert_eq!(error("[2-1]").text, "bad range");
        assert_eq!(error("[1-2:9]").text, "bad range");
        assert_eq!(error("[a-c:0]").text, "bad range");
        assert_eq!(error("[-]").text, "bad range specification");
        assert_eq!(error("[1-9223372036854775807:2]").text, "range end/step overflow");
        assert_eq!(error("[1-9223372036854775806][1-9]").text, "range overflow");
        let many = format!("http://testingthis/{}{{a}}", "{a}b".repeat(127));
        assert_eq!(error(&many), GlobError { text: "too many {} sets", position: 403, code: 3 });
    }

    #[test]
    fn output_names() {
        let mut glob = Glob::parse(b"http://{<day>mon,tue}/[1-2]").unwrap();
        glob.next_text();
        let name = |text: &str| {
            output_name(text.as_bytes(), Some(&glob), None).map(|n| String::from_utf8(n).unwrap())
        };
        assert_eq!(name("#1-#2.#3").unwrap(), "mon-1.#3");
        assert_eq!(name("#<day>#").unwrap(), "mon#");
        assert_eq!(name("a#<no>b").unwrap_err().position, 6);
        assert_eq!(name("#<").unwrap(), "#<");
    }

    #[test]
    fn errors_are_shown_with_a_mark() {
        let error = GlobError { text: "bad range", position: 3, code: 3 };
        assert_eq!(error.shown(b"[x-"), "bad range in position 3:\n[x-\n  ^");
    }

    /// For odd patterns, the result is an error with a printable text, or as many combinations as announced,
    /// each with a name.
    #[test]
    fn odd_patterns() {
        const SCRAPS: [&[u8]; 24] = [
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b"-",
            b":",
            b"\\",
            b"<",
            b">",
            b"#",
            b"a",
            b"z",
            b"0",
            b"9",
            b"{a,b}",
            b"[1-3]",
            b"[a-c:2]",
            b"{<n>x,y}",
            b"[09223372036854775806-9223372036854775807]",
            b"[::1]",
            b"#<n>",
            b"\xff",
            b"",
        ];
        let mut dice = Dice::new(0x9E37_79B9_7F4A_7C15);
        let mut piece =
            || (0..dice.roll(9)).flat_map(|_| SCRAPS[dice.roll(SCRAPS.len())]).copied().collect::<Bytes>();
        for _ in 0..30_000 {
            let (pattern, template) = (piece(), piece());
            let mut glob = match Glob::parse(&pattern) {
                Ok(glob) => glob,
                Err(error) => {
                    assert!(error.code > 0 && error.shown(&pattern).len() <= LONGEST_ERROR);
                    continue;
                }
            };
            let few = glob.count.min(500);
            for _ in 0..few {
                assert!(glob.next_text().is_some(), "{pattern:?}");
                let _ = output_name(&template, Some(&glob), None);
            }
            assert_eq!(glob.next_text().is_some(), glob.count > few, "{pattern:?}");
        }
    }
}
