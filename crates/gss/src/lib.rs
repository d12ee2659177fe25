//! GSS-API (RFC 2743, its C bindings RFC 2744): the client's side of a security context, as Negotiate (RFC
//! 4559) and SOCKS 5 (RFC 1961) need it.
//!
//! The mechanisms are those of MIT Kerberos' `libgssapi_krb5.so.2`. It is loaded when the first context is
//! wanted, so that whoever never says Negotiate neither needs nor pays for it. Calls may wait for a key
//! distribution centre: callers give them a thread.

mod library;
mod oid;

use std::fmt;

pub use library::{Context, default_user};
pub use oid::Mechanism;

/// Whether the service may act in the user's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delegation {
    /// It may not.
    #[default]
    Never,
    /// When the realm's policy says that it is trusted with that.
    ByPolicy,
    /// It may.
    Always,
}

/// Whom a context is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A service on a host.
    Service(&'a str, &'a str),
    /// A name in the mechanism's own form: `service/host`, with or without a realm.
    Principal(&'a str),
}

/// What a context can do for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing.
    None,
    /// Sign them.
    Signed,
    /// Sign and encrypt them.
    Confidential,
}

/// What a context says to the other side's token.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// This goes to the other side, whose answer is awaited.
    Continue(Vec<u8>),
    /// The context stands. What the other side still has to hear may be empty.
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
    /// A call failed: its name, and what the library says to it.
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
