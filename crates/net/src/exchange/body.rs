//! The framing of a reply's body as a value, and the steps of reading it.

use std::io;

use wire::http1::chunked::ChunkError;

/// The body that follows a head, as the head describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// There is a body.
    pub exists: bool,
    /// How long it is, or for a reply without one would have been.
    pub length: Option<u64>,
    /// Content-Length exceeds every possible file.
    pub overflow: bool,
    /// A transfer coding is applied.
    pub coded: bool,
    /// Only the end of the connection ends it.
    pub until_close: bool,
    /// Reading an unwanted body is cheaper than opening another connection.
    pub worth_draining: bool,
    /// Another exchange may follow on the connection.
    pub keep_alive: bool,
}

/// A step of reading a body.
#[derive(Debug)]
pub enum BodyStep {
    /// That many bytes are at the front of the buffer.
    Bytes(usize),
    /// The body has ended as its framing item.
    End,
}

/// Why a body could not be read.
#[derive(Debug)]
pub enum BodyError {
    /// The transport failed.
    Io(io::Error),
    /// The peer closed before the end; so many bytes were still to come, when that is known.
    Truncated(Option<u64>),
    /// The chunked coding is broken.
    Chunk(ChunkError),
}
