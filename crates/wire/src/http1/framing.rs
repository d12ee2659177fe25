//! The end of a message by Content-Length (RFC 9110 §8.6) and Transfer-Encoding (RFC 9112 §6.1), as strict as
//! curl: a list of equal lengths is accepted, and codings in an order that can be decoded.

/// How many transfer codings may come on top of each other.
const DEPTH_LIMIT: usize = 5;

/// The value of a Content-Length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Bytes(u64),
    /// A number that no file has: the end of the connection ends the message.
    Overflow,
}

/// A Content-Length that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadLength;

/// The length that a field's value names: a number, or a list of equal ones.
pub fn content_length(value: &[u8]) -> Result<Length, BadLength> {
    let mut elements = value.split(|b| *b == b',').map(|element| number(element.trim_ascii()));
    let first = elements.next().ok_or(BadLength)??;
    if elements.all(|element| element == Ok(first)) { Ok(first) } else { Err(BadLength) }
}

fn number(digits: &[u8]) -> Result<Length, BadLength> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(BadLength);
    }
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i64>().ok());
    Ok(number.map_or(Length::Overflow, |number| Length::Bytes(number as u64)))
}

/// Why transfer codings cannot be undone; the texts are curl's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadCoding {
    /// A coding after `chunked`, which must be the last, and not requested.
    AfterChunked(String),
    /// A coding after `chunked`, where other codings were requested.
    NotLast,
    /// A coding that was not requested (TE).
    Unsolicited(String),
    TooMany,
}

impl BadCoding {
    /// curl's words for it.
    pub fn text(&self) -> String {
        match self {
            BadCoding::AfterChunked(name) => {
                format!("A Transfer-Encoding ({name}) was listed after chunked")
            }
            BadCoding::NotLast => {
                "Reject response due to 'chunked' not being the last Transfer-Encoding".to_owned()
            }
            BadCoding::Unsolicited(name) => format!("Unsolicited Transfer-Encoding ({name}) found"),
            BadCoding::TooMany => {
                format!("Reject response exceeding limit of {DEPTH_LIMIT} transfer encodings")
            }
        }
    }
}

/// The transfer codings of a message, in the order in which they were applied.
#[derive(Debug, Default)]
pub struct TransferCodings {
    pub chunked: bool,
    /// Other codings than `chunked` with an effect, as a list.
    pub others: Vec<u8>,
    count: usize,
    /// Whether codings were requested and the response has an answer, possibly that there are none.
    answered: bool,
}

impl TransferCodings {
    /// Returns whether Content-Length does not decide the end of the message (RFC 9112 §6.3).
    pub fn hide_length(&self) -> bool {
        self.chunked || self.answered || !self.others.is_empty()
    }

