//! Gets a connection for a transfer: an idle one with the same key, or a new one. A new one is made layer by
//! layer: name look-up, connect, proxy, TLS.

use std::cell::Cell;
use std::fmt;
use std::hint::cold_path;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::connect::{ConnectRequest, HasEndpoints, RaceEvent, Stage, at_once, connect, connect_unix};
use net::filter::open::{Transport, UnixSocket};
use net::filter::{SocketFilter, udp_tunnel::Through};
use net::quic::Purpose;
use net::resolver::{Candidates, ResolveOptions};
use net::tls::TlsInfo;
use net::{
    About, AcquireRequest, Acquired, Ages, AnyConnection, Carrier, Connection, ConnectionKey, Filter,
    Granted, HashedKey, Lease, Limits, Pool,
};
use runtime::boxed;
use tables::{Code, EasyOption as O, LockData};

use super::link::Link;
use super::proxies::selection::ProxyStage;
use super::proxy::ProxyKind;
use super::route::plan::{LoginBinding, Plan, Quic, belonging, written};
use super::socks::ProxyDestination;
use super::{Connector, guard, tunnel};
use crate::callbacks::Endpoints;
use crate::error::{Error, Result};
use crate::info::Nanos;
use crate::why::Event;

/// Most connections to a proxy for one tunnel.
pub(super) const MAX_PROXY_ROUNDS: usize = 6;

/// The last filter towards a host, the ends of the connection, and whether it is private to its handle.
pub(super) type Way = (Box<dyn Filter>, net::connect::Endpoints, bool);

/// The opening of a connection: its start, its deadline, and the names known so far.
pub(super) struct Opening {
    pub started: Instant,
    pub deadline: Instant,
    /// A look-up of the first host that has started.
    names: Cell<Option<Box<Candidates>>>,
    /// When the answer becomes stale that named the address of the connection.
    address_fresh_until: Cell<Option<Instant>>,
    /// How far it is on its way through a proxy.
    proxy_stage: Cell<ProxyStage>,
}

impl Opening {
    fn new(started: Instant, deadline: Instant) -> Opening {
        let (names, address_fresh_until, proxy_stage) = Default::default();
        Opening { started, deadline, names, address_fresh_until, proxy_stage }
    }
}

impl Connector {
    /// Returns a connection to the origin of the current URL; a new one if `fresh`.
    pub async fn connect(&mut self, fresh: bool) -> Result<Link> {
        let plan = self.plan()?;
        self.connect_bound(plan, LoginBinding::default(), fresh).await
    }

    /// Connects along a plan, for a request that binds the connection to its user.
    pub async fn connect_bound(
        &mut self,
        mut plan: Arc<Plan>,
        bound: LoginBinding,
        fresh: bool,
    ) -> Result<Link> {
        if let Some(user) = bound.to {
            cold_path();
            plan = Arc::new(Plan { key: belonging(&plan.key, *user), ..(*plan).clone() });
        }
        self.easy.info.borrow_mut().used_proxy = plan.proxy.is_some();
        self.pin_names()?;
        let started = self.easy.info.borrow().request_started.unwrap_or_else(|| self.now());
        let timeout_ms = match self.long(O::ConnectTimeoutMs) {
            0 => 300_000,
            n => n,
        };
        let deadline = self.deadline_of_attempt(started + Duration::from_millis(timeout_ms as u64));
        let fresh = fresh || self.on(O::FreshConnect);
        let pool = self.locked(LockData::Connect, || self.pool());
        let owner = self.easy.owner_number();
        let unsettled = !fresh && plan.key.login.is_none();
        let perhaps = bound.perhaps.filter(|_| unsettled).map(|user| match plan.may_have_streams() {
            true => belonging(&plan.without_http2().key, *user),
            false => belonging(&plan.key, *user),
        });
        let better = perhaps.as_ref().or(plan.protected.as_ref().filter(|_| !fresh));
        let opened = plan.opened.as_ref().filter(|_| !fresh);
        let (ages, refusal) = (self.ages(), Some(&Cell::new(None)));
        let streams = plan.may_have_streams() && self.multi.streams.multiplexes();
        let patience = self.patience(&plan, streams);
        let by_tcp = !plan.heeds_records && plan.quic() == Quic::No;
        let wish = AcquireRequest { key: &plan.key, fresh, streams, by_tcp, patience, ages, owner, refusal };
        let at_once = || {
            let now = self.now();
            let open = |key: &HashedKey| pool.try_reuse(AcquireRequest { key, ..wish }, now);
            let as_well = |key: &HashedKey| open(&plan.key).or_else(|| open(key));
            let kept = better.and_then(open).or_else(|| opened.and_then(as_well));
            (now, kept.map(Acquired::Reused).or_else(|| pool.try_acquire(wish, now)))
        };
        let (now, found) = self.locked(LockData::Connect, at_once);
        let (now, lease) = match found {
            Some(Acquired::Reused(lease)) if !self.is_name_check_due(&lease, now) => {
                (now, self.reused(&plan, lease, started, now))
            }
            found => {
                cold_path();
                // Opening has a separate box: a transfer that waits for its reply needs no room for it.
                let opening = Opening::new(started, deadline);
                let lease = boxed(|| self.wait_or_open(&plan, &pool, wish, found, opening)).await?;
                (self.now(), lease)
            }
        };
        self.locked(LockData::Connect, || self.note_connection(lease.about(), now));
        self.expect_late(lease.about().tls.as_ref());
        let ends = self.easy.info.borrow().ends;
        if !self.easy.callbacks.prereq(&ends) {
            return Err(Error::new(Code::AbortedByCallback, "operation aborted by pre-request callback"));
        }
        Ok(Link { lease, plan })
    }

