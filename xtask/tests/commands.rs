//! The `cargo test` commands that documents and scripts name find at least one test, and each file below a
//! crate's `tests` is compiled. Both are read from the sources: running the commands would build each crate
//! once more, with other features.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All files below a folder, without those that are built and git's own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with("target") && name != ".git" && name != "corpus" {
            found.extend(files(&path));
        } else if path.is_file() {
            found.push(path);
        }
    }
    found
}

/// A test program: its name (`lib` for unit tests) and the file that is its root.
type Programs = BTreeMap<String, PathBuf>;

/// The test programs of each package of the workspace.
fn packages() -> BTreeMap<String, Programs> {
    let manifests = files(&top()).into_iter().filter(|path| path.ends_with("Cargo.toml"));
    manifests.filter_map(|path| package(&path)).collect()
}

fn package(manifest: &Path) -> Option<(String, Programs)> {
    let text = fs::read_to_string(manifest).unwrap();
    let folder = manifest.parent().unwrap();
    let mut programs = Programs::new();
    if text.contains("\nautotests = false") {
        // Only `[[test]]` counts.
    } else if let Ok(entries) = fs::read_dir(folder.join("tests")) {
        for path in entries.map(|entry| entry.unwrap().path()) {
            let root = if path.is_dir() { path.join("main.rs") } else { path.clone() };
            if root.is_file() && root.extension().is_some_and(|ending| ending == "rs") {
                programs.insert(path.file_stem().unwrap().to_string_lossy().into_owned(), root);
            }
        }
    }
    for section in text.split("[[test]]").skip(1) {
        programs.insert(value(section, "name")?, folder.join(value(section, "path")?));
    }
    let unit = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
    programs.extend(unit.into_iter().find(|root| root.is_file()).map(|root| ("lib".to_owned(), root)));
    Some((value(text.split_once("[package]")?.1, "name")?, programs))
}

/// The first value of a key in a part of a manifest.
fn value(section: &str, key: &str) -> Option<String> {
    let line = section.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
    Some(line.split('"').nth(1)?.to_owned())
}

/// The names of a program's tests as `--list` prints them, apart from those that macros make.
fn tests(root: &Path) -> Vec<String> {
    let folder = root.parent().unwrap();
    let is_tree = ["main.rs", "lib.rs"].iter().any(|name| root.ends_with(name));
    let mut sources = if is_tree { files(folder) } else { vec![root.to_owned()] };
    let modules = root.with_extension("");
    if !is_tree && modules.is_dir() {
        sources.extend(files(&modules));
    }
    sources.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let mut names = Vec::new();
    for path in sources {
        let inner = path.strip_prefix(folder).unwrap().with_extension("");
        let module: Vec<_> = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let module = module.join("::").replace("::main", "").replace("::mod", "");
        let text = fs::read_to_string(&path).unwrap();
        for part in text.split("#[test]").skip(1) {
            let name =
                part.split_once("fn ").and_then(|(_, rest)| rest.split_once('(')).map(|(name, _)| name);
            names.extend(name.map(|name| format!("{module}::{name}")));
        }
    }
    names
}

/// Why a `cargo test` command of one line runs no test.
fn fault(command: &str, packages: &BTreeMap<String, Programs>) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().take_while(|word| *word != "--").collect();
    let after = |option: &str| -> Vec<&str> {
        let at = words.iter().enumerate().filter(|(_, word)| **word == option).map(|(at, _)| at + 1);
        at.filter_map(|at| words.get(at).copied()).collect()
    };
    let named = after("-p");
    if named.is_empty() && !words.contains(&"--workspace") {
        return None;
    }
    if let Some(missing) = named.iter().find(|name| !packages.contains_key(**name)) {
        return Some(format!("no package {missing}"));
    }
    let all = packages.iter().filter(|(name, _)| named.is_empty() || named.contains(&name.as_str()));
    let programs: Vec<(&String, &PathBuf)> = all.flat_map(|(_, programs)| programs).collect();
    let mut chosen = after("--test");
    chosen.extend(words.contains(&"--lib").then_some("lib"));
    if let Some(missing) = chosen.iter().find(|name| !programs.iter().any(|(program, _)| program == *name)) {
        return Some(format!("no test program {missing}"));
    }
    let options = ["-p", "--test", "--target", "--manifest-path", "--target-dir"];
    let is_filter = |at: usize| !words[at].starts_with('-') && !options.contains(&words[at - 1]);
    let filter = (2..words.len()).find(|at| is_filter(*at)).map_or("", |at| words[at]);
    let roots = programs.iter().filter(|(name, _)| chosen.is_empty() || chosen.contains(&name.as_str()));
    let found = roots.flat_map(|(_, root)| tests(root)).any(|name| name.contains(filter));
    (!found).then(|| format!("no test matches `{filter}`"))
}

