//! One large file: the cost of a byte, compared with a process that only sends and one that only receives,
//! and with the cipher alone.

use std::io;
use std::process::Command;

use testkit::launch::Nginx;

use super::cipher;
use crate::context::{Bench, Subject, numbers};
use crate::measure::{CPU_OF_BOTH_PER_GB, CPU_PER_GB, Case, RATE};
use crate::quiet::cpu_with_descendants_us;

const GB: f64 = 1e9;

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let size = if bench.arguments.quick { 100_000_000 } else { 1_000_000_000_u64 };
    let nginx = Nginx::start(&bench.authority.good(), &[])?;
    nginx.sparse("large", size)?;
    let mut cases = Vec::new();
    let (gets, many) = (bench.program("gets")?, bench.program("many")?);
    for (scheme, url) in [("http", nginx.http("/large")), ("https", nginx.https("/large"))] {
        let limit = Limit { secure: scheme == "https", size, server: nginx.pid() };
        let name = format!("{scheme}, {size} bytes down to nothing");
        cases.push(beside(bench, name, limit, false, |at| {
            let mut command = bench.command(&gets, &bench.subjects[at]);
            numbers(command.args([&url, "1", "0"]))
        })?);
        let with_tool: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_tool()).collect();
        let names: Vec<String> = with_tool.iter().map(|subject| subject.name.clone()).collect();
        let starts = bench.program("starts")?;
        let file = bench.directory().path().join("received");
        let name = format!("{scheme}, {size} bytes down to a file, by the tool");
        cases.push(Case::in_turns(name, bench.turns(), &names, &[CPU_PER_GB, RATE], |at| {
            let mut command = bench.command(&starts, with_tool[at]);
            command.arg("1").arg(with_tool[at].tool()).args(["-s", "--cacert"]).arg(bench.ca());
            per_gb(&numbers(command.arg("-o").arg(&file).arg(&url))?, size)
        })?);
        let _ = std::fs::remove_file(&file);
        let to = if scheme == "http" { nginx.http("/put/sent") } else { nginx.https("/put/sent") };
        let name = format!("{scheme}, {size} bytes up");
        cases.push(beside(bench, name, limit, true, |at| {
            let mut command = bench.command(&many, &bench.subjects[at]);
            numbers(command.args([&to, "1", "1", &size.to_string()]))
        })?);
    }
    Ok(cases)
}

/// The programs that are as fast as possible.
#[derive(Clone, Copy)]
struct Limit {
    secure: bool,
    size: u64,
    /// The server of the other subjects.
    server: u32,
}

impl Limit {
    fn name(self) -> String {
        let name = if self.secure { cipher::NAME } else { "send and receive alone" };
        name.to_owned()
    }

    fn measure(self, bench: &Bench, up: bool) -> io::Result<Vec<f64>> {
        if self.secure {
            return cipher::measure(up, self.size);
        }
        let mut command = Command::new(bench.program("stream")?);
        numbers(command.arg(if up { "up" } else { "down" }).arg(self.size.to_string()))
    }
}

/// The libraries, and the limit behind them. Without TLS the server's CPU counts, too.
fn beside(
    bench: &Bench,
    name: String,
    limit: Limit,
    up: bool,
    mut run: impl FnMut(usize) -> io::Result<Vec<f64>>,
) -> io::Result<Case> {
    let mut names = bench.names();
    names.push(limit.name());
    if limit.secure {
        return Case::in_turns(name, bench.turns(), &names, &[CPU_PER_GB, RATE], |at| {
            per_gb(&if at < bench.subjects.len() { run(at)? } else { limit.measure(bench, up)? }, limit.size)
        });
    }
    Case::in_turns(name, bench.turns(), &names, &[CPU_OF_BOTH_PER_GB, CPU_PER_GB, RATE], |at| {
        let (figures, server_us) = if at < bench.subjects.len() {
            let before = cpu_with_descendants_us(limit.server)?;
            (run(at)?, cpu_with_descendants_us(limit.server)? - before)
        } else {
            let figures = limit.measure(bench, up)?;
            let peer_us = figures.last().copied().unwrap_or_default();
            (figures, peer_us)
        };
        let mut figures = per_gb(&figures, limit.size)?;
        figures.insert(0, figures[0] + server_us / 1e3 / (limit.size as f64 / GB));
        Ok(figures)
    })
}

/// Milliseconds of CPU per GB, and MB per second, from a program's figures of one request.
fn per_gb(figures: &[f64], size: u64) -> io::Result<Vec<f64>> {
    let [cpu_us, wall_us, ..] = figures else { return Err(io::Error::other(format!("what is {figures:?}"))) };
    Ok(vec![cpu_us / 1e3 / (size as f64 / GB), size as f64 / wall_us])
}
