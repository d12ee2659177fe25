//! Runs cases concurrently, each in its own thread, and reports the results.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::baseline;

use crate::subject::Subject;
use crate::world::World;

/// A program that runs longer hangs.
const LIMIT: Duration = Duration::from_secs(120);
/// Maximum amount of a program's output that is kept.
const OUTPUT_LIMIT: u64 = 16 << 20;

/// A test: a function that panics where a fact is not as it must be.
pub struct Case {
    pub name: &'static str,
    pub run: fn(&Context),
    /// Whether only our library has to pass.
    pub ours_only: bool,
    /// Whether the case must pass with either TLS library: then it also runs with OpenSSL.
    pub either_tls: bool,
    /// Only with --deep.
    pub deep: bool,
}

/// The environment of a case.
pub struct Context<'a> {
    pub world: &'a World,
    pub subject: &'a Subject,
    /// Facts in which the distribution's library differed from the record.
    changes: Mutex<Vec<String>>,
}

/// The results of a program.
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    /// None when it was killed, by a signal or by us.
    pub status: Option<i32>,
    pub elapsed: Duration,
    raw: Vec<u8>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Output { stdout, stderr, status, elapsed, .. } = self;
        write!(formatter, "status {status:?} after {elapsed:.1?}\nstdout: {stdout:?}\nstderr: {stderr:?}")
    }
}

impl<'a> Context<'a> {
    pub fn new(world: &'a World, subject: &'a Subject) -> Context<'a> {
        Context { world, subject, changes: Mutex::default() }
    }

    /// Compares a fact with the record. Ours must agree; a difference of the distribution's library is
    /// reported.
    pub fn compare<T: PartialEq + std::fmt::Debug>(&self, what: &str, seen: T, written: T, output: &Output) {
        if self.ours() {
            assert_eq!(seen, written, "{what}: {output:?}");
        } else if seen != written {
            self.change(format!("{what}: {seen:?}, written down is {written:?}"));
        }
    }

    /// Reports what the distribution's library does otherwise than in its recorded version.
    pub fn change(&self, change: String) {
        self.changes.lock().expect("no thread panics with this lock").push(change);
    }

    pub fn ours(&self) -> bool {
        self.subject.is_ours()
    }

    /// Runs a compiled program of `programs/` and insists that it ends well.
    pub fn program(&self, name: &str, arguments: &[&str]) -> Output {
        let output = self.run(Command::new(self.world.program(name)).args(arguments));
        assert_eq!(output.status, Some(0), "{name} {arguments:?} ended badly: {output:?}");
        output
    }

    /// Makes a command use this case's library.
    pub fn choose(&self, command: &mut Command) {
        self.subject.choose(command);
        for name in
            ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]
        {
            command.env_remove(name);
        }
    }

    /// Runs any command with this case's library; a hang is an answer without status.
    pub fn run(&self, command: &mut Command) -> Output {
        self.choose(command);
        let started = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stdout = child.stdout.take().map(collect).expect("stdout is piped");
        let stderr = child.stderr.take().map(collect).expect("stderr is piped");
        let status = wait(&mut child);
        let raw = stdout.join().unwrap_or_default();
        let error_text = stderr.join().unwrap_or_default();
        Output {
            stdout: String::from_utf8_lossy(&raw).into_owned(),
            stderr: String::from_utf8_lossy(&error_text).into_owned(),
            status,
            elapsed: started.elapsed(),
            raw,
        }
    }
}

impl Output {
    /// Returns the output as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.raw
    }

    /// The value of the first `name=value` fact; it ends at a space, except for `message`.
    pub fn fact(&self, name: &str) -> &str {
        self.facts(name).first().copied().unwrap_or_else(|| panic!("no fact {name} in {self:?}"))
    }

    /// The values of `name` on all lines.
    pub fn facts(&self, name: &str) -> Vec<&str> {
        let lines = self.stdout.lines().filter_map(|line| {
            let start = match line.starts_with(&format!("{name}=")) {
                true => name.len() + 1,
                false => line.find(&format!(" {name}="))? + name.len() + 2,
            };
            let value = &line[start..];
            let end = if name == "message" { None } else { value.find(' ') };
            Some(&value[..end.unwrap_or(value.len())])
        });
        lines.collect()
    }

    /// A numeric fact.
    pub fn number(&self, name: &str) -> i64 {
        self.fact(name).parse().unwrap_or_else(|_| panic!("{name} is no number in {self:?}"))
    }
}

/// How a case ended.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Held,
    Failed,
    /// The distribution's library, in another version than the recorded one, differs from the record.
    Changed,
}

