//! Rust's HTTP crates beside ours: small GETs over each version of HTTP, one after the other and 64 at once;
//! and what a first program on each costs to compile. bench/programs/crates has a program for each crate.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use testkit::launch::{Http2Kind, Http2Server, Nginx};

use super::requests::SMALL;
use crate::context::{Bench, numbers, output, root, target_directory};
use crate::measure::{BUILD, BUILD_CPU, CPU, Case, Line, SIZE, TIME};

/// A program of bench/programs/crates, and the features that it is built with.
struct Program {
    name: &'static str,
    file: &'static str,
    features: &'static str,
}

const fn program(name: &'static str, file: &'static str, features: &'static str) -> Program {
    Program { name, file, features }
}

/// The programs of the row `builds`. With reqwest and the third one of ours, HTTP/3 is built in.
const PROGRAMS: [Program; 7] = [
    program("reqwest", "reqwest", "reqwest"),
    program("hyper-util's client", "hyper", "hyper"),
    program("ureq", "ureq", "ureq"),
    program("isahc (the system's libcurl)", "isahc", "isahc"),
    program("ours, HTTP/1.1 and HTTP/2", "warmwire", "warmwire"),
    program("ours, HTTP/1.1 to HTTP/3", "warmwire", HTTP3),
    program("ours, all features", "warmwire", "warmwire-all"),
];
const HTTP3: &str = "warmwire-http3";

/// A client of the row `crates`, and the versions of HTTP that it has.
struct Client {
    name: &'static str,
    features: &'static str,
    variable: Option<&'static str>,
    newest: u8,
}

const fn client(name: &'static str, features: &'static str, newest: u8) -> Client {
    Client { name, features, variable: None, newest }
}

const CLIENTS: [Client; 7] = [
    client("reqwest", "reqwest", 3),
    client("hyper-util's client", "hyper", 2),
    client("ureq, a thread for each", "ureq", 1),
    client("isahc (the system's libcurl)", "isahc", 2),
    client("ours", HTTP3, 3),
    Client { variable: Some("DRIVER"), ..client("ours, driver beside the requests", HTTP3, 3) },
    Client { variable: Some("THREADS"), ..client("ours, a thread for each", HTTP3, 3) },
];

/// Programs that the row `builds` has compiled, with their features. The row `crates` runs them.
static COMPILED: OnceLock<Vec<(&'static str, PathBuf)>> = OnceLock::new();

/// A URL, its version of HTTP, and how often it is fetched: one after the other, and at once.
struct Target {
    name: &'static str,
    url: String,
    version: u8,
    counts: (usize, usize),
}

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let built = clients()?;
    let leaf = bench.authority.good();
    let nginx = Nginx::start(&leaf, &[SMALL])?;
    let streams = Http2Server::start(Http2Kind::Nginx, &leaf, &[SMALL])?;
    let path = format!("/bytes-{SMALL}");
    let mut all = vec![
        Target { name: "http", url: nginx.http(&path), version: 1, counts: (5_000, 10_000) },
        Target { name: "https", url: nginx.https(&path), version: 1, counts: (5_000, 10_000) },
        Target { name: "HTTP/2", url: streams.https(&path), version: 2, counts: (5_000, 10_000) },
    ];
    let caddy = Http2Server::start(Http2Kind::CaddyQuic, &leaf, &[SMALL]);
    match &caddy {
        Ok(caddy) => {
            all.push(Target { name: "HTTP/3", url: caddy.https(&path), version: 3, counts: (2_000, 5_000) });
        }
        Err(error) => eprintln!("  without HTTP/3: {error}"),
    }
    let mut cases = Vec::new();
    for case in &all {
        cases.push(run(bench, &built, case, ("get", "one after the other"), case.counts.0)?);
        cases.push(run(bench, &built, case, ("parallel", "64 at once"), case.counts.1)?);
    }
    Ok(cases)
}

