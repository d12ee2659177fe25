//! Resolver, connecting, filters, exchanges, connections and their pool; knows no option and no transfer.

mod error;
pub mod filter;
pub mod tls;

pub use error::{NetError, NetErrorKind};
pub use filter::Filter;
pub use runtime::Idle;
