//! Entries of an input file: the URLs of one file, and below them the lines with its options.

use super::lines::{InputError, Lines};
use crate::bytes::Bytes;
use crate::raw::segments::MOST as MOST_MIRRORS;
use std::io::Read;

/// An entry with longer options is an error, so that memory has a bound.
const LARGEST_ENTRY: usize = 4 << 20;

/// The URLs of one file, with lines of options for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The number of the line with the URLs.
    pub line: usize,
    /// The URL, and behind it its mirrors.
    pub urls: Vec<Bytes>,
    /// Lines with an option each, and their numbers.
    pub options: Vec<(usize, Bytes)>,
}

/// The kinds of lines.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Comment,
    Urls(Vec<Bytes>),
    Option,
}

impl Line {
    /// Returns the kind of a line. URLs begin in the first column, options do not, and tabs separate the
    /// mirrors of one file, as in aria2's input files.
    fn of(line: &[u8]) -> Line {
        let text = line.trim_ascii();
        if text.is_empty() || text[0] == b'#' {
            return Line::Comment;
        }
        if line[0].is_ascii_whitespace() {
            return Line::Option;
        }
        let urls = line.split(|byte| *byte == b'\t').map(<[u8]>::trim_ascii);
        Line::Urls(urls.filter(|url| !url.is_empty()).map(<[u8]>::to_vec).collect())
    }
}

/// Groups lines into entries, of which it holds one at a time. The first error is the last item.
pub struct Entries<R> {
    lines: Lines<R>,
    begun: Option<Entry>,
    bytes: usize,
    has_ended: bool,
}

impl<R: Read> Entries<R> {
    pub fn new(input: R) -> Entries<R> {
        Entries { lines: Lines::new(input), begun: None, bytes: 0, has_ended: false }
    }

    /// Returns the next complete entry; `None` at the end of the input.
    fn next_entry(&mut self) -> Result<Option<Entry>, InputError> {
        while let Some((number, line)) = self.lines.next_line()? {
            match Line::of(&line) {
                Line::Comment => {}
                Line::Option => self.add_option(number, line)?,
                Line::Urls(urls) if urls.len() > MOST_MIRRORS => {
                    return Err(InputError::new(
                        number,
                        format!("more than {MOST_MIRRORS} URLs of one file"),
                    ));
                }
                Line::Urls(urls) => {
                    self.bytes = 0;
                    let complete = self.begun.replace(Entry { line: number, urls, options: Vec::new() });
                    if complete.is_some() {
                        return Ok(complete);
                    }
                }
            }
        }
        Ok(self.begun.take())
    }

    fn add_option(&mut self, number: usize, line: Bytes) -> Result<(), InputError> {
        let entry =
            self.begun.as_mut().ok_or_else(|| InputError::new(number, "an option without a URL above it"))?;
        self.bytes += line.len();
        if self.bytes > LARGEST_ENTRY {
            return Err(InputError::new(
                number,
                format!("more than {LARGEST_ENTRY} bytes of options for one URL"),
            ));
        }
        entry.options.push((number, line));
        Ok(())
    }
}

impl<R: Read> Iterator for Entries<R> {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = self.next_entry().transpose();
        self.has_ended = !matches!(next, Some(Ok(_)));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let shown = |entry: Entry| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let urls: Vec<_> = entry.urls.iter().map(|url| text(url)).collect();
            let options = entry.options.iter().map(|(number, line)| format!("{number}{}", text(line)));
            format!("{}: {} {}", entry.line, urls.join("|"), options.collect::<Vec<_>>().join(";"))
        };
        let entries = Entries::new(text.as_bytes());
        entries
            .map(|entry| entry.map_or_else(|error| error.text(b"f"), shown).trim_end().to_owned())
            .collect()
    }

    /// The forms that aria2c(1) describes under "Input File"; tests/judges runs aria2 itself on them.
    #[test]
    fn lines_become_entries() {
        for (text, wanted) in [
            ("", &[][..]),
            ("http://a/", &["1: http://a/"][..]),
            ("http://a/\nhttp://b/\n", &["1: http://a/", "2: http://b/"]),
            ("http://a/\thttp://b/ \t\n", &["1: http://a/|http://b/"]),
            ("http://a/\n  out=x\n\tdir = y\n", &["1: http://a/ 2  out=x;3\tdir = y"]),
            ("# c\nhttp://a/\n\n#c\n  # c\n out=x\r\n\r\n", &["2: http://a/ 6 out=x"]),
            ("\n \nhttp://a/ b\n", &["3: http://a/ b"]),
            (" out=x\nhttp://a/\n", &["f:1: an option without a URL above it"]),
            ("http://a/\n\0\n", &["f:2: the line has a NUL byte"]),
        ] {
            assert_eq!(read(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn an_entry_has_bounds() {
        let line = format!(" a={}\n", "x".repeat(1 << 19));
        assert!(read(&format!("u\n{}", line.repeat(9))).pop().unwrap().contains("bytes of options"));
        assert_eq!(
            Entries::new(format!("u\n{}u\n{}", line.repeat(5), line.repeat(5)).as_bytes()).flatten().count(),
            2
        );
        assert!(read(&"u\t".repeat(65))[0].ends_with("more than 64 URLs of one file"));
    }

    /// No input panics, and each line is in an entry, a comment, or the error.
    #[test]
    fn any_bytes_are_entries_or_one_error() {
        let parts: [&[u8]; 10] =
            [b"http://a/", b"\t", b"\n", b" ", b"#", b"\r\n", b"out=", b"\xff\xfe", b"\0", b"\xef\xbb\xbf"];
        let mut dice = 1_u64;
        for _ in 0..3000 {
            let mut text = Vec::new();
            for _ in 0..20 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.extend_from_slice(parts[(dice >> 33) as usize % 25 % 10]);
            }
            let found: Vec<_> = Entries::new(text.as_slice()).collect();
            let errors = found.iter().filter(|entry| entry.is_err()).count();
            assert!(errors <= 1 && found.iter().rev().skip(1).all(Result::is_ok), "{text:?}");
            assert!(found.iter().flatten().all(|entry| !entry.urls.is_empty()), "{text:?}");
        }
    }
}
