//! Resolver, connecting, filters, exchanges, connections and their pool; knows no option and no transfer.

// Without a protocol some helpers have no user.
#![cfg_attr(not(feature = "all"), allow(dead_code))]

mod carrier;
pub mod connect;
mod connection;
pub mod connection_key;
mod error;
pub mod exchange;
mod file_cache;
pub mod filter;
pub mod handover;
pub mod http2;
#[cfg_attr(not(feature = "http3"), path = "absent/http3.rs")]
pub mod http3;
mod lease;
pub mod listen;
pub mod named_file;
pub mod pool;
mod process;
#[cfg_attr(not(feature = "http3"), path = "absent/quic.rs")]
pub mod quic;
mod random;
pub mod resolver;
mod secret;
pub mod session;
#[cfg_attr(not(feature = "ssh"), path = "absent/ssh.rs")]
pub mod ssh;
mod sync;
mod sys;
pub mod tls;

pub use carrier::{Carrier, Stack};
pub use connection::{About, AnyConnection, Connection, Listed, Memory, Presence};
pub use connection_key::{ConnectionKey, HashedKey};
pub use error::{LayerError, NetError, NetErrorKind};
pub use filter::Filter;
pub use filter::datagram::Datagrams;
pub use lease::{Adopter, ByCarrier};
pub use named_file::NamedFile;
pub use pool::{Ages, Ahead, Counters, Eviction, Limits, Neighbour, NoneFromBroker, Refusal};
pub use process::{Process, process};
pub use random::random;
pub use resolver::ResolveCache;
pub use runtime::Idle;
pub use secret::SecretBytes;
pub use session::{
    AcquireRequest, Acquired, Granted, HttpLease, Lease, Pool, QuicWhole, SharedPool, Slot, Whole,
};
pub use tls::SessionStore;
