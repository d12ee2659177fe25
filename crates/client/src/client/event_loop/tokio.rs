//! The event loop of tokio.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use engine::Descriptor;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Sleep, sleep};

use super::{EventLoop, Watch};

/// The tokio runtime in whose context it is used, with I/O and time enabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokio;

impl EventLoop for Tokio {
    type Watch = Watched;

    #[allow(
        deprecated,
        reason = "its successor is unsafe, for types whose descriptor may change or be closed; this one's is its own for as long as it lives"
    )]
    fn watch(self, descriptor: Descriptor) -> io::Result<Watched> {
        descriptor.watch_by_edges();
        let descriptor = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
        Ok(Watched { descriptor, timer: Box::pin(sleep(Duration::ZERO)), armed: None })
    }
}

pub struct Watched {
    descriptor: AsyncFd<Descriptor>,
    timer: Pin<Box<Sleep>>,
    /// When the timer fires. It is set anew only for an earlier deadline: most deadlines are far away and
    /// never reached.
    armed: Option<Instant>,
}

impl Watched {
    /// Returns when the timer wakes the task.
    pub(in super::super) fn armed(&self) -> Option<Instant> {
        self.armed
    }
}

impl Watch for Watched {
    fn poll(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(guard) = self.descriptor.poll_read_ready(cx) {
            guard?.clear_ready();
            return Poll::Ready(Ok(()));
        }
        let Some(deadline) = deadline else { return Poll::Pending };
        if self.armed.is_none_or(|armed| deadline < armed) {
            self.timer.as_mut().reset(deadline.into());
            self.armed = Some(deadline);
        }
        self.timer.as_mut().poll(cx).map(|()| {
            self.armed = None;
            Ok(())
        })
    }
}
