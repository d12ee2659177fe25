//! The layer above the last filter on which HTTP speaks: a request's head and body go out, a reply's
//! heads and body come in, as values. HTTP/1 is its first implementer; others stand under the same
//! HTTP handler.

pub mod http1;

use std::io;
use std::task::{Context, Poll};

use wire::http1::chunked::ChunkError;
use wire::http1::{Part, TooLarge};

use crate::{About, Connection};

/// How a reply's body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFraming {
    /// There is none.
    None,
    /// After so many bytes.
    Length(u64),
    /// With the last chunk.
    Chunked,
    /// The same, and the chunks are handed out as they came.
    ChunkedRaw,
    /// With the connection.
    UntilClose,
}

/// How a request's body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadFraming {
    /// Bytes as they are; the head told how many, or there are none.
    Plain,
    /// In chunks.
    Chunked,
}

/// One step of reading a body.
#[derive(Debug)]
pub enum BodyStep {
    /// So many bytes stand at the front of the buffer.
    Bytes(usize),
    /// The body has ended as its framing says.
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

/// What an exchange leaves behind.
pub struct Finished {
    /// What it had whole: nothing, if it had a stream.
    pub connection: Option<Box<Connection>>,
    /// As far as the bytes tell, another exchange may follow on it.
    pub clean: bool,
    /// For another exchange.
    pub storage: Storage,
}

/// What an exchange fills: a kept one spares the next exchange its allocations.
#[derive(Default)]
pub struct Storage {
    /// Heads that were received.
    pub(crate) received: Vec<u8>,
    /// What is to be sent.
    pub(crate) out: Vec<u8>,
}

impl Storage {
    /// The same for keeping: empty, and without what is larger than `limit`.
    pub fn emptied(mut self, limit: usize) -> Storage {
        for bytes in [&mut self.received, &mut self.out] {
            if bytes.capacity() > limit {
                *bytes = Vec::new();
            }
            bytes.clear();
        }
        self
    }
}

/// One request and its reply on a connection.
pub trait Exchange {
    /// Queues the head.
    fn queue_head(&mut self, head: &[u8]);

    /// Queues a piece of body, framed as `framing` says.
    fn queue_body(&mut self, data: &[u8], framing: UploadFraming);

    /// Room for so many bytes of a plain body behind what is queued: whoever reads them there needs no copy.
    fn body_room(&mut self, len: usize) -> &mut [u8];

    /// Queues so many bytes that stand in that room.
    fn body_filled(&mut self, len: usize);

    /// Queues the end of the body, with trailer lines if there are any.
    fn queue_end(&mut self, framing: UploadFraming, trailers: &[u8]);

    /// How much is queued and not yet sent.
    fn queued(&self) -> usize;

    /// Sends what is queued.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// The status line, at most `budget` bytes long, once all of it has been received. It stands at the front of the rest.
    fn status_line(&mut self, budget: usize) -> Result<Option<Part>, TooLarge>;

    /// The next field with the lines that continue it, or the empty line that ends the head.
    fn field(&mut self, budget: usize) -> Result<Option<Part>, TooLarge>;

    /// Receives more of a head; `false` when the peer closed. `scratch` is lent for the call.
    fn poll_more(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<bool>>;

    /// What was received and not yet taken: the part of a head that was just read, what follows it, a reply
    /// without a head.
    fn rest(&self) -> &[u8];

    /// Takes so many bytes from the front of the rest.
    fn take_rest(&mut self, len: usize);

    /// Says how the body that follows is delimited.
    fn begin_body(&mut self, framing: BodyFraming);

    /// How many bytes of the body are still to come, where that is known.
    fn left(&self) -> Option<u64>;

    /// Reads body bytes into `buf`.
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>>;

    /// Where chunks end in the bytes that `poll_body` handed out last; nowhere in a body that has none.
    fn chunk_ends(&self) -> &[usize] {
        &[]
    }

    /// Trailer lines of a chunked body, after its end.
    fn trailers(&self) -> &[u8];

    /// Whether any byte of a reply has come.
    fn any_received(&self) -> bool;

    /// What may be known of the connection underneath.
    fn about(&self) -> &About;

    /// Nobody reads for a while: an application's loop must not hear of what nobody takes.
    fn forget_read(&mut self);

    /// Ends the exchange.
    fn finish(self: Box<Self>) -> Finished;
}
