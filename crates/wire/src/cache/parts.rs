//! Stored parts of one content, combined (RFC 9111 §3.4, RFC 9110 §15.3.7.3): which bytes of an answer are
//! stored, and which range has to be requested.

use super::range::{ByteRange, ContentRange, RangeSource, has_strong_validator};
use super::{Field, first};

/// Where the bytes of a stored body lie in the whole content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBytes {
    /// Positions, both inclusive.
    pub first: u64,
    pub last: u64,
    /// The length of the whole content.
    pub complete: u64,
}

/// Bytes of one stored part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The index of the part.
    pub part: usize,
    /// Where the bytes begin in the body of the part.
    pub offset: u64,
    pub length: u64,
}

/// An answer made of stored parts: stored bytes, bytes to request, and stored bytes again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// The bytes of the answer.
    pub range: ContentRange,
    pub before: Vec<Piece>,
    /// First and last position of the bytes to request.
    pub missing: Option<(u64, u64)>,
    pub after: Vec<Piece>,
}

impl StoredBytes {
    /// Returns the positions of a stored body; `None` if it may not be combined with others: its validator is
    /// weak, or the length of the whole is unknown.
    pub fn of(stored: RangeSource) -> Option<StoredBytes> {
        let length = stored.length.filter(|length| *length > 0 && has_strong_validator(stored.fields))?;
        match stored.status {
            200 => Some(StoredBytes { first: 0, last: length - 1, complete: length }),
            206 => {
                let range = ContentRange::of(stored.fields)?;
                let last = range.last.min(range.first.checked_add(length - 1)?);
                Some(StoredBytes { first: range.first, last, complete: range.complete? })
            }
            _ => None,
        }
    }
}

/// Returns whether two responses have the same strong validator, so that their bytes are of one content.
pub fn are_of_one_content(one: &[Field], other: &[Field]) -> bool {
    let same = |name: &str| first(one, name) == first(other, name);
    let dates_decide = first(one, "ETag").is_none();
    has_strong_validator(one)
        && has_strong_validator(other)
        && same("ETag")
        && (!dates_decide || same("Last-Modified"))
}

/// Returns the If-Range field that asks for a part of this very content (RFC 9110 §13.1.5).
pub fn if_range(stored: &[Field]) -> Option<Field> {
    let validator = first(stored, "ETag").or_else(|| first(stored, "Last-Modified"));
    let validator = validator.filter(|_| has_strong_validator(stored))?;
    Some((b"If-Range".to_vec(), validator.to_vec()))
}

/// Combines stored parts of one content into the answer to a request with this Range field, or with none.
/// Returns `None` if no stored byte helps, or the range is not satisfiable.
///
/// One request fetches what is missing: from the first missing byte to the last, although bytes between them
/// may be stored.
pub fn assemble(asked: Option<&[u8]>, parts: &[StoredBytes]) -> Option<Assembly> {
    let complete = parts.first()?.complete;
    let (first, last) = match asked {
        Some(asked) => ByteRange::parse(asked)?.resolve(Some(complete))?,
        None => (0, complete.checked_sub(1)?),
    };
    let (before, next) = forward(parts, first, last);
    let range = ContentRange { first, last, complete: Some(complete) };
    if next > last {
        return Some(Assembly { range, before, missing: None, after: Vec::new() });
    }
    let (after, end) = backward(parts, next, last);
    let helps = !before.is_empty() || !after.is_empty();
    helps.then_some(Assembly { range, before, missing: Some((next, end)), after })
}

/// Returns stored pieces from `first` on without a gap, and the position behind them.
fn forward(parts: &[StoredBytes], first: u64, last: u64) -> (Vec<Piece>, u64) {
    let (mut pieces, mut next) = (Vec::new(), first);
    while next <= last {
        let covering = parts.iter().enumerate().filter(|(_, part)| part.first <= next && next <= part.last);
        let Some((index, part)) = covering.max_by_key(|(_, part)| part.last) else { break };
        let end = part.last.min(last);
        pieces.push(Piece { part: index, offset: next - part.first, length: end - next + 1 });
        next = end + 1;
    }
    (pieces, next)
}

