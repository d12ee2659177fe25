//! `make bench`: how much faster, and at what? The same programs on each libcurl, against the same servers,
//! in turn.
//!
//! What can be measured is a [row](rows::ROWS), chosen by words that its name contains. A row says what it is
//! held against. Every run of a row meets every subject, and who begins changes: what slows the machine for a
//! while slows all. Written are bench/RESULTS.md, and beside it results.json and a picture for each quantity:
//! medians, spread, and the ratio to the system's libcurl in the runs beside. Trust the ratios.
//!
//! usage: `warmwire-bench [--ours DIR] [--runs N] [--quick] [--readme] [--out DIR] [--list] [WORD...]`, or
//! `warm`, which writes the library's order of functions (`warm.rs`), or `counts [--record]`, which counts
//! instructions (`counts.rs`), or `soak [--minutes N] [WAY...]`, which looks for what grows (`soak.rs`). The
//! environment's LIBCURL names the folder of one more libcurl.so.4, and CURL one more tool.

mod arguments;
mod context;
mod counts;
mod measure;
mod report;
mod rows;
mod soak;
mod valgrind;
mod warm;

use std::process::ExitCode;

use arguments::{Arguments, Task};

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
