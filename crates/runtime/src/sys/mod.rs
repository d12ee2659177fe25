//! Operating-system specifics. What differs is in a file each in `unix` and `windows`, with the same names;
//! the rest is here. No other code names a system.

pub(crate) mod fork;
pub(crate) mod socket;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{calls, epoll, eventfd, host, lend, privilege, threads};
#[cfg(windows)]
pub(crate) use windows::{calls, epoll, eventfd, host, lend, privilege, threads};
