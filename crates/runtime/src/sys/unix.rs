//! A socket: a descriptor that closes through a hook and waits through a reactor. Plain `Send` data; which reactor it
//! is attached to changes as its connection is leased and given back.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg, sockopt};

use crate::interest::Direction;
use crate::reactor::{Reactor, Registration};

/// Closes a descriptor in the application's way.
pub type CloseHook = Box<dyn FnOnce(OwnedFd) + Send>;

/// What an unused connection looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Open, and nothing has arrived.
    Alive,
    /// Something has arrived.
    Data,
    /// The peer has closed it, or it has failed.
    Closed,
}

/// A socket of any family.
pub struct Socket {
    /// Present until the drop.
    fd: Option<Arc<OwnedFd>>,
    close: Option<CloseHook>,
    registration: Option<Registration>,
}

impl Socket {
    /// A socket that is closed by the system's close. It must be non-blocking.
    pub fn new(fd: OwnedFd) -> Socket {
        Socket { fd: Some(Arc::new(fd)), close: None, registration: None }
    }

    /// A socket that the hook closes.
    pub fn with_close_hook(fd: OwnedFd, hook: CloseHook) -> Socket {
        Socket { fd: Some(Arc::new(fd)), close: Some(hook), registration: None }
    }

    /// Registers with a reactor, leaving the one it was with.
    pub fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.registration = None;
        self.registration = Some(reactor.attach(self.shared().clone(), owner));
    }

    /// Leaves its reactor.
    pub fn detach(&mut self) {
        self.registration = None;
    }

    /// Whether it is with a reactor.
    pub fn is_attached(&self) -> bool {
        self.registration.is_some()
    }

    /// What time it is for its reactor, if it is with one.
    pub fn now(&self) -> Option<Instant> {
        self.registration.as_ref().map(|registration| registration.reactor().now())
    }

    /// The descriptor's number.
    pub fn raw_fd(&self) -> RawFd {
        self.shared().as_raw_fd()
    }

    /// On whose behalf it is used from now on.
    pub fn set_owner(&self, owner: u64) {
        if let Some(registration) = &self.registration {
            registration.set_owner(owner);
        }
    }

    /// Nobody waits in that direction any more. A task that stops reading (paused) says so, or the application's
    /// loop would be told to watch for what nobody takes.
    pub fn forget(&self, direction: Direction) {
        if let Some(registration) = &self.registration {
            registration.forget(direction);
        }
    }

    /// Receives when something is known to be there: right after a send it waits instead of trying.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let wanted = buf.len();
        let received = self.poll_io(cx, Direction::Read, |fd| Ok(recv(fd, &mut *buf, RecvFlags::empty())?.1));
        if let Poll::Ready(Ok(n)) = received
            && 0 < n
            && n < wanted
        {
            self.registered()?.short_read();
        }
        received
    }

    /// Receives what is there, with or without a reactor. Pending when there is nothing; nobody is woken later.
    pub fn try_recv(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            match recv(self.shared(), &mut *buf, RecvFlags::DONTWAIT) {
                Ok((_, n)) => return Poll::Ready(Ok(n)),
                Err(Errno::AGAIN) => return Poll::Pending,
                Err(Errno::INTR) => {}
                Err(e) => return Poll::Ready(Err(e.into())),
            }
        }
    }

    /// Sends as much as fits; tries at once.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_now(cx, |fd| Ok(send(fd, buf, SendFlags::NOSIGNAL)?))
    }

    /// Sends as much as fits of several pieces in one call.
    pub fn poll_send_vectored(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let nothing = SendAncillaryBuffer::default;
        self.poll_now(cx, |fd| Ok(sendmsg(fd, bufs, &mut nothing(), SendFlags::NOSIGNAL)?))
    }

    /// After a non-blocking connect: how it ended. An event from before the connect is recognised and waited past.
    pub fn poll_connected(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            std::task::ready!(self.registered()?.poll_ready(cx, Direction::Write));
            sockopt::socket_error(self.shared())??;
            match rustix::net::getpeername(self.shared()) {
                Ok(_) => return Poll::Ready(Ok(())),
                Err(Errno::NOTCONN) => self.registered()?.dry(Direction::Write),
                Err(e) => return Poll::Ready(Err(e.into())),
            }
        }
    }

    /// Waits until something is there to read, its end included.
    pub fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registered()?.poll_ready(cx, Direction::Read).map(Ok)
    }

    /// Waits until something can be written.
    pub fn poll_writable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registered()?.poll_ready(cx, Direction::Write).map(Ok)
    }

    /// Does something else with the descriptor (accept, datagrams) whenever it is ready, until it would not block.
    pub fn poll_io<T>(
        &mut self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut f: impl FnMut(BorrowedFd<'_>) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        loop {
            let registration = self.registered()?;
            std::task::ready!(registration.poll_ready(cx, direction));
            match f(self.shared().as_fd()) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => registration.dry(direction),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Has what came acknowledged now, where the system can: a peer that holds small packets back until the one before was
    /// (RFC 896) sends the next.
    pub fn acknowledge(&self) {
        #[cfg(target_os = "linux")]
        let _ = sockopt::set_tcp_quickack(self.shared(), true); // not every socket is TCP's
    }

    /// Says that nothing more will be sent, and goes on receiving.
    pub fn end_sending(&self) {
        let _ = rustix::net::shutdown(self.shared(), rustix::net::Shutdown::Write);
    }

    /// Accepts one connection of a listening socket: a non-blocking descriptor.
    pub fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<OwnedFd>> {
        let flags = rustix::net::SocketFlags::NONBLOCK | rustix::net::SocketFlags::CLOEXEC;
        self.poll_io(cx, Direction::Read, |fd| Ok(rustix::net::accept_with(fd, flags)?))
    }

    /// Looks without waiting and without taking anything.
    pub fn idle_state(&self) -> Idle {
        let mut byte = [0u8; 1];
        match recv(self.shared(), &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, 0)) => Idle::Closed,
            Ok(_) => Idle::Data,
            Err(Errno::AGAIN | Errno::INTR) => Idle::Alive,
            Err(_) => Idle::Closed,
        }
    }

    /// Writes by trying first: the event is waited for only after EAGAIN.
    pub fn poll_now<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut f: impl FnMut(BorrowedFd<'_>) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        loop {
            match f(self.shared().as_fd()) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    let registration = self.registered()?;
                    registration.dry(Direction::Write);
                    std::task::ready!(registration.poll_ready(cx, Direction::Write));
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn shared(&self) -> &Arc<OwnedFd> {
        self.fd.as_ref().expect("the descriptor is there until the drop")
    }

    fn registered(&self) -> io::Result<&Registration> {
        self.registration.as_ref().ok_or_else(|| io::Error::other("socket is not attached to a reactor"))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared().as_fd()
    }
}

impl Drop for Socket {
    /// In this order: the application's socket callback hears REMOVE, then its close callback gets the descriptor.
    fn drop(&mut self) {
        self.registration = None;
        let fd = self.fd.take().and_then(Arc::into_inner);
        if let (Some(fd), Some(close)) = (fd, self.close.take()) {
            close(fd);
        }
    }
}
