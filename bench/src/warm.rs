//! `make warm`: which functions of the library a request over a kept connection runs, written down as a linker script
//! (crates/capi/warm.ld) that has them stand together.
//!
//! Measured: between two requests the server and the kernel take the caches, so that a request pays for each line of
//! code it comes by and for each page, not for the instructions. Spread over the library a GET touched 106 pages of
//! code, together 45; CPU per request fell by a tenth.
//!
//! The functions are found by callgrind under the benchmark's own programs, on a library linked with its symbols
//! (`link.sh --symbols`). A name without a match does no harm: the list grows old gracefully.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::certs::Authority;
use testkit::launch::Nginx;
use testkit::temp::TempDir;

use crate::Arguments;
use crate::run::{build_programs, output, output_directory, root};
use crate::workload::{LARGE, SMALL};

/// Requests in a profile: a function that is called less often belongs to the start.
const REQUESTS: u64 = 500;

/// Writes the linker script and answers its path.
pub fn run(arguments: &Arguments) -> io::Result<PathBuf> {
    let library = arguments.ours.as_ref().ok_or(io::Error::other("warm wants --ours"))?;
    build_programs()?;
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[SMALL, LARGE])?;
    let directory = TempDir::new("warm")?;
    let ca = directory.write("ca.pem", authority.ca_pem())?;
    let small = format!("/bytes-{SMALL}");
    let runs = [
        ("gets", nginx.http(&small), None),
        ("gets", nginx.http(&format!("/bytes-{LARGE}")), None),
        ("gets", nginx.https(&small), None),
        ("many", nginx.http(&small), Some("20")),
    ];
    let mut sections = BTreeSet::new();
    for (number, (program, url, more)) in runs.iter().enumerate() {
        let profile = directory.path().join(format!("profile-{number}"));
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--demangle=no"]);
        command.arg(format!("--callgrind-out-file={}", profile.display()));
        command.arg(output_directory().join(program)).arg(url).arg(REQUESTS.to_string()).args(*more);
        output(command.env("LD_LIBRARY_PATH", library).env("CA", &ca))?;
        sections.extend(warm_functions(&profile)?.iter().map(|name| section(name)));
    }
    let path = root().join("crates/capi/warm.ld");
    std::fs::write(&path, script(&sections))?;
    Ok(path)
}

/// The library's functions that are called as often as there are requests.
fn warm_functions(profile: &Path) -> io::Result<Vec<String>> {
    let text = std::fs::read_to_string(profile)?;
    // A name is told once, as "(7) name", and is its number afterwards. The called one stands in the caller's object
    // unless another is named.
    let (mut objects, mut names) = (BTreeMap::new(), BTreeMap::new());
    let (mut object, mut called_object, mut called) = ("", "", "");
    let mut calls: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for line in text.lines() {
        match line.split_once('=') {
            Some(("ob", rest)) => {
                (object, called_object) = (told(&mut objects, rest), told(&mut objects, rest))
            }
            Some(("cob", rest)) => called_object = told(&mut objects, rest),
            Some(("fn", rest)) => drop(told(&mut names, rest)),
            Some(("cfn", rest)) => called = told(&mut names, rest),
            Some(("calls", rest)) => {
                let times = rest.split_whitespace().next().and_then(|times| times.parse().ok()).unwrap_or(0);
                *calls.entry((called_object, called)).or_default() += times;
                called_object = object;
            }
            _ => {}
        }
    }
    let ours =
        calls.into_iter().filter(|((object, _), times)| object.contains("libcurl") && *times >= REQUESTS);
    Ok(ours.map(|((_, name), _)| name.split('\'').next().unwrap_or(name).to_owned()).collect())
}

fn told<'a>(known: &mut BTreeMap<&'a str, &'a str>, text: &'a str) -> &'a str {
    let (number, name) = text.split_once(' ').unwrap_or((text, ""));
    if !name.is_empty() {
        known.insert(number, name);
    }
    known.get(number).copied().unwrap_or_default()
}

/// The section of a function in an object file. Hashes of crates and instances change with the compiler and are left
/// open, and so is what a linker script would misread.
fn section(name: &str) -> String {
    let mut pattern = name.to_owned();
    if let Some(at) = pattern.rfind("17h").filter(|_| pattern.starts_with("_ZN")) {
        pattern.replace_range(at.., "17h*");
    }
    let crates = pattern.split("Cs").enumerate().map(|(number, part)| match part.split_once('_') {
        Some((_, rest)) if number > 0 && name.starts_with("_R") => format!("Cs*_{rest}"),
        _ if number > 0 => format!("Cs{part}"),
        _ => part.to_owned(),
    });
    crates.collect::<String>().replace('$', "?")
}

fn script(sections: &BTreeSet<String>) -> String {
    let mut text = String::from(
        "/* What a request over a kept connection runs stands together: bench/src/warm.rs says why, `make warm` wrote it. */\n\
         SECTIONS {\n  .text.warm : {\n",
    );
    sections.iter().for_each(|section| text.push_str(&format!("    *(.text.{section})\n")));
    text.push_str("  }\n} INSERT BEFORE .text;\n");
    text
}
