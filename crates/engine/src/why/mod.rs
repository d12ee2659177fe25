//! The reasons of one transfer: a record of the engine's decisions, kept only for a handle that asks for it.
//!
//! `event` has the decisions as values, `difference` compares the keys of two connections, `connection`
//! decides why a connection was new, `spans` divides the time. `story` and `json` write a record out.

pub mod certificates;
pub mod connection;
pub mod difference;
pub mod event;
pub mod expiry;
pub mod json;
pub mod spans;
pub mod story;
#[cfg(test)]
mod tests;
pub mod version;

use std::borrow::Cow;
use std::cell::Cell;
use std::hint::cold_path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use net::tls::TrustReport;
use net::tls::handshake::ChainDetail;
use runtime::cell::RefCell;
use tables::Code;
use wire::policy::Refusal;
use wire::trace_context::TraceParent;

use crate::archive::Exchanges;

pub use event::Event;
pub use spans::{Stage, Stages};

/// Most events that one transfer records. A server that redirects forever must not fill the memory.
const MAX_EVENTS: usize = 256;
/// Most requests of one transfer that are recorded.
const MAX_REQUESTS: usize = 64;
/// A text below this length fits into the packet of its head.
pub const MIN_TEXT: i64 = 1400;

/// The place of a handle's record. Without a record nothing is noted.
#[derive(Default)]
pub struct Why(RefCell<Option<Box<Kept>>>);

/// A record, and the facts that outputs of the process need beside it.
#[derive(Default)]
struct Kept {
    record: Record,
    /// The heads of the current transfer, for an archive.
    heads: Option<Rc<Heads>>,
    /// A TLS session with the server was known when the last handshake began.
    session_known: bool,
    /// The next connection is one more beside others, on which files take turns.
    in_turns: bool,
    /// Each check of certificates is recorded.
    checks: bool,
}

/// Which reasons of a transfer are kept. `true` is [`Decisions`](Reasons::Decisions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reasons {
    /// None, unless an output of the process needs them.
    #[default]
    Off,
    /// Decisions of the transfer.
    Decisions,
    /// Decisions, and each check of the certificates of servers and proxies. A TLS session is not resumed
    /// then, because its server would send no certificates.
    Certificates,
}

impl From<bool> for Reasons {
    fn from(on: bool) -> Reasons {
        if on { Reasons::Decisions } else { Reasons::Off }
    }
}

/// The heads of a transfer.
#[derive(Default)]
pub struct Heads {
    pub exchanges: RefCell<Exchanges>,
    /// A transfer inside it runs, which has a record of its own.
    pub paused: Cell<bool>,
}

/// The decisions of one transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// When it was started; times are relative to it.
    started: Option<Instant>,
    /// The decisions, each with its time.
    pub events: Vec<(Duration, Event)>,
    /// The requests that have ended, in order.
    pub requests: Vec<Request>,
    /// Calls of the read function for the current request, and their bytes.
    reads: (u64, u64),
    /// The span of the current request, and that of the first one.
    span: Option<SpanIds>,
    first_span: Option<SpanIds>,
    /// Events and requests that were too many to be recorded.
    pub left_out: usize,
    /// The result, once the transfer has ended.
    pub outcome: Option<Outcome>,
}

/// The span of a request in a trace (WARMWIRE_TRACE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanIds {
    pub own: TraceParent,
    pub parent: Option<TraceParent>,
}

impl SpanIds {
    /// Returns the parent of the next request's span in the same transfer: that of this one or, without one,
    /// this one.
    pub fn parent_of_next(&self) -> TraceParent {
        self.parent.unwrap_or(self.own)
    }
}

/// A request of a transfer: a redirect or a round of authentication begins another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub method: Cow<'static, str>,
    /// Without user name and password.
    pub url: String,
    /// The reply code; 0 if there is none.
    pub status: i64,
    /// The version of HTTP; empty for other protocols.
    pub version: &'static str,
    /// The scheme of authentication used with the server; empty if there is none.
    pub auth: &'static str,
    /// The reply is text that came uncompressed, because no coding was asked for, and it has
    /// [`MIN_TEXT`] bytes at least.
    pub is_plain_text: bool,
    /// Calls of the application's read function, and the bytes that it gave.
    pub reads: (u64, u64),
    /// Body bytes received and sent.
    pub received: i64,
    pub sent: i64,
    /// When it began and ended.
    pub from: Duration,
    pub to: Duration,
    /// Its time by stage. The sum is the time between `from` and `to`.
    pub stages: Stages,
    /// The number of events that had been recorded when it ended.
    pub events: usize,
    /// Its span, if it was given one.
    pub span: Option<SpanIds>,
}

