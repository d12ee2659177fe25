//! QUIC (RFC 9000, 9001, 9002): a connection that carries streams by itself, on datagrams instead of a stack of filters.
//!
//! `quinn-proto` knows the protocol and `machine` holds it, without I/O; `connect` gets it a socket and does the handshake,
//! with certificates judged by the one path that judges them. Who runs a session on it (`http3`) moves its datagrams and has
//! its timer. On an idle connection nobody does: it is looked at when it is next asked for.

mod connect;
mod machine;
mod trust;

pub use connect::{Established, QuicRequest, connect};
pub use machine::{Machine, Readable};
