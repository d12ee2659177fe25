//! `cargo xtask unit`: all tests of the workspace, several test programs at a time.
//!
//! Test programs wait for servers and timers most of the time. `cargo test` runs one program after another,
//! which leaves the processors idle for half of that time.
//!
//! With `--changed`, a program whose last run passed is not run again as long as nothing that it could notice
//! has changed; its output of that run is printed instead. Removing target/unit forgets these runs.

use crate::stamp::{self, Stamp};
use crate::steps::child::{self, End};
use crate::steps::outcome::{self, EARLIER, Output};
use crate::{Report, files, lints};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Programs that run at the same time. Each has as many threads as there are processors.
const AT_A_TIME: usize = 3;

/// How the line of a program begins that runs now; [`EARLIER`] is that of another.
const RUNNING: &str = "     Running";

/// The limit for one program; the step that runs them all has a limit of its own.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// A test program, or cargo as the runner of the tests in documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    /// The package and the target, for example `warmwire-net all`.
    name: String,
    executable: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    /// Equal in two runs if nothing that the program could notice has changed; `None` if that is unknown.
    stamp: Option<Stamp>,
}

/// A run of a program.
struct Run {
    end: End,
    output: String,
    seconds: f64,
    is_earlier: bool,
}

impl Run {
    /// Returns whether all that made the program fail are tests that were left out.
    fn is_whole(&self) -> bool {
        let counts = || outcome::read(Output::Libtest, &self.output);
        self.end == End::Success || self.end == End::Failure && counts().explains_failure()
    }
}

/// Compiles and runs all tests; returns the sums, or an error if a program failed.
///
/// The output of each program is printed whole when the program ends.
pub fn run(changed: bool) -> Report {
    let messages = compile()?;
    let mut programs = programs(&messages, &stamp::of_machine());
    let folder = files::target().join("unit");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let known = read_rows(&folder.join("runs.tsv"));
    sort(&mut programs, &known);
    let runs = perform(programs, &folder, if changed { &known } else { &[] })?;
    report(&runs)
}

fn report(runs: &[(Program, Run)]) -> Report {
    let failed: Vec<&str> = runs
        .iter()
        .filter(|(_, run)| run.end != End::Success)
        .map(|(program, _)| program.name.as_str())
        .collect();
    let earlier = runs.iter().filter(|(_, run)| run.is_earlier).count();
    let sums = format!("{} test programs, {earlier} of them in an earlier run", runs.len());
    if failed.is_empty() { Ok(sums) } else { Err(format!("{sums}; failed: {}", failed.join(", "))) }
}

/// Compiles the tests; returns cargo's messages, one JSON value a line.
fn compile() -> Report {
    let mut cargo = lints::cargo(&["test", "--workspace", "--no-run", "--quiet"]);
    cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("sh: {error}"))?;
    if !output.status.success() {
        return Err("the tests do not compile".to_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| format!("cargo's messages: {error}"))
}

/// Returns the test programs that cargo's messages name, and the tests in documentation.
fn programs(messages: &str, machine: &Stamp) -> Vec<Program> {
    let messages: Vec<Value> = messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let artifacts = messages.iter().filter(|message| message["reason"] == "compiler-artifact");
    // In the order of their names: cargo names them in the order in which it finishes them.
    let mut built: BTreeMap<PathBuf, BTreeSet<&str>> = BTreeMap::new();
    for artifact in artifacts.clone().filter(|artifact| artifact["profile"]["test"] != true) {
        let Some(folder) = folder(artifact) else { continue };
        let files = artifact["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        built.entry(folder).or_default().extend(files);
    }
    let stamped = |files: BTreeSet<&str>| {
        let mut stamp = machine.clone();
        files.iter().for_each(|file| stamp.add_file(Path::new(file)));
        stamp
    };
    let packages: BTreeMap<_, _> =
        built.into_iter().map(|(folder, files)| (folder, stamped(files))).collect();
    let programs = artifacts.filter_map(|artifact| program(artifact, &packages, machine));
    programs.chain([documentation(&packages)]).collect()
}

fn folder(artifact: &Value) -> Option<PathBuf> {
    Some(Path::new(artifact["manifest_path"].as_str()?).parent()?.to_owned())
}

fn program(artifact: &Value, packages: &BTreeMap<PathBuf, Stamp>, machine: &Stamp) -> Option<Program> {
    if artifact["profile"]["test"] != true {
        return None;
    }
    let executable = PathBuf::from(artifact["executable"].as_str()?);
    let folder = folder(artifact)?;
    let kind = artifact["target"]["kind"][0].as_str()?;
    let package = folder.strip_prefix(files::root()).unwrap_or(&folder).display().to_string();
    let name = format!("{package} {kind} {}", artifact["target"]["name"].as_str()?);
    // The tests of xtask read the sources.
    let stamp = (package != "xtask").then(|| {
        let mut stamp = packages.get(&folder).unwrap_or(machine).clone();
        stamp.add_file(&executable);
        stamp
    });
    Some(Program { name, executable, arguments: Vec::new(), folder, stamp })
}

/// The tests in documentation. Cargo compiles and runs them for one crate after another.
fn documentation(packages: &BTreeMap<PathBuf, Stamp>) -> Program {
    let mut stamp = Stamp::default();
    packages.values().for_each(|package| stamp.add(package.to_string().as_bytes()));
    let words = ["tests/cargo.sh", "test", "--workspace", "--doc", "--no-fail-fast"];
    Program {
        name: "documentation".to_owned(),
        executable: "sh".into(),
        arguments: words.map(str::to_owned).to_vec(),
        folder: files::root(),
        stamp: Some(stamp),
    }
}

/// A row of target/unit/runs.tsv: name, seconds, and the stamp if the run was whole.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    seconds: f64,
    stamp: Option<String>,
}