/// The end of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub code: Code,
    /// The message of a failure.
    pub message: String,
    pub total: Duration,
}

impl Why {
    /// Returns whether decisions are recorded.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Starts or stops to record decisions.
    pub fn keep(&self, reasons: Reasons) {
        let on = reasons != Reasons::Off;
        if on != self.is_on() {
            let old = self.0.replace(on.then(Box::default));
            drop(old);
        }
        if let Some(kept) = self.0.borrow_mut().as_deref_mut() {
            kept.checks = reasons == Reasons::Certificates;
        }
    }

    /// Returns what is recorded.
    pub fn reasons(&self) -> Reasons {
        match self.0.borrow().as_deref() {
            None => Reasons::Off,
            Some(Kept { checks: true, .. }) => Reasons::Certificates,
            Some(_) => Reasons::Decisions,
        }
    }

    /// Returns how much a handshake reports about certificates.
    pub fn chain_detail(&self) -> ChainDetail {
        match self.reasons() {
            Reasons::Off => ChainDetail::Leaf,
            Reasons::Decisions => ChainDetail::Expiry,
            Reasons::Certificates => ChainDetail::Checks,
        }
    }

    /// Forgets the last transfer.
    pub fn begin(&self, now: Option<Instant>) {
        if let Some(kept) = self.0.borrow_mut().as_deref_mut() {
            cold_path();
            kept.record.clear(now);
            if let Some(heads) = &kept.heads {
                *heads.exchanges.borrow_mut() = Exchanges::of_program();
            }
        }
    }

    /// Records a decision that was made at `now`.
    #[cold]
    pub fn add(&self, now: Instant, event: Event) {
        if let Some(Kept { record, .. }) = self.0.borrow_mut().as_deref_mut() {
            record.add(now, event);
        }
    }

    /// Counts a call of the application's read function.
    pub fn count_read(&self, bytes: usize) {
        if let Some(Kept { record, .. }) = self.0.borrow_mut().as_deref_mut() {
            record.reads = (record.reads.0 + 1, record.reads.1 + bytes as u64);
        }
    }

    /// Records a request that has ended. Its events are those since the end of the one before.
    #[cold]
    pub fn add_request(&self, request: Request) {
        if let Some(Kept { record, .. }) = self.0.borrow_mut().as_deref_mut() {
            match record.requests.len() < MAX_REQUESTS {
                true => {
                    let (reads, span) = (std::mem::take(&mut record.reads), record.span.take());
                    let events = record.events.len();
                    record.requests.push(Request { events, reads, span, ..request });
                }
                false => record.left_out += 1,
            }
        }
    }

    /// Records the span of the current request.
    #[cold]
    pub fn set_span(&self, span: SpanIds) {
        if let Some(Kept { record, .. }) = self.0.borrow_mut().as_deref_mut() {
            record.span = Some(span);
            record.first_span.get_or_insert(span);
        }
    }

    /// Notes whether a TLS session with the server is known, when a handshake begins.
    #[cold]
    pub fn set_session_known(&self, known: bool) {
        if let Some(kept) = self.0.borrow_mut().as_deref_mut() {
            kept.session_known = known;
        }
    }

    /// Returns whether a TLS session was known when the last handshake began.
    pub fn is_session_known(&self) -> bool {
        self.0.borrow().as_deref().is_some_and(|kept| kept.session_known)
    }

    /// Notes that the next connection is opened so that files take turns on several.
    #[cold]
    pub fn set_in_turns(&self) {
        if let Some(kept) = self.0.borrow_mut().as_deref_mut() {
            kept.in_turns = true;
        }
    }

    /// Returns whether the connection that is opened is for turns, and forgets it.
    pub fn take_in_turns(&self) -> bool {
        self.0.borrow_mut().as_deref_mut().is_some_and(|kept| std::mem::take(&mut kept.in_turns))
    }

    /// Returns the span of the transfer's first request.
    pub fn first_span(&self) -> Option<SpanIds> {
        self.read(|record| record.first_span).flatten()
    }

    /// Records the end of the transfer.
    #[cold]
    pub fn end(&self, outcome: Outcome) {
        if let Some(Kept { record, .. }) = self.0.borrow_mut().as_deref_mut() {
            record.outcome = Some(outcome);
        }
    }

