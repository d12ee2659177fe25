//! SMTP (RFC 5321) as bytes: reply lines, EHLO extensions, mailboxes in commands, and dot-stuffing
//! ([`Stuffer`]).

use memchr::memchr;

use crate::auth::sasl::Mechanisms;
use crate::url::unicode_to_ascii;

/// A line of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub code: u16,
    /// No more lines follow.
    pub is_last: bool,
    /// Without code and line ending.
    pub text: &'a [u8],
}

/// Parses a reply line; `None` if it is not one. Some servers end a reply with the code alone (RFC 4954
/// section 4.2).
pub fn line(line: &[u8]) -> Option<Line<'_>> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (digits, rest) = line.split_at_checked(3)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let code = digits.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    match rest.split_first() {
        None => Some(Line { code, is_last: true, text: b"" }),
        Some((b' ', text)) => Some(Line { code, is_last: true, text }),
        Some((b'-', text)) => Some(Line { code, is_last: false, text }),
        Some(_) => None,
    }
}

/// The extensions that matter, from the reply to EHLO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    pub starttls: bool,
    pub size: bool,
    pub smtputf8: bool,
    pub pipelining: bool,
    pub chunking: bool,
    pub auth: bool,
    pub mechanisms: Mechanisms,
}

impl Extensions {
    /// Takes the text of one line.
    pub fn take(&mut self, text: &[u8]) {
        let text = text.trim_ascii();
        // `AUTH=`, a spelling from before RFC 2554, is not heard by curl either.
        let end = text.iter().position(|b| *b == b' ').unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if name.eq_ignore_ascii_case(b"STARTTLS") {
            self.starttls = true;
        } else if name.eq_ignore_ascii_case(b"SIZE") {
            self.size = true;
        } else if name.eq_ignore_ascii_case(b"SMTPUTF8") {
            self.smtputf8 = true;
        } else if name.eq_ignore_ascii_case(b"PIPELINING") {
            self.pipelining = true;
        } else if name.eq_ignore_ascii_case(b"CHUNKING") {
            self.chunking = true;
        } else if name.eq_ignore_ascii_case(b"AUTH") {
            self.auth = true;
            self.mechanisms.offer(rest.get(1..).unwrap_or_default());
        }
    }
}

/// A mailbox as a command names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox {
    /// Before the at sign.
    local: Vec<u8>,
    /// Behind it, as ASCII where that is possible (RFC 5890).
    host: Option<Vec<u8>>,
    /// Text after the closing bracket: parameters of the command (RFC 3461 defines some).
    suffix: Vec<u8>,
    /// Something in it was not ASCII.
    is_international: bool,
}

impl Mailbox {
    /// Parses an address, with or without angle brackets. An address without a host is left for the server to
    /// judge.
    pub fn parse(address: &[u8]) -> Mailbox {
        let (address, suffix) = match address.strip_prefix(b"<") {
            None => (address, &b""[..]),
            Some(inner) => match inner.iter().rposition(|b| *b == b'>') {
                Some(at) => (&inner[..at], &inner[at + 1..]),
                None => (inner, &b""[..]),
            },
        };
        let (local, host) = match memchr(b'@', address) {
            Some(at) => (&address[..at], Some(&address[at + 1..])),
            None => (address, None),
        };
        let ascii = |host: &[u8]| match host.is_ascii() {
            true => host.to_vec(),
            false => unicode_to_ascii(host).unwrap_or_else(|_| host.to_vec()),
        };
        Mailbox {
            local: local.to_vec(),
            host: host.map(ascii),
            suffix: suffix.to_vec(),
            is_international: !address.is_ascii(),
        }
    }

    /// Whether the server must speak SMTPUTF8 (RFC 6531) to understand it as it was meant.
    pub fn is_international(&self) -> bool {
        self.is_international
    }

    /// Returns the mailbox without brackets and parameters.
    pub fn bare(&self) -> Vec<u8> {
        match &self.host {
            Some(host) => [&self.local[..], b"@", host].concat(),
            None => self.local.clone(),
        }
    }

    /// Returns the mailbox as a path (RFC 5321 section 4.1.2), with its parameters.
    pub fn path(&self) -> Vec<u8> {
        [b"<", &self.bare()[..], b">", &self.suffix].concat()
    }
}

/// Returns whether a mail consists of lines that end in CR LF, as a chunk must (RFC 3030 section 3); the last
/// line may lack it.
pub fn is_lines(mail: &[u8]) -> bool {
    let mut before = 0;
    mail.iter().chain(b"x").all(|&octet| {
        let fits = octet != 0 && (octet == b'\n') == (before == b'\r');
        before = octet;
        fits
    })
}

