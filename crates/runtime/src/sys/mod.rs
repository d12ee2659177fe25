//! Operating-system specifics. Another system is a second file beside `unix.rs` and another set of these helpers.

pub(crate) mod epoll;
pub(crate) mod eventfd;
pub(crate) mod fork;
pub(crate) mod host;
pub(crate) mod privilege;
pub(crate) mod threads;
pub(crate) mod unix;