    /// Returns how many requests may wait for a connection that is being opened, if streams may share it.
    fn patience(&self, plan: &Plan, streams: bool) -> usize {
        match (streams, plan.is_ssh()) {
            // Logging in costs more than waiting for a channel of a connection that is logging in.
            (true, true) => net::ssh::CHANNELS - 1,
            (true, false) if self.on(O::PipeWait) => usize::MAX,
            _ => 0,
        }
    }

    /// Takes a connection that is open already. The times of look-up, connect and TLS stay as they are.
    /// Programs count handshakes by CURLINFO_APPCONNECT_TIME.
    fn reused(&self, plan: &Plan, lease: Granted, started: Instant, now: Instant) -> Lease {
        self.mark_queued(started, now);
        if self.easy.why.is_on() {
            cold_path();
            self.easy.record_event(Some(now), self.reuse(plan, &lease, now));
        }
        self.easy.note(|| self.note_of_reuse(plan));
        self.resume_session(lease)
    }

    /// Opens a connection when the pool has room for it, unless one is found that still leads to its host.
    /// `found` is the pool's answer, if it came at once.
    async fn wait_or_open(
        &self,
        plan: &Plan,
        pool: &Pool,
        wish: AcquireRequest<'_>,
        mut found: Option<Acquired>,
        opening: Opening,
    ) -> Result<Lease> {
        let Opening { started, deadline, .. } = opening;
        self.note_connect_timeout(deadline);
        let late = || self.connecting_late(started);
        let mut answer = None;
        let slot = loop {
            let acquired = match found.take() {
                Some(acquired) => acquired,
                None => {
                    let acquire = boxed(|| async { Ok(pool.acquire(wish).await) });
                    self.within(Some(deadline), late, acquire).await?
                }
            };
            let lease = match acquired {
                Acquired::Reused(lease) => lease,
                Acquired::Vacant(slot) => break slot,
            };
            let check = boxed(|| self.unless_moved(plan, &wish, lease, &mut answer, deadline));
            if let Some(lease) = check.await? {
                return Ok(self.reused(plan, lease, started, self.now()));
            }
        };
        self.mark_queued(started, self.now());
        self.easy.info.borrow_mut().attempted_connection = slot.id() as i64;
        self.explain_opening(plan, pool, &wish, slot.id());
        let open = boxed(|| self.open(plan, &opening));
        let opened = self.within(Some(deadline), late, open).await;
        drop(self.easy.published.take());
        let opened = opened.map_err(|e| self.mark_dead_proxy(opening.proxy_stage.get(), e))?;
        self.note_proxy_reached();
        Ok(self.place(plan, slot, opened))
    }

    /// Records that the request got its connection, which it waited for since `from`.
    pub(super) fn mark_queued(&self, from: Instant, now: Instant) {
        self.easy.info.borrow_mut().queued += now.saturating_duration_since(from).into();
    }

    fn connecting_late(&self, started: Instant) -> Error {
        let ms = self.now().saturating_duration_since(started).as_millis();
        let resolved = !self.easy.info.borrow().name_lookup.is_zero();
        let what = if resolved { "Connection" } else { "Resolving" };
        Error::new(Code::OperationTimedout, format!("{what} timed out after {ms} milliseconds"))
    }

