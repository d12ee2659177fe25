//! The journal beside a part file: the identity of the file, and which of its bytes exist. It is replaced as
//! a whole, and only after its bytes were written, so that it is always true. Of the URL it has the place,
//! and a hash of everything except the login.

use super::marks::Marks;
use super::plan::{Span, Spans};
use super::seal::{seal, unseal};
use engine::archive::redact;
use sha2::{Digest, Sha256};
use wire::hex;

const FIRST_LINE: &str = "warmwire part file 2";
/// A journal beyond this is not ours.
pub const LONGEST: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// The URL without login, query and fragment.
    pub place: Vec<u8>,
    /// A sum of the URL without its login.
    pub key: String,
    pub size: u64,
    pub marks: Marks,
    pub done: Spans,
}

impl Journal {
    pub fn new(url: &[u8], size: u64, marks: Marks, done: Spans) -> Journal {
        Journal { place: redact::place(url), key: key(url), size, marks, done }
    }

    pub fn is_of(&self, url: &[u8]) -> bool {
        self.key == key(url)
    }

    pub fn text(&self) -> String {
        let (place, key) = (hex::encode(&self.place), &self.key);
        let mut text = format!("{FIRST_LINE}\nplace {place}\nkey {key}\nsize {}\n", self.size);
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

    /// Parses a journal; `None` if it is truncated, modified or something else.
    pub fn parse(text: &str) -> Option<Journal> {
        let mut lines = unseal(text)?.lines();
        if lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let (mut place, mut url_key, mut size, mut done) = (None, None, None, Vec::new());
        let (mut validator, mut time) = (None, None);
        for line in lines {
            let (key, value) = line.split_once(' ')?;
            match key {
                "place" => place = Some(hex::decode(value.as_bytes())?),
                "key" => url_key = Some(value.to_owned()),
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
        let (place, key) = (place?, url_key?);
        (done.end() <= size).then_some(Journal { place, key, size, marks, done })
    }
}

fn key(url: &[u8]) -> String {
    hex::encode(&Sha256::digest(redact::without_login(url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        let done = Spans::new(vec![Span { start: 0, end: 5 }, Span { start: 7, end: 90 }]).unwrap();
        let marks = Marks { validator: Some(b"\"a b\"".to_vec()), time: Some(-5), size: Some(100) };
        Journal::new(b"http://me:secret@h/\xff?token=secret", 100, marks, done)
    }

    #[test]
    fn no_secret_of_the_url_is_in_it() {
        let text = journal().text();
        assert!(!text.contains(&hex::encode(b"secret")) && !text.contains("secret"), "{text}");
        assert!(journal().is_of(b"http://you@h/\xff?token=secret"));
        assert!(
            !journal().is_of(b"http://me:secret@h/\xff?token=other") && !journal().is_of(b"http://h/\xff")
        );
        assert_eq!(journal().place, b"http://h/\xff");
    }

    #[test]
    fn a_written_journal_is_read_back() {
        assert_eq!(Journal::parse(&journal().text()), Some(journal()));
        let bare = Journal { marks: Marks { size: Some(100), ..Marks::default() }, ..journal() };
        assert_eq!(Journal::parse(&bare.text()), Some(bare));
    }

    #[test]
    fn a_truncated_or_changed_journal_is_refused() {
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
        let head = format!("{FIRST_LINE}\nplace 61\nkey 62\n");
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
