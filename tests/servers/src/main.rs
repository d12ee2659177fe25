//! Runs small C, C++, PHP and Python programs and Debian's own curl against embedded and real servers, with
//! the distribution's libcurl and with ours (chosen by LD_LIBRARY_PATH), and compares the facts that they
//! print.
//!
//! Passing with the distribution's library shows that the test is right; passing with ours is the result.
//!
//! usage: `warmwire-servers [--ours DIR] [--only ours|distribution] [--deep] [--jobs N] [NAME-PART...]`

mod cases;
mod runner;
mod subject;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use subject::Subject;

#[derive(Default)]
struct Arguments {
    ours: Option<PathBuf>,
    only: Option<String>,
    deep: bool,
    jobs: usize,
    filters: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    raise_descriptor_limit();
    let mut subjects = vec![Subject::Distribution];
    subjects.extend(arguments.ours.iter().cloned().map(Subject::Ours));
    subjects.extend(arguments.ours.map(Subject::OpenSsl));
    if let Some(only) = &arguments.only {
        subjects.retain(|subject| subject.name() == only);
    }
    let world = match world::World::new() {
        Ok(world) => world,
        Err(error) => {
            eprintln!("the test servers do not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let cases = cases::all().into_iter().filter(|case| arguments.deep || !case.deep);
    let cases: Vec<_> = cases
        .filter(|case| {
            arguments.filters.is_empty() || arguments.filters.iter().any(|part| case.name.contains(part))
        })
        .collect();
    match runner::run(&world, &subjects, &cases, arguments.jobs.max(1)) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Some cases open 10,000 connections; programs inherit the limit.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { jobs: 2, ..Arguments::default() };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match &*word {
            "--ours" => {
                let directory = PathBuf::from(value()?);
                let absolute = std::fs::canonicalize(&directory);
                arguments.ours = Some(absolute.map_err(|error| format!("{}: {error}", directory.display()))?);
            }
            "--only" => arguments.only = Some(value()?),
            "--jobs" => arguments.jobs = value()?.parse().map_err(|_| "--jobs wants a number".to_string())?,
            "--deep" => arguments.deep = true,
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
            _ => arguments.filters.push(word),
        }
    }
    Ok(arguments)
}
