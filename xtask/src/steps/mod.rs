//! `cargo xtask test [--all | --deep [--resume]] [--list] [STEP ...]`: the steps behind `make test`, `make
//! test-all` and `make test-deep`.
//!
//! Every step runs, whatever the steps before it did; `make test` repeats the result of a step that nothing
//! has changed for (`earlier`). A step's output goes to target/steps/NAME.log. The
//! terminal shows one line a step with its time and its processor time, then each failure, then each test
//! that was left out and why, then the sums.

mod ahead;
pub mod child;
mod earlier;
mod lanes;
pub mod outcome;
mod record;
mod table;

use crate::{Report, files};
use ahead::{Ahead, Job};
use earlier::Earlier;
use outcome::{Counts, Failure, LeftOut};
use record::Record;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use table::{STEPS, Step, Suite};

const OPTIONS: [&str; 4] = ["--all", "--deep", "--resume", "--list"];

/// The step that builds the programs of later ones.
const COMPILE: &str = "compile";

/// The last lines of a log that are shown for a step whose output names no failed test.
const TAIL: usize = 60;

/// Runs the steps that the arguments choose and returns the summary; an error if a step failed.
pub fn run(arguments: &[String]) -> Report {
    let (options, named): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|word| word.starts_with("--"));
    if let Some(unknown) = options.iter().find(|word| !OPTIONS.contains(word)) {
        return Err(format!("cargo xtask test has no option {unknown}, only {}", OPTIONS.join(", ")));
    }
    let has = |option: &str| options.contains(&option);
    let suite = match (has("--all"), has("--deep")) {
        (_, true) => Suite::Deep,
        (true, _) => Suite::All,
        _ => Suite::Local,
    };
    if has("--resume") && suite != Suite::Deep {
        return Err("--resume needs --deep: no other suite records its steps".to_owned());
    }
    let chosen = choose(&named, suite)?;
    if has("--list") {
        return Ok(list(&chosen));
    }
    perform(&chosen, suite, has("--resume"))
}

/// Returns whether a suite has a step of this name.
pub fn exists(name: &str) -> bool {
    STEPS.iter().any(|step| step.name == name)
}

/// Returns the named steps of a suite with their commands; all steps if there is no name.
fn choose(named: &[&str], suite: Suite) -> Result<Vec<(&'static Step, &'static str)>, String> {
    let all = STEPS.iter().filter_map(|step| Some((step, step.command(suite)?)));
    let chosen: Vec<_> = all.filter(|(step, _)| named.is_empty() || named.contains(&step.name)).collect();
    match named.iter().find(|name| !chosen.iter().any(|(step, _)| step.name == **name)) {
        None => Ok(chosen),
        Some(unknown) => {
            let (of, option) = suite.words();
            Err(format!("{of} has no step {unknown}; `cargo xtask test{option} --list` prints its steps"))
        }
    }
}

fn list(chosen: &[(&Step, &str)]) -> String {
    let lines: Vec<String> = chosen
        .iter()
        .map(|(step, command)| {
            format!("{:<12} {}, at most {} min\n             {command}", step.name, step.about, step.minutes)
        })
        .collect();
    lines.join("\n")
}

/// A step's name and what its output says.
struct FinishedStep {
    name: &'static str,
    counts: Counts,
    failed: bool,
    log: PathBuf,
    output: String,
}

impl FinishedStep {
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
    let mut ahead = None;
    let place = |number: usize, step: &Step| {
        format!("{:>2}/{} {:<12} {:<52}", number + 1, chosen.len(), step.name, step.about)
    };
    let mut number = 0;
    while let Some((step, command)) = chosen.get(number) {
        let beside = lanes::count(&chosen[number..], suite);
        if beside > 0 {
            println!("      the next {beside} steps run two at a time; a line appears when its step ends");
            let steps = &chosen[number..number + beside];
            let print = |position: usize, line: &str| {
                println!("{}{line}", place(number + position, steps[position].0));
            };
            let is_compiled = done.iter().any(|step: &FinishedStep| step.name == COMPILE && !step.failed);
            done.extend(lanes::run(steps, suite, &folder, is_compiled, print)?);
            number += beside;
            continue;
        }
        number += 1;
        print!("{}", place(number - 1, step));
        let _ = std::io::stdout().flush();
        let last = record.last(step.name).filter(|_| suite == Suite::Deep);
        let last =
            last.map_or_else(String::new, |seen| format!("; last whole {} {}", seen.date, seen.commit));
        if resume && record.is_done(step.name, &record::now()) {
            println!("  left out{last}");
            continue;
        }
        let begun = record::now();
        // The first step installs what the others compile with.
        let ahead = (number > 1)
            .then(|| ahead.get_or_insert_with(|| Ahead::start(jobs(&chosen[number - 1..], suite, &folder))));
        let waited = Instant::now();
        let took = ahead.and_then(|ahead| ahead.wait(step.name, step.ahead(suite).is_some()));
        let note = took.map_or_else(String::new, |took| {
            format!(
                "; compiled ahead in {:.0} s, waited {:.0} s",
                took.as_secs_f64(),
                waited.elapsed().as_secs_f64()
            )
        });
        let (line, step) = one(step, command, suite, &folder, (true, false))?;
        println!("{line}{note}{last}");
        if suite == Suite::Deep && step.is_whole() {
            record.add(step.name, begun.until(&record::now()))?;
        }
        done.push(step);
    }
    let seconds = started.elapsed().as_secs_f64();
    let summary = summary(&done, seconds);
    if done.iter().any(|step| step.failed) { Err(summary) } else { Ok(summary) }
}

