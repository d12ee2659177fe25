//! HTTP/2 for a client (RFC 9113, with RFC 7541 for its fields and RFC 8441's setting), as a state machine
//! without I/O, waits or a clock.
//!
//! The interface is in `session`. `receive` cuts frames, `dispatch` handles those with a fixed payload,
//! `message` heads and trailers. `send` decides what is sent in which order. `head` checks messages, `stream`
//! has the states of a stream, `window` flow control, `watch` the events of a trace, `snapshot` a session
//! between two processes.
//!
//! Frames cause no allocation: payloads are read in the receive buffer unless a frame is split between reads,
//! fields are decoded into a reused list, and body bytes are returned as slices of the input. Everything that
//! a peer can make grow is bounded: the list of fields, fragmented blocks (`message`), replies that the peer
//! does not read (`dispatch`), frames that make no progress (`calm`), the streams it opens, and the data it
//! may send (`window`).

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
mod snapshot;
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
pub use hpack::{DecoderState, EncoderState, TableState};
pub(crate) use hpack::{Fit, HpackError, integer};
pub use receive::{Event, Step};
pub use session::{Field, Opening, Session};
pub use settings::{Config, PeerSettings};
pub use snapshot::Snapshot;
pub use stream::StreamId;
pub use watch::Watch;
