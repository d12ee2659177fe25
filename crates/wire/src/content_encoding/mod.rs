//! Content and transfer codings (RFC 9110 section 8.4, RFC 9659 for zstd): gzip, deflate, br, zstd, and with
//! a dictionary dcb and dcz (RFC 9842), also several on top of each other. Compressed octets are fed as they
//! arrive, and decoded ones are pulled in slices of at most 16 KiB. A reader may stop at any slice, so a
//! decompression bomb needs no more memory than its window.
//!
//! As in curl, these deviations are accepted: "deflate" without its zlib header (with up to four stray octets
//! after it), "gzip" that is really zlib, several zstd frames in a row. A truncated stream is
//! `Error::Truncated` from `finish`.

mod brotli;
mod dictionary;
mod inflate;
mod zstd;

use std::fmt;
use std::rc::Rc;

pub use dictionary::{Dictionary, WITH_DICTIONARY};
use dictionary::{Header, HeaderFault};

/// The value of `Accept-Encoding` if the application requests all codings.
pub const SUPPORTED: &str = "deflate, gzip, br, zstd";

/// How many codings a response may have on top of each other.
pub const DEPTH_LIMIT: usize = 5;

/// The most that comes out at once.
const SLICE_LIMIT: usize = 16 * 1024;

/// Why decoding stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// More codings than allowed.
    TooMany,
    /// A body arrived in a coding that is not known.
    Unknown,
    Corrupt,
    /// A fault in gzip or deflate, with zlib's text, which programs match.
    Deflate(&'static str),
    /// Octets follow the end of the compressed data.
    TrailingData,
    /// The body ended before the compressed data did.
    Truncated,
    /// More memory would be needed than a peer may ask for.
    TooLarge,
    /// The data was compressed with another dictionary than the one that was offered.
    OtherDictionary,
}

/// The codings of one body.
pub struct Decoder {
    /// In the order of decoding: the last coding that was applied comes first.
    stages: Vec<Stage>,
}

/// A decoder: its unused input, and its output buffer.
struct Stage {
    coding: Coding,
    input: Vec<u8>,
    used: usize,
    output: Vec<u8>,
}

enum Coding {
    Identity,
    Inflate(Box<inflate::Inflate>),
    Brotli(Box<brotli::Brotli>),
    Zstd(Box<zstd::Zstd>),
    /// The header of data that was compressed with a dictionary; what follows it passes.
    Header(Header),
    /// Fails only when a body arrives: responses to HEAD may name any coding.
    Unknown,
}

/// The result of one decoding step. If nothing was used or made, the decoder needs more input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Progress {
    used: usize,
    made: usize,
}

const NOTHING: Progress = Progress { used: 0, made: 0 };

/// Makes a state of several KiB on the heap. Each kind has a frame of its own, because the state is built on
/// the stack, and one frame for all kinds would be as large as their sum.
#[inline(never)]
fn boxed<T>(new: impl FnOnce() -> T) -> Box<T> {
    Box::new(new())
}

impl Decoder {
    /// Returns a decoder for the value of the header, several headers joined by commas.
    pub fn new(list: &str, depth_limit: usize) -> Result<Decoder, Error> {
        Decoder::with_dictionary(list, depth_limit, None)
    }

    /// Returns a decoder as [`new`](Self::new) does, for a request that has offered a dictionary. Most bodies
    /// have no coding: the caller's frame must not have room for what this function needs.
    #[cold]
    #[inline(never)]
    pub fn with_dictionary(
        list: &str,
        depth_limit: usize,
        dictionary: Option<&Rc<Dictionary>>,
    ) -> Result<Decoder, Error> {
        let mut stages = Vec::new();
        for (index, name) in list.split(',').map(str::trim).filter(|name| !name.is_empty()).enumerate() {
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            if index == depth_limit {
                return Err(Error::TooMany);
            }
            if is("identity") || is("none") {
                continue;
            }
            let coding = if is("gzip") || is("x-gzip") {
                Coding::Inflate(boxed(inflate::Inflate::gzip))
            } else if is("deflate") {
                Coding::Inflate(boxed(inflate::Inflate::deflate))
            } else if is("br") {
                Coding::Brotli(boxed(brotli::Brotli::new))
            } else if is("zstd") {
                Coding::Zstd(boxed(zstd::Zstd::new))
            } else if let Some(dictionary) = dictionary.filter(|_| is("dcb") || is("dcz")) {
                stages.push(Stage::new(match is("dcb") {
                    true => Coding::Brotli(boxed(|| brotli::Brotli::with_dictionary(dictionary.clone()))),
                    false => Coding::Zstd(boxed(|| zstd::Zstd::with_dictionary(dictionary))),
                }));
                Coding::Header(Header::new(name, dictionary))
            } else {
                Coding::Unknown
            };
            stages.push(Stage::new(coding));
        }
        stages.reverse();
        if stages.is_empty() {
            stages.push(Stage::new(Coding::Identity));
        }
        Ok(Decoder { stages })
    }

