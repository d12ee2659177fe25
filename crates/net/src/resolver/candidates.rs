//! A look-up as a stream of candidates: cached answers come at once, others as they arrive.
//!
//! The families are queried separately (RFC 8305 section 3), so that a server which does not answer for one
//! does not delay the other. The consumer decides how long to wait for a missing answer, at most
//! [`RESOLUTION_DELAY`].

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use runtime::{Sleep, WakeGuard};
use wire::dns::{Answer, Binding, Name, Question};

use super::cache::{CachedName, Lasting, Parts, fresh_until};
use super::candidate::{Part, QuestionAnswer};
use super::family::{Family, Found, NoAnswer};
use super::lookup::{PATIENCE, Resolver, Ticket};
use super::means::{Means, PendingAnswer, Source};
use super::names::{at_once, refuse_early, unresolved};
use super::options::{Addresses, DEFAULT_TTL, ResolveOptions};
use super::services::{look_for, offered, protocols, spoken};
use crate::error::NetError;

/// How long to wait for further answers after the first one with addresses
/// (draft-ietf-happy-happyeyeballs-v3, section 4.2; RFC 8305 section 8 has 50 ms).
pub const RESOLUTION_DELAY: Duration = Duration::from_millis(25);

/// A look-up in progress. Dropping it cancels the queries without an answer.
pub struct Candidates {
    ready: VecDeque<QuestionAnswer>,
    pending: Vec<Pending>,
    subject: Option<Subject>,
    /// The HTTPS records, and the addresses returned so far: each answer affects the meaning of the others.
    services: Arc<[Binding]>,
    received: Vec<SocketAddr>,
    /// Families whose query was answered, also negatively.
    answered: [bool; 2],
    /// When the first of the answers with addresses becomes stale.
    fresh_until: Option<Instant>,
    /// The error if the stream ends without a candidate; `None` if only connecting can fail.
    failure: Option<NetError>,
}

/// A question that is out.
struct Pending {
    part: Part,
    way: PendingQuery,
    since: Instant,
}

enum PendingQuery {
    Thread(Ticket, Waiting),
    Servers(PendingAnswer),
    Services(Pin<Box<dyn Future<Output = Result<Lasting<Binding>, NoAnswer>>>>),
}

/// While a thread runs the query, the wake-up descriptor is among the reactor's interests, and a timer checks
/// whether threads are stuck.
struct Waiting {
    resolver: Arc<Resolver>,
    patience: Sleep,
    _awake: WakeGuard,
}

/// The name and options of a look-up.
struct Subject {
    means: Means,
    name: String,
    port: u16,
    options: ResolveOptions,
}

/// The answer to a query, from any source, and its validity.
enum QueryAnswer {
    Addresses(Arc<Vec<Found>>, Option<Duration>),
    Services(Vec<Binding>, Option<Duration>),
}

impl Candidates {
    /// Addresses that need no look-up.
    pub fn known(list: &[SocketAddr], now: Instant) -> Candidates {
        let mut known = Candidates::nothing();
        let six_first = list.first().is_none_or(SocketAddr::is_ipv6);
        for family in if six_first { [Family::V6, Family::V4] } else { [Family::V4, Family::V6] } {
            let own: Vec<_> = list.iter().copied().filter(|a| Family::of(&a.ip()) == family).collect();
            known.addresses(family, &own, now, false);
        }
        known
    }

    fn nothing() -> Candidates {
        Candidates {
            ready: VecDeque::new(),
            pending: Vec::new(),
            subject: None,
            services: Arc::default(),
            received: Vec::new(),
            answered: [false; 2],
            fresh_until: None,
            failure: None,
        }
    }

    /// Starts to look up a host.
    pub fn look_up(
        means: &Means,
        (written, port): (&str, u16),
        options: &ResolveOptions,
    ) -> Result<Candidates, NetError> {
        let (name, now) = (written.to_ascii_lowercase(), means.reactor.now());
        let numbers = at_once(&name, port, options);
        let parts = match means.cached(|cache| cache.find(&name, port, options, now)) {
            CachedName::Pinned(addresses) if addresses.list.is_empty() && numbers.is_none() => {
                return Err(unresolved(written, options));
            }
            CachedName::Pinned(addresses) => return Ok(Candidates::known(&addresses.list, now)),
            CachedName::Parts(parts) => parts,
        };
        if let Some(list) = numbers {
            keep_numbers(means, (&name, port), options, &list, &parts, now);
            return Ok(Candidates::known(&list, now));
        }
        refuse_early(written, options)?;
        let subject = Subject { means: means.clone(), name, port, options: options.clone() };
        let mut stream = Candidates::nothing();
        stream.failure = Some(unresolved(written, options));
        stream.ask(&subject, &parts, now);
        stream.subject = Some(subject);
        Ok(stream)
    }

