//! Byte ranges (RFC 9110 §14) that a cache answers from a stored response, whole or partial (RFC 9111 §3.3).
//! `parts` combines several.

use super::{Field, first};

/// The one range that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From a first position to a last one, or to the end.
    From { first: u64, last: Option<u64> },
    /// The last bytes, at most this many.
    Suffix(u64),
}

/// The positions in Content-Range, both inclusive, and the length of the whole if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentRange {
    pub first: u64,
    pub last: u64,
    pub complete: Option<u64>,
}

/// A stored response as far as ranges are concerned.
#[derive(Clone, Copy, Debug)]
pub struct RangeSource<'a> {
    pub status: u16,
    pub fields: &'a [Field],
    /// The length of the stored body; `None` if it is not stored.
    pub length: Option<u64>,
    /// The value of the Range field that this response answered.
    pub answered: Option<&'a [u8]>,
}

/// The bytes of a stored body that answer a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The response as it is stored.
    Whole,
    /// A 206 with these bytes.
    Part {
        /// Where they begin in the stored body.
        offset: u64,
        range: ContentRange,
    },
    /// A 200 with all of this many bytes, made of stored parts.
    Complete(u64),
}

impl ByteRange {
    /// Parses a Range field; `None` unless it names one range of bytes.
    pub fn parse(value: &[u8]) -> Option<ByteRange> {
        let equals = value.iter().position(|byte| *byte == b'=')?;
        let (unit, set) = (&value[..equals], value[equals + 1..].trim_ascii());
        let dash =
            set.iter().position(|byte| *byte == b'-').filter(|_| unit.eq_ignore_ascii_case(b"bytes"))?;
        let (first, last) = (&set[..dash], &set[dash + 1..]);
        match (first.is_empty(), last.is_empty()) {
            (true, _) => Some(ByteRange::Suffix(position(last)?)),
            (false, true) => Some(ByteRange::From { first: position(first)?, last: None }),
            (false, false) => {
                let (first, last) = (position(first)?, position(last)?);
                (first <= last).then_some(ByteRange::From { first, last: Some(last) })
            }
        }
    }

    /// Returns the range of a request; `None` if there is none, or not exactly one.
    pub fn of(request: &[Field]) -> Option<ByteRange> {
        ByteRange::parse(&super::value(request, "Range")?)
    }

    /// Returns first and last position within a whole of this length; `None` if it is not satisfiable, or
    /// depends on a length that is unknown.
    pub(super) fn resolve(self, complete: Option<u64>) -> Option<(u64, u64)> {
        let end = complete.map(|length| length.checked_sub(1));
        match (self, end) {
            (_, Some(None)) | (ByteRange::Suffix(0), _) => None,
            (ByteRange::From { first, last }, Some(Some(end))) => {
                (first <= end).then(|| (first, last.unwrap_or(end).min(end)))
            }
            (ByteRange::Suffix(count), Some(Some(end))) => Some((end - (count - 1).min(end), end)),
            (ByteRange::From { first, last }, None) => Some((first, last?)),
            (ByteRange::Suffix(_), None) => None,
        }
    }
}

impl ContentRange {
    /// Parses a Content-Range of bytes; `None` if it is invalid (RFC 9110 §14.4) or names no positions.
    pub fn parse(value: &[u8]) -> Option<ContentRange> {
        let space = value.iter().position(|byte| *byte == b' ')?;
        let (unit, rest) = (&value[..space], value[space..].trim_ascii());
        let slash =
            rest.iter().position(|byte| *byte == b'/').filter(|_| unit.eq_ignore_ascii_case(b"bytes"))?;
        let (positions, complete) = (&rest[..slash], &rest[slash + 1..]);
        let dash = positions.iter().position(|byte| *byte == b'-')?;
        let (first, last) = (position(&positions[..dash])?, position(&positions[dash + 1..])?);
        let complete = if complete == b"*" { None } else { Some(position(complete)?) };
        let valid = first <= last && complete.is_none_or(|complete| last < complete);
        valid.then_some(ContentRange { first, last, complete })
    }