    /// Adds a field value. `asked`: codings other than `chunked` were requested; `raw`: they are not decoded.
    pub fn add(&mut self, value: &[u8], asked: bool, raw: bool) -> Result<(), BadCoding> {
        self.answered |= asked && !raw;
        let mut chunked_here = false;
        for coding in value.split(|b| *b == b',').map(<[u8]>::trim_ascii).filter(|c| !c.is_empty()) {
            let name = || String::from_utf8_lossy(coding).into_owned();
            if coding.eq_ignore_ascii_case(b"chunked") {
                (self.chunked, chunked_here) = (true, true);
            } else if raw {
                continue;
            } else if asked && self.chunked {
                return Err(BadCoding::NotLast);
            } else if chunked_here {
                return Err(BadCoding::AfterChunked(name()));
            } else if coding.eq_ignore_ascii_case(b"identity") {
                continue;
            } else if !asked {
                return Err(BadCoding::Unsolicited(name()));
            } else {
                self.push(coding)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, coding: &[u8]) -> Result<(), BadCoding> {
        self.count += 1;
        if self.count > DEPTH_LIMIT {
            return Err(BadCoding::TooMany);
        }
        if !self.others.is_empty() {
            self.others.extend_from_slice(b", ");
        }
        self.others.extend_from_slice(coding);
        Ok(())
    }
}

/// Returns whether a value of TE lists "trailers" (RFC 9110 §10.1.4). Commas in quoted strings do not
/// separate.
pub fn te_accepts_trailers(value: &[u8]) -> bool {
    let (mut quoted, mut escaped) = (false, false);
    let mut items = value.split(|byte| {
        let separates = *byte == b',' && !quoted;
        quoted ^= *byte == b'"' && !escaped;
        escaped = quoted && *byte == b'\\' && !escaped;
        separates
    });
    items.any(|item| {
        let coding = item.split(|byte| *byte == b';').next().unwrap_or_default();
        coding.trim_ascii().eq_ignore_ascii_case(b"trailers")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        for (value, bytes) in
            [("6", 6), ("6,06,6", 6), (" 5 , 5", 5), ("9223372036854775807", i64::MAX as u64)]
        {
            assert_eq!(content_length(value.as_bytes()), Ok(Length::Bytes(bytes)), "{value}");
        }
        assert_eq!(content_length(b"9223372036854775808"), Ok(Length::Overflow));
        assert_eq!(content_length(b"99999999999999999999999"), Ok(Length::Overflow));
        for value in ["", " ", "-1", "+5", "0x5", "5 5", "5,", ",5", "5,6", "5;5", "5x"] {
            assert_eq!(content_length(value.as_bytes()), Err(BadLength), "{value:?}");
        }
    }

    #[test]
    fn codings() {
        let added = |values: &[&str], asked, raw| {
            let mut codings = TransferCodings::default();
            let all = values.iter().try_for_each(|value| codings.add(value.as_bytes(), asked, raw));
            all.map(|()| (codings.chunked, String::from_utf8(codings.others).unwrap()))
        };
        let gzip = || "gzip".to_owned();
        assert_eq!(added(&["Chunked"], false, false), Ok((true, String::new())));
        assert_eq!(added(&["chunked", ", chunked,"], false, false), Ok((true, String::new())));
        assert_eq!(added(&["identity, IDENTITY"], false, false), Ok((false, String::new())));
        assert_eq!(added(&["gzip", "deflate, chunked"], true, false), Ok((true, "gzip, deflate".into())));
        assert_eq!(added(&["gzip, chunked"], false, true), Ok((true, String::new())));
        assert_eq!(added(&["gzip, chunked"], false, false), Err(BadCoding::Unsolicited(gzip())));
        assert_eq!(added(&["chunked, gzip"], true, false), Err(BadCoding::NotLast));
        assert_eq!(added(&["chunked", "identity"], true, false), Err(BadCoding::NotLast));
        assert_eq!(added(&["chunked, gzip"], false, false), Err(BadCoding::AfterChunked(gzip())));
        assert_eq!(added(&["chunked", "gzip"], false, false), Err(BadCoding::Unsolicited(gzip())));
        assert_eq!(added(&["chunked", "identity"], false, false), Ok((true, String::new())));
        assert!(matches!(added(&["chunked, identity"], false, false), Err(BadCoding::AfterChunked(_))));
        let hides = |value: &[u8], asked| {
            let mut codings = TransferCodings::default();
            codings.add(value, asked, false).unwrap();
            codings.hide_length()
        };
        assert!(hides(b"identity", true) && hides(b"", true) && !hides(b"identity", false));
        assert_eq!(added(&["gzip,gzip,gzip,gzip,gzip,gzip"], true, false), Err(BadCoding::TooMany));
    }

    /// Cases in which curl 8.22 sends "te: trailers" over HTTP/2.
    #[test]
    fn te_with_trailers() {
        let rows: [(&[u8], bool); 11] = [
            (b"trailers", true),
            (b"Trailers", true),
            (b"gzip, trailers", true),
            (b"trailers;q=0.5", true),
            (b"trailers ;q=1, x", true),
            (b"a,trailers", true),
            (b"gzip", false),
            (b"xtrailers", false),
            (b"", false),
            (b"\"trailers\"", false),
            (b"gzip;q=\"a\\\", trailers\"", false),
        ];
        for (value, wanted) in rows {
            assert_eq!(te_accepts_trailers(value), wanted, "{}", String::from_utf8_lossy(value));
        }
    }
}
