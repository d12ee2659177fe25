//! Reasons why the broker did not serve a call.

use std::fmt;
use std::io;

/// The reason why a call was not served. The caller continues as if there were no broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The system has no sockets that carry descriptors.
    System,
    /// The process has more privileges than its user, or the user has changed since the first call.
    Privileges,
    /// There is no private folder for the socket.
    Folder(String),
    /// No broker listens. One is being started, if the call starts brokers.
    NotRunning,
    /// The listening process belongs to another user.
    OtherUser,
    /// The broker speaks another version of the protocol.
    OtherVersion(u16),
    /// The key belongs to an earlier broker.
    Restarted,
    /// The broker did not answer within the time limit.
    Slow,
    /// The state or the record exceeds its limit.
    TooLarge,
    /// The socket failed, or the reply was malformed.
    Broken(String),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::System => f.write_str("this system has no broker"),
            Unavailable::Privileges => f.write_str("the process has changed its user or privileges"),
            Unavailable::Folder(reason) => write!(f, "no private folder: {reason}"),
            Unavailable::NotRunning => f.write_str("no broker runs"),
            Unavailable::OtherUser => f.write_str("the broker belongs to another user"),
            Unavailable::OtherVersion(version) => {
                write!(f, "the broker speaks version {version} of the protocol")
            }
            Unavailable::Restarted => f.write_str("the broker has been restarted"),
            Unavailable::Slow => f.write_str("the broker did not answer in time"),
            Unavailable::TooLarge => f.write_str("the state is too large"),
            Unavailable::Broken(reason) => write!(f, "the broker failed: {reason}"),
        }
    }
}

impl std::error::Error for Unavailable {}

impl From<io::Error> for Unavailable {
    fn from(error: io::Error) -> Unavailable {
        match error.kind() {
            io::ErrorKind::TimedOut => Unavailable::Slow,
            _ => Unavailable::Broken(error.to_string()),
        }
    }
}
