//! Ten to ten thousand transfers in one multi handle, most of which wait for their server.

use std::io;
use std::process::Command;

use testkit::holding::Holding;

use crate::context::{Bench, numbers, output};
use crate::measure::{Case, Line, Quantity, Turns};
use crate::quiet;

/// The figures that bench/programs/crowd.c prints, by name.
const FIGURES: [(&str, Quantity); 9] = [
    ("start_cpu_us", Quantity { name: "CPU per start", unit: "µs" }),
    ("event_cpu_us", Quantity { name: "CPU per event", unit: "µs" }),
    ("end_cpu_us", Quantity { name: "CPU per end", unit: "µs" }),
    ("handle_bytes", Quantity { name: "idle handle", unit: "bytes" }),
    ("transfer_bytes", Quantity { name: "transfer with its handle", unit: "bytes" }),
    ("own_bytes", Quantity { name: "transfer", unit: "bytes" }),
    ("transfer_resident_bytes", Quantity { name: "resident, with its handle", unit: "bytes" }),
    ("used_handle_bytes", Quantity { name: "used handle", unit: "bytes" }),
    ("connection_bytes", Quantity { name: "idle connection", unit: "bytes" }),
];

/// Number of bytes that arrive one at a time at the busy transfer.
const EVENTS: usize = 1000;

/// Returns how often a crowd of this size is measured at most. The ends of a few transfers take less than a
/// millisecond, in which one interruption counts, so that their interval needs more turns.
fn turns(bench: &Bench, count: usize) -> Turns {
    bench.turns().at_most(if count <= 100 { 15 } else { 3 })
}

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let plain = Holding::plain()?;
    let secured = Holding::tls(bench.authority.good().server_config()?)?;
    let most = if bench.arguments.quick { 1_000 } else { 8_000 };
    let mut cases = Vec::new();
    for way in ["poll", "epoll"] {
        for count in [10, 100, 1_000, 8_000].into_iter().filter(|count| *count <= most) {
            let mut case = case(bench, way, count, &plain.url(""), None)?;
            if way == "poll" {
                case.lines.push(bare(bench, count, &plain.url("/hold"))?);
            }
            cases.push(case);
        }
    }
    cases.push(case(bench, "poll", most, &plain.url(""), Some(1_000))?);
    for count in [100, 1_000] {
        cases.push(case(bench, "poll", count, &secured.url(""), None)?);
    }
    Ok(cases)
}

/// The kernel's cost of as many starts without a library: a connection, a request, the beginning of a reply.
fn bare(bench: &Bench, count: usize, url: &str) -> io::Result<Line> {
    let program = bench.program("holds")?;
    let run = |_| Ok(numbers(Command::new(&program).args([&count.to_string(), url]))?[0]);
    let turns = turns(bench, count).most;
    let runs = (0..turns).map(|turn| quiet::as_client(|| run(turn))).collect::<io::Result<_>>()?;
    Ok(Line::of("bare", FIGURES[0].1, runs))
}

fn case(bench: &Bench, way: &str, count: usize, base: &str, hosts: Option<usize>) -> io::Result<Case> {
    let program = bench.program("crowd")?;
    let scheme = base.split(':').next().unwrap_or_default();
    let to = hosts.map_or(String::new(), |hosts| format!(" to {hosts} hosts"));
    let name = format!("{scheme}, {count} by {way}{to}");
    let quantities: Vec<Quantity> = FIGURES.iter().map(|(_, quantity)| *quantity).collect();
    Case::in_turns(name, turns(bench, count), &bench.names(), &quantities, |at| {
        let mut command = bench.command(&program, &bench.subjects[at]);
        let events = bench.count(EVENTS).to_string();
        command.args([way, &count.to_string(), &events, base]).args(hosts.map(|hosts| hosts.to_string()));
        let text = output(&mut command)?;
        let figure = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.parse::<f64>().ok())
        };
        let missing = || io::Error::other(format!("{command:?} said {text}"));
        FIGURES.iter().map(|(name, _)| figure(name).ok_or_else(missing)).collect()
    })
}
