//! Other clients at the same task: as many small GETs over one kept connection, and many in parallel; and
//! their command line tools, which write files. Those that are not installed are left out. They print the
//! same figures as bench/programs/gets.c.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::launch::Nginx;

use super::requests::SMALL;
use crate::context::{Bench, Subject, numbers, output, root, target_directory};
use crate::measure::{CPU, Case, TIME};

/// A program that takes arguments: `get URL COUNT`, or `parallel URL COUNT`.
struct Peer {
    name: String,
    command: Vec<String>,
}

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL])?;
    let url = nginx.http(&format!("/bytes-{SMALL}"));
    let (gets, many) = (bench.program("gets")?, bench.program("many")?);
    let peers = peers(bench)?;
    let tasks =
        [("get", "http, 1 KB, one after the other", 2_000), ("parallel", "http, 1 KB, 50 at once", 5_000)];
    let mut names = bench.names();
    names.extend(peers.iter().map(|peer| peer.name.clone()));
    let case = |(task, name, count): &(&str, &str, usize)| {
        let count = bench.count(*count).to_string();
        Case::in_turns(*name, bench.turns().at_most(3), &names, &[CPU, TIME], |at| {
            let mut command = match bench.subjects.get(at) {
                Some(subject) if *task == "get" => {
                    let mut command = bench.command(&gets, subject);
                    command.args([&url, &count]);
                    command
                }
                Some(subject) => {
                    let mut command = bench.command(&many, subject);
                    command.args([&*url, &count, "50"]);
                    command
                }
                None => {
                    let words = &peers[at - bench.subjects.len()].command;
                    let mut command = Command::new(&words[0]);
                    command.args(&words[1..]).args([task, &*url, &count]);
                    bench.prepare(&mut command, None);
                    command
                }
            };
            numbers(&mut command)
        })
    };
    let mut cases: Vec<Case> = tasks.iter().map(case).collect::<io::Result<_>>()?;
    cases.push(files(bench, &nginx)?);
    Ok(cases)
}

/// A tool that downloads the files of a list, with its mode.
enum Downloader<'a> {
    Tool(&'a Subject),
    Wget2(PathBuf),
    Aria2(PathBuf),
}

/// Many small files by the command line, 50 at once, into a folder.
fn files(bench: &Bench, nginx: &Nginx) -> io::Result<Case> {
    let count = bench.count(2_000);
    let folder = bench.directory().path().join("files");
    std::fs::create_dir_all(&folder)?;
    let (place, mut config, mut list) = (folder.display().to_string(), String::new(), String::new());
    for number in 0..count {
        let url = nginx.http(&format!("/bytes-{SMALL}?{number}"));
        let _ = writeln!(config, "url = \"{url}\"\noutput = \"{place}/{number}\"");
        let _ = writeln!(list, "{url}\n  out={number}");
    }
    let config = bench.directory().write("files.config", config)?.display().to_string();
    let of_aria2 = bench.directory().write("files.aria2", &list)?.display().to_string();
    let urls: String = list.lines().step_by(2).flat_map(|line| [line, "\n"]).collect();
    let of_wget2 = bench.directory().write("files.wget2", urls)?.display().to_string();
    let subjects = bench.subjects.iter().filter(|subject| subject.has_tool());
    let mut all: Vec<(String, Downloader)> =
        subjects.map(|subject| (subject.name.clone(), Downloader::Tool(subject))).collect();
    all.extend(found("wget2").map(|file| ("wget2".to_owned(), Downloader::Wget2(file))));
    all.extend(found("aria2c").map(|file| ("aria2".to_owned(), Downloader::Aria2(file))));
    let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let starts = bench.program("starts")?;
    let case = Case::in_turns(
        "http, 1 KB into files, 50 at once",
        bench.turns().at_most(3),
        &names,
        &[CPU, TIME],
        |at| {
            let (program, words): (&Path, Vec<&str>) = match &all[at].1 {
                Downloader::Tool(subject) => (subject.tool(), vec!["-s", "-Z", "-K", &config]),
                Downloader::Wget2(file) => {
                    (file, vec!["-q", "--max-threads=50", "-P", &place, "-i", &of_wget2])
                }
                Downloader::Aria2(file) => {
                    let flags = ["-q", "-j", "50", "--allow-overwrite=true", "--auto-file-renaming=false"];
                    (file, [&flags[..], &["--file-allocation=none", "-d", &place, "-i", &of_aria2]].concat())
                }
            };
            let subject = bench.subjects.iter().find(|subject| subject.name == all[at].0);
            let mut command = bench.command(&starts, subject.unwrap_or(&bench.subjects[0]));
            let whole = numbers(command.arg("1").arg(program).args(words))?;
            // wget2 and aria2 may fail without an error code.
            let written = std::fs::read_dir(&folder)?.count();
            std::fs::remove_dir_all(&folder)?;
            std::fs::create_dir_all(&folder)?;
            if written < count {
                return Err(io::Error::other(format!("{}: {written} files of {count}", all[at].0)));
            }
            Ok(whole.iter().map(|figure| figure / count as f64).collect())
        },
    )?;
    Ok(case)
}

