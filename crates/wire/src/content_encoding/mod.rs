//! Content and transfer codings (RFC 9110 section 8.4, RFC 9659 for zstd): gzip, deflate, br and zstd, also several
//! on top of each other. Push style: compressed octets go in as they come, decoded ones come out in slices of at most
//! 16 KiB (what no coding changes passes as it is).
//!
//! What curl tolerates and this does too: "deflate" without its zlib header (with up to four stray octets after it),
//! "gzip" that is really zlib, several zstd frames in a row. What stops short is `Error::Truncated` from `finish`.

mod brotli;
mod inflate;
mod zstd;

use std::fmt;

/// What `Accept-Encoding` says when the application asks for all.
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
    /// Octets follow the end of the compressed data.
    TrailingData,
    /// The body ended before the compressed data did.
    Truncated,
    /// More memory would be needed than a peer may ask for.
    TooLarge,
}

/// Decoding stopped because of the data, or because the receiver of the output said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    Coding(Error),
    Sink(E),
}

/// The codings of one body.
pub struct Decoder {
    /// In the order of decoding: the last coding that was applied comes first.
    stages: Vec<Stage>,
}

type Sink<'a, E> = &'a mut dyn FnMut(&[u8]) -> Result<(), E>;

enum Stage {
    Inflate(Box<inflate::Inflate>),
    Brotli(Box<brotli::Brotli>),
    Zstd(Box<zstd::Zstd>),
    /// Fails only when a body comes: responses to HEAD may name what they like.
    Unknown,
}

impl Decoder {
    /// Takes the value of the header, several headers joined by commas.
    pub fn new(list: &str, depth_limit: usize) -> Result<Decoder, Error> {
        let mut stages = Vec::new();
        for (index, name) in list.split(',').map(str::trim).filter(|name| !name.is_empty()).enumerate() {
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            if index == depth_limit {
                return Err(Error::TooMany);
            }
            if is("identity") || is("none") {
                continue;
            }
            stages.push(if is("gzip") || is("x-gzip") {
                Stage::Inflate(Box::new(inflate::Inflate::gzip()))
            } else if is("deflate") {
                Stage::Inflate(Box::new(inflate::Inflate::deflate()))
            } else if is("br") {
                Stage::Brotli(Box::new(brotli::Brotli::new()))
            } else if is("zstd") {
                Stage::Zstd(Box::new(zstd::Zstd::new()))
            } else {
                Stage::Unknown
            });
        }
        stages.reverse();
        Ok(Decoder { stages })
    }

    /// Whether everything passes unchanged.
    pub fn is_identity(&self) -> bool {
        self.stages.is_empty()
    }

    /// Decodes some octets. After a failure the decoder is of no more use.
    pub fn decode<E>(&mut self, input: &[u8], out: Sink<'_, E>) -> Result<(), Failure<E>> {
        if input.is_empty() {
            return Ok(());
        }
        push(&mut self.stages, input, out)
    }

    /// The body has ended. A body without a single octet is fine in any coding.
    pub fn finish(&self) -> Result<(), Error> {
        let is_done = self.stages.iter().all(|stage| match stage {
            Stage::Inflate(stage) => stage.may_end(),
            Stage::Brotli(stage) => stage.may_end(),
            Stage::Zstd(stage) => stage.may_end(),
            Stage::Unknown => true,
        });
        if is_done { Ok(()) } else { Err(Error::Truncated) }
    }
}

fn push<E>(stages: &mut [Stage], input: &[u8], out: Sink<'_, E>) -> Result<(), Failure<E>> {
    let Some((first, rest)) = stages.split_first_mut() else {
        return out(input).map_err(Failure::Sink);
    };
    let mut next = |output: &[u8]| push(rest, output, out);
    match first {
        Stage::Inflate(stage) => stage.push(input, &mut next),
        Stage::Brotli(stage) => stage.push(input, &mut next),
        Stage::Zstd(stage) => stage.push(input, &mut next),
        Stage::Unknown => Err(Failure::Coding(Error::Unknown)),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Error::TooMany => "Reject response exceeding limit of 5 content encodings",
            Error::Unknown => {
                "Unrecognized content encoding type. libcurl understands deflate, gzip, br, zstd content encodings."
            }
            Error::Corrupt => "Error while processing content unencoding: corrupt data",
            Error::TrailingData => "Multi-member gzip response not supported",
            Error::Truncated => "Compressed content did not end cleanly, data truncated?",
            Error::TooLarge => "the compressed data needs too much memory",
        })
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
