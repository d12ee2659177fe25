//! A socket: a descriptor that is closed by a hook and awaited through a reactor. It is plain `Send` data; it
//! moves between reactors as its connection is leased and returned.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketAddrAny, recv, send, sockopt};

use crate::backlog::Backlog;
use crate::interest::Direction;
use crate::reactor::{Reactor, Registration};
use crate::sys::calls::{self, BUFFERS_GROW, CONNECT_CHECK_INTERVAL, RECEIVE_NOW, SEND};
use crate::sys::epoll::poll_fds;
use crate::timers::Sleep;

/// Closes a descriptor in the application's way.
pub type CloseHook = Box<dyn FnOnce(OwnedFd) + Send>;

/// The state of an unused connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Open, and nothing has been received.
    Alive,
    /// Something has arrived.
    Data,
    /// The peer has closed it, or it has failed.
    Closed,
}

/// Times for which a TCP connection had data to send, and could not send it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendLimits {
    /// The peer's receive window was full.
    pub window: Duration,
    /// The send buffer held no more, while network and peer would have taken it.
    pub buffer: Duration,
}

impl SendLimits {
    /// Returns the times since `before`.
    pub fn since(self, before: SendLimits) -> SendLimits {
        SendLimits {
            window: self.window.saturating_sub(before.window),
            buffer: self.buffer.saturating_sub(before.buffer),
        }
    }
}

/// A socket of any family.
pub struct Socket {
    /// Present until the drop.
    fd: Option<Arc<OwnedFd>>,
    close: Option<CloseHook>,
    registration: Option<Registration>,
    /// Whether it expects no write events ([`Registration::expect_no_write_events`]).
    is_datagram: bool,
    /// The last short read left it readable, for its end.
    unsettled: bool,
    /// Timer for checks while connecting, on systems that may not report a failure.
    connect_check: Option<Box<Sleep>>,
    /// How large its send buffer has to be, on systems that don't see to that.
    backlog: Option<Box<Backlog>>,
}

impl Socket {
    /// A socket that is closed by the system's close. It must be non-blocking.
    pub fn new(fd: OwnedFd) -> Socket {
        Socket {
            fd: Some(Arc::new(fd)),
            close: None,
            registration: None,
            is_datagram: false,
            unsettled: false,
            connect_check: None,
            backlog: None,
        }
    }

    /// A descriptor that leads nowhere, in the place of a socket.
    pub fn unconnected() -> io::Result<Socket> {
        Ok(Socket::new(calls::unconnected()?))
    }

    /// A socket that the hook closes.
    pub fn with_close_hook(fd: OwnedFd, hook: CloseHook) -> Socket {
        Socket {
            fd: Some(Arc::new(fd)),
            close: Some(hook),
            registration: None,
            is_datagram: false,
            unsettled: false,
            connect_check: None,
            backlog: None,
        }
    }

    /// Returns whether the application closes it.
    pub fn has_close_hook(&self) -> bool {
        self.close.is_some()
    }

