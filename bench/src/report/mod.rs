//! The reports of a run: RESULTS.md for readers, results.json for programs, pictures; and README.md's figures
//! if asked for.

mod json;
mod markdown;
mod readme;
mod svg;

use std::io;
use std::path::PathBuf;

use crate::context::{Bench, root};
use crate::measure::{CPU, Case, Figure, PEAK, Quantity};
use crate::rows::Outcome;

/// The quantities that have a picture.
const PICTURES: [(Quantity, &str); 2] = [(CPU, "cpu.svg"), (PEAK, "memory.svg")];

/// Writes everything.
pub fn write(bench: &Bench, outcomes: &[Outcome]) -> io::Result<()> {
    let folder = bench.arguments.out.clone().unwrap_or_else(|| root().join("bench"));
    std::fs::create_dir_all(&folder)?;
    let mut pictures = Vec::new();
    for (quantity, file) in PICTURES {
        if let Some(text) = svg::picture(outcomes, quantity) {
            std::fs::write(folder.join(file), text)?;
            pictures.push((quantity, file));
        }
    }
    std::fs::write(folder.join("results.json"), json::text(outcomes))?;
    std::fs::write(folder.join("RESULTS.md"), markdown::text(&machine(), outcomes, &pictures))
}

/// README.md shows some of it.
pub fn write_readme(outcomes: &[Outcome]) -> io::Result<()> {
    readme::write(&machine(), &json::text(outcomes))
}

/// Prints the tables on the terminal.
pub fn print(outcomes: &[Outcome]) {
    print!("{}", markdown::tables(outcomes));
}

/// Describes the machine.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(PathBuf::from(path)).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let named = |line: &&str| line.starts_with("model name");
    let model =
        processors.lines().find(named).and_then(|line| line.split(": ").nth(1)).unwrap_or("a processor");
    let count = processors.lines().filter(named).count();
    format!("{count} × {}, Linux {}", model.trim(), read("/proc/sys/kernel/osrelease").trim())
}

/// Returns the ratio of a figure to that of the first subject that has the quantity.
fn ratio(case: &Case, figure: &Figure) -> Option<f64> {
    let base = case.lines.iter().find_map(|line| line.figure(figure.quantity))?;
    (!std::ptr::eq(base, figure)).then(|| figure.ratio_to(base)).flatten()
}
