//! Runs a program and takes a line for each file that it fetched.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
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
    ProcessEach,
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
    pub const ALL: [Mode; 6] =
        [Mode::Naive, Mode::KeptOneHandle, Mode::Kept, Mode::NaivePool, Mode::ProcessEach, Mode::Multi];

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
            Mode::ProcessEach => "a process for each file, broker",
            Mode::Multi => "all files at once",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Mode::NaivePool => "naive-pool",
            Mode::ProcessEach => "process-each",
            mode => mode.program(),
        }
    }

    fn program(self) -> &'static str {
        match self {
            Mode::Naive | Mode::NaivePool | Mode::ProcessEach => "naive",
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
    pool: PathBuf,
    rounds: usize,
}

/// The result of fetching one file.
struct Poll {
    time_ms: f64,
    is_good: bool,
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
        let (urls, ca, pool) = (world.urls(scenario), world.ca(), world.pool());
        Job { scenario, mode, library, programs, urls, ca, pool, rounds }
    }

    fn polls(&self) -> usize {
        self.rounds * FTP_SERVERS
    }

    fn run(&self, progress: &Progress) -> io::Result<Outcome> {
        let polls = match self.mode {
            Mode::ProcessEach => self.run_processes(progress)?,
            _ => self.run_program(progress)?,
        };
        let expected = self.polls();
        let good = polls.iter().filter(|poll| poll.is_good).count();
        let mut times_ms: Vec<f64> = polls.into_iter().map(|poll| poll.time_ms).collect();
        times_ms.sort_by(f64::total_cmp);
        Ok(Outcome {
            scenario: self.scenario,
            mode: self.mode,
            library: self.library,
            times_ms,
            // Polls that were never reported failed too.
            failed: expected - good.min(expected),
        })
    }

    /// Runs one process, which times its polls itself.
    fn run_program(&self, progress: &Progress) -> io::Result<Vec<Poll>> {
        let mut child =
            self.command().arg(self.rounds.to_string()).arg(&self.urls).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let mut polls = Vec::with_capacity(self.polls());
        for line in lines {
            polls.push(self.read(&line?)?);
            progress.step();
        }
        child.wait()?;
        Ok(polls)
    }

    /// Runs a process for each poll, and times it from its start to its end.
    fn run_processes(&self, progress: &Progress) -> io::Result<Vec<Poll>> {
        let urls = std::fs::read_to_string(&self.urls)?;
        let mut polls = Vec::with_capacity(self.polls());
        for url in (0..self.rounds).flat_map(|_| urls.lines()) {
            let mut command = self.command();
            command.args(["1", "/dev/stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let started = Instant::now();
            let mut child = command.spawn()?;
            child.stdin.take().expect("stdin is piped").write_all(url.as_bytes())?;
            let output = child.wait_with_output()?;
            let time_ms = started.elapsed().as_secs_f64() * 1000.0;
            let line = String::from_utf8_lossy(&output.stdout);
            polls.push(Poll { time_ms, ..self.read(line.trim_end())? });
            progress.step();
        }
        Ok(polls)
    }

    /// Returns the program, in the environment of its mode.
    fn command(&self) -> Command {
        let mut command = self.programs.command(self.mode.program(), self.library);
        command.env("DEMO_CA", &self.ca).stdin(Stdio::null());
        match self.mode {
            Mode::NaivePool => command.env("WARMWIRE_POOL", "process"),
            // On the distribution's library it means nothing.
            Mode::ProcessEach => {
                command.env("WARMWIRE_POOL", "user").env("WARMWIRE_POOL_DIR", &self.pool);
                command.env("WARMWIRE_BROKER", Programs::broker())
            }
            Mode::Naive | Mode::KeptOneHandle | Mode::Kept | Mode::Multi => &mut command,
        };
        command
    }

    /// Reads the line of a poll.
    fn read(&self, line: &str) -> io::Result<Poll> {
        let words: Vec<&str> = line.split(' ').collect();
        let [time, code, length] = words[..] else {
            return Err(io::Error::other(format!("{}: {line}", self.mode.name())));
        };
        let time_ms = time.parse().map_err(io::Error::other)?;
        Ok(Poll { time_ms, is_good: code == "0" && length.parse() == Ok(FILE_LENGTH) })
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
