//! `cargo xtask api`: writes the public items of the Rust crate with their signatures to
//! crates/client/public-api.txt. With `--check` it compares, so that a change of the API is seen in a commit.
//!
//! rustdoc writes each crate as JSON, and the program in xtask/api lists it.
//!
//! `cargo xtask semver` compares the crate with the newest tag of a release by cargo-semver-checks.

use std::process::Command;

use crate::{Report, files};

/// The crate, and the crates from which it re-exports.
const CRATES: [&str; 4] = ["warmwire", "warmwire-engine", "warmwire-tables", "warmwire-wire"];
const FILE: &str = "crates/client/public-api.txt";
const HEAD: &str = "# Written by `cargo xtask api`: the public items of the crate, with all features.\n";

/// Differences that are shown.
const MOST: usize = 20;

pub fn run(check: bool) -> Report {
    document()?;
    let found = format!("{HEAD}{}", listed()?);
    if check && files::text(FILE) != found {
        let changes = changes(&files::text(FILE), &found).join("\n");
        return Err(format!("{changes}\n{FILE} is stale: run `cargo xtask api`"));
    }
    files::generated(FILE, &found, false)?;
    Ok(format!("api: {} rows", found.lines().filter(|line| line.contains("::")).count()))
}

/// Compares the crate with that of the newest release. Without a release, the step is left out.
pub fn semver() -> Report {
    let mut git = Command::new("git");
    git.args(["tag", "--list", "v[0-9]*", "--sort=-version:refname"]);
    let tags = output(git)?;
    let Some(tag) = tags.lines().next() else {
        return Ok("left out: there is no tag of a release, with which semver would be compared".to_owned());
    };
    let mut install = Command::new("sh");
    install.args(["tests/install.sh", "semver_checks"]);
    output(install)?;
    let mut checks = Command::new(files::target().join("tools/bin/cargo-semver-checks"));
    checks.args(["semver-checks", "--package", "warmwire", "--all-features", "--baseline-rev", tag]);
    output(checks).map(|_| format!("semver: the version fits the changes since {tag}"))
}

/// Writes the JSON files to target/doc, beside the documentation.
fn document() -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["doc", "--quiet", "--locked", "--no-deps", "--lib", "--all-features"]);
    CRATES.iter().for_each(|name| _ = cargo.args(["-p", name]));
    cargo.env("RUSTDOC", files::root().join("xtask/api/rustdoc.sh"));
    cargo.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json");
    output(cargo).map(drop)
}

fn listed() -> Result<String, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--locked", "--manifest-path", "xtask/api/Cargo.toml", "--target-dir"]);
    cargo.arg(files::target().join("api-listing")).arg("--");
    let json = |name: &&str| files::target().join(format!("doc/{}.json", name.replace('-', "_")));
    cargo.args(CRATES.iter().map(json));
    output(cargo)
}

fn output(mut command: Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.current_dir(files::root()).output().map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        // Findings are on either stream.
        false => Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()),
    }
}

/// Returns the first rows that only one of the two texts has.
fn changes(before: &str, after: &str) -> Vec<String> {
    let only = |of: &str, other: &str, mark: char| -> Vec<String> {
        let known: std::collections::BTreeSet<&str> = other.lines().collect();
        of.lines().filter(|line| !known.contains(line)).map(|line| format!("{mark} {line}")).collect()
    };
    let mut all = only(before, after, '-');
    all.extend(only(after, before, '+'));
    let more = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    all.extend((more > 0).then(|| format!("and {more} more")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_row_by_row() {
        assert_eq!(changes("a\nb\nc\n", "a\nc\nd\n"), ["- b", "+ d"]);
        let many: String = (0..MOST + 5).map(|row| format!("{row}\n")).collect();
        assert_eq!(changes("", &many).last().unwrap(), "and 5 more");
        assert!(changes(&many, &many).is_empty());
    }

    /// The crate says which compilers it needs. The one that compiles it here must be the oldest of them, so
    /// that each run tests it.
    #[test]
    fn the_tested_compiler_is_the_oldest_that_is_allowed() {
        let value = |file: &str, key: &str| -> String {
            let text = files::text(file);
            let line = text.lines().find_map(|line| line.strip_prefix(key)).expect("the file has the key");
            line.trim_matches('"').to_owned()
        };
        let allowed = value("Cargo.toml", "rust-version = ");
        assert_eq!(value("rust-toolchain.toml", "channel = "), format!("{allowed}.0"));
        assert!(files::text("crates/client/README.md").contains(&format!("It needs Rust {allowed},")));
    }
}
