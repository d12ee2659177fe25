//! epoll, registered once per descriptor: edge-triggered, in both directions, never modified.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, Timespec, epoll, poll};

/// Events taken from the kernel per call.
const BATCH: usize = 256;

pub(crate) struct Epoll(OwnedFd);

/// One event: the key given at registration and what happened.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) key: u64,
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Data and the end may have been reported together, once: read on until 0 or EAGAIN.
    pub(crate) hangup: bool,
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        Ok(Epoll(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// PRI is asked for because a receive stops short at the urgent mark with more behind it.
    pub(crate) fn add(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        use epoll::EventFlags as F;
        let flags = F::IN | F::OUT | F::RDHUP | F::PRI | F::ET;
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(key), flags)?)
    }

    /// For the wake-up descriptor: level-triggered, drained by whoever sees it.
    pub(crate) fn add_level(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(key), epoll::EventFlags::IN)?)
    }

    pub(crate) fn delete(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.0, fd);
    }

    /// Waits and appends what happened. A signal is an error.
    pub(crate) fn wait(&self, max: Duration, events: &mut impl Extend<Event>) -> io::Result<()> {
        let mut raw = [const { MaybeUninit::uninit() }; BATCH];
        let mut max = max;
        loop {
            let (happened, _) = epoll::wait(&self.0, &mut raw, Some(&timespec(max)))?;
            let more = happened.len() == BATCH;
            events.extend(happened.iter().map(decode));
            if !more {
                return Ok(());
            }
            max = Duration::ZERO;
        }
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// poll(2). A signal is an error.
pub(crate) fn poll_fds(fds: &mut [PollFd<'_>], max: Duration) -> io::Result<usize> {
    Ok(poll(fds, Some(&timespec(max)))?)
}

fn decode(event: &epoll::Event) -> Event {
    use epoll::EventFlags as F;
    let flags = event.flags;
    let hangup = flags.intersects(F::HUP | F::ERR | F::RDHUP | F::PRI);
    Event {
        key: event.data.u64(),
        read: hangup || flags.contains(F::IN),
        write: flags.intersects(F::OUT | F::HUP | F::ERR),
        hangup,
    }
}

/// Rounded up to whole milliseconds, so that a wait never ends just before the deadline it was bounded by.
fn timespec(max: Duration) -> Timespec {
    let ms = i64::try_from(max.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX).min(i64::from(i32::MAX));
    Timespec { tv_sec: ms / 1000, tv_nsec: (ms % 1000) * 1_000_000 }
}
