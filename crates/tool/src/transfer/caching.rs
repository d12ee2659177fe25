//! `--cache` for a transfer: each of its requests, including redirects, may use a stored reply, and each
//! reply may be stored.

mod hop;

use super::Transfer;
use crate::bytes::Bytes;
use crate::cache::partition;
use crate::cache::{Cache, CacheHit, CacheRequest, Entry, StoredBody, now, selected};
use crate::options::ToolOption;
use crate::raw::rules::{self, Control, Field, RestVerdict, Selection, Verdict};
use crate::raw::{
    CacheAnswer, JoinedReply, PlannedRequest, ReplyAnswer, RequestAdditions, StoredReply, UrlPart,
    WITH_DICTIONARY,
};
use crate::request::Request;
use crate::url::parse_url;
use hop::{Hop, Recording, apart};
use std::cell::{Cell, RefCell};
use std::io::{self, Read};

/// The role of the cache for a reply, for `%{cache}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The stored reply was used.
    Hit,
    /// As above, and is older than it should be.
    Stale,
    /// The server confirmed the stored reply.
    Revalidated,
    /// The server sent the bytes that stored parts lack.
    Completed,
    /// The reply came from the server.
    Miss,
    /// The cache was not used.
    Bypass,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Hit => "hit",
            Outcome::Stale => "stale",
            Outcome::Revalidated => "revalidated",
            Outcome::Completed => "completed",
            Outcome::Miss => "miss",
            Outcome::Bypass => "bypass",
        }
    }
}

/// The caching state of a transfer.
pub struct Caching {
    /// Of the options.
    partition: String,
    /// Why nothing is stored or used.
    bypass: Option<&'static str>,
    follows: bool,
    /// Whether errors are repeated.
    retries: bool,
    /// Whether bodies are decoded: then the bytes of a range are not those of the stored body.
    decodes: bool,
    hop: RefCell<Option<Hop>>,
    /// Set after a 304 for another entry: the stored reply is not revalidated again.
    asks_for_all: Cell<bool>,
    outcome: Cell<Option<Outcome>>,
}

impl Caching {
    /// Prepares for a request, given the partition of its options and the reason not to use the cache.
    pub fn new(partition: String, bypass: Option<&'static str>, request: &Request) -> Caching {
        Caching {
            partition,
            bypass,
            follows: request.follow != 0,
            retries: request.retries > 0,
            decodes: request.options.is_on(ToolOption::Compressed),
            hop: RefCell::default(),
            asks_for_all: Cell::new(false),
            outcome: Cell::new(None),
        }
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.get()
    }

    /// Returns why a request does not use the cache, besides its options.
    fn reason_of(&self, asked: &PlannedRequest<'_>, url: &[u8]) -> Option<&'static str> {
        let ranged = rules::value(asked.fields, "Range").is_some();
        let reasons = [
            (!url.starts_with(b"http://") && !url.starts_with(b"https://"), "not HTTP"),
            (!matches!(asked.method, b"GET" | b"HEAD" | b"POST"), "the request's method"),
            (Control::of(asked.fields).no_store, "no-store in the request"),
            (rules::is_conditional(asked.fields), "the request has conditions of its own"),
            (ranged && asked.method != b"GET", "a range of something else than a GET"),
            (ranged && self.decodes, "a range with --compressed"),
        ];
        reasons.iter().find(|(is, _)| *is).map(|(_, what)| *what)
    }

    /// Forgets the reply of this attempt, before another one.
    pub fn reset(&self) {
        self.hop.take();
        self.asks_for_all.set(false);
    }

    /// Reads a line of a head; returns whether it must not be shown yet.
    pub fn holds_back(&self, line: &[u8]) -> bool {
        let mut hop = self.hop.borrow_mut();
        let Some(hop) = hop.as_mut().filter(|hop| !hop.served) else { return false };
        hop.add_line(line);
        hop.shown |= !hop.head.held;
        hop.head.held
    }
}

/// Returns the head of an answer, with the age of the stored reply unless the server has just confirmed it.
fn head_of_answer(entry: &Entry, selection: Selection, age: Option<i64>) -> Bytes {
    let mut head = [selection.status_line(&entry.status_line).as_slice(), b"\r\n"].concat();
    let mut put = |name: &[u8], value: &[u8]| head.extend([name, b": ", value, b"\r\n"].concat());
    for (name, value) in &selection.fields(&entry.fields) {
        if age.is_none() || !name.eq_ignore_ascii_case(b"Age") {
            put(name, value);
        }
    }
    if let Some(age) = age {
        put(b"Age", age.to_string().as_bytes());
    }
    head
}

/// Returns a stored reply for the library.
fn stored(entry: &Entry, body: Option<StoredBody>, selection: Selection, age: Option<i64>) -> StoredReply {
    let head = head_of_answer(entry, selection, age);
    let length = entry.body.as_ref().and(body.as_ref()).map(StoredBody::length);
    StoredReply { head, body: Box::new(body.unwrap_or_default()), length }
}

/// Returns the reply of a cache that must not contact the server and has no entry (RFC 9111 §5.2.1.7).
fn nothing_kept() -> StoredReply {
    let head = b"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n".to_vec();
    StoredReply { head, body: Box::new(io::empty()), length: Some(0) }
}

impl Transfer {
    fn cache(&self) -> Option<(&Cache, std::rc::Rc<Caching>)> {
        Some((self.env.cache.as_ref()?, self.caching.borrow().clone()?))
    }

