//! The layer between the last filter and the HTTP handler: a request's head and body go out, a response's
//! heads and body come in, as values. HTTP/1 and multiplexed streams implement it. Each part of a head comes
//! with the line that is shown to an application, which HTTP/1 has and others generate.

mod body;
mod buffer_pool;
mod fields;
mod framing;
mod head;
pub mod http1;
#[cfg(feature = "http3")]
mod http3_streams;
mod multiplexed;
mod replayed;
pub mod request;
mod reservation;
pub mod streams;

use std::io;
use std::task::{Context, Poll};

use runtime::SendLimits;
use wire::http1::status::Opening;
use wire::http1::{StatusLine, TooLarge};

pub use body::{Body, BodyError, BodyStep};
pub use buffer_pool::BufferPool;
pub use fields::{MAX_SENT_HTTP2, request_fields, sent_size};
pub use head::{Dialect, Head, HeadError, HeadItem, HeadPart, ReplyRules};
pub use multiplexed::Multiplexed;
pub use replayed::{BodyDigest, RecordedEnd, RecordedError, RecordedReply, Replayed, ReplySource, go_ahead};
pub use request::{BadHead, RequestBody, RequestHead, is_sendable};
pub use reservation::Reservation;

use crate::http2::{Pushed, Trace};
use crate::{About, Connection};

/// The state of a connection after an exchange.
pub struct Finished {
    /// The connection, if the exchange owned it; none if it had a stream.
    pub connection: Option<Box<Connection>>,
    /// Whether another exchange may follow on it, judging by the bytes.
    pub clean: bool,
}

/// Puts a layer around an exchange.
pub type Layer = Box<dyn FnOnce(Box<dyn Exchange>) -> Box<dyn Exchange>>;

/// A request and its reply on a connection.
pub trait Exchange {
    /// Queues the head of the request, with the rules for reading its response. Unless nothing follows
    /// ([`RequestBody::None`]), a body is queued next, and its end.
    fn begin(&mut self, request: &RequestHead, reading: ReplyRules);

    /// Sets its priority among others on the same connection, from 1 to 256 (RFC 7540 §5.3.2), before or
    /// after `begin`. An exchange with its own connection ignores it.
    fn weigh(&mut self, _weight: u16) {}

    /// Sends another priority of its request than the head has (RFC 9218 §7), after `begin`. Without streams
    /// there is no frame for it.
    fn update_priority(&mut self, _value: &str) {}

    /// Traces the frames of its stream, if it has one, and possibly of the connection. Called before `begin`.
    fn watch(&mut self, _trace: Trace) {}

    /// The number of the stream that it has, if it has one and that is open.
    fn stream(&self) -> Option<u32> {
        None
    }

    /// Returns a response that the peer has promised in addition to this one (server push), once.
    fn take_promise(&mut self) -> Option<Pushed> {
        None
    }

    /// The connection ends, with every exchange on it.
    fn break_off(&mut self) {}

    /// Returns room for a piece of body after the queued data. Reading into it saves a copy.
    fn body_room(&mut self, len: usize) -> &mut [u8];

    /// Queues that many bytes of the room. Zero bytes are neither a piece nor the end.
    fn body_filled(&mut self, len: usize);

    /// Queues the end of the body with trailer lines, "Name: value" without an ending, where the framing has
    /// room for them.
    fn end_body(&mut self, trailers: &[&[u8]]);

    /// How much is queued and not yet sent.
    fn queued(&self) -> usize;

    /// Sends queued data.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Returns ready when flushed data has really been sent, so that giving up the stream loses none of it.
    fn poll_left(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Classifies the first bytes of an unread head. If only HTTP is possible, all heads are
    /// [`Opening::Http`].
    fn opening(&self) -> Opening;

    /// Returns received bytes that were not processed, if the response is raw bytes: a response without a
    /// head is.
    fn rest(&self) -> &[u8];

    /// Drops so many bytes of the rest: they are no part of a reply.
    fn skip(&mut self, _len: usize) {}

    /// Puts back bytes that are then read first, if the response is raw bytes.
    fn unread(&mut self, _bytes: &[u8]) {}

    /// Whether the next part of a head is there: its status, then fields, then its end. How long it was on
    /// the wire, which is at most `budget`.
    fn find_part(&mut self, budget: usize) -> Result<Option<usize>, TooLarge>;

    /// Returns the part that was found. It counts as read: [`Exchange::body`] includes it.
    fn part(&mut self) -> HeadPart<'_>;

    /// Moves past that part; after the end of a head to another head, until the body starts.
    fn take_part(&mut self);

    /// Overrides the status in the first part of this head; version 9: there is no head at all. The
    /// application knows better.
    fn believe(&mut self, status: StatusLine);

    /// The peer has closed within a head, and the received part counts. Returns whether there is one more
    /// part.
    fn cut_off(&mut self) -> bool;

    /// Receives more of a head; `false` when the peer closed. `scratch` is lent for the call.
    fn poll_more(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<bool>>;

    /// Returns the framing by the last head so far.
    fn body(&self) -> Body;

    /// Transfer codings that the body is in and that are not undone here, as a list.
    fn codings(&self) -> &[u8];

    /// Starts the body, by the framing of the head.
    fn begin_body(&mut self);

    /// How many bytes of the body are still to come, where that is known.
    fn left(&self) -> Option<u64>;

    /// Reads body bytes into `buf`.
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>>;

    /// Ends of chunks in the bytes that `poll_body` returned last; empty for a body without chunks.
    fn chunk_ends(&self) -> &[usize] {
        &[]
    }

    /// The next trailer field, after the body's end.
    fn trailer(&mut self) -> Option<HeadPart<'_>>;

    /// Whether any byte of a reply has arrived.
    fn any_received(&self) -> bool;

    /// Returns the facts about the connection underneath.
    fn about(&self) -> &About;

    /// Withdraws the read interest for a while: an application's loop must not be woken for data that nobody
    /// reads.
    fn forget_read(&mut self, cx: &mut Context<'_>);

    /// Returns for how long its connection was kept from sending, since it was made. A stream counts the time
    /// for which the peer's windows kept it itself (HTTP/2; none for HTTP/3): it shares its connection.
    fn send_limits(&self) -> Option<SendLimits> {
        None
    }

    /// Returns the layer around the exchange in which the reply continues: an upgrade to HTTP/2
    /// changes the exchange.
    fn layer(&self) -> Option<Layer> {
        None
    }

    /// Ends the exchange.
    fn finish(self: Box<Self>) -> Finished;
}