    /// Uses cached answers, and sends queries for the missing ones.
    fn ask(&mut self, subject: &Subject, parts: &Parts, now: Instant) {
        for family in subject.options.ip_version.families() {
            let part = Part::Addresses(*family);
            match parts.of(*family).and_then(|known| Some((known, known.list.clone()?))) {
                Some((known, list)) => {
                    let until = fresh_until(known.at, subject.options.ttl, known.ttl);
                    self.note_lifetime(*family, &list, until);
                    self.addresses(*family, &list, known.at, false);
                }
                None => match subject.question(*family) {
                    Ok(way) => self.pending.push(Pending { part, way, since: now }),
                    Err(NoAnswer) => self.addresses(*family, &[], now, false),
                },
            }
        }
        let Some(services) = &subject.means.services else { return };
        match parts.services.as_ref().and_then(|known| Some((known.list.clone()?, known.at))) {
            Some((list, at)) => self.bindings(list, subject, at),
            None if !services.is_worth_asking(now) => self.bindings(Arc::default(), subject, now),
            None => match Question::https(&subject.name, subject.port) {
                Ok(question) => {
                    let asking = look_for(services.servers.clone(), question, subject.options.ip_version);
                    let (part, way) = (Part::Services, PendingQuery::Services(Box::pin(asking)));
                    self.pending.push(Pending { part, way, since: now });
                }
                Err(_) => self.bindings(Arc::default(), subject, now),
            },
        }
    }

