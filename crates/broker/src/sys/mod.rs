//! Sockets, folders and processes. Descriptors travel over Unix sockets, so other systems have no broker.

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod detach;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod start;
#[cfg(unix)]
pub use client::{Client, Greeting};
#[cfg(unix)]
pub use detach::run_broker;
#[cfg(unix)]
pub use folder::Folder;
#[cfg(unix)]
pub use server::{Limits, Server};

#[cfg(not(unix))]
mod absent;
#[cfg(not(unix))]
pub use absent::{Client, Greeting, run_broker};