fn run(
    bench: &Bench,
    built: &[(&'static Client, PathBuf)],
    case: &Target,
    (task, how): (&str, &str),
    count: usize,
) -> io::Result<Case> {
    let clients: Vec<_> = built.iter().filter(|(client, _)| client.newest >= case.version).collect();
    let names: Vec<String> = clients.iter().map(|(client, _)| client.name.to_owned()).collect();
    let name = format!("{}, 1 KB, {how}", case.name);
    let count = bench.count(count).to_string();
    Case::in_turns(name, bench.turns(), &names, &[CPU, TIME], |at| {
        let (client, program) = clients[at];
        let mut command = Command::new(program);
        bench.prepare(&mut command, None);
        command.args([task, &case.url, &count]);
        command.env("SSL_CERT_FILE", bench.ca()); // isahc's libcurl asks OpenSSL
        if case.version > 1 {
            command.env(format!("HTTP{}", case.version), "1");
        }
        command.envs(client.variable.map(|variable| (variable, "task")));
        let figures = numbers(&mut command)?;
        match figures[..] {
            [cpu, wall, got] if got == SMALL as f64 => Ok(vec![cpu, wall]),
            _ => Err(io::Error::other(format!("{} said {figures:?}", client.name))),
        }
    })
}

/// Returns the clients with their programs, which are compiled unless the row `builds` has done it. Those
/// whose crates cannot be fetched or compiled are left out with a message.
fn clients() -> io::Result<Vec<(&'static Client, PathBuf)>> {
    let compiled = COMPILED.get_or_init(|| {
        let target = target_directory().join("bench/crates");
        let wanted = |program: &&Program| CLIENTS.iter().any(|client| client.features == program.features);
        let built = |program: &Program| match build(program, &target) {
            Ok(file) => Some((program.features, file)),
            Err(error) => {
                eprintln!("  without {}: {error}", program.name);
                None
            }
        };
        PROGRAMS.iter().filter(wanted).filter_map(built).collect()
    });
    let file = |client: &Client| compiled.iter().find(|(features, _)| *features == client.features);
    let all: Vec<_> = CLIENTS.iter().filter_map(|client| Some((client, file(client)?.1.clone()))).collect();
    if all.is_empty() { Err(none()) } else { Ok(all) }
}

fn none() -> io::Error {
    io::Error::new(ErrorKind::NotFound, "no crate can be fetched and compiled")
}

/// Compiles a program and returns its file.
fn build(program: &Program, target: &Path) -> io::Result<PathBuf> {
    let mut build = cargo("build");
    build.args(["--quiet", "--release", "--features", program.features, "--bin", program.file]);
    // reqwest wants it for HTTP/3.
    output(build.arg("--target-dir").arg(target).env("RUSTFLAGS", "--cfg reqwest_unstable"))?;
    Ok(target.join("release").join(program.file))
}

fn cargo(task: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args([task, "--locked"]).current_dir(root().join("bench/programs/crates"));
    command
}

/// Compiles each program from nothing, with its crates fetched before.
pub fn builds(bench: &Bench) -> io::Result<Vec<Case>> {
    output(&mut cargo("fetch")).map_err(|error| io::Error::new(ErrorKind::NotFound, error))?;
    let (mut lines, mut compiled) = (Vec::new(), Vec::new());
    for program in &PROGRAMS {
        eprintln!("  {}", program.name);
        let target = bench.directory().path().join("build");
        let (began, before) = (Instant::now(), cpu_of_children());
        let built = build(program, &target);
        let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_of_children() - before);
        match built {
            Ok(built) => {
                let kept = bench.directory().path().join(program.features);
                output(Command::new("strip").arg("-o").arg(&kept).arg(&built))?;
                let mut line = Line::of(program.name, BUILD, vec![wall]);
                line.figures.extend(Line::of("", BUILD_CPU, vec![cpu]).figures);
                line.figures.extend(Line::of("", SIZE, vec![kept.metadata()?.len() as f64 / 1e3]).figures);
                lines.push(line);
                compiled.push((program.features, kept));
            }
            Err(error) => eprintln!("  without {}: {error}", program.name),
        }
        let _ = std::fs::remove_dir_all(&target); // A build that failed at once has none.
    }
    if lines.is_empty() {
        return Err(none());
    }
    let _ = COMPILED.set(compiled);
    Ok(vec![Case { name: "a program with GETs".to_owned(), lines, discarded: 0, disturbed: false }])
}

/// Returns the processor time of all child processes that have ended, and of theirs, in seconds.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name: cutime and cstime are the 14th and 15th of them, in ticks of 10 ms.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
