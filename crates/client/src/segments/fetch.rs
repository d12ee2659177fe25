//! The connections of one file: assignment of pieces to sources, handling of failures, and the end.

use super::checksum::{Check, Sum};
use super::host::{Host, Prepared};
use super::journal::Journal;
use super::part::Part;
use super::plan::{Growth, PROBE, Plan};
use super::worker::{Failure, FetchStage, SharedDownload, Source, Worker, disk};
use super::worker::{HTTP_ERROR, RANGE_ERROR, WRITE_ERROR};
use super::{may_be_named, shown, sources};
use crate::{Code, Easy, Multi};
use engine::archive::redact::without_login;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tables::EasyOption as O;
use tables::constant::{CURLHSTS_ENABLE, CURLHSTS_READONLYFILE};

/// How often the journal follows the file, and connections and sources are looked at.
const JOURNAL_PAUSE: Duration = Duration::from_millis(200);
const LOOK_PAUSE: Duration = Duration::from_secs(1);
const WAIT: Duration = Duration::from_millis(100);
/// A connection without a byte for this long is abandoned.
const STALLED: Duration = Duration::from_secs(15);
/// Failures in a row, after which a source is dropped, and the pause after the first.
const MOST_FAILURES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Slower than the fastest by so much, a source is dropped, when it was for so many looks.
const SLOW: u64 = 20;

const FAILED_INIT: i32 = Code::FailedInit.id();
const TIMED_OUT: i32 = Code::OperationTimedout.id();
const RECV_ERROR: i32 = Code::RecvError.id();

/// The task: a file, the places where it is, and the limits.
#[derive(Default)]
pub struct Wanted {
    pub url: Vec<u8>,
    /// Other places of the same file.
    pub mirrors: Vec<Vec<u8>>,
    /// Whether a document has named the URL, and not the user.
    pub url_is_foreign: bool,
    /// How many connections; none if that is found out.
    pub connections: Option<usize>,
    /// Whether the user has chosen a version of HTTP.
    pub has_version: bool,
    /// Limit in bytes a second; 0 is none.
    pub rate: i64,
    pub deadline: Option<Duration>,
    /// Expected sums of the file.
    pub sums: Vec<Sum>,
    /// Whether the user has named a sum, so that any source may send the file.
    pub has_own_sum: bool,
}

struct Connection<H> {
    worker: Rc<Worker>,
    prepared: Prepared<H>,
    running: bool,
}

/// A download under way.
pub struct Fetch<'h, H: Host> {
    host: &'h H,
    wanted: Wanted,
    whole: Rc<SharedDownload>,
    connections: Vec<Connection<H::Handle>>,
    growth: Growth,
    /// It is fetched in one piece.
    in_one_piece: bool,
    /// The last failure.
    last: (i32, String),
    began: Instant,
    journal_at: Instant,
    look_at: Instant,
    /// Bytes that the journal lists.
    journaled: u64,
    resumed: u64,
    is_new: bool, // No earlier run has left a part.
}

/// The result; a failure has a text.
pub type End = Result<(), (i32, String)>;

