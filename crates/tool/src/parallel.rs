//! `--parallel`: many transfers at a time on one multi handle.

use crate::bars::{self, Bars, Running, Screen};

use crate::prepare::{Prepared, Stop};
use crate::progress::{End, PARALLEL_HEAD, Totals, parallel_line};
use crate::queue::{Item, Next, Source};
use crate::run::{After, Job, Run, is_fatal};
use crate::segments;
use std::time::{Duration, Instant};

/// How often the meter is renewed.
const METER_PAUSE: Duration = Duration::from_millis(500);
const BARS_PAUSE: Duration = Duration::from_millis(100);

struct Parallel<'r> {
    run: &'r Run,
    live: Vec<Job>,
    /// Waiting for another attempt.
    later: Vec<(Instant, Job)>,
    meter: Meter,
    result: i32,
    /// No more is to be started.
    ending: bool,
    /// The source has no more.
    drained: bool,
    /// When the source is asked again.
    next_at: Option<Instant>,
    performed: bool,
    /// How many transfers there will be, if that is known.
    all: Option<usize>,
}

#[derive(Default)]
struct Meter {
    shown_at: Option<Instant>,
    head_shown: bool,
    /// Moved by transfers that have ended.
    done: Totals,
    transfers: usize,
    bars: Bars,
    screen: Screen,
    previous: Option<(Instant, i64)>,
}

pub fn run(run: &Run, source: &mut dyn Source) -> i32 {
    let mut all = Parallel {
        run,
        live: Vec::new(),
        later: Vec::new(),
        meter: Meter::default(),
        result: 0,
        ending: false,
        drained: false,
        next_at: None,
        performed: false,
        all: None,
    };
    if run.env.shows_bars() {
        all.all = source.count();
    }
    let code = all.run_all(source);
    run.env.messages.borrow_mut().let_go();
    code
}

