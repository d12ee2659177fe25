//! Runs steps of `make test` side by side.
//!
//! Tests wait for servers and timers, and the compiler for one crate that others need: one step at a time
//! leaves the processors idle for half of the time. No two steps that compile run side by side, since cargo's
//! lock would make one of them wait.

use super::table::{Step, Suite};
use super::{FinishedStep, one};
use std::path::Path;
use std::sync::Mutex;

/// The number of leading steps that may run side by side.
pub fn count(chosen: &[(&Step, &str)], suite: Suite) -> usize {
    chosen.iter().take_while(|(step, _)| suite == Suite::Local && step.beside).count()
}

/// Runs the steps, two at a time; `may_repeat` lets a step repeat its last result. Returns the steps in the
/// order of their end; `print` gets each step's position and its line.
pub fn run(
    chosen: &[(&Step, &str)],
    suite: Suite,
    folder: &Path,
    may_repeat: bool,
    print: impl Fn(usize, &str) + Sync,
) -> Result<Vec<FinishedStep>, String> {
    let queue = Mutex::new(chosen.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let next = || queue.lock().expect("no thread panics while it takes a step").next();
    let lane = || {
        while let Some((position, (step, command))) = next() {
            let (line, finished) = one(step, command, suite, folder, (false, may_repeat))?;
            let mut done = done.lock().expect("no thread panics while it prints");
            print(position, &line);
            done.push(finished);
        }
        Ok::<(), String>(())
    };
    std::thread::scope(|scope| {
        let lanes = [scope.spawn(lane), scope.spawn(lane)];
        lanes.into_iter().try_for_each(|lane| lane.join().expect("a lane returns its errors"))
    })?;
    Ok(done.into_inner().expect("no thread panics while it prints"))
}

#[cfg(test)]
mod tests {
    use super::super::table::STEPS;
    use super::*;
    use std::time::{Duration, Instant};

    fn named(name: &str) -> &'static Step {
        STEPS.iter().find(|step| step.name == name).unwrap()
    }

    #[test]
    fn only_make_test_runs_steps_side_by_side() {
        let steps = [(named("unit"), ""), (named("python"), ""), (named("guide"), ""), (named("fuzz"), "")];
        assert_eq!(count(&steps, Suite::Local), 2);
        assert_eq!(count(&steps, Suite::All), 0);
        assert_eq!(count(&steps[2..], Suite::Local), 0);
    }

    /// Each of the two waits for a file that the other writes: one after the other they would fail.
    #[test]
    fn two_steps_run_at_the_same_time_and_the_third_after_one_of_them() {
        let folder = std::env::temp_dir().join(format!("warmwire-lanes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let meet = |own: &str, other: &str| {
            let (own, other) = (folder.join(own), folder.join(other));
            format!(
                "touch {}; for i in $(seq 200); do test ! -e {} || exit 0; sleep 0.05; done; exit 1",
                own.display(),
                other.display()
            )
        };
        let (first, second) = (meet("a", "b"), meet("b", "a"));
        let steps =
            [(named("unit"), first.as_str()), (named("python"), second.as_str()), (named("fuzz"), "exit 1")];
        let printed = Mutex::new(Vec::new());
        let started = Instant::now();
        let done =
            run(&steps, Suite::Local, &folder, false, |position, _| printed.lock().unwrap().push(position));
        let done = done.unwrap();
        assert!(started.elapsed() < Duration::from_secs(10));
        let of = |name: &str| done.iter().position(|step| step.name == name).unwrap();
        assert!(of("unit").min(of("python")) < of("fuzz") && done[of("fuzz")].failed);
        assert_eq!(printed.into_inner().unwrap().len(), 3);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
