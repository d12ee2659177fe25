//! Runs curl's published test cases against a curl command: plays the servers, compares every check.
//! `README.md` in this crate's directory describes its use and its gaps.

mod diff;
mod features;
mod format;
mod json;
mod known;
mod newlines;
mod odd;
mod peers;
mod prepro;
mod report;
mod resolve;
mod run;
mod strip;
mod verify;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use features::Features;
use report::{Expected, SkipList};
use run::{Outcome, Settings, Verdict};

const USAGE: &str = "usage: warmwire-conformance CASES --curl BINARY [--library FOLDER] [--skip-list FILE]
    [--only \"1 2 3\"] [--agree [COLUMN]] [--expect COLUMN] [--jobs N] [--verbose] [--keep]
    [--write-list FILE] [--write-passed FILE] [--prune] [--through COMMAND]";

/// The first lines of a new skip list.
const LIST_HEAD: &str = "# Cases that are not meant to pass yet: number, then the case's name and what fails first. A case listed here that
# passes fails the run, so the list only shrinks. Cases whose servers are not played are skipped without being listed.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == "resolve") {
        return resolve::main(&arguments[1..]);
    }
    if arguments.first().is_some_and(|a| a == "odd-replies") {
        return odd::main(&arguments[1..]);
    }
    match Options::read(&arguments).and_then(|options| conduct(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

#[derive(Default)]
struct Options {
    cases: PathBuf,
    curl: PathBuf,
    /// The command that runs curl, where the system can't.
    through: Option<String>,
    library: Option<PathBuf>,
    skip_list: Option<PathBuf>,
    only: Vec<u64>,
    /// The column that the verdicts are compared with.
    agree: Option<String>,
    /// The column with the cases that are expected to pass.
    expect: Option<String>,
    jobs: usize,
    verbose: bool,
    keep: bool,
    /// Remove passing cases from the skip list.
    prune: bool,
    /// Where to write a list of failures.
    write_list: Option<PathBuf>,
    write_passed: Option<PathBuf>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options { jobs: 5, ..Options::default() };
        let mut rest = arguments.iter().peekable();
        while let Some(argument) = rest.next() {
            let mut value =
                || rest.next().cloned().ok_or_else(|| format!("{argument} wants a value\n{USAGE}"));
            match argument.as_str() {
                "--curl" => options.curl = value()?.into(),
                "--through" => options.through = Some(value()?),
                "--library" => options.library = Some(value()?.into()),
                "--skip-list" => options.skip_list = Some(value()?.into()),
                "--agree" => {
                    let column = rest.next_if(|v| !v.starts_with("--")).cloned();
                    options.agree = Some(column.unwrap_or_else(|| "curl_7_88".into()));
                }
                "--expect" => options.expect = Some(value()?),
                "--jobs" => options.jobs = value()?.parse().map_err(|_| USAGE)?,
                "--only" => {
                    let numbers: Result<_, _> = value()?.split_whitespace().map(str::parse).collect();
                    options.only = numbers.map_err(|_| USAGE)?;
                }
                "--verbose" => options.verbose = true,
                "--keep" => options.keep = true,
                "--prune" => options.prune = true,
                "--write-passed" => options.write_passed = Some(value()?.into()),
                "--write-list" => options.write_list = Some(value()?.into()),
                other if !other.starts_with('-') => options.cases = other.into(),
                _ => return Err(USAGE.into()),
            }
        }
        if options.cases.as_os_str().is_empty() || options.curl.as_os_str().is_empty() {
            return Err(USAGE.into());
        }
        Ok(options)
    }
}

/// Runs the selected cases; true if none failed.
fn conduct(options: &Options) -> Result<bool, String> {
    let started = Instant::now();
    let settings = settings(options)?;
    let list = options.skip_list.as_deref().map(SkipList::read).transpose()?.unwrap_or_default();
    let expect = options.expect.as_deref().and_then(|column| Expected::read(&settings.cases, column));
    let numbers = numbers(&settings.cases, &options.only)?;
    let outcomes = run_all(&numbers, &settings, options, &|number, verdict| {
        let verdict = list.judge(number, verdict);
        match (&expect, verdict) {
            (Some(e), Verdict::Failed(_)) if e.of(number).is_some_and(|v| v != "pass") => {
                Verdict::Skipped("this curl does not pass it with its own library either".into())
            }
            (_, verdict) => verdict,
        }
    });
    if !options.keep {
        let _ = std::fs::remove_dir_all(&settings.work);
    }
    if let Some(path) = &options.write_list {
        report::write_list(path, LIST_HEAD, &outcomes)?;
    }
    if let Some(path) = &options.write_passed {
        report::write_passed(path, &outcomes)?;
    }
    if let (true, Some(path)) = (options.prune, &options.skip_list) {
        report::prune_list(path, &outcomes)?;
    }
    let sums = report::sum_up(&outcomes);
    if let Some(column) = &options.agree {
        match Expected::read(&settings.cases, column) {
            Some(expected) => report::agreement(&outcomes, &expected, column),
            None => println!("no expected.tsv with a column {column} beside the cases"),
        }
    }
    println!("{:.0} seconds", started.elapsed().as_secs_f32());
    println!("{} passed, {} failed, {} skipped", sums.0, sums.1, sums.2);
    Ok(sums.1 == 0)
}

fn settings(options: &Options) -> Result<Settings, String> {
    let absolute = |path: &Path| std::fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()));
    let mut cases = absolute(&options.cases)?;
    if cases.join("data").is_dir() {
        cases.push("data");
    }
    let curl = absolute(&options.curl)?;
    let library = options.library.as_deref().map(absolute).transpose()?;
    // short, for the paths of Unix sockets go in here
    let work = std::env::temp_dir().join(format!("conformance-{}", std::process::id()));
    let certificates = work.join("tls");
    run::lay_out_certificates(&certificates)?;
    let features = Features::of(&curl, options.through.as_deref(), library.as_deref())?;
    let output_of = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok();
        output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
    };
    if options.keep {
        println!("folders: {}", work.display());
    }
    Ok(Settings {
        user: output_of("id", &["-un"]),
        date: output_of("date", &["-u", "+%F"]),
        curl,
        through: options.through.clone(),
        library,
        cases,
        work,
        certificates,
        features,
        verbose: options.verbose,
    })
}