    /// Returns the positions of a 206 with one part; `None` if it does not name them once.
    pub fn of(reply: &[Field]) -> Option<ContentRange> {
        ContentRange::parse(&super::value(reply, "Content-Range")?)
    }

    fn text(self) -> String {
        let complete = self.complete.map_or_else(|| "*".to_owned(), |complete| complete.to_string());
        format!("bytes {}-{}/{complete}", self.first, self.last)
    }

    fn length(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }
}

/// Parses a position or a length: digits only.
fn position(digits: &[u8]) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| plain)?.parse().ok()
}

/// Returns the bytes of a stored response that answer a request with this Range field, or with none. `None`
/// if it cannot answer.
///
/// A response other than 200 and 206 is served whole: only the result 200 has ranges (RFC 9110 §14.2). A
/// request equal to the one that a 206 answered gets that reply, whatever its Content-Range leaves open.
pub fn select(asked: Option<&[u8]>, stored: RangeSource) -> Option<Selection> {
    let Some(asked) = asked else { return (stored.status != 206).then_some(Selection::Whole) };
    if stored.status != 200 && stored.status != 206 || stored.answered == Some(asked) {
        return Some(Selection::Whole);
    }
    let (range, length) = (ByteRange::parse(asked)?, stored.length?);
    let (begin, complete) = match stored.status {
        206 => ContentRange::of(stored.fields).map(|part| (part.first, part.complete))?,
        _ => (0, Some(length)),
    };
    let (first, last) = range.resolve(complete)?;
    // Only bytes that are there: a body may be shorter than its Content-Range says.
    let within = first >= begin && last.checked_sub(begin)? < length;
    let range = ContentRange { first, last, complete };
    within.then(|| Selection::Part { offset: first - begin, range })
}

/// Returns whether a 206 of this length may be stored: it has one part, and no more bytes than it names.
pub fn is_part(reply: &[Field], length: u64) -> bool {
    ContentRange::of(reply).is_some_and(|part| (1..=part.length()).contains(&length))
}

impl Selection {
    /// Returns where the bytes begin in the stored body, and how many they are, given its length.
    pub fn bytes(self, stored: u64) -> (u64, u64) {
        match self {
            Selection::Whole => (0, stored),
            Selection::Part { offset, range } => (offset, range.length()),
            Selection::Complete(length) => (0, length),
        }
    }

    /// Returns the status line of the answer.
    pub fn status_line(self, stored: &[u8]) -> Vec<u8> {
        let (code, phrase) = match self {
            Selection::Whole => return stored.to_vec(),
            Selection::Part { .. } => ("206", "Partial Content"),
            Selection::Complete(_) => ("200", "OK"),
        };
        let version = stored.split(|byte| *byte == b' ').next().unwrap_or_default();
        // From HTTP/2 on there is no phrase.
        let phrase = if version.starts_with(b"HTTP/1") { phrase } else { "" };
        [version, b" ", code.as_bytes(), b" ", phrase.as_bytes()].concat()
    }

    /// Returns the fields of the answer. Digests of the stored content do not fit a part of it.
    pub fn fields(self, stored: &[Field]) -> Vec<Field> {
        const OF_THE_CONTENT: [&str; 4] =
            ["Content-Length", "Content-Range", "Content-MD5", "Content-Digest"];
        let (range, length) = match self {
            Selection::Whole => return stored.to_vec(),
            Selection::Part { range, .. } => (Some(range.text()), range.length()),
            Selection::Complete(length) => (None, length),
        };
        let other = |name: &[u8]| !OF_THE_CONTENT.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()));
        let mut fields: Vec<Field> = stored.iter().filter(|(name, _)| other(name)).cloned().collect();
        fields.extend(range.map(|range| (b"Content-Range".to_vec(), range.into_bytes())));
        fields.push((b"Content-Length".to_vec(), length.to_string().into_bytes()));
        fields
    }
}

/// Least distance of Last-Modified and Date, in seconds, of a strong date (RFC 9110 §8.8.2.2): the server's
/// clocks may differ by less.
const STRONG_AFTER_S: i64 = 60;

