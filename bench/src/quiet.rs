//! The state of the machine during a measurement: which processor runs what, and how much time others took.
//!
//! With client and servers on a processor each, no run depends on where the scheduler put them. A turn
//! during which other processes or the host took processor time is disturbed and not counted.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A turn is disturbed if other processes and the host took more than this part of all processors' time.
pub const MOST_BY_OTHERS: f64 = 0.03;
/// The kernel counts in ticks of a hundredth of a second; fewer than these say nothing.
const LEAST_TICKS: u64 = 3;

/// Whether the row that is measured has a processor for the client and one for the servers.
static APART: AtomicBool = AtomicBool::new(false);

/// Where a program runs in a row with a processor for each side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Server,
    Client,
}

/// Begins a row. Servers that are started from now on run on the first processor if the row wants the sides
/// apart, else on all of them.
pub fn begin_row(apart: bool) {
    APART.store(apart && processors().len() > 1, Ordering::Relaxed);
    place(Side::Server);
}

/// Runs `f`, whose child processes are clients.
pub fn as_client<T>(f: impl FnOnce() -> T) -> T {
    place(Side::Client);
    let value = f();
    place(Side::Server);
    value
}

/// Puts this thread, and the threads and processes that it starts, on the processors of a side.
fn place(side: Side) {
    let all = processors();
    let chosen: &[usize] = match (APART.load(Ordering::Relaxed), side) {
        (false, _) => &all,
        (true, Side::Server) => &all[..1],
        (true, Side::Client) => &all[1..2],
    };
    let mut set = CpuSet::new();
    chosen.iter().for_each(|processor| set.set(*processor));
    // A container may forbid it; the run is then measured as it is.
    let _ = sched_setaffinity(None, &set);
}

/// Returns the processors that this process had when it was started.
fn processors() -> Vec<usize> {
    static ALL: std::sync::OnceLock<Vec<usize>> = std::sync::OnceLock::new();
    let read = || {
        let set = sched_getaffinity(None).unwrap_or_default();
        (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect()
    };
    ALL.get_or_init(read).clone()
}

/// Returns the CPU time in microseconds that a process and its present descendants have used.
pub fn cpu_with_descendants_us(process: u32) -> io::Result<f64> {
    let processes = processes()?;
    let nanoseconds = descendants(&processes, process).map(|process| nanoseconds_of(process.id));
    Ok(nanoseconds.sum::<io::Result<f64>>()? / 1e3)
}

/// Returns the time on a processor of the present threads of a process. /proc/PID/stat counts in ticks, which
/// are too long for one request.
fn nanoseconds_of(process: u32) -> io::Result<f64> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"))?;
    threads.map(|thread| nanoseconds_of_thread(&thread?.path())).sum()
}

/// Returns the time on a processor of a thread, named by its folder in /proc: the first of three numbers of
/// the scheduler.
pub fn nanoseconds_of_thread(folder: &Path) -> io::Result<f64> {
    let text = std::fs::read_to_string(folder.join("schedstat"))?;
    let on_processor = text.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    on_processor.ok_or_else(|| io::Error::other(format!("schedstat: {text}")))
}

/// Counts of the kernel, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    /// Passed on all processors together.
    passed: u64,
    /// Used by all processes.
    used: u64,
    /// Taken by the host.
    stolen: u64,
    /// Used by this process and its descendants.
    own: u64,
}

/// A turn that is being measured.
pub struct Turn(Option<Ticks>);

impl Turn {
    pub fn begin() -> Turn {
        Turn(ticks())
    }

    /// Returns the part of all processors' time that others took since the turn began; `None` where the
    /// kernel does not say.
    pub fn taken_by_others(&self) -> Option<f64> {
        Some(by_others(self.0?, ticks()?))
    }
}

fn by_others(before: Ticks, after: Ticks) -> f64 {
    let used = after.used.saturating_sub(before.used);
    let own = after.own.saturating_sub(before.own);
    let others = used.saturating_sub(own) + after.stolen.saturating_sub(before.stolen);
    let passed = after.passed.saturating_sub(before.passed).max(1);
    if others < LEAST_TICKS { 0.0 } else { others as f64 / passed as f64 }
}