fn read_rows(file: &Path) -> Vec<Row> {
    rows(&std::fs::read_to_string(file).unwrap_or_default())
}

fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let mut columns = line.split('\t');
        let (name, seconds) = (columns.next()?.to_owned(), columns.next()?.parse().ok()?);
        let stamp = columns.next().filter(|stamp| !stamp.is_empty()).map(str::to_owned);
        Some(Row { name, seconds, stamp })
    };
    text.lines().filter_map(row).collect()
}

/// Puts the program that took longest first, so that no long one is left alone at the end. A program that
/// has not run yet comes before all that have.
fn sort(programs: &mut [Program], known: &[Row]) {
    let row = |program: &Program| known.iter().find(|row| row.name == program.name);
    let took = |program: &Program| row(program).map_or(f64::INFINITY, |row| row.seconds);
    programs.sort_by(|one, other| took(other).total_cmp(&took(one)).then_with(|| one.name.cmp(&other.name)));
}

/// Runs the programs, and writes the rows of all that have ended after each: a run that is interrupted has
/// its use for the next one.
fn perform(programs: Vec<Program>, folder: &Path, known: &[Row]) -> Result<Vec<(Program, Run)>, String> {
    let queue = Mutex::new(programs.into_iter());
    let done = Mutex::new(Vec::new());
    let next = || queue.lock().expect("no thread panics while it takes a program").next();
    let work = || {
        while let Some(program) = next() {
            let run = match earlier(&program, folder, known) {
                Some(run) => run,
                None => one(&program, folder)?,
            };
            let mut done = done.lock().expect("no thread panics while it prints");
            println!("{} {}\n{}", if run.is_earlier { EARLIER } else { RUNNING }, program.name, run.output);
            if run.end == End::TooLong {
                println!("{} was killed after {} minutes", program.name, LIMIT.as_secs() / 60);
            }
            done.push((program, run));
            write_rows(&done, folder)?;
        }
        Ok::<(), String>(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker returns its errors"))
    })?;
    Ok(done.into_inner().expect("no thread panics while it prints"))
}

