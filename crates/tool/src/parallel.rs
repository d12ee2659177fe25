//! `--parallel`: many transfers at a time on one multi handle.

use crate::operate::{After, Job, Run, is_fatal};
use crate::prepare::Stop;
use crate::progress::{PARALLEL_HEAD, Totals, named_bar, parallel_line};
use crate::queue::Queue;
use crate::segments;
use std::time::{Duration, Instant};

/// How often the meter is renewed.
const METER_PAUSE: Duration = Duration::from_millis(500);
const BARS_PAUSE: Duration = Duration::from_millis(100);

/// More would not fit on most terminals.
const MOST_BARS: usize = 16;

struct Parallel<'r> {
    run: &'r Run,
    live: Vec<Job>,
    /// Waiting for another attempt.
    later: Vec<(Instant, Job)>,
    meter: Meter,
    result: i32,
    /// No more is to be started.
    ending: bool,
    /// The queue has no more.
    drained: bool,
    performed: bool,
}

#[derive(Default)]
struct Meter {
    shown_at: Option<Instant>,
    head_shown: bool,
    /// Moved by transfers that have ended.
    done: Totals,
    transfers: usize,
    /// Lines drawn for bars, to go up over.
    lines: usize,
    /// Bars of transfers that have ended since then.
    ended: Vec<String>,
    previous: Option<(Instant, i64)>,
}

pub fn run(run: &Run, queue: &mut Queue) -> i32 {
    let mut all = Parallel {
        run,
        live: Vec::new(),
        later: Vec::new(),
        meter: Meter::default(),
        result: 0,
        ending: false,
        drained: false,
        performed: false,
    };
    let started = Instant::now();
    all.fill(queue);
    while all.goes_on() {
        run.multi.perform();
        all.collect();
        all.fill(queue);
        all.show(started, false);
        if !all.goes_on() {
            break; // nobody would end a wait
        }
        let pause = if all.run.multi.has_messages() { Duration::ZERO } else { all.pause() };
        if run.wait(&all.live, pause).is_err() {
            return crate::raw::Code::UnrecoverablePoll.id();
        }
    }
    if !all.performed && all.result == 0 {
        run.env.error("no transfer performed");
        return 26;
    }
    all.show(started, true);
    all.result
}

impl Parallel<'_> {
    fn goes_on(&self) -> bool {
        !self.live.is_empty() || !self.later.is_empty()
    }

    fn pause(&self) -> Duration {
        let next = self.later.iter().map(|(at, _)| at.saturating_duration_since(Instant::now())).min();
        next.unwrap_or(Duration::from_secs(1)).min(self.meter_pause())
    }

    fn meter_pause(&self) -> Duration {
        if self.shows_bars() { BARS_PAUSE } else { METER_PAUSE }
    }

    /// Starts as many as may run.
    fn fill(&mut self, queue: &mut Queue) {
        let now = Instant::now();
        let due: Vec<usize> = (0..self.later.len()).rev().filter(|at| self.later[*at].0 <= now).collect();
        for at in due {
            let (_, job) = self.later.swap_remove(at);
            self.start(job);
        }
        while !self.ending && !self.drained && self.live.len() < self.run.env.globals.parallel_max {
            match queue.next_item(&self.run.env) {
                None => self.drained = true,
                Some(Ok(item)) if segments::wanted(&item.request, &item.target).is_some() => {
                    self.run.env.error("--segments and --mirror can't be combined with --parallel");
                    self.result = 2;
                    self.end_early();
                }
                Some(item) => match item.map_err(Stop::Failed).and_then(|item| self.run.prepare(item)) {
                    Ok(prepared) => self.begin(prepared),
                    Err(Stop::LeftOut) => {}
                    Err(Stop::Failed(code)) => {
                        self.result = code;
                        self.end_early();
                    }
                },
            }
        }
    }

    fn begin(&mut self, prepared: crate::prepare::Prepared) {
        self.performed = true;
        if prepared.skip {
            self.run.end(&prepared.transfer, &prepared.easy, 0, true);
            return;
        }
        self.meter.transfers += 1;
        self.start(Job::new(prepared));
    }

    fn start(&mut self, job: Job) {
        job.begin();
        self.run.multi.add(&job.easy);
        self.live.push(job);
    }

    /// Takes what has ended.
    fn collect(&mut self) {
        while let Some((message, _)) = self.run.multi.next_message() {
            self.run.multi.remove(&message.easy);
            let same = |job: &Job| std::ptr::eq(job.easy.state(), message.easy.state());
            let Some(at) = self.live.iter().position(same) else { continue };
            let mut job = self.live.swap_remove(at);
            let aborted = job.transfer.abort.get();
            self.take_bars_away();
            match self.run.after(&mut job, message.code.id()) {
                After::Again(pause) if !self.ending => self.later.push((Instant::now() + pause, job)),
                After::Again(_) => {}
                After::Over(code) => {
                    if self.shows_bars() {
                        let line = self.bar(&job, Some(code));
                        self.meter.ended.push(line);
                    }
                    self.meter.done.counts = self.meter.done.counts.plus(job.transfer.counts.get());
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

    /// A failure that ends everything: those still running are told to stop.
    fn end_early(&mut self) {
        self.ending = true;
        self.later.clear();
        for job in self.live.drain(..) {
            job.transfer.abort.set(true);
            job.transfer.told.set(true);
            self.run.multi.remove(&job.easy);
            self.run.env.error_line("curl: (42) Transfer aborted due to critical error in another transfer");
            self.run.end(&job.transfer, &job.easy, 42, false);
        }
    }

    fn show(&mut self, started: Instant, end: bool) {
        let globals = &self.run.env.globals;
        if globals.no_progress || globals.silent || self.run.env.shows_body.get() {
            return;
        }
        let now = Instant::now();
        let pause = self.meter_pause();
        let due = self.meter.shown_at.is_none_or(|at| now - at >= pause);
        if !due && !end {
            return;
        }
        self.meter.shown_at = Some(now);
        let text = if self.shows_bars() { self.bars() } else { self.line(started, end) };
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

    /// A line for each transfer under way; the cursor goes up over those of the last time. What has ended since then
    /// is written above them and stays.
    fn bars(&mut self) -> String {
        let mut out = match self.meter.lines {
            0 => "\r\x1b[J".to_string(),
            lines => format!("\r\x1b[{lines}A\x1b[J"),
        };
        for line in self.meter.ended.drain(..) {
            out.push_str(&line);
        }
        for job in self.live.iter().take(MOST_BARS) {
            out.push_str(&self.bar(job, None));
        }
        self.meter.lines = self.live.len().min(MOST_BARS);
        if self.live.len() > MOST_BARS {
            out.push_str(&format!("and {} more\n", self.live.len() - MOST_BARS));
            self.meter.lines += 1;
        }
        out
    }

    /// Before something else is said.
    fn take_bars_away(&mut self) {
        let lines = std::mem::take(&mut self.meter.lines);
        if lines > 0 {
            self.run.env.messages.borrow_mut().raw(format!("\r\x1b[{lines}A\x1b[J").as_bytes());
        }
    }

    fn bar(&self, job: &Job, end: Option<i32>) -> String {
        let (columns, spent) = (self.run.env.messages.borrow().columns(), job.first_attempt.elapsed());
        let name = job.transfer.short_name();
        format!("{}\n", named_bar(&name, job.transfer.counts.get(), spent, end, columns))
    }

    fn shows_bars(&self) -> bool {
        self.run.env.globals.progress_bars && self.run.env.stderr_is_terminal
    }
}