/// Stuffs a dot before lines that begin with one, and appends the final line with only a dot (RFC 5321
/// section 4.5.2). Only CR LF ends a line.
#[derive(Debug)]
pub struct Stuffer {
    /// How much of CR LF came last; initially both.
    seen: u8,
}

impl Default for Stuffer {
    fn default() -> Stuffer {
        Stuffer { seen: 2 }
    }
}

impl Stuffer {
    /// Writes a piece of the mail.
    pub fn write(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let mut rest = piece;
        while let Some(&octet) = rest.first() {
            match (self.seen, octet) {
                (2, b'.') => {
                    out.extend_from_slice(b"..");
                    self.seen = 0;
                }
                (1, b'\n') => {
                    out.push(b'\n');
                    self.seen = 2;
                }
                (_, b'\r') => {
                    out.push(b'\r');
                    self.seen = 1;
                }
                _ => {
                    // Nothing before the next CR needs a check.
                    let run = memchr(b'\r', rest).unwrap_or(rest.len());
                    out.extend_from_slice(&rest[..run]);
                    rest = &rest[run..];
                    self.seen = 0;
                    continue;
                }
            }
            rest = &rest[1..];
        }
    }

    /// Writes the end.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.seen == 2 { b".\r\n" } else { b"\r\n.\r\n" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_across_any_cut() {
        let rows = [
            ("", ".\r\n"),
            ("a\r\n", "a\r\n.\r\n"),
            ("a", "a\r\n.\r\n"),
            (".a\r\n.\r\n..\r\n", "..a\r\n..\r\n...\r\n.\r\n"),
            ("a\n.\nb", "a\n.\nb\r\n.\r\n"),
            ("a\r\r\n.\r\n", "a\r\r\n..\r\n.\r\n"),
            ("a\r.\n.\r", "a\r.\n.\r\r\n.\r\n"),
            ("\r\n.\r\n", "\r\n..\r\n.\r\n"),
        ];
        for (input, wanted) in rows {
            for cut in 1..=input.len().max(1) {
                let (mut stuffer, mut out) = (Stuffer::default(), Vec::new());
                input.as_bytes().chunks(cut).for_each(|piece| stuffer.write(piece, &mut out));
                stuffer.end(&mut out);
                assert_eq!(String::from_utf8_lossy(&out), wanted, "{input:?} by {cut}");
            }
        }
    }

    #[test]
    fn replies() {
        let last = |code, text| Some(Line { code, is_last: true, text });
        assert_eq!(line(b"250 ok\r\n"), last(250, b"ok"));
        assert_eq!(line(b"354\r\n"), last(354, b""));
        assert_eq!(line(b"250-a b\r\n"), Some(Line { code: 250, is_last: false, text: b"a b" }));
        for none in ["", "25", "2x0 a", "250a", "hello there"] {
            assert_eq!(line(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn lines() {
        for lines in ["", "a", "a\r\n", "a\r\nb", "\r\n\r\n.\r\n"] {
            assert!(is_lines(lines.as_bytes()), "{lines:?}");
        }
        for other in ["\n", "a\r", "a\rb\r\n", "a\r\r\n", "a\nb\r\n", "a\0\r\n", "a\r\n\n"] {
            assert!(!is_lines(other.as_bytes()), "{other:?}");
        }
    }

    #[test]
    fn extensions() {
        let mut known = Extensions::default();
        ["server greets", "STARTTLS", "size 100", "AUTH PLAIN X", "SMTPUTF8X"]
            .iter()
            .for_each(|line| known.take(line.as_bytes()));
        assert!(known.starttls && known.size && known.auth && !known.smtputf8);
        assert!(!known.mechanisms.is_empty());
    }

    #[test]
    fn mailboxes() {
        let path = |address: &str| String::from_utf8(Mailbox::parse(address.as_bytes()).path()).unwrap();
        assert_eq!(path("a@b"), "<a@b>");
        assert_eq!(path("<a@b>"), "<a@b>");
        assert_eq!(path("<a@b> NOTIFY=SUCCESS,FAILURE"), "<a@b> NOTIFY=SUCCESS,FAILURE");
        assert_eq!(path("<a@b"), "<a@b>");
        assert_eq!(path("invalid"), "<invalid>");
        assert_eq!(path("me@\u{e5}\u{e4}\u{f6}.se"), "<me@xn--4cab6c.se>");
        let international = |address: &str| Mailbox::parse(address.as_bytes()).is_international();
        assert!(international("\u{e4}@b") && international("a@\u{e4}.se") && !international("a@b"));
    }
}