    /// Returns why the connection of the current request cannot be kept, if that was recorded.
    pub fn spoilt(&self) -> Option<event::CloseReason> {
        let kept = self.0.borrow();
        let events = kept.as_deref()?.record.events.iter().rev();
        let of_connection =
            events.take_while(|(_, event)| !matches!(event, Event::Opened(_) | Event::Reused(_)));
        of_connection.into_iter().find_map(|(_, event)| match event {
            Event::Spoilt(why) => Some(*why),
            _ => None,
        })
    }

    /// Returns whether this refusal was recorded.
    pub fn is_denied(&self, refusal: &Refusal) -> bool {
        self.read(|record| record.denials().any(|denied| denied == refusal)).unwrap_or_default()
    }

    /// Returns the end of the last request that was recorded.
    pub fn last_end(&self) -> Duration {
        self.read(|record| record.requests.last().map_or(Duration::ZERO, |request| request.to))
            .unwrap_or_default()
    }

    /// Returns the time since the transfer was started.
    pub fn since_start(&self, now: Instant) -> Duration {
        let started = self.read(Record::started_at).flatten();
        started.map_or(Duration::ZERO, |started| now.saturating_duration_since(started))
    }

    /// Reads the record, if one is kept.
    pub fn read<R>(&self, read: impl FnOnce(&Record) -> R) -> Option<R> {
        self.0.borrow().as_deref().map(|kept| read(&kept.record))
    }

    /// Sets the place where the heads of coming transfers are collected.
    pub fn set_heads(&self, heads: Rc<Heads>) {
        if let Some(kept) = self.0.borrow_mut().as_deref_mut() {
            kept.heads = Some(heads);
        }
    }

    /// Returns the heads of the current transfer, if they are collected.
    pub fn heads(&self) -> Option<Rc<Heads>> {
        self.0.borrow().as_deref()?.heads.clone()
    }
}

impl Record {
    /// Forgets a transfer, and keeps the memory of its events. `inline(never)`: a record is large, and
    /// needs a stack frame of its own.
    #[cold]
    #[inline(never)]
    fn clear(&mut self, now: Option<Instant>) {
        let (mut events, mut requests) =
            (std::mem::take(&mut self.events), std::mem::take(&mut self.requests));
        events.clear();
        requests.clear();
        *self = Record { started: now, events, requests, ..Record::default() };
    }

    fn add(&mut self, now: Instant, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.left_out += 1;
            return;
        }
        let started = *self.started.get_or_insert(now);
        self.events.push((now.saturating_duration_since(started), event));
    }

    /// Returns the refusals by policies.
    pub fn denials(&self) -> impl Iterator<Item = &Refusal> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Denied { refusal, .. } => Some(refusal),
            _ => None,
        })
    }

    /// Returns the reports about certificates with the hosts that they are of.
    fn reports(&self) -> impl Iterator<Item = (&str, &TrustReport)> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::CertificateChecks { host, report } => Some((&**host, &**report)),
            _ => None,
        })
    }

    /// Returns the record of a transfer that was started at `at`.
    #[cfg(test)]
    pub fn of_test(at: Instant, events: Vec<(Duration, Event)>, requests: Vec<Request>) -> Record {
        Record { started: Some(at), events, requests, ..Record::default() }
    }

    /// Returns when the transfer was started.
    pub fn started_at(&self) -> Option<Instant> {
        self.started
    }

    /// Returns the story of the transfer for a person, a line for each decision.
    pub fn text(&self) -> String {
        story::text(self)
    }

    /// Returns the reports about the certificates of servers and proxies alone.
    pub fn certificates(&self) -> String {
        story::certificates(self)
    }

    /// Returns these reports as one JSON array.
    pub fn certificates_json(&self) -> String {
        json::certificates(self)
    }

    /// Returns the record as one JSON object.
    pub fn json(&self) -> String {
        json::text(self)
    }

    /// Returns each request with its events. Events behind the last request come with it.
    pub fn by_request(&self) -> impl Iterator<Item = (&Request, &[(Duration, Event)])> {
        let last = self.requests.len().saturating_sub(1);
        self.requests.iter().enumerate().map(move |(number, request)| {
            let from = number.checked_sub(1).map_or(0, |before| self.requests[before].events);
            let to = if number == last { self.events.len() } else { request.events };
            (request, &self.events[from..to])
        })
    }
}