    fn cache_note(&self, text: &str) {
        if self.env.traces() {
            self.env.trace(crate::trace::Kind::Text, format!("Cache: {text}\n").as_bytes(), self.ids());
        }
    }

    fn complain<T>(&self, done: Result<T, String>) -> Option<T> {
        done.map_err(|why| self.env.warn(&why)).ok()
    }

    /// Adds a request that was not sent to the report, as it would have been sent.
    fn report_unsent(&self, hop: &Hop, outcome: Outcome) {
        if !self.env.globals.reports() {
            return;
        }
        let url = parse_url(&hop.url).ok();
        let part = |part| url.as_ref().and_then(|url| url.get(part, 0).ok()).unwrap_or_default();
        let query = part(UrlPart::Query);
        let mark: &[u8] = if query.is_empty() { b"" } else { b"?" };
        let target = [part(UrlPart::Path), mark.to_vec(), query].concat();
        let port = part(UrlPart::Port);
        let mark: &[u8] = if port.is_empty() { b"" } else { b":" };
        let host = [part(UrlPart::Host), mark.to_vec(), port].concat();
        let mut head =
            [&hop.method, b" ".as_slice(), &target, b" HTTP/1.1\r\nHost: ", &host, b"\r\n"].concat();
        for (name, value) in &hop.fields {
            head.extend([name, b": ".as_slice(), value, b"\r\n"].concat());
        }
        head.extend(b"\r\n");
        self.exchanges.borrow_mut().not_sent(&head, outcome.name());
    }

    /// Decides before each request whether the cache answers it.
    pub(super) fn ask_cache(&self, asked: PlannedRequest<'_>) -> CacheAnswer {
        let Some((cache, caching)) = self.cache() else {
            return CacheAnswer::Send(RequestAdditions::default());
        };
        self.leave_hop(&caching, cache);
        let (prior, hop, outcome) = self.look_up(cache, &caching, asked);
        caching.outcome.set(Some(outcome));
        caching.hop.replace(Some(hop));
        prior
    }

    fn look_up(
        &self,
        cache: &Cache,
        caching: &Caching,
        asked: PlannedRequest<'_>,
    ) -> (CacheAnswer, Hop, Outcome) {
        let (url, login) = apart(asked.url);
        let mut hop = Hop { method: asked.method.to_vec(), url, asked: now(), ..Hop::default() };
        let asks_for_all = caching.asks_for_all.take();
        if let Some(reason) = caching.bypass.or_else(|| caching.reason_of(&asked, &hop.url)) {
            self.cache_note(&format!("bypassed ({reason})"));
            return (CacheAnswer::Send(RequestAdditions::default()), hop, Outcome::Bypass);
        }
        let who = partition::of_fields(asked.fields);
        let options = format!("{}{login:?} {who}", caching.partition);
        hop.partition = cache.sums.of(&[options.as_bytes(), asked.peer].concat());
        (hop.fields, hop.storable) = (asked.fields.to_vec(), true);
        if asked.method == b"POST" {
            self.cache_note("bypassed (POST)");
            return (CacheAnswer::Send(RequestAdditions::default()), hop, Outcome::Bypass);
        }
        let range = rules::value(&hop.fields, "Range");
        let wanted = CacheRequest {
            url: &hop.url,
            partition: &hop.partition,
            fields: &hop.fields,
            range: range.as_deref(),
            head: hop.is_head(),
            follows: caching.follows,
            retries: caching.retries,
        };
        let found = cache.find(&wanted).filter(|found| {
            // The server answers for a coding that is decoded: its bytes are not those of the stored parts.
            !(asks_for_all || caching.decodes && found.gap.is_some())
        });
        self.serve_or_send(cache, caching, hop, found)
    }

