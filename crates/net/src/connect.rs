//! From addresses to a connected socket: Happy Eyeballs (RFC 8305) with the families interleaved.
//!
//! IPv6 goes first; the next address is tried when an attempt fails or after a delay; the first to connect wins and the
//! others are closed.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use runtime::{Reactor, Sleep, Socket};
use rustix::io::Errno;

use crate::error::{NetError, NetErrorKind};
use crate::filter::open::{
    Fresh, SocketCallbacks, SocketOptions, Target, Transport, UnixAddress, open, unix_address,
};
use crate::resolver::Addresses;

/// Attempts under way at once; beyond it the oldest is given up (as in curl).
const CONCURRENT: usize = 6;
/// How long until a unix socket whose queue is full is tried again: no event tells.
const UNIX_RETRY: Duration = Duration::from_millis(10);

/// Whereto and how.
pub struct ConnectRequest<'a> {
    /// The host and port that messages name.
    pub host: &'a str,
    pub port: u16,
    pub addresses: &'a Addresses,
    /// The addresses of the host that names the local end ([`LocalBinding::host_name`](crate::filter::open::LocalBinding)).
    pub local_hosts: &'a [SocketAddr],
    pub transport: Transport,
    pub options: &'a SocketOptions,
    pub callbacks: Option<&'a dyn SocketCallbacks>,
    /// Until the next address is tried beside one that does not answer (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS).
    pub attempt_delay: Duration,
    /// When the transfer began: messages tell the time since.
    pub started: Instant,
    pub deadline: Option<Instant>,
    /// On whose behalf the reactor waits.
    pub owner: u64,
}

/// A connected socket and its two ends.
pub struct Connected {
    pub socket: Socket,
    pub endpoints: Endpoints,
    /// The application's callbacks made, saw or will close it.
    pub private: bool,
    pub connected_at: Instant,
}

/// The two ends of a connection; absent for unix sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoints {
    pub remote: Option<SocketAddr>,
    pub local: Option<SocketAddr>,
}

impl Endpoints {
    /// Asks the system.
    pub fn of(socket: &Socket) -> Endpoints {
        let remote = rustix::net::getpeername(socket).ok().flatten();
        let local = rustix::net::getsockname(socket).ok();
        let ip = |address: Option<rustix::net::SocketAddrAny>| address.and_then(|a| a.try_into().ok());
        Endpoints { remote: ip(remote), local: ip(local) }
    }
}

/// Connects to the first address that answers.
pub async fn connect(reactor: &Arc<Reactor>, request: &ConnectRequest<'_>) -> Result<Connected, NetError> {
    let targets = interleaved(&request.addresses.list).map(Target::Ip).collect();
    race(reactor, request, targets).await
}

/// Starts to connect and does not wait: the socket is with no reactor yet. Once it is attached, `poll_connected` tells how
/// it went.
pub fn begin(address: SocketAddr, options: &SocketOptions) -> Result<Socket, NetError> {
    let target = Target::Ip(address);
    let fresh = open(&target, Transport::Tcp, options, &[], None)?;
    match rustix::net::connect(&fresh.socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(fresh.socket),
        Err(e) => Err(refused(&e.into())),
    }
}

/// Connects to a unix socket.
pub async fn connect_unix(
    reactor: &Arc<Reactor>,
    request: &ConnectRequest<'_>,
    address: &UnixAddress,
) -> Result<Connected, NetError> {
    unix_address(address)?; // too long a name is another error than a failed attempt
    race(reactor, request, vec![Target::Unix(address.clone())]).await
}

async fn race(
    reactor: &Arc<Reactor>,
    request: &ConnectRequest<'_>,
    targets: Vec<Target>,
) -> Result<Connected, NetError> {
    let mut race = Race {
        reactor,
        request,
        targets: targets.into_iter(),
        attempts: Vec::new(),
        delay: None,
        deadline: request.deadline.map(|at| reactor.sleep_until(at)),
        last_error: None,
    };
    poll_fn(|cx| race.poll(cx)).await
}

struct Race<'a> {
    reactor: &'a Arc<Reactor>,
    request: &'a ConnectRequest<'a>,
    targets: std::vec::IntoIter<Target>,
    attempts: Vec<Attempt>,
    /// Runs while attempts are under way and addresses are left.
    delay: Option<Sleep>,
    deadline: Option<Sleep>,
    last_error: Option<NetError>,
}

struct Attempt {
    socket: Socket,
    target: Target,
    state: State,
}

enum State {
    Waiting,
    Connected,
    /// A unix socket's queue was full.
    Retry(Sleep),
}

