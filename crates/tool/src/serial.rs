//! Transfers one after the other.

use crate::prepare::{Prepared, Stop};
use crate::queue::{Item, Next, Source};
use crate::raw::Code;
use crate::run::{After, Job, Run, is_fatal};
use crate::segments;
use std::time::{Duration, Instant};

/// How long a source is waited for at a time.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The next transfer.
enum Ready {
    Prepared(Prepared),
    InSegments(Item),
}

/// Runs the transfers of a source one after the other; the exit code.
pub fn run(run: &Run, source: &mut dyn Source) -> i32 {
    let mut last = 0;
    let mut began: Option<Instant> = None;
    loop {
        let (ready, stands_alone) = match source.next(&run.env) {
            Next::Drained => break,
            Next::Later(pause) => {
                if run.wait(&[], pause.unwrap_or(LONGEST_WAIT)).is_err() {
                    return Code::UnrecoverablePoll.id();
                }
                continue;
            }
            Next::Failed(code) => return code,
            Next::Item(item) => {
                let stands_alone = item.stands_alone;
                (prepare(run, *item), stands_alone)
            }
        };
        if let (Ok(_), Some(began)) = (&ready, began) {
            keep_rate(run, began);
        }
        began = began.max(ready.is_ok().then(Instant::now));
        last = match ready.and_then(|ready| fetch(run, ready)) {
            Ok(code) => code,
            Err(Stop::LeftOut) => continue,
            Err(Stop::Failed(code)) if stands_alone => code,
            Err(Stop::Failed(code)) => return code,
        };
        if run.is_interrupted() || is_fatal(last) || last != 0 && run.env.globals.fail_early {
            return last;
        }
    }
    if began.is_none() && last == 0 && !source.may_be_empty() {
        run.env.error("no transfer performed");
        return 26;
    }
    last
}

fn prepare(run: &Run, item: Item) -> Result<Ready, Stop> {
    match segments::wanted(&item.request, &item.target) {
        Some(_) => Ok(Ready::InSegments(item)),
        None => run.prepare(item).map(Ready::Prepared),
    }
}

fn fetch(run: &Run, ready: Ready) -> Result<i32, Stop> {
    match ready {
        Ready::Prepared(prepared) => Ok(perform(run, prepared)),
        Ready::InSegments(item) => segments::run(run, item),
    }
}

/// Runs a transfer to its end, with all its attempts.
fn perform(run: &Run, prepared: Prepared) -> i32 {
    if prepared.skip {
        run.count_skipped();
        return run.end(&prepared.transfer, &prepared.easy, 0, true);
    }
    if let Some(program) = &run.program {
        program.borrow_mut().perform();
    }
    let mut job = Job::new(prepared);
    loop {
        job.begin();
        let code = drive(run, &job);
        if run.is_interrupted() {
            return code;
        }
        match run.after(&mut job, code) {
            After::Again(pause) => run.sleep(pause),
            After::Over(code) => return code,
        }
    }
}

fn drive(run: &Run, job: &Job) -> i32 {
    let easy = &job.easy;
    run.multi.add(easy);
    loop {
        run.multi.perform();
        if let Some((message, _)) = run.multi.next_message() {
            run.multi.remove(easy);
            return message.code.id();
        }
        if run.wait(std::slice::from_ref(job), Duration::from_secs(1)).is_err() {
            run.multi.remove(easy);
            return Code::UnrecoverablePoll.id();
        }
    }
}

/// `--rate`: no transfer starts too soon after the previous one.
fn keep_rate(run: &Run, began: Instant) {
    let least = Duration::from_millis(run.env.globals.rate_ms);
    let took = began.elapsed();
    if took < least {
        let (took_ms, waits_ms) = (took.as_millis(), (least - took).as_millis());
        run.env.note(&format!("Transfer took {took_ms} ms, waits {waits_ms}ms as set by --rate"));
        run.sleep(least - took);
    }
}