fn numbers(cases: &Path, only: &[u64]) -> Result<Vec<u64>, String> {
    if !only.is_empty() {
        return Ok(only.to_vec());
    }
    let entries = std::fs::read_dir(cases).map_err(|e| format!("{}: {e}", cases.display()))?;
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut numbers: Vec<u64> = names.filter_map(|n| n.strip_prefix("test")?.parse().ok()).collect();
    numbers.sort_unstable();
    if numbers.is_empty() {
        return Err(format!("no cases in {}", cases.display()));
    }
    Ok(numbers)
}

fn run_all(
    numbers: &[u64],
    settings: &Settings,
    options: &Options,
    judge: &(dyn Fn(u64, Verdict) -> Verdict + Sync),
) -> BTreeMap<u64, Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            let (next, outcomes) = (&next, &outcomes);
            scope.spawn(move || {
                while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut outcome = run::run(*number, settings);
                    outcome.verdict = judge(*number, outcome.verdict);
                    if !options.keep {
                        let _ = std::fs::remove_dir_all(settings.work.join(number.to_string()));
                    }
                    if let Some(text) = report::tell(*number, &outcome, options.verbose) {
                        println!("{text}");
                    }
                    outcomes.lock().unwrap_or_else(|e| e.into_inner()).insert(*number, outcome);
                }
            });
        }
    });
    outcomes.into_inner().unwrap_or_else(|e| e.into_inner())
}
