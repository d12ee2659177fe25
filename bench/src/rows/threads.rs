//! A handle for each request, as the simple program has it, by threads; beside it a handle for each thread.

use std::io;

use testkit::launch::Nginx;

use super::requests::SMALL;
use crate::context::{Bench, numbers};
use crate::measure::{CPU, Case, TIME};

/// How a program goes about it: its name, the program's word, the pool.
const WAYS: [(&str, &str, bool); 3] = [
    ("a handle each", "fresh", false),
    ("a handle each, process-wide pool", "fresh", true),
    ("kept handles", "kept", false),
];

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL])?;
    let program = bench.program("threads")?;
    let path = format!("/bytes-{SMALL}");
    let mut cases = Vec::new();
    for (scheme, url, count) in [("http", nginx.http(&path), 4_000), ("https", nginx.https(&path), 800)] {
        for threads in [1, 4, 16] {
            let all = bench.subjects.iter().flat_map(|subject| WAYS.iter().map(move |way| (subject, way)));
            let runners: Vec<_> = all.filter(|(subject, (_, _, pool))| subject.ours || !pool).collect();
            let names: Vec<String> =
                runners.iter().map(|(subject, (way, ..))| format!("{}, {way}", subject.name)).collect();
            let count = bench.count(count).to_string();
            let name = format!("{scheme}, 1 KB, threads: {threads}");
            cases.push(Case::in_turns(name, bench.runs(), &names, &[CPU, TIME], |at| {
                let (subject, (_, how, pool)) = runners[at];
                let mut command = bench.command(&program, subject);
                if *pool {
                    command.env("WARMWIRE_POOL", "process");
                }
                numbers(command.args([&url, &count, &threads.to_string(), *how]))
            })?);
        }
    }
    Ok(cases)
}
