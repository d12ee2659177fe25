//! Runs steps of `make test` side by side.
//!
//! Tests wait for servers and timers; one lane of steps leaves the processors idle for half of the time.
//! Steps that compile stay outside: they are busy on all processors, and cargo's lock would serialize them.

use super::table::{Lane, Step, Suite};
use super::{FinishedStep, one};
use std::path::Path;
use std::sync::Mutex;

/// The number of leading steps that may run side by side.
pub fn count(chosen: &[(&Step, &str)], suite: Suite) -> usize {
    chosen.iter().take_while(|(step, _)| suite == Suite::Local && step.lane.is_some()).count()
}

/// Runs the steps of each lane one after another, and the lanes at the same time; `may_repeat` lets a step
/// repeat its last result. Returns the steps in the order of their end; `print` gets each step's position and
/// its line.
pub fn run(
    chosen: &[(&Step, &str)],
    suite: Suite,
    folder: &Path,
    may_repeat: bool,
    print: impl Fn(usize, &str) + Sync,
) -> Result<Vec<FinishedStep>, String> {
    let done = Mutex::new(Vec::new());
    let (done_ref, print) = (&done, &print);
    let lane = |lane: Lane| {
        let steps = chosen.iter().enumerate().filter(move |(_, (step, _))| step.lane == Some(lane));
        move || {
            for (position, (step, command)) in steps {
                let (line, finished) = one(step, command, suite, folder, (false, may_repeat))?;
                let mut done = done_ref.lock().expect("no thread panics while it prints");
                print(position, &line);
                done.push(finished);
            }
            Ok::<(), String>(())
        }
    };
    std::thread::scope(|scope| {
        let lanes = [Lane::First, Lane::Second].map(|of| scope.spawn(lane(of)));
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
        let steps = [(named("unit"), ""), (named("python"), ""), (named("tidy"), ""), (named("fuzz"), "")];
        assert_eq!(count(&steps, Suite::Local), 2);
        assert_eq!(count(&steps, Suite::All), 0);
        assert_eq!(count(&steps[2..], Suite::Local), 0);
    }

    /// Each of the two waits for a file that the other writes: one after the other they would fail.
    #[test]
    fn lanes_run_at_the_same_time_and_a_lane_in_order() {
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
            [(named("unit"), first.as_str()), (named("fuzz"), "exit 1"), (named("python"), second.as_str())];
        let printed = Mutex::new(Vec::new());
        let started = Instant::now();
        let done =
            run(&steps, Suite::Local, &folder, false, |position, _| printed.lock().unwrap().push(position));
        let done = done.unwrap();
        assert!(started.elapsed() < Duration::from_secs(10));
        let of = |name: &str| done.iter().position(|step| step.name == name).unwrap();
        assert!(of("unit") < of("fuzz") && done[of("fuzz")].failed);
        assert_eq!(printed.into_inner().unwrap().len(), 3);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
