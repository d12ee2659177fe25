//! SSH's client as a state machine (RFC 4251 to 4254): no I/O, no clock. `transport` makes packets of bytes,
//! `auth` logs in, `session` carries channels, `sftp` and `scp` are spoken on them; `keys` and `known_hosts`
//! read files.

pub mod agent;
pub mod auth;

mod bytes;
mod cipher;
mod compress;
mod crypto;
mod error;
mod kex;
pub mod keys;
pub mod known_hosts;
mod numbers;
pub mod public;
mod queue;
pub mod scp;
mod session;
pub mod sftp;
pub mod transport;

pub use cipher::MAX_PACKET;
pub use crypto::{Hash, Secret, md5_hex, random};
pub use error::{Error, printable};
pub use kex::Offer;
pub use session::{Channel, ChannelId, Session, State};
pub use transport::{Config, Step, Transport, WithRoom};