    /// Decides what a request gets from the stored reply that was found for it, if there is one.
    fn serve_or_send(
        &self,
        cache: &Cache,
        caching: &Caching,
        mut hop: Hop,
        found: Option<CacheHit>,
    ) -> (CacheAnswer, Hop, Outcome) {
        let only_if_cached = Control::of(&hop.fields).only_if_cached;
        let whole = found.as_ref().filter(|found| found.gap.is_none());
        let verdict = whole.map(|found| rules::verdict(&hop.fields, found.entry.kept(), now()));
        match (verdict, found) {
            (Some(Verdict::Serve { age, stale }), Some(found)) => {
                cache.touch(&found);
                hop.served = true;
                let outcome = if stale { Outcome::Stale } else { Outcome::Hit };
                self.cache_note(&format!("{}, {age} seconds old", outcome.name()));
                self.report_unsent(&hop, outcome);
                let reply = stored(&found.entry, found.body, found.selection, Some(age));
                (CacheAnswer::Serve(reply), hop, outcome)
            }
            _ if only_if_cached => {
                self.cache_note("miss, and only-if-cached forbids a request");
                hop.served = true;
                self.report_unsent(&hop, Outcome::Miss);
                (CacheAnswer::Serve(nothing_kept()), hop, Outcome::Miss)
            }
            (_, Some(found)) if found.gap.is_some() => {
                let (fields, dictionary) = (self.request_rest(&mut hop, found), None);
                (CacheAnswer::Send(RequestAdditions { fields, dictionary }), hop, Outcome::Miss)
            }
            (_, found) => {
                let mut additions = match caching.decodes {
                    true => self.offer_dictionary(cache, &hop),
                    false => RequestAdditions::default(),
                };
                additions.fields.extend(self.conditions(&mut hop, found));
                (CacheAnswer::Send(additions), hop, Outcome::Miss)
            }
        }
    }

    /// Offers a stored reply as a dictionary, if the request accepts codings and its reply will be decoded.
    fn offer_dictionary(&self, cache: &Cache, hop: &Hop) -> RequestAdditions {
        let codings = rules::value(&hop.fields, "Accept-Encoding").filter(|_| hop.method == b"GET");
        let found = codings.and_then(|codings| Some((cache.dictionary(&hop.url, &hop.partition)?, codings)));
        let Some((mut additions, codings)) = found else { return RequestAdditions::default() };
        self.cache_note("offers a stored reply as a dictionary");
        let line = [b"Accept-Encoding: ", &codings[..], b", ", WITH_DICTIONARY.as_bytes()].concat();
        additions.fields.push(line);
        additions
    }

    /// Returns the lines that make the request conditional, if the stored reply can be revalidated.
    fn conditions(&self, hop: &mut Hop, found: Option<CacheHit>) -> Vec<Bytes> {
        let ask = |found: &CacheHit| rules::revalidation(&hop.fields, found.entry.kept());
        let conditions = found.as_ref().map(ask).unwrap_or_default();
        let line = |(name, value): &Field| [name.as_slice(), b": ", value].concat();
        let lines: Vec<Bytes> = conditions.iter().map(line).collect();
        self.cache_note(if conditions.is_empty() {
            "miss"
        } else {
            "asks the server whether the stored reply is still valid"
        });
        (hop.found, hop.conditional) = (found, !conditions.is_empty());
        lines
    }

