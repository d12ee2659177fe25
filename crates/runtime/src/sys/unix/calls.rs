//! Calls on sockets that each system has in its own way.

use std::io::{self, IoSlice};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, accept_with, sendmsg,
    socket_with,
};

/// Flags of all sends: a closed peer is an error and not a signal.
pub const SEND: SendFlags = SendFlags::NOSIGNAL;
/// Receiving never waits.
pub(crate) const RECEIVE_NOW: RecvFlags = RecvFlags::DONTWAIT;
/// Interval of checks while connecting: not needed, since poll and epoll report every result.
pub(crate) const CONNECT_CHECK_INTERVAL: Option<Duration> = None;

/// A new socket that never waits and that no other program inherits.
pub fn new_socket(family: AddressFamily, kind: SocketType) -> io::Result<OwnedFd> {
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?)
}

/// A descriptor that leads nowhere: one end of a pipe, whose other end is closed.
pub(crate) fn unconnected() -> io::Result<OwnedFd> {
    Ok(io::pipe()?.0.into())
}

/// The system makes send buffers larger by itself.
pub const BUFFERS_GROW: bool = true;

/// Returns whether a connect call with this error continues in the background, and the socket reports the
/// result.
pub fn is_under_way(e: Errno) -> bool {
    matches!(e, Errno::INPROGRESS | Errno::INTR)
}

pub(crate) fn send_vectored(fd: BorrowedFd<'_>, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
    Ok(sendmsg(fd, bufs, &mut SendAncillaryBuffer::default(), SEND)?)
}

pub(crate) fn accept(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Ok(accept_with(fd, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?)
}

/// Returns a connect failure that the socket's own error does not show: there is none on Unix.
pub(crate) fn failed_to_connect(_: BorrowedFd<'_>) -> Option<io::Error> {
    None
}

/// Never called: see [`BUFFERS_GROW`].
pub(crate) fn ideal_send_backlog(_: BorrowedFd<'_>) -> Option<usize> {
    None
}

/// Microseconds for which the peer's window, and then the send buffer, kept a TCP connection from sending.
pub(crate) fn limited_us(_fd: BorrowedFd<'_>) -> Option<[u64; 2]> {
    #[cfg(target_os = "linux")]
    return sockets::limited_us(_fd).ok().flatten();
    #[cfg(not(target_os = "linux"))]
    None
}

pub(crate) fn acknowledge(_fd: BorrowedFd<'_>) {
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_quickack(_fd, true); // not every socket is TCP's
}