/// Returns whether the validators of a response are strong, as ranges need it: equal ones mean equal bytes.
pub fn has_strong_validator(reply: &[Field]) -> bool {
    if let Some(tag) = first(reply, "ETag") {
        return tag.starts_with(b"\"");
    }
    let date = |name| first(reply, name).and_then(crate::date::parse);
    let (Some(changed), Some(sent)) = (date("Last-Modified"), date("Date")) else { return false };
    sent - changed >= STRONG_AFTER_S
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(content_range: &str) -> Vec<Field> {
        vec![(b"content-range".to_vec(), content_range.as_bytes().to_vec())]
    }

    #[test]
    fn ranges_of_requests() {
        let from = |first, last| Some(ByteRange::From { first, last });
        for (text, range) in [
            ("bytes=0-1", from(0, Some(1))),
            ("BYTES= 5- ", from(5, None)),
            ("bytes=-7", Some(ByteRange::Suffix(7))),
            ("bytes=3-3", from(3, Some(3))),
            ("bytes=18446744073709551615-", from(u64::MAX, None)),
            ("bytes=18446744073709551616-", None),
            ("bytes=4-3", None),
            ("bytes=0-1,4-5", None),
            ("bytes=0-1, ", None),
            ("bytes=-", None),
            ("bytes=", None),
            ("bytes", None),
            ("bytes=+1-2", None),
            ("bytes=1--2", None),
            ("items=0-1", None),
            ("", None),
        ] {
            assert_eq!(ByteRange::parse(text.as_bytes()), range, "{text}");
        }
    }

    #[test]
    fn positions_of_replies() {
        let of = |first, last, complete| Some(ContentRange { first, last, complete });
        for (text, range) in [
            ("bytes 0-4/10", of(0, 4, Some(10))),
            ("Bytes 4-9/*", of(4, 9, None)),
            ("bytes 4-9/9", None),
            ("bytes 5-4/10", None),
            ("bytes */10", None),
            ("bytes 0-4", None),
            ("bytes 0-4/10, bytes 5-9/10", None),
            ("items 0-4/10", None),
            ("bytes=0-4/10", None),
            ("", None),
        ] {
            assert_eq!(ContentRange::of(&fields(text)), range, "{text}");
        }
        assert_eq!(of(0, 4, Some(10)).unwrap().text(), "bytes 0-4/10");
        assert_eq!(of(4, 9, None).unwrap().text(), "bytes 4-9/*");
        for (length, storable) in [(0, false), (1, true), (5, true), (6, false)] {
            assert_eq!(is_part(&fields("bytes 0-4/10"), length), storable, "{length}");
        }
        assert!(is_part(&fields("bytes 0-18446744073709551615/*"), 5));
    }

    /// Status, Content-Range and length of what is stored; requested range; offset, first, last, complete.
    #[test]
    fn parts_of_stored_bodies() {
        let part = |offset, first, last, complete| {
            Some(Selection::Part { offset, range: ContentRange { first, last, complete } })
        };
        let whole = Some(Selection::Whole);
        for (status, stored, length, asked, expected) in [
            (200, "", 11, "bytes=0-1", part(0, 0, 1, Some(11))),
            (200, "", 11, "bytes=1-", part(1, 1, 10, Some(11))),
            (200, "", 11, "bytes=-1", part(10, 10, 10, Some(11))),
            (200, "", 11, "bytes=-99", part(0, 0, 10, Some(11))),
            (200, "", 11, "bytes=5-99", part(5, 5, 10, Some(11))),
            (200, "", 11, "bytes=11-", None),
            (200, "", 11, "bytes=-0", None),
            (200, "", 0, "bytes=0-", None),
            (200, "", 11, "bytes=0-1,3-4", None),
            (200, "", 11, "", whole),
            (404, "", 11, "bytes=0-1", whole),
            (301, "", 0, "bytes=0-1", whole),
            (206, "bytes 4-9/10", 6, "", None),
            (206, "bytes 4-9/10", 6, "bytes=4-9", part(0, 4, 9, Some(10))),
            (206, "bytes 4-9/10", 6, "bytes=6-8", part(2, 6, 8, Some(10))),
            (206, "bytes 4-9/10", 6, "bytes=6-", part(2, 6, 9, Some(10))),
            (206, "bytes 4-9/10", 6, "bytes=-1", part(5, 9, 9, Some(10))),
            (206, "bytes 4-9/10", 6, "bytes=-7", None),
            (206, "bytes 4-9/10", 6, "bytes=3-8", None),
            (206, "bytes 4-9/10", 6, "bytes=0-2", None),
            (206, "bytes 4-8/10", 5, "bytes=6-", None),
            (206, "bytes 4-9/*", 6, "bytes=6-8", part(2, 6, 8, None)),
            (206, "bytes 4-9/*", 6, "bytes=6-", None),
            (206, "bytes 4-9/*", 6, "bytes=-2", None),
            // Shorter than it says: the last byte is missing.
            (206, "bytes 4-9/10", 5, "bytes=6-8", part(2, 6, 8, Some(10))),
            (206, "bytes 4-9/10", 5, "bytes=6-9", None),
            (206, "bytes 4-9/10", 5, "bytes=-1", None),
            (206, "bytes 4-9/10", 6, "bytes=-6", whole),
        ] {
            let fields = fields(stored);
            let source =
                RangeSource { status, fields: &fields, length: Some(length), answered: Some(b"bytes=-6") };
            let asked = Some(asked.as_bytes()).filter(|asked| !asked.is_empty());
            assert_eq!(select(asked, source), expected, "{status} {stored} {length} {asked:?}");
            let missing = RangeSource { length: None, answered: None, ..source };
            let served = asked.is_none() && status == 200 || status > 206;
            assert_eq!(select(asked, missing), served.then_some(Selection::Whole), "{status} {asked:?}");
        }
    }

    #[test]
    fn heads_of_parts() {
        let range = ContentRange { first: 2, last: 4, complete: Some(9) };
        let part = Selection::Part { offset: 2, range };
        assert_eq!(part.bytes(9), (2, 3));
        assert_eq!(Selection::Whole.bytes(9), (0, 9));
        assert_eq!(part.status_line(b"HTTP/1.1 200 OK"), b"HTTP/1.1 206 Partial Content");
        assert_eq!(part.status_line(b"HTTP/2 200 "), b"HTTP/2 206 ");
        assert_eq!(Selection::Whole.status_line(b"HTTP/2 404 "), b"HTTP/2 404 ");
        let complete = Selection::Complete(9);
        assert_eq!(complete.bytes(4), (0, 9));
        assert_eq!(complete.status_line(b"HTTP/1.1 206 Partial Content"), b"HTTP/1.1 200 OK");
        assert_eq!(complete.status_line(b"HTTP/2 206 "), b"HTTP/2 200 ");
        let pair = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let stored = [pair("content-length", "9"), pair("ETag", "\"a\""), pair("Content-MD5", "x")];
        let expected =
            [pair("ETag", "\"a\""), pair("Content-Range", "bytes 2-4/9"), pair("Content-Length", "3")];
        assert_eq!(part.fields(&stored), expected);
        assert_eq!(Selection::Whole.fields(&stored), stored);
        let of_a_part = [pair("content-range", "bytes 2-4/9"), pair("ETag", "\"a\"")];
        assert_eq!(complete.fields(&of_a_part), [pair("ETag", "\"a\""), pair("Content-Length", "9")]);
    }

    #[test]
    fn strong_validators() {
        let late = "Sun, 06 Nov 1994 08:50:37 GMT";
        for (tag, changed, date, strong) in [
            ("\"a\"", "", "", true),
            ("W/\"a\"", "Sun, 06 Nov 1994 08:00:00 GMT", late, false),
            ("", "Sun, 06 Nov 1994 08:49:37 GMT", late, true),
            ("", "Sun, 06 Nov 1994 08:49:38 GMT", late, false),
            ("", "Sun, 06 Nov 1994 08:49:37 GMT", "", false),
            ("", "never", late, false),
            ("", "", late, false),
        ] {
            let all = [("ETag", tag), ("Last-Modified", changed), ("Date", date)];
            let given = all.iter().filter(|(_, value)| !value.is_empty());
            let pair = |(name, value): &(&str, &str)| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
            let fields: Vec<Field> = given.map(pair).collect();
            assert_eq!(has_strong_validator(&fields), strong, "{all:?}");
        }
    }
}
