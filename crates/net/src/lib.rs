//! Resolver, connecting, filters, exchanges, connections and their pool; knows no option and no transfer.

mod carrier;
pub mod connect;
mod connection;
mod error;
pub mod exchange;
pub mod filter;
pub mod http2;
pub mod http3;
pub mod identity;
mod kept;
mod lease;
pub mod listen;
mod pool;
mod process;
pub mod quic;
mod random;
pub mod resolver;
pub mod session;
pub mod ssh;
mod sync;
mod sys;
pub mod tls;

pub use carrier::{Carried, Carrier};
pub use connection::{About, Ahead, Connection, Memory, Presence};
pub use error::{Fault, NetError, NetErrorKind};
pub use filter::Filter;
pub use filter::datagram::Datagrams;
pub use identity::{Identity, Key};
pub use lease::{Adopter, Lease, Slot, Whole};
pub use pool::{Acquired, Ages, Counters, Limits, Listed, Pool, SharedPool, Wish};
pub use process::{Process, process};
pub use random::random;
pub use resolver::ResolveCache;
pub use runtime::Idle;
pub use tls::SessionStore;
