//! `make demo`: small C++ programs, written as a user of libcurl would write them, poll sixty FTP servers and
//! one HTTPS server behind a simulated link, on the distribution's libcurl and on ours. Prints a table;
//! writes target/demo/results.json and target/demo/demo.svg.
//!
//! usage: `warmwire-demo [--ours DIR] [--round-trip MS] [--rounds N]`; without --ours the programs run on the
//! distribution's libcurl alone.

mod measure;
mod picture;
mod programs;
mod report;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use measure::{Job, Mode, Outcome, Scenario};
use programs::{Library, Programs};

struct Arguments {
    ours: Option<PathBuf>,
    round_trip: Duration,
    rounds: usize,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // The library starts the broker by this flag, with this program as WARMWIRE_BROKER.
    let outcome = match words == ["--pool-broker"] {
        true => broker::run_broker().map(|()| true),
        false => parse(words.into_iter()).and_then(run),
    };
    match outcome {
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
    if !programs.libraries().contains(&Library::Distribution) {
        println!("no libcurl of the distribution was found to compare with (Debian: libcurl4)");
    }
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (about, group) in groups(&programs) {
        let jobs: Vec<Job> =
            group.into_iter().map(|job| Job::new(job, &programs, &world, arguments.rounds)).collect();
        outcomes.extend(measure::run_together(&about, &jobs).map_err(text)?);
    }
    report::table(&outcomes, &programs);
    std::fs::write(directory.join("results.json"), report::json(&outcomes, &programs)).map_err(text)?;
    std::fs::write(directory.join("demo.svg"), picture::draw(&outcomes, &programs, arguments.round_trip))
        .map_err(text)?;
    println!(
        "{} and demo.svg beside it; {:.0} s",
        directory.join("results.json").display(),
        started.elapsed().as_secs_f64()
    );
    Ok(arguments.ours.is_none() || report::verdict(&outcomes, &programs))
}

/// A program on a library.
type Run = (Scenario, Mode, Library);

/// Runs of these modes, on each library that has the mode.
fn runs(programs: &Programs, modes: &[Mode]) -> Vec<Run> {
    let mut runs = Vec::new();
    for mode in modes {
        for library in programs.libraries().into_iter().filter(|library| mode.is_of(*library)) {
            runs.extend([Scenario::Ftp, Scenario::Https].map(|scenario| (scenario, *mode, library)));
        }
    }
    runs
}

/// Runs at the same time, with a name for the progress line. A sequential client behind the link waits nearly
/// all of its time, so a few of them don't disturb each other; a program with many transfers runs alone.
fn groups(programs: &Programs) -> Vec<(String, Vec<Run>)> {
    let together = |about: &str, modes: &[Mode]| (about.to_string(), runs(programs, modes));
    let mut groups = vec![
        together("naive and kept-one-handle", &[Mode::Naive, Mode::KeptOneHandle]),
        together("kept and naive-pool", &[Mode::Kept, Mode::NaivePool]),
        together("process-each", &[Mode::ProcessEach]),
    ];
    for run in runs(programs, &[Mode::Multi]) {
        let (scenario, _, library) = run;
        groups.push((format!("multi, {}, {}", scenario.name(), programs.library_name(library)), vec![run]));
    }
    groups
}
