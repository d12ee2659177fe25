//! A look-up as a stream of candidates: what is known counts at once, each answer when it comes.
//!
//! The families are asked apart (RFC 8305 section 3), so that a server which does not answer for one does not hold up the
//! other. Who takes the stream decides how long an answer that is still out is worth waiting for, [`RESOLUTION_DELAY`] at most.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::net::{SocketAddr, SocketAddrV6};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use runtime::{Reactor, Sleep, WakeGuard};

use super::cache::Kept;
use super::lookup::{Family, Found, PATIENCE, Ticket};
use super::{Addresses, ResolveCache, ResolveOptions, Resolver, at_once, refuse_early, unresolved};
use crate::error::NetError;

/// How long the other answers are waited for after the first with addresses (RFC 8305 section 8).
pub const RESOLUTION_DELAY: Duration = Duration::from_millis(50);

/// A place where a host may be reached, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// With the port: an HTTPS record may say another than the URL's.
    pub address: SocketAddr,
    /// The lower, the better (SvcPriority of RFC 9460); what no record speaks of comes last.
    pub priority: u16,
    /// What is spoken there, as ALPN names it. `None`: nobody said.
    pub protocols: Option<Arc<[Vec<u8>]>>,
    /// An ECHConfigList for it.
    pub ech: Option<Arc<[u8]>>,
}

impl From<SocketAddr> for Candidate {
    fn from(address: SocketAddr) -> Candidate {
        Candidate { address, priority: u16::MAX, protocols: None, ech: None }
    }
}

/// One of the questions of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Addresses(Family),
    /// HTTPS records. Its candidates replace those with the same address that have not been tried.
    Services,
}

/// The answer to one of the questions.
#[derive(Clone, Debug)]
pub struct Answered {
    pub part: Part,
    /// In the order in which the system, or the server, prefers them; none: there are none, or nobody knows.
    pub candidates: Vec<Candidate>,
    /// When it came; one that was remembered, in the past. The resolution delay begins then.
    pub at: Instant,
}

/// A look-up under way. Dropping it gives up what has not been answered.
pub struct Candidates {
    ready: VecDeque<Answered>,
    pending: Vec<Pending>,
    asking: Option<Asking>,
    /// What to say when the end comes without a candidate; nothing where connecting is what fails.
    failure: Option<NetError>,
    found: bool,
}

/// A question that is out.
struct Pending {
    family: Family,
    ticket: Ticket,
}

/// What is needed while questions are out.
struct Asking {
    resolver: Arc<Resolver>,
    cache: Arc<ResolveCache>,
    reactor: Arc<Reactor>,
    name: String,
    port: u16,
    options: ResolveOptions,
    /// Goes off when threads may be stuck.
    patience: Sleep,
    _awake: WakeGuard,
}

impl Candidates {
    /// Addresses that need no look-up.
    pub fn known(list: &[SocketAddr], now: Instant) -> Candidates {
        let mut known = Candidates {
            ready: VecDeque::new(),
            pending: Vec::new(),
            asking: None,
            failure: None,
            found: !list.is_empty(),
        };
        let six_first = list.first().is_none_or(SocketAddr::is_ipv6);
        for family in if six_first { [Family::V6, Family::V4] } else { [Family::V4, Family::V6] } {
            let own = list.iter().copied().filter(|a| Family::of(&a.ip()) == family);
            known.answer(family, own, now);
        }
        known
    }

    /// Begins to look a host up. The wake-up descriptor stays among the reactor's interests while a thread is asked.
    pub fn look_up(
        resolver: &Arc<Resolver>,
        cache: &Arc<ResolveCache>,
        reactor: &Arc<Reactor>,
        (name, port): (&str, u16),
        options: &ResolveOptions,
    ) -> Result<Candidates, NetError> {
        let (written, name, now) = (name, name.to_ascii_lowercase(), reactor.now());
        let kept = cache.find(&name, port, options, now);
        if let Kept::Pinned(addresses) = &kept {
            return match (addresses.list.is_empty(), at_once(&name, port, options)) {
                (true, None) => Err(unresolved(written, options)),
                _ => Ok(Candidates::known(&addresses.list, now)),
            };
        }
        if let Some(list) = at_once(&name, port, options) {
            // A numeric host of the other family is resolved, as in curl; it is the connecting that fails.
            let list: Vec<_> = list.into_iter().filter(|a| options.ip_version.admits(&a.ip())).collect();
            for family in options.ip_version.families() {
                let own: Vec<_> = list.iter().copied().filter(|a| Family::of(&a.ip()) == *family).collect();
                let known = matches!(&kept, Kept::Parts(parts) if parts.of(*family).is_some());
                if !own.is_empty() && !known {
                    cache.remember(&name, port, *family, own, options, now);
                }
            }
            return Ok(Candidates::known(&list, now));
        }
        refuse_early(written, options)?;
        let mut stream = Candidates::known(&[], now);
        stream.ready.clear();
        stream.failure = Some(unresolved(written, options));
        stream.ask(resolver, cache, reactor, &name, port, options)?;
        Ok(stream)
    }

