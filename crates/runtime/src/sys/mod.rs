//! Operating-system specifics: what differs has one name and a file each in `unix` and `windows`; what
//! doesn't, stands here. Nothing above names a system.

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
