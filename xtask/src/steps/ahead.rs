//! Compiles what later steps need while earlier ones wait for servers and timers.
//!
//! The tests leave one of two processors idle for half of their time, and link-time optimisation uses only
//! one. The commands run one after another at the lowest priority, so that they do not slow the tests down.
//! A failure is not reported here: the step runs its own command, which compiles again and fails.

use super::child;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// A command that compiles what a step needs.
pub struct Job {
    pub step: &'static str,
    pub command: &'static str,
    pub log: PathBuf,
    pub limit: Duration,
}

/// Jobs that run in the background; each step waits for its own.
pub struct Ahead {
    ended: Receiver<(&'static str, Duration)>,
    seconds: BTreeMap<&'static str, Duration>,
}

impl Ahead {
    pub fn start(jobs: Vec<Job>) -> Ahead {
        let (ends, ended) = mpsc::channel();
        std::thread::spawn(move || {
            for job in jobs {
                let started = Instant::now();
                let _ = child::run_behind(job.command, &job.log, job.limit);
                if ends.send((job.step, started.elapsed())).is_err() {
                    return;
                }
            }
        });
        Ahead { ended, seconds: BTreeMap::new() }
    }

    /// Waits for a step's job; returns how long it took, or nothing if the step has none.
    pub fn wait(&mut self, step: &str, is_job: bool) -> Option<Duration> {
        while is_job && !self.seconds.contains_key(step) {
            let (name, took) = self.ended.recv().ok()?;
            self.seconds.insert(name, took);
        }
        self.seconds.get(step).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_waits_for_its_own_job() {
        let folder = std::env::temp_dir().join(format!("warmwire-ahead-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let job = |step: &'static str, command| Job {
            step,
            command,
            log: folder.join(step),
            limit: Duration::from_secs(10),
        };
        let mut ahead = Ahead::start(vec![job("bad", "false"), job("good", "sleep 0.2; nice")]);
        assert_eq!(ahead.wait("none", false), None);
        assert!(ahead.wait("good", true).unwrap() >= Duration::from_millis(200));
        assert!(ahead.wait("bad", true).is_some(), "a job that failed has ended, too");
        assert_eq!(std::fs::read_to_string(folder.join("good")).unwrap(), "19\n");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
