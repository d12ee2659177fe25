//! Scripted peers, embedded servers, a simulated link and launchers of real servers, for tests and demos.
//!
//! Everything listens on an ephemeral loopback port, needs no root, and ends when its value is dropped. No
//! code is shared with the engine: a fault on both sides would not be noticed.

pub mod base64;
pub mod baseline;
pub mod body;
pub mod certs;
pub mod cutter;
pub mod dice;
pub mod dns;
pub mod frames;
pub mod ftp;
#[cfg(unix)]
pub mod holding; // epoll
pub mod http;
#[cfg(unix)]
pub mod launch; // Debian's servers
#[cfg_attr(not(unix), path = "no_link.rs")]
pub mod link;
pub mod lossy;
pub mod mutation;
pub mod needs;
pub mod raw;
pub mod ssh;
pub mod stop;
pub mod stream;
pub mod tap;
pub mod temp;
pub mod throttle;

pub use needs::left_out;
