//! The sums of a program's transfers, by host. Pure: records go in, numbers come out.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use net::connection_key::Origin;
use net::resolver::DEFAULT_TTL;
use tables::Code;

use crate::why::difference::Term;
use crate::why::event::{
    CertificateExpiry, CloseReason, Event, GoAhead, NameSource, Named, NewReason, OneByOne, Secured,
    SendLimits, VersionReason,
};
use crate::why::story::round_trips;
use crate::why::{MIN_TEXT, Record, Request, Stage};

/// Most hosts that have a row of their own; the others share one.
const MAX_HOSTS: usize = 256;
/// Most different redirects, options and keys that are remembered for a host.
const MAX_KINDS: usize = 32;
/// Most connections that the imagined pool keeps for one key, and for how long.
const MAX_KEPT: usize = 256;
const KEPT_FOR: Duration = Duration::from_secs(118);

/// Calls of a read function below which its pieces do not matter, and bytes below which they are small.
const MIN_READS: u64 = 64;
const SMALL_READ: u64 = 512;
/// A file of FTP below this length takes round trips and hardly any time to move.
const SMALL_FILE: i64 = 64 * 1024;

/// Least time for which something limited an upload, and the least part of the upload's time.
const MIN_LIMIT: Duration = Duration::from_millis(10);
const LIMITED_PART: u32 = 5;

/// How often something happened, and the time that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub time: Duration,
}

impl Sum {
    pub fn add(&mut self, time: Duration) {
        self.count += 1;
        self.time += time;
    }
}

/// The sums of a process.
pub struct Totals {
    /// When the first transfer was started.
    pub started: Instant,
    pub transfers: u64,
    pub failed: u64,
    /// Runs of a multi handle without a wait between them.
    pub busy: Sum,
    pub hosts: BTreeMap<String, Host>,
    /// The last origin and its name among the hosts: most programs talk to one.
    recent: (Option<Origin>, String),
}

/// The sums of one host and port.
#[derive(Clone, Debug, Default)]
pub struct Host {
    pub requests: u64,
    pub failed: u64,
    pub opened: u64,
    pub reused: u64,
    pub full: u64,
    pub resumed: u64,
    pub received: u64,
    pub sent: u64,
    /// Time by stage.
    pub stages: [Duration; Stage::ALL.len()],
    /// Connections that a handle opened although another one had left an equal one, with the time to open.
    pub forgotten: Sum,
    /// New connections by the options in which the open ones differed.
    pub differs: BTreeMap<String, Sum>,
    pub evicted: Sum,
    /// New connections because the server had closed the one before.
    pub closed_by_server: Sum,
    /// New connections because an option forbids to keep or to reuse them.
    pub forbidden: Sum,
    pub late_expects: Sum,
    /// Redirects by their target, with the time of the requests that were redirected.
    pub redirects: BTreeMap<String, Sum>,
    pub timeouts: Sum,
    /// Attempts of IPv6 and of IPv4 that were given up before another one was made.
    pub dead: [Sum; 2],
    /// Connections by IPv6 and by IPv4.
    pub alive: [u64; 2],
    /// Questions about the host's name that another transfer had asked before, and all of them.
    pub asked_again: Sum,
    pub asked: Sum,
    /// Full handshakes although an option forbids to resume, and although another handle had a session.
    pub uncached: Sum,
    pub unshared: Sum,
    /// Replies of text that came uncompressed, and the time to receive them.
    pub uncompressed: Sum,
    /// New connections beside others, on which an option forbids HTTP/2.
    pub beside: Sum,
    /// Files fetched by FTP on open connections, in more than one round trip.
    pub ftp_files: Sum,
    /// Round trips of these files.
    pub ftp_rounds: u64,
    /// Calls of the application's read function, in requests with small pieces, and the pieces' bytes.
    pub small_reads: u64,
    pub small_bytes: u64,
    /// Uploads that waited for the receiver, and for room in the send buffer.
    pub by_window: Sum,
    pub by_buffer: Sum,
    /// Requests that were refused and had no cookie, on a host where others had some.
    pub without_cookie: Sum,
    /// Whether a request had a cookie.
    has_cookies: bool,
    /// When its name was last asked for.
    last_asked: Option<Instant>,
    /// The certificate of the chain that expires first.
    pub expiry: Option<CertificateExpiry>,
    /// The connections that a pool of the process would hold: by key, when they became idle.
    idle: BTreeMap<u64, Vec<Instant>>,
    /// Reasons why the last connection of a key was closed. Another handle does not know them.
    closed: BTreeMap<u64, CloseReason>,
    /// Keys of closed connections with a TLS session that could be resumed.
    tickets: BTreeSet<u64>,
}

