//! The layer above the last filter on which HTTP speaks: a request's head and body go out, a reply's heads
//! and body come in, as values. HTTP/1 is its first implementer; others stand under the same HTTP handler.
//! Each part of a head comes with the line that an application is shown for it, which HTTP/1 has and others
//! make.

mod body;
mod fields;
mod framing;
mod head;
pub mod http1;
mod multiplexed;
mod place;
pub mod request;
mod spares;
pub mod streams;

use std::io;
use std::task::{Context, Poll};

use wire::http1::status::Opening;
use wire::http1::{StatusLine, TooLarge};

pub use body::{Body, BodyError, BodyStep};
pub use fields::{MAX_SENT_HTTP2, request_fields, sent_size};
pub use head::{Dialect, Fault, Head, HeadPart, Reading, Says};
pub use multiplexed::Multiplexed;
pub use place::Place;
pub use request::{BadHead, RequestBody, RequestHead, is_sendable};
pub use spares::Spares;

use crate::http2::{Pushed, Trace};
use crate::{About, Connection};

/// What an exchange leaves behind.
pub struct Finished {
    /// What it had whole: nothing, if it had a stream.
    pub connection: Option<Box<Connection>>,
    /// As far as the bytes tell, another exchange may follow on it.
    pub clean: bool,
}

/// One request and its reply on a connection.
pub trait Exchange {
    /// Queues the head of the request and says how its reply is to be read. Unless nothing follows it
    /// ([`RequestBody::None`]), a body is queued then, and its end.
    fn begin(&mut self, request: &RequestHead, reading: Reading);

    /// How much it matters among others on the same connection, from 1 to 256 (RFC 7540 §5.3.2); before it is
    /// begun, or later. To one that has a connection of its own it says nothing.
    fn weigh(&mut self, _weight: u16) {}

    /// Tells of frames on its stream, if it has one, and with others of the connection's own; before it is
    /// begun.
    fn watch(&mut self, _trace: Trace) {}

    /// The number of the stream that it has, if it has one and that is open.
    fn stream(&self) -> Option<u32> {
        None
    }

    /// A reply that the peer has promised beside this one, once (server push).
    fn take_promise(&mut self) -> Option<Pushed> {
        None
    }

    /// The connection ends, with every exchange on it.
    fn break_off(&mut self) {}

    /// Room for a piece of body of so many bytes behind what is queued: whoever reads them there needs no
    /// copy.
    fn body_room(&mut self, len: usize) -> &mut [u8];

    /// Queues so many bytes that stand in that room. None are no piece and no end.
    fn body_filled(&mut self, len: usize);

    /// Queues the end of the body with trailer lines, "Name: value" without an ending, where the framing has
    /// room for them.
    fn end_body(&mut self, trailers: &[&[u8]]);

    /// How much is queued and not yet sent.
    fn queued(&self) -> usize;

    /// Sends what is queued.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when what was flushed has left for good, so that giving the stream up loses none of it.
    fn poll_left(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// What the first bytes of a head that has not been read look like; where nothing but HTTP can come, all
    /// heads are [`Opening::Http`].
    fn opening(&self) -> Opening;

    /// What was received and not yet taken, as far as it is bytes: a reply without a head is.
    fn rest(&self) -> &[u8];

    /// Drops so many bytes of the rest: they are no part of a reply.
    fn skip(&mut self, _len: usize) {}

    /// What was received before is read first, where a reply is bytes.
    fn unread(&mut self, _bytes: &[u8]) {}

    /// Whether the next part of a head is there: its status, then fields, then its end. How long it was on
    /// the wire, which is at most `budget`.
    fn find_part(&mut self, budget: usize) -> Result<Option<usize>, TooLarge>;

    /// The part that was found. It counts as read: [`Exchange::body`] tells with it.
    fn part(&mut self) -> HeadPart<'_>;

    /// Goes on behind that part; behind the end of a head with another head, until the body is begun.
    fn take_part(&mut self);

    /// Another status counts than the first part of this head says, or there is no head at all (version 9):
    /// the application knows better.
    fn believe(&mut self, status: StatusLine);

    /// The peer has closed within a head, and what has come of it counts. Whether one more part is there.
    fn cut_off(&mut self) -> bool;

    /// Receives more of a head; `false` when the peer closed. `scratch` is lent for the call.
    fn poll_more(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<io::Result<bool>>;

    /// What the last head has told so far.
    fn body(&self) -> Body;

    /// Transfer codings that the body is in and that are not undone here, as a list.
    fn codings(&self) -> &[u8];

    /// The body follows, as the head has told.
    fn begin_body(&mut self);

    /// How many bytes of the body are still to come, where that is known.
    fn left(&self) -> Option<u64>;

    /// Reads body bytes into `buf`.
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>>;

    /// Where chunks end in the bytes that `poll_body` handed out last; nowhere in a body that has none.
    fn chunk_ends(&self) -> &[usize] {
        &[]
    }

    /// The next trailer field, after the body's end.
    fn trailer(&mut self) -> Option<HeadPart<'_>>;

    /// Whether any byte of a reply has come.
    fn any_received(&self) -> bool;

    /// What may be known of the connection underneath.
    fn about(&self) -> &About;

    /// Nobody reads for a while: an application's loop must not hear of what nobody takes.
    fn forget_read(&mut self, cx: &mut Context<'_>);

    /// Ends the exchange.
    fn finish(self: Box<Self>) -> Finished;
}