    /// Returns the lines that ask for what stored parts lack. If-Range has the server send all if these are
    /// out of date, so that they need not be fresh.
    fn request_rest(&self, hop: &mut Hop, partial: CacheHit) -> Vec<Bytes> {
        let gap = partial.gap.as_ref().map(|gap| gap.missing);
        let (Some((first, last)), Some((name, value))) = (gap, rules::if_range(&partial.entry.fields)) else {
            return Vec::new();
        };
        self.cache_note(&format!("parts are stored; requests the bytes from {first} to {last}"));
        hop.partial = Some(partial);
        vec![format!("Range: bytes={first}-{last}").into_bytes(), [&name[..], b": ", &value].concat()]
    }

    /// The head of a reply has arrived, or none will.
    pub(super) fn check_reply(&self, status: Option<u16>) -> ReplyAnswer {
        let Some((cache, caching)) = self.cache() else { return ReplyAnswer::Accept };
        let mut hop = caching.hop.borrow_mut();
        let Some(hop) = hop.as_mut().filter(|hop| !hop.served) else { return ReplyAnswer::Accept };
        let instead = self.instead_of(cache, &caching, hop, status);
        if let (Some(outcome), true) = (caching.outcome(), self.env.globals.reports()) {
            self.exchanges.borrow_mut().cached(outcome.name());
        }
        instead
    }

    fn instead_of(
        &self,
        cache: &Cache,
        caching: &Caching,
        hop: &mut Hop,
        status: Option<u16>,
    ) -> ReplyAnswer {
        let failed = status.is_none_or(rules::is_error);
        if failed && hop.stands_in() && (status.is_none() && !hop.shown || hop.head.held) {
            if status.is_none() {
                self.report_unsent(hop, Outcome::Stale);
            }
            return self.serve_stale(cache, caching, hop);
        }
        let Some(status) = status else { return ReplyAnswer::Accept };
        if status == 304 && hop.head.held {
            return self.not_modified(cache, caching, hop);
        }
        if let Some(partial) = hop.partial.take()
            && let Some(answer) = self.complete(cache, caching, hop, partial, status)
        {
            return answer;
        }
        if rules::invalidates(&hop.method, status) {
            self.invalidate(cache, hop);
        }
        if hop.storable && !(caching.retries && rules::is_error(status)) {
            self.record(cache, hop);
        }
        ReplyAnswer::Accept
    }

    /// Combines stored parts with the rest that the server sends. Returns `None` if the reply is delivered as
    /// it is.
    fn complete(
        &self,
        cache: &Cache,
        caching: &Caching,
        hop: &mut Hop,
        mut partial: CacheHit,
        status: u16,
    ) -> Option<ReplyAnswer> {
        let gap = partial.gap.take()?;
        let fits = rules::completes(&partial.entry.fields, gap.missing, gap.complete, &hop.head.fields);
        match hop.rest_verdict(status, fits) {
            RestVerdict::Accept => {
                hop.found = Some(partial);
                None
            }
            RestVerdict::Again => {
                self.cache_note("the stored parts are out of date; sends the request as it was");
                cache.remove(&partial);
                caching.asks_for_all.set(true);
                Some(ReplyAnswer::SendAgain)
            }
            RestVerdict::Join => {
                self.cache_note("the server sent what the stored parts lack");
                caching.outcome.set(Some(Outcome::Completed));
                let (before, selection) = (partial.body.take().unwrap_or_default(), partial.selection);
                hop.head.line = selection.status_line(&hop.head.line);
                hop.head.fields = selection.fields(&hop.head.fields);
                hop.head.status = if let Selection::Complete(_) = selection { 200 } else { 206 };
                let entry = hop.entry(rules::lasting(&hop.head.fields));
                let head = head_of_answer(&entry, Selection::Whole, None);
                hop.found = Some(partial);
                self.record(cache, hop);
                let sized = |body: StoredBody| -> (Box<dyn Read>, u64) {
                    let length = body.length();
                    (Box::new(body), length)
                };
                Some(ReplyAnswer::Join(JoinedReply { head, before: sized(before), after: sized(gap.after) }))
            }
        }
    }