fn ticks() -> Option<Ticks> {
    let system = std::fs::read_to_string("/proc/stat").ok()?;
    let (passed, used, stolen) = of_system(system.lines().next()?)?;
    let processes = processes().ok()?;
    let own = descendants(&processes, std::process::id()).map(|process| process.ticks).sum();
    Some(Ticks { passed, used, stolen, own })
}

/// Returns the processes of this machine.
fn processes() -> io::Result<Vec<Process>> {
    let folders = std::fs::read_dir("/proc")?.flatten();
    let stats = folders.filter_map(|folder| std::fs::read_to_string(folder.path().join("stat")).ok());
    Ok(stats.filter_map(|stat| Process::of(&stat)).collect())
}

/// Returns the ticks that passed, were used by processes and were stolen, from the first line of /proc/stat.
fn of_system(line: &str) -> Option<(u64, u64, u64)> {
    let values: Vec<u64> =
        line.strip_prefix("cpu ")?.split_whitespace().map_while(|v| v.parse().ok()).collect();
    let [user, nice, system, _idle, _waiting, _interrupts, _soft, stolen, ..] = values[..] else {
        return None;
    };
    Some((values[..8].iter().sum(), user + nice + system, stolen))
}

/// A line of /proc/PID/stat.
#[derive(Clone, Copy)]
struct Process {
    id: u32,
    parent: u32,
    /// Used by itself and by the children for which it has waited.
    ticks: u64,
}

impl Process {
    fn of(stat: &str) -> Option<Process> {
        let id = stat.split(' ').next()?.parse().ok()?;
        // The name stands in parentheses and may contain spaces and parentheses.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let ticks = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(Process { id, parent: fields[1].parse().ok()?, ticks })
    }
}

/// Returns a process and its descendants.
fn descendants(processes: &[Process], root: u32) -> impl Iterator<Item = &Process> {
    let parents: HashMap<u32, u32> = processes.iter().map(|process| (process.id, process.parent)).collect();
    let descends = move |mut id: u32| {
        // A process that ends while the folder is read can make no circle longer than the list.
        for _ in 0..=processes.len() {
            if id == root {
                return true;
            }
            match parents.get(&id) {
                Some(parent) => id = *parent,
                None => return false,
            }
        }
        false
    };
    processes.iter().filter(move |process| descends(process.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let line = "cpu  100 20 30 400 5 6 7 8 0 0";
        assert_eq!(of_system(line), Some((576, 150, 8)));
        assert_eq!(of_system("cpu0 1 2 3"), None);
        let stat = "12 (a ) b) S 7 12 12 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 5";
        let process = Process::of(stat).unwrap();
        assert_eq!((process.id, process.parent, process.ticks), (12, 7, 100));
    }

    #[test]
    fn descendants_of_descendants_count() {
        let all = [(1, 0, 1000), (5, 1, 10), (6, 5, 20), (7, 6, 30), (8, 1, 40)];
        let all = all.map(|(id, parent, ticks)| Process { id, parent, ticks });
        assert_eq!(descendants(&all, 5).map(|process| process.ticks).sum::<u64>(), 60);
    }

    #[test]
    fn the_time_of_a_child_counts_while_it_runs() {
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        while nanoseconds_of(child.id()).unwrap() < 20e6 {
            std::thread::yield_now();
        }
        let own_us = nanoseconds_of(std::process::id()).unwrap() / 1e3;
        let all_us = cpu_with_descendants_us(std::process::id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(all_us - own_us >= 20e3, "{all_us} {own_us}");
    }

    #[test]
    fn what_others_and_the_host_take_disturbs() {
        let before = Ticks::default();
        let calm = Ticks { passed: 400, used: 200, stolen: 0, own: 198 };
        assert_eq!(by_others(before, calm), 0.0, "two ticks say nothing");
        let busy = Ticks { passed: 400, used: 200, stolen: 0, own: 160 };
        assert_eq!(by_others(before, busy), 0.1);
        let stolen = Ticks { passed: 400, used: 200, stolen: 20, own: 200 };
        assert_eq!(by_others(before, stolen), 0.05);
    }

    /// The kernel's own counts: a process of another session takes time from a turn.
    #[test]
    fn a_turn_of_this_process_alone_is_read_from_the_kernel() {
        let turn = Turn::begin();
        let part = turn.taken_by_others().expect("/proc is mounted");
        assert!((0.0..=1.0).contains(&part), "{part}");
    }
}
