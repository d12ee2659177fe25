//! HTTP/3 for a client (RFC 9114, with RFC 9204 for its fields), as values and state machines without I/O,
//! waits or a clock. QUIC, which has the streams and their windows, is elsewhere.
//!
//! `reply` handles the stream of a response, `unidirectional` the streams of the connection itself, `write`
//! output, `qpack` fields.
//!
//! The dynamic table of header compression has size zero on both sides: our fields refer only to the static
//! one, and so must the peer's. The only thing that a peer can make grow is one list of fields, which is
//! bounded; body bytes are returned as slices of the input.

mod error;
mod qpack;
mod reply;
mod settings;
mod statics;
mod unidirectional;
mod write;

pub use crate::h2::{Field, Fields, hop_by_hop};
use crate::varint;
pub use error::{ErrorCode, Failure, Scope};
pub use reply::{Event, Reply, Step};
pub use settings::PeerSettings;
pub use unidirectional::{Control, Incoming, StreamStatus};
pub use write::{control_stream, data_header, go_away, headers, priority_update};

/// Types of frames (RFC 9114 §7.2).
mod kind {
    pub const DATA: u64 = 0;
    pub const HEADERS: u64 = 1;
    pub const CANCEL_PUSH: u64 = 3;
    pub const SETTINGS: u64 = 4;
    pub const PUSH_PROMISE: u64 = 5;
    pub const GOAWAY: u64 = 7;
    pub const MAX_PUSH_ID: u64 = 0xd;
    /// Of a request (RFC 9218 §7.2).
    pub const PRIORITY_UPDATE: u64 = 0xf0700;
    /// Frame types of HTTP/2 that have no meaning here and must not be sent (§7.2.8).
    pub const OF_HTTP2: [u64; 4] = [2, 6, 8, 9];
}

/// Types of unidirectional streams (RFC 9114 §6.2, RFC 9204 §4.2).
mod stream_kind {
    pub const CONTROL: u64 = 0;
    pub const PUSH: u64 = 1;
    pub const QPACK_ENCODER: u64 = 2;
    pub const QPACK_DECODER: u64 = 3;
}

/// Largest list of fields accepted (SETTINGS_MAX_FIELD_SECTION_SIZE), as in HTTP/2.
pub const MAX_FIELD_LIST: usize = 300 << 10;
