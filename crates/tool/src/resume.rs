//! `--retry-resume`: what the next attempt at a download requests, and whether its reply belongs to the
//! existing part.
//!
//! Pieces belong to one file if they have the same marks: over HTTP a strong ETag or else a strong
//! Last-Modified (RFC 9110, sections 8.8 and 13.1.5), in other protocols time and size. Without marks nothing
//! is combined.

use crate::bytes::Bytes;
use crate::raw::segments::{Answer, Marks};

/// The relation of a body to the existing part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// There is no existing part.
    First,
    /// It continues the existing part.
    Rest,
    /// The whole file: it replaces the existing part.
    Anew,
    /// Not a part of the file, but an error page.
    Unwanted,
    /// A piece of another version, or with another offset.
    Foreign,
}

/// The request of the next attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestRequest {
    /// From the beginning of the file.
    pub from: u64,
    pub to: Option<u64>,
    pub if_range: Option<Bytes>,
}

/// A download over its attempts.
#[derive(Clone, Debug, Default)]
pub struct Resumption {
    /// Start of the wanted range.
    from: u64,
    to: Option<u64>,
    /// Marks of the existing part.
    marks: Option<Marks>,
    /// Offset of this attempt, if it continues a part.
    asked: Option<u64>,
}

impl Resumption {
    /// Creates the resumption of a file from a position on, perhaps up to another.
    pub fn new(from: u64, to: Option<u64>) -> Resumption {
        Resumption { from, to, ..Resumption::default() }
    }

    /// Creates the resumption of a file of which another process has received a part with these marks.
    pub fn begun(from: u64, to: Option<u64>, marks: Marks) -> Resumption {
        let marks = Some(marks).filter(Marks::bind);
        Resumption { marks, ..Resumption::new(from, to) }
    }

