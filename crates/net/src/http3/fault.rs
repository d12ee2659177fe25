//! Why a stream ended before its reply did.

use std::fmt;
use std::io;

use wire::h3::{ErrorCode, Failure};

/// Why.
#[derive(Debug)]
pub enum StreamError {
    /// Reset by the peer, or by us for an error of the peer, described by `why`; in the middle of a body, or
    /// before one.
    Reset { code: ErrorCode, why: Option<&'static str>, within_body: bool },
    /// The peer has not processed the request, which may be sent again.
    Refused,
    /// The connection was lost: QUIC's word for it.
    Closed(String),
    /// The socket failed.
    Io(io::Error),
    /// The peer broke the protocol, and the connection ended for it.
    Failed(Failure),
}

/// A fault with the number of the stream, for use in an [`io::Error`].
#[derive(Debug)]
pub struct NumberedError {
    pub stream: u64,
    pub fault: StreamError,
}

impl fmt::Display for NumberedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP/3 stream {}: {:?}", self.stream, self.fault)
    }
}

impl std::error::Error for NumberedError {}
