//! HTTP/2 for a client (RFC 9113, with RFC 7541 for its fields and RFC 8441's setting), as a state machine
//! that neither reads, writes, waits nor asks the time.
//!
//! A reader with one question: the calls stand in `session`, what a frame of the peer does in `receive`
//! (frames), `dispatch` (those of one payload) and `message` (heads and trailers), what leaves and in which
//! order in `send`, what a message must be in `head`, states of a stream in `stream`, windows in `window`,
//! the words of a trace in `watch`.
//!
//! Nothing is allocated per frame: payloads are read where they were received unless a frame is split between
//! reads, fields are decoded into one list that is filled again, and body bytes are handed out as pieces of
//! the input. What can be made to grow by a peer is bounded: the list of fields, a block in pieces
//! (`message`), answers that the peer does not read (`dispatch`), frames that move nothing (`calm`), streams
//! it opens, and what it may send (`window`).

mod calm;
mod dispatch;
mod error;
mod fields;
mod frame;
pub(crate) mod head;
mod hpack;
mod message;
mod receive;
mod send;
mod session;
mod settings;
mod stream;
mod streams;
mod watch;
mod window;

#[cfg(test)]
mod tests;

pub use error::{ErrorCode, Failure};
pub use fields::Fields;
pub(crate) use fields::size as field_size;
pub use frame::{PREFACE, Priority};
pub use head::hop_by_hop;
pub(crate) use hpack::{Fit, HpackError, integer};
pub use receive::{Event, Step};
pub use session::{Field, Opening, Session};
pub use settings::Config;
pub use stream::StreamId;
pub use watch::Watch;