impl Totals {
    pub fn new(started: Instant) -> Totals {
        let recent = (None, String::new());
        Totals { started, transfers: 0, failed: 0, busy: Sum::default(), hosts: BTreeMap::new(), recent }
    }

    /// Adds a transfer that has ended. Transfers come in the order in which they end.
    pub fn add(&mut self, record: &Record) {
        self.transfers += 1;
        // The sums are made when the first transfer ends.
        self.started = record.started_at().map_or(self.started, |began| began.min(self.started));
        let failure = record.outcome.as_ref().map(|outcome| outcome.code).filter(|code| *code != Code::Ok);
        self.failed += u64::from(failure.is_some());
        let last = record.requests.len().saturating_sub(1);
        for (number, (request, events)) in record.by_request().enumerate() {
            let failure = failure.filter(|_| number == last);
            let started = record.started_at();
            self.host(request, events).add(started, request, events, failure);
        }
    }

    /// Returns the host and port of a request: those of its connection or, without one, of its URL.
    fn host(&mut self, request: &Request, events: &[(Duration, Event)]) -> &mut Host {
        let origin = events.iter().rev().find_map(|(_, event)| match event {
            Event::Opened(opened) => Some(&opened.origin),
            Event::Reused(reused) => Some(&reused.origin),
            _ => None,
        });
        if origin.is_none() || origin != self.recent.0.as_ref() {
            let name = origin.map_or_else(|| host_of_url(&request.url).to_owned(), Origin::to_string);
            let has_row = self.hosts.len() < MAX_HOSTS || self.hosts.contains_key(&name);
            let name = if has_row { name } else { "other hosts".to_owned() };
            self.hosts.entry(name.clone()).or_default();
            self.recent = (origin.cloned(), name);
        }
        self.hosts.get_mut(&self.recent.1).expect("the row of the last origin stays")
    }
}

fn host_of_url(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    after.split(['/', '?']).next().unwrap_or_default()
}

impl Host {
    fn add(
        &mut self,
        started: Option<Instant>,
        request: &Request,
        events: &[(Duration, Event)],
        failure: Option<Code>,
    ) {
        self.requests += 1;
        self.failed += u64::from(failure.is_some());
        self.received += request.received.max(0) as u64;
        self.sent += request.sent.max(0) as u64;
        for (stage, length) in request.stages.iter() {
            self.stages[stage as usize] += length;
        }
        if failure == Some(Code::OperationTimedout) {
            self.timeouts.add(request.to.saturating_sub(request.from));
        }
        // Nearly every request of a program that does well: an open connection served it, and nothing else
        // happened. The report must cost it little.
        if let ([(when, Event::Reused(reused))], None) = (events, failure) {
            let at = |time: Duration| started.map(|started| started + time);
            self.reused += 1;
            self.take_idle(reused.key, at(*when));
            self.keep_idle(reused.key, at(request.to));
            return self.add_bodies(request, events);
        }
        let pooled = self.forgotten.count;
        self.add_handshakes(request, events);
        self.add_connection(started, request, events, failure.is_none());
        if self.forgotten.count == pooled {
            self.add_names(started, events);
        }
        self.add_waits(request, events);
        self.add_attempts(events);
        self.add_bodies(request, events);
        self.add_commands(request, events);
    }