    /// Returns the key of a newly opened connection. If a Kerberos ticket was sent to a proxy, it serves no
    /// other transfer.
    pub(super) fn key_of_opened(&self, plan: &Plan) -> HashedKey {
        match self.ticket_used.get() {
            true => HashedKey::from(ConnectionKey { by_ticket: true, ..ConnectionKey::clone(&plan.key) }),
            false => plan.key.clone(),
        }
    }

    /// Opens a connection along the plan. QUIC and TLS need much memory, which is only allocated for them.
    async fn open(&self, plan: &Plan, opening: &Opening) -> Result<AnyConnection> {
        self.ticket_used.set(false);
        if self.player().is_some() {
            return self.open_replayed(plan);
        }
        let heeding = match plan.heeds_records && self.asks_for_record(plan).is_some() {
            true => boxed(|| self.heeding_record(plan, opening)).await?,
            false => None,
        };
        let plan = heeding.as_ref().unwrap_or(plan);
        match plan.quic() {
            Quic::No => self.open_tcp(plan, opening).await,
            Quic::Only => boxed(|| self.open_quic(plan, opening)).await,
            Quic::First | Quic::Second => boxed(|| self.open_either(plan, opening)).await,
        }
    }

    /// Returns the plan changed by the host's HTTPS record: which version of HTTP is tried first.
    async fn heeding_record(&self, plan: &Plan, opening: &Opening) -> Result<Option<Plan>> {
        let mut names = self.candidates(plan, &plan.host, plan.port, &plan.resolve)?;
        let known = boxed(|| async {
            names.services_known().await;
            Ok(())
        });
        self.within(Some(opening.deadline), || self.connecting_late(opening.started), known).await?;
        let heeding = plan.heeding(&names.protocols());
        opening.names.set(Some(Box::new(names)));
        Ok(heeding)
    }

    /// Opens a connection by TCP and the layers above it.
    pub(super) async fn open_tcp(&self, plan: &Plan, opening: &Opening) -> Result<AnyConnection> {
        let (filter, endpoints, private) = match &plan.tls_by(Transport::Tcp) {
            Some(tls) if plan.is_direct() && self.may_race(plan, tls) => {
                boxed(|| self.reach_secured(plan, tls, opening)).await?
            }
            _ => self.reach_by_layers(plan, opening).await?,
        };
        let now = self.now();
        let mut connection = Connection::new(self.key_of_opened(plan), filter, endpoints, now);
        self.settle_opened(plan, opening, &mut connection, private);
        if let Some(log_in) = self.log_in {
            log_in(self, plan, &mut connection).await?;
        }
        Ok(connection.into())
    }

    /// Records who may use an opened connection, and until when its address counts as that of its host.
    /// `private`: the application's functions made the socket, perhaps to an address of their own.
    pub(super) fn settle_opened<C: Carrier + ?Sized>(
        &self,
        plan: &Plan,
        opening: &Opening,
        connection: &mut Connection<C>,
        private: bool,
    ) {
        // Another handle's CURLOPT_RESOLVE gave the address: the connection stays private.
        let unasked = plan.key.pins.is_empty() && self.is_pinned(plan);
        connection.private = private || unasked;
        let until = opening.address_fresh_until.get().filter(|_| !private);
        connection.about.address_fresh_until.set(until);
    }

    /// Reaches the plan's host, then adds TLS.
    async fn reach_by_layers(&self, plan: &Plan, opening: &Opening) -> Result<Way> {
        let (mut filter, endpoints, private) = self.reach(plan, opening).await?;
        if plan.key.haproxy.is_some() {
            super::tunnel::send_haproxy(self, filter.as_mut(), plan, &endpoints).await?;
        }
        if let Some(tls) = &plan.tls_by(Transport::Tcp) {
            filter = self.tls_to_origin(filter, plan, tls).await?;
        }
        Ok((filter, endpoints, private))
    }

    /// Connects to the plan's host, through the proxy if there is one. Reconnects to a proxy that closes
    /// between two rounds of authentication.
    async fn reach(&self, plan: &Plan, opening: &Opening) -> Result<Way> {
        for _ in 0..MAX_PROXY_ROUNDS {
            if let Some(way) = self.reach_once(plan, opening).await? {
                return Ok(way);
            }
        }
        Err(tunnel::aborted())
    }

