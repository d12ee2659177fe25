//! Marks that pieces of one file have in common: over HTTP a strong ETag or else a strong Last-Modified (RFC
//! 9110, sections 8.8 and 13.1.5), in other protocols time and size. Without marks nothing is combined.

use engine::stores::headers::Origin;
use tables::EasyOption as O;
use wire::date::parse as parse_date;

use crate::{Easy, Value};

/// Marks that distinguish versions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The value for If-Range.
    pub validator: Option<Vec<u8>>,
    /// Elsewhere than over HTTP, in seconds since 1970.
    pub time: Option<i64>,
    pub size: Option<u64>,
}

/// A reply, before its body.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The status over HTTP.
    pub status: Option<i64>,
    pub marks: Marks,
    /// The offset of a partial body.
    pub begins: Option<u64>,
}

impl Answer {
    /// Returns the reply of a handle as far as it is known.
    pub fn of(easy: &Easy) -> Answer {
        let http = easy.info(|info| info.scheme().to_ascii_lowercase().starts_with("http"));
        if http { http_answer(easy) } else { file_answer(easy) }
    }
}

fn http_answer(easy: &Easy) -> Answer {
    let status = easy.info(|info| info.response_code());
    easy.headers(|headers| {
        let fields = headers.of(Origin::Header as u32, None);
        let field = |name: &str| {
            let found = fields.iter().find(|(_, field)| field.name.eq_ignore_ascii_case(name.as_bytes()));
            found.map(|(_, field)| field.value)
        };
        let range = field("Content-Range").and_then(content_range).filter(|_| status == 206);
        let length = || std::str::from_utf8(field("Content-Length")?).ok()?.parse().ok();
        let size = if status == 206 { range.and_then(|range| range.1) } else { length() };
        let marks = Marks::of_fields(field, size);
        Answer { status: Some(status), marks, begins: range.map(|range| range.0) }
    })
}

/// Returns the facts about a file in protocols other than HTTP.
fn file_answer(easy: &Easy) -> Answer {
    let (expected, file_time) = easy.info(|info| (info.download_total(), info.file_time()));
    let known = |number: i64| u64::try_from(number).ok();
    let offset = easy.get(O::ResumeFromLarge).number().max(0) as u64;
    // The size of a range does not describe the file.
    let ranged = easy.get(O::Range) != Value::Default;
    let size = known(expected).filter(|size| *size > 0 && !ranged).map(|rest| rest + offset);
    Answer { marks: Marks::of_file(Some(file_time).filter(|time| *time >= 0), size), ..Answer::default() }
}

impl Marks {
    /// Returns the marks of an HTTP reply from its fields. A weak ETag does not identify bytes, and a date
    /// does so only if nothing can change within its second any more.
    pub fn of_fields<'f>(fields: impl Fn(&str) -> Option<&'f [u8]>, size: Option<u64>) -> Marks {
        let strong = |tag: &&[u8]| tag.len() > 1 && tag.starts_with(b"\"") && tag.ends_with(b"\"");
        let dated = || {
            let modified = fields("Last-Modified")?;
            (parse_date(fields("Date")?)? > parse_date(modified)?).then_some(modified)
        };
        let validator = fields("ETag").filter(strong).or_else(dated).map(<[u8]>::to_vec);
        Marks { validator, time: None, size }
    }

    /// Returns the marks of a file that has no header fields.
    pub fn of_file(time: Option<i64>, size: Option<u64>) -> Marks {
        Marks { validator: None, time, size }
    }

    /// Returns whether pieces with these marks are of one file.
    pub fn bind(&self) -> bool {
        self.validator.is_some() || self.time.is_some() && self.size.is_some()
    }

    /// Compares marks; one that is missing on either side is ignored.
    pub fn agree(&self, other: &Marks) -> bool {
        fn same<T: PartialEq>(one: &Option<T>, two: &Option<T>) -> bool {
            one.is_none() || two.is_none() || one == two
        }
        same(&self.validator, &other.validator)
            && same(&self.time, &other.time)
            && same(&self.size, &other.size)
    }
}

/// Returns first position and whole length of a Content-Range (RFC 9110, section 14.4).
pub fn content_range(value: &[u8]) -> Option<(u64, Option<u64>)> {
    let text = std::str::from_utf8(value).ok()?.trim().strip_prefix("bytes ")?;
    let (range, total) = text.trim_start().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let total = if total.trim() == "*" { None } else { Some(total.trim().parse::<u64>().ok()?) };
    (first <= last && total.is_none_or(|total| last < total)).then_some((first, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(content_range(b"bytes 1-2/3"), Some((1, Some(3))));
        assert_eq!(content_range(b"bytes 1-2/*"), Some((1, None)));
        for bad in ["bytes 2-1/3", "bytes 1-3/3", "bytes */3", "1-2/3", "bytes -2/3", "bytes 1-2"] {
            assert_eq!(content_range(bad.as_bytes()), None, "{bad}");
        }
    }
}