    /// Whether everything passes unchanged.
    pub fn is_identity(&self) -> bool {
        matches!(self.stages.as_slice(), [Stage { coding: Coding::Identity, .. }])
    }

    /// Passes octets of the body to the decoder.
    pub fn feed(&mut self, input: &[u8]) {
        self.stages.first_mut().expect("there is always one").feed(input);
    }

    /// Decodes on: the next slice of the body, or `None` when there is none without more input. After a
    /// failure the decoder is of no more use.
    pub fn next_slice(&mut self) -> Result<Option<&[u8]>, Error> {
        let made = pull(&mut self.stages)?;
        let last = self.stages.last().expect("there is always one");
        Ok((made > 0).then(|| &last.output[..made]))
    }

    /// The body has ended. A body without a single octet is fine in any coding.
    pub fn finish(&self) -> Result<(), Error> {
        let is_done = self.stages.iter().all(|stage| match &stage.coding {
            Coding::Inflate(coding) => coding.may_end(),
            Coding::Brotli(coding) => coding.may_end(),
            Coding::Zstd(coding) => coding.may_end(),
            Coding::Header(header) => header.may_end(),
            Coding::Identity | Coding::Unknown => true,
        });
        if is_done { Ok(()) } else { Err(Error::Truncated) }
    }
}

/// Makes the last stage produce output from that of the stages before it; returns the length of its output.
fn pull(stages: &mut [Stage]) -> Result<usize, Error> {
    let Some((last, before)) = stages.split_last_mut() else { return Ok(0) };
    loop {
        match last.step()? {
            Progress { made: 0, used: 0 } => {
                let made = pull(before)?;
                let Some(source) = before.last().filter(|_| made > 0) else { return Ok(0) };
                last.feed(&source.output[..made]);
            }
            Progress { made: 0, .. } => {}
            Progress { made, .. } => return Ok(made),
        }
    }
}

/// Copies as much as there is room for, and returns the length.
fn pass(input: &[u8], output: &mut [u8]) -> usize {
    let length = input.len().min(output.len());
    output[..length].copy_from_slice(&input[..length]);
    length
}

impl From<HeaderFault> for Error {
    fn from(fault: HeaderFault) -> Error {
        match fault {
            HeaderFault::NoHeader => Error::Corrupt,
            HeaderFault::OtherDictionary => Error::OtherDictionary,
        }
    }
}

impl Stage {
    fn new(coding: Coding) -> Stage {
        Stage { coding, input: Vec::new(), used: 0, output: vec![0; SLICE_LIMIT] }
    }

    fn feed(&mut self, input: &[u8]) {
        self.input.drain(..std::mem::take(&mut self.used));
        self.input.extend_from_slice(input);
    }

    fn step(&mut self) -> Result<Progress, Error> {
        let input = &self.input[self.used..];
        let progress = match &mut self.coding {
            Coding::Identity => {
                let passed = pass(input, &mut self.output);
                Progress { used: passed, made: passed }
            }
            Coding::Inflate(coding) => coding.step(input, &mut self.output)?,
            Coding::Brotli(coding) => coding.step(input, &mut self.output)?,
            Coding::Zstd(coding) => coding.step(input, &mut self.output)?,
            Coding::Header(header) => {
                let used = header.take(input)?;
                let passed = pass(&input[used..], &mut self.output);
                Progress { used: used + passed, made: passed }
            }
            Coding::Unknown if input.is_empty() => NOTHING,
            Coding::Unknown => return Err(Error::Unknown),
        };
        self.used += progress.used;
        Ok(progress)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Error::Deflate(why) = self {
            return write!(formatter, "Error while processing content unencoding: {why}");
        }
        formatter.write_str(match self {
            Error::TooMany => "Reject response exceeding limit of 5 content encodings",
            Error::Unknown => "Unrecognized content encoding type",
            Error::Corrupt | Error::Deflate(_) => "Unrecognized or bad HTTP Content or Transfer-Encoding",
            Error::TrailingData => "Multi-member gzip response not supported",
            Error::Truncated => "Compressed content did not end cleanly, data truncated?",
            Error::TooLarge => "the compressed data needs too much memory",
            Error::OtherDictionary => "the data was compressed with another dictionary than the offered one",
        })
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
