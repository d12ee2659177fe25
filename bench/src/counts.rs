//! Figures that do not depend on the machine's load: instructions, allocations, memory and sizes.
//! bench/counts.tsv holds the recorded ones. A figure that has grown by more than 3 % is a failure; an
//! intended change is recorded (`make record-counts`).
//!
//! Instructions are counted by callgrind in the library's own code only: libc and the kernel are left out,
//! and so are ring and memchr, which choose their code by the processor's features. Two runs of different
//! length are compared, which removes start and end. The library is one linked with its symbols (`link.sh
//! --symbols`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::holding::Holding;
use testkit::launch::Nginx;

use crate::arguments::Arguments;
use crate::context::{Bench, OURS, Subject, output, root, target_directory};
use crate::valgrind::{allocations, callgrind_name, each, under};

/// The allowed ratio to the recorded figure.
const MOST: f64 = 1.03;
/// Figures that vary by chance: into how many pieces a body is cut on its way, and which waiting transfers
/// are next to the busy one. Allowed is the variation of five runs and a little more.
const BY_CHANCE: [(&str, f64); 2] =
    [("1 MB down, http: instructions", 1.5), ("an event among 1,000: instructions", 1.06)];
/// How often a figure above its limit is counted again: a busy machine delivers bytes in more and smaller
/// pieces.
const AGAIN: usize = 2;
/// Smaller differences are not reported: one allocation in two hundred requests is chance.
const GRAIN: f64 = 0.1;
/// Code that is chosen by the processor's features.
const BY_PROCESSOR: [&str; 3] = ["ring_core", "memchr", "libcrux"];
const SMALL: usize = 1024;
const MEGABYTE: usize = 1_000_000;

/// A program whose second argument is a count.
struct Work {
    name: &'static str,
    program: &'static str,
    before: Vec<String>,
    after: Vec<String>,
    /// Two counts.
    lengths: (usize, usize),
    allocations: bool,
}

pub fn run(arguments: Arguments) -> io::Result<()> {
    let record = arguments.record;
    let bench = Bench::new(arguments)?;
    let missing = || io::Error::other("counts wants --ours, a library with its symbols");
    let ours = bench.subjects.iter().find(|subject| subject.name == OURS).ok_or_else(missing)?;
    let mut counted = count(&bench, ours)?;
    let file = root().join("bench/counts.tsv");
    if record {
        std::fs::write(&file, text(&counted))?;
        println!("{}", file.display());
        return Ok(());
    }
    let recorded = std::fs::read_to_string(&file).map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}; `make record-counts` writes it", file.display()))
    })?;
    for _ in 0..AGAIN {
        if grown(&recorded, &counted).is_empty() {
            break;
        }
        for (name, number) in count(&bench, ours)? {
            let least = counted.entry(name).or_insert(number);
            *least = least.min(number);
        }
    }
    let grown = grown(&recorded, &counted);
    print!("{}", text(&counted));
    match grown.is_empty() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "more than 3 % above what bench/counts.tsv has:\n{}\nIf that is wanted, `make record-counts` writes what is true now.",
            grown.join("\n")
        ))),
    }
}

fn count(bench: &Bench, ours: &Subject) -> io::Result<BTreeMap<String, f64>> {
    let mut counted = BTreeMap::new();
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL, MEGABYTE])?;
    let small = format!("/bytes-{SMALL}");
    let work = |name, program, url: String, after: &[&str], lengths, allocations| {
        let after = after.iter().map(|word| (*word).to_owned()).collect();
        Work { name, program, before: vec![url], after, lengths, allocations }
    };
    let megabyte = MEGABYTE.to_string();
    let works = [
        work("kept GET, http", "gets", nginx.http(&small), &[], (50, 250), true),
        work("kept GET, https", "gets", nginx.https(&small), &[], (50, 250), true),
        work("a handle each, http", "threads", nginx.http(&small), &["1", "fresh"], (20, 100), true),
        work("1 MB down, http", "gets", nginx.http(&format!("/bytes-{MEGABYTE}")), &[], (10, 40), false),
        work("1 MB up, http", "many", nginx.http("/put/up"), &["1", &megabyte], (5, 25), false),
    ];
    for work in &works {
        let instructions =
            each(work.lengths, |n| own_instructions(bench, &mut work.command(bench, ours, n)?))?;
        counted.insert(format!("{}: instructions", work.name), instructions);
        if work.allocations {
            let allocations = each(work.lengths, |n| allocations(&work.command(bench, ours, n)?))?;
            counted.insert(format!("{}: allocations", work.name), allocations);
        }
    }
    counted.insert("an event among 1,000: instructions".into(), event(bench, ours)?);
    let (plain, secured) = (Holding::plain()?, Holding::tls(bench.authority.good().server_config()?)?);
    for (scheme, server) in [("http", &plain), ("https", &secured)] {
        counted.insert(
            format!("a transfer among 1,000, {scheme}: bytes"),
            memory(bench, ours, &server.url(""))?,
        );
    }
    counted.insert("libcurl.so.4: bytes".into(), size(&target_directory().join("release/lib/libcurl.so.4"))?);
    counted.insert("warmwire, stripped: bytes".into(), stripped(bench, ours.tool())?);
    Ok(counted)
}

impl Work {
    fn command(&self, bench: &Bench, subject: &Subject, count: usize) -> io::Result<Command> {
        let mut command = bench.command(&bench.program(self.program)?, subject);
        command.args(&self.before).arg(count.to_string()).args(&self.after);
        Ok(command)
    }
}

