//! The status line of a response (RFC 9112 §4), as tolerant as curl: the reason may be missing, the code may
//! have more than three digits, and a line that starts like a status line of HTTP/2 or 3 also starts a
//! response.

/// A parsed status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusLine {
    /// 10, 11, 20 or 30; 9 for a response without a head.
    pub version: u8,
    /// Three digits, 0 to 999; more may follow them.
    pub code: u16,
}

/// The value for a line that starts a response and is not a status line: an alias of the application
/// (CURLOPT_HTTP200ALIASES), "HTTP/2.0 404", and anything after a "http/" that is not in capitals.
pub const ALIAS: StatusLine = StatusLine { version: 10, code: 200 };

/// Why a line that begins like a status line is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadStatus {
    /// "HTTP/" is followed by an unknown version.
    Version,
    /// HTTP/1 with another minor version than 0 and 1, or without one blank and three digits behind it.
    Subversion,
    /// A complete line of HTTP/2 or 3 on a connection of HTTP/1.
    Major(u8),
}

impl BadStatus {
    /// curl's words for it.
    pub fn text(self) -> String {
        match self {
            BadStatus::Version => "Unsupported HTTP version in response".to_owned(),
            BadStatus::Subversion => "Unsupported HTTP/1 subversion in response".to_owned(),
            // A connection cannot switch from HTTP/1 to HTTP/3.
            BadStatus::Major(3) => "Unsupported HTTP version (3.0) in response".to_owned(),
            BadStatus::Major(major) => format!("Version mismatch (from HTTP/1 to HTTP/{major})"),
        }
    }
}

/// The kind of a response, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// It starts with "HTTP/".
    Http,
    /// It matches "HTTP/" so far, and is too short to decide.
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
    /// Returns whether the status has no body, whatever the head says (RFC 9112 §6.3).
    pub fn is_bodyless(&self) -> bool {
        matches!(self.code, 100..200 | 204 | 304)
    }

    /// Parses a line that begins with "HTTP/", in any case.
    pub fn parse(line: &[u8]) -> Result<StatusLine, BadStatus> {
        if !line.starts_with(PREFIX) {
            return Ok(ALIAS);
        }
        match line.get(PREFIX.len()..).unwrap_or_default() {
            [b'1', rest @ ..] => match rest {
                [b'.', minor @ (b'0' | b'1'), b' ' | b'\t', rest @ ..] => match leading_code(rest) {
                    Some(code) => Ok(StatusLine { version: 10 + (minor - b'0'), code }),
                    None => Err(BadStatus::Subversion),
                },
                _ => Err(BadStatus::Subversion),
            },
            [major @ (b'2' | b'3'), rest @ ..] => later(major - b'0', rest),
            _ => Err(BadStatus::Version),
        }
    }
}

/// Returns version and code of the status line in a response to CONNECT, which curl parses less strictly: an
/// invalid code is 0.
pub fn connect_status(line: &[u8]) -> Option<(u8, u16)> {
    let rest = line.strip_prefix(PREFIX)?;
    let [b'1', b'.', minor @ (b'0' | b'1'), b' ', code @ ..] = rest else { return None };
    let parsed = leading_code(code).filter(|_| !code.get(3).is_some_and(u8::is_ascii_digit))?;
    Some((10 + (minor - b'0'), parsed))
}

/// HTTP/2 and 3 have no status line; some servers write one all the same.
fn later(major: u8, rest: &[u8]) -> Result<StatusLine, BadStatus> {
    match rest {
        [b' ' | b'\t', code @ ..]
            if leading_code(code).is_some() && matches!(code.get(3), Some(b' ' | b'\t')) =>
        {
            Err(BadStatus::Major(major))
        }
        _ => Ok(ALIAS),
    }
}

fn leading_code(text: &[u8]) -> Option<u16> {
    let digits = text.first_chunk::<3>().filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    Some(digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let ok = |l: &str| StatusLine::parse(l.as_bytes()).unwrap();
        let of = |version, code| StatusLine { version, code };
        for (line, parsed) in [
            ("HTTP/1.1 200 OK\r\n", of(11, 200)),
            ("HTTP/1.0 404", of(10, 404)),
            ("HTTP/1.1\t099 x", of(11, 99)),
            ("HTTP/1.1 2000 x", of(11, 200)),
            ("HTTP/1.1 200=OK", of(11, 200)),
            ("HTTP/2 301", ALIAS),
            ("HTTP/3 200\r\n", ALIAS),
            ("HTTP/3 20", ALIAS),
            ("HTTP/2.0 404 Not Found", ALIAS),
            ("http/1.1 404 Not Found", ALIAS),
            ("Http/4", ALIAS),
        ] {
            assert_eq!(ok(line), parsed, "{line:?}");
        }
    }

    #[test]
    fn no_status_lines() {
        for (line, why) in [
            ("HTTP/0.9 200 OK", BadStatus::Version),
            ("HTTP/", BadStatus::Version),
            ("HTTP/1", BadStatus::Subversion),
            ("HTTP/1.2 200 OK", BadStatus::Subversion),
            ("HTTP/11 200", BadStatus::Subversion),
            ("HTTP/1.1", BadStatus::Subversion),
            ("HTTP/1.1  200 two blanks", BadStatus::Subversion),
            ("HTTP/1.1 20\r\n", BadStatus::Subversion),
            ("HTTP/1.1 -20 OK", BadStatus::Subversion),
            ("HTTP/2 200 OK", BadStatus::Major(2)),
            ("HTTP/3 200\t", BadStatus::Major(3)),
        ] {
            assert_eq!(StatusLine::parse(line.as_bytes()), Err(why), "{line}");
        }
    }

    #[test]
    fn replies_to_connect() {
        assert_eq!(connect_status(b"HTTP/1.0 200\r\n"), Some((10, 200)));
        assert_eq!(connect_status(b"HTTP/1.1 407 Who?\r\n"), Some((11, 407)));
        for line in [
            "http/1.1 200 x",
            "H;TP/1.1 401 x",
            "HTTP/1.1 2000",
            "HTTP/1.1\t200 OK",
            "HTTP/2 200",
            "HTTP/1.1 20\r\n",
            "",
        ] {
            assert_eq!(connect_status(line.as_bytes()), None, "{line}");
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