/// Judges a case. A failure of the distribution's library counts only in the recorded versions: there the
/// test is wrong.
fn verdict(held: bool, is_ours: bool, versions_are_recorded: bool) -> Verdict {
    match held {
        true => Verdict::Held,
        false if is_ours || versions_are_recorded => Verdict::Failed,
        false => Verdict::Changed,
    }
}

/// Runs everything; the number of failures.
pub fn run(world: &World, subjects: &[Subject], cases: &[Case], jobs: usize) -> usize {
    std::panic::set_hook(Box::new(|_| {}));
    let work: Vec<(&Subject, &Case)> = subjects
        .iter()
        .flat_map(|subject| cases.iter().map(move |case| (subject, case)))
        .filter(|(subject, case)| match subject {
            Subject::Distribution => !case.ours_only,
            Subject::Ours(_) => true,
            Subject::OpenSsl(_) => case.either_tls,
        })
        .collect();
    let (next, failures, started) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Instant::now());
    let (changed, packages) = (AtomicUsize::new(0), baseline::changed_packages());
    packages
        .iter()
        .for_each(|line| println!("NOTE  {line}: what differs from it is reported and fails nothing"));
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(&(subject, case)) = work.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let held = holds(world, subject, case);
                    match verdict(held, subject.is_ours(), packages.is_empty()) {
                        Verdict::Held => {}
                        Verdict::Failed => {
                            failures.lock().expect("no case panics here").push((subject, case));
                        }
                        Verdict::Changed => {
                            println!("CHANGED {} {}: compare and write down", subject.name(), case.name);
                            changed.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no case panics here");
    if failures.len() <= MAY_FAIL_BESIDE_OTHERS {
        failures.retain(|(subject, case)| !holds_alone(world, subject, case));
    }
    let (failed, changed) = (failures.len(), changed.into_inner());
    let held = work.len() - failed - changed;
    println!("{held} of {} held, in {:.0} s", work.len(), started.elapsed().as_secs_f64());
    if changed > 0 {
        println!(
            "{changed} of the distribution's did otherwise than in its recorded versions (tests/baseline.tsv)"
        );
    }
    failed
}

/// How many failures may be the machine's: a busy one takes more time than a case allows. More than these are
/// no accident.
const MAY_FAIL_BESIDE_OTHERS: usize = 3;
/// How often a case must pass alone after it failed beside others, so that an intermittent fault has its
/// chances to appear again.
const TIMES_ALONE: usize = 3;

fn holds_alone(world: &World, subject: &Subject, case: &Case) -> bool {
    let holds = (0..TIMES_ALONE).all(|_| holds(world, subject, case));
    if holds {
        println!("AGAIN {:<12} {} held alone, {TIMES_ALONE} times in a row", subject.name(), case.name);
    }
    holds
}

/// A case that fails on the distribution's library is tried again: its races (a connection that the peer is
/// just closing) are not ours to judge, and a test that is wrong fails each time.
const TRIES_OF_THE_DISTRIBUTION: usize = 6;

fn holds(world: &World, subject: &Subject, case: &Case) -> bool {
    let tries = if subject.is_ours() { 1 } else { TRIES_OF_THE_DISTRIBUTION };
    (0..tries).any(|_| holds_once(world, subject, case))
}

fn holds_once(world: &World, subject: &Subject, case: &Case) -> bool {
    let started = Instant::now();
    let context = Context::new(world, subject);
    let result = thread::scope(|scope| scope.spawn(|| (case.run)(&context)).join());
    let seconds = started.elapsed().as_secs_f64();
    for change in context.changes.into_inner().unwrap_or_default() {
        println!("CHANGED {} {}: {change}", subject.name(), case.name);
    }
    match result {
        Ok(()) => println!("ok    {:<12} {} ({seconds:.1} s)", subject.name(), case.name),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without text");
            let short: String = text.chars().take(3000).collect();
            println!(
                "FAIL  {:<12} {} ({seconds:.1} s)\n      {}",
                subject.name(),
                case.name,
                short.replace('\n', "\n      ")
            );
            return false;
        }
    }
    true
}

fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.by_ref().take(OUTPUT_LIMIT).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
        bytes
    })
}

fn wait(child: &mut Child) -> Option<i32> {
    let limit = Instant::now() + LIMIT;
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.code(),
            Ok(None) if Instant::now() < limit => thread::sleep(pause),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distributions_library_fails_nothing_in_a_version_that_was_not_recorded() {
        assert!(verdict(false, false, false) == Verdict::Changed);
        assert!(verdict(false, false, true) == Verdict::Failed, "a test that was always wrong");
        assert!(
            verdict(false, true, false) == Verdict::Failed && verdict(false, true, true) == Verdict::Failed
        );
        assert!(verdict(true, false, false) == Verdict::Held);
    }
}
