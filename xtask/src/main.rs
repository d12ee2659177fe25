//! Generated files and checks of the Makefile:
//! `cargo xtask test|unit|clippy|headers|coverage|docs|supply|crates|api|semver|release|tidy|circles`.

mod api;
mod coverage;
mod crates;
mod docs;
mod files;
mod headers;
mod licences;
mod lints;
mod release;
mod stamp;
mod steps;
mod supply;
mod tidy;
mod unit;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// A task reports what it did or why it failed; it prints nothing itself.
type Report = Result<String, String>;

fn main() -> ExitCode {
    if let Some(error) = without_package_variables() {
        eprintln!("xtask: {error}");
        return ExitCode::FAILURE;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = args.iter().any(|arg| arg == "--check");
    let report = match args.first().map(String::as_str) {
        Some("headers") => headers::run(check),
        Some("coverage") => coverage::run(check),
        Some("docs") => docs::run(check),
        Some("test") => steps::run(&args[1..]),
        Some("unit") => unit::run(args.iter().any(|arg| arg == "--changed")),
        Some("clippy") => lints::run(),
        Some("supply") if args.iter().any(|arg| arg == "--licences") => licences::run(),
        Some("supply") => supply::run(check),
        Some("crates") => crates::run(),
        Some("api") => api::run(check),
        Some("semver") => api::semver(),
        Some("release") => release::run(args.get(1).map_or("", String::as_str)),
        Some("tidy") if args.iter().any(|arg| arg == "--lower") => tidy::lower(),
        Some("tidy") => tidy::run(),
        Some("circles") => tidy::circles_of(args.get(1).map_or("", String::as_str)),
        _ => Err(
            "usage: cargo xtask test [--all | --deep [--resume]] [--list] [STEP ...] | unit [--changed] | \
                  clippy | headers [--check] | coverage [--check] | docs [--check] | \
                  supply [--check | --licences] | crates | api [--check] | semver | release X.Y.Z | \
                  tidy [--lower] | circles CRATE"
                .to_owned(),
        ),
    };
    match report {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// Starts this program again without the variables of its package that `cargo run` sets; returns the error if
/// that fails, and nothing if there are none.
///
/// Build scripts run again when such a variable differs (ring's CARGO_PKG_NAME): a cargo that is started from
/// here would compile most crates again, and so would the next one that is not.
fn without_package_variables() -> Option<std::io::Error> {
    let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    let set: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| is_of_package(name))
        .collect();
    if set.is_empty() {
        return None;
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Some(error),
    };
    let mut again = Command::new(program);
    again.args(std::env::args_os().skip(1));
    set.iter().for_each(|name| _ = again.env_remove(name));
    Some(again.exec())
}
