//! Uploads that continue after a cut: decides where, as pure functions of the peer's answers. The caller
//! moves the bytes, and keeps what has to survive the process.
//!
//! docs/decisions/0016 says why an upload continues only where the peer says it ended.

mod comparison;
mod decide;
pub mod digest;
pub mod http;
pub mod s3;
pub mod series;

pub use comparison::compare;
pub use decide::{Facts, Peer, Protocol, Refusal, Step, decide};
