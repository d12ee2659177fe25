//! The connections of one file: assignment of pieces to sources, handling of failures, and the end.

use super::foreign::{may_be_named, stripped};
use super::journal::Journal;
use super::part::Part;
use super::plan::{Growth, PROBE, Plan};
use super::worker::{Failure, FetchStage, SharedDownload, Source, Worker, disk};
use super::{conflict, sources, wanted};
use crate::bytes::Bytes;
use crate::checksum::Check;
use crate::message::shown;
use crate::outcome::message;
use crate::prepare::{Prepared, Stop, prepare};
use crate::queue::Item;
use crate::raw::{Easy, EasyOption as O, LockData, Share};
use crate::request::{Clobber, Request, Segments};
use crate::retry::deadline;
use crate::run::Run;
use crate::sink::set_time;
use crate::transfer::Transfer;
use crate::url::{parse_url, without_login};
use std::rc::Rc;
use std::time::{Duration, Instant};

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

/// CURLE numbers.
const FAILED_INIT: i32 = 2;
const HTTP_ERROR: i32 = 22;
const WRITE_ERROR: i32 = 23;
const TIMED_OUT: i32 = 28;
const RANGE_ERROR: i32 = 33;
const RECV_ERROR: i32 = 56;

/// CURLHSTS_ENABLE and CURLHSTS_READONLYFILE
const HSTS_READ_ONLY: i64 = 3;

struct Connection {
    worker: Rc<Worker>,
    /// Headers of every request.
    headers: Vec<Bytes>,
    transfer: Rc<Transfer>,
    easy: Easy,
    running: bool,
}

struct Fetch<'r> {
    run: &'r Run,
    item: Item,
    segments: Segments,
    whole: Rc<SharedDownload>,
    /// The transfer with the display and the name of the output; it sends no request itself.
    main: Rc<Transfer>,
    /// For places that the user has not chosen: without his cookies.
    share_without_cookies: Share,
    connections: Vec<Connection>,
    growth: Growth,
    /// It is fetched in one piece.
    in_one_piece: bool,
    /// The last failure.
    last: (i32, String),
    began: Instant,
    journal_at: Instant,
    look_at: Instant,
    told: u64,
    resumed: u64,
    is_new: bool, // No earlier run has left a part.
}

/// The result; a failure has a text.
type End = Result<(), (i32, String)>;

/// Fetches one file; the exit code.
pub fn run(run: &Run, item: Item) -> Result<i32, Stop> {
    let refuse = |why: String| {
        run.env.error(&why);
        Err(Stop::Failed(FAILED_INIT))
    };
    let segments = wanted(&item.request, &item.target).unwrap_or(Segments::Auto);
    let first = prepare(&run.env, &run.share, item.clone(), false, &mut None)?;
    if first.skip {
        run.count_skipped();
        return Ok(run.end(&first.transfer, &first.easy, 0, true));
    }
    let flag = if item.request.segments.is_none() { "--mirror" } else { "--segments" };
    let scheme = parse_url(&item.url).ok().and_then(|url| url.scheme()).unwrap_or_else(|| "http".into());
    if let Some(what) = conflict(&item.request, &item.target, &scheme) {
        return refuse(format!("{flag} can't be combined with {what}"));
    }
    let Some(name) = first.transfer.out.borrow().name.clone() else {
        return refuse(format!("{flag} needs a file to write to, see --output"));
    };
    let keeps = {
        let out = first.transfer.out.borrow();
        out.named_by_server && out.clobber != Clobber::Always
    };
    let (part, journal) = match Part::open(&name, keeps) {
        Ok(opened) => opened,
        Err(why) => {
            run.env.error_line(&format!("curl: ({WRITE_ERROR}) {why}"));
            run.count_ended(&first.transfer, &first.easy, WRITE_ERROR, None);
            return Ok(run.end(&first.transfer, &first.easy, WRITE_ERROR, true));
        }
    };
    let main_easy = first.easy.clone();
    let mut fetch = Fetch::new(run, item, segments, part, first);
    let end = fetch.go_on_from(journal).and_then(|()| fetch.fetch());
    Ok(fetch.end(end, &main_easy))
}