    async fn reach_once(&self, plan: &Plan, opening: &Opening) -> Result<Option<Way>> {
        opening.proxy_stage.set(ProxyStage::Connecting);
        let (first, endpoints, private) = self.reach_first(plan, Purpose::Streams, opening).await?;
        opening.proxy_stage.set(ProxyStage::Asking);
        let filter = match &plan.proxy {
            Some(proxy) => tunnel::through(self, first, proxy, plan).await?,
            None => Some(first.into_filter()),
        };
        opening.proxy_stage.set(ProxyStage::Passed);
        Ok(filter.map(|filter| (filter, endpoints, private)))
    }

    /// Connects to the plan's host or to its proxy, without a request to the proxy.
    pub(super) async fn reach_first(
        &self,
        plan: &Plan,
        purpose: Purpose,
        opening: &Opening,
    ) -> Result<(Through, net::connect::Endpoints, bool)> {
        if let Some(proxy) = plan.proxy.as_ref().filter(|proxy| proxy.kind == ProxyKind::Https3) {
            return boxed(|| self.reach_proxy_by_quic(plan, proxy, purpose, opening)).await;
        }
        let connected = self.connect_socket(plan, Transport::Tcp, opening, &at_once).await?;
        let (endpoints, private) = (connected.endpoints, connected.private);
        self.easy.info.borrow_mut().connects += 1;
        self.note_connected(connected.connected_at, &endpoints);
        self.note_established(plan);
        let mut filter: Box<dyn Filter> = Box::new(SocketFilter::new(connected.socket));
        if let (Some(first), Some(proxy)) = (&plan.pre_proxy, &plan.proxy) {
            self.easy.trace("socks", || format!("to {}:{} by way of {}", proxy.host, proxy.port, first.host));
            let destination =
                ProxyDestination { host: &proxy.host, port: proxy.port, resolve: &plan.resolve, guard: None };
            filter = super::socks::through(self, filter, first, destination).await?;
        }
        if let Some(proxy) = &plan.proxy
            && let Some(tls) = &proxy.tls
        {
            let agreed = self.tls(filter, tls, &proxy.host, proxy.port).await;
            filter = agreed.map_err(|e| self.of_proxy(e))?;
            self.note_proxy_verified(filter.tls());
        }
        Ok((Through::Bytes(filter), endpoints, private))
    }

    pub(super) fn note_proxy_verified(&self, tls: Option<&Arc<TlsInfo>>) {
        self.easy.info.borrow_mut().rare.proxy_verify_result = tls.map_or(0, |tls| tls.verify_result);
    }

    /// Opens a second connection for a transfer, to another host or port along the same route.
    pub async fn connect_beside(&self, plan: &Plan, host: &str, port: u16) -> Result<Box<dyn Filter>> {
        if let Some(peer) = &self.replayed {
            return self.open_replayed_beside(peer);
        }
        let plan = Plan { host: host.to_owned(), port, for_data: true, ..plan.clone() };
        guard::check_route(&plan)?;
        let started = self.now();
        let opening = Opening::new(started, started + Duration::from_millis(300_000));
        let times = self.easy.info.borrow().clone();
        let reached = self.reach(&plan, &opening).await;
        let mut info = self.easy.info.borrow_mut();
        (info.name_lookup, info.connect, info.ends) = (times.name_lookup, times.connect, times.ends);
        drop(info);
        reached.map(|(filter, ..)| filter)
    }

    /// Returns whether requests go to an HTTP proxy without a tunnel.
    pub fn forwards(&self) -> Result<bool> {
        Ok(self.plan()?.forwarder().is_some())
    }

    /// Returns a host's address of one family.
    pub async fn look_up_host(&self, host: &str, v4: bool) -> Result<std::net::IpAddr> {
        let found = self.look_up_here(host, 0, &ResolveOptions::default()).await?;
        let address = found.list.iter().map(|a| a.ip()).find(|ip| ip.is_ipv4() == v4);
        address.ok_or_else(|| Error::from(Code::CouldntResolveHost))
    }

    /// Returns the addresses of the host that CURLOPT_INTERFACE names. As in curl it is looked up like any
    /// other, at port 80; without addresses the socket can't be bound, whatever the reason.
    pub(super) async fn local_hosts(&self, name: &str, plan: &Plan) -> Vec<SocketAddr> {
        let options = ResolveOptions { proxy: false, ..plan.resolve.clone() };
        let found = self.look_up_here(name, 80, &options).await;
        found.map(|addresses| addresses.list.clone()).unwrap_or_default()
    }

