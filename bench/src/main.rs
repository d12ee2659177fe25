//! `make bench`: compares the same programs on each libcurl, against the same servers, in turn.
//!
//! Each measurement is a [row](rows::ROWS), selected by words that its name contains. Each row names its
//! limit. Every turn of a case measures every subject, and the order changes: a slow phase of the machine
//! then slows all of them. Puts the rows into bench/results.json and writes RESULTS.md and a picture for each
//! row from that file: medians, their intervals, and the quotients to the system's libcurl.
//!
//! usage: `warmwire-bench [--ours DIR] [--runs N] [--quick] [--readme] [--out DIR] [--list] [WORD...]`, or
//! `draw`, which writes the reports again and measures nothing, or `warm`, which writes the library's order
//! of functions (`warm.rs`), or `counts [--record]`, which counts instructions (`counts.rs`), or `soak
//! [--minutes N] [WAY...]`, which looks for what grows (`soak.rs`). The environment variable LIBCURL names
//! the directory of one more libcurl.so.4, and CURL one more tool.

mod arguments;
mod context;
mod counts;
mod measure;
mod quiet;
mod report;
mod rows;
mod soak;
mod valgrind;
mod warm;

use std::process::ExitCode;

use arguments::{Arguments, Task};

/// Makes the reports from results.json again.
fn draw(arguments: Arguments) -> std::io::Result<()> {
    let report = report::Report::new(arguments.out);
    report.draw()?;
    if arguments.readme { report.write_readme() } else { Ok(()) }
}

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("bench: {message}");
            return ExitCode::from(2);
        }
    };
    let done = match arguments.task {
        Task::List => rows::list(),
        Task::Measure => rows::run(arguments),
        Task::Draw => draw(arguments),
        Task::Warm => warm::run(&arguments),
        Task::Count => counts::run(arguments),
        Task::Soak => soak::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
