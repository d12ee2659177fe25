//! A connection as a peer sees it: TCP, a Unix socket or TLS, read in slices short enough to notice the
//! case's end.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::case_context::CaseContext;

const SLICE: Duration = Duration::from_millis(50);

pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub enum Got {
    Data(usize),
    Closed,
}

pub struct Conn {
    stream: Stream,
    /// Its name in the transcript.
    pub name: &'static str,
}

impl Conn {
    pub fn new(name: &'static str, stream: Stream) -> io::Result<Conn> {
        let tcp = match &stream {
            Stream::Tcp(tcp) => Some(tcp),
            Stream::Tls(tls) => Some(&tls.sock),
            Stream::Unix(unix) => {
                unix.set_read_timeout(Some(SLICE))?;
                None
            }
        };
        if let Some(tcp) = tcp {
            tcp.set_nodelay(true)?;
            tcp.set_read_timeout(Some(SLICE))?;
            tcp.set_write_timeout(Some(Duration::from_secs(20)))?;
        }
        Ok(Conn { stream, name })
    }

    /// Does the handshake of a TLS server on a fresh connection; `Err` where it fails.
    pub fn secured(
        name: &'static str,
        tcp: TcpStream,
        config: Arc<ServerConfig>,
        stage: &CaseContext,
    ) -> io::Result<Conn> {
        tcp.set_read_timeout(Some(SLICE))?;
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        let mut tls = StreamOwned::new(session, tcp);
        while tls.conn.is_handshaking() {
            match tls.conn.complete_io(&mut tls.sock) {
                Err(e) if is_timeout(&e) && !stage.stopped() => {}
                Err(e) => return Err(e),
                Ok(_) => {}
            }
        }
        Conn::new(name, Stream::Tls(Box::new(tls)))
    }

    /// Waits for bytes until the peer closes or the case is over.
    pub fn read(&mut self, buffer: &mut [u8], stage: &CaseContext) -> Got {
        loop {
            match self.read_once(buffer) {
                Ok(0) => return Got::Closed,
                Ok(n) => {
                    stage.note(self.name, "<", &buffer[..n]);
                    return Got::Data(n);
                }
                Err(e) if is_timeout(&e) && !stage.stopped() => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Got::Closed,
            }
        }
    }

    /// Like `read`, but fails after this time without a byte.
    pub fn read_within(&mut self, buffer: &mut [u8], stage: &CaseContext, limit: Duration) -> Option<Got> {
        let slices = limit.as_millis() / SLICE.as_millis();
        for _ in 0..=slices {
            match self.read_once(buffer) {
                Ok(0) => return Some(Got::Closed),
                Ok(n) => {
                    stage.note(self.name, "<", &buffer[..n]);
                    return Some(Got::Data(n));
                }
                Err(e) if is_timeout(&e) && !stage.stopped() => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Some(Got::Closed),
            }
        }
        None
    }

    pub fn read_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Tcp(s) => s.read(buffer),
            Stream::Unix(s) => s.read(buffer),
            Stream::Tls(s) => match s.read(buffer) {
                // curl may go without close_notify
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(0),
                other => other,
            },
        }
    }

    pub fn write(&mut self, bytes: &[u8], stage: &CaseContext) -> io::Result<()> {
        stage.note(self.name, ">", bytes);
        match &mut self.stream {
            Stream::Tcp(s) => s.write_all(bytes),
            Stream::Unix(s) => s.write_all(bytes),
            Stream::Tls(s) => s.write_all(bytes).and_then(|()| s.flush()),
        }
    }

    /// Returns whether there are buffered bytes that `poll` on the descriptor does not report.
    pub fn has_buffered(&mut self) -> bool {
        match &mut self.stream {
            Stream::Tls(s) => {
                s.conn.process_new_packets().is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
            }
            _ => false,
        }
    }

    /// Shuts down the sending side.
    pub fn finish_writing(&mut self) {
        match &mut self.stream {
            Stream::Tcp(s) => drop(s.shutdown(Shutdown::Write)),
            Stream::Unix(s) => drop(s.shutdown(Shutdown::Write)),
            Stream::Tls(s) => {
                s.conn.send_close_notify();
                let _ = s.flush();
                drop(s.sock.shutdown(Shutdown::Write));
            }
        }
    }

    /// The TCP socket beneath, where there is one.
    pub fn tcp(&self) -> Option<&TcpStream> {
        match &self.stream {
            Stream::Tcp(s) => Some(s),
            Stream::Tls(s) => Some(&s.sock),
            Stream::Unix(_) => None,
        }
    }
}

impl AsFd for Conn {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Tcp(s) => s.as_fd(),
            Stream::Unix(s) => s.as_fd(),
            Stream::Tls(s) => s.sock.as_fd(),
        }
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        if let Stream::Tls(s) = &mut self.stream {
            s.conn.send_close_notify();
            let _ = s.sock.set_nonblocking(true);
            let _ = s.flush();
        }
    }
}

/// A read that only ran out of its slice.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
