//! `make demo`: small C++ programs, written as a user of libcurl would write them, poll sixty FTP servers and
//! one HTTPS server behind a simulated link. Prints a table; writes target/demo/results.json and
//! target/demo/demo.svg.
//!
//! usage: `warmwire-demo [--ours DIR] [--round-trip MS] [--rounds N]`; without --ours the programs run on the
//! distribution's libcurl, which shows that the measuring is right.

mod measure;
mod picture;
mod programs;
mod report;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use measure::{Job, Mode, Outcome, Scenario};

struct Arguments {
    ours: Option<PathBuf>,
    round_trip: Duration,
    rounds: usize,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(run) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("demo: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { ours: None, round_trip: Duration::from_millis(10), rounds: 3 };
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} wants a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{word} wants a number, not {value}"));
        match &*word {
            "--ours" => {
                arguments.ours = Some(std::fs::canonicalize(&value).map_err(|e| format!("{value}: {e}"))?)
            }
            "--round-trip" => arguments.round_trip = Duration::from_millis(number()?),
            "--rounds" => arguments.rounds = number()?.max(1) as usize,
            _ => return Err(format!("unknown flag {word}")),
        }
    }
    Ok(arguments)
}

/// Runs the demo; returns whether all conditions for our library were met.
fn run(arguments: Arguments) -> Result<bool, String> {
    let started = Instant::now();
    let text = |error: std::io::Error| error.to_string();
    let directory = programs::output_directory();
    std::fs::create_dir_all(&directory).map_err(text)?;
    let programs = programs::build(&directory, arguments.ours.as_deref()).map_err(text)?;
    let world = world::World::start(arguments.round_trip).map_err(text)?;
    println!(
        "{} FTP servers and one HTTPS server behind a link of {} ms; each poll fetches a file of {} bytes",
        world::FTP_SERVERS,
        arguments.round_trip.as_millis(),
        world::FILE_LENGTH
    );
    let mut outcomes: Vec<Outcome> = Vec::new();
    for group in groups() {
        let jobs: Vec<Job> = group
            .into_iter()
            .map(|(scenario, mode)| Job::new(scenario, mode, &programs, &world, arguments.rounds))
            .collect();
        outcomes.extend(measure::run_together(&jobs).map_err(text)?);
    }
    report::table(&outcomes);
    std::fs::write(directory.join("results.json"), report::json(&outcomes)).map_err(text)?;
    std::fs::write(directory.join("demo.svg"), picture::draw(&outcomes, arguments.round_trip))
        .map_err(text)?;
    println!(
        "{} and demo.svg beside it; {:.0} s",
        directory.join("results.json").display(),
        started.elapsed().as_secs_f64()
    );
    Ok(arguments.ours.is_none() || report::verdict(&outcomes))
}

/// Scenarios that run in parallel. A sequential client behind the link waits nearly all of its time, so a few
/// of them don't disturb each other; those that work hard run alone.
fn groups() -> [Vec<(Scenario, Mode)>; 4] {
    use Mode::{Kept, KeptOneHandle, Multi, Naive, NaivePool};
    use Scenario::{Ftp, Https};
    [
        vec![(Ftp, Naive), (Ftp, KeptOneHandle), (Https, Naive), (Https, KeptOneHandle)],
        vec![(Ftp, Kept), (Ftp, NaivePool), (Https, Kept), (Https, NaivePool)],
        vec![(Ftp, Multi)],
        vec![(Https, Multi)],
    ]
}