impl Parallel<'_> {
    fn run_all(&mut self, source: &mut dyn Source) -> i32 {
        let started = Instant::now();
        self.fill(source);
        while self.has_jobs() {
            self.run.multi.perform();
            self.collect(source);
            self.fill(source);
            self.show(started, false);
            if !self.has_jobs() {
                break; // nothing would end a wait
            }
            let pause = if self.run.multi.has_messages() { Duration::ZERO } else { self.pause() };
            if self.run.wait(&self.live, pause).is_err() {
                return crate::raw::Code::UnrecoverablePoll.id();
            }
        }
        if !self.performed && self.result == 0 && !source.may_be_empty() {
            self.run.env.error("no transfer performed");
            return 26;
        }
        self.show(started, true);
        self.result
    }

    fn has_jobs(&self) -> bool {
        !self.live.is_empty() || !self.later.is_empty() || self.next_at.is_some()
    }

    fn pause(&self) -> Duration {
        let times = self.later.iter().map(|(at, _)| *at).chain(self.next_at);
        let next = times.map(|at| at.saturating_duration_since(Instant::now())).min();
        next.unwrap_or(Duration::from_secs(1)).min(self.meter_pause())
    }

    fn meter_pause(&self) -> Duration {
        if self.run.env.shows_bars() { BARS_PAUSE } else { METER_PAUSE }
    }

    /// Starts as many as may run.
    fn fill(&mut self, source: &mut dyn Source) {
        let now = Instant::now();
        let due: Vec<usize> = (0..self.later.len()).rev().filter(|at| self.later[*at].0 <= now).collect();
        for at in due {
            let (_, job) = self.later.swap_remove(at);
            self.start(job);
        }
        self.next_at = None;
        while !self.ending && !self.drained && self.live.len() < self.run.env.globals.parallel_max {
            match source.next(&self.run.env) {
                Next::Drained => self.drained = true,
                Next::Later(pause) => {
                    self.next_at = pause.map(|pause| now + pause);
                    break;
                }
                Next::Item(item) if segments::wanted(&item.request, &item.target).is_some() => {
                    self.run.env.error("--segments and --mirror can't be combined with --parallel");
                    self.fail(2);
                }
                Next::Item(item) => self.prepare(source, *item),
                Next::Failed(code) => self.fail(code),
            }
        }
    }

    fn prepare(&mut self, source: &mut dyn Source, item: Item) {
        let stands_alone = item.stands_alone;
        match self.run.prepare(item) {
            Ok(prepared) => self.begin(source, prepared),
            Err(Stop::LeftOut) => {}
            Err(Stop::Failed(code)) if stands_alone => self.judge(code, false),
            Err(Stop::Failed(code)) => self.fail(code),
        }
    }

    fn fail(&mut self, code: i32) {
        self.result = code;
        self.end_early();
    }

    fn begin(&mut self, source: &mut dyn Source, prepared: Prepared) {
        self.performed = true;
        if prepared.skip {
            self.run.count_skipped();
            self.run.end(&prepared.transfer, &prepared.easy, 0, true);
            return;
        }
        source.begins(&prepared.transfer);
        self.meter.transfers += 1;
        self.start(Job { number: self.meter.transfers as u64, ..Job::new(prepared) });
    }

    fn start(&mut self, job: Job) {
        job.begin();
        self.run.multi.add(&job.easy);
        self.live.push(job);
    }

    /// Processes ended transfers.
    fn collect(&mut self, source: &mut dyn Source) {
        while let Some((message, _)) = self.run.multi.next_message() {
            self.run.multi.remove(&message.easy);
            let same = |job: &Job| job.easy == message.easy;
            let Some(at) = self.live.iter().position(same) else { continue };
            let mut job = self.live.swap_remove(at);
            let aborted = job.transfer.abort.get();
            match self.run.after(&mut job, message.code.id()) {
                After::Again(pause) if !self.ending => self.later.push((Instant::now() + pause, job)),
                After::Again(_) => {}
                After::Over(code) => {
                    self.end_bar(&job, code);
                    self.meter.done.counts = self.meter.done.counts.plus(job.transfer.counts.get());
                    let code = source.ended(&job.transfer, &job.easy, code);
                    self.judge(code, aborted);
                }
            }
        }
    }

    fn judge(&mut self, code: i32, aborted: bool) {
        if code != 0 && (!aborted || self.result == 0) {
            self.result = code;
        }
        if is_fatal(self.result) || self.result != 0 && self.run.env.globals.fail_early {
            self.end_early();
        }
    }

    /// Handles a fatal failure: stops running transfers.
    fn end_early(&mut self) {
        self.ending = true;
        self.later.clear();
        for job in std::mem::take(&mut self.live) {
            job.transfer.abort.set(true);
            job.transfer.error_reported.set(true);
            self.run.multi.remove(&job.easy);
            self.run.env.error_line("curl: (42) Transfer aborted due to critical error in another transfer");
            self.run.end(&job.transfer, &job.easy, 42, false);
            self.end_bar(&job, 42);
        }
    }

    fn show(&mut self, started: Instant, end: bool) {
        let globals = &self.run.env.globals;
        if globals.no_progress || globals.silent || self.run.env.shows_body.get() {
            // Other code writes to the terminal now.
            self.run.env.messages.borrow_mut().let_go();
            return;
        }
        let now = Instant::now();
        let pause = self.meter_pause();
        let due = self.meter.shown_at.is_none_or(|at| now - at >= pause);
        if !due && !end {
            return;
        }
        self.meter.shown_at = Some(now);
        if self.run.env.shows_bars() {
            return self.draw_bars(started, end);
        }
        let text = self.line(started, end);
        self.run.env.messages.borrow_mut().raw(text.as_bytes());
    }

    fn line(&mut self, started: Instant, end: bool) -> String {
        let mut totals = self.meter.done;
        totals.download_known = true;
        totals.upload_known = true;
        for job in &self.live {
            let counts = job.transfer.counts.get();
            totals.counts = totals.counts.plus(counts);
            totals.download_known &= counts.download_total > 0;
            totals.upload_known &= counts.upload_total > 0;
        }
        totals.transfers = self.meter.transfers;
        totals.running = self.live.len();
        let now = Instant::now();
        let moved = totals.counts.download.max(totals.counts.upload);
        let (since, before) = self.meter.previous.replace((now, moved)).unwrap_or((started, 0));
        let millis = (now - since).as_millis().max(1) as i64;
        totals.speed = (moved - before).max(0).saturating_mul(1000) / millis;
        let head = if std::mem::replace(&mut self.meter.head_shown, true) { "" } else { PARALLEL_HEAD };
        format!("{head}{}", parallel_line(totals, started.elapsed(), end))
    }

    fn draw_bars(&mut self, started: Instant, end: bool) {
        let env = &self.run.env;
        let (columns, rows) = env.screen();
        let names: Vec<String> = self.live.iter().map(|job| job.transfer.short_name()).collect();
        let running: Vec<Running> =
            self.live.iter().zip(&names).map(|(job, name)| running(job, name)).collect();
        let run = bars::Run { all: self.all, begun: self.drained, spent: started.elapsed(), end };
        let lines = self.meter.bars.lines(&running, run, columns, rows);
        let mut messages = env.messages.borrow_mut();
        messages.hold();
        let above = messages.take_held();
        let out = self.meter.screen.update(&above, lines, columns);
        messages.draw(&out);
    }

    /// Shows the outcome of a transfer that has ended in its bar.
    fn end_bar(&mut self, job: &Job, code: i32) {
        if self.run.env.shows_bars() {
            let (_, rows) = self.run.env.screen();
            let end = job.easy.info(|info| {
                let http = ["http", "https"].iter().any(|scheme| info.scheme().eq_ignore_ascii_case(scheme));
                End { code, status: if http { info.response_code() } else { 0 } }
            });
            self.meter.bars.ended(running(job, &job.transfer.short_name()), end, rows);
        }
    }
}

fn running<'n>(job: &Job, name: &'n str) -> Running<'n> {
    Running { id: job.number, name, counts: job.transfer.counts.get(), spent: job.first_attempt.elapsed() }
}
