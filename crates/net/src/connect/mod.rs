//! From candidates to a connection: target and options ([`ConnectRequest`]), and result ([`Connected`]).
//!
//! `eyeballs` decides when to try which address, `race` owns the sockets and the timers, `attempt` is one
//! attempt. The first to complete wins, and the others are closed. A [`Stage`] extends the race beyond a
//! connected socket, to the layers on top of it.

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

use crate::error::{LayerError, NetError};
use crate::filter::open::{SocketCallbacks, SocketOptions, Target, Transport, UnixAddress, open};
use crate::resolver::{Candidates, QuestionAnswer};
use crate::sys;
pub use preferred_addresses::PreferredAddresses;

use eyeballs::{Candidate, Family, NO_RECORD, PendingQuestions, Question};
use looked_up::LookedUp;

/// Whereto and how.
pub struct ConnectRequest<'a> {
    /// The target in messages: its host and port, and the proxy if there is one.
    pub place: &'a dyn fmt::Display,
    /// The protocols, by their ALPN names: a candidate whose record lists none of them is skipped. Empty:
    /// HTTP/1.1.
    pub protocols: &'a [String],
    /// Whether to wait for HTTPS records before the first attempt.
    pub needs_record: bool,
    /// The addresses of the host that names the local end
    /// ([`LocalBinding::host_name`](crate::filter::open::LocalBinding)).
    pub local_hosts: &'a [SocketAddr],
    pub transport: Transport,
    pub options: &'a SocketOptions,
    pub callbacks: Option<&'a dyn SocketCallbacks>,
    /// Delay before the next address is tried beside one that does not answer
    /// (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS).
    pub attempt_delay: Duration,
    /// The address that won the last time; it is tried first.
    pub favourite: Option<SocketAddr>,
    /// Receives each answer, and the start and the failure of each attempt.
    pub report: Option<&'a dyn Fn(RaceEvent<'_>)>,
    /// When the transfer started: messages contain the time since.
    pub started: Instant,
    pub deadline: Option<Instant>,
    /// The owner for whom the reactor waits.
    pub owner: u64,
}

/// An event of a race.
pub enum RaceEvent<'a> {
    /// One of the look-up's questions is answered.
    Answered(&'a QuestionAnswer),
    Trying(&'a SocketAddr),
    /// The next address is tried after this delay, unless this one answers.
    Waiting(Duration),
    /// An attempt failed, from this local end.
    Failed(&'a SocketAddr, Option<SocketAddr>, &'a NetError),
}

/// An event of a look-up.
pub enum SourceEvent {
    /// An address, known since that time.
    Candidate(Candidate<Target>, Instant),
    /// A query is complete, since that time.
    Answered(Question, Instant),
}

/// A source of candidates.
pub trait Source {
    /// Returns the pending queries, before any event.
    fn awaited(&self) -> PendingQuestions;
    /// Returns the next event; `None` if there are no more.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<SourceEvent>>;
    /// Returns the error if everything has been received and nothing could be tried.
    fn failure(&self) -> Option<NetError>;
}

/// The steps of an attempt after its socket is connected.
pub type Stage<'a, T> = dyn Fn(Connected) -> Through<'a, T> + 'a;
pub type Through<'a, T> = Pin<Box<dyn Future<Output = Result<T, LayerError>> + 'a>>;

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

/// The result of a race.
pub trait HasEndpoints {
    fn endpoints(&self) -> &Endpoints;
}

impl HasEndpoints for Connected {
    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

/// Connects to the first candidate that completes `stage`, while candidates become known. The other attempts
/// are dropped: a stage must not send anything that is meant for one server only.
pub async fn connect<T>(
    reactor: &Arc<Reactor>,
    request: &ConnectRequest<'_>,
    candidates: &mut Candidates,
    stage: &Stage<'_, T>,
) -> Result<T, NetError> {
    race::run(reactor, request, &mut LookedUp::new(candidates, request), stage).await
}

/// Starts to connect without waiting; the socket has no reactor yet. Once it is attached, `poll_connected`
/// returns the result.
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
    race::run(
        reactor,
        request,
        &mut SingleTarget(Some(Target::Unix(address.clone())), request.started),
        stage,
    )
    .await
}

/// A stage that needs only a connected socket.
pub fn at_once<'a>(connected: Connected) -> Through<'a, Connected> {
    Box::pin(ready(Ok(connected)))
}

/// A source of a single target, which needs no look-up.
struct SingleTarget(Option<Target>, Instant);

impl Source for SingleTarget {
    fn awaited(&self) -> PendingQuestions {
        PendingQuestions::default()
    }

    fn poll_event(&mut self, _: &mut Context<'_>) -> Poll<Option<SourceEvent>> {
        // Its family makes no difference.
        let candidate = |target| Candidate { target, family: Family::V4, priority: NO_RECORD };
        Poll::Ready(self.0.take().map(|target| SourceEvent::Candidate(candidate(target), self.1)))
    }

    fn failure(&self) -> Option<NetError> {
        None
    }
}
