//! deflate (RFC 1951) in its three wrappings: zlib (RFC 1950), gzip (RFC 1952), none.

use flate2::Crc;

use super::{Error, NOTHING, Progress};
use crate::inflater::Inflater;

pub(super) struct Inflate {
    state: State,
    accepts_gzip: bool,
    inflater: Inflater,
    /// Header or trailer octets, until there are enough.
    held: Vec<u8>,
    crc: Crc,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Two octets decide on the wrapping.
    Start,
    GzipHeader,
    Zlib,
    Raw,
    Gzip,
    GzipTrailer,
    /// After a raw stream: number of stray octets that may still follow.
    Stray(usize),
    End,
}

/// A gzip header with file name and comment is not allowed to be longer.
const GZIP_HEADER_LIMIT: usize = 64 * 1024;
const GZIP_TRAILER: usize = 8;
/// Some servers append a checksum to deflate without a zlib header.
const STRAY_LIMIT: usize = 4;

impl Inflate {
    pub fn gzip() -> Inflate {
        Inflate::new(true)
    }

    pub fn deflate() -> Inflate {
        Inflate::new(false)
    }

    fn new(accepts_gzip: bool) -> Inflate {
        Inflate {
            state: State::Start,
            accepts_gzip,
            inflater: Inflater::raw(),
            held: Vec::new(),
            crc: Crc::new(),
        }
    }

    pub fn may_end(&self) -> bool {
        match self.state {
            State::Start => self.held.is_empty(),
            State::Stray(_) | State::End => true,
            _ => false,
        }
    }

    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
        let taken = |rest: &[u8]| Progress { used: input.len() - rest.len(), made: 0 };
        match self.state {
            // Only an inflater can produce output without input: what it had no room for.
            State::Zlib | State::Raw | State::Gzip => self.inflate(input, output),
            _ if input.is_empty() => Ok(NOTHING),
            State::Start => self.choose_wrapping(input, output),
            State::GzipHeader => self.gzip_header(input).map(taken),
            State::GzipTrailer => self.gzip_trailer(input).map(taken),
            State::Stray(left) if input.len() <= left => {
                self.state = State::Stray(left - input.len());
                Ok(taken(&[]))
            }
            State::Stray(_) | State::End => Err(Error::TrailingData),
        }
    }

    fn choose_wrapping(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
        let used = input.len().min(2 - self.held.len());
        self.held.extend_from_slice(&input[..used]);
        let &[first, second] = self.held.as_slice() else { return Ok(Progress { used, made: 0 }) };
        let is_zlib = first & 15 == 8
            && first >> 4 <= 7
            && (u16::from(first) * 256 + u16::from(second)).is_multiple_of(31)
            && second & 0x20 == 0;
        self.state = match (first, second) {
            (0x1f, 0x8b) if self.accepts_gzip => State::GzipHeader,
            _ if is_zlib => State::Zlib,
            _ if self.accepts_gzip => return Err(Error::Deflate("incorrect header check")),
            _ => State::Raw,
        };
        if self.state == State::GzipHeader {
            return Ok(Progress { used, made: 0 });
        }
        let held = std::mem::take(&mut self.held);
        if self.state == State::Zlib {
            self.inflater = Inflater::zlib();
        }
        // Two octets of deflate contain a complete empty stream, or the first decoded octet.
        let made = self.inflate(&held, output)?.made;
        Ok(Progress { used, made })
    }

    fn gzip_header<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], Error> {
        let before = self.held.len();
        let taken = input.len().min(GZIP_HEADER_LIMIT - before);
        self.held.extend_from_slice(&input[..taken]);
        match gzip_header_length(&self.held)? {
            Some(length) => {
                self.held.clear();
                self.state = State::Gzip;
                Ok(&input[length - before..])
            }
            None if self.held.len() >= GZIP_HEADER_LIMIT => Err(Error::TooLarge),
            None => Ok(&[]),
        }
    }

    fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
        let step = self.inflater.step(input, output).map_err(|_| Error::Deflate("corrupt data"))?;
        if self.state == State::Gzip {
            self.crc.update(&output[..step.made]);
        }
        if step.ended {
            self.state = match self.state {
                State::Gzip => State::GzipTrailer,
                State::Raw => State::Stray(STRAY_LIMIT),
                _ => State::End,
            };
        }
        Ok(Progress { used: step.used, made: step.made })
    }

    fn gzip_trailer<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], Error> {
        let (taken, rest) = input.split_at(input.len().min(GZIP_TRAILER - self.held.len()));
        self.held.extend_from_slice(taken);
        if let &[a, b, c, d, e, f, g, h] = self.held.as_slice() {
            if u32::from_le_bytes([a, b, c, d]) != self.crc.sum() {
                return Err(Error::Deflate("incorrect data check"));
            }
            if u32::from_le_bytes([e, f, g, h]) != self.crc.amount() {
                return Err(Error::Deflate("incorrect length check"));
            }
            self.state = State::End;
        }
        Ok(rest)
    }
}

/// The length of a complete gzip header (RFC 1952 section 2.3), `None` while more is needed.
fn gzip_header_length(header: &[u8]) -> Result<Option<usize>, Error> {
    const HAS_CRC: u8 = 2;
    const HAS_EXTRA: u8 = 4;
    const HAS_NAME: u8 = 8;
    const HAS_COMMENT: u8 = 16;
    const RESERVED: u8 = 0xe0;
    let &[_, _, method, flags, _, _, _, _, _, _, ref rest @ ..] = header else { return Ok(None) };
    if method != 8 {
        return Err(Error::Deflate("unknown compression method"));
    }
    if flags & RESERVED != 0 {
        return Err(Error::Deflate("unknown header flags set"));
    }
    let mut length = 10;
    if flags & HAS_EXTRA != 0 {
        let &[low, high, ..] = rest else { return Ok(None) };
        length += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        if flags & flag != 0 {
            let Some(text) = header.get(length..) else { return Ok(None) };
            let Some(end) = text.iter().position(|&octet| octet == 0) else { return Ok(None) };
            length += end + 1;
        }
    }
    if flags & HAS_CRC != 0 {
        let (Some(before), Some(&[low, high])) = (header.get(..length), header.get(length..length + 2))
        else {
            return Ok(None);
        };
        let mut crc = Crc::new();
        crc.update(before);
        if crc.sum() as u16 != u16::from_le_bytes([low, high]) {
            return Err(Error::Deflate("header crc mismatch"));
        }
        length += 2;
    }
    Ok(if header.len() >= length { Some(length) } else { None })
}
