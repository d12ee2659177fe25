//! POP3 (RFC 1939, CAPA RFC 2449, AUTH RFC 5034) as bytes: reply lines, capabilities, which commands have
//! multi-line replies, and dot-unstuffing ([`Unstuffer`]).

use md5::{Digest, Md5};
use memchr::memchr;

use crate::auth::sasl::Mechanisms;
use crate::hex;

/// The status of a reply line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status<'a> {
    /// `+OK`, and the rest.
    Ok(&'a [u8]),
    /// `-ERR`, and the rest.
    Err(&'a [u8]),
    /// A plus sign alone: a challenge of SASL; the server waits for the response.
    Continue(&'a [u8]),
}

/// Reads the line of a reply; `None` when it is none.
pub fn status(line: &[u8]) -> Option<Status<'_>> {
    let line = line.trim_ascii_end();
    let behind = |mark: &[u8]| line.strip_prefix(mark).map(<[u8]>::trim_ascii_start);
    behind(b"-ERR")
        .map(Status::Err)
        .or_else(|| behind(b"+OK").map(Status::Ok))
        .or_else(|| behind(b"+").map(Status::Continue))
}

/// The timestamp of a greeting, with its brackets: servers that have one speak APOP (RFC 1939 section 7).
pub fn timestamp(greeting: &[u8]) -> Option<&[u8]> {
    let start = memchr(b'<', greeting)?;
    let end = start + memchr(b'>', &greeting[start..])?;
    let timestamp = &greeting[start..=end];
    timestamp.contains(&b'@').then_some(timestamp)
}

/// The command that proves by the timestamp that the password is known.
pub fn apop(user: &[u8], password: &[u8], timestamp: &[u8]) -> Vec<u8> {
    let proof = hex::encode(&Md5::digest([timestamp, password].concat()));
    [b"APOP ", user, b" ", proof.as_bytes()].concat()
}

/// The capabilities that matter, from CAPA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    pub stls: bool,
    pub user: bool,
    pub sasl: Mechanisms,
}

impl Capabilities {
    /// Takes one line of the list.
    pub fn take(&mut self, line: &[u8]) {
        let line = line.trim_ascii_end();
        let (name, rest) = match memchr(b' ', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        if name.eq_ignore_ascii_case(b"STLS") {
            self.stls = true;
        } else if name.eq_ignore_ascii_case(b"USER") {
            self.user = true;
        } else if name.eq_ignore_ascii_case(b"SASL") {
            self.sasl.offer(rest);
        }
    }
}

/// Returns whether a command has a multi-line reply, which ends with a dot. Unknown commands are assumed to
/// have one, as in curl.
pub fn has_body(command: &[u8]) -> bool {
    let (name, alone) = match memchr(b' ', command) {
        Some(at) => (&command[..at], false),
        None => (command, true),
    };
    const ALWAYS: [&[u8]; 4] = [b"CAPA", b"RETR", b"TOP", b"XTND"];
    const ALONE: [&[u8]; 2] = [b"LIST", b"UIDL"];
    const NEVER: [&[u8]; 11] =
        [b"APOP", b"AUTH", b"DELE", b"MSG", b"NOOP", b"PASS", b"QUIT", b"RSET", b"STAT", b"USER", b"UTF8"];
    let is = |names: &[&[u8]]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    is(&ALWAYS) || is(&ALONE) && alone || !is(&ALONE) && !is(&NEVER)
}

/// Where in a line the unstuffer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinePosition {
    /// At the beginning of a line.
    #[default]
    Start,
    /// Behind a dot at the beginning of a line.
    Dot,
    /// Behind that and a CR.
    DotCr,
    /// Within a line.
    Inside,
    /// Behind a CR.
    Cr,
}

/// Removes the dots that were stuffed before lines that begin with one, and finds the line with only a dot
/// (RFC 1939 section 3). Only CR LF ends a line.
#[derive(Debug, Default)]
pub struct Unstuffer(LinePosition);

/// The result of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unstuffed {
    /// Number of bytes at the front of the buffer.
    pub written: usize,
    /// Offset of what follows the end, if the end was found.
    pub end: Option<usize>,
}

impl Unstuffer {
    /// Room to leave at the front of the buffer: a CR may have been held back.
    pub const ROOM: usize = 1;

