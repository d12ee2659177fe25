//! `make bench`: the same C program on the distribution's libcurl and on ours, in turn; writes
//! target/bench/results.json, a list of {workload, subject, cpu_us_per_request, wall_us_per_request,
//! syscalls_per_request}, and prints a table.
//!
//! The server, nginx, is another process; only the client's CPU is counted. Runs alternate, so that a change of the
//! machine's mood hits both; the median of the runs counts. Trust the ratios, not the microseconds.
//!
//! usage: `warmwire-bench [--ours DIR] [--runs N] [--quick]`

mod report;
mod run;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

pub struct Arguments {
    pub ours: Option<PathBuf>,
    pub runs: usize,
    /// A tenth of the requests, to see whether all works.
    pub quick: bool,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("bench: {message}");
            return ExitCode::from(2);
        }
    };
    match run::all(&arguments) {
        Ok(rows) => {
            report::table(&rows);
            let path = run::output_directory().join("results.json");
            if let Err(error) = std::fs::write(&path, report::json(&rows)) {
                eprintln!("bench: {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { ours: None, runs: 7, quick: false };
    while let Some(word) = words.next() {
        match &*word {
            "--quick" => arguments.quick = true,
            "--ours" | "--runs" => {
                let value = words.next().ok_or(format!("{word} wants a value"))?;
                match &*word {
                    "--ours" => {
                        arguments.ours =
                            Some(std::fs::canonicalize(&value).map_err(|e| format!("{value}: {e}"))?)
                    }
                    _ => arguments.runs = value.parse().map_err(|_| format!("{word} wants a number"))?,
                }
            }
            _ => return Err(format!("unknown flag {word}")),
        }
    }
    Ok(arguments)
}
