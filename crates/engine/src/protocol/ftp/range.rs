//! The requested bytes of a file: CURLOPT_RANGE(3), CURLOPT_RESUME_FROM_LARGE(3).

use tables::{Code, EasyOption as O};

use crate::error::{Error, Result};
use crate::transfer::Transfer;

/// A range that can't be read.
#[derive(Debug, PartialEq, Eq)]
pub struct BadRange;

/// Part of a file, or all of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Span {
    first: u64,
    /// Number of bytes from the end, instead of from `first`.
    tail: Option<u64>,
    /// Limit of the bytes that are read: the server knows only the start, and is stopped at the end.
    pub most: Option<u64>,
}

impl Span {
    /// Reads the settings.
    pub fn of(t: &Transfer) -> Result<Span, BadRange> {
        match (t.long(O::ResumeFromLarge), t.text(O::Range)) {
            (0, Some(range)) => Span::parse(&range),
            (from, _) if from < 0 => Ok(Span::tail(from.unsigned_abs())),
            (from, _) => Ok(Span { first: from as u64, tail: None, most: None }),
        }
    }

    fn tail(n: u64) -> Span {
        Span { first: 0, tail: Some(n), most: Some(n) }
    }

    /// Parses `FIRST-LAST`, `FIRST-` or `-LENGTH`; the first one of several.
    pub fn parse(text: &[u8]) -> Result<Span, BadRange> {
        let (first, rest) = number(text)?;
        let (last, _) = number(rest.strip_prefix(b"-").ok_or(BadRange)?)?;
        match (first, last) {
            (Some(first), Some(last)) if first <= last => {
                Ok(Span { first, tail: None, most: Some(last - first + 1) })
            }
            (Some(first), None) => Ok(Span { first, tail: None, most: None }),
            (None, Some(n)) if n > 0 => Ok(Span::tail(n)),
            _ => Err(BadRange),
        }
    }

    /// Returns the argument of REST; `None` for the whole file. As in curl, it is negative for the end of a
    /// file of unknown size, which most servers refuse.
    pub fn start(&self, size: Option<u64>) -> Result<Option<i64>> {
        let beyond = |from: &str, wanted: u64, size: u64| {
            let text = format!("Offset ({from}{wanted}) was beyond file size ({size})");
            Error::new(Code::BadDownloadResume, text)
        };
        match (self.tail, size) {
            (Some(tail), Some(size)) if tail > size => Err(beyond("-", tail, size)),
            (Some(tail), Some(size)) => Ok(Some((size - tail) as i64)),
            (Some(tail), None) => Ok(Some(-(tail as i64))),
            (None, Some(size)) if self.first > size => Err(beyond("", self.first, size)),
            (None, _) => Ok((self.first > 0).then_some(self.first as i64)),
        }
    }

    /// Returns how much of a file of this size is left from the start on.
    pub fn rest(&self, size: u64) -> u64 {
        self.tail.unwrap_or_else(|| size.saturating_sub(self.first))
    }
}

/// Parses the leading digits as a number that fits curl_off_t.
fn number(text: &[u8]) -> Result<(Option<u64>, &[u8]), BadRange> {
    let end = text.iter().position(|octet| !octet.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    let number: Option<i64> = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    Ok((Some(number.ok_or(BadRange)?.unsigned_abs()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let span = |first, tail, most| Ok(Span { first, tail, most });
        for (text, wanted) in [
            ("3-7", span(3, None, Some(5))),
            ("3-7,9-11", span(3, None, Some(5))),
            ("0-0", span(0, None, Some(1))),
            ("3-", span(3, None, None)),
            ("-3", span(0, Some(3), Some(3))),
            ("-0", Err(BadRange)),
            ("7-3", Err(BadRange)),
            ("-", Err(BadRange)),
            ("", Err(BadRange)),
            ("x", Err(BadRange)),
            ("3", Err(BadRange)),
            ("99999999999999999999-", Err(BadRange)),
        ] {
            assert_eq!(Span::parse(text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn starts() {
        let tail = Span::tail(10);
        assert_eq!(tail.start(Some(30)).unwrap(), Some(20));
        assert_eq!(tail.start(None).unwrap(), Some(-10));
        assert!(tail.start(Some(9)).is_err());
        assert_eq!(tail.rest(30), 10);
        let from = Span { first: 5, tail: None, most: None };
        assert_eq!((from.start(Some(30)).unwrap(), from.rest(30)), (Some(5), 25));
        assert!(from.start(Some(4)).is_err());
    }
}
