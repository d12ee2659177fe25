//! The polls of a watcher: starts transfers when the schedule says so, and turns their results into events.

use std::time::{Duration, Instant, SystemTime};

use tables::{Code, MultiCode};

use super::detect::{Stamp, Verdict};
use super::event::{Event, EventKind};
use super::event_stream::StreamEvent;
use super::mailbox::Report;
use super::schedule::Step;
use super::target::{Method, Outcome, Phase};
use super::{Settings, Watcher};
use crate::error::Failure;

/// Pause before a stream that has ended is opened again, unless its server names one.
const STREAM_PAUSE: Duration = Duration::from_secs(3);

impl Watcher {
    /// Runs what is due and what is ready.
    pub(super) fn run(&mut self) {
        let mut first = true;
        loop {
            let now = Instant::now();
            while let Some(step) = self.schedule.next(now) {
                self.step(step, now);
            }
            // Descriptors are polled once.
            match std::mem::take(&mut first) {
                true => self.multi.perform(),
                false => self.multi.run_ready(),
            };
            let progress = self.collect();
            self.ran_at = Instant::now();
            let due = self.schedule.wakes_at().is_some_and(|at| at <= self.ran_at);
            if !progress && !due {
                return;
            }
        }
    }

    fn step(&mut self, step: Step, now: Instant) {
        match step {
            Step::Start(at) => {
                if !self.targets[at].begin(now) {
                    self.start(at);
                }
            }
            Step::Check(at) => {
                if !self.multi.keeps(self.targets[at].connection) {
                    self.schedule.reopen(at, now);
                }
            }
            Step::Abort(at) => {
                let _ = self.multi.remove(&self.targets[at].easy);
                self.targets[at].forget_query();
                let limit = self.schedule.pace().deadline;
                let message = format!("no answer within {} ms", limit.as_millis());
                self.fail(at, Failure { code: Code::OperationTimedout, message }, None);
            }
        }
    }

    fn start(&mut self, at: usize) {
        if self.multi.add(&self.targets[at].easy) != MultiCode::Ok {
            let message = "the transfer was not begun".to_owned();
            self.fail(at, Failure { code: Code::FailedInit, message }, None);
        }
    }

    /// Processes what has arrived on streams, and the transfers that have ended.
    fn collect(&mut self) -> bool {
        let mut progress = false;
        let news = self.news.take();
        for at in news {
            self.read_stream(at);
        }
        let answered = self.answered.take();
        for at in answered {
            progress = true;
            if let Some(outcome) = self.targets[at].answer() {
                self.see(at, outcome);
            }
        }
        while let Some((message, _)) = self.multi.next_message() {
            progress = true;
            let _ = self.multi.remove(&message.easy);
            self.ended(message.easy.state().tag.get(), message.code);
        }
        progress
    }

    /// A transfer has ended.
    fn ended(&mut self, at: usize, code: Code) {
        let target = &mut self.targets[at];
        let (repeats, fetch_follows) = (target.repeats, target.fetch_follows);
        target.forget_query();
        if fetch_follows && code == Code::Ok {
            return self.fetch(at);
        }
        if repeats && target.phase == Phase::Rest {
            // The server has closed the connection between two polls.
            return self.schedule.lost(at, Instant::now());
        }
        if repeats {
            // It did so at the beginning of this one, or wants one command at a time.
            target.prepare_first(Instant::now());
            return self.start(at);
        }
        let outcome = target.outcome(code);
        match target.reception.is_stream() {
            true => self.end_stream(at, outcome),
            false => self.see(at, outcome),
        }
    }

    /// Judges what the poll of a URL has found.
    fn see(&mut self, at: usize, outcome: Outcome) {
        let fetches = self.settings.keeps_contents;
        let target = &mut self.targets[at];
        let times = [target.begun, Instant::now()];
        let found = match outcome {
            Outcome::Failed(failure, pause) => return self.fail(at, failure, pause),
            Outcome::Absent => target.detector.see_absence(),
            Outcome::NotModified => None,
            Outcome::Stamp(stamp) => {
                if stamp.is_empty() {
                    // The server names neither time nor size.
                    target.method = Method::Content;
                    return self.end_query(at, Stamp::default());
                }
                match target.detector.see_stamp(&stamp, fetches, times) {
                    Verdict::Same => None,
                    Verdict::Fetch => return self.end_query(at, stamp),
                    Verdict::Report(kind) => {
                        target.seen = stamp;
                        Some(kind)
                    }
                }
            }
            Outcome::Content(stamp, hash) => {
                target.seen = stamp.clone();
                target.detector.see_content(stamp, hash, times)
            }
        };
        self.answer(at, times[1], found);
    }

    /// Goes on with the content, in the same poll, as soon as the connection is free.
    fn end_query(&mut self, at: usize, seen: Stamp) {
        self.targets[at].seen = seen;
        if !self.targets[at].end_query() {
            self.fetch(at);
        }
    }

    fn fetch(&mut self, at: usize) {
        self.targets[at].begin_fetch();
        self.start(at);
    }

