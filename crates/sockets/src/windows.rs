//! Windows: two functions of Winsock.

use std::io;
use std::os::windows::io::{AsRawSocket, BorrowedSocket};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Networking::WinSock::{
    FD_SET, SOCKET, SOCKET_ERROR, TIMEVAL, WSAGetLastError, WSAIoctl, select,
};

/// Of ws2ipdef.h: `_IOR('t', 123, ULONG)`. windows-sys does not have it.
const SIO_IDEAL_SEND_BACKLOG_QUERY: u32 = 0x4004_747b;

/// Returns whether a connect in progress has failed. select(2) of Winsock reports that in the exception set,
/// on every release; WSAPoll did not before Windows 10 2004.
pub fn has_failed_to_connect(socket: BorrowedSocket<'_>) -> io::Result<bool> {
    let mut excepted = FD_SET { fd_count: 1, fd_array: [0; 64] };
    excepted.fd_array[0] = handle(socket);
    let at_once = TIMEVAL { tv_sec: 0, tv_usec: 0 };
    // SAFETY: the set has one open socket, and its count says so; omitted sets are null; the time-out is a
    // local.
    let found = unsafe { select(0, null_mut(), null_mut(), &mut excepted, &at_once) };
    if found == SOCKET_ERROR { Err(last_error()) } else { Ok(found > 0) }
}

/// Returns how many bytes should be in transit or in the send buffer to fill the link
/// (SIO_IDEAL_SEND_BACKLOG_QUERY).
pub fn ideal_send_backlog(socket: BorrowedSocket<'_>) -> io::Result<usize> {
    let (mut ideal, mut written) = (0u32, 0u32);
    // SAFETY: no input; the output is a ULONG, for which there is room; without an OVERLAPPED the call is
    // synchronous.
    let failed = unsafe {
        WSAIoctl(
            handle(socket),
            SIO_IDEAL_SEND_BACKLOG_QUERY,
            null(),
            0,
            (&raw mut ideal).cast(),
            size_of::<u32>() as u32,
            &mut written,
            null_mut(),
            None,
        )
    };
    match failed {
        0 if written as usize == size_of::<u32>() => Ok(ideal as usize),
        0 => Err(io::ErrorKind::InvalidData.into()),
        _ => Err(last_error()),
    }
}

fn handle(socket: BorrowedSocket<'_>) -> SOCKET {
    socket.as_raw_socket() as SOCKET
}

fn last_error() -> io::Error {
    // SAFETY: no arguments; it reads this thread's last error.
    io::Error::from_raw_os_error(unsafe { WSAGetLastError() })
}