    /// Returns a socket that is connected to the route's first host and has passed `stage`.
    pub(super) async fn connect_socket<T: HasEndpoints>(
        &self,
        plan: &Plan,
        transport: Transport,
        opening: &Opening,
        stage: &Stage<'_, T>,
    ) -> Result<T> {
        let reactor = self.multi.runtime.reactor();
        let first = plan.pre_proxy.as_ref().or(plan.proxy.as_ref());
        let (host, port) = plan.first_hop();
        let unix = plan.key.unix.as_ref().or(first.and_then(|p| p.unix.as_ref())).map(UnixSocket::address);
        let local_hosts = match plan.key.socket.local.host_name() {
            Some(name) if unix.is_none() => boxed(|| self.local_hosts(name, plan)).await,
            _ => Vec::new(),
        };
        let resolved = Cell::new(false);
        let tls = first.map_or_else(|| plan.tls_by(transport), |first| first.tls.clone());
        let request = ConnectRequest {
            place: &Destination { connector: self, plan },
            protocols: tls.as_ref().map_or(&[][..], |tls| &tls.alpn),
            needs_record: self.asks_for_record(plan) == Some(true),
            local_hosts: &local_hosts,
            transport,
            options: &guard::socket_options(plan),
            callbacks: self.easy.callbacks.sockets(),
            attempt_delay: Duration::from_millis(self.long(O::HappyEyeballsTimeoutMs).max(0) as u64),
            favourite: self.favourite(plan, host, port),
            report: Some(&|event| {
                let first = matches!(event, RaceEvent::Trying(_)) && !resolved.replace(true);
                if first {
                    self.note_resolved();
                }
                self.explain_race(host, plan, opening.started, &event);
                self.report_race_event(host, &event, first);
            }),
            started: opening.started,
            deadline: Some(opening.deadline),
            owner: self.easy.owner_number(),
        };
        if let Some(address) = &unix {
            self.note_resolved();
            return Ok(connect_unix(reactor, &request, address, stage).await?);
        }
        let mut candidates = match opening.names.take() {
            Some(names) => *names,
            None => self.candidates(plan, host, port, &plan.resolve)?,
        };
        let reached = connect(reactor, &request, &mut candidates, stage).await;
        if !resolved.get() && candidates.outstanding().next().is_none() && candidates.failure().is_none() {
            self.note_resolved(); // to addresses that nobody wants
        }
        let reached = reached?;
        opening.address_fresh_until.set(candidates.fresh_until());
        if let Some(winner) = reached.endpoints().remote {
            let preferred = request.favourite == Some(winner);
            self.easy.explain(|| Event::Reached { address: winner, preferred });
            self.note_winner(host, winner);
            let mut preferred_addresses = self.multi.preferred_addresses.borrow_mut();
            preferred_addresses.note(host, port, candidates.received(), winner, self.now());
        }
        Ok(reached)
    }

    /// Returns the address that won the last time; none if addresses are to be shuffled.
    pub(super) fn favourite(&self, plan: &Plan, host: &str, port: u16) -> Option<SocketAddr> {
        let known = self.multi.preferred_addresses.borrow().of(host, port, self.now());
        known.filter(|_| !plan.resolve.shuffle)
    }

    /// Records the time at which an address is known.
    pub(super) fn note_resolved(&self) {
        self.mark(|info, elapsed| info.name_lookup = elapsed.max(Nanos::LEAST));
    }

    /// Records the connect at once, so that a time-out reports the right phase.
    pub(super) fn note_connected(&self, at: Instant, endpoints: &net::connect::Endpoints) {
        let mut info = self.easy.info.borrow_mut();
        info.connect = info.since_start(at);
        info.ends = ends(endpoints);
    }

    /// Stores a certificate's error as one of the proxy.
    pub(super) fn of_proxy(&self, error: Error) -> Error {
        self.easy.info.borrow_mut().rare.proxy_verify_result = error.verify_result();
        error.without_verify_result()
    }

    pub(super) fn note_established(&self, plan: &Plan) {
        self.easy.trace("tcp", || {
            let ends = &self.easy.info.borrow().ends;
            format!("connected to {}:{}", ends.primary_ip(), ends.primary_port())
        });
        let (host, _) = plan.first_hop();
        self.easy.note(|| {
            let info = self.easy.info.borrow();
            let (remote, local) = (&info.ends.primary_ip(), &info.ends.local_ip());
            let (to, from) = (info.ends.primary_port(), info.ends.local_port());
            format!("Established connection to {host} ({remote} port {to}) from {local} port {from} ")
        });
    }

