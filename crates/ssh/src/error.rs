//! Errors of an SSH connection.

use std::fmt;

use crate::bytes::Malformed;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A malformed message.
    Malformed,
    /// An unexpected message, or one that breaks a rule.
    Protocol(&'static str),
    /// A packet that fails the integrity check.
    Integrity,
    /// The two sides have no algorithm of this kind in common.
    NothingInCommon(&'static str),
    /// The server has not proved that it has its host key.
    Unproved(&'static str),
    /// The peer's values for a key exchange are invalid.
    Exchange(&'static str),
    /// The server said goodbye: RFC 4253 §11.1's reason, and its words.
    Disconnected(u32, String),
    /// It does not speak SSH 2.
    NotSsh(&'static str),
    /// The system has no randomness.
    NoRandomness,
}

impl From<Malformed> for Error {
    fn from(_: Malformed) -> Error {
        Error::Malformed
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Malformed => f.write_str("malformed SSH message"),
            Error::Protocol(what) => f.write_str(what),
            Error::Integrity => f.write_str("SSH packet with a wrong message authentication code"),
            Error::NothingInCommon(kind) => write!(f, "no {kind} in common with the server"),
            Error::Unproved(why) => write!(f, "the server has not proved its host key: {why}"),
            Error::Exchange(what) => write!(f, "key exchange failed: {what}"),
            Error::Disconnected(reason, text) => write!(f, "the server disconnected ({reason}): {text}"),
            Error::NotSsh(what) => f.write_str(what),
            Error::NoRandomness => f.write_str("no random numbers"),
        }
    }
}

impl std::error::Error for Error {}

/// Words of a server's for a message: control characters would write over a terminal.
pub fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().take(1024).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
