//! C programs of `tests/twin`, each built once with the distribution's headers and run on the distribution's
//! libcurl and on ours. They print one fact per line as `key: value`. The facts, and what the servers saw,
//! must agree, except for the differences that `tests/twin/differences.tsv` lists with a reason.
//!
//! `TWIN=one,two` runs only these programs and prints the facts. `TWIN_LIBRARY=folder` replaces the
//! distribution's libcurl by the one in that directory: an 8.22 shows which of the listed differences are
//! ours. Where the distribution has another version than the recorded one, only what it did as recorded is
//! compared (`testkit::baseline`).

mod common;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;

use testkit::baseline::Comparison;

use common::{Scratch, compile, library, programs, root, run};
use world::World;

/// `key: value` lines; a key that comes again gets a number.
fn facts(output: &Output, seen: &str) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::from([("ends with".to_owned(), output.status.to_string())]);
    for line in String::from_utf8_lossy(&output.stdout).lines().chain(seen.lines()) {
        let (key, value) = line.split_once(": ").unwrap_or((line, ""));
        let mut unique = key.to_owned();
        let mut count = 1;
        while facts.contains_key(&unique) {
            count += 1;
            unique = format!("{key} #{count}");
        }
        facts.insert(unique, value.to_owned());
    }
    facts
}

/// Program, key (`*` at its end matches any text), reason.
fn listed_differences() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("tests/twin/differences.tsv")).unwrap();
    let row = |line: &str| {
        let mut columns = line.split('\t');
        let (program, key) = (columns.next().unwrap().to_owned(), columns.next().expect("a key").to_owned());
        assert!(columns.next().is_some_and(|reason| reason.len() > 5), "a reason: {line}");
        (program, key)
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(row).collect()
}

/// A key on which the libraries differ, and the value of each.
type Difference = (String, Option<String>, Option<String>);

/// Builds a program and runs it on both; where they differ, and all facts of the distribution's.
fn compare(source: &Path, world: &World, scratch: &Path, show: bool) -> (Vec<Difference>, String) {
    let name = source.file_stem().unwrap().to_str().unwrap();
    let folder = scratch.join(name);
    world.write_certificates(&folder);
    let program = compile(source, scratch, &["-w"]);
    let run_on = |ours| world.run(|variables| run(&program, &folder, ours, variables));
    let ((theirs, they_saw), (ours, we_saw)) = (run_on(false), run_on(true));
    assert!(theirs.status.success(), "{name} on the distribution's library: {}", theirs.status);
    let (theirs, ours) = (facts(&theirs, &they_saw), facts(&ours, &we_saw));
    if show {
        println!("{ours:#?}");
    }
    let keys: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    let differing = keys.into_iter().filter(|key| theirs.get(*key) != ours.get(*key));
    let differing = differing.map(|key| (key.clone(), theirs.get(key).cloned(), ours.get(key).cloned()));
    (differing.collect(), format!("{theirs:?}"))
}

/// Whether a row of the list is about this fact.
fn names((program, pattern): &(String, String), name: &str, key: &str) -> bool {
    let start = pattern.strip_suffix('*');
    program == name && (key == pattern || start.is_some_and(|start| key.starts_with(start)))
}

/// Returns the reproducible differences. What a server sees of an aborted request, and which of two events is
/// first, is random on a busy machine with either library: a program with a new difference runs three times,
/// and only differences of all runs count.
fn lasting(
    name: &str,
    listed: &[(String, String)],
    run: impl Fn() -> (Vec<Difference>, String),
) -> (Vec<Difference>, String) {
    let is_listed = |key: &str| listed.iter().any(|row| names(row, name, key));
    let (mut lasting, theirs) = run();
    for _ in 0..2 {
        let all_seen = listed
            .iter()
            .filter(|row| row.0 == name)
            .all(|row| lasting.iter().any(|d| names(row, name, &d.0)));
        if all_seen && lasting.iter().all(|difference| is_listed(&difference.0)) {
            break;
        }
        let (again, _) = run();
        lasting.retain(|(key, ..)| is_listed(key) || again.iter().any(|other| other.0 == *key));
        lasting.extend(again.into_iter().filter(|difference| is_listed(&difference.0)));
    }
    (lasting, theirs)
}

#[test]
fn both_libraries_agree_but_for_what_is_listed() {
    testkit::needs::libcurl_headers();
    let scratch = Scratch::new("twin");
    let world = World::new();
    let only = std::env::var("TWIN").ok();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only.split(',').any(|one| one == name));
    let name_of = |source: &Path| source.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut sources = programs("twin");
    sources.retain(|source| wanted(&name_of(source)));
    library();
    let listed = listed_differences();
    let one = |source: &Path| {
        let name = name_of(source);
        let (differences, theirs) =
            lasting(&name, &listed, || compare(source, &world, &scratch.0, only.is_some()));
        (name, differences, theirs)
    };
    let found: Vec<(String, Vec<Difference>, String)> = std::thread::scope(|threads| {
        let one = &one;
        let running: Vec<_> = sources.iter().map(|source| threads.spawn(move || one(source))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut comparison = Comparison::new("twin");
    for (name, differences, theirs) in &found {
        comparison.add(name, theirs, unexpected(name, differences, &listed));
    }
    let unknown =
        listed.iter().filter(|(program, _)| wanted(program) && !found.iter().any(|f| f.0 == *program));
    comparison.add_unrecorded(unknown.map(|(program, key)| format!("{program}\t{key}\tis of no program")));
    comparison.judge();
}

/// The differences of a program that are not listed, and those listed that are none.
fn unexpected(name: &str, differences: &[Difference], listed: &[(String, String)]) -> Vec<String> {
    let rows: Vec<_> = listed.iter().filter(|(program, _)| program == name).collect();
    let is_listed = |key: &str| rows.iter().any(|row| names(row, name, key));
    let new = differences.iter().filter(|(key, ..)| !is_listed(key));
    let new = new.map(|(key, theirs, ours)| format!("{name}\t{key}\ttheirs {theirs:?}, ours {ours:?}"));
    let gone = rows.iter().filter(|row| !differences.iter().any(|(key, ..)| names(row, name, key)));
    new.chain(gone.map(|(_, key)| format!("{name}\t{key}\tis listed and doesn't differ"))).collect()
}
