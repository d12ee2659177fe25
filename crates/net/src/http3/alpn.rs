//! The ALPN name of HTTP/3, in a file of its own: pools need it and know nothing else of HTTP/3.

/// The protocol's name in ALPN (RFC 9114 §3.1).
pub const ALPN: &str = "h3";
