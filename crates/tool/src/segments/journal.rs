//! What stands beside a part file: of which file it is, and which of its bytes are there. It is replaced as a whole, and only after
//! the bytes it tells of were written, so that it is true at any moment.

use super::plan::{Span, Spans};
use crate::raw::hex;
use crate::resume::Marks;
use crate::seal::{seal, unseal};

const FIRST_LINE: &str = "warmwire part file 1";
/// A journal beyond this is not ours.
pub const LONGEST: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    pub url: Vec<u8>,
    pub size: u64,
    pub marks: Marks,
    pub done: Spans,
}

impl Journal {
    pub fn text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nurl {}\nsize {}\n", hex::encode(&self.url), self.size);
        if let Some(validator) = &self.marks.validator {
            text.push_str(&format!("validator {}\n", hex::encode(validator)));
        }
        if let Some(time) = self.marks.time {
            text.push_str(&format!("time {time}\n"));
        }
        for span in self.done.iter() {
            text.push_str(&format!("done {} {}\n", span.start, span.end));
        }
        seal(&text)
    }

    /// None for what is truncated, changed or something else.
    pub fn parse(text: &str) -> Option<Journal> {
        let mut lines = unseal(text)?.lines();
        if lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let (mut url, mut size, mut done) = (None, None, Vec::new());
        let (mut validator, mut time) = (None, None);
        for line in lines {
            let (key, value) = line.split_once(' ')?;
            match key {
                "url" => url = Some(hex::decode(value.as_bytes())?),
                "size" => size = Some(value.parse().ok()?),
                "validator" => validator = Some(hex::decode(value.as_bytes())?),
                "time" => time = Some(value.parse().ok()?),
                "done" => {
                    let (start, end) = value.split_once(' ')?;
                    done.push(Span { start: start.parse().ok()?, end: end.parse().ok()? });
                }
                _ => return None,
            }
        }
        let (size, done) = (size?, Spans::new(done)?);
        let marks = Marks { validator, time, size: Some(size) };
        (done.end() <= size).then_some(Journal { url: url?, size, marks, done })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        let done = Spans::new(vec![Span { start: 0, end: 5 }, Span { start: 7, end: 90 }]).unwrap();
        let marks = Marks { validator: Some(b"\"a b\"".to_vec()), time: Some(-5), size: Some(100) };
        Journal { url: b"http://h/\xff".to_vec(), size: 100, marks, done }
    }

    #[test]
    fn there_and_back() {
        assert_eq!(Journal::parse(&journal().text()), Some(journal()));
        let bare = Journal { marks: Marks { size: Some(100), ..Marks::default() }, ..journal() };
        assert_eq!(Journal::parse(&bare.text()), Some(bare));
    }

    #[test]
    fn what_is_truncated_or_changed_is_none() {
        let text = journal().text();
        for end in 0..text.len() {
            assert_eq!(Journal::parse(&text[..end]), None, "{end}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(Journal::parse(&changed), None, "{changed}");
        }
        let head = format!("{FIRST_LINE}\nurl 61\n");
        assert!(Journal::parse(&seal(&format!("{head}size 5\n"))).is_some());
        for body in [
            "",
            "size 5\ndone 0 6\n",
            "size 5\ndone 3 2\n",
            "size 5\nmore 1\n",
            "size 5\ndone 0 2\ndone 2 4\n",
        ] {
            assert_eq!(Journal::parse(&seal(&format!("{head}{body}"))), None, "{body}");
        }
    }
}
