//! The values that the client takes and returns.

use std::fmt;
use std::time::Duration;

use runtime::fd::{BorrowedFd, OwnedFd};
use zeroize::{Zeroize, Zeroizing};

use crate::message::{Instance, Mac, Parked};

/// The broker's secret, under which keys are made. Dropping it wipes it.
pub struct Secret {
    bytes: [u8; 32],
    instance: Instance,
    user: u32,
}

impl Secret {
    /// Returns the secret of that broker, for a process of that user.
    pub fn new(bytes: [u8; 32], instance: Instance, user: u32) -> Secret {
        Secret { bytes, instance, user }
    }

    /// The key of the HMAC.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// Returns the key for a MAC that was made with this secret.
    pub fn key(&self, mac: Mac) -> Key {
        Key { mac, instance: self.instance, user: self.user }
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The name of a connection or record: a MAC under the secret of one broker. Another broker refuses it, and
/// the client uses it only with a folder and a broker of the user that asked for the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub(crate) mac: Mac,
    pub(crate) instance: Instance,
    pub(crate) user: u32,
}

/// A connection to be parked.
pub struct Parcel<'a> {
    pub label: Label<'a>,
    /// Time since the connection was opened.
    pub age: Duration,
    /// Time since its last use.
    pub idle: Duration,
    /// Number of transfers so far.
    pub uses: u32,
    /// The connection is dropped when it has been idle for longer. The broker has a limit of its own.
    pub idle_limit: Duration,
    /// The state for the next owner, at most [`crate::MAX_STATE`] bytes.
    pub state: &'a [u8],
    /// A connected stream socket that is in no epoll set and has nothing to read.
    pub socket: BorrowedFd<'a>,
}

/// The origin of a connection, for the list of parked connections. Hosts are cut at 255 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'a> {
    pub scheme: &'a str,
    pub host: &'a str,
    pub port: u16,
}

/// A connection that has left the broker and belongs to the caller.
#[derive(Debug)]
pub struct Taken {
    pub state: Zeroizing<Vec<u8>>,
    pub socket: OwnedFd,
    pub age: Duration,
    pub idle: Duration,
    pub uses: u32,
}

/// A record, with its remaining lifetime.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub value: Zeroizing<Vec<u8>>,
    pub left: Duration,
}

/// The state of the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Process ID of the broker.
    pub process: u32,
    /// Time without connections and requests after which the broker exits.
    pub exit_after: Duration,
    /// Number of looked-up names.
    pub names: u32,
    pub parked: Vec<Parked>,
}
