//! Odd HTTP replies: cases recorded from curl (`odd-replies` beside the published test cases; its README
//! describes the fields), played by a server that sends the recorded reply to any request, and compared with
//! the record.

mod case;
mod list;
mod server;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use case::{Case, Difference};
use list::List;

const USAGE: &str = "usage: warmwire-conformance odd-replies FILE --curl BINARY [--list FILE] [--only \"1 2 3\"] [--jobs N] [--verbose]";

/// Most cases wait: a reply that keeps them waiting takes the two seconds of --max-time.
const JOBS: usize = 16;

pub fn main(arguments: &[String]) -> ExitCode {
    match Options::read(arguments).and_then(|options| options.conduct()) {
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
    file: PathBuf,
    curl: PathBuf,
    list: Option<PathBuf>,
    only: Vec<usize>,
    jobs: usize,
    verbose: bool,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options { jobs: JOBS, ..Options::default() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} wants a value\n{USAGE}"));
            match argument.as_str() {
                "--curl" => options.curl = value()?.into(),
                "--list" => options.list = Some(value()?.into()),
                "--jobs" => options.jobs = value()?.parse().map_err(|_| USAGE)?,
                "--only" => {
                    let numbers: Result<_, _> = value()?.split_whitespace().map(str::parse).collect();
                    options.only = numbers.map_err(|_| USAGE)?;
                }
                "--verbose" => options.verbose = true,
                file if !file.starts_with('-') => options.file = file.into(),
                _ => return Err(USAGE.into()),
            }
        }
        if options.file.as_os_str().is_empty() || options.curl.as_os_str().is_empty() {
            return Err(USAGE.into());
        }
        options.curl = std::fs::canonicalize(&options.curl)
            .map_err(|e| format!("{argument}: {e}", argument = options.curl.display()))?;
        Ok(options)
    }

    /// Plays the cases; true if there was no unexpected result.
    fn conduct(&self) -> Result<bool, String> {
        let started = Instant::now();
        let list = self.list.as_deref().map(List::read).transpose()?.unwrap_or_default();
        let cases = read_cases(&self.file, &self.only)?;
        let work = std::env::temp_dir().join(format!("odd-replies-{}", std::process::id()));
        let differences = self.play_all(&cases, &work);
        let _ = std::fs::remove_dir_all(&work);
        let mut bad = 0;
        let (mut acts, mut words) = (0, 0);
        for (case, difference) in cases.iter().zip(differences) {
            acts += usize::from(difference.acts.is_some());
            words += usize::from(difference.acts.is_none() && difference.words.is_some());
            if let Some(text) = list.complaint(case.number, &difference, self.verbose) {
                println!("{}: {}\n{text}", case.number, case.arguments.join(" "));
                bad += 1;
            }
        }
        let all = cases.len();
        println!("{acts} of {all} differ in exit code, output or requests, {words} more in words alone");
        println!("{:.0} seconds", started.elapsed().as_secs_f32());
        println!("{bad} unexpected");
        Ok(bad == 0)
    }

    fn play_all(&self, cases: &[Case], work: &Path) -> Vec<Difference> {
        let next = AtomicUsize::new(0);
        let found: Vec<Mutex<Difference>> = cases.iter().map(|_| Mutex::default()).collect();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(at) else { break };
                        let difference = case.play(&self.curl, &work.join(case.number.to_string()));
                        *found[at].lock().unwrap_or_else(|e| e.into_inner()) = difference;
                    }
                });
            }
        });
        found.into_iter().map(|f| f.into_inner().unwrap_or_else(|e| e.into_inner())).collect()
    }
}

/// The cases, which are numbered as their lines are.
fn read_cases(file: &Path, only: &[usize]) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let cases: Result<Vec<Case>, String> = lines
        .filter(|(number, line)| !line.is_empty() && (only.is_empty() || only.contains(number)))
        .map(|(number, line)| Case::parse(number, line).map_err(|e| format!("line {number}: {e}")))
        .collect();
    match cases {
        Ok(cases) if cases.is_empty() => Err(format!("no cases in {}", file.display())),
        cases => cases,
    }
}