fn write_rows(runs: &[(Program, Run)], folder: &Path) -> Result<(), String> {
    let row = |(program, run): &(Program, Run)| {
        let stamp = program.stamp.as_ref().filter(|_| run.is_whole()).map(Stamp::to_string);
        format!("{}\t{:.1}\t{}\n", program.name, run.seconds, stamp.unwrap_or_default())
    };
    let file = folder.join("runs.tsv");
    let rows: String = runs.iter().map(row).collect();
    std::fs::write(&file, rows).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns the last run of a program, if it was whole and nothing has changed since then.
fn earlier(program: &Program, folder: &Path, known: &[Row]) -> Option<Run> {
    let row = known.iter().find(|row| row.name == program.name)?;
    if row.stamp.as_ref()? != &program.stamp.as_ref()?.to_string() {
        return None;
    }
    let output = std::fs::read_to_string(log(program, folder)).ok()?;
    let end = if output.contains("test result: FAILED") { End::Failure } else { End::Success };
    Some(Run { end, output, seconds: row.seconds, is_earlier: true })
}

fn log(program: &Program, folder: &Path) -> PathBuf {
    folder.join(format!("{}.log", program.name.replace(['/', ' '], "-")))
}

fn one(program: &Program, folder: &Path) -> Result<Run, String> {
    let started = Instant::now();
    let mut command = Command::new(&program.executable);
    command.args(&program.arguments).current_dir(&program.folder);
    let (end, output) = child::start(&mut command, &log(program, folder), LIMIT)?;
    Ok(Run { end, output, seconds: started.elapsed().as_secs_f64(), is_earlier: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(name: &str, command: &str, folder: &Path) -> Program {
        Program {
            name: name.to_owned(),
            executable: "sh".into(),
            arguments: vec!["-c".to_owned(), command.to_owned()],
            folder: folder.to_owned(),
            stamp: None,
        }
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("warmwire-unit-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn test_programs_are_artifacts_with_an_executable_and_the_profile_of_tests() {
        let artifact = |test: bool, executable: &str| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/x/net/Cargo.toml\",\
                 \"target\":{{\"kind\":[\"test\"],\"name\":\"all\"}},\"profile\":{{\"test\":{test}}},\
                 \"filenames\":[\"/t/libnet.a\"],\"executable\":{executable}}}\n"
            )
        };
        let messages = [
            artifact(true, "\"/t/all-1\""),
            artifact(false, "\"/t/tool\""),
            artifact(true, "null"),
            "{\"reason\":\"build-finished\",\"success\":true}\n".to_owned(),
        ];
        let machine = Stamp::default();
        let found = programs(&messages.concat(), &machine);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].name, "documentation");
        assert_eq!(found[0].name, "/x/net test all");
        assert_eq!(found[0].executable, Path::new("/t/all-1"));
        assert_eq!(found[0].folder, Path::new("/x/net"));
        let turned = programs(&messages.iter().rev().cloned().collect::<String>(), &machine);
        assert_eq!(found[0].stamp, turned[0].stamp, "cargo's order does not count");
        let alone = programs(&messages[0], &machine);
        assert_ne!(found[0].stamp, alone[0].stamp, "what the package builds besides counts");
        assert_ne!(found[1].stamp, alone[1].stamp);
    }

    #[test]
    fn unknown_programs_come_first_and_then_the_longest() {
        let mut programs = ["short", "long", "new"].map(|name| sh(name, "", Path::new("/")));
        let rows = rows("short\t0.5\tab\nlong\t20.1\t\nbroken\n");
        assert_eq!(rows.iter().map(|row| row.stamp.as_deref()).collect::<Vec<_>>(), [Some("ab"), None]);
        sort(&mut programs, &rows);
        assert_eq!(programs.map(|program| program.name), ["new", "long", "short"]);
    }

    #[test]
    fn a_program_that_fails_is_named_and_the_others_run() {
        let folder = scratch("fails");
        let command = |number| if number == 4 { "exit 1" } else { "pwd" };
        let all = (0..9).map(|number| sh(&number.to_string(), command(number), &folder));
        let runs = perform(all.collect(), &folder, &[]).unwrap();
        let error = report(&runs).unwrap_err();
        assert_eq!(error, "9 test programs, 0 of them in an earlier run; failed: 4");
        let log = std::fs::read_to_string(folder.join("3.log")).unwrap();
        assert_eq!(Path::new(log.trim()).file_name(), folder.file_name());
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Only a test that is left out may have made a program fail whose result is kept.
    #[test]
    fn only_a_whole_run_with_an_equal_stamp_is_not_repeated() {
        let folder = scratch("earlier");
        let result = |text: &str| format!("echo 'running 1 test'; echo '{text}'; echo x >>ran");
        let lacks =
            "---- a stdout ----\nleft out: no root\n\nfailures:\ntest result: FAILED. 0 passed; 1 failed";
        let fails = lacks.replace("left out: no root", "1 is not 2");
        let with = |stamp: &str, command: &str| {
            let mut program = sh("one", command, &folder);
            let mut value = Stamp::default();
            value.add(stamp.as_bytes());
            program.stamp = Some(value);
            program
        };
        let count = || std::fs::read_to_string(folder.join("ran")).map_or(0, |text| text.len() / 2);
        let run = |program: Program| {
            let runs = perform(vec![program], &folder, &read_rows(&folder.join("runs.tsv"))).unwrap();
            (count(), runs[0].1.end)
        };
        let (good, lacks) = (result("test result: ok. 1 passed"), result(lacks) + "; exit 1");
        let fails = result(&fails) + "; exit 1";
        assert_eq!(run(with("a", &good)), (1, End::Success));
        assert_eq!(run(with("a", &good)), (1, End::Success));
        assert_eq!(run(with("b", &good)), (2, End::Success));
        assert_eq!(run(with("c", &lacks)), (3, End::Failure));
        assert_eq!(run(with("c", &lacks)), (3, End::Failure));
        assert_eq!(run(with("d", &fails)), (4, End::Failure));
        assert_eq!(run(with("d", &fails)), (5, End::Failure));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
