//! Generated files and checks of the Makefile:
//! `cargo xtask test|unit|headers|coverage|docs|supply|crates|release|tidy|circles`.

mod coverage;
mod crates;
mod docs;
mod files;
mod headers;
mod licences;
mod release;
mod steps;
mod supply;
mod tidy;
mod unit;

use std::process::ExitCode;

/// A task reports what it did or why it failed; it prints nothing itself.
type Report = Result<String, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = args.iter().any(|arg| arg == "--check");
    let report = match args.first().map(String::as_str) {
        Some("headers") => headers::run(check),
        Some("coverage") => coverage::run(check),
        Some("docs") => docs::run(check),
        Some("test") => steps::run(&args[1..]),
        Some("unit") => unit::run(args.iter().any(|arg| arg == "--changed")),
        Some("supply") if args.iter().any(|arg| arg == "--licences") => licences::run(),
        Some("supply") => supply::run(check),
        Some("crates") => crates::run(),
        Some("release") => release::run(args.get(1).map_or("", String::as_str)),
        Some("tidy") if args.iter().any(|arg| arg == "--lower") => tidy::lower(),
        Some("tidy") => tidy::run(),
        Some("circles") => tidy::circles_of(args.get(1).map_or("", String::as_str)),
        _ => Err(
            "usage: cargo xtask test [--all | --deep [--resume]] [--list] [STEP ...] | unit [--changed] | \
                  headers [--check] | coverage [--check] | docs [--check] | supply [--check | --licences] | \
                  crates | release X.Y.Z | tidy [--lower] | circles CRATE"
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