    fn serve_stale(&self, cache: &Cache, caching: &Caching, hop: &mut Hop) -> ReplyAnswer {
        let Some(found) = hop.found.take() else { return ReplyAnswer::Accept };
        let age = rules::stands_in(&hop.fields, found.entry.kept(), now()).unwrap_or_default();
        self.cache_note(&format!("serves a stored reply instead of the error, {age} seconds old"));
        cache.touch(&found);
        caching.outcome.set(Some(Outcome::Stale));
        hop.served = true;
        ReplyAnswer::Serve(stored(&found.entry, found.body, found.selection, Some(age)))
    }

    fn not_modified(&self, cache: &Cache, caching: &Caching, hop: &mut Hop) -> ReplyAnswer {
        let Some(found) = hop.found.take() else { return ReplyAnswer::Accept };
        let answer = std::mem::take(&mut hop.head.fields);
        if !rules::confirms(&found.entry.fields, &answer) {
            self.cache_note("the server confirmed another reply than the stored one; requests it in full");
            cache.remove(&found);
            caching.asks_for_all.set(true);
            return ReplyAnswer::SendAgain;
        }
        self.cache_note("the stored reply is still valid");
        let fields = rules::merged(&found.entry.fields, &answer);
        let selected = selected(&fields, &hop.fields);
        let entry = Entry { asked: hop.asked, received: now(), fields, selected, ..found.entry.clone() };
        if rules::is_storable(&hop.fields, entry.kept()) {
            self.complain(cache.update(&found, entry.clone()));
        } else {
            cache.remove(&found);
        }
        caching.outcome.set(Some(Outcome::Revalidated));
        hop.served = true;
        ReplyAnswer::Serve(stored(&entry, found.body, found.selection, None))
    }

    /// Removes the entries of the URL, and of URLs on the same server that the reply names (RFC 9111 §4.4).
    fn invalidate(&self, cache: &Cache, hop: &Hop) {
        let mut gone = cache.forget(&hop.url);
        for name in ["Location", "Content-Location"] {
            gone |= hop.named_url(name).is_some_and(|url| cache.forget(&url));
        }
        if gone {
            self.cache_note("stored replies are out of date and were removed");
        }
    }

    fn record(&self, cache: &Cache, hop: &mut Hop) {
        let fields = rules::lasting(&hop.head.fields);
        let entry = hop.entry(fields);
        let storable = hop.is_storable(&entry);
        let old = hop.found.take();
        if !storable {
            // The server's new reply replaces it, although it is not stored.
            if let Some(old) = old.filter(|_| hop.head.status < 500) {
                cache.remove(&old);
            }
            return;
        }
        let draft = if hop.is_head() { None } else { self.complain(cache.draft()).flatten() };
        if draft.is_some() || hop.is_head() {
            hop.recording = Some(Recording { entry, draft, old });
        }
    }

    /// A piece of a body, which the output has taken.
    pub(super) fn cache_body(&self, data: &[u8]) {
        let Some((cache, caching)) = self.cache() else { return };
        let mut hop = caching.hop.borrow_mut();
        let Some(hop) = hop.as_mut() else { return };
        let Some(draft) = hop.recording.as_mut().and_then(|recording| recording.draft.as_mut()) else {
            return;
        };
        if draft.length.saturating_add(data.len() as u64) > cache.limit() {
            self.cache_note("the reply is too large to store");
            hop.recording = None;
        } else if let Err(error) = draft.write(data) {
            hop.recording = None;
            self.complain(cache.failed(&error));
        }
    }

    /// Ends a reply that is followed by another request. The body of a redirect is not read; other replies
    /// that were not the last are ignored.
    fn leave_hop(&self, caching: &Caching, cache: &Cache) {
        let Some(recording) = caching.hop.take().and_then(|hop| hop.recording) else { return };
        let redirects = (300..400).contains(&recording.entry.status);
        if redirects && rules::value(&recording.entry.fields, "Location").is_some() {
            drop(recording.draft);
            self.complain(cache.keep(recording.entry, None, recording.old.as_ref()));
        }
    }

    /// Completes the work of the cache after an attempt.
    pub fn finish_caching(&self, code: i32) {
        let Some((cache, caching)) = self.cache() else { return };
        let recording = caching.hop.take().and_then(|hop| hop.recording);
        let recording = recording.filter(|recording| code == 0 && recording.is_consistent());
        if let Some(Recording { entry, draft, old }) = recording {
            self.complain(cache.keep(entry, draft, old.as_ref()));
        }
    }
}
