//! Why a stream ended before its reply did.

use std::fmt;
use std::io;

use wire::h3::{ErrorCode, Failure};

/// Why.
#[derive(Debug)]
pub enum Fault {
    /// By the peer, or for a fault of the peer's that `why` tells; in the middle of a body, or before one.
    Reset { code: ErrorCode, why: Option<&'static str>, within_body: bool },
    /// The peer has done nothing about the request, which may be sent again.
    Refused,
    /// The connection was lost: QUIC's word for it.
    Closed(String),
    /// The socket failed.
    Io(io::Error),
    /// The peer broke the protocol, and the connection ended for it.
    Failed(Failure),
}

/// The same with the stream's number on the wire: what an exchange says with an [`io::Error`].
#[derive(Debug)]
pub struct StreamFault {
    pub stream: u64,
    pub fault: Fault,
}

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP/3 stream {}: {:?}", self.stream, self.fault)
    }
}

impl std::error::Error for StreamFault {}
