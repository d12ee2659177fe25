//! Builds the C programs, starts nginx, and runs the workloads on both subjects in turn.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::certs::Authority;
use testkit::launch::{Http2Kind, Http2Server, Nginx};
use testkit::temp::TempDir;

use crate::Arguments;
use crate::workload::{HUGE, Kind, LARGE, SMALL, UPLOAD, WORKLOADS, Workload};

/// The library of the system, ours, and no library at all: the system calls that a GET over a kept connection cannot do
/// without. The last is the kernel's share on this machine and is no part of the results.
pub const DISTRIBUTION: &str = "distribution";
pub const OURS: &str = "ours";
pub const BARE: &str = "bare calls";

/// One subject's figures on one workload: medians of its runs.
pub struct Row {
    pub workload: &'static Workload,
    pub subject: &'static str,
    pub cpu_us: f64,
    pub wall_us: f64,
    pub syscalls: f64,
    /// The largest memory of the program, where that was asked.
    pub peak_kb: Option<f64>,
    /// CPU against that of the distribution in the run beside it: what slows the machine for a while slows both.
    pub ratio: f64,
}

struct Bench<'a> {
    arguments: &'a Arguments,
    nginx: Nginx,
    http2: Http2Server,
    directory: TempDir,
}

/// One run's figures.
#[derive(Clone, Copy)]
struct Figures {
    cpu_us: f64,
    wall_us: f64,
    peak_kb: Option<f64>,
}

/// Where the results go.
pub fn output_directory() -> PathBuf {
    target_directory().join("bench")
}

pub fn all(arguments: &Arguments) -> io::Result<Vec<Row>> {
    build_programs()?;
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[SMALL, LARGE])?;
    let directory = TempDir::new("bench")?;
    directory.write("ca.pem", authority.ca_pem())?;
    directory.write("file", testkit::body::pattern(SMALL))?;
    let http2 = Http2Server::start(Http2Kind::Nginx, &authority.good(), &[SMALL, LARGE, HUGE])?;
    let bench = Bench { arguments, nginx, http2, directory };
    let mut rows = Vec::new();
    for workload in &WORKLOADS {
        rows.extend(bench.measure(workload)?);
    }
    Ok(rows)
}

