//! Terms of QUIC that other modules use, also without the feature `http3`.

/// The use of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Streams.
    Streams,
    /// Streams, and datagrams of another protocol (RFC 9221).
    Datagrams,
}

/// The result of sending a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    Yes,
    /// The way has no room for one of this size, or the peer takes none.
    TooLarge,
    /// Too many wait.
    Blocked,
}
