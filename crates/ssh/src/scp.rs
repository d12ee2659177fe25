//! SCP on a channel (the protocol of rcp): the command, and the few lines that describe a file. The sender
//! sends the head, waits for a zero byte, sends the bytes and a zero byte.

use crate::error::{Error, printable};

/// The longest line of a head or of a complaint.
const MAX_LINE: usize = 8192;

/// The command that sends a file to us; with its times where they are wanted.
pub fn fetch_command(path: &[u8], times: bool) -> Vec<u8> {
    [if times { b"scp -pf ".as_slice() } else { b"scp -f " }, &quoted(path)].concat()
}

/// The command that takes a file from us.
pub fn store_command(path: &[u8]) -> Vec<u8> {
    [b"scp -t ".as_slice(), &quoted(path)].concat()
}

/// Quotes a path for the shell on the other side, so that no character is special.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in path {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

/// The head of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub mode: u32,
    pub size: u64,
}

impl Head {
    /// The line that a server is sent.
    pub fn line(&self, name: &[u8]) -> Vec<u8> {
        let mut file = format!("C{:04o} {} ", self.mode & 0o7777, self.size).into_bytes();
        // A line end in a name would end the head.
        file.extend(name.iter().map(|b| if *b == b'\n' { b'_' } else { *b }));
        file.push(b'\n');
        file
    }
}

/// A server's description of a file to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlMessage {
    /// When the file that comes next was last changed, in seconds since the epoch.
    Times(u64),
    File(Head),
}

/// Parses the line at the front of `bytes`; returns its length and contents. A complaint is an error with the
/// server's text.
pub fn head_line(bytes: &[u8]) -> Result<Option<(usize, ControlMessage)>, ScpError> {
    let Some(end) = line_end(bytes)? else { return Ok(None) };
    let line = &bytes[..end];
    let (kind, rest) = line.split_first().ok_or(ScpError::Protocol(BAD))?;
    let text = std::str::from_utf8(rest).ok();
    let message = match kind {
        b'T' => {
            let modified = text.and_then(|text| text.split(' ').next()).and_then(|n| n.parse().ok());
            ControlMessage::Times(modified.ok_or(ScpError::Protocol(BAD))?)
        }
        b'C' => ControlMessage::File(file(rest).ok_or(ScpError::Protocol(BAD))?),
        1 | 2 => return Err(ScpError::Server(printable(rest))),
        b'D' => return Err(ScpError::Protocol("the server sends a folder")),
        _ => return Err(ScpError::Protocol(BAD)),
    };
    Ok(Some((end + 1, message)))
}

/// Parses the reply to what was sent; returns its length.
pub fn answer(bytes: &[u8]) -> Result<Option<usize>, ScpError> {
    match bytes.first() {
        None => Ok(None),
        Some(0) => Ok(Some(1)),
        Some(_) => match line_end(bytes)? {
            None => Ok(None),
            Some(end) => Err(ScpError::Server(printable(&bytes[1.min(end)..end]))),
        },
    }
}

/// Why a file cannot be downloaded or uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScpError {
    /// The server's words.
    Server(String),
    /// The server violates the protocol.
    Protocol(&'static str),
}

impl From<ScpError> for Error {
    fn from(fault: ScpError) -> Error {
        match fault {
            ScpError::Server(text) => Error::Disconnected(0, text),
            ScpError::Protocol(what) => Error::Protocol(what),
        }
    }
}

const BAD: &str = "an SCP line that is none";

fn line_end(bytes: &[u8]) -> Result<Option<usize>, ScpError> {
    match bytes.iter().position(|b| *b == b'\n') {
        Some(end) => Ok(Some(end)),
        None if bytes.len() > MAX_LINE => Err(ScpError::Protocol("an SCP line without end")),
        None => Ok(None),
    }
}

/// `0644 length name`
fn file(rest: &[u8]) -> Option<Head> {
    let mut words = rest.splitn(3, |b| *b == b' ');
    let digits = |word: Option<&[u8]>, radix: u32| {
        let text = std::str::from_utf8(word?).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?;
        u64::from_str_radix(text, radix).ok()
    };
    let mode = digits(words.next(), 8)?;
    let size = digits(words.next(), 10).filter(|size| i64::try_from(*size).is_ok())?;
    words.next()?;
    Some(Head { mode: u32::try_from(mode).ok()?, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_for_the_shell() {
        assert_eq!(fetch_command(b"/a b;$(c)'d", false), b"scp -f '/a b;$(c)'\\''d'");
        assert_eq!(fetch_command(b"x", true), b"scp -pf 'x'");
        assert_eq!(store_command(b"x"), b"scp -t 'x'");
    }

    #[test]
    fn heads() {
        let head = Head { mode: 0o644, size: 12 };
        assert_eq!(head_line(b"C0644 12 a b\n"), Ok(Some((13, ControlMessage::File(head.clone())))));
        assert_eq!(head_line(b"T17 0 18 0\nC"), Ok(Some((11, ControlMessage::Times(17)))));
        assert_eq!(head_line(b"C0644 12 a"), Ok(None));
        assert_eq!(head.line(b"n\nm"), b"C0644 12 n_m\n");
        for bad in [
            "C0644 -1 a\n",
            "C0644 99999999999999999999 a\n",
            "C0648 1 a\n",
            "C0644 1\n",
            "D0755 0 a\n",
            "X\n",
            "\n",
        ] {
            assert!(matches!(head_line(bad.as_bytes()), Err(ScpError::Protocol(_))), "{bad:?}");
        }
        assert_eq!(head_line(b"\x01scp: no\n"), Err(ScpError::Server("scp: no".into())));
        assert!(head_line(&[b'C'; 9000]).is_err());
    }

    #[test]
    fn answers() {
        assert_eq!(answer(b""), Ok(None));
        assert_eq!(answer(b"\0"), Ok(Some(1)));
        assert_eq!(answer(b"\x01no"), Ok(None));
        assert_eq!(answer(b"\x02no\n"), Err(ScpError::Server("no".into())));
    }
}
