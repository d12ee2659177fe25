//! Bytes back and forth between a client and a server, as a proxy does after CONNECT or a SOCKS request.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::AsFd;

use super::CaseContext;
use super::wire::{Conn, is_timeout};

/// Idle time after which a tunnel is closed.
const IDLE: Duration = Duration::from_secs(6);

/// Connects to the port on this host, whatever host the client named: nothing else may be reached from here.
pub fn connect(port: u16) -> io::Result<TcpStream> {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).or_else(|e| {
        let v6 = (std::net::Ipv6Addr::LOCALHOST, port);
        TcpStream::connect(v6).map_err(|_| e)
    })
}

/// Forwards bytes until both sides have ended or the tunnel is idle.
pub fn carry(client: &mut Conn, mut server: TcpStream, stage: &CaseContext) -> io::Result<()> {
    server.set_nodelay(true)?;
    let mut buffer = vec![0; 16_384];
    let (mut client_open, mut server_open) = (true, true);
    let mut last = Instant::now();
    while (client_open || server_open) && last.elapsed() < IDLE && !stage.stopped() {
        let (from_client, from_server) = ready(client, &server, client_open, server_open)?;
        if from_client {
            match client.read_once(&mut buffer) {
                Ok(0) => {
                    client_open = false;
                    let _ = server.shutdown(Shutdown::Write);
                }
                Ok(n) => {
                    last = Instant::now();
                    server.write_all(&buffer[..n])?;
                }
                Err(e) if is_timeout(&e) => {}
                Err(e) => return Err(e),
            }
        }
        if from_server {
            match server.read(&mut buffer) {
                Ok(0) => {
                    server_open = false;
                    client.finish_writing();
                }
                Ok(n) => {
                    last = Instant::now();
                    client.write(&buffer[..n], stage)?;
                }
                Err(e) if is_timeout(&e) => {}
                Err(e) => return Err(e),
            }
        }
    }
    Ok(())
}

/// Which of the two have something to read.
fn ready(
    client: &mut Conn,
    server: &TcpStream,
    client_open: bool,
    server_open: bool,
) -> io::Result<(bool, bool)> {
    if client_open && client.has_buffered() {
        return Ok((true, false));
    }
    let interest = |open: bool| if open { PollFlags::IN } else { PollFlags::empty() };
    let mut fds = [
        PollFd::from_borrowed_fd(client.as_fd(), interest(client_open)),
        PollFd::from_borrowed_fd(server.as_fd(), interest(server_open)),
    ];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 50_000_000 }))?;
    let is_ready = |at: usize, open: bool| open && !fds[at].revents().is_empty();
    Ok((is_ready(0, client_open), is_ready(1, server_open)))
}