    /// Registers with a reactor, after leaving the previous one.
    pub fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.detach();
        let registration = reactor.attach(self.shared().clone(), owner);
        if self.is_datagram {
            registration.expect_no_write_events();
        }
        self.registration = Some(registration);
    }

    /// States that it sends datagrams, here and in each later reactor: no event reports that it is writable
    /// unless a write waits.
    pub fn set_datagram(&mut self) {
        self.is_datagram = true;
        self.registration.iter().for_each(Registration::expect_no_write_events);
    }

    /// Leaves its reactor.
    pub fn detach(&mut self) {
        self.connect_check = None;
        self.registration = None;
    }

    /// Whether it is with a reactor.
    pub fn is_attached(&self) -> bool {
        self.registration.is_some()
    }

    /// Returns the time of its reactor, if it has one.
    pub fn now(&self) -> Option<Instant> {
        self.registration.as_ref().map(|registration| registration.reactor().now())
    }

    /// The descriptor's number.
    pub fn raw_fd(&self) -> RawFd {
        self.shared().as_raw_fd()
    }

    /// Sets its owner.
    pub fn set_owner(&self, owner: u64) {
        if let Some(registration) = &self.registration {
            registration.set_owner(owner);
        }
    }

    /// Withdraws the interest in that direction. A task that stops reading (paused) calls it, so that the
    /// application's loop does not watch for data that nobody reads.
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
            self.unsettled = self.registered()?.short_read();
        }
        received
    }

    /// States after a read that the reader knows without the stream's end where its data ends, and has to
    /// wait for more. A receive that would answer EAGAIN may then be left out (see `read_state`).
    #[inline]
    pub fn settle(&self) {
        if let Some(registration) = self.registration.as_ref().filter(|_| self.unsettled) {
            registration.settle();
        }
    }

    /// States that a receive by [`poll_io`](Self::poll_io) had room for more than there was. As after a short
    /// read, none follows before the next event, unless an error or an end came along, or the event came from
    /// a loop that may be edge-triggered.
    pub fn found_all(&self) {
        if let Some(registration) = &self.registration {
            registration.short_read();
        }
    }

    /// A receive answered EAGAIN: the one that a short read has left due is not needed.
    fn found_nothing(&self) {
        if let Some(registration) = self.registration.as_ref().filter(|_| self.unsettled) {
            registration.dry(Direction::Read);
        }
    }

    /// Receives available data, with or without a reactor. Returns `Pending` if there is none, without
    /// registering a wake-up.
    pub fn try_recv(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            match recv(self.shared(), &mut *buf, RECEIVE_NOW) {
                Ok((_, n)) => return Poll::Ready(Ok(n)),
                Err(Errno::AGAIN) => {
                    self.found_nothing();
                    return Poll::Pending;
                }
                Err(Errno::INTR) => {}
                Err(e) => return Poll::Ready(Err(e.into())),
            }
        }
    }

    /// Sends as much as fits; tries at once.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let sent = self.poll_now(cx, |fd| Ok(send(fd, buf, SEND)?));
        self.see_to_buffer(&sent);
        sent
    }

    /// Sends as much as fits of several pieces in one call.
    pub fn poll_send_vectored(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = self.poll_now(cx, |fd| calls::send_vectored(fd, bufs));
        self.see_to_buffer(&sent);
        sent
    }

    /// Lets the send buffer grow with the link, on systems that do not do that themselves. Not for a socket
    /// whose buffer size was set.
    pub fn grow_buffer(&mut self) {
        if !BUFFERS_GROW && let Ok(room) = sockopt::socket_send_buffer_size(self.shared()) {
            self.backlog = Some(Box::new(Backlog::new(room)));
        }
    }

    fn see_to_buffer(&mut self, sent: &Poll<io::Result<usize>>) {
        let (false, Poll::Ready(Ok(sent))) = (BUFFERS_GROW, sent) else { return };
        let (Some(now), Some(backlog)) = (self.now(), &mut self.backlog) else { return };
        if !backlog.sent(*sent, now) {
            return;
        }
        let fd = self.fd.as_ref().expect("the descriptor is there until the drop").as_fd();
        if let Some(size) = calls::ideal_send_backlog(fd).and_then(|ideal| backlog.answered(ideal)) {
            let _ = sockopt::set_socket_send_buffer_size(fd, size); // the old one does, slower
        }
    }

    /// Returns the outcome of a non-blocking connect, with the peer's address where it has one. Ignores an
    /// event from before the connect.
    pub fn poll_connected(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<SocketAddrAny>>> {
        self.poll_connected_checking(cx, CONNECT_CHECK_INTERVAL)
    }

    /// Like `poll_connected`, and also checks periodically by a timer, which works with every way in which an
    /// application waits.
    fn poll_connected_checking(
        &mut self,
        cx: &mut Context<'_>,
        every: Option<Duration>,
    ) -> Poll<io::Result<Option<SocketAddrAny>>> {
        loop {
            let is_ready = self.registered()?.poll_ready(cx, Direction::Write).is_ready();
            if !is_ready && !self.is_check_due(cx, every)? {
                return Poll::Pending;
            }
            if let Some(ended) = self.connected() {
                self.connect_check = None;
                return Poll::Ready(ended);
            }
            self.registered()?.dry(Direction::Write);
        }
    }

    /// How a connect has ended, if it has.
    fn connected(&self) -> Option<io::Result<Option<SocketAddrAny>>> {
        match sockopt::socket_error(self.shared()) {
            Ok(Ok(())) => {}
            Ok(Err(e)) | Err(e) => return Some(Err(e.into())),
        }
        match rustix::net::getpeername(self.shared()) {
            Ok(peer) => Some(Ok(peer)),
            Err(Errno::NOTCONN) => calls::failed_to_connect(self.as_fd()).map(Err),
            Err(e) => Some(Err(e.into())),
        }
    }

    fn is_check_due(&mut self, cx: &mut Context<'_>, every: Option<Duration>) -> io::Result<bool> {
        let Some(every) = every else { return Ok(false) };
        let mut sleep = match self.connect_check.take() {
            Some(sleep) => sleep,
            None => Box::new(self.registered()?.reactor().sleep(every)),
        };
        match Pin::new(&mut *sleep).poll(cx) {
            Poll::Ready(()) => Ok(true),
            Poll::Pending => {
                self.connect_check = Some(sleep);
                Ok(false)
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

    /// Performs another operation on the descriptor (accept, datagrams) whenever it is ready, until it would
    /// block.
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
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    return registration.poll_dry(cx, direction);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Sends an acknowledgement now, if the system can: a peer with Nagle's algorithm (RFC 896) then sends
    /// its next small packet.
    pub fn acknowledge(&self) {
        calls::acknowledge(self.as_fd());
    }

    /// Returns for how long the peer or this system kept the connection from sending, since it was made.
    /// `None` where the system does not count that, and without TCP.
    pub fn send_limits(&self) -> Option<SendLimits> {
        let [window, buffer] = calls::limited_us(self.as_fd())?;
        Some(SendLimits { window: Duration::from_micros(window), buffer: Duration::from_micros(buffer) })
    }

    /// Shuts down the sending side, and keeps receiving.
    pub fn end_sending(&self) {
        let _ = rustix::net::shutdown(self.shared(), rustix::net::Shutdown::Write);
    }

    /// Accepts one connection of a listening socket: a non-blocking descriptor.
    pub fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<OwnedFd>> {
        self.poll_io(cx, Direction::Read, calls::accept)
    }

    /// Accepts a pending connection without waiting: the reactor may not have reported it yet.
    pub fn try_accept(&self) -> io::Result<OwnedFd> {
        calls::accept(self.shared().as_fd())
    }

    /// Returns whether a receive would find something now: data, an end or an error. Takes nothing.
    pub fn has_input(&self) -> bool {
        let mut set = [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)];
        !matches!(poll_fds(&mut set, Duration::ZERO), Ok(0))
    }

    /// Looks without waiting and without taking anything.
    pub fn idle_state(&self) -> Idle {
        let mut byte = [0u8; 1];
        match recv(self.shared(), &mut byte, RecvFlags::PEEK | RECEIVE_NOW) {
            Ok((_, 0)) => Idle::Closed,
            Ok(_) => Idle::Data,
            Err(Errno::AGAIN) => {
                self.found_nothing();
                Idle::Alive
            }
            Err(Errno::INTR) => Idle::Alive,
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

crate::sys::lend!(Socket, it => &**it.shared());

impl Drop for Socket {
    /// Reports REMOVE to the application's socket callback first, and passes the descriptor to its close
    /// callback then.
    fn drop(&mut self) {
        self.registration = None;
        let fd = self.fd.take().and_then(Arc::into_inner);
        if let (Some(fd), Some(close)) = (fd, self.close.take()) {
            close(fd);
        }
    }
}