    /// Returns a connection to the pool; to a shared pool between the share's lock functions.
    pub fn release(&self, lease: impl Into<Lease>) {
        let lease = lease.into();
        self.easy.note(|| {
            let host = String::from_utf8_lossy(self.url.host().unwrap_or_default()).into_owned();
            let port = self.url.port_or_default().unwrap_or_default();
            format!("Connection #{} to host {host}:{port} left intact", lease.about().id)
        });
        self.locked(LockData::Connect, || lease.release());
    }

    /// The message about a reused connection, in curl's words.
    fn note_of_reuse(&self, plan: &Plan) -> String {
        let scheme = self.scheme().name().to_ascii_lowercase();
        match &plan.proxy {
            Some(proxy) => format!("Reusing existing {scheme}: connection with proxy {}", proxy.host),
            None => {
                let host = String::from_utf8_lossy(self.url.host().unwrap_or_default()).into_owned();
                format!("Reusing existing {scheme}: connection with host {host}")
            }
        }
    }

    /// Closes a connection of that pool with the protocol's farewell.
    pub fn retire(&self, lease: impl Into<Lease>) {
        let lease = lease.into();
        self.locked(LockData::Connect, || lease.retire());
    }

    /// How old an idle connection may be for this handle.
    fn ages(&self) -> Ages {
        let seconds = |option| Duration::from_secs(self.long(option).max(0) as u64);
        Ages { idle: seconds(O::MaxAgeConn), lifetime: seconds(O::MaxLifetimeConn) }
    }

    /// Returns the pool of this transfer, with the limits of its multi handle.
    pub fn pool(&self) -> Pool {
        if self.easy.inner.get() {
            return self.multi.pool_for_names();
        }
        let share = self.easy.share.borrow();
        let pool = self.multi.pool_for(share.as_ref().and_then(|s| s.pool()));
        drop(share);
        let limits = self.multi.limits.get();
        let kept = self.multi.max_idle(self.long(O::MaxConnects));
        // Surplus connections are closed with the application's function.
        pool.set_limits(Limits { kept, per_host: limits.max_host, total: limits.max_total });
        pool
    }

    /// Records the connection of the request, which it got at `now`; from then on data is meant to move.
    pub fn note_connection(&self, about: &About, now: Instant) {
        let mut info = self.easy.info.borrow_mut();
        info.moving_since = Some(now);
        info.connection_id = about.id as i64;
        info.attempted_connection = info.connection_id;
        info.secured = about.tls.is_some();
        info.note_native_tls(about.tls.as_ref().and_then(|tls| tls.native));
        info.ends = ends(&about.endpoints);
        info.last_socket = about.socket;
        info.presence = about.presence.clone();
    }
}

pub(super) fn ends(endpoints: &net::connect::Endpoints) -> Endpoints {
    Endpoints { remote: endpoints.remote, local: endpoints.local }
}

/// The destination as messages name it, in curl's words: the URL's host, the host that replaces it, and the
/// proxy. For a request to an HTTP proxy without a tunnel it is the proxy.
struct Destination<'a> {
    connector: &'a Connector,
    plan: &'a Plan,
}

impl fmt::Display for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Destination { connector, plan } = self;
        match plan.forwarder() {
            Some(proxy) => write!(f, "{}:{}", proxy.host, proxy.port)?,
            None => {
                let url = &connector.url;
                let host = written(url.host(), &plan.host);
                let port = url.port().unwrap_or_else(|| connector.scheme().default_port());
                write!(f, "{host}:{port}")?;
                if !host.eq_ignore_ascii_case(&plan.host) || port != plan.port {
                    write!(f, " via {}:{}", plan.host, plan.port)?;
                }
            }
        }
        let first = plan.pre_proxy.as_ref().or(plan.proxy.as_ref());
        match (first, &plan.key.unix) {
            (Some(proxy), _) => match &proxy.unix {
                Some(path) => write!(f, " over proxy {}", path),
                None => write!(f, " over proxy {}", proxy.host),
            },
            (None, Some(path)) => write!(f, " over unix://{}", path),
            (None, None) => Ok(()),
        }
    }
}