/// Returns stored pieces that end at `last` without a gap, and the position before them. The byte at `first`
/// is not stored.
fn backward(parts: &[StoredBytes], first: u64, last: u64) -> (Vec<Piece>, u64) {
    let (mut pieces, mut end) = (Vec::new(), last);
    loop {
        let covering = parts.iter().enumerate().filter(|(_, part)| part.first <= end && end <= part.last);
        let Some((index, part)) = covering.min_by_key(|(_, part)| part.first) else { break };
        debug_assert!(first < part.first, "the byte at `first` is not stored");
        pieces.push(Piece { part: index, offset: 0, length: end - part.first + 1 });
        end = part.first - 1;
    }
    pieces.reverse();
    (pieces, end)
}

/// Returns whether a 206 has exactly the requested bytes of the content that a stored response has.
pub fn completes(stored: &[Field], missing: (u64, u64), complete: Option<u64>, answer: &[Field]) -> bool {
    let range = ContentRange { first: missing.0, last: missing.1, complete };
    let length = (missing.1 - missing.0).checked_add(1).map(|length| length.to_string());
    let announced = super::value(answer, "Content-Length");
    ContentRange::of(answer) == Some(range)
        && announced.as_deref() == length.as_deref().map(str::as_bytes)
        && are_of_one_content(stored, answer)
}

/// The consequence of a reply to a request for the rest of stored parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestVerdict {
    /// The reply has the missing bytes.
    Join,
    /// The stored parts are of no use; the request is sent again as it was made.
    Again,
    /// The reply answers the request itself.
    Accept,
}

