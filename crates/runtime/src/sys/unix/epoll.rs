//! epoll, registered once per descriptor: edge-triggered, in both directions, never modified but for sockets
//! of datagrams.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, epoll, poll};

use crate::wait::{Event, timespec};

/// Events taken from the kernel per call.
const BATCH: usize = 256;

pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        Ok(Epoll(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Includes PRI, because a receive stops at the urgent mark although more data follows.
    pub(crate) fn add(&self, fd: impl AsFd, key: u64, writes: bool) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(key), flags(writes))?)
    }

    /// Sets whether writability is reported. What is ready is reported again.
    pub(crate) fn modify(&self, fd: impl AsFd, key: u64, writes: bool) -> io::Result<()> {
        Ok(epoll::modify(&self.0, fd, epoll::EventData::new_u64(key), flags(writes))?)
    }

    /// Adds the wake-up descriptor: level-triggered, drained by whichever side sees it.
    pub(crate) fn add_level(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(key), epoll::EventFlags::IN)?)
    }

    pub(crate) fn delete(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.0, fd);
    }

    /// Waits and appends events. A signal is an error.
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

crate::sys::lend!(Epoll, it => &it.0);

/// poll(2). A signal is an error.
pub(crate) fn poll_fds(fds: &mut [PollFd<'_>], max: Duration) -> io::Result<usize> {
    Ok(poll(fds, Some(&timespec(max)))?)
}

/// Converts an application's requested events: its bits are the system's.
pub(crate) fn wanted_events(events: i16) -> PollFlags {
    PollFlags::from_bits_retain(events)
}

/// Converts events for an application.
pub(crate) fn returned_events(flags: PollFlags) -> i16 {
    flags.bits()
}

fn flags(writes: bool) -> epoll::EventFlags {
    use epoll::EventFlags as F;
    let reads = F::IN | F::RDHUP | F::PRI | F::ET;
    if writes { reads | F::OUT } else { reads }
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
