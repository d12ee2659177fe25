//! Records of a queue's file: a line each, with a checksum in front, so that a line that was cut or changed
//! is recognised. Fields are separated by tabs and may be any bytes.

use crate::bytes::Bytes;
use crate::raw::hex;
use crate::raw::segments::Marks;
use sha2::{Digest, Sha256};

/// The number of the format. A file with a higher one was written by a later version.
pub const FORMAT: u64 = 1;
const TITLE: &[u8] = b"warmwire queue";
/// Hexadecimal digits of the checksum.
const SUM: usize = 8;

/// The number of an entry, or of a setup.
pub type Id = u64;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The first line, with the number of the format.
    Title(u64),
    /// Options that entries share, and the folder in which they were added.
    Setup {
        id: Id,
        folder: Bytes,
        options: Vec<Bytes>,
    },
    Added(Added),
    /// A transfer has started.
    Started(Id),
    /// The file of a transfer is open, and empty up to what is received from now on.
    Opened(Id, Part),
    Done(Id),
    /// The exit code of a failure.
    Failed(Id, i32),
    Removed(Id),
    /// How often an entry was started before the file was rewritten.
    Tries(Id, u64),
}

/// An entry as it was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    pub id: Id,
    pub setup: Id,
    /// Equal for entries with the same URL and output.
    pub key: u64,
    /// The URL, and behind it its mirrors.
    pub urls: Vec<Bytes>,
    /// Options of its own, in the form of an input file.
    pub options: Vec<Bytes>,
}

/// A file that has begun to arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub name: Bytes,
    /// Marks that its rest must have, too.
    pub marks: Marks,
}

impl Record {
    /// Returns the line of a record.
    pub fn line(&self) -> Bytes {
        let text = |text: &str| text.as_bytes().to_vec();
        let number = |number: u64| number.to_string().into_bytes();
        let optional = |value: Option<Bytes>| value.unwrap_or_default();
        let fields = match self {
            Record::Title(format) => vec![TITLE.to_vec(), number(*format)],
            Record::Setup { id, folder, options } => {
                let own = vec![text("setup"), number(*id), folder.clone()];
                own.into_iter().chain(options.iter().cloned()).collect()
            }
            Record::Added(Added { id, setup, key, urls, options }) => {
                let own =
                    [text("added"), number(*id), number(*setup), number(*key), number(urls.len() as u64)];
                own.into_iter().chain(urls.iter().cloned()).chain(options.iter().cloned()).collect()
            }
            Record::Started(id) => vec![text("started"), number(*id)],
            Record::Opened(id, Part { name, marks }) => {
                let time = marks.time.map(|time| time.to_string().into_bytes());
                let rest = [marks.validator.clone(), time, marks.size.map(number)].map(optional);
                [vec![text("opened"), number(*id), name.clone()], rest.to_vec()].concat()
            }
            Record::Done(id) => vec![text("done"), number(*id)],
            Record::Failed(id, code) => vec![text("failed"), number(*id), text(&code.to_string())],
            Record::Removed(id) => vec![text("removed"), number(*id)],
            Record::Tries(id, tries) => vec![text("tries"), number(*id), number(*tries)],
        };
        let payload = fields.iter().map(|field| escaped(field)).collect::<Vec<_>>().join(&b'\t');
        [sum(&payload).as_bytes(), b" ", &payload, b"\n"].concat()
    }

    /// Parses a line with its end. `None` if it was cut or changed; an error if it is whole, and no record
    /// that this version knows.
    pub fn parse(line: &[u8]) -> Option<Result<Record, UnknownRecord>> {
        let line = line.strip_suffix(b"\n")?;
        let (stored, payload) = line.split_at_checked(SUM + 1)?;
        if stored.strip_suffix(b" ")? != sum(payload).as_bytes() {
            return None;
        }
        let fields: Option<Vec<Bytes>> = payload.split(|byte| *byte == b'\t').map(unescaped).collect();
        Some(fields.and_then(|fields| of_fields(&fields)).ok_or(UnknownRecord))
    }
}

/// A line that is whole, and has another meaning than the records here.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownRecord;