    /// Returns the marks of the existing part.
    pub fn marks(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    /// Returns whether this attempt requested the rest.
    pub fn continues(&self) -> bool {
        self.asked.is_some()
    }

    /// Takes the answer, before the first byte of a body or at the end of one without any.
    pub fn answered(&mut self, answer: &Answer) -> Piece {
        let piece = self.judge(answer);
        match piece {
            Piece::First | Piece::Anew => {
                let whole = answer.status.is_none_or(|status| matches!(status, 200 | 206));
                self.marks = whole.then(|| answer.marks.clone()).filter(Marks::bind);
            }
            // 416: the file has become shorter.
            Piece::Foreign => self.marks = None,
            Piece::Unwanted if answer.status == Some(416) => self.marks = None,
            Piece::Unwanted | Piece::Rest => {}
        }
        piece
    }

    fn judge(&self, answer: &Answer) -> Piece {
        let (Some(asked), Some(marks)) = (self.asked, &self.marks) else { return Piece::First };
        let fits = marks.agree(&answer.marks);
        match answer.status {
            Some(206) if fits && answer.begins == Some(asked) => Piece::Rest,
            Some(206) => Piece::Foreign,
            Some(200) if self.from == 0 && self.to.is_none() => Piece::Anew,
            Some(200) => Piece::Foreign,
            Some(_) => Piece::Unwanted,
            None if fits => Piece::Rest,
            None => Piece::Foreign,
        }
    }

    /// Returns the next request after an attempt that left that many bytes; `None` to start again.
    pub fn next(&mut self, have: u64) -> Option<RestRequest> {
        let marks = self.marks.as_ref().filter(|_| have > 0);
        self.asked = marks.map(|_| self.from + have);
        if marks.is_none() {
            self.marks = None;
            return None;
        }
        let if_range = self.marks.as_ref().and_then(|marks| marks.validator.clone());
        Some(RestRequest { from: self.from + have, to: self.to, if_range })
    }

    /// Forgets the existing part, which is wrong.
    pub fn forget(&mut self) {
        self.marks = None;
    }
}

/// Parses one range of `--range` as `FIRST-` or `FIRST-LAST`; `None` for anything else.
pub fn plain_range(text: &[u8]) -> Option<(u64, Option<u64>)> {
    let (first, last) = std::str::from_utf8(text).ok()?.split_once('-')?;
    let first = first.parse().ok()?;
    let last = if last.is_empty() { None } else { Some(last.parse::<u64>().ok()?) };
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(tag: &str) -> Marks {
        let tag = tag.as_bytes().to_vec();
        Marks::of_fields(|name| (name == "ETag").then_some(tag.as_slice()), Some(100))
    }

    fn answer(status: i64, tag: &str, begins: Option<u64>) -> Answer {
        Answer { status: Some(status), marks: marks(tag), begins }
    }

    /// A download of which a part has arrived.
    fn cut(have: u64) -> Resumption {
        let mut resumption = Resumption::new(0, None);
        assert_eq!(resumption.answered(&answer(200, "\"a\"", None)), Piece::First);
        let request = RestRequest { from: have, to: None, if_range: Some(b"\"a\"".to_vec()) };
        assert_eq!(resumption.next(have), Some(request));
        resumption
    }

    #[test]
    fn a_reply_continues_replaces_or_does_not_match_the_partial_file() {
        for (status, tag, begins, piece) in [
            (206, "\"a\"", Some(40), Piece::Rest),
            (206, "", Some(40), Piece::Rest),
            (206, "\"a\"", Some(39), Piece::Foreign),
            (206, "\"a\"", None, Piece::Foreign),
            (206, "\"b\"", Some(40), Piece::Foreign),
            (200, "\"a\"", None, Piece::Anew),
            (200, "\"b\"", None, Piece::Anew),
            (416, "", None, Piece::Unwanted),
            (503, "", None, Piece::Unwanted),
        ] {
            assert_eq!(cut(40).answered(&answer(status, tag, begins)), piece, "{status} {tag} {begins:?}");
        }
    }

    #[test]
    fn the_next_request_continues_with_the_latest_validator() {
        let after = |status, tag: &str, begins| {
            let mut resumption = cut(40);
            resumption.answered(&answer(status, tag, begins));
            resumption.next(50).map(|request| (request.from, request.if_range.unwrap()))
        };
        assert_eq!(after(206, "\"a\"", Some(40)), Some((50, b"\"a\"".to_vec())));
        assert_eq!(after(200, "\"b\"", None), Some((50, b"\"b\"".to_vec())));
        assert_eq!(after(503, "", None), Some((50, b"\"a\"".to_vec())));
        assert_eq!(after(416, "", None), None);
        assert_eq!(after(206, "\"b\"", Some(40)), None);
        let mut wrong = cut(40);
        wrong.forget();
        assert_eq!(wrong.next(40), None);
    }

    #[test]
    fn a_part_of_another_process_is_continued() {
        let mut begun = Resumption::begun(0, None, marks("\"a\""));
        assert_eq!(begun.next(40).and_then(|request| request.if_range), Some(b"\"a\"".to_vec()));
        assert_eq!(begun.answered(&answer(206, "\"a\"", Some(40))), Piece::Rest);
        assert_eq!(Resumption::begun(0, None, marks("W/\"a\"")).next(40), None);
    }

    #[test]
    fn replies_without_a_strong_validator_are_not_resumed() {
        for tag in ["W/\"a\"", "a", "\"", ""] {
            let mut resumption = Resumption::new(0, None);
            resumption.answered(&answer(200, tag, None));
            assert_eq!(resumption.next(40), None, "{tag}");
        }
        let mut page = Resumption::new(0, None);
        page.answered(&answer(500, "\"a\"", None));
        assert_eq!(page.next(40), None);
        let dated = |modified: &'static str| {
            let fields = move |name: &str| match name {
                "Date" => Some(b"Sun, 06 Nov 1994 08:49:37 GMT".as_slice()),
                "Last-Modified" => Some(modified.as_bytes()),
                _ => None,
            };
            Marks::of_fields(fields, None).bind()
        };
        assert!(dated("Sun, 06 Nov 1994 08:49:36 GMT"));
        assert!(!dated("Sun, 06 Nov 1994 08:49:37 GMT"));
    }

    #[test]
    fn files_elsewhere() {
        let file = |time, size| Answer { marks: Marks::of_file(time, size), ..Answer::default() };
        let mut same = Resumption::new(5, None);
        same.answered(&file(Some(1), Some(100)));
        assert_eq!(same.next(10).unwrap().from, 15);
        assert_eq!(same.answered(&file(Some(1), Some(100))), Piece::Rest);
        same.next(20);
        assert_eq!(same.clone().answered(&file(Some(2), Some(100))), Piece::Foreign);
        assert_eq!(same.answered(&file(Some(1), Some(99))), Piece::Foreign);
        let mut unknown = Resumption::new(0, None);
        unknown.answered(&file(None, Some(100)));
        assert_eq!(unknown.next(10), None);
    }

    /// A request for a part cannot use the whole file.
    #[test]
    fn parts() {
        let mut part = Resumption::new(10, Some(59));
        part.answered(&answer(206, "\"a\"", Some(10)));
        assert_eq!(part.next(5).map(|request| (request.from, request.to)), Some((15, Some(59))));
        assert_eq!(part.answered(&answer(200, "\"a\"", None)), Piece::Foreign);
    }

    #[test]
    fn ranges() {
        assert_eq!(plain_range(b"5-"), Some((5, None)));
        assert_eq!(plain_range(b"5-9"), Some((5, Some(9))));
        for bad in ["-5", "1-2,4-5", "x"] {
            assert_eq!(plain_range(bad.as_bytes()), None, "{bad}");
        }
    }
}
