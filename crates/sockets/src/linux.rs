//! Linux: what TCP knows of a connection (TCP_INFO, tcp(7)).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{IPPROTO_TCP, TCP_INFO, c_int, getsockopt, socklen_t};

/// Index of tcpi_rwnd_limited of linux/tcp.h among numbers of 64 bits. libc's type ends before it.
const RWND_LIMITED: usize = 176 / 8;
/// Index of tcpi_sndbuf_limited, the last one that is read.
const SNDBUF_LIMITED: usize = 184 / 8;

/// Microseconds for which the peer's window, and then the send buffer, kept a TCP connection from sending
/// (tcpi_rwnd_limited, tcpi_sndbuf_limited: since Linux 4.10). `None` from a system without them, and for
/// another kind of socket.
pub fn limited_us(socket: BorrowedFd<'_>) -> io::Result<Option<[u64; 2]>> {
    let mut info = [0u64; SNDBUF_LIMITED + 1];
    let mut length = size_of_val(&info) as socklen_t;
    let (socket, place) = (socket.as_raw_fd(), &raw mut info);
    // SAFETY: the system writes at most `length` bytes to `info`, which has that size, and any bytes are
    // numbers.
    let failed: c_int = unsafe { getsockopt(socket, IPPROTO_TCP, TCP_INFO, place.cast(), &raw mut length) };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    let is_whole = length as usize >= size_of_val(&info);
    Ok(is_whole.then(|| [info[RWND_LIMITED], info[SNDBUF_LIMITED]]))
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use super::*;

    /// A peer that does not read closes its window; when it reads, the time for which it was closed counts.
    #[test]
    fn a_closed_window_counts() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let mut sender = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        let (mut receiver, _) = listener.accept().expect("the connection waits");
        let before = limited_us(sender.as_fd()).expect("a socket of TCP");
        let Some(before) = before else { return assert!(is_old(), "no figures") };
        sender.set_nonblocking(true).expect("an open socket");
        let piece = [0; 65536];
        let filled = loop {
            match sender.write(&piece) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Instant::now(),
                Err(error) => panic!("{error}"),
            }
        };
        std::thread::sleep(Duration::from_millis(100));
        receiver.read_exact(&mut vec![0; 1 << 20]).expect("more than that was sent");
        let [window, _] = limited_us(sender.as_fd()).expect("it is open").expect("as before");
        let limited = Duration::from_micros(window - before[0]);
        assert!(limited >= Duration::from_millis(50), "{limited:?} of {:?}", filled.elapsed());
    }

    /// The kernel's number is below 4.10.
    fn is_old() -> bool {
        let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
        let [major, minor] = [(); 2].map(|()| parts.next().unwrap_or(0));
        (major, minor) < (4, 10)
    }

    #[test]
    fn a_socket_of_another_kind_has_no_figures() {
        let (one, _other) = UnixStream::pair().expect("a pair");
        assert!(limited_us(one.as_fd()).is_err());
    }
}