/// Measures one busy transfer among a thousand waiting ones. Many events, because the start of a thousand
/// transfers does not always cost the same.
fn event(bench: &Bench, ours: &Subject) -> io::Result<f64> {
    let server = Holding::plain()?;
    let program = bench.program("crowd")?;
    let counted = |events: usize| -> io::Result<(f64, f64)> {
        let mut command = bench.command(&program, ours);
        // Slow enough for a client under callgrind to take each byte by itself.
        command.args(["poll", "1000", &events.to_string(), &server.url("")]).env("PAUSE_US", "3000");
        let (instructions, report) = profiled(bench, &command)?;
        let events_seen = report.lines().find_map(|line| line.strip_prefix("events ")?.parse::<f64>().ok());
        Ok((instructions, events_seen.ok_or_else(|| io::Error::other(report))?))
    };
    let ((few, of_few), (many, of_many)) = (counted(100)?, counted(1100)?);
    Ok((many - few) / (of_many - of_few))
}

/// The memory of one of a thousand transfers that wait, with its handle.
fn memory(bench: &Bench, ours: &Subject, url: &str) -> io::Result<f64> {
    let report = output(bench.command(&bench.program("crowd")?, ours).args(["poll", "1000", "1", url]))?;
    let bytes = report.lines().find_map(|line| line.strip_prefix("transfer_bytes ")?.parse().ok());
    bytes.ok_or_else(|| io::Error::other(report))
}

fn own_instructions(bench: &Bench, command: &mut Command) -> io::Result<f64> {
    profiled(bench, command).map(|(instructions, _)| instructions)
}

/// Returns the instructions of the library's own code, and what the program printed.
fn profiled(bench: &Bench, command: &Command) -> io::Result<(f64, String)> {
    let profile = bench.directory().path().join("profile");
    let file = format!("--callgrind-out-file={}", profile.display());
    let report = output(&mut under(command, &["valgrind", "--tool=callgrind", &file]))?;
    Ok((own_cost(&std::fs::read_to_string(profile)?) as f64, report))
}

/// Sums the cost of the library's functions, without called ones and without those chosen by processor.
fn own_cost(profile: &str) -> u64 {
    // The line after a call holds the cost of the called function.
    let (mut objects, mut names) = (BTreeMap::new(), BTreeMap::new());
    let (mut object, mut function, mut of_call, mut cost) = ("", "", false, 0);
    for line in profile.lines() {
        if let Some(rest) = line.strip_prefix("ob=") {
            object = callgrind_name(&mut objects, rest);
        } else if let Some(rest) = line.strip_prefix("cob=") {
            callgrind_name(&mut objects, rest);
        } else if let Some(rest) = line.strip_prefix("fn=") {
            function = callgrind_name(&mut names, rest);
        } else if let Some(rest) = line.strip_prefix("cfn=") {
            callgrind_name(&mut names, rest);
        } else if line.starts_with("calls=") {
            of_call = true;
        } else if line.starts_with(['+', '-', '*']) || line.starts_with(|c: char| c.is_ascii_digit()) {
            let own = !std::mem::take(&mut of_call)
                && object.contains("libcurl")
                && !BY_PROCESSOR.iter().any(|part| function.contains(part));
            let number = line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok());
            cost += number.filter(|_| own).unwrap_or(0);
        }
    }
    cost
}

fn size(path: &Path) -> io::Result<f64> {
    let size =
        std::fs::metadata(path).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
    Ok(size.len() as f64)
}

fn stripped(bench: &Bench, tool: &Path) -> io::Result<f64> {
    let small: PathBuf = bench.directory().path().join("stripped");
    output(Command::new("strip").arg("-o").arg(&small).arg(tool))?;
    size(&small)
}

fn text(counted: &BTreeMap<String, f64>) -> String {
    let mut out = String::from(
        "# What src/counts.rs counts, for each request or event: `make record-counts` wrote this.\n",
    );
    for (name, value) in counted {
        let _ = writeln!(out, "{name}\t{value:.1}");
    }
    out
}

/// The allowed ratio of a figure to the recorded one.
fn most(name: &str) -> f64 {
    BY_CHANCE.iter().find(|(other, _)| *other == name).map_or(MOST, |(_, most)| *most)
}

fn grown(recorded: &str, counted: &BTreeMap<String, f64>) -> Vec<String> {
    let lines = recorded.lines().filter_map(|line| line.split_once('\t'));
    let known: BTreeMap<&str, f64> =
        lines.filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect();
    let changes = counted.iter().filter_map(|(name, value)| match known.get(&**name) {
        None => Some(format!("{name}: {value:.1}, which was not recorded")),
        Some(before) if *value > before * most(name) && value - before > GRAIN => {
            Some(format!("{name}: {value:.1} instead of {before:.1}"))
        }
        Some(_) => None,
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_alone_is_counted() {
        let profile = "events: Ir\n\nob=(1) /lib/libc.so\nfn=(1) memcpy\n1 100\n\nob=(2) /x/libcurl.so.4\nfn=(2) engine::run\n\
                       10 5\n+1 6\ncob=(1)\ncfn=(1)\ncalls=3 1\n+2 1000\n* 7\n\nfn=(3) ring_core_aes\n1 50\n\nfn=(2)\n- 2\n\
                       ob=(1)\nfn=(1)\n3 9\n";
        assert_eq!(own_cost(profile), 5 + 6 + 7 + 2);
    }

    #[test]
    fn three_per_cent_are_borne() {
        let counted = |value: f64| BTreeMap::from([("a".to_owned(), value)]);
        assert!(grown("# \na\t100.0\n", &counted(102.9)).is_empty());
        assert_eq!(grown("a\t100.0\n", &counted(103.2)), ["a: 103.2 instead of 100.0"]);
        assert_eq!(grown("b\t100.0\n", &counted(1.0)).len(), 1);
        assert!(grown("a\t1.0\n", &counted(1.05)).is_empty());
    }
}