/// The commands that compile what these steps need.
fn jobs(chosen: &[(&Step, &str)], suite: Suite, folder: &Path) -> Vec<Job> {
    let job = |step: &Step| {
        let log = folder.join(format!("{}.ahead.log", step.name));
        Some(Job { step: step.name, command: step.ahead(suite)?, log, limit: step.limit() })
    };
    chosen.iter().filter_map(|(step, _)| job(step)).collect()
}

/// Runs a step, or repeats its last result if it may; returns its line for the terminal and its result. The
/// processor time is known only of a step that runs alone.
fn one(
    step: &Step,
    command: &str,
    suite: Suite,
    folder: &Path,
    (alone, may_repeat): (bool, bool),
) -> Result<(String, FinishedStep), String> {
    let (log, started) = (folder.join(format!("{}.log", step.name)), Instant::now());
    let busy = child::processor_seconds();
    let earlier = Earlier::of(step, folder);
    let repeated = earlier.as_ref().filter(|_| may_repeat).and_then(|earlier| earlier.output(&log));
    let is_repeated = repeated.is_some();
    let (end, output) = match repeated {
        Some(output) => (child::End::Success, output),
        None => {
            earlier.iter().for_each(Earlier::forget);
            child::run(command, &log, step.limit())?
        }
    };
    let mut counts = outcome::read(step.output, &output);
    if suite != Suite::Local {
        counts.refuse_missing();
    }
    let failed = match end {
        child::End::Success => !counts.failures.is_empty(),
        child::End::Failure => !counts.explains_failure(),
        child::End::TooLong => true,
    };
    if let Some(earlier) = earlier.filter(|_| may_repeat && !failed && !is_repeated) {
        earlier.note()?;
    }
    let word = match (failed, end) {
        (_, child::End::TooLong) => format!("FAILED: not done after {} minutes", step.minutes),
        (true, _) => "FAILED".to_owned(),
        (false, _) if is_repeated => "ok, unchanged since its last run".to_owned(),
        (false, _) => "ok".to_owned(),
    };
    let (wall, busy) = (started.elapsed().as_secs_f64(), child::processor_seconds() - busy);
    let busy = if alone { format!("{busy:>7.1} s cpu") } else { " ".repeat(13) };
    let line = format!("{wall:>7.1} s {busy}  {word}{}", counts.in_words());
    Ok((line, FinishedStep { name: step.name, counts, failed, log, output }))
}

/// Failures with their texts, tests that were left out by reason, and the sums in the last line.
fn summary(done: &[FinishedStep], seconds: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(words: &str) -> Report {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        run(&[words, vec!["--list".to_owned()]].concat())
    }

    #[test]
    fn a_name_chooses_a_step_of_the_suite() {
        assert!(
            listed("unit").is_ok_and(|list| list.lines().count() == 2 && list.contains("at most 40 min"))
        );
        assert!(listed("--deep miri soak --resume").is_ok_and(|list| list.lines().count() == 4));
        assert!(listed("").is_ok_and(|list| list.contains("unit ") && !list.contains("miri ")));
    }

    /// A step that the suite does not run would be "ok" without having run.
    #[test]
    fn unknown_steps_and_options_are_errors() {
        for (words, error) in [
            ("unit miri", "make test has no step miri; `cargo xtask test --list` prints its steps"),
            ("--deep unit", "make test-deep has no step unit; `cargo xtask test --deep --list`"),
            ("--all no", "make test-all has no step no; "),
            ("--al unit", "cargo xtask test has no option --al, only --all, "),
            ("--all --resume", "--resume needs --deep"),
        ] {
            let result = listed(words);
            assert!(result.as_ref().is_err_and(|text| text.starts_with(error)), "{words}: {result:?}");
        }
    }

    /// `make test STEP=odd-replies` compiles nothing before the step: built programs may be older than their
    /// sources. Its log is not that of the stamp any more, and neither is that of `make test-all`.
    #[test]
    fn a_result_is_repeated_only_behind_the_compiler() {
        let folder = std::env::temp_dir().join(format!("warmwire-repeats-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let step = STEPS.iter().find(|step| step.name == "odd-replies").unwrap();
        let command = format!("echo x >>{}/ran", folder.display());
        let run = |suite, may_repeat| {
            let (line, _) = one(step, &command, suite, &folder, (false, may_repeat)).unwrap();
            let count = std::fs::read_to_string(folder.join("ran")).unwrap().len() / 2;
            (count, line.contains("unchanged since its last run"))
        };
        assert_eq!(run(Suite::Local, true), (1, false));
        assert_eq!(run(Suite::Local, true), (1, true));
        assert_eq!(run(Suite::Local, false), (2, false));
        assert_eq!(run(Suite::Local, true), (3, false));
        assert_eq!(run(Suite::All, false), (4, false));
        assert_eq!(run(Suite::Local, true), (5, false));
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// `make check` and others name steps of a suite.
    #[test]
    fn steps_that_the_makefile_names_are_those_of_the_suite() {
        let text = crate::files::text("Makefile");
        let commands = text.lines().filter_map(|line| line.strip_prefix("\tcargo xtask test "));
        let named: Vec<&str> = commands.map(|line| line.split(['$', '#']).next().unwrap_or(line)).collect();
        assert!(named.len() > 3, "{named:?}");
        for command in named {
            assert!(listed(command).is_ok(), "{command}: {:?}", listed(command));
        }
    }
}