fn of_fields(fields: &[Bytes]) -> Option<Record> {
    let (kind, rest) = fields.split_first()?;
    let (id, more) = rest.split_first()?;
    let id = number(id)?;
    Some(match (kind.as_slice(), more) {
        (TITLE, []) => Record::Title(id),
        (b"setup", [folder, options @ ..]) => {
            Record::Setup { id, folder: folder.clone(), options: options.to_vec() }
        }
        (b"added", [setup, key, count, rest @ ..]) => {
            let count = usize::try_from(number(count)?).ok().filter(|count| *count > 0)?;
            let (urls, options) = rest.split_at_checked(count)?;
            let (setup, key) = (number(setup)?, number(key)?);
            Record::Added(Added { id, setup, key, urls: urls.to_vec(), options: options.to_vec() })
        }
        (b"started", []) => Record::Started(id),
        (b"opened", [name, validator, time, size]) => {
            let given = |field: &Bytes| Some(field.clone()).filter(|field| !field.is_empty());
            let time = given(time).map(|time| signed(&time).ok_or(())).transpose().ok()?;
            let size = given(size).map(|size| number(&size).ok_or(())).transpose().ok()?;
            Record::Opened(
                id,
                Part { name: name.clone(), marks: Marks { validator: given(validator), time, size } },
            )
        }
        (b"done", []) => Record::Done(id),
        (b"failed", [code]) => Record::Failed(id, i32::try_from(signed(code)?).ok()?),
        (b"removed", []) => Record::Removed(id),
        (b"tries", [tries]) => Record::Tries(id, number(tries)?),
        _ => return None,
    })
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn signed(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn sum(payload: &[u8]) -> String {
    hex::encode(&Sha256::digest(payload)[..SUM / 2])
}

fn escaped(field: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(field.len());
    for byte in field {
        match byte {
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            b'\\' => out.extend(b"\\\\"),
            other => out.push(*other),
        }
    }
    out
}

fn unescaped(field: &[u8]) -> Option<Bytes> {
    let mut out = Bytes::with_capacity(field.len());
    let mut bytes = field.iter();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next()? {
                b't' => b'\t',
                b'n' => b'\n',
                b'\\' => b'\\',
                _ => return None,
            },
            other => *other,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of each kind.
    fn all() -> Vec<Record> {
        let marks = Marks { validator: Some(b"\"a\tb\"".to_vec()), time: Some(-5), size: Some(100) };
        let added = Added {
            id: 2,
            setup: 1,
            key: u64::MAX,
            urls: vec![b"http://h/\xff".to_vec(), b"http://m/".to_vec()],
            options: vec![b"output = \"a\\tb\"".to_vec(), b"".to_vec()],
        };
        vec![
            Record::Title(1),
            Record::Setup { id: 1, folder: b"/a\nb".to_vec(), options: vec![b"header = \"X: y\"".to_vec()] },
            Record::Setup { id: 3, folder: Bytes::new(), options: Vec::new() },
            Record::Added(added),
            Record::Started(2),
            Record::Opened(2, Part { name: b"a\\b".to_vec(), marks }),
            Record::Opened(2, Part { name: b"c".to_vec(), marks: Marks::default() }),
            Record::Failed(2, -1),
            Record::Tries(2, 7),
            Record::Done(2),
            Record::Removed(2),
        ]
    }

    #[test]
    fn a_record_is_a_line_that_is_read_back() {
        for record in all() {
            let line = record.line();
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(Record::parse(&line), Some(Ok(record)));
        }
    }

    #[test]
    fn a_line_that_was_cut_or_changed_is_recognised() {
        for line in all().iter().map(Record::line) {
            for end in 0..line.len() {
                assert_eq!(Record::parse(&line[..end]), None);
            }
            for at in 0..line.len() {
                let mut changed = line.clone();
                changed[at] ^= 1;
                assert_eq!(Record::parse(&changed), None, "{changed:?}");
            }
        }
    }

    #[test]
    fn a_whole_line_of_another_version_is_no_damage() {
        for payload in [
            "paused\t1",
            "done\tx",
            "done\t1\t2",
            "added\t1\t1\t1\t2\tu",
            "added\t1\t1\t1\t0",
            "done\t\\x",
            "",
        ] {
            let line = format!("{} {payload}\n", sum(payload.as_bytes()));
            assert_eq!(Record::parse(line.as_bytes()), Some(Err(UnknownRecord)), "{payload}");
        }
    }
}