impl<'r> Fetch<'r> {
    fn new(run: &'r Run, item: Item, segments: Segments, part: Part, first: Prepared) -> Fetch<'r> {
        let mirrors = item.target.mirrors.iter().chain(&item.request.mirrors);
        let urls = std::iter::once(&item.url).chain(mirrors).take(sources::MOST);
        let source = |url: &Bytes| Source { url: url.clone(), ..Source::default() };
        let share_without_cookies = Share::default();
        share_without_cookies.set_kind(LockData::Hsts, item.request.options.text(O::Hsts).is_some());
        let whole = SharedDownload {
            url: item.url.clone(),
            part,
            plan: Default::default(),
            marks: Default::default(),
            sources: urls.map(source).collect::<Vec<_>>().into(),
            begun: Default::default(),
            sums: first.sums.into(),
            named: Default::default(),
        };
        let now = Instant::now();
        Fetch {
            run,
            item,
            segments,
            whole: Rc::new(whole),
            main: first.transfer,
            share_without_cookies,
            connections: Vec::new(),
            growth: Growth::default(),
            in_one_piece: false,
            last: (RECV_ERROR, "no source has answered".into()),
            began: now,
            journal_at: now,
            look_at: now,
            told: 0,
            resumed: 0,
            is_new: false,
        }
    }

    fn adopt(&mut self, number: usize, source: usize, prepared: Prepared) {
        let worker = Rc::new(Worker::new(number, self.whole.clone()));
        worker.source.set(source);
        prepared.transfer.divert.replace(Some(worker.clone()));
        let given = self.item.request.options.long(O::HttpVersion).is_some();
        let rate = self.item.request.options.long(O::MaxRecvSpeedLarge).unwrap_or(0);
        for (option, value) in [
            // Streams of one connection would share the rate of one connection.
            (O::HttpVersion, if given { None } else { Some(2) }),
            (O::PipeWait, Some(0)),
            (O::TimeoutMs, Some(0)),
            (O::FileTime, Some(1)),
            (O::MaxRecvSpeedLarge, (rate > 0).then(|| (rate / self.most() as i64).max(1))),
        ] {
            let Some(value) = value else { continue };
            let set = prepared.easy.set(option, value);
            debug_assert!(set.is_ok(), "each is in range");
        }
        let headers = prepared.headers;
        let connection =
            Connection { headers, worker, transfer: prepared.transfer, easy: prepared.easy, running: false };
        match self.connections.get_mut(number) {
            Some(old) => {
                old.easy.close();
                *old = connection;
            }
            None => self.connections.push(connection),
        }
    }

    fn most(&self) -> usize {
        match self.segments {
            Segments::Auto => self.growth.connections(),
            Segments::Count(count) => count,
        }
    }

    /// Continues the part of an earlier run.
    fn go_on_from(&mut self, journal: Option<Journal>) -> End {
        let Some(journal) = journal else {
            self.is_new = true;
            return Ok(());
        };
        let part = self.whole.part.name();
        if journal.size == 0 {
            return Ok(()); // it was fetched in one piece
        }
        if !journal.is_of(&self.item.url) {
            let why = format!("{part} is of another URL, {}; remove it to start over", shown(&journal.place));
            return Err((WRITE_ERROR, why));
        }
        if !journal.marks.bind() && self.whole.sums.borrow().is_empty() {
            return Ok(());
        }
        let (there, size) = (journal.done.total(), journal.size);
        if there > 0 {
            self.say(&format!("Resumes {part}: {there} of {size} bytes are complete"));
        }
        self.resumed = there;
        self.whole.sources.borrow_mut()[0].marks = Some(journal.marks.clone());
        self.whole.marks.replace(Some(journal.marks));
        self.whole.plan.replace(Some(Plan::new(size, journal.done)));
        Ok(())
    }

    fn say(&self, text: &str) {
        let mut messages = self.run.env.messages.borrow_mut();
        if !messages.silent {
            messages.line(&format!("curl: {text}"));
        }
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
            self.run.multi.perform();
            let mut ended = false;
            while let Some((message, _)) = self.run.multi.next_message() {
                ended = true;
                self.run.multi.remove(&message.easy);
                let same = |one: &Connection| one.easy == message.easy;
                let Some(at) = self.connections.iter().position(same) else { continue };
                self.connections[at].running = false;
                self.ended(at, message.code.id())?;
            }
            self.look()?;
            let pause = if ended { Duration::ZERO } else { WAIT };
            self.run.wait(&[], pause).map_err(|error| (RECV_ERROR, error.to_string()))?;
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
        let request = &self.item.request;
        let most = request.options.long(O::TimeoutMs).filter(|millis| *millis > 0);
        let most = most.map(|millis| Duration::from_millis(millis as u64));
        let spent = self.began.elapsed();
        match most.into_iter().chain(deadline(request)).min() {
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
        let fits = |one: &Connection| one.worker.source.get() == source;
        if !self.connections.get(number).is_some_and(fits) {
            let item = self.item_of(source);
            let foreign = self.is_foreign(source);
            let share = if foreign { &self.share_without_cookies } else { &self.run.share };
            let prepared = prepare(&self.run.env, share, item, true, &mut None)
                .map_err(|_| (FAILED_INIT, "a source can't be prepared".to_owned()))?;
            if foreign {
                // The user's own connection writes the file.
                let set = prepared.easy.set(O::HstsCtrl, HSTS_READ_ONLY);
                debug_assert!(set.is_ok(), "these bits are known");
            }
            self.adopt(number, source, prepared);
        }
        let connection = &mut self.connections[number];
        connection.transfer.before_piece();
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
        let mut headers = connection.headers.clone();
        if let Some(validator) = validator.filter(|_| !probe && range.is_some()) {
            headers.push([b"If-Range: ".as_slice(), &validator].concat());
        }
        let easy = &connection.easy;
        let set = easy
            .set(O::Range, range.map(String::into_bytes))
            .and_then(|()| easy.set(O::HttpHeader, headers))
            .and_then(|()| easy.set(O::NoBody, describes));
        debug_assert!(set.is_ok(), "any text is one");
        connection.running = true;
        self.run.multi.add(&connection.easy);
        Ok(())
    }

    /// Whether the user has not chosen this source: it is not the URL of the command line.
    fn is_foreign(&self, source: usize) -> bool {
        source > 0 || self.item.target.url_by_document
    }

    /// Returns the request for a source. Nothing that identifies the user is sent to a foreign one.
    fn item_of(&self, source: usize) -> Item {
        let mut item = Item { first: false, ..self.item.clone() };
        item.target.sums.clear();
        item.url = self.whole.sources.borrow()[source].url.clone();
        item.request = Rc::new(match self.is_foreign(source) {
            true => stripped(&item.request),
            false => Request { checksum_files: Vec::new(), ..(*item.request).clone() },
        });
        item
    }

    /// A request has ended.
    fn ended(&mut self, at: usize, code: i32) -> End {
        let connection = &self.connections[at];
        let (worker, transfer) = (connection.worker.clone(), connection.transfer.clone());
        let mut fault = worker.fault.take();
        let unanswered = matches!(worker.stage.get(), FetchStage::Asked { .. } | FetchStage::AskedForAll);
        if code == 0 && fault.is_none() && unanswered {
            fault = worker.judge(&transfer).err();
        }
        let text = message(&connection.easy, code);
        let status = connection.easy.info(|info| info.response_code());
        self.run.report(&transfer, &connection.easy, code);
        if let Some(plan) = self.whole.plan.borrow_mut().as_mut() {
            let left = plan.room(worker.number).len();
            plan.release(worker.number);
            if fault.is_none() && code == 0 && left > 0 && matches!(worker.stage.get(), FetchStage::Pieces) {
                fault = Some(Failure::Source(RANGE_ERROR, "The server sends less than was requested".into()));
            }
        }
        if self.whole.plan.borrow().is_some() {
            self.hear_of_sources();
        }
        match fault {
            Some(Failure::Fatal(code, why)) => Err((code, why)),
            Some(Failure::GivenAway) => Ok(()),
            Some(Failure::InOnePiece) => {
                self.in_one_piece = true;
                self.whole.begin_in_one_piece().map_err(fatal)
            }
            Some(Failure::Source(fault_code, why)) => {
                let passing = fault_code == HTTP_ERROR && matches!(status, 408 | 429 | 500 | 502 | 503 | 504);
                self.failed(&worker, fault_code, why, !passing)
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
            None => self.failed(&worker, code, text, code == HTTP_ERROR && status != 503),
        }
    }

    /// A source has failed; it rests, or is dropped.
    fn failed(&mut self, worker: &Worker, code: i32, why: String, for_good: bool) -> End {
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
            self.run.env.warn(&format!("Drops {url}: {why}"));
        }
        // The failure of the user's own URL is reported rather than that of mirrors.
        if worker.source.get() == 0 || self.whole.sources.borrow()[0].failures == 0 {
            self.last = (code, why);
        }
        Ok(())
    }

    /// Adds sources named in a reply; after a protected one only protected ones, or any with a sum.
    fn hear_of_sources(&mut self) {
        let mut named = std::mem::take(&mut *self.whole.named.borrow_mut());
        named.sort_by_key(|(priority, _)| *priority);
        let protected = self.item.url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"https://"));
        let known_sum = !self.item.target.sums.is_empty() || !self.item.request.checksum_files.is_empty();
        let mut sources = self.whole.sources.borrow_mut();
        for (_, url) in named {
            let safe = url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"https://"));
            let allowed = may_be_named(&url) && (safe || !protected || known_sum);
            if allowed && sources.len() < sources::MOST && sources.iter().all(|source| source.url != url) {
                sources.push(Source { url, ..Source::default() });
            }
        }
    }

    /// From time to time: the journal, the display, stalled connections, slow sources.
    fn look(&mut self) -> End {
        let now = Instant::now();
        self.show();
        if now - self.journal_at >= JOURNAL_PAUSE {
            self.journal_at = now;
            self.tell()?;
        }
        for connection in self.connections.iter_mut().filter(|connection| connection.running) {
            let quiet = now.saturating_duration_since(connection.worker.moved_at.get());
            if quiet >= STALLED && self.whole.plan.borrow().is_some() {
                // As if it had failed: the piece is taken back and requested again.
                connection.running = false;
                self.run.multi.remove(&connection.easy);
                if let Some(plan) = self.whole.plan.borrow_mut().as_mut() {
                    plan.release(connection.worker.number);
                }
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
                self.run.env.warn(&format!("Drops {}: it is too slow", shown(&without_login(&source.url))));
            }
            source.recent = 0;
        }
        let slow: Vec<usize> = (0..sources.len()).filter(|at| sources[*at].dropped).collect();
        drop(sources);
        for connection in self.connections.iter_mut().filter(|one| one.running) {
            if slow.contains(&connection.worker.source.get()) {
                connection.running = false;
                self.run.multi.remove(&connection.easy);
                if let Some(plan) = self.whole.plan.borrow_mut().as_mut() {
                    plan.release(connection.worker.number);
                }
            }
        }
        if self.segments == Segments::Auto {
            self.growth.came(total);
        }
    }

    fn show(&self) {
        let plan = self.whole.plan.borrow();
        let Some(plan) = plan.as_ref() else { return };
        let there = plan.done().total().saturating_sub(self.resumed);
        let all = plan.size().saturating_sub(self.resumed);
        self.main.show_whole(there as i64, all as i64);
    }

    /// Writes the journal with the bytes written so far.
    fn tell(&mut self) -> End {
        let (Some(plan), Some(marks)) = (&*self.whole.plan.borrow(), &*self.whole.marks.borrow()) else {
            return Ok(());
        };
        let there = plan.done().total();
        if there == self.told {
            return Ok(());
        }
        let journal = Journal::new(&self.item.url, plan.size(), marks.clone(), plan.done().clone());
        self.whole.part.tell(&journal).map_err(|why| (WRITE_ERROR, why))?;
        self.told = there;
        Ok(())
    }

    /// Ends the download: verifies the file and renames it, or leaves the part for a later run.
    fn end(mut self, end: End, main: &Easy) -> i32 {
        for connection in self.connections.iter_mut().filter(|one| one.running) {
            self.run.multi.remove(&connection.easy);
        }
        self.show();
        let end = end
            .and_then(|()| self.compare())
            .and_then(|()| self.whole.part.finish().map_err(|why| (WRITE_ERROR, why)));
        let code = end.as_ref().map_or_else(|(code, _)| *code, |()| 0);
        self.main.finish_progress(code);
        if let Err((_, why)) = end {
            self.run.env.error_line(&format!("curl: ({code}) {why}"));
            self.leave(code);
            self.main.own_error.replace(Some(why));
        } else if self.item.request.remote_time {
            self.set_time();
        }
        // The first connection represents all for --write-out.
        let easy = self.connections.first().map_or(main, |first| &first.easy);
        let came = self.whole.plan.borrow().as_ref().map(|plan| plan.done().total());
        let came = came.map(|there| there.saturating_sub(self.resumed) as i64);
        self.run.count_ended(&self.main, easy, code, came);
        let code = self.run.end(&self.main, easy, code, true);
        for other in self.connections.drain(..) {
            other.easy.close();
            other.transfer.easy.borrow_mut().take();
        }
        main.close();
        code
    }

    /// Leaves the part for a later run, if it can be resumed.
    fn leave(&mut self, code: i32) {
        let pieces = self.whole.plan.borrow().is_some();
        if pieces {
            // If that fails, the journal lists fewer bytes, and stays true.
            let _ = self.tell();
            // After that one the user has to decide.
            if code != RANGE_ERROR {
                let (there, part) = (self.told, self.whole.part.name());
                self.say(&format!("{there} bytes are kept in {part}; run the same command to resume"));
            }
        } else if self.is_new || self.whole.begun.get() {
            self.whole.part.remove();
        }
    }

    fn set_time(&self) {
        let times = self.connections.iter().map(|one| one.easy.info(|info| info.file_time()));
        let name = self.main.out.borrow().name.clone();
        if let (Some(time), Some(name)) = (times.max().filter(|time| *time >= 0), name) {
            set_time(&name, time, &mut self.run.env.messages.borrow_mut());
        }
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

fn fatal(fault: Failure) -> (i32, String) {
    match fault {
        Failure::Fatal(code, why) | Failure::Source(code, why) => (code, why),
        Failure::GivenAway | Failure::InOnePiece => (RECV_ERROR, String::new()),
    }
}
