//! `cargo xtask clippy`: compiles all crates and their tests with clippy, and reports its findings.
//!
//! `cargo clippy` looks at all dependencies again that the tests compile, and at the workspace's crates for a
//! second time. Here the compiler of the tests is clippy (tests/cargo.sh): one pass has both results.

use crate::{Report, files};
use serde_json::Value;
use std::process::{Command, Stdio};

/// The commands that compile all. The second one builds programs under their plain names and without
/// `cfg(test)`, in which code that only tests use is a finding.
const BUILDS: [&[&str]; 2] = [
    &["test", "--workspace", "--no-run"],
    &["build", "--workspace", "--lib", "--bins", "--test", "launchers"],
];

/// Compiles all; returns the findings as an error.
pub fn run() -> Report {
    // The two programs without which tests/cargo.sh compiles without lints.
    let clippy =
        Command::new("bash").args(["-c", "clippy-driver --version"]).current_dir(files::root()).output();
    if !clippy.is_ok_and(|output| output.status.success()) {
        let how = "`rustup component add clippy`, or your distribution's package of it, installs clippy";
        return Err(format!("clippy or bash is missing, and no lints were run; {how}"));
    }
    let mut found = Vec::new();
    for build in BUILDS {
        let mut cargo = cargo(build);
        cargo.args(["--quiet", "--message-format=json"]).stderr(Stdio::inherit());
        let output = cargo.output().map_err(|error| format!("sh: {error}"))?;
        for finding in findings(&String::from_utf8_lossy(&output.stdout)) {
            if !found.contains(&finding) {
                found.push(finding);
            }
        }
        if !output.status.success() && found.is_empty() {
            return Err(format!("cargo {}: failed", build.join(" ")));
        }
    }
    if found.is_empty() { Ok("clippy: nothing found".to_owned()) } else { Err(found.join("\n")) }
}

/// Returns the command that gives its arguments to cargo, with clippy as the compiler of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.arg("tests/cargo.sh").args(arguments).current_dir(files::root());
    command
}

/// Returns the warnings and errors among cargo's messages, as the compiler prints them. Cargo repeats those
/// of crates that it need not compile again.
fn findings(messages: &str) -> Vec<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_compiler = messages.filter(|message| message["reason"] == "compiler-message");
    let is_finding = |message: &Value| match message["level"].as_str() {
        Some("error") => true,
        // The sum of a crate's warnings has no place.
        Some("warning") => message["spans"].as_array().is_some_and(|spans| !spans.is_empty()),
        _ => false,
    };
    let rendered = |message: Value| message["message"]["rendered"].as_str().map(str::to_owned);
    of_compiler.filter(|message| is_finding(&message["message"])).filter_map(rendered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_and_errors_of_the_compiler_are_findings() {
        let message = |reason: &str, level: &str, spans: &str| {
            format!(
                "{{\"reason\":\"{reason}\",\"message\":{{\"level\":\"{level}\",\"spans\":[{spans}],\
                 \"rendered\":\"{level}: a\"}}}}\n"
            )
        };
        let messages = [
            message("compiler-message", "warning", "{}"),
            message("compiler-message", "error", ""),
            message("compiler-message", "note", "{}"),
            message("compiler-message", "warning", ""),
            message("compiler-artifact", "warning", "{}"),
            "running 1 test\n".to_owned(),
        ];
        assert_eq!(findings(&messages.concat()), ["warning: a", "error: a"]);
    }

    /// A command that goes past tests/cargo.sh compiles all crates of the workspace again.
    #[test]
    fn all_commands_that_compile_the_workspace_go_through_the_script() {
        let is_script = |path: &String| {
            let named =
                ["Makefile", "xtask/src/steps/table.rs", "xtask/src/unit.rs"].contains(&path.as_str());
            named || path.ends_with(".sh") || path.ends_with(".mk")
        };
        let mut through = 0;
        for path in files::below("").iter().filter(|path| is_script(path)) {
            let is_comment = |line: &str| line.trim_start().starts_with(['#', '/']);
            for line in files::text(path).lines().filter(|line| !is_comment(line)) {
                let has = |words: &str| line.contains(words);
                let is_of_workspace = has("--workspace") && (has(" test ") || has(" build "));
                through += usize::from(is_of_workspace && has("tests/cargo.sh"));
                let is_past = ["cargo test ", "cargo build "].iter().any(|command| has(command));
                assert!(!(is_of_workspace && is_past), "{path}: {line}");
            }
        }
        assert!(through >= 10, "{through} commands found");
    }
}
