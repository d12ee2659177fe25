//! QUIC (RFC 9000) under HTTP/3: many streams on a connected UDP socket.
//!
//! The protocol is `quinn-proto`'s, a state machine without I/O; [`Machine`] is one connection of it as a
//! client has it. [`shake_hands`] does the handshake on a socket that won a race, whose certificates
//! `tls::verify` judges as any; what comes of it is a [`Quic`], which carries a connection; where a session
//! allows early data (`early`) it is one before the handshake is over. Who runs a session on it (`http3`)
//! asks it to move its datagrams and has its timer. On an idle connection nobody does: it is looked at when
//! it is next asked for.

mod carrier;
mod connect;
mod due;
mod early;
mod machine;
mod qlog;
mod tls;
mod window;

pub use crate::filter::udp::ROOM;
pub use carrier::Quic;
pub use connect::{Established, QuicRequest, on_socket, shake_hands, shake_hands_through};
pub use due::Due;
pub use machine::{Machine, Purpose, Readable, Sent};
