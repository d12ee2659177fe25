//! `cargo xtask test [--all | --deep [--resume]] [--list] [STEP ...]`: the steps behind `make test`, `make
//! test-all` and `make test-deep`.
//!
//! Every step runs, whatever the steps before it did. A step's output goes to target/steps/NAME.log. The
//! terminal shows one line a step with its time and its processor time, then each failure, then each test
//! that was left out and why, then the sums.

mod child;
mod outcome;
mod record;
mod table;

use crate::{Report, files};
use outcome::{Counts, Failure, LeftOut};
use record::Record;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use table::{STEPS, Step, Suite};

/// The last lines of a log that are shown for a step whose output names no failed test.
const TAIL: usize = 60;

/// Runs the steps that the arguments choose and returns the summary; an error if a step failed.
pub fn run(arguments: &[String]) -> Report {
    let has = |option: &str| arguments.iter().any(|word| word == option);
    let suite = match (has("--all"), has("--deep")) {
        (_, true) => Suite::Deep,
        (true, _) => Suite::All,
        _ => Suite::Local,
    };
    let named: Vec<&String> = arguments.iter().filter(|word| !word.starts_with("--")).collect();
    if let Some(unknown) = named.iter().find(|name| !STEPS.iter().any(|step| step.name == name.as_str())) {
        return Err(format!("no step is called {unknown}; `cargo xtask test --list` prints them"));
    }
    let chosen: Vec<(&Step, &str)> = STEPS
        .iter()
        .filter(|step| named.is_empty() || named.iter().any(|name| *name == step.name))
        .filter_map(|step| Some((step, step.command(suite)?)))
        .collect();
    if has("--list") {
        return Ok(list(&chosen));
    }
    perform(&chosen, suite, has("--resume"))
}

fn list(chosen: &[(&Step, &str)]) -> String {
    let lines: Vec<String> = chosen
        .iter()
        .map(|(step, command)| format!("{:<12} {}\n             {command}", step.name, step.about))
        .collect();
    lines.join("\n")
}

/// A step's name and what its output says.
struct Done {
    name: &'static str,
    counts: Counts,
    failed: bool,
    log: PathBuf,
    output: String,
}

impl Done {
    /// Returns whether the step ran to its end, passed and left out nothing for want of something.
    fn is_whole(&self) -> bool {
        !self.failed && !self.counts.left_out.iter().any(|left| left.test == outcome::WHOLE_STEP)
    }
}

fn perform(chosen: &[(&Step, &str)], suite: Suite, resume: bool) -> Report {
    let folder = files::target().join("steps");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let started = Instant::now();
    let (mut done, mut record) = (Vec::new(), Record::read(&folder));
    for (number, (step, command)) in chosen.iter().enumerate() {
        print!("{:>2}/{} {:<12} {:<52}", number + 1, chosen.len(), step.name, step.about);
        let _ = std::io::stdout().flush();
        let last = record.last(step.name).filter(|_| suite == Suite::Deep);
        let last =
            last.map_or_else(String::new, |seen| format!("; last whole {} {}", seen.date, seen.commit));
        if resume && record.is_done(step.name, &record::now()) {
            println!("  left out{last}");
            continue;
        }
        let begun = record::now();
        let (line, step) = one(step, command, suite, &folder)?;
        println!("{line}{last}");
        if suite == Suite::Deep && step.is_whole() {
            record.add(step.name, begun.until(&record::now()))?;
        }
        done.push(step);
    }
    let seconds = started.elapsed().as_secs_f64();
    let summary = summary(&done, seconds);
    if done.iter().any(|step| step.failed) { Err(summary) } else { Ok(summary) }
}

fn one(step: &Step, command: &str, suite: Suite, folder: &Path) -> Result<(String, Done), String> {
    let (log, started) = (folder.join(format!("{}.log", step.name)), Instant::now());
    let busy = child::processor_seconds();
    let (end, output) = child::run(command, &log, step.limit())?;
    let mut counts = outcome::read(step.output, &output);
    if suite != Suite::Local {
        counts.refuse_missing();
    }
    let failed = match end {
        child::End::Success => !counts.failures.is_empty(),
        child::End::Failure => !counts.explains_failure(),
        child::End::TooLong => true,
    };
    let word = match (failed, end) {
        (_, child::End::TooLong) => format!("FAILED: not done after {} minutes", step.minutes),
        (true, _) => "FAILED".to_owned(),
        (false, _) => "ok".to_owned(),
    };
    let (wall, busy) = (started.elapsed().as_secs_f64(), child::processor_seconds() - busy);
    let line = format!("{wall:>7.1} s {busy:>7.1} s cpu  {word}{}", counts.in_words());
    Ok((line, Done { name: step.name, counts, failed, log, output }))
}

/// Failures with their texts, tests that were left out by reason, and the sums in the last line.
fn summary(done: &[Done], seconds: f64) -> String {
    let mut text = String::new();
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for step in done {
        for LeftOut { test, reason, .. } in &step.counts.left_out {
            reasons.entry(reason).or_default().push(test);
        }
    }
    for (reason, tests) in &reasons {
        text.push_str(&format!("\nleft out, {}: {}: {}", tests.len(), reason, tests.join(", ")));
    }
    for step in done.iter().filter(|step| step.failed) {
        text.push_str(&format!("\n\n{} FAILED, all of its output is in {}", step.name, step.log.display()));
        if step.counts.failures.is_empty() {
            let lines: Vec<&str> = step.output.lines().collect();
            text.push_str(&format!("\n{}", lines[lines.len().saturating_sub(TAIL)..].join("\n")));
        }
        for Failure { test, text: why } in &step.counts.failures {
            text.push_str(&format!("\n--- {test}\n{why}"));
        }
    }
    let sum = |count: fn(&Counts) -> usize| done.iter().map(|step| count(&step.counts)).sum::<usize>();
    let broken: Vec<&str> = done.iter().filter(|step| step.failed).map(|step| step.name).collect();
    text.push_str(&format!(
        "\n\n{} steps in {:.0} s ({:.0} s cpu): {} tests passed, {} failed, {} left out{}",
        done.len(),
        seconds,
        child::processor_seconds(),
        sum(|counts| counts.passed),
        sum(|counts| counts.failures.len()),
        sum(|counts| counts.left_out.len() + counts.unnamed),
        if broken.is_empty() { String::new() } else { format!("; FAILED: {}", broken.join(", ")) }
    ));
    text.trim_start().to_owned()
}