    /// What the cache has counts; what it lacks is asked.
    fn ask(
        &mut self,
        resolver: &Arc<Resolver>,
        cache: &Arc<ResolveCache>,
        reactor: &Arc<Reactor>,
        name: &str,
        port: u16,
        options: &ResolveOptions,
    ) -> Result<(), NetError> {
        let now = reactor.now();
        let Kept::Parts(parts) = cache.find(name, port, options, now) else { return Ok(()) };
        for family in options.ip_version.families() {
            match parts.of(*family).and_then(|part| Some((part.list.clone()?, part.at))) {
                Some((list, at)) => self.answer(*family, list.iter().copied(), at),
                None => match resolver.ask(name, *family) {
                    Ok(ticket) => self.pending.push(Pending { family: *family, ticket }),
                    Err(_) => self.answer(*family, [], now),
                },
            }
        }
        if !self.pending.is_empty() {
            self.asking = Some(Asking {
                resolver: resolver.clone(),
                cache: cache.clone(),
                reactor: reactor.clone(),
                name: name.to_owned(),
                port,
                options: options.clone(),
                patience: reactor.sleep(PATIENCE),
                _awake: reactor.wake_interest(),
            });
        }
        Ok(())
    }

    /// The next answer; nothing when all have come.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Answered>> {
        if let Some(asking) = &mut self.asking
            && Pin::new(&mut asking.patience).poll(cx).is_ready()
        {
            asking.resolver.hurry();
            asking.patience.reset_after(PATIENCE);
            let _ = Pin::new(&mut asking.patience).poll(cx);
        }
        let mut i = 0;
        while i < self.pending.len() {
            match self.pending[i].ticket.poll(cx) {
                Poll::Pending => i += 1,
                Poll::Ready(said) => {
                    let family = self.pending.remove(i).family;
                    self.take(family, said.ok());
                }
            }
        }
        if self.pending.is_empty() {
            self.asking = None;
        }
        match self.ready.pop_front() {
            Some(answered) => Poll::Ready(Some(answered)),
            None if self.pending.is_empty() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// The same as a future.
    pub async fn next(&mut self) -> Option<Answered> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// What to say when nothing was found. `None`: the host is a number, of a family that is not wanted.
    pub fn failure(&self) -> Option<&NetError> {
        self.failure.as_ref().filter(|_| !self.found)
    }

    /// Everything that comes within the resolution delay, as a list. IPv6 stands first, unless no route leads there.
    pub async fn settled(mut self, reactor: &Arc<Reactor>) -> Result<Arc<Addresses>, NetError> {
        let (mut list, mut enough): (Vec<SocketAddr>, Option<Sleep>) = (Vec::new(), None);
        let all = poll_fn(|cx| {
            loop {
                match self.poll_next(cx) {
                    Poll::Ready(Some(answered)) => {
                        if enough.is_none() && !answered.candidates.is_empty() {
                            enough = Some(reactor.sleep_until(answered.at + RESOLUTION_DELAY));
                        }
                        let fresh = answered.candidates.iter().map(|c| c.address);
                        list.extend(fresh.filter(|a| !list.contains(a)).collect::<Vec<_>>());
                    }
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Pending => break,
                }
            }
            enough.as_mut().map_or(Poll::Pending, |enough| Pin::new(enough).poll(cx))
        });
        all.await;
        match self.failure() {
            Some(failure) => Err(failure.clone()),
            None if self.failure.is_none() => Ok(Arc::new(Addresses { list })), // in the order in which it was given
            None => Ok(Arc::new(Addresses { list: preferred(list) })),
        }
    }

    fn take(&mut self, family: Family, said: Option<Arc<Vec<Found>>>) {
        let Some(asking) = &self.asking else { return };
        let now = asking.reactor.now();
        let list = said.map(|found| {
            let list = with_port(&found, family, asking.port, asking.options.scope_id);
            asking.cache.remember(&asking.name, asking.port, family, list, &asking.options, now)
        });
        let list: Vec<SocketAddr> = list.map(|list| list.to_vec()).unwrap_or_default();
        self.answer(family, list, now);
    }

    fn answer(&mut self, family: Family, list: impl IntoIterator<Item = SocketAddr>, at: Instant) {
        let candidates: Vec<Candidate> = list.into_iter().map(Candidate::from).collect();
        self.found |= !candidates.is_empty();
        self.ready.push_back(Answered { part: Part::Addresses(family), candidates, at });
    }
}

impl Drop for Candidates {
    /// A question that was not waited for to its end has been asked all the same.
    fn drop(&mut self) {
        let Some(asking) = self.asking.take().filter(|_| self.found) else { return };
        for pending in &self.pending {
            asking.cache.note_asked(
                &asking.name,
                asking.port,
                pending.family,
                &asking.options,
                asking.reactor.now(),
            );
        }
    }
}

/// IPv6 first, unless it has no route and IPv4 is there.
fn preferred(list: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let (six, four): (Vec<_>, Vec<_>) = list.into_iter().partition(SocketAddr::is_ipv6);
    let reached = match (six.first(), four.first()) {
        (Some(first), Some(_)) => crate::filter::datagram::is_routed(first),
        _ => true,
    };
    if reached { [six, four].concat() } else { [four, six].concat() }
}

/// Without repetitions.
fn with_port(found: &[Found], family: Family, port: u16, scope: u32) -> Vec<SocketAddr> {
    let mut list: Vec<SocketAddr> = Vec::new();
    for (ip, own) in found.iter().filter(|(ip, _)| Family::of(ip) == family) {
        let address = match ip {
            std::net::IpAddr::V4(v4) => (*v4, port).into(),
            std::net::IpAddr::V6(v6) => {
                let local = v6.is_unicast_link_local();
                let scope = if *own == 0 && local { scope } else { *own };
                SocketAddrV6::new(*v6, port, 0, scope).into()
            }
        };
        if !list.contains(&address) {
            list.push(address);
        }
    }
    list
}
