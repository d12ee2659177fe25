//! Runs a program and takes a line for each file that it fetched.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::programs::Programs;
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
    Kept,
    KeptOneHandle,
    Multi,
    NaivePool,
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
pub struct Job {
    pub scenario: Scenario,
    pub mode: Mode,
    program: PathBuf,
    ours: Option<PathBuf>,
    urls: PathBuf,
    ca: PathBuf,
    rounds: usize,
}

/// The result of one scenario in one mode.
pub struct Outcome {
    pub scenario: Scenario,
    pub mode: Mode,
    /// Each file's time, in ascending order.
    pub times_ms: Vec<f64>,
    pub failed: usize,
}

impl Job {
    pub fn new(scenario: Scenario, mode: Mode, programs: &Programs, world: &World, rounds: usize) -> Job {
        let rounds = match scenario {
            Scenario::Ftp => rounds,
            Scenario::Https => HTTPS_REQUESTS / FTP_SERVERS,
        };
        let (program, ours) = (programs.path(mode.program()), programs.ours.clone());
        Job { scenario, mode, program, ours, urls: world.urls(scenario), ca: world.ca(), rounds }
    }

    fn label(&self) -> String {
        format!("{} {}", self.scenario.name(), self.mode.name())
    }

    fn run(&self, progress: &Progress, index: usize) -> io::Result<Outcome> {
        let mut command = Command::new(&self.program);
        command
            .arg(self.rounds.to_string())
            .arg(&self.urls)
            .env("DEMO_CA", &self.ca)
            .env_remove("WARMWIRE_POOL");
        match &self.ours {
            Some(directory) => command.env("LD_LIBRARY_PATH", directory),
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
        if self.mode == Mode::NaivePool {
            command.env("WARMWIRE_POOL", "process");
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let expected = self.rounds * FTP_SERVERS;
        let (mut times_ms, mut good) = (Vec::with_capacity(expected), 0);
        for line in lines {
            let line = line?;
            let words: Vec<&str> = line.split(' ').collect();
            let [time, code, length] = words[..] else {
                return Err(io::Error::other(format!("{}: {line}", self.label())));
            };
            times_ms.push(time.parse().map_err(io::Error::other)?);
            good += usize::from(code == "0" && length.parse() == Ok(FILE_LENGTH));
            progress.show(index, times_ms.len());
        }
        child.wait()?;
        // Polls that were never reported failed too.
        times_ms.sort_by(f64::total_cmp);
        Ok(Outcome {
            scenario: self.scenario,
            mode: self.mode,
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
pub fn run_together(jobs: &[Job]) -> io::Result<Vec<Outcome>> {
    let progress = Progress::new(jobs);
    let outcomes = thread::scope(|scope| {
        let progress = &progress;
        let running: Vec<_> = jobs
            .iter()
            .enumerate()
            .map(|(index, job)| scope.spawn(move || job.run(progress, index)))
            .collect();
        running.into_iter().map(|thread| thread.join().expect("a job does not panic")).collect()
    });
    progress.finish();
    outcomes
}

/// One line that says how far each running job is; on a terminal it is written over.
struct Progress {
    labels: Vec<(String, usize)>,
    done: Mutex<Vec<usize>>,
    terminal: bool,
}

impl Progress {
    fn new(jobs: &[Job]) -> Progress {
        let labels = jobs.iter().map(|job| (job.label(), job.rounds * FTP_SERVERS)).collect();
        Progress { labels, done: Mutex::new(vec![0; jobs.len()]), terminal: io::stderr().is_terminal() }
    }

    fn show(&self, index: usize, count: usize) {
        let mut done = self.done.lock().expect("showing does not panic");
        done[index] = count;
        if self.terminal {
            eprint!("\r{}\x1b[K", self.line(&done));
            let _ = io::stderr().flush();
        }
    }

    fn finish(&self) {
        let line = self.line(&self.done.lock().expect("showing does not panic"));
        match self.terminal {
            true => eprint!("\r\x1b[K"),
            false => eprintln!("{line}"),
        }
    }

    fn line(&self, done: &[usize]) -> String {
        let parts = self.labels.iter().zip(done).map(|((label, all), done)| format!("{label} {done}/{all}"));
        parts.collect::<Vec<_>>().join("   ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_nearest_rank() {
        let times_ms = (1..=100).map(f64::from).collect();
        let outcome = Outcome { scenario: Scenario::Ftp, mode: Mode::Naive, times_ms, failed: 0 };
        assert_eq!(
            (outcome.quantile_ms(0.5), outcome.quantile_ms(0.99), outcome.quantile_ms(1.0)),
            (50.0, 99.0, 100.0)
        );
        assert_eq!(outcome.missed_window(), 0);
    }
}