    /// Adds the connection of a request.
    fn add_connection(
        &mut self,
        started: Option<Instant>,
        request: &Request,
        events: &[(Duration, Event)],
        succeeded: bool,
    ) {
        let at = |time: Duration| started.map(|started| started + time);
        let mut key = None;
        for (when, event) in events {
            match event {
                Event::Opened(opened) => {
                    self.opened += 1;
                    let beside = opened.tls && matches!(opened.why, NewReason::AllInUse { .. });
                    if beside && events.iter().any(is_held_back) {
                        self.beside.add(opening(request, events));
                    }
                    key = Some(opened.key);
                    self.add_new(&opened.why, opened.key, at(*when), opening(request, events));
                }
                Event::Reused(reused) => {
                    self.reused += 1;
                    key = Some(reused.key);
                    self.take_idle(reused.key, at(*when));
                }
                Event::Secured(Secured { resumed, expiry, .. }) => {
                    *(if *resumed { &mut self.resumed } else { &mut self.full }) += 1;
                    self.expiry = expiry.clone().or(self.expiry.take());
                }
                Event::Closed { why, ticket, .. } => {
                    if let Some(key) = key.take().filter(|key| *key != 0 && has_room(&self.closed, key)) {
                        self.closed.insert(key, *why);
                        if *ticket && self.tickets.len() < MAX_KINDS {
                            self.tickets.insert(key);
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(key) = key {
            self.keep_idle(key, at(request.to).filter(|_| succeeded));
        }
    }

    /// Keeps a connection that became idle at `end` in the imagined pool.
    fn keep_idle(&mut self, key: u64, end: Option<Instant>) {
        // Without a key, only its own handle may use the connection.
        if key == 0 {
            return;
        }
        self.closed.remove(&key);
        if let Some(end) = end
            && has_room(&self.idle, &key)
        {
            let idle = self.idle.entry(key).or_default();
            if idle.len() == MAX_KEPT {
                idle.remove(0);
            }
            idle.push(end);
        }
    }

    fn add_new(&mut self, why: &NewReason, key: u64, at: Option<Instant>, took: Duration) {
        match why {
            NewReason::NothingOpen if self.take_idle(key, at) => self.forgotten.add(took),
            NewReason::NothingOpen => {
                if let Some(why) = self.closed.get(&key) {
                    self.add_closed(*why, took);
                }
            }
            NewReason::Differs { terms, .. } => {
                // A scheme or a host is no option that was set by mistake.
                let named = terms.iter().all(|term| matches!(term, Term::Option(_)));
                let names: Vec<String> = terms.iter().map(Term::name).collect();
                let names = names.join(", ");
                if named && has_room(&self.differs, &names) {
                    self.differs.entry(names).or_default().add(took);
                }
            }
            NewReason::Evicted(net::Eviction::Kept(_)) => self.evicted.add(took),
            NewReason::LastClosed(why) => self.add_closed(*why, took),
            NewReason::Forbidden(_) => self.forbidden.add(took),
            _ => {}
        }
    }

    /// Adds a connection that is new because the one before was closed.
    fn add_closed(&mut self, why: CloseReason, took: Duration) {
        match why {
            CloseReason::PeerSaidClose | CloseReason::Http10 | CloseReason::EndsBody => {
                self.closed_by_server.add(took);
            }
            CloseReason::Forbidden => self.forbidden.add(took),
            _ => {}
        }
    }

    /// Takes a connection that a pool of the process would have at that time.
    fn take_idle(&mut self, key: u64, at: Option<Instant>) -> bool {
        let (Some(at), Some(idle)) = (at, self.idle.get_mut(&key)) else { return false };
        let fits = |end: &Instant| *end <= at && at.saturating_duration_since(*end) <= KEPT_FOR;
        match idle.iter().rposition(fits) {
            Some(found) => {
                idle.remove(found);
                true
            }
            None => false,
        }
    }

    /// Adds full handshakes that need not have been: an option forbids to resume, or the session belongs to
    /// another handle.
    fn add_handshakes(&mut self, request: &Request, events: &[(Duration, Event)]) {
        let opened = events.iter().rev().find_map(|(_, event)| match event {
            Event::Opened(opened) => Some(opened),
            _ => None,
        });
        let secured = events.iter().rev().find_map(|(_, event)| match event {
            Event::Secured(secured) => Some(secured),
            _ => None,
        });
        let (Some(opened), Some(Secured { resumed: false, cached, version, .. })) = (opened, secured) else {
            return;
        };
        // A full handshake of TLS 1.3 takes no more round trips than a resumed one; before it takes two.
        let took = length(request, &[Stage::Secure]) / 2;
        let took = if *version == "TLSv1.3" { Duration::ZERO } else { took };
        if !cached {
            self.uncached.add(took);
        } else if opened.why == NewReason::NothingOpen && self.tickets.contains(&opened.key) {
            self.unshared.add(took);
        }
    }

    /// Adds the questions about names. Those of one look-up are asked together.
    fn add_names(&mut self, started: Option<Instant>, events: &[(Duration, Event)]) {
        let asked = events.iter().filter_map(|(at, event)| match event {
            Event::Named(Named { source, took, .. }) if is_question(*source) => Some((*at, *took)),
            _ => None,
        });
        let Some((at, took)) = asked.max_by_key(|(_, took)| *took) else { return };
        self.asked.add(took);
        let now = started.map(|started| started + at);
        if let (Some(now), Some(last)) = (now, self.last_asked)
            && now.saturating_duration_since(last) < DEFAULT_TTL
        {
            self.asked_again.add(took);
        }
        self.last_asked = now;
    }

    /// Adds bodies that could have been smaller, or given in larger pieces, and requests without a cookie.
    fn add_bodies(&mut self, request: &Request, events: &[(Duration, Event)]) {
        if request.is_plain_text && request.received >= MIN_TEXT {
            self.uncompressed.add(length(request, &[Stage::Receive]));
        }
        let (calls, bytes) = request.reads;
        if calls >= MIN_READS && bytes / calls < SMALL_READ {
            self.small_reads += calls;
            self.small_bytes += bytes;
        }
        let sent = |event: &Event| matches!(event, Event::Cookies { sent, .. } if !sent.is_empty());
        match events.iter().any(|(_, event)| sent(event)) {
            true => self.has_cookies = true,
            false if self.has_cookies && matches!(request.status, 401 | 403) => {
                self.without_cookie.add(request.to.saturating_sub(request.from));
            }
            false => {}
        }
    }

    /// Adds files that FTP fetched on an open connection.
    fn add_commands(&mut self, request: &Request, events: &[(Duration, Event)]) {
        let reused = events.iter().any(|(_, event)| matches!(event, Event::Reused(_)));
        let bound =
            |event: &Event| matches!(event, Event::OneByOne(OneByOne::Objected | OneByOne::Dependent));
        let has = |wanted: &dyn Fn(&Event) -> bool| events.iter().any(|(_, event)| wanted(event));
        let rounds = round_trips(events).unwrap_or_default();
        if reused && rounds > 1 && has(&fetches) && !has(&bound) && request.received < SMALL_FILE {
            // Measured on links of 40 ms: `turns` saves 28 % of the time of files in three round trips, and
            // 27 % in two.
            let (all, rounds) = (request.to.saturating_sub(request.from), rounds as u32);
            self.ftp_files.add((all * (rounds - 1) / (2 * rounds + 1)).max(all * 2 / 7));
            self.ftp_rounds += u64::from(rounds);
        }
    }

    fn add_waits(&mut self, request: &Request, events: &[(Duration, Event)]) {
        let mut since = None;
        for (when, event) in events {
            match event {
                Event::Waits { .. } => since = Some(*when),
                Event::GoesOn(GoAhead::Late) => {
                    self.late_expects.add(when.saturating_sub(since.unwrap_or(*when)));
                }
                Event::Limited(SendLimits { window, buffer }) => {
                    let least = MIN_LIMIT.max(request.to.saturating_sub(request.from) / LIMITED_PART);
                    for (sum, time) in [(&mut self.by_window, *window), (&mut self.by_buffer, *buffer)] {
                        if time >= least {
                            sum.add(time);
                        }
                    }
                }
                Event::Redirected { to, .. } => {
                    let to = to.split('?').next().unwrap_or_default();
                    let kind = format!("{} -> {to}", request.url.split('?').next().unwrap_or_default());
                    if has_room(&self.redirects, &kind) {
                        self.redirects.entry(kind).or_default().add(request.to.saturating_sub(request.from));
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the attempts to connect: those before the one that won were in vain.
    fn add_attempts(&mut self, events: &[(Duration, Event)]) {
        let family = |address: &SocketAddr| usize::from(matches!(address.ip(), IpAddr::V4(_)));
        let mut tried: Vec<(SocketAddr, Duration)> = Vec::new();
        for (when, event) in events {
            match event {
                Event::Trying(address) => tried.push((*address, *when)),
                Event::Reached { address: winner, .. } => {
                    self.alive[family(winner)] += 1;
                    let begun = tried.iter().find(|(address, _)| address == winner).map(|(_, at)| *at);
                    if let (Some(begun), Some((first, at))) = (begun, tried.first())
                        && family(first) != family(winner)
                    {
                        self.dead[family(first)].add(begun.saturating_sub(*at));
                    }
                    tried.clear();
                }
                _ => {}
            }
        }
    }
}

/// Returns whether a value of this key is kept.
fn has_room<K: Ord, V>(values: &BTreeMap<K, V>, key: &K) -> bool {
    values.len() < MAX_KINDS || values.contains_key(key)
}

/// Commands of a login, and those that an open connection does not repeat.
const OF_LOGIN: [&str; 18] = [
    "USER",
    "PASS",
    "ACCT",
    "AUTH",
    "PBSZ",
    "PROT",
    "PWD",
    "SYST",
    "FEAT",
    "OPTS",
    "EHLO",
    "HELO",
    "STARTTLS",
    "CAPA",
    "CAPABILITY",
    "LOGIN",
    "AUTHENTICATE",
    "(data)",
];

/// The time that it took to open the connection of a request, with the login of FTP and mail.
fn opening(request: &Request, events: &[(Duration, Event)]) -> Duration {
    let opened = events.iter().find(|(_, event)| matches!(event, Event::Opened(_))).map(|(at, _)| *at);
    let commands: Vec<(Duration, &Vec<String>)> = events
        .iter()
        .filter_map(|(at, event)| match event {
            Event::Commands { verbs, .. } => Some((*at, verbs)),
            _ => None,
        })
        .collect();
    let is_of_login = |verbs: &Vec<String>| verbs.iter().all(|verb| OF_LOGIN.contains(&verb.as_str()));
    let first = commands.iter().find(|(_, verbs)| !is_of_login(verbs));
    match (opened, first) {
        (Some(opened), Some((begun, _))) => {
            // An open connection has its type: TYPE costs a round trip of a new one only.
            let of_type = commands.windows(2).find(|pair| pair[0].1.len() == 1 && pair[0].1[0] == "TYPE");
            let of_type = of_type.map_or(Duration::ZERO, |pair| pair[1].0.saturating_sub(pair[0].0));
            begun.saturating_sub(opened) + of_type
        }
        _ => length(request, &[Stage::Name, Stage::Connect, Stage::Secure]),
    }
}

/// The time of a request in these stages.
fn length(request: &Request, of: &[Stage]) -> Duration {
    of.iter().map(|stage| request.stages.of(*stage)).sum()
}

/// Returns whether a file is fetched by FTP.
fn fetches(event: &Event) -> bool {
    match event {
        Event::Commands { layer: "ftp", verbs, .. } => verbs.iter().any(|verb| verb == "RETR"),
        _ => false,
    }
}

/// Returns whether an option forbids HTTP/2 on a new connection.
fn is_held_back((_, event): &(Duration, Event)) -> bool {
    matches!(event, Event::Version { why: VersionReason::Option | VersionReason::AlpnOff, .. })
}

/// Returns whether an answer cost a question to a server.
fn is_question(source: NameSource) -> bool {
    matches!(source, NameSource::System | NameSource::Servers | NameSource::OverHttps)
}