/// Decides about the reply to a request for missing bytes. If the request was for the whole, a 200 is what it
/// wants; if it was for a range, the 200 to If-Range has too much.
pub fn rest_verdict(status: u16, asks_for_whole: bool, completes: bool) -> RestVerdict {
    match status {
        206 if completes => RestVerdict::Join,
        206 | 412 | 416 => RestVerdict::Again,
        200 if !asks_for_whole => RestVerdict::Again,
        _ => RestVerdict::Accept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[(&str, &str)]) -> Vec<Field> {
        lines.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn positions_of_stored_bodies() {
        let strong = ("ETag", "\"a\"");
        let of = |status, lines: &[(&str, &str)], length| {
            let fields = fields(lines);
            let found =
                StoredBytes::of(RangeSource { status, fields: &fields, length, answered: Some(b"bytes=0-") });
            found.map(|bytes| (bytes.first, bytes.last, bytes.complete))
        };
        for (status, lines, length, expected) in [
            (200, vec![strong], Some(9), Some((0, 8, 9))),
            (200, vec![strong], Some(0), None),
            (200, vec![strong], None, None),
            (200, vec![("ETag", "W/\"a\"")], Some(9), None),
            (404, vec![strong], Some(9), None),
            (206, vec![strong, ("Content-Range", "bytes 4-8/9")], Some(5), Some((4, 8, 9))),
            // Shorter than it says, and longer.
            (206, vec![strong, ("Content-Range", "bytes 4-8/9")], Some(3), Some((4, 6, 9))),
            (206, vec![strong, ("Content-Range", "bytes 4-8/9")], Some(7), Some((4, 8, 9))),
            (206, vec![strong, ("Content-Range", "bytes 4-8/*")], Some(5), None),
            (206, vec![strong], Some(5), None),
        ] {
            assert_eq!(of(status, &lines, length), expected, "{status} {lines:?} {length:?}");
        }
    }

    /// Each part is `first-last` of ten bytes. The answer is shown as `part@offset+length`, with the missing
    /// positions in brackets.
    #[test]
    fn answers_from_parts() {
        for (asked, parts, expected) in [
            ("bytes=0-9", "0-4 5-9", "0@0+5 1@0+5"),
            ("bytes=0-9", "5-9 0-4", "1@0+5 0@0+5"),
            ("bytes=2-7", "0-4 5-9", "0@2+3 1@0+3"),
            ("bytes=2-7", "0-5 3-9", "0@2+4 1@3+2"),
            ("bytes=2-7", "0-3 1-5 4-9", "1@1+4 2@2+2"),
            ("", "0-4 5-9", "0@0+5 1@0+5"),
            ("bytes=-3", "0-4 5-9", "1@2+3"),
            ("bytes=8-", "0-4 5-9", "1@3+2"),
            ("bytes=0-9", "0-4", "0@0+5 [5-9]"),
            ("bytes=0-9", "5-9", "[0-4] 0@0+5"),
            ("bytes=0-9", "0-2 7-9", "0@0+3 [3-6] 1@0+3"),
            ("bytes=1-8", "0-2 7-9", "0@1+2 [3-6] 1@0+2"),
            // One range covers all gaps, and the bytes between them.
            ("bytes=0-9", "0-1 4-5 8-9", "0@0+2 [2-7] 2@0+2"),
            ("bytes=0-9", "4-5", "none"),
            ("bytes=0-3", "4-5", "none"),
            ("bytes=0-9", "7-8 5-9 6-9", "[0-4] 1@0+5"),
            ("bytes=10-", "0-9", "none"),
            ("bytes=0-1,3-4", "0-9", "none"),
            ("", "", "none"),
        ] {
            let part = |text: &str| {
                let (first, last) = text.split_once('-').unwrap();
                StoredBytes { first: first.parse().unwrap(), last: last.parse().unwrap(), complete: 10 }
            };
            let parts: Vec<StoredBytes> = parts.split_whitespace().map(part).collect();
            let asked = Some(asked.as_bytes()).filter(|asked| !asked.is_empty());
            let shown = |pieces: &[Piece]| {
                let one = |piece: &Piece| format!("{}@{}+{}", piece.part, piece.offset, piece.length);
                pieces.iter().map(one).collect::<Vec<_>>()
            };
            let found = assemble(asked, &parts).map_or("none".to_owned(), |found| {
                let gap = found.missing.map(|(first, last)| format!("[{first}-{last}]"));
                [shown(&found.before), gap.into_iter().collect(), shown(&found.after)].concat().join(" ")
            });
            assert_eq!(found, expected, "{asked:?} {parts:?}");
        }
    }

    #[test]
    fn parts_of_one_content() {
        let (changed, date) = ("Sun, 06 Nov 1994 08:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT");
        let dated = [("Last-Modified", changed), ("Date", date)];
        let other = [("Last-Modified", "Sun, 06 Nov 1994 07:00:00 GMT"), ("Date", date)];
        for (one, two, expected) in [
            (vec![("ETag", "\"a\"")], vec![("ETag", "\"a\"")], true),
            (vec![("ETag", "\"a\"")], vec![("ETag", "\"b\"")], false),
            (vec![("ETag", "W/\"a\"")], vec![("ETag", "W/\"a\"")], false),
            (vec![("ETag", "\"a\"")], dated.to_vec(), false),
            (dated.to_vec(), dated.to_vec(), true),
            (dated.to_vec(), other.to_vec(), false),
            (vec![], vec![], false),
        ] {
            assert_eq!(are_of_one_content(&fields(&one), &fields(&two)), expected, "{one:?} {two:?}");
        }
        assert_eq!(if_range(&fields(&[("ETag", "\"a\"")])), fields(&[("If-Range", "\"a\"")]).pop());
        assert_eq!(if_range(&fields(&dated)), fields(&[("If-Range", changed)]).pop());
        assert_eq!(if_range(&fields(&[("ETag", "W/\"a\"")])), None);
    }

    #[test]
    fn replies_to_requests_for_the_rest() {
        use RestVerdict::{Accept, Again, Join};
        for (status, whole, completes, expected) in [
            (206, false, true, Join),
            (206, true, true, Join),
            (206, false, false, Again),
            (200, true, false, Accept),
            (200, false, false, Again),
            (412, true, false, Again),
            (416, true, false, Again),
            (404, false, false, Accept),
            (503, true, false, Accept),
            (301, false, false, Accept),
        ] {
            assert_eq!(rest_verdict(status, whole, completes), expected, "{status} {whole} {completes}");
        }
    }

    #[test]
    fn what_completes_stored_parts() {
        for (tag, range, length, expected) in [
            ("\"a\"", "bytes 3-6/10", "4", true),
            ("\"b\"", "bytes 3-6/10", "4", false),
            ("\"a\"", "bytes 3-5/10", "3", false),
            ("\"a\"", "bytes 3-6/11", "4", false),
            ("\"a\"", "bytes 3-6/*", "4", false),
            ("\"a\"", "bytes 3-6/10", "3", false),
            ("\"a\"", "bytes 3-6/10", "", false),
            ("\"a\"", "", "4", false),
        ] {
            let all = [("ETag", tag), ("Content-Range", range), ("Content-Length", length)];
            let given: Vec<_> = all.into_iter().filter(|(_, value)| !value.is_empty()).collect();
            let found = completes(&fields(&[("ETag", "\"a\"")]), (3, 6), Some(10), &fields(&given));
            assert_eq!(found, expected, "{all:?}");
        }
    }
}
