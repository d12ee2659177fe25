//! HTTP/3 for a client (RFC 9114, with RFC 9204 for its fields), as values and state machines that neither
//! read, write, wait nor ask the time. QUIC, which has the streams and their windows, is somebody else's.
//!
//! A reader with one question: what a reply's stream brings stands in `reply`, the streams that belong to the
//! connection in `unidirectional`, what leaves in `write`, fields in `qpack`.
//!
//! The dynamic table of header compression has no room on either side: what we send refers to the static one
//! alone, and so must the peer's fields. What a peer can make grow is one list of fields; body bytes are
//! handed out as pieces of the input.

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
pub use unidirectional::{Control, Incoming, Said};
pub use write::{control_stream, data_header, go_away, headers};

/// Types of frames (RFC 9114 §7.2).
mod kind {
    pub const DATA: u64 = 0;
    pub const HEADERS: u64 = 1;
    pub const CANCEL_PUSH: u64 = 3;
    pub const SETTINGS: u64 = 4;
    pub const PUSH_PROMISE: u64 = 5;
    pub const GOAWAY: u64 = 7;
    pub const MAX_PUSH_ID: u64 = 0xd;
    /// Those of HTTP/2 that have no meaning here and must not be sent (§7.2.8).
    pub const OF_HTTP2: [u64; 4] = [2, 6, 8, 9];
}

/// Types of unidirectional streams (RFC 9114 §6.2, RFC 9204 §4.2).
mod stream_kind {
    pub const CONTROL: u64 = 0;
    pub const PUSH: u64 = 1;
    pub const QPACK_ENCODER: u64 = 2;
    pub const QPACK_DECODER: u64 = 3;
}

/// How large a list of fields may be (SETTINGS_MAX_FIELD_SECTION_SIZE): what HTTP/2 takes, too.
pub const MAX_FIELD_LIST: usize = 300 << 10;