    /// Returns the next answer; `None` when all have arrived.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<QuestionAnswer>> {
        self.poll_pending(cx);
        match self.ready.pop_front() {
            Some(answered) => Poll::Ready(Some(answered)),
            None if self.pending.is_empty() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Processes answers that have arrived.
    fn poll_pending(&mut self, cx: &mut Context<'_>) {
        let mut i = 0;
        while let Some(pending) = self.pending.get_mut(i) {
            match pending.way.poll(cx) {
                Poll::Pending => i += 1,
                Poll::Ready(came) => {
                    let pending = self.pending.remove(i);
                    let Some(subject) = self.subject.take() else { continue };
                    self.take(pending, came, &subject);
                    self.subject = Some(subject);
                }
            }
        }
    }

    /// Waits for HTTPS records, at most for the resolution delay after the first address, or after a negative
    /// answer about addresses. Takes nothing out of the stream.
    pub async fn services_known(&mut self) {
        let Some(reactor) = self.subject.as_ref().map(|subject| subject.means.reactor.clone()) else {
            return;
        };
        let mut enough: Option<Sleep> = None;
        poll_fn(|cx| {
            self.poll_pending(cx);
            if !self.pending.iter().any(|pending| pending.part == Part::Services) {
                return Poll::Ready(());
            }
            if let Some(from) = self.services_awaited_from() {
                enough.get_or_insert_with(|| reactor.sleep_until(from + RESOLUTION_DELAY));
            }
            enough.as_mut().map_or(Poll::Pending, |enough| Pin::new(enough).poll(cx))
        })
        .await;
    }

    /// Returns since when a race waits only for the HTTPS records.
    fn services_awaited_from(&self) -> Option<Instant> {
        let first = self.ready.iter().filter(|answered| !answered.candidates.is_empty()).map(|a| a.at).min();
        let alone = self.pending.iter().all(|pending| pending.part == Part::Services);
        first.or_else(|| self.ready.iter().map(|answered| answered.at).max().filter(|_| alone))
    }

    /// Returns the ALPN names of the host's services, in the order of preference; empty if unknown.
    pub fn protocols(&self) -> Vec<Vec<u8>> {
        protocols(&self.services)
    }

    /// Returns the next answer as a future.
    pub async fn next(&mut self) -> Option<QuestionAnswer> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Returns the error if nothing was found. `None`: the host is a numeric address of an unwanted family.
    pub fn failure(&self) -> Option<&NetError> {
        self.failure.as_ref().filter(|_| self.received.is_empty())
    }

    /// Returns the queries whose answers have not been returned.
    pub fn outstanding(&self) -> impl Iterator<Item = Part> {
        let ready = self.ready.iter().map(|answered| answered.part);
        ready.chain(self.pending.iter().map(|pending| pending.part))
    }

    /// Returns the addresses of the host that arrived so far.
    pub fn received(&self) -> &[SocketAddr] {
        &self.received
    }

    /// Returns whether the query for a family was answered, perhaps with nothing. A failed one was not.
    pub fn has_answered(&self, family: Family) -> bool {
        self.answered[family as usize]
    }

    /// Returns when the first of the answers with addresses becomes stale; `None` if none does: the addresses
    /// were given, or are cached for ever.
    pub fn fresh_until(&self) -> Option<Instant> {
        self.fresh_until
    }

    /// Returns the addresses that arrive within the resolution delay as a list, for callers that need only
    /// one. IPv6 comes first, unless there is no route.
    pub async fn settled(mut self) -> Result<Arc<Addresses>, NetError> {
        // Without a look-up, addresses are in the given order.
        let Some(reactor) = self.subject.as_ref().map(|subject| subject.means.reactor.clone()) else {
            return Ok(Arc::new(Addresses { list: self.received.clone() }));
        };
        let mut enough: Option<Sleep> = None;
        let all = poll_fn(|cx| {
            while let Some(answered) = match self.poll_next(cx) {
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Ready(answered) => answered,
                Poll::Pending => None,
            } {
                if enough.is_none() && !self.received.is_empty() {
                    enough = Some(reactor.sleep_until(answered.at + RESOLUTION_DELAY));
                }
            }
            enough.as_mut().map_or(Poll::Pending, |enough| Pin::new(enough).poll(cx))
        });
        all.await;
        match self.failure() {
            Some(failure) => Err(failure.clone()),
            None => Ok(Arc::new(Addresses { list: preferred(std::mem::take(&mut self.received)) })),
        }
    }

    /// Stores an answer and returns it. A failed query is only returned.
    fn take(&mut self, pending: Pending, came: Result<QueryAnswer, NoAnswer>, subject: &Subject) {
        let (means, options, now) = (&subject.means, &subject.options, subject.means.reactor.now());
        let at = (subject.name.as_str(), subject.port);
        match (pending.part, came) {
            (Part::Addresses(family), Ok(QueryAnswer::Addresses(found, ttl))) => {
                let list = with_port(&found, family, subject.port, options.scope_id);
                let list = means.cached(|cache| cache.remember(at, family, (list, ttl), options, now));
                self.note_lifetime(family, &list, fresh_until(now, options.ttl, ttl));
                // The system's resolver gives no lifetime; the answer to another process has one.
                let shared = ttl.is_some() && matches!(means.addresses, Source::System(_));
                self.addresses(family, &list, now, shared);
            }
            (Part::Addresses(family), _) => self.addresses(family, &[], now, false),
            (Part::Services, Ok(QueryAnswer::Services(list, ttl))) => {
                means.heard_of_services();
                let list = means.cached(|cache| cache.remember_services(at, (list, ttl), options, now));
                self.bindings(list, subject, now);
            }
            (Part::Services, _) => {
                means.missed_services(now);
                self.bindings(Arc::default(), subject, now);
            }
        }
    }

    /// Records that the query for a family was answered, and when the answer becomes stale.
    fn note_lifetime(&mut self, family: Family, list: &[SocketAddr], until: Option<Instant>) {
        self.answered[family as usize] = true;
        let until = until.filter(|_| !list.is_empty());
        self.fresh_until = [self.fresh_until, until].into_iter().flatten().min();
    }

    fn addresses(&mut self, family: Family, list: &[SocketAddr], at: Instant, shared: bool) {
        let candidates = spoken(&self.services, list);
        self.received.extend(list);
        self.ready.push_back(QuestionAnswer { part: Part::Addresses(family), candidates, at, shared });
    }

    fn bindings(&mut self, services: Arc<[Binding]>, subject: &Subject, at: Instant) {
        let candidates = offered(&services, &self.received, subject.port, subject.options.ip_version);
        self.services = services;
        self.ready.push_back(QuestionAnswer { part: Part::Services, candidates, at, shared: false });
    }
}

impl Drop for Candidates {
    /// Records a query whose answer nobody waited for, because another one had arrived.
    fn drop(&mut self) {
        let Some(subject) = self.subject.take().filter(|_| !self.received.is_empty()) else { return };
        let (means, now) = (&subject.means, subject.means.reactor.now());
        for pending in &self.pending {
            // Uses the cache without the application's lock, because its callback may be in progress here.
            means.cache.note_asked((&subject.name, subject.port), pending.part, &subject.options, now);
            if pending.part == Part::Services && now >= pending.since + RESOLUTION_DELAY {
                means.missed_services(now);
            }
        }
    }
}

impl Subject {
    /// Asks for the addresses of a family.
    fn question(&self, family: Family) -> Result<PendingQuery, NoAnswer> {
        match &self.means.addresses {
            Source::System(resolver) => {
                // A handle that keeps names for a shorter time wants fresher ones than other processes have.
                let shared = self.options.ttl.is_none_or(|ttl| ttl >= DEFAULT_TTL);
                let ticket = resolver.ask(&self.name, family, shared)?;
                let (patience, awake) =
                    (self.means.reactor.sleep(PATIENCE), self.means.reactor.wake_interest());
                let waiting = Waiting { resolver: resolver.clone(), patience, _awake: awake };
                Ok(PendingQuery::Thread(ticket, waiting))
            }
            Source::Servers(servers) => {
                let name = Name::parse(&self.name).map_err(|_| NoAnswer)?;
                let question = Question { name, kind: family.kind() };
                Ok(PendingQuery::Servers(servers.ask(question, !self.name.ends_with('.'))))
            }
        }
    }
}

/// Caches addresses that were written as numbers: curl counts them as look-ups.
fn keep_numbers(
    means: &Means,
    at: (&str, u16),
    options: &ResolveOptions,
    list: &[SocketAddr],
    parts: &Parts,
    now: Instant,
) {
    for family in options.ip_version.families() {
        let own: Vec<_> = list.iter().copied().filter(|a| Family::of(&a.ip()) == *family).collect();
        if !own.is_empty() && parts.of(*family).is_none() {
            means.cached(|cache| cache.remember(at, *family, (own, None), options, now));
        }
    }
}

impl PendingQuery {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<QueryAnswer, NoAnswer>> {
        match self {
            PendingQuery::Servers(asked) => asked.as_mut().poll(cx).map_ok(QueryAnswer::of),
            PendingQuery::Services(asked) => {
                asked.as_mut().poll(cx).map_ok(|(list, ttl)| QueryAnswer::Services(list, ttl))
            }
            PendingQuery::Thread(ticket, waiting) => {
                if Pin::new(&mut waiting.patience).poll(cx).is_ready() {
                    waiting.resolver.hurry();
                    waiting.patience.reset_after(PATIENCE);
                    let _ = Pin::new(&mut waiting.patience).poll(cx);
                }
                ticket.poll(cx).map_ok(|(found, left)| QueryAnswer::Addresses(found, left))
            }
        }
    }
}

impl QueryAnswer {
    fn of(answer: Answer) -> QueryAnswer {
        let ttl = answer.ttl.map(|seconds| Duration::from_secs(seconds.into()));
        QueryAnswer::Addresses(Arc::new(answer.addresses.iter().map(|ip| (*ip, 0)).collect()), ttl)
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

/// Returns addresses with the port, without repetitions.
fn with_port(found: &[Found], family: Family, port: u16, scope: u32) -> Vec<SocketAddr> {
    let mut list: Vec<SocketAddr> = Vec::new();
    for (ip, own) in found.iter().filter(|(ip, _)| Family::of(ip) == family) {
        let address = match ip {
            IpAddr::V4(v4) => (*v4, port).into(),
            IpAddr::V6(v6) => {
                let scope = if *own == 0 && v6.is_unicast_link_local() { scope } else { *own };
                SocketAddrV6::new(*v6, port, 0, scope).into()
            }
        };
        if !list.contains(&address) {
            list.push(address);
        }
    }
    list
}