/// Returns the installed clients.
fn peers(bench: &Bench) -> io::Result<Vec<Peer>> {
    let script = |name: &str| root().join("bench/programs").join(name).display().to_string();
    let mut all = Vec::new();
    for module in ["requests", "httpx", "aiohttp", "urllib3"] {
        // The distribution's packages are its own Python's, which need not be the first in PATH.
        let knows = |python: &&str| {
            let there = Command::new(python).args(["-c", &format!("import {module}")]).output();
            there.is_ok_and(|output| output.status.success())
        };
        if let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(knows) {
            let command = vec![python.to_owned(), script("peers.py"), module.to_owned()];
            all.push(Peer { name: format!("Python's {module}"), command });
        }
    }
    let in_rust = [("Rust's reqwest (hyper)", reqwest()), ("Warmwire's crate in tokio", crate_in_tokio())];
    for (name, built) in in_rust {
        match built {
            Ok(program) => all.push(Peer { name: name.to_owned(), command: vec![program] }),
            Err(error) => eprintln!("  without {name}: {error}"),
        }
    }
    if let Some(node) = found("node") {
        let command = vec![node.display().to_string(), script("peers.mjs")];
        all.push(Peer { name: "Node's fetch (undici)".to_owned(), command });
    }
    if let Some(go) = found("go") {
        let built = bench.directory().path().join("peers-go");
        let mut build = Command::new(go);
        build.args(["build", "-o"]).arg(&built).arg(script("peers.go")).env("GO111MODULE", "off");
        output(&mut build)?;
        all.push(Peer { name: "Go's net/http".to_owned(), command: vec![built.display().to_string()] });
    }
    match all.is_empty() {
        true => {
            Err(io::Error::new(ErrorKind::NotFound, "neither Python's clients nor Node nor Go are installed"))
        }
        false => Ok(all),
    }
}

/// Builds a client on reqwest, whose crates are fetched only for this.
fn reqwest() -> io::Result<String> {
    let (manifest, target) = ("bench/programs/reqwest/Cargo.toml", target_directory().join("bench/reqwest"));
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--release", "--locked", "--manifest-path"]).arg(root().join(manifest));
    output(build.arg("--target-dir").arg(&target))?;
    Ok(target.join("release/peers-reqwest").display().to_string())
}

/// Builds the same client on our crate's futures, with one thread for everything as there.
fn crate_in_tokio() -> io::Result<String> {
    let target = target_directory();
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--release", "--locked", "-p", "warmwire", "--features", "tokio"]);
    output(build.args(["--example", "async_gets", "--target-dir"]).arg(&target).current_dir(root()))?;
    Ok(target.join("release/examples/async_gets").display().to_string())
}

/// A program in PATH, or where Go is unpacked.
pub fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).chain(["/usr/local/go/bin".into()]).collect();
    places.iter().map(|place| Path::new(place).join(name)).find(|file| file.is_file())
}
