//! Calls on sockets that each system has in its own way: Winsock's.

use std::io::{self, IoSlice};
use std::os::windows::io::{BorrowedSocket, OwnedSocket};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType};
use socket2::{Domain, SockRef, Socket, Type};

/// How everything is sent: there are no signals.
pub const SEND: SendFlags = SendFlags::empty();
/// Windows has no such flag: sockets are non-blocking from the start.
pub(crate) const RECEIVE_NOW: RecvFlags = RecvFlags::empty();
/// Interval of checks while connecting: before Windows 10 2004, WSAPoll never reported a failed connect.
pub(crate) const CONNECT_CHECK_INTERVAL: Option<Duration> = Some(Duration::from_millis(50));

/// A new socket that never waits and that no other program inherits. Winsock is started by the first one.
pub fn new_socket(family: AddressFamily, kind: SocketType) -> io::Result<OwnedSocket> {
    let kind = if kind == SocketType::DGRAM { Type::DGRAM } else { Type::STREAM };
    let socket = Socket::new(Domain::from(i32::from(family.as_raw())), kind, None)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// A descriptor that leads nowhere: a socket that is neither bound nor connected.
pub(crate) fn unconnected() -> io::Result<OwnedSocket> {
    new_socket(AddressFamily::INET, SocketType::DGRAM)
}

/// Send buffers are as large as the program makes them.
pub const BUFFERS_GROW: bool = false;

/// Returns whether a connect call with this error continues in the background, and the socket reports the
/// result.
pub fn is_under_way(e: Errno) -> bool {
    matches!(e, Errno::WOULDBLOCK | Errno::INPROGRESS | Errno::INTR)
}

pub(crate) fn send_vectored(fd: BorrowedSocket<'_>, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
    SockRef::from(&fd).send_vectored(bufs)
}

/// Accepts a connection. It inherits the listening socket's properties, and a socket made by the application
/// may be blocking.
pub(crate) fn accept(fd: BorrowedSocket<'_>) -> io::Result<OwnedSocket> {
    let accepted = rustix::net::accept(fd)?;
    rustix::io::ioctl_fionbio(&accepted, true)?;
    Ok(accepted)
}

/// Returns a connect failure that the socket's own error does not show (any more).
pub(crate) fn failed_to_connect(fd: BorrowedSocket<'_>) -> Option<io::Error> {
    match sockets::has_failed_to_connect(fd) {
        Ok(false) => None,
        Ok(true) => match rustix::net::sockopt::socket_error(fd) {
            Ok(Err(e)) | Err(e) => Some(e.into()),
            Ok(Ok(())) => Some(Errno::CONNREFUSED.into()),
        },
        Err(e) => Some(e),
    }
}

/// Returns the ideal size of the send buffer, if the system knows it; `None` also for sockets other than TCP.
pub(crate) fn ideal_send_backlog(fd: BorrowedSocket<'_>) -> Option<usize> {
    sockets::ideal_send_backlog(fd).ok()
}

/// Winsock does not say what limits a connection.
pub(crate) fn limited_us(_: BorrowedSocket<'_>) -> Option<[u64; 2]> {
    None
}

pub(crate) fn acknowledge(_: BorrowedSocket<'_>) {}
