//! GSS-API (RFC 2743, its C bindings RFC 2744): the client side of a security context, for Negotiate (RFC
//! 4559) and SOCKS 5 (RFC 1961).
//!
//! The mechanisms are those of MIT Kerberos' `libgssapi_krb5.so.2`. It is loaded when the first context is
//! created, so programs that never use Negotiate do not need it. Calls may wait for a key distribution
//! centre: run them on a helper thread.

mod library;
mod oid;

use std::fmt;

pub use library::{Context, default_user};
pub use oid::Mechanism;

/// Whether the service may act in the user's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delegation {
    /// Never delegate.
    #[default]
    Never,
    /// When the realm's policy says that it is trusted with that.
    ByPolicy,
    /// It may.
    Always,
}

/// The peer of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A service on a host.
    Service(&'a str, &'a str),
    /// A name in the mechanism's own form: `service/host`, with or without a realm.
    Principal(&'a str),
}

/// The protection of messages that a context supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// None.
    None,
    /// Sign them.
    Signed,
    /// Sign and encrypt them.
    Confidential,
}

/// The result of processing the peer's token.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Send this token and wait for the peer's.
    Continue(Vec<u8>),
    /// The context is established. The last token for the peer may be empty.
    Complete(Vec<u8>),
}

impl Step {
    /// The token for the other side.
    pub fn token(&self) -> &[u8] {
        match self {
            Step::Continue(token) | Step::Complete(token) => token,
        }
    }
}

/// Why there is no context, or none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The library, or something in it, is not there; the loader's words.
    Absent(String),
    /// A call failed: its name, and the library's text.
    Failed { call: &'static str, text: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Absent(text) => write!(f, "GSS-API is not there: {text}"),
            Error::Failed { call, text } => write!(f, "{call}() failed: {text}"),
        }
    }
}

impl std::error::Error for Error {}
