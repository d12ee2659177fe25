//! Runs a program and takes a line for each file that it fetched.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::programs::{Library, Programs};
use crate::world::{FILE_LENGTH, FTP_SERVERS, HTTPS_REQUESTS, World};

/// A poll that takes longer comes too late for its user.
pub const WINDOW_MS: f64 = 200.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    Ftp,
    Https,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Naive,
    KeptOneHandle,
    Kept,
    NaivePool,
    Multi,
}

impl Scenario {
    pub fn name(self) -> &'static str {
        match self {
            Scenario::Ftp => "ftp",
            Scenario::Https => "https",
        }
    }
}

impl Mode {
    /// All modes in the order of the table.
    pub const ALL: [Mode; 5] = [Mode::Naive, Mode::KeptOneHandle, Mode::Kept, Mode::NaivePool, Mode::Multi];

    /// Returns whether this library has the mode: only ours has a pool of the process.
    pub fn is_of(self, library: Library) -> bool {
        self != Mode::NaivePool || library == Library::Warmwire
    }

    /// One line for the picture.
    pub fn about(self) -> &'static str {
        match self {
            Mode::Naive => "a handle for each file",
            Mode::KeptOneHandle => "one handle for all files",
            Mode::Kept => "a handle for each server",
            Mode::NaivePool => "naive, with the process pool",
            Mode::Multi => "all files at once",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Mode::NaivePool => "naive-pool",
            mode => mode.program(),
        }
    }

    fn program(self) -> &'static str {
        match self {
            Mode::Naive | Mode::NaivePool => "naive",
            Mode::Kept => "kept",
            Mode::KeptOneHandle => "kept-one-handle",
            Mode::Multi => "multi",
        }
    }
}

/// A program to be run.
pub struct Job<'a> {
    scenario: Scenario,
    mode: Mode,
    library: Library,
    programs: &'a Programs,
    urls: PathBuf,
    ca: PathBuf,
    rounds: usize,
}

/// The result of one scenario in one mode.
pub struct Outcome {
    pub scenario: Scenario,
    pub mode: Mode,
    pub library: Library,
    /// Each file's time, in ascending order.
    pub times_ms: Vec<f64>,
    pub failed: usize,
}

impl<'a> Job<'a> {
    pub fn new(
        (scenario, mode, library): (Scenario, Mode, Library),
        programs: &'a Programs,
        world: &World,
        rounds: usize,
    ) -> Job<'a> {
        let rounds = match scenario {
            Scenario::Ftp => rounds,
            Scenario::Https => HTTPS_REQUESTS / FTP_SERVERS,
        };
        Job { scenario, mode, library, programs, urls: world.urls(scenario), ca: world.ca(), rounds }
    }

    fn polls(&self) -> usize {
        self.rounds * FTP_SERVERS
    }

    fn run(&self, progress: &Progress) -> io::Result<Outcome> {
        let mut command = self.programs.command(self.mode.program(), self.library);
        command.arg(self.rounds.to_string()).arg(&self.urls).env("DEMO_CA", &self.ca);
        if self.mode == Mode::NaivePool {
            command.env("WARMWIRE_POOL", "process");
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let expected = self.polls();
        let (mut times_ms, mut good) = (Vec::with_capacity(expected), 0);
        for line in lines {
            let line = line?;
            let words: Vec<&str> = line.split(' ').collect();
            let [time, code, length] = words[..] else {
                return Err(io::Error::other(format!("{}: {line}", self.mode.name())));
            };
            times_ms.push(time.parse().map_err(io::Error::other)?);
            good += usize::from(code == "0" && length.parse() == Ok(FILE_LENGTH));
            progress.step();
        }
        child.wait()?;
        // Polls that were never reported failed too.
        times_ms.sort_by(f64::total_cmp);
        Ok(Outcome {
            scenario: self.scenario,
            mode: self.mode,
            library: self.library,
            times_ms,
            failed: expected - good.min(expected),
        })
    }
}

impl Outcome {
    /// The time below which this share of the polls stayed (nearest rank).
    pub fn quantile_ms(&self, share: f64) -> f64 {
        let rank = (share * self.times_ms.len() as f64).ceil() as usize;
        self.times_ms.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
    }

    pub fn missed_window(&self) -> usize {
        self.times_ms.iter().filter(|time| **time > WINDOW_MS).count()
    }
}

/// Runs the jobs side by side.
pub fn run_together(about: &str, jobs: &[Job]) -> io::Result<Vec<Outcome>> {
    let progress = Progress::new(about, jobs.iter().map(Job::polls).sum());
    let outcomes = thread::scope(|scope| {
        let progress = &progress;
        let running: Vec<_> = jobs.iter().map(|job| scope.spawn(move || job.run(progress))).collect();
        running.into_iter().map(|thread| thread.join().expect("a job does not panic")).collect()
    });
    progress.finish();
    outcomes
}

/// A line that says how many polls are done; on a terminal it is written over.
struct Progress<'a> {
    about: &'a str,
    all: usize,
    done: Mutex<usize>,
    terminal: bool,
    started: Instant,
}

impl<'a> Progress<'a> {
    fn new(about: &'a str, all: usize) -> Progress<'a> {
        let terminal = io::stderr().is_terminal();
        Progress { about, all, done: Mutex::new(0), terminal, started: Instant::now() }
    }

    fn step(&self) {
        let mut done = self.done.lock().expect("a step does not panic");
        *done += 1;
        if self.terminal {
            eprint!("\r    {}: {} of {} polls\x1b[K", self.about, *done, self.all);
            let _ = io::stderr().flush();
        }
    }

    fn finish(&self) {
        let done = *self.done.lock().expect("a step does not panic");
        let (start, seconds) = (if self.terminal { "\r" } else { "" }, self.started.elapsed().as_secs_f64());
        eprintln!("{start}    {}: {done} of {} polls, {seconds:.0} s", self.about, self.all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_nearest_rank() {
        let times_ms = (1..=100).map(f64::from).collect();
        let (scenario, mode, library) = (Scenario::Ftp, Mode::Naive, Library::Warmwire);
        let outcome = Outcome { scenario, mode, library, times_ms, failed: 0 };
        assert_eq!(
            (outcome.quantile_ms(0.5), outcome.quantile_ms(0.99), outcome.quantile_ms(1.0)),
            (50.0, 99.0, 100.0)
        );
        assert_eq!(outcome.missed_window(), 0);
    }
}
