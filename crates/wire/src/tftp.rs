//! TFTP (RFC 1350) with its options (RFC 2347, 2348, 2349): packets to values and back.

/// How a file travels (RFC 1350 section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Octet,
    Netascii,
}

/// Block size without negotiation.
pub const DEFAULT_BLOCK: usize = 512;
/// The sizes that may be agreed on (RFC 2348).
pub const BLOCKS: std::ops::RangeInclusive<usize> = 8..=65_464;

/// Names and values.
type Options<'a> = Vec<(&'a [u8], &'a [u8])>;

/// A packet of a server, or one of a client other than a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    Data {
        block: u16,
        bytes: &'a [u8],
    },
    Ack {
        block: u16,
    },
    Error {
        code: u16,
        text: &'a [u8],
    },
    /// The options that the server takes up, with the values that it settled on.
    Options(Options<'a>),
}

/// A packet that is none, or none that a server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

const READ: u16 = 1;
const WRITE: u16 = 2;
const DATA: u16 = 3;
const ACK: u16 = 4;
const ERROR: u16 = 5;
const OPTIONS: u16 = 6;

/// More options than a client ever asks for.
const MAX_OPTIONS: usize = 16;

impl<'a> Packet<'a> {
    /// Reads one datagram.
    pub fn parse(datagram: &'a [u8]) -> Result<Packet<'a>, Malformed> {
        let (code, rest) = number(datagram)?;
        match code {
            DATA => number(rest).map(|(block, bytes)| Packet::Data { block, bytes }),
            ACK => number(rest).map(|(block, _)| Packet::Ack { block }),
            ERROR => number(rest).map(|(code, text)| Packet::Error { code, text: string(text).0 }),
            OPTIONS => options(rest).map(Packet::Options),
            _ => Err(Malformed),
        }
    }

    /// Writes it.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        let mut head = |code: u16, number: u16| {
            out.extend_from_slice(&code.to_be_bytes());
            out.extend_from_slice(&number.to_be_bytes());
        };
        match self {
            Packet::Data { block, bytes } => {
                head(DATA, *block);
                out.extend_from_slice(bytes);
            }
            Packet::Ack { block } => head(ACK, *block),
            Packet::Error { code, text } => {
                head(ERROR, *code);
                out.extend_from_slice(text);
                out.push(0);
            }
            Packet::Options(pairs) => {
                out.extend_from_slice(&OPTIONS.to_be_bytes());
                pairs.iter().for_each(|(name, value)| strings(out, name, value));
            }
        }
    }
}

/// Returns a request to read or write a file. Its name contains no NUL.
pub fn request(write: bool, name: &[u8], mode: Mode, options: &[(&str, u64)]) -> Vec<u8> {
    let mut out = (if write { WRITE } else { READ }).to_be_bytes().to_vec();
    let mode: &[u8] = match mode {
        Mode::Octet => b"octet",
        Mode::Netascii => b"netascii",
    };
    strings(&mut out, name, mode);
    for (name, value) in options {
        strings(&mut out, name.as_bytes(), value.to_string().as_bytes());
    }
    out
}

/// A value of an option as a number.
pub fn value(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// Parts a URL's path from the mode that it may name at its end (RFC 3617): `;mode=octet` or
/// `;mode=netascii`.
pub fn split_mode(path: &[u8]) -> (&[u8], Option<Mode>) {
    const SIGN: &[u8] = b";mode=";
    let Some(at) = path.windows(SIGN.len()).position(|w| w == SIGN) else { return (path, None) };
    let mode = match path.get(at + SIGN.len()).map(u8::to_ascii_lowercase) {
        Some(b'n' | b'a') => Some(Mode::Netascii),
        Some(b'o' | b'i') => Some(Mode::Octet),
        _ => None,
    };
    (&path[..at], mode)
}

fn strings(out: &mut Vec<u8>, one: &[u8], other: &[u8]) {
    for text in [one, other] {
        out.extend_from_slice(text);
        out.push(0);
    }
}

fn number(bytes: &[u8]) -> Result<(u16, &[u8]), Malformed> {
    let (number, rest) = bytes.split_first_chunk().ok_or(Malformed)?;
    Ok((u16::from_be_bytes(*number), rest))
}

/// Splits at the NUL; the rest is `None` if there is no NUL.
fn string(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|octet| *octet == 0) {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    }
}

fn options(mut rest: &[u8]) -> Result<Options<'_>, Malformed> {
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (name, after) = string(rest);
        let (value, after) = string(after.ok_or(Malformed)?);
        rest = after.ok_or(Malformed)?;
        if pairs.len() == MAX_OPTIONS {
            return Err(Malformed);
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let plain = request(false, b"a/b", Mode::Octet, &[]);
        assert_eq!(plain, b"\0\x01a/b\0octet\0");
        let full = request(true, b"f", Mode::Netascii, &[("tsize", 5), ("blksize", 1024)]);
        assert_eq!(full, b"\0\x02f\0netascii\0tsize\x005\0blksize\x001024\0");
    }

    #[test]
    fn packets_there_and_back() {
        let packets = [
            Packet::Data { block: 0x0102, bytes: b"xyz" },
            Packet::Data { block: 65_535, bytes: b"" },
            Packet::Ack { block: 7 },
            Packet::Error { code: 1, text: b"no such file" },
            Packet::Options(vec![(b"blksize", b"512"), (b"tsize", b"3")]),
            Packet::Options(vec![]),
        ];
        let mut bytes = Vec::new();
        for packet in packets {
            packet.write(&mut bytes);
            assert_eq!(Packet::parse(&bytes), Ok(packet));
        }
    }

    #[test]
    fn odd_packets() {
        for bad in
            [&b""[..], b"\0", b"\0\x03\0", b"\0\x01a\0octet\0", b"\0\x09\0\x01", b"\0\x06a", b"\0\x06a\0b"]
        {
            assert_eq!(Packet::parse(bad), Err(Malformed), "{bad:?}");
        }
        assert_eq!(Packet::parse(b"\0\x05\0\x02unended"), Ok(Packet::Error { code: 2, text: b"unended" }));
        assert!(Packet::parse(&[b"\0\x06".as_slice(), &b"a\0b\0".repeat(17)].concat()).is_err());
        assert_eq!(
            (value(b"12"), value(b""), value(b"-1"), value(b"99999999999999999999")),
            (Some(12), None, None, None)
        );
    }

    #[test]
    fn modes() {
        assert_eq!(split_mode(b"/f;mode=netascii"), (&b"/f"[..], Some(Mode::Netascii)));
        assert_eq!(split_mode(b"/f;mode=Octet"), (&b"/f"[..], Some(Mode::Octet)));
        assert_eq!(split_mode(b"/f;mode=x"), (&b"/f"[..], None));
        assert_eq!(split_mode(b"/f"), (&b"/f"[..], None));
    }
}