impl Bench<'_> {
    fn measure(&self, workload: &'static Workload) -> io::Result<Vec<Row>> {
        let mut subjects = vec![DISTRIBUTION];
        subjects.extend(self.arguments.ours.as_ref().map(|_| OURS));
        subjects.extend(matches!(workload.kind, Kind::Gets { secure: false, .. }).then_some(BARE));
        let count = if self.arguments.quick { workload.count.div_ceil(10) } else { workload.count };
        let mut runs: Vec<Vec<Figures>> = vec![Vec::new(); subjects.len()];
        let times = if workload.kind.is_long() { 1 } else { self.arguments.runs };
        for run in 0..times {
            eprintln!("{} {}/{times}", workload.name, run + 1);
            // Who begins changes, too: whoever comes second finds warmer caches.
            let mut order: Vec<usize> = (0..subjects.len()).collect();
            if run % 2 == 1 {
                order.reverse();
            }
            for index in order {
                runs[index].push(self.run_once(workload, subjects[index], count)?);
            }
        }
        let rows = subjects.iter().zip(&runs).map(|(subject, own)| {
            Ok(Row {
                workload,
                subject,
                cpu_us: median(own.iter().map(|run| run.cpu_us)),
                wall_us: median(own.iter().map(|run| run.wall_us)),
                syscalls: self.syscalls(workload, subject)?,
                peak_kb: own.iter().filter_map(|run| run.peak_kb).reduce(f64::max),
                ratio: median(own.iter().zip(&runs[0]).map(|(run, other)| run.cpu_us / other.cpu_us)),
            })
        });
        rows.collect()
    }

    fn run_once(&self, workload: &Workload, subject: &str, count: usize) -> io::Result<Figures> {
        let text = output(&mut self.command(workload, subject, count, None))?;
        let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [cpu_us, wall_us, received, ref rest @ ..] = figures[..] else {
            return Err(io::Error::other(format!("what is {text}")));
        };
        if workload.kind.received().is_some_and(|size| received != size as f64) {
            return Err(io::Error::other(format!("{}: {received} bytes a request", workload.name)));
        }
        Ok(Figures { cpu_us, wall_us, peak_kb: rest.first().copied() })
    }

    /// System calls per request: two runs of different length, so that start and end fall out.
    fn syscalls(&self, workload: &Workload, subject: &str) -> io::Result<f64> {
        let (few, many) = match workload.kind {
            Kind::Gets { .. } => (50, 550),
            Kind::Many { .. } => (1000, 5000),
            Kind::Streams { size: HUGE, .. } => (1, 2),
            Kind::Streams { parallel, .. } => (2 * parallel, 6 * parallel),
            Kind::Uploads { .. } => (1, 3),
            Kind::Starts(_) => (5, 25),
        };
        let more = self.counted(workload, subject, many)? - self.counted(workload, subject, few)?;
        Ok(more as f64 / (many - few) as f64)
    }

    fn counted(&self, workload: &Workload, subject: &str, count: usize) -> io::Result<i64> {
        let summary = self.directory.path().join("strace");
        output(&mut self.command(workload, subject, count, Some(&summary)))?;
        let text = std::fs::read_to_string(&summary)?;
        // Two columns, calls and name; lines of dashes and the total are left out.
        let calls = text.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.get(1).filter(|name| **name != "total")?;
            words[0].parse::<i64>().ok()
        });
        Ok(calls.sum())
    }

    /// The program of a workload on a subject, under strace when `summary` says where its counts go.
    fn command(&self, workload: &Workload, subject: &str, count: usize, summary: Option<&Path>) -> Command {
        let program = |name: &str| output_directory().join(name).display().to_string();
        let mut words = match &workload.kind {
            Kind::Gets { secure, size } => {
                let path = format!("/bytes-{size}");
                let url = if *secure { self.nginx.https(&path) } else { self.nginx.http(&path) };
                let name = if subject == BARE { "bare" } else { "gets" };
                vec![program(name), url, count.to_string()]
            }
            Kind::Many { parallel } => {
                let url = self.nginx.http(&format!("/bytes-{SMALL}"));
                vec![program("many"), url, count.to_string(), parallel.to_string()]
            }
            Kind::Streams { parallel, size } => {
                let url = self.http2.https(&format!("/bytes-{size}"));
                vec![program("many"), url, count.to_string(), parallel.to_string()]
            }
            Kind::Uploads { .. } => {
                let (count, size) = (count.to_string(), UPLOAD.to_string());
                vec![program("many"), self.http2.https("/put/file"), count, "1".to_owned(), size]
            }
            Kind::Starts(arguments) => {
                let tool = match subject {
                    OURS => target_directory().join("release/warmwire").display().to_string(),
                    _ => "/usr/bin/curl".to_string(),
                };
                let file = format!("file://{}", self.directory.path().join("file").display());
                let arguments = arguments
                    .iter()
                    .map(|word| if *word == "FILE" { file.clone() } else { word.to_string() });
                [program("starts"), count.to_string(), tool].into_iter().chain(arguments).collect()
            }
        };
        if let Some(summary) = summary {
            let strace = ["strace", "-f", "-c", "-U", "calls,name", "-o"].map(String::from);
            words = strace.into_iter().chain([summary.display().to_string()]).chain(words).collect();
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("CA", self.directory.path().join("ca.pem"));
        if let Kind::Streams { .. } | Kind::Uploads { http2: true } = workload.kind {
            command.env("HTTP2", "1");
        }
        match (subject, &self.arguments.ours) {
            (OURS, Some(directory)) => command.env("LD_LIBRARY_PATH", directory),
            _ => command.env_remove("LD_LIBRARY_PATH"),
        };
        command
    }
}

pub fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output().map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("{command:?} ended with {}: {said}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The C programs, into the folder of the results.
pub fn build_programs() -> io::Result<()> {
    let directory = output_directory();
    std::fs::create_dir_all(&directory)?;
    for (name, library) in
        [("gets", Some("-lcurl")), ("many", Some("-lcurl")), ("bare", None), ("starts", None)]
    {
        let source = root().join("bench/programs").join(name).with_extension("c");
        let mut command = Command::new("cc");
        command
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(directory.join(name))
            .arg(source)
            .args(library);
        output(&mut command)?;
    }
    Ok(())
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn target_directory() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| "target".into()))
}
