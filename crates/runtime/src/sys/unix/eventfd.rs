//! The wake-up descriptor: an eventfd.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, eventfd};

pub(crate) type EventFd = OwnedFd;

pub(crate) fn create() -> io::Result<EventFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

/// Makes it readable. Failure means that the counter is full: it is readable already.
pub(crate) fn write(fd: &EventFd) {
    let _ = rustix::io::write(fd, &1u64.to_ne_bytes());
}

pub(crate) fn drain(fd: &EventFd) {
    let mut counter = [0u8; 8];
    let _ = rustix::io::read(fd, &mut counter);
}