impl<'h, H: Host> Fetch<'h, H> {
    pub fn new(host: &'h H, wanted: Wanted, part: Part) -> Fetch<'h, H> {
        let urls = std::iter::once(&wanted.url).chain(&wanted.mirrors).take(sources::MOST);
        let source = |url: &Vec<u8>| Source { url: url.clone(), ..Source::default() };
        let whole = SharedDownload {
            url: wanted.url.clone(),
            part,
            plan: Default::default(),
            marks: Default::default(),
            sources: urls.map(source).collect::<Vec<_>>().into(),
            begun: Default::default(),
            sums: wanted.sums.clone().into(),
            named: Default::default(),
        };
        let now = Instant::now();
        Fetch {
            host,
            wanted,
            whole: Rc::new(whole),
            connections: Vec::new(),
            growth: Growth::default(),
            in_one_piece: false,
            last: (RECV_ERROR, "no source has answered".into()),
            began: now,
            journal_at: now,
            look_at: now,
            journaled: 0,
            resumed: 0,
            is_new: false,
        }
    }

    /// Fetches the file and verifies it; its part gets the final name.
    pub fn run(&mut self, journal: Option<Journal>) -> End {
        let end = self.resume(journal).and_then(|()| self.fetch());
        for connection in self.connections.iter_mut().filter(|one| one.running) {
            connection.running = false;
            self.host.multi().remove(&connection.prepared.easy);
        }
        self.show();
        end.and_then(|()| self.compare())
            .and_then(|()| self.whole.part.finish().map_err(|why| (WRITE_ERROR, why)))
    }

    fn adopt(&mut self, number: usize, source: usize) -> End {
        let worker = Rc::new(Worker::new(number, self.whole.clone()));
        worker.source.set(source);
        let url = self.whole.sources.borrow()[source].url.clone();
        let foreign = self.is_foreign(source);
        let prepared = self.host.prepare(&url, foreign, &worker);
        let prepared = prepared.map_err(|why| (FAILED_INIT, why))?;
        worker.easy.replace(Some(prepared.easy.clone()));
        let rate = self.wanted.rate;
        for (option, value) in [
            // Streams of one connection would share the rate of one connection.
            (O::HttpVersion, if self.wanted.has_version { None } else { Some(2) }),
            (O::PipeWait, Some(0)),
            (O::TimeoutMs, Some(0)),
            (O::FileTime, Some(1)),
            // The user's own connection writes the file of HSTS.
            (O::HstsCtrl, foreign.then_some(CURLHSTS_ENABLE | CURLHSTS_READONLYFILE)),
            (O::MaxRecvSpeedLarge, (rate > 0).then(|| (rate / self.most() as i64).max(1))),
        ] {
            let Some(value) = value else { continue };
            let set = prepared.easy.set(option, value);
            debug_assert!(set.is_ok(), "each is in range");
        }
        let connection = Connection { worker, prepared, running: false };
        match self.connections.get_mut(number) {
            Some(old) => std::mem::replace(old, connection).close(self.host),
            None => self.connections.push(connection),
        }
        Ok(())
    }

    fn most(&self) -> usize {
        self.wanted.connections.unwrap_or_else(|| self.growth.connections())
    }

    /// Continues the part of an earlier run.
    fn resume(&mut self, journal: Option<Journal>) -> End {
        let Some(journal) = journal else {
            self.is_new = true;
            return Ok(());
        };
        let part = self.whole.part.name();
        if journal.size == 0 {
            return Ok(()); // it was fetched in one piece
        }
        if !journal.is_of(&self.wanted.url) {
            let why = format!("{part} is of another URL, {}; remove it to start over", shown(&journal.place));
            return Err((WRITE_ERROR, why));
        }
        if !journal.marks.bind() && self.whole.sums.borrow().is_empty() {
            return Ok(());
        }
        let (there, size) = (journal.done.total(), journal.size);
        if there > 0 {
            self.host.note(&format!("Resumes {part}: {there} of {size} bytes are complete"));
        }
        self.resumed = there;
        self.whole.sources.borrow_mut()[0].marks = Some(journal.marks.clone());
        self.whole.marks.replace(Some(journal.marks));
        self.whole.plan.replace(Some(Plan::new(size, journal.done)));
        Ok(())
    }

    fn fetch(&mut self) -> End {
        loop {
            self.in_time()?;
            self.start()?;
            if self.is_complete() {
                return Ok(());
            }
            if !self.connections.iter().any(|connection| connection.running) && !self.waits() {
                return Err(self.last.clone());
            }
            self.host.multi().perform();
            let mut ended = false;
            while let Some((message, _)) = self.host.multi().next_message() {
                ended = true;
                self.host.multi().remove(&message.easy);
                let same = |one: &Connection<_>| one.prepared.easy == message.easy;
                let Some(at) = self.connections.iter().position(same) else { continue };
                self.connections[at].running = false;
                self.handle_end(at, message.code.id())?;
            }
            self.check_progress()?;
            let pause = if ended { Duration::ZERO } else { WAIT };
            self.host.wait(pause).map_err(|error| (RECV_ERROR, error.to_string()))?;
        }
    }

    fn is_complete(&self) -> bool {
        self.whole.plan.borrow().as_ref().is_some_and(Plan::is_complete)
            || self.in_one_piece && matches!(self.last, (0, _))
    }

    /// Returns whether the source is in a pause, and will be used again.
    fn waits(&self) -> bool {
        let sources = self.whole.sources.borrow();
        sources.iter().any(|source| !source.dropped && source.not_before.is_some())
    }

    fn in_time(&self) -> End {
        let spent = self.began.elapsed();
        match self.wanted.deadline {
            Some(most) if spent >= most => {
                Err((TIMED_OUT, format!("Operation timed out after {} milliseconds", spent.as_millis())))
            }
            _ => Ok(()),
        }
    }

    /// Assigns work to idle connections.
    fn start(&mut self) -> End {
        let knows = self.whole.plan.borrow().is_some();
        let most = if knows && !self.in_one_piece { self.most() } else { 1 };
        for number in 0..most {
            if self.connections.get(number).is_some_and(|connection| connection.running) {
                continue;
            }
            let Some(source) = self.source_for(number) else { return Ok(()) };
            if !knows || self.in_one_piece {
                self.ask(number, source, (!self.in_one_piece).then_some((0, PROBE)), !self.in_one_piece)?;
                continue;
            }
            let span = self.whole.plan.borrow_mut().as_mut().and_then(|plan| plan.take(number, most));
            let Some(span) = span else { return Ok(()) };
            self.ask(number, source, Some((span.start, span.end)), false)?;
        }
        Ok(())
    }

    /// Returns the usable source with the fewest connections; of equal ones the first.
    fn source_for(&self, number: usize) -> Option<usize> {
        let sources = self.whole.sources.borrow();
        let now = Instant::now();
        let busy = |source: usize| {
            let others = self.connections.iter().filter(|one| one.running && one.worker.number != number);
            others.filter(|one| one.worker.source.get() == source).count()
        };
        (0..sources.len())
            .filter(|at| !sources[*at].dropped && sources[*at].not_before.is_none_or(|at| at <= now))
            .min_by_key(|at| (busy(*at), *at))
    }

    fn ask(&mut self, number: usize, source: usize, span: Option<(u64, u64)>, probe: bool) -> End {
        let fits = |one: &Connection<_>| one.worker.source.get() == source;
        if !self.connections.get(number).is_some_and(fits) {
            self.adopt(number, source)?;
        }
        let connection = &mut self.connections[number];
        self.host.begin_piece(&connection.prepared.handle);
        connection.worker.fault.take();
        connection.worker.moved_at.set(Instant::now());
        let from = span.map(|span| span.0);
        connection.worker.stage.set(match from {
            Some(from) => FetchStage::Asked { from, probe },
            None => FetchStage::AskedForAll,
        });
        let range = span.map(|(start, end)| format!("{start}-{}", end - 1));
        let validator =
            self.whole.sources.borrow()[source].marks.as_ref().and_then(|marks| marks.validator.clone());
        let http = self.whole.sources.borrow()[source]
            .url
            .get(..4)
            .is_none_or(|start| start.eq_ignore_ascii_case(b"http"));
        let describes = probe && !http;
        connection.worker.describes.set(describes);
        let range = range.filter(|_| !describes);
        let mut headers = connection.prepared.headers.clone();
        if let Some(validator) = validator.filter(|_| !probe && range.is_some()) {
            headers.push([b"If-Range: ".as_slice(), &validator].concat());
        }
        let easy = &connection.prepared.easy;
        let set = easy
            .set(O::Range, range.map(String::into_bytes))
            .and_then(|()| easy.set(O::HttpHeader, headers))
            .and_then(|()| easy.set(O::NoBody, describes));
        debug_assert!(set.is_ok(), "any text is one");
        connection.running = true;
        self.host.multi().add(&connection.prepared.easy);
        Ok(())
    }

    /// Returns whether a source is not the URL that the user has chosen.
    fn is_foreign(&self, source: usize) -> bool {
        source > 0 || self.wanted.url_is_foreign
    }

    /// Handles the end of a request.
    fn handle_end(&mut self, at: usize, code: i32) -> End {
        let connection = &self.connections[at];
        let (worker, easy) = (connection.worker.clone(), connection.prepared.easy.clone());
        let mut fault = worker.fault.take();
        let unanswered = matches!(worker.stage.get(), FetchStage::Asked { .. } | FetchStage::AskedForAll);
        if code == 0 && fault.is_none() && unanswered {
            fault = worker.judge(&easy).err();
        }
        let text = message(&easy, code);
        let status = easy.info(|info| info.response_code());
        self.host.ended(&connection.prepared.handle, &easy, code);
        if let Some(plan) = self.whole.plan.borrow_mut().as_mut() {
            let left = plan.room(worker.number).len();
            plan.release(worker.number);
            if fault.is_none() && code == 0 && left > 0 && matches!(worker.stage.get(), FetchStage::Pieces) {
                fault = Some(Failure::Source(RANGE_ERROR, "The server sends less than was requested".into()));
            }
        }
        if self.whole.plan.borrow().is_some() {
            self.add_named_sources();
        }
        match fault {
            Some(Failure::Fatal(code, why)) => Err((code, why)),
            Some(Failure::Reassigned) => Ok(()),
            Some(Failure::InOnePiece) => {
                self.in_one_piece = true;
                self.whole.begin_in_one_piece().map_err(fatal)
            }
            Some(Failure::Source(fault_code, why)) => {
                let passing = fault_code == HTTP_ERROR && matches!(status, 408 | 429 | 500 | 502 | 503 | 504);
                self.handle_failure(&worker, fault_code, why, !passing)
            }
            None if code == 0 => {
                if let FetchStage::All(_) = worker.stage.get() {
                    self.in_one_piece = true;
                    self.last = (0, String::new());
                }
                Ok(())
            }
            // Such a download cannot be resumed.
            None if matches!(worker.stage.get(), FetchStage::All(_)) => Err((code, text)),
            None => self.handle_failure(&worker, code, text, code == HTTP_ERROR && status != 503),
        }
    }

    /// Handles the failure of a source, which rests or is dropped.
    fn handle_failure(&mut self, worker: &Worker, code: i32, why: String, for_good: bool) -> End {
        let mut sources = self.whole.sources.borrow_mut();
        let source = &mut sources[worker.source.get()];
        source.failures += 1;
        source.not_before = Some(Instant::now() + FIRST_PAUSE * (1 << source.failures.min(6)));
        let url = shown(&without_login(&source.url));
        let known = source.dropped;
        if for_good || source.failures >= MOST_FAILURES {
            source.dropped = true;
            source.not_before = None;
        }
        let (dropped, several) = (source.dropped && !known, sources.len() > 1);
        drop(sources);
        if dropped && several {
            self.host.warn(&format!("Drops {url}: {why}"));
        }
        // The failure of the user's own URL is reported rather than that of mirrors.
        if worker.source.get() == 0 || self.whole.sources.borrow()[0].failures == 0 {
            self.last = (code, why);
        }
        Ok(())
    }

    /// Adds sources named in a reply; after a protected one only protected ones, or any with a sum.
    fn add_named_sources(&mut self) {
        let mut named = std::mem::take(&mut *self.whole.named.borrow_mut());
        named.sort_by_key(|(priority, _)| *priority);
        let protected = self.wanted.url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"https://"));
        let mut sources = self.whole.sources.borrow_mut();
        for (_, url) in named {
            let safe = url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"https://"));
            let allowed = may_be_named(&url) && (safe || !protected || self.wanted.has_own_sum);
            if allowed && sources.len() < sources::MOST && sources.iter().all(|source| source.url != url) {
                sources.push(Source { url, ..Source::default() });
            }
        }
    }

    /// Writes the journal and the display, and looks for stalled connections and slow sources.
    fn check_progress(&mut self) -> End {
        let now = Instant::now();
        self.show();
        if now - self.journal_at >= JOURNAL_PAUSE {
            self.journal_at = now;
            self.write_journal()?;
        }
        for connection in self.connections.iter_mut().filter(|connection| connection.running) {
            let quiet = now.saturating_duration_since(connection.worker.moved_at.get());
            if quiet >= STALLED && self.whole.plan.borrow().is_some() {
                // As if it had failed: the piece is requested again.
                connection.stop(self.host.multi());
                let mut sources = self.whole.sources.borrow_mut();
                let source = &mut sources[connection.worker.source.get()];
                source.failures += 1;
                source.dropped |= source.failures >= MOST_FAILURES;
                self.last = (TIMED_OUT, "A connection has been silent for too long".into());
            }
        }
        let since = now - self.look_at;
        if since >= LOOK_PAUSE {
            self.look_at = now;
            self.compare_sources();
        }
        Ok(())
    }

    fn compare_sources(&mut self) {
        let mut sources = self.whole.sources.borrow_mut();
        let total: u64 = sources.iter().map(|source| source.recent).sum();
        let fastest = sources.iter().map(|source| source.recent).max().unwrap_or(0);
        for (at, source) in sources.iter_mut().enumerate() {
            let works = self.connections.iter().any(|one| {
                one.running
                    && one.worker.source.get() == at
                    && one.worker.moved_at.get() < self.look_at - LOOK_PAUSE
            });
            if works && source.recent * SLOW < fastest && !source.dropped {
                source.dropped = true;
                self.host.warn(&format!("Drops {}: it is too slow", shown(&without_login(&source.url))));
            }
            source.recent = 0;
        }
        let slow: Vec<usize> = (0..sources.len()).filter(|at| sources[*at].dropped).collect();
        drop(sources);
        for connection in self.connections.iter_mut().filter(|one| one.running) {
            if slow.contains(&connection.worker.source.get()) {
                connection.stop(self.host.multi());
            }
        }
        if self.wanted.connections.is_none() {
            self.growth.record(total);
        }
    }

    fn show(&self) {
        let plan = self.whole.plan.borrow();
        let Some(plan) = plan.as_ref() else { return };
        let there = plan.done().total().saturating_sub(self.resumed);
        let all = plan.size().saturating_sub(self.resumed);
        self.host.show(there, all);
    }

    /// Writes the journal with the bytes written so far.
    fn write_journal(&mut self) -> End {
        let (Some(plan), Some(marks)) = (&*self.whole.plan.borrow(), &*self.whole.marks.borrow()) else {
            return Ok(());
        };
        let there = plan.done().total();
        if there == self.journaled {
            return Ok(());
        }
        let journal = Journal::new(&self.wanted.url, plan.size(), marks.clone(), plan.done().clone());
        self.whole.part.write_journal(&journal).map_err(|why| (WRITE_ERROR, why))?;
        self.journaled = there;
        Ok(())
    }

    /// Leaves the part for a later run, if it can be resumed.
    pub fn leave(&mut self, code: i32) {
        let pieces = self.whole.plan.borrow().is_some();
        if pieces {
            // If that fails, the journal lists fewer bytes, and stays true.
            let _ = self.write_journal();
            // After that one the user has to decide.
            if code != RANGE_ERROR {
                let (there, part) = (self.journaled, self.whole.part.name());
                self.host.note(&format!("{there} bytes are kept in {part}; run the same command to resume"));
            }
        } else if self.is_new || self.whole.begun.get() {
            self.whole.part.remove();
        }
    }

    /// Returns the time of the file, in seconds since 1970, if a server has sent one.
    pub fn file_time(&self) -> Option<i64> {
        let times = self.connections.iter().map(|one| one.prepared.easy.info(|info| info.file_time()));
        times.max().filter(|time| *time >= 0)
    }

    /// Returns the bytes that this run has fetched, if it fetched pieces.
    pub fn received(&self) -> Option<u64> {
        self.whole.plan.borrow().as_ref().map(|plan| plan.done().total().saturating_sub(self.resumed))
    }

    /// Returns the first connection's handle, which represents all.
    pub fn first(&self) -> Option<&Easy> {
        self.connections.first().map(|first| &first.prepared.easy)
    }

    /// Closes all connections.
    pub fn close(self) {
        self.connections.into_iter().for_each(|connection| connection.close(self.host));
    }

    /// Verifies the file. Before that, the journal is written unless the part is worthless.
    fn compare(&mut self) -> End {
        let Some(mut check) = Check::new(self.whole.sums.borrow().clone(), false) else { return Ok(()) };
        let compared = self.whole.part.reader().and_then(|mut file| check.restart_behind(&mut file));
        compared.map_err(|error| fatal(disk(&error)))?;
        check.compare_sums().map_err(|why| {
            self.whole.plan.take();
            self.whole.begun.set(true);
            (RECV_ERROR, why)
        })
    }
}

impl<H> Connection<H> {
    /// Ends the request. Its piece may be assigned again.
    fn stop(&mut self, multi: &Multi) {
        self.running = false;
        multi.remove(&self.prepared.easy);
        if let Some(plan) = self.worker.whole.plan.borrow_mut().as_mut() {
            plan.release(self.worker.number);
        }
    }

    fn close(self, host: &impl Host<Handle = H>) {
        self.worker.easy.take();
        self.prepared.easy.close();
        host.released(self.prepared.handle);
    }
}

/// Returns the text of an error.
fn message(easy: &Easy, code: i32) -> String {
    let text = easy.message();
    if text.is_empty() { Code::text_of(code).to_string() } else { text }
}

fn fatal(fault: Failure) -> (i32, String) {
    match fault {
        Failure::Fatal(code, why) | Failure::Source(code, why) => (code, why),
        Failure::Reassigned | Failure::InOnePiece => (RECV_ERROR, String::new()),
    }
}