impl Race<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Connected, NetError>> {
        loop {
            let before = self.attempts.len();
            if let Some(winner) = self.poll_attempts(cx) {
                return Poll::Ready(Ok(self.finish(winner)));
            }
            if let Some(error) = self.last_error.take_if(|e| e.kind == NetErrorKind::AbortedByCallback) {
                return Poll::Ready(Err(error));
            }
            let failed = self.attempts.len() < before;
            let due = self.delay.as_mut().is_some_and(|delay| Pin::new(delay).poll(cx).is_ready());
            if (self.attempts.is_empty() || failed || due) && self.start_next() {
                continue;
            }
            if self.attempts.is_empty() {
                return Poll::Ready(Err(self.failure()));
            }
            if due {
                self.delay = None;
            }
            if self.deadline.as_mut().is_some_and(|deadline| Pin::new(deadline).poll(cx).is_ready()) {
                return Poll::Ready(Err(self.timeout()));
            }
            return Poll::Pending;
        }
    }

    /// Polls every attempt; takes out the winner, drops those that failed.
    fn poll_attempts(&mut self, cx: &mut Context<'_>) -> Option<Attempt> {
        let mut i = 0;
        while i < self.attempts.len() {
            match self.attempts[i].poll(cx, self.reactor) {
                Poll::Pending => i += 1,
                Poll::Ready(Ok(())) => return Some(self.attempts.remove(i)),
                Poll::Ready(Err(e)) => {
                    self.attempts.remove(i);
                    self.last_error = Some(refused(&e));
                }
            }
        }
        None
    }

    /// Starts the next attempt that gets as far as waiting; false when no address is left.
    fn start_next(&mut self) -> bool {
        for target in self.targets.by_ref() {
            let request = self.request;
            let fresh =
                open(&target, request.transport, request.options, request.local_hosts, request.callbacks);
            match fresh.and_then(|fresh| Attempt::start(fresh, self.reactor, request)) {
                Ok(attempt) => {
                    if self.attempts.len() == CONCURRENT {
                        self.attempts.remove(0);
                    }
                    self.attempts.push(attempt);
                    let more = self.targets.len() > 0;
                    self.delay = more.then(|| self.reactor.sleep(request.attempt_delay));
                    return true;
                }
                Err(e) => {
                    let fatal = e.kind == NetErrorKind::AbortedByCallback;
                    self.last_error = Some(e);
                    if fatal {
                        self.attempts.clear();
                        self.targets = Vec::new().into_iter();
                        return false;
                    }
                }
            }
        }
        false
    }

    fn finish(&mut self, winner: Attempt) -> Connected {
        self.attempts.clear(); // the losers' sockets close here
        let endpoints = Endpoints::of(&winner.socket);
        let private = self.request.callbacks.is_some();
        Connected { socket: winner.socket, endpoints, private, connected_at: self.reactor.now() }
    }

    /// What the last attempt failed with decides the code.
    fn failure(&mut self) -> NetError {
        let ConnectRequest { host, port, .. } = self.request;
        let elapsed = self.elapsed_ms();
        let message = format!(
            "Failed to connect to {host} port {port} after {elapsed} ms: Could not connect to server"
        );
        match self.last_error.take() {
            Some(e) if e.kind != NetErrorKind::CouldntConnect => e,
            Some(e) if !e.message.is_empty() => e,
            Some(e) if e.os_errno == Errno::TIMEDOUT.raw_os_error() => {
                NetError { kind: NetErrorKind::OperationTimedout, message, ..e }
            }
            Some(e) => NetError { message, ..e },
            None => NetError::new(NetErrorKind::CouldntConnect, message),
        }
    }

    fn timeout(&self) -> NetError {
        let message = format!("Connection timed out after {} milliseconds", self.elapsed_ms());
        NetError::new(NetErrorKind::OperationTimedout, message)
    }

    fn elapsed_ms(&self) -> u128 {
        self.reactor.now().saturating_duration_since(self.request.started).as_millis()
    }
}

impl Attempt {
    fn start(
        fresh: Fresh,
        reactor: &Arc<Reactor>,
        request: &ConnectRequest<'_>,
    ) -> Result<Attempt, NetError> {
        let Fresh { mut socket, target, already_connected } = fresh;
        let state = match already_connected {
            true => State::Connected,
            false => try_connect(&socket, &target, reactor)?,
        };
        // Registered after the connect: before it, epoll reports a hang-up that means nothing.
        socket.attach(reactor, request.owner);
        Ok(Attempt { socket, target, state })
    }

    fn poll(&mut self, cx: &mut Context<'_>, reactor: &Arc<Reactor>) -> Poll<io::Result<()>> {
        loop {
            match &mut self.state {
                State::Connected => return Poll::Ready(Ok(())),
                State::Waiting => return self.socket.poll_connected(cx),
                State::Retry(sleep) => {
                    std::task::ready!(Pin::new(sleep).poll(cx));
                    self.state = match try_connect(&self.socket, &self.target, reactor) {
                        Ok(state) => state,
                        Err(e) => return Poll::Ready(Err(io::Error::from_raw_os_error(e.os_errno))),
                    };
                }
            }
        }
    }
}

/// The connect call itself.
fn try_connect(socket: &Socket, target: &Target, reactor: &Arc<Reactor>) -> Result<State, NetError> {
    let result = match target {
        Target::Ip(address) => rustix::net::connect(socket, address),
        Target::Unix(address) => rustix::net::connect(socket, &unix_address(address)?),
    };
    match result {
        Ok(()) | Err(Errno::ISCONN) => Ok(State::Connected),
        Err(Errno::INPROGRESS | Errno::INTR) => Ok(State::Waiting),
        Err(Errno::AGAIN) if matches!(target, Target::Unix(_)) => Ok(State::Retry(reactor.sleep(UNIX_RETRY))),
        Err(e) => Err(refused(&e.into())),
    }
}

/// A failed attempt; the message is made at the end, with the time it took altogether.
fn refused(e: &io::Error) -> NetError {
    NetError::from_io(NetErrorKind::CouldntConnect, "", e)
}

/// The families in turn, IPv6 first, each in the system's order.
fn interleaved(list: &[SocketAddr]) -> impl Iterator<Item = SocketAddr> {
    let (mut six, mut four): (Vec<SocketAddr>, Vec<SocketAddr>) = list.iter().partition(|a| a.is_ipv6());
    six.reverse();
    four.reverse();
    let mut turn = false;
    std::iter::from_fn(move || {
        turn = !turn;
        let (first, second) = if turn { (&mut six, &mut four) } else { (&mut four, &mut six) };
        first.pop().or_else(|| second.pop())
    })
}
