//! Lines of an input file: UTF-8 with or without a byte order mark, ends of Unix or Windows, and a bound.

use crate::bytes::Bytes;
use crate::message::{os_text, shown};
use std::io::{BufRead, BufReader, Read};

/// A longer line is an error, so that memory has a bound.
pub const LONGEST_LINE: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An error in a line of an input file.
#[derive(Debug, PartialEq, Eq)]
pub struct InputError {
    /// The number of the line; 0 for an error of the whole file.
    pub line: usize,
    pub why: String,
}

impl InputError {
    pub fn new(line: usize, why: impl Into<String>) -> InputError {
        InputError { line, why: why.into() }
    }

    /// Returns the text for the user, who has named the file so.
    pub fn text(&self, file: &[u8]) -> String {
        let file = if file == b"-" { "<stdin>".to_owned() } else { shown(file) };
        match self.line {
            0 => format!("{file}: {}", self.why),
            line => format!("{file}:{line}: {}", self.why),
        }
    }
}

/// Reads lines, of which it holds one at a time.
pub struct Lines<R> {
    input: BufReader<R>,
    number: usize,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Lines<R> {
        Lines { input: BufReader::new(input), number: 0 }
    }

    /// Returns the next line without its end, and its number; `None` at the end of the input.
    pub fn next_line(&mut self) -> Result<Option<(usize, Bytes)>, InputError> {
        let mut line = Bytes::new();
        let most = LONGEST_LINE as u64 + 2;
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut line);
        read.map_err(|error| InputError::new(0, format!("can't be read: {}", os_text(&error))))?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let fault = |why: String| Err(InputError::new(self.number, why));
        if line.len() > LONGEST_LINE {
            return fault(format!("the line has more than {LONGEST_LINE} bytes"));
        }
        if line.contains(&0) {
            return fault("the line has a NUL byte".to_owned());
        }
        Ok(Some((self.number, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Result<(usize, Bytes), InputError>> {
        let mut lines = Lines::new(text);
        let mut found = Vec::new();
        loop {
            match lines.next_line() {
                Ok(None) => return found,
                Ok(Some(line)) => found.push(Ok(line)),
                Err(error) => {
                    found.push(Err(error));
                    return found;
                }
            }
        }
    }

    #[test]
    fn ends_and_marks_are_removed() {
        let texts =
            |text: &[u8]| -> Vec<Bytes> { all(text).into_iter().map(|line| line.unwrap().1).collect() };
        assert_eq!(
            texts(b"\xef\xbb\xbfa\r\n\nb\xef\xbb\xbf\nc"),
            [b"a".to_vec(), b"".into(), b"b\xef\xbb\xbf".into(), b"c".into()]
        );
        assert!(texts(b"").is_empty() && texts(b"\n") == [b""]);
        assert_eq!(all(b"a\nb").pop(), Some(Ok((2, b"b".to_vec()))));
    }

    #[test]
    fn a_line_has_a_bound_and_is_text() {
        let long = |bytes: usize| [vec![b'x'; bytes], b"\r\n".to_vec()].concat();
        assert!(all(&long(LONGEST_LINE))[0].is_ok());
        assert_eq!(all(&long(LONGEST_LINE + 1))[0].as_ref().unwrap_err().line, 1);
        assert!(all(&vec![b'x'; 3 * LONGEST_LINE])[0].is_err());
        let error = all(b"a\nb\0c\n").pop().unwrap().unwrap_err();
        assert_eq!(error.text(b"-"), "<stdin>:2: the line has a NUL byte");
    }
}