    /// Moves received bytes, which start at ROOM in `buffer`, to its front without the stuffed dots.
    pub fn take(&mut self, buffer: &mut [u8]) -> Unstuffed {
        let (mut read, mut written) = (Self::ROOM, 0);
        while let Some(&octet) = buffer.get(read) {
            match (self.0, octet) {
                (LinePosition::Start, b'.') => {
                    self.0 = LinePosition::Dot;
                    read += 1;
                    continue;
                }
                (LinePosition::Dot, b'\r') => {
                    self.0 = LinePosition::DotCr;
                    read += 1;
                    continue;
                }
                (LinePosition::DotCr, b'\n') => return Unstuffed { written, end: Some(read + 1) },
                (LinePosition::DotCr, _) => {
                    buffer[written] = b'\r';
                    written += 1;
                    self.0 = LinePosition::Cr;
                }
                (LinePosition::Cr, b'\n') => self.0 = LinePosition::Start,
                (_, b'\r') => self.0 = LinePosition::Cr,
                _ => {
                    // Nothing before the next CR needs a check.
                    let run = memchr(b'\r', &buffer[read..]).unwrap_or(buffer.len() - read);
                    buffer.copy_within(read..read + run, written);
                    (read, written) = (read + run, written + run);
                    self.0 = LinePosition::Inside;
                    continue;
                }
            }
            if self.0 == LinePosition::Cr && octet != b'\r' {
                // Behind the CR that was held back.
                self.0 = LinePosition::Inside;
            }
            buffer[written] = octet;
            (read, written) = (read + 1, written + 1);
        }
        Unstuffed { written, end: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unstuffs input that is cut into pieces; the output must not depend on the cuts, nor must the rest
    /// after the end.
    fn unstuff(input: &[u8], cut: usize) -> (Vec<u8>, Option<Vec<u8>>) {
        let (mut unstuffer, mut out) = (Unstuffer::default(), Vec::new());
        for (at, piece) in input.chunks(cut.max(1)).enumerate() {
            let mut buffer = [b"?", piece].concat();
            let got = unstuffer.take(&mut buffer);
            out.extend_from_slice(&buffer[..got.written]);
            if let Some(end) = got.end {
                let next = ((at + 1) * cut).min(input.len());
                return (out, Some([&buffer[end..], &input[next..]].concat()));
            }
        }
        (out, None)
    }

    #[test]
    fn dots_across_any_cut() {
        let rows: [(&str, &str, Option<&str>); 9] = [
            ("a\r\nb\r\n.\r\n", "a\r\nb\r\n", Some("")),
            (".\r\n+OK", "", Some("+OK")),
            ("..\r\n...x\r\n.\r\nrest", ".\r\n..x\r\n", Some("rest")),
            ("a\n.\nb\r\n.\r\n", "a\n.\nb\r\n", Some("")),
            ("a.\r\n.\r\n", "a.\r\n", Some("")),
            (".\ra\r\n.\r\n", "\ra\r\n", Some("")),
            (".\r\r\n.\r\n", "\r\r\n", Some("")),
            ("\r\r\n\r\n.\r\n", "\r\r\n\r\n", Some("")),
            ("a\r\n.", "a\r\n", None),
        ];
        for (input, output, rest) in rows {
            for cut in 1..=input.len() {
                let (out, left) = unstuff(input.as_bytes(), cut);
                assert_eq!(String::from_utf8_lossy(&out), output, "{input:?} by {cut}");
                assert_eq!(left.as_deref(), rest.map(str::as_bytes), "{input:?} by {cut}");
            }
        }
    }

    #[test]
    fn replies() {
        assert_eq!(status(b"+OK hi\r\n"), Some(Status::Ok(b"hi")));
        assert_eq!(status(b"+OK\r\n"), Some(Status::Ok(b"")));
        assert_eq!(status(b"-ERR no\r\n"), Some(Status::Err(b"no")));
        assert_eq!(status(b"+ QUJD \r\n"), Some(Status::Continue(b"QUJD")));
        assert_eq!(status(b"+\r\n"), Some(Status::Continue(b"")));
        assert_eq!(status(b"hello\r\n"), None);
    }

    /// The example of RFC 1939 section 7.
    #[test]
    fn apop_of_the_rfc() {
        let greeting = b"POP3 server ready <1896.697170952@dbc.mtview.ca.us>";
        let timestamp = timestamp(greeting).unwrap();
        let command = apop(b"mrose", b"tanstaaf", timestamp);
        assert_eq!(command, b"APOP mrose c4c9334bac560ecc979e58001b3e22fb");
        for none in ["hello", "a <b> c", "<a@b", ">@<"] {
            assert_eq!(super::timestamp(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn commands_with_a_multi_line_reply() {
        for with in ["RETR 1", "TOP 1 0", "LIST", "uidl", "CAPA", "X-OWN 1", "XTND a"] {
            assert!(has_body(with.as_bytes()), "{with}");
        }
        for without in ["LIST 1", "UIDL 2", "STAT", "DELE 1", "noop", "RSET"] {
            assert!(!has_body(without.as_bytes()), "{without}");
        }
    }

    #[test]
    fn capabilities() {
        let mut known = Capabilities::default();
        ["+OK list\r\n", "STLS\r\n", "SASL PLAIN CRAM-MD5\r\n", "USERS\r\n"]
            .iter()
            .for_each(|l| known.take(l.as_bytes()));
        assert!(known.stls && !known.user && !known.sasl.is_empty());
    }
}
