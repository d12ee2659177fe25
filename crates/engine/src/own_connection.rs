//! The connection of a CURLOPT_CONNECT_ONLY transfer, on which the application itself sends and receives
//! (curl_easy_send.md, curl_easy_recv.md). Nobody runs a reactor for it: each call tries once.

use std::io::{self, ErrorKind};
use std::task::{Context, Poll, Waker};

use net::Connection;
use runtime::Direction;
use runtime::fd::RawFd;
use tables::Code;

/// A connection that the application uses by hand.
pub struct OwnConnection {
    connection: Connection,
    /// Bytes that a layer has taken and not yet sent, and that the application was not told of.
    taken: usize,
    /// It carries packets of a session, which nobody can write or read by hand.
    sealed: bool,
}

impl OwnConnection {
    /// What a transfer has connected.
    pub fn new(mut connection: Connection) -> OwnConnection {
        let sealed = net::ssh::is_parked(&mut connection);
        OwnConnection { connection, taken: 0, sealed }
    }

    /// Its descriptor.
    pub fn raw_fd(&self) -> RawFd {
        self.connection.carrier.socket().raw_fd()
    }

    /// Sends as much as fits; [`Code::Again`] when nothing does. What was sealed and does not fit is told only when it has
    /// left, to the next call with the same bytes, as OpenSSL does it: an application that was told that all is sent waits
    /// for the answer, and nobody would push the rest.
    pub fn send(&mut self, bytes: &[u8]) -> Result<usize, Code> {
        if self.sealed {
            return Err(Code::Ssh);
        }
        let sent = self.try_send(bytes);
        // Nobody waits for it: an event loop would watch for what no task takes.
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
        let told = self.taken.min(bytes.len());
        self.taken -= told;
        Ok(told)
    }

    /// Receives what has come; [`Code::Again`] when there is nothing, 0 at the end.
    pub fn receive(&mut self, buf: &mut [u8]) -> Result<usize, Code> {
        if self.sealed {
            return Err(Code::Ssh);
        }
        let received = moved(self.connection.filter().try_read(buf), Code::RecvError);
        self.connection.carrier.socket().forget(Direction::Write);
        received
    }
}

/// What a single try without waiting came to.
fn moved(poll: Poll<io::Result<usize>>, failed: Code) -> Result<usize, Code> {
    match poll {
        Poll::Ready(Ok(len)) => Ok(len),
        Poll::Ready(Err(error)) if error.kind() != ErrorKind::WouldBlock => Err(failed),
        _ => Err(Code::Again),
    }
}
