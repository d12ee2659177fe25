//! The status line of a response (RFC 9112 §4), as tolerant as curl: the reason may be missing, and
//! "HTTP/2 200" or "HTTP/3 200" are status lines too.

/// A parsed status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusLine {
    /// 9, 10, 11, 20 or 30.
    pub version: u8,
    /// Three digits, 0 to 999.
    pub code: u16,
}

/// Why a line that begins like a status line is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadStatus {
    /// "HTTP/" is followed by a version that nobody speaks.
    Version,
    /// The code is not three digits.
    Code,
}

/// What the first bytes of a reply look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// "HTTP/" stands there.
    Http,
    /// All bytes so far fit "HTTP/", but there are too few to tell.
    Undecided,
    /// Something else: HTTP/0.9 or another protocol.
    Other,
}

const PREFIX: &[u8] = b"HTTP/";

/// Looks at the first bytes of a reply; the name is compared without case, as curl does.
pub fn opening(bytes: &[u8]) -> Opening {
    let n = bytes.len().min(PREFIX.len());
    if !bytes[..n].eq_ignore_ascii_case(&PREFIX[..n]) {
        Opening::Other
    } else if n == PREFIX.len() {
        Opening::Http
    } else {
        Opening::Undecided
    }
}

impl StatusLine {
    /// Parses a line without its line ending; it must begin with "HTTP/".
    pub fn parse(line: &[u8]) -> Result<StatusLine, BadStatus> {
        let rest = line.get(PREFIX.len()..).ok_or(BadStatus::Version)?;
        let (version, rest) = match rest {
            [b'1', b'.', minor @ (b'0' | b'1'), rest @ ..] => (10 + (minor - b'0'), rest),
            [major @ (b'2' | b'3'), b'.', b'0', rest @ ..] => ((major - b'0') * 10, rest),
            [major @ (b'2' | b'3'), rest @ ..] => ((major - b'0') * 10, rest),
            _ => return Err(BadStatus::Version),
        };
        let rest = match rest {
            [b' ' | b'\t', rest @ ..] => rest,
            _ => return Err(BadStatus::Version),
        };
        let digits = rest.trim_ascii_start();
        match digits {
            [a, b, c, rest @ ..]
                if [a, b, c].iter().all(|d| d.is_ascii_digit())
                    && rest.first().is_none_or(|d| d.is_ascii_whitespace()) =>
            {
                let code = [a, b, c].iter().fold(0u16, |n, d| n * 10 + u16::from(**d - b'0'));
                if code < 100 { Err(BadStatus::Code) } else { Ok(StatusLine { version, code }) }
            }
            _ => Err(BadStatus::Code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let ok = |l: &str| StatusLine::parse(l.as_bytes()).unwrap();
        assert_eq!(ok("HTTP/1.1 200 OK"), StatusLine { version: 11, code: 200 });
        assert_eq!(ok("HTTP/1.0 404"), StatusLine { version: 10, code: 404 });
        assert_eq!(ok("HTTP/2 301 "), StatusLine { version: 20, code: 301 });
        assert_eq!(ok("HTTP/1.1  200 two blanks").code, 200);
        for (line, why) in [
            ("HTTP/1.2 200 OK", BadStatus::Version),
            ("HTTP/1.1", BadStatus::Version),
            ("HTTP/1.1 20", BadStatus::Code),
            ("HTTP/1.1 099 OK", BadStatus::Code),
            ("HTTP/1.1 2000 OK", BadStatus::Code),
            ("HTTP/1.1 -20 OK", BadStatus::Code),
        ] {
            assert_eq!(StatusLine::parse(line.as_bytes()), Err(why), "{line}");
        }
    }

    #[test]
    fn openings() {
        assert_eq!(opening(b""), Opening::Undecided);
        assert_eq!(opening(b"HTT"), Opening::Undecided);
        assert_eq!(opening(b"HTTP/1"), Opening::Http);
        assert_eq!(opening(b"http/1"), Opening::Http);
        assert_eq!(opening(b"HTML"), Opening::Other);
    }
}
