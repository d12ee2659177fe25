//! A step's command in a child process, with its output in a file and a time limit.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Success,
    Failure,
    /// The time limit passed; the command and its descendants were killed.
    TooLong,
}

const STEP: Duration = Duration::from_millis(50);

/// The path of this program. It is read before the first command, which may replace the file.
static PROGRAM: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::current_exe().expect("the system knows the path of this program"));

/// Runs a shell command with standard output and error written to `log`; returns its end and its output.
///
/// The log is a new file: what another run still writes goes to the old one, which no longer has a name. The
/// command stays in the caller's process group, so that Ctrl-C reaches all of it.
pub fn run(command: &str, log: &Path, limit: Duration) -> Result<(End, String), String> {
    start(in_root(Command::new("sh").args(["-euc", command])), log, limit)
}

/// Runs a command that gets only the processor time that nobody else wants.
pub fn run_behind(command: &str, log: &Path, limit: Duration) -> Result<(End, String), String> {
    let mut nice = Command::new("nice");
    start(in_root(nice.args(["-n", "19", "sh", "-euc", command])), log, limit)
}

/// Lets a shell run in the root of the repository. Its variable XTASK is the path of this program, for a
/// command that must not wait for cargo.
fn in_root(shell: &mut Command) -> &mut Command {
    shell.current_dir(crate::files::root()).env("XTASK", &*PROGRAM)
}

/// Runs a program as [`run`] runs a shell command, in the folder that the caller chose.
pub fn start(program: &mut Command, log: &Path, limit: Duration) -> Result<(End, String), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", log.display());
    let _ = std::fs::remove_file(log);
    let out = File::create(log).map_err(failed)?;
    let mut written = File::open(log).map_err(failed)?;
    let end = wait(program, out, limit).map_err(failed)?;
    let mut bytes = Vec::new();
    written.read_to_end(&mut bytes).map_err(failed)?;
    Ok((end, String::from_utf8_lossy(&bytes).into_owned()))
}

fn wait(program: &mut Command, out: File, limit: Duration) -> std::io::Result<End> {
    program.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
    let mut child = program.spawn()?;
    let started = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(End::Success),
            Some(_) => return Ok(End::Failure),
            None if started.elapsed() > limit => {
                kill(child.id());
                let _ = child.wait();
                return Ok(End::TooLong);
            }
            None => std::thread::sleep(STEP),
        }
    }
}

/// Returns the processor time, user and system, of all commands that have ended, in seconds.
///
/// Fields 16 and 17 of /proc/self/stat are that in ticks of 10 ms (proc(5)).
pub fn processor_seconds() -> f64 {
    std::fs::read_to_string("/proc/self/stat").ok().and_then(|stat| ticks(&stat)).unwrap_or(0) as f64 / 100.0
}

fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// Kills a process and its descendants, found by their parents in /proc.
fn kill(process: u32) {
    let family = descendants(process, &parents());
    let ids = family.iter().map(u32::to_string);
    let _ = Command::new("kill").arg("-KILL").args(ids).stderr(Stdio::null()).status();
}

/// The parent of each process of this machine.
fn parents() -> BTreeMap<u32, u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Some((id, parent(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?)))
        .collect()
}

/// The parent that a line of /proc/PID/stat names: the second field behind the name in brackets (proc(5)).
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// A process and all processes below it.
fn descendants(process: u32, parents: &BTreeMap<u32, u32>) -> Vec<u32> {
    let mut family = vec![process];
    let mut next = 0;
    while let Some(&id) = family.get(next) {
        family.extend(parents.iter().filter(|&(_, &parent)| parent == id).map(|(&child, _)| child));
        next += 1;
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("warmwire-step-{name}-{}", std::process::id()))
    }

    #[test]
    fn the_log_holds_both_streams_and_the_exit_code_decides() {
        let log = log("streams");
        let seconds = Duration::from_secs(10);
        let both = "out\nerr\n".to_owned();
        assert_eq!(run("echo out; echo err >&2", &log, seconds), Ok((End::Success, both.clone())));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), both);
        assert_eq!(run("false; echo not reached", &log, seconds), Ok((End::Failure, String::new())));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "");
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_command_knows_the_path_of_this_program() {
        let log = log("program");
        let (_, output) = run("printf %s \"$XTASK\"", &log, Duration::from_secs(10)).unwrap();
        std::fs::remove_file(log).unwrap();
        assert_eq!(Path::new(&output), std::env::current_exe().unwrap());
    }

    #[test]
    fn two_runs_at_once_read_their_own_output() {
        let log = log("twice");
        let seconds = Duration::from_secs(10);
        let first = {
            let log = log.clone();
            std::thread::spawn(move || run("echo one; sleep 1; echo end", &log, seconds))
        };
        let begun = || std::fs::read_to_string(&log).is_ok_and(|text| text == "one\n");
        while !begun() && !first.is_finished() {
            std::thread::sleep(STEP);
        }
        assert_eq!(run("echo two", &log, seconds), Ok((End::Success, "two\n".to_owned())));
        assert_eq!(first.join().unwrap(), Ok((End::Success, "one\nend\n".to_owned())));
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed_with_its_children() {
        let log = log("limit");
        let command = "sh -c 'sleep 60 & echo $!; wait' & wait";
        assert_eq!(run(command, &log, Duration::from_millis(500)).unwrap().0, End::TooLong);
        let sleeper: u32 = std::fs::read_to_string(&log).unwrap().trim().parse().unwrap();
        std::fs::remove_file(log).unwrap();
        let gone = |id: u32| match std::fs::read_to_string(format!("/proc/{id}/stat")) {
            Ok(stat) => stat.contains(") Z"),
            Err(_) => true,
        };
        let limit = Instant::now() + Duration::from_secs(5);
        while !gone(sleeper) && Instant::now() < limit {
            std::thread::sleep(STEP);
        }
        assert!(gone(sleeper), "the sleeping grandchild is still there");
    }

    #[test]
    fn processor_time_of_ended_children_is_the_sum_of_two_fields() {
        assert_eq!(ticks("7 (a b) S 1 2 3 4 5 6 7 8 9 10 11 12 250 30 20 0"), Some(280));
        assert_eq!(ticks("7 (a) S 1"), None);
        let before = processor_seconds();
        let log = log("processor");
        run("i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done", &log, Duration::from_secs(60)).unwrap();
        std::fs::remove_file(log).unwrap();
        assert!(processor_seconds() > before, "a busy child took no time");
    }

    #[test]
    fn a_process_name_may_hold_brackets_and_blanks() {
        assert_eq!(parent("7 (a) b (c) S 3 7 7 0"), Some(3));
        assert_eq!(parent("nothing"), None);
    }
}
