//! The event loop of async-io, for smol and any executor without a reactor of its own.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use ::async_io::{Async, Timer};
use engine::Descriptor;

use super::{EventLoop, Watch};

/// The reactor of async-io.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsyncIo;

impl EventLoop for AsyncIo {
    type Watch = Watched;

    fn watch(self, descriptor: Descriptor) -> io::Result<Watched> {
        Ok(Watched { descriptor: Async::new_nonblocking(descriptor)?, timer: Timer::never(), armed: None })
    }
}

pub struct Watched {
    descriptor: Async<Descriptor>,
    timer: Timer,
    /// When the timer fires. It is set anew only for an earlier deadline: most deadlines are far away and
    /// never reached.
    armed: Option<Instant>,
}

impl Watch for Watched {
    fn poll(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(readable) = self.descriptor.poll_readable(cx) {
            return Poll::Ready(readable);
        }
        let Some(deadline) = deadline else { return Poll::Pending };
        if self.armed.is_none_or(|armed| deadline < armed) {
            self.timer.set_at(deadline);
            self.armed = Some(deadline);
        }
        Pin::new(&mut self.timer).poll(cx).map(|_| {
            self.armed = None;
            Ok(())
        })
    }
}
