//! A handle for each request, as simple programs do, on several threads; a handle for each thread for
//! comparison.

use std::io;

use testkit::launch::Nginx;

use super::requests::SMALL;
use crate::context::{Bench, numbers};
use crate::measure::{CPU, Case, INSTRUCTIONS, TIME};
use crate::valgrind::{each, instructions};

/// Modes of a program: its name, the program's argument, the pool.
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
            let command = |at: usize, count: usize| {
                let (subject, (_, how, pool)) = runners[at];
                let mut command = bench.command(&program, subject);
                if *pool {
                    command.env("WARMWIRE_POOL", "process");
                }
                command.args([&url, &count.to_string(), &threads.to_string(), *how]);
                command
            };
            let (name, count) = (format!("{scheme}, 1 KB, threads: {threads}"), bench.count(count));
            let mut case = Case::in_turns(name, bench.turns(), &names, &[CPU, TIME], |at| {
                numbers(&mut command(at, count))
            })?;
            // More threads have no more to do for each.
            if threads == 1 {
                case.add(INSTRUCTIONS, |at| each((20, 80), |count| instructions(&command(at, count))))?;
            }
            cases.push(case);
        }
    }
    Ok(cases)
}
