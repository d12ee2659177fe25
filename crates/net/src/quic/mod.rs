//! QUIC (RFC 9000) for HTTP/3: many streams on a connected UDP socket.
//!
//! The protocol is `quinn-proto`'s, a state machine without I/O; [`Machine`] is one client-side connection.
//! [`shake_hands`] does the handshake on a socket that won a race; `tls::verify` judges the certificates. The
//! result is a [`Quic`], which carries a connection; if a session allows early data (`early`), it exists
//! before the handshake completes. The session on it (`http3`) moves its datagrams and owns its timer.
//! Nothing drives an idle connection: it is checked before its next use.

mod carrier;
mod connect;
mod early;
mod machine;
mod machine_timer;
mod qlog;
mod terms;
mod tls;
mod window;

pub use crate::filter::udp::ROOM;
pub use carrier::Quic;
pub use connect::{Established, QuicRequest, on_socket, shake_hands, shake_hands_through};
pub use machine::{Machine, Readable};
pub use machine_timer::MachineTimer;
pub use terms::{Purpose, SendOutcome};
