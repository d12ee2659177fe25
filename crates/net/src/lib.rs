//! Resolver, connecting, filters, exchanges, connections and their pool; knows no option and no transfer.

pub mod connect;
mod connection;
mod error;
pub mod exchange;
pub mod filter;
pub mod identity;
mod lease;
pub mod listen;
mod pool;
mod process;
pub mod resolver;
mod shared_pool;
pub mod tls;

pub use connection::{Ahead, Connection};
pub use error::{NetError, NetErrorKind};
pub use filter::Filter;
pub use identity::Identity;
pub use lease::{Lease, Slot};
pub use pool::{Acquired, Counters, Limits, Listed, Pool};
pub use process::{Process, process};
pub use resolver::ResolveCache;
pub use runtime::Idle;
pub use shared_pool::SharedPool;
pub use tls::SessionStore;
