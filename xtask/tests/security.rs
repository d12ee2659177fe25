//! tests/security.tsv names for each of curl's past logic errors the test that would fail with it, or why
//! none can. These tests check the file: the tests exist and name their CVE, what is listed as missing is
//! missing, and no CVE is absent.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tables::{Scheme, feature};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// CVE, its tests, and when and how they were last read beside the fault.
fn rows() -> Vec<[String; 3]> {
    let text = fs::read_to_string(top().join("tests/security.tsv")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let columns = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    lines.map(|line| columns(line).try_into().expect("three columns")).collect()
}

/// The comment right above a function, and the function itself.
fn function(text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.trim_start().starts_with(&format!("fn {name}(")))?;
    let is_above = |line: &&&str| matches!(line.trim_start().get(..2), Some("//" | "#["));
    let above = lines[..start].iter().rev().take_while(is_above).count();
    let indent = lines[start].len() - lines[start].trim_start().len();
    let end = format!("{}}}", " ".repeat(indent));
    let below = lines[start..].iter().position(|line| *line == end)?;
    Some(lines[start - above..start + below].join("\n"))
}

#[test]
fn every_row_is_true() {
    let mut wrong = Vec::new();
    for [cve, place, reading] in rows() {
        let fault = match place.split_once(": ") {
            Some(("lacks", what)) => what.split(", ").find_map(is_built),
            Some(("none", reason)) => reason.is_empty().then(|| "no reason".to_owned()),
            _ => place.split(", ").find_map(|test| untested(&cve, test)),
        };
        wrong.extend(fault.map(|fault| format!("{cve}: {fault}")));
        if !is_reading(&reading) {
            wrong.push(format!("{cve}: `{reading}` is no date with `mutation: ...` or `read: ...`"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `2026-11-26 mutation: what was changed in the product` or `2026-11-26 read: why that is enough`.
fn is_reading(text: &str) -> bool {
    let Some((date, how)) = text.split_once(' ') else { return false };
    let digits =
        date.split('-').map(str::len).eq([4, 2, 2]) && date.bytes().all(|b| b == b'-' || b.is_ascii_digit());
    digits
        && how
            .split_once(": ")
            .is_some_and(|(kind, what)| ["mutation", "read"].contains(&kind) && !what.is_empty())
}

/// A scheme or feature that a row calls missing.
fn is_built(what: &str) -> Option<String> {
    let built = match (Scheme::from_name(what), feature::ALL.iter().find(|row| row.name == what)) {
        (Some(scheme), _) => scheme.built(),
        (None, Some(row)) => row.built,
        (None, None) => return Some(format!("{what} is neither a scheme nor a feature")),
    };
    built.then(|| format!("{what} is built now: write the test"))
}

fn untested(cve: &str, test: &str) -> Option<String> {
    let Some((path, name)) = test.split_once('#') else { return Some(format!("{test} is no test")) };
    let Ok(text) = fs::read_to_string(top().join(path)) else { return Some(format!("{path} is not there")) };
    let Some(function) = function(&text, name) else { return Some(format!("{path} has no {name}")) };
    if !function.contains("#[test]") {
        return Some(format!("{name} is no test"));
    }
    (!function.contains(cve)).then(|| format!("{name} does not say what it is for"))
}

/// Returns whether a case of tests/servers is in its file's list under a name, or is called by a case of that
/// list.
fn is_case(place: &str) -> bool {
    let Some((path, name)) = place.split_once('#').filter(|(path, _)| path.starts_with("tests/servers/"))
    else {
        return false;
    };
    let listed = |text: &str| {
        text.contains(&format!("\", {name})")) || text.contains(&format!(", |run| {name}(run, "))
    };
    fs::read_to_string(top().join(path)).is_ok_and(|text| listed(&text) && function(&text, name).is_some())
}

/// Each promise of SECURITY.md names tests, and they exist.
#[test]
fn every_promise_names_an_existing_test() {
    let text = fs::read_to_string(top().join("SECURITY.md")).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let mut wrong = Vec::new();
    for row in &rows {
        let tests = row.rsplit('|').nth(1).expect("a row has an end");
        for test in tests.split(", ") {
            let test = test.trim().trim_matches('`');
            // The table asks for no word in the test itself.
            let fault = if is_case(test) { None } else { untested("", test) };
            wrong.extend(fault.map(|fault| format!("{row}: {fault}")));
        }
    }
    assert!(rows.len() > 10 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_fault_was_left_out() {
    let known: BTreeSet<String> = rows().into_iter().map(|[cve, ..]| cve).collect();
    assert_eq!(known.len(), rows().len(), "each once");
    let shared = std::env::var_os("WARMWIRE_SHARED").map_or(top().join("../shared"), PathBuf::from);
    // The list of scenarios is not everywhere.
    let Ok(list) = fs::read_to_string(shared.join("security/cve_scenarios.tsv")) else { return };
    let asked: BTreeSet<&str> = list.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    let missing: Vec<_> = asked.iter().filter(|cve| !known.contains(**cve)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// All Rust files of a folder, without those of tests.
fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() && name != "tests" {
            sources(&entry, all);
        } else if entry.extension().is_some_and(|end| end == "rs") && !name.ends_with("tests") {
            all.push(entry);
        }
    }
}

/// Names of statics in this text that a forked child could wait for: the thread that holds the lock, or makes
/// the value on first use, may exist in its parent alone.
fn awaited_statics(text: &str) -> Vec<&str> {
    let product = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let statics =
        product.lines().filter_map(|line| line.trim_start().split_once("static ")?.1.split_once(": "));
    let waits = |(name, kind): &(&str, &str)| {
        let kind = kind.split(" = ").next().unwrap_or_default();
        let is = |names: &[&str]| names.iter().any(|name| kind.contains(name));
        let locks =
            ["lock", "read", "write"].iter().any(|call| product.contains(&format!("{name}.{call}()")));
        is(&["OnceLock<", "LazyLock<"]) || kind == "Once" || is(&["Mutex<", "RwLock<"]) && locks
    };
    statics.filter(waits).map(|(name, _)| name).collect()
}

#[test]
fn no_forked_child_waits_for_a_thread_of_its_parent() {
    // EPOCH is for manual clocks, which tests have. BOUNDS is set when the library is loaded, and only looked
    // at later.
    const HARMLESS: [&str; 2] = ["EPOCH", "BOUNDS"];
    let mut files = Vec::new();
    for name in
        ["capi", "client", "engine", "gss", "net", "openssl", "pac", "runtime", "ssh", "tables", "wire"]
    {
        sources(&top().join("crates").join(name).join("src"), &mut files);
    }
    let mut wrong = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let names = awaited_statics(&text);
        let names = names.into_iter().filter(|name| !HARMLESS.contains(name));
        wrong.extend(names.map(|name| format!("{}: {name}", file.display())));
    }
    assert!(files.len() > 300 && wrong.is_empty(), "{}: {wrong:#?}", files.len());
    let text = "static A: OnceLock<u8> = x;\nstatic B: Mutex<u8> = x;\nstatic C: std::sync::Mutex<u8> = x;\n\
                fn f() {\n    B.try_lock();\n    C.lock();\n}\n\n\
                #[cfg(test)]\nmod tests {\n    static D: Once = x;\n}\n";
    assert_eq!(awaited_statics(text), ["A", "C"]);
}

#[test]
fn functions_are_found_with_their_comments() {
    let text = "/// CVE-1\n#[test]\nfn one() {\n    two();\n}\n\n#[test]\nfn two() {\n    // CVE-2\n}\n";
    assert!(function(text, "one").unwrap().contains("CVE-1"));
    let two = function(text, "two").unwrap();
    assert!(two.contains("CVE-2") && !two.contains("CVE-1"));
    assert_eq!(function(text, "three"), None);
}
