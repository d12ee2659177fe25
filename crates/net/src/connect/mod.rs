//! From candidates to a connection: whereto and how ([`ConnectRequest`]), and what came of it
//! ([`Connected`]).
//!
//! `eyeballs` decides which address is tried when, `race` has the sockets and the timers, `attempt` is one of
//! them. The first to get through wins and the others are closed. Getting through may mean more than a
//! connected socket: a [`Stage`] takes the race on to what is put on top of it.

mod attempt;
pub mod eyeballs;
mod looked_up;
mod preferred_addresses;
mod race;

use std::fmt;
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use runtime::{Reactor, Socket, is_under_way};
use rustix::net::SocketAddrAny;

use crate::error::{Fault, NetError};
use crate::filter::open::{SocketCallbacks, SocketOptions, Target, Transport, UnixAddress, open};
use crate::resolver::{Answered, Candidates};
use crate::sys;
pub use preferred_addresses::PreferredAddresses;

use eyeballs::{Awaited, Candidate, Family, NO_RECORD, Question};
use looked_up::LookedUp;

/// Whereto and how.
pub struct ConnectRequest<'a> {
    /// What messages call the place: its host and port, and by way of whom it is reached.
    pub place: &'a dyn fmt::Display,
    /// What is spoken there, as ALPN names it: who is said to speak nothing of it is passed over. None given:
    /// HTTP/1.1.
    pub protocols: &'a [String],
    /// Nobody is tried before it is known what HTTPS records say.
    pub needs_record: bool,
    /// The addresses of the host that names the local end
    /// ([`LocalBinding::host_name`](crate::filter::open::LocalBinding)).
    pub local_hosts: &'a [SocketAddr],
    pub transport: Transport,
    pub options: &'a SocketOptions,
    pub callbacks: Option<&'a dyn SocketCallbacks>,
    /// Until the next address is tried beside one that does not answer (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS).
    pub attempt_delay: Duration,
    /// The address that won the last time; it goes first.
    pub favourite: Option<SocketAddr>,
    /// Hears of each answer, each attempt that begins and each that fails.
    pub tell: Option<&'a dyn Fn(Told<'_>)>,
    /// When the transfer began: messages tell the time since.
    pub started: Instant,
    pub deadline: Option<Instant>,
    /// On whose behalf the reactor waits.
    pub owner: u64,
}

/// What a race tells.
pub enum Told<'a> {
    /// One of the look-up's questions is answered.
    Answered(&'a Answered),
    Trying(&'a SocketAddr),
    /// It failed, from this local end.
    Failed(&'a SocketAddr, Option<SocketAddr>, &'a NetError),
}

/// What becomes known of the ways to a host, bit by bit.
pub enum Heard {
    /// A way, known since then.
    Candidate(Candidate<Target>, Instant),
    /// Nothing more comes of that question, since then.
    Answered(Question, Instant),
}

/// Where candidates come from.
pub trait Source {
    /// What is asked, before anything is heard.
    fn awaited(&self) -> Awaited;
    /// What is heard next; `None` when there is nothing more to come.
    fn poll_heard(&mut self, cx: &mut Context<'_>) -> Poll<Option<Heard>>;
    /// What to say when all was heard and nothing could be tried.
    fn failure(&self) -> Option<NetError>;
}

/// What an attempt must get through when its socket is connected.
pub type Stage<'a, T> = dyn Fn(Connected) -> Through<'a, T> + 'a;
pub type Through<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + 'a>>;

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
        Endpoints::with_peer(socket, rustix::net::getpeername(socket).ok().flatten())
    }

    /// The peer is known.
    pub(crate) fn with_peer(socket: &Socket, remote: Option<SocketAddrAny>) -> Endpoints {
        let local = rustix::net::getsockname(socket).ok();
        let ip = |address: Option<SocketAddrAny>| address.and_then(|a| a.try_into().ok());
        Endpoints { remote: ip(remote), local: ip(local) }
    }
}

/// What a race ends with.
pub trait Reached {
    fn endpoints(&self) -> &Endpoints;
}

impl Reached for Connected {
    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

/// Connects to the first of the candidates from which `stage` gets through, while they become known. What
/// others have begun by then is dropped: nothing may leave in a stage that is meant for one server alone.
pub async fn connect<T>(
    reactor: &Arc<Reactor>,
    request: &ConnectRequest<'_>,
    candidates: &mut Candidates,
    stage: &Stage<'_, T>,
) -> Result<T, NetError> {
    race::run(reactor, request, &mut LookedUp::new(candidates, request), stage).await
}

/// Starts to connect and does not wait: the socket is with no reactor yet. Once it is attached,
/// `poll_connected` tells how it went.
pub fn begin(address: SocketAddr, options: &SocketOptions) -> Result<Socket, NetError> {
    let target = Target::Ip(address);
    let fresh = open(&target, Transport::Tcp, options, &[], None)?;
    match rustix::net::connect(&fresh.socket, &address) {
        Ok(()) => Ok(fresh.socket),
        Err(e) if is_under_way(e) => Ok(fresh.socket),
        Err(e) => Err(attempt::refused(&e.into())),
    }
}

/// Connects to a unix socket.
pub async fn connect_unix<T>(
    reactor: &Arc<Reactor>,
    request: &ConnectRequest<'_>,
    address: &UnixAddress,
    stage: &Stage<'_, T>,
) -> Result<T, NetError> {
    sys::check_unix(address)?; // too long a name is another error than a failed attempt
    race::run(reactor, request, &mut Only(Some(Target::Unix(address.clone())), request.started), stage).await
}

/// The stage of those who want no more than a connected socket.
pub fn at_once<'a>(connected: Connected) -> Through<'a, Connected> {
    Box::pin(ready(Ok(connected)))
}

/// One place, which needs no look-up.
struct Only(Option<Target>, Instant);

impl Source for Only {
    fn awaited(&self) -> Awaited {
        Awaited::default()
    }

    fn poll_heard(&mut self, _: &mut Context<'_>) -> Poll<Option<Heard>> {
        // Its family makes no difference.
        let candidate = |target| Candidate { target, family: Family::V4, priority: NO_RECORD };
        Poll::Ready(self.0.take().map(|target| Heard::Candidate(candidate(target), self.1)))
    }

    fn failure(&self) -> Option<NetError> {
        None
    }
}
