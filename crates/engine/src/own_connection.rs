//! The connection of a CURLOPT_CONNECT_ONLY transfer, on which the application sends and receives itself
//! (curl_easy_send.md, curl_easy_recv.md). It has no reactor: each call tries once.

use std::io::{self, ErrorKind};
use std::task::{Context, Poll, Waker};

use net::Connection;
use runtime::Direction;
use runtime::fd::RawFd;
use tables::Code;

/// A connection that the application uses itself.
pub struct OwnConnection {
    connection: Connection,
    /// Bytes that a layer has accepted and not sent yet, and that were not reported as sent to the
    /// application.
    taken: usize,
    /// Whether it carries packets of a session, which cannot be written or read directly.
    sealed: bool,
}

impl OwnConnection {
    /// Wraps the connection of a transfer.
    pub fn new(mut connection: Connection) -> OwnConnection {
        let sealed = net::ssh::is_parked(&mut connection);
        OwnConnection { connection, taken: 0, sealed }
    }

    /// Its descriptor.
    pub fn raw_fd(&self) -> RawFd {
        self.connection.carrier.socket().raw_fd()
    }

    /// Sends as much as fits; [`Code::Again`] if nothing does. Encrypted data that does not fit is reported
    /// only when it has been sent, to the next call with the same bytes, as by SSL_write(3): an application
    /// that believes everything is sent waits for the reply, and nobody would send the rest.
    pub fn send(&mut self, bytes: &[u8]) -> Result<usize, Code> {
        if self.sealed {
            return Err(Code::Ssh);
        }
        let sent = self.try_send(bytes);
        // Nobody waits for it: otherwise an event loop would watch the socket for no task.
        self.connection.carrier.socket().forget(Direction::Write);
        sent
    }

    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Code> {
        let cx = &mut Context::from_waker(Waker::noop());
        let filter = self.connection.filter();
        if self.taken == 0 {
            self.taken = moved(filter.poll_write(cx, bytes), Code::SendError)?;
        }
        moved(filter.poll_flush(cx).map_ok(|()| 0), Code::SendError)?;
        let sent = self.taken.min(bytes.len());
        self.taken -= sent;
        Ok(sent)
    }

    /// Receives available data; [`Code::Again`] if there is none, 0 at the end.
    pub fn receive(&mut self, buf: &mut [u8]) -> Result<usize, Code> {
        if self.sealed {
            return Err(Code::Ssh);
        }
        let received = moved(self.connection.filter().try_read(buf), Code::RecvError);
        self.connection.carrier.socket().forget(Direction::Write);
        received
    }
}

/// Returns the result of a single try without waiting.
fn moved(poll: Poll<io::Result<usize>>, failed: Code) -> Result<usize, Code> {
    match poll {
        Poll::Ready(Ok(len)) => Ok(len),
        Poll::Ready(Err(error)) if error.kind() != ErrorKind::WouldBlock => Err(failed),
        _ => Err(Code::Again),
    }
}
