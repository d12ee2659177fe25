//! `make bench`: the same C program on the distribution's libcurl and on ours, in turn; writes
//! target/bench/results.json, a list of {workload, subject, cpu_us_per_request, wall_us_per_request,
//! syscalls_per_request, peak_kb where many transfers run at once}, and prints a table.
//!
//! The server, nginx, is another process; only the client's CPU is counted. Runs alternate, so that a change of the
//! machine's mood hits both; the median of the runs counts. Trust the ratios, not the microseconds.
//!
//! usage: `warmwire-bench [--ours DIR] [--runs N] [--quick] [perl|php|pool|warm]`; with a language, what its clients notice
//! instead; `pool` is the last rows alone; `warm` writes the library's order of functions (`warm.rs`).

mod languages;
mod pool;
mod report;
mod run;
mod warm;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

pub struct Arguments {
    pub ours: Option<PathBuf>,
    pub runs: usize,
    /// A tenth of the requests, to see whether all works.
    pub quick: bool,
    pub language: Option<&'static languages::Language>,
    /// The pool alone.
    pub pool: bool,
    /// Nothing is measured: the functions of a request are found and written down.
    pub warm: bool,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("bench: {message}");
            return ExitCode::from(2);
        }
    };
    if arguments.pool {
        pool::table(&pool::measure());
        return ExitCode::SUCCESS;
    }
    let done = match arguments.language {
        Some(language) => languages::run(language, &arguments),
        None if arguments.warm => warm::run(&arguments),
        None => all(&arguments),
    };
    match done {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The C programs and the tool; where the figures were written.
fn all(arguments: &Arguments) -> std::io::Result<PathBuf> {
    let rows = run::all(arguments)?;
    report::table(&rows);
    let pools = pool::measure();
    pool::table(&pools);
    let path = run::output_directory().join("results.json");
    std::fs::write(&path, report::json(&rows, &pools))?;
    Ok(path)
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments =
        Arguments { ours: None, runs: 7, quick: false, language: None, pool: false, warm: false };
    while let Some(word) = words.next() {
        match &*word {
            "--quick" => arguments.quick = true,
            "pool" => arguments.pool = true,
            "warm" => arguments.warm = true,
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
            _ => match languages::LANGUAGES.iter().find(|language| language.name == word) {
                Some(language) => arguments.language = Some(language),
                None => return Err(format!("unknown word {word}")),
            },
        }
    }
    Ok(arguments)
}
