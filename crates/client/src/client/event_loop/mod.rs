//! The interface between a driver and an event loop: one watched descriptor and one timer.

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
#[cfg(all(unix, feature = "tokio"))]
pub(super) use tokio::Watched;

/// An event loop in which a [`Driver`](crate::Driver) can wait. `Tokio` and `AsyncIo` implement it, each
/// behind the feature of its name.
pub trait EventLoop {
    /// The type of a watched descriptor.
    type Watch: Watch;

    /// Starts to watch a descriptor.
    fn watch(self, descriptor: Descriptor) -> io::Result<Self::Watch>;
}

/// A watched descriptor.
pub trait Watch: Unpin {
    /// Returns `Ready` once the descriptor is readable or the deadline has passed; otherwise `cx` is woken
    /// then. Waking too early is allowed, too late is not. The driver reads until nothing is left, so
    /// edge-triggered notification suffices.
    fn poll(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}
