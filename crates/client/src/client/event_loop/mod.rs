//! What a driver needs of an event loop: one descriptor watched, and one timer.

use std::io;
use std::task::{Context, Poll};
use std::time::Instant;

use engine::Descriptor;

#[cfg(all(unix, feature = "async-io"))]
mod async_io;
#[cfg(all(unix, feature = "tokio"))]
mod tokio;

#[cfg(all(unix, feature = "async-io"))]
pub use async_io::AsyncIo;
#[cfg(all(unix, feature = "tokio"))]
pub use tokio::Tokio;

/// An event loop in which a [`Driver`](crate::Driver) can wait. `Tokio` and `AsyncIo` are two, each behind the feature of its name;
/// another takes as many lines.
pub trait EventLoop {
    /// What it makes of a descriptor.
    type Watch: Watch;

    /// Begins to watch.
    fn watch(self, descriptor: Descriptor) -> io::Result<Self::Watch>;
}

/// A descriptor that is watched.
pub trait Watch: Unpin {
    /// Ready once the descriptor is readable or the deadline has come, which may be told too early and never too late. Whoever is told
    /// reads all that there is, so that an edge is enough. Else `cx` is woken when that is so.
    fn poll(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}