    /// Ends a poll that was answered.
    fn answer(&mut self, at: usize, now: Instant, found: Option<EventKind>) {
        let opened = self.targets[at].opened;
        let lasts = self.targets[at].lasts();
        let latency = self.schedule.answered(at, now, opened, lasts);
        self.recover(at, now);
        let Settings { keeps_contents, .. } = self.settings;
        let target = &mut self.targets[at];
        target.latencies.add(latency);
        let fetched = std::mem::replace(&mut target.phase, Phase::Rest) == Phase::Fetch;
        let Some(kind) = found else { return };
        target.changed_at = Some(now);
        let exists = target.detector.is_present() == Some(true);
        let stamp = if exists { target.seen.clone() } else { Stamp::default() };
        let body = (keeps_contents && fetched && exists).then(|| target.reception.take());
        self.report(Event { latency, stamp, body, ..event(at, kind) });
    }

    /// Ends a poll or a stream that failed.
    fn fail(&mut self, at: usize, failure: Failure, pause: Option<Duration>) {
        let now = Instant::now();
        self.schedule.failed(at, now, pause);
        let target = &mut self.targets[at];
        target.phase = Phase::Rest;
        let latency = now.saturating_duration_since(target.begun);
        let reported = Failure { code: failure.code, message: failure.message.clone() };
        if target.failure.replace(failure).is_none() {
            self.report(Event { latency, failure: Some(reported), ..event(at, EventKind::Failed) });
        }
    }

    /// Records an answer, which ends a series of failures.
    fn recover(&mut self, at: usize, now: Instant) {
        self.targets[at].answered_at = Some(now);
        if self.targets[at].failure.take().is_some() {
            self.report(event(at, EventKind::Recovered));
        }
    }

    fn report(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Reads what has arrived on a stream.
    fn read_stream(&mut self, at: usize) {
        let target = &mut self.targets[at];
        if !target.reception.is_stream() {
            return;
        }
        let piece = target.reception.take();
        if target.method == Method::Mailbox {
            return self.read_mailbox(at, &piece);
        }
        if !self.schedule.is_streaming(at) {
            self.begin_stream(at, None);
        }
        let mut events = Vec::new();
        let read = self.targets[at].events.read(&piece, |event| events.push(event));
        events.into_iter().for_each(|event| self.message(at, event));
        if read.is_err() {
            let _ = self.multi.remove(&self.targets[at].easy);
            let message = "an event of the stream is too long".to_owned();
            self.fail(at, Failure { code: Code::FilesizeExceeded, message }, Some(STREAM_PAUSE));
        }
    }

    fn read_mailbox(&mut self, at: usize, piece: &[u8]) {
        let mut reports = Vec::new();
        self.targets[at].mailbox.read(piece, |report| reports.push(report));
        for report in reports {
            match report {
                Report::Watching { changed } => self.begin_stream(at, changed),
                Report::Change(line) => self.message(at, mailbox_event(line)),
            }
        }
    }

    /// A stream has begun. `changed` says what happened since the last one, if there was one.
    fn begin_stream(&mut self, at: usize, changed: Option<bool>) {
        let now = Instant::now();
        self.schedule.streams(at, now);
        self.recover(at, now);
        let target = &mut self.targets[at];
        let latency = now.saturating_duration_since(target.begun);
        if target.detector.see_content(Stamp::default(), 0, [target.begun, now]).is_some() {
            self.report(Event { latency, ..event(at, EventKind::First) });
        }
        if changed == Some(true) {
            let line = self.targets[at].mailbox.exists().map(|exists| format!("* {exists} EXISTS"));
            self.message(at, mailbox_event(line.unwrap_or_default()));
        }
    }

    fn message(&mut self, at: usize, message: StreamEvent) {
        let now = Instant::now();
        (self.targets[at].changed_at, self.targets[at].answered_at) = (Some(now), Some(now));
        self.report(Event { message: Some(message), ..event(at, EventKind::Message) });
    }

    /// A stream has ended. A server may end one at any time; the next connection continues it.
    fn end_stream(&mut self, at: usize, outcome: Outcome) {
        self.read_stream(at);
        let target = &mut self.targets[at];
        target.events.restart();
        let named = target.events.retry_ms().map(Duration::from_millis);
        let pause = named.unwrap_or(STREAM_PAUSE).min(Duration::from_secs(3600));
        match outcome {
            Outcome::Failed(failure, named) => self.fail(at, failure, named),
            _ => {
                target.phase = Phase::Rest;
                self.schedule.failed(at, Instant::now(), Some(pause));
            }
        }
    }
}

/// Returns an event with the time and nothing else.
fn event(index: usize, kind: EventKind) -> Event {
    let (latency, stamp) = (Duration::ZERO, Stamp::default());
    Event { index, kind, time: SystemTime::now(), latency, stamp, body: None, message: None, failure: None }
}

/// Returns the report of a mailbox as an event.
fn mailbox_event(line: String) -> StreamEvent {
    StreamEvent { kind: "mailbox".to_owned(), data: line, id: String::new() }
}