/// `cargo test` commands in a text, each up to the character that ends it in a shell, a document or Rust. A
/// comment ends it, too.
fn commands(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let found = text.match_indices("cargo test ").map(|(at, _)| &text[at..]);
    found
        .map(|rest| rest.split(['`', '\n', '"', ';', '|', '&', '>', '<', '#']).next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_command_finds_a_test() {
    let (packages, mut wrong, mut count) = (packages(), Vec::new(), 0);
    let is_read = |path: &PathBuf| {
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        path.ends_with("Makefile")
            || ["md", "mk", "sh"].contains(&ending.as_str())
            || path.ends_with("table.rs")
    };
    for path in files(&top()).into_iter().filter(is_read) {
        // A shell's variable stands for words that this test can't know.
        let commands = commands(&fs::read_to_string(&path).unwrap());
        for command in commands.iter().filter(|command| !command.contains('$')) {
            count += 1;
            let fault = fault(command, &packages);
            wrong.extend(fault.map(|fault| format!("{}: {command}: {fault}", path.display())));
        }
    }
    assert!(count > 20, "only {count} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_without_a_test_is_found() {
    let packages = packages();
    for (command, expected) in [
        ("cargo test -p warmwire-engine --test all http::", None),
        ("cargo test --quiet -p warmwire-wire --lib url::", None),
        ("cargo test -p warmwire-engine --test no", Some("no test program no")),
        ("cargo test -p warmwire-engine --test all no::", Some("no test matches `no::`")),
        ("cargo test --quiet --workspace --test all tls_mutations::", None),
        ("cargo test --workspace --test all no::", Some("no test matches `no::`")),
        ("cargo test -p warmwire-no", Some("no package warmwire-no")),
    ] {
        assert_eq!(fault(command, &packages).as_deref(), expected, "{command}");
    }
}

/// The last column of CONTRIBUTING's table "Where a test goes".
#[test]
fn contributing_says_how_to_run_each_test_alone() {
    let text = fs::read_to_string(top().join("CONTRIBUTING.md")).unwrap();
    let table = text.split_once("## Where a test goes").unwrap().1.split_once("\n## ").unwrap().0;
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 8, "{rows:?}");
    let packages = packages();
    for row in rows {
        let command = row.trim_end_matches([' ', '|', '`']).rsplit('`').next().unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["cargo", "test", ..] => assert_eq!(fault(command, &packages), None, "{command}"),
            ["make", target] => {
                let dry = Command::new("make").args(["-n", target]).current_dir(top()).output().unwrap();
                assert!(dry.status.success(), "{command}: {}", String::from_utf8_lossy(&dry.stderr));
            }
            ["sh", script, ..] => assert!(top().join(script).is_file(), "{command}"),
            _ => panic!("{command}: no test knows how to judge this"),
        }
    }
}

#[test]
fn every_file_of_tests_is_compiled() {
    let mut forgotten = Vec::new();
    let manifests = files(&top()).into_iter().filter(|path| path.ends_with("Cargo.toml"));
    for manifest in manifests {
        let text = fs::read_to_string(&manifest).unwrap();
        if !text.contains("\nautotests = false") {
            continue;
        }
        let folder = manifest.parent().unwrap().join("tests");
        let main = fs::read_to_string(folder.join("main.rs")).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let root = if path.is_dir() { path.join("main.rs") } else { path.clone() };
            if root.extension().is_none_or(|ending| ending != "rs") || !root.is_file() {
                continue;
            }
            let module = format!("mod {};", path.file_stem().unwrap().to_string_lossy());
            let inner = root.strip_prefix(folder.parent().unwrap()).unwrap();
            let is_program = text.contains(&format!("path = \"{}\"", inner.display()));
            if !is_program && !main.lines().any(|line| line == module) {
                forgotten.push(root.display().to_string());
            }
        }
    }
    assert!(forgotten.is_empty(), "neither a module of main.rs nor a [[test]]: {}", forgotten.join(", "));
}
