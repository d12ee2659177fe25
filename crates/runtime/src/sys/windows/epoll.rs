//! Readiness by WSAPoll, for any number of sockets. There is nothing to register them with permanently.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::AsFd;

use super::eventfd::EventFd;
use crate::wait::{Event, timespec};

/// There is none.
pub(crate) enum Epoll {}

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn add(&self, _: impl AsFd, _: u64, _: bool) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn modify(&self, _: impl AsFd, _: u64, _: bool) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn add_level(&self, _: impl AsFd, _: u64) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn delete(&self, _: impl AsFd) {
        match *self {}
    }

    pub(crate) fn wait(&self, _: Duration, _: &mut impl Extend<Event>) -> io::Result<()> {
        match *self {}
    }

    fn never(&self) -> &EventFd {
        match *self {}
    }
}

crate::sys::lend!(Epoll, it => it.never());

/// WSAPoll, which takes an empty set for a mistake.
pub(crate) fn poll_fds(fds: &mut [PollFd<'_>], max: Duration) -> io::Result<usize> {
    if fds.is_empty() {
        std::thread::sleep(max);
        return Ok(0);
    }
    Ok(poll(fds, Some(&timespec(max)))?)
}

/// Event bits of Linux, which curl's header uses, and of Winsock. POLLPRI is refused; POLLRDBAND replaces it.
const BITS: [(i16, PollFlags); 6] = [
    (1, PollFlags::RDNORM),
    (2, PollFlags::RDBAND),
    (4, PollFlags::WRNORM),
    (8, PollFlags::ERR),
    (16, PollFlags::HUP),
    (32, PollFlags::NVAL),
];

/// Converts an application's requested events. Errors are always reported, and refused as requested events.
pub(crate) fn wanted_events(events: i16) -> PollFlags {
    BITS[..3]
        .iter()
        .filter(|(bit, _)| events & bit != 0)
        .fold(PollFlags::empty(), |all, (_, flag)| all | *flag)
}

/// Converts events for an application.
pub(crate) fn returned_events(flags: PollFlags) -> i16 {
    BITS.iter().filter(|(_, flag)| flags.intersects(*flag)).fold(0, |all, (bit, _)| all | bit)
}
