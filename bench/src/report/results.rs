//! results.json: what was measured, row by row, with date, commit and machine. A run replaces the rows that
//! it measured and keeps the others; all reports are made from this file.

use std::io;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::measure;
use crate::rows::{Outcome, ROWS};

#[derive(Default, Serialize, Deserialize)]
pub struct Results {
    pub rows: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    pub origin: Origin,
    /// Whether the turns were chosen by the rule that RESULTS.md states. Older rows have five turns, and none
    /// was discarded.
    #[serde(default)]
    pub by_rule: bool,
    /// Why the row has no cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    pub cases: Vec<Case>,
}

/// When, where and on which commit a row was measured.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub date: String,
    /// Ends with `+` if the checkout had changes.
    pub commit: String,
    pub machine: String,
}

#[derive(Serialize, Deserialize)]
pub struct Case {
    pub name: String,
    /// Turns that were not counted, since others took processor time.
    #[serde(default)]
    pub discarded: usize,
    /// The figures contain disturbed turns.
    #[serde(default)]
    pub disturbed: bool,
    pub lines: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
pub struct Line {
    pub subject: String,
    pub figures: Vec<Figure>,
}

/// The values of a quantity, one for each turn.
#[derive(Clone, Serialize, Deserialize)]
pub struct Figure {
    pub quantity: String,
    pub unit: String,
    pub runs: Vec<f64>,
}

impl Origin {
    pub fn now() -> Origin {
        let output_of = |program: &str, words: &[&str]| {
            let output = Command::new(program).args(words).current_dir(crate::context::root()).output();
            output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let changed =
            output_of("git", &["status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench"]);
        let mark = if changed.is_empty() { "" } else { "+" };
        Origin {
            date: output_of("date", &["-u", "+%F"]),
            commit: output_of("git", &["rev-parse", "--short=8", "HEAD"]) + mark,
            machine: machine(),
        }
    }
}

/// Describes the machine.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let named = |line: &&str| line.starts_with("model name");
    let model =
        processors.lines().find(named).and_then(|line| line.split(": ").nth(1)).unwrap_or("a processor");
    let count = processors.lines().filter(named).count();
    format!("{count} × {}, Linux {}", model.trim(), read("/proc/sys/kernel/osrelease").trim())
}

impl Results {
    /// Reads the file; empty if there is none.
    pub fn read(file: &Path) -> io::Result<Results> {
        match std::fs::read_to_string(file) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| io::Error::other(format!("{}: {error}", file.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Results::default()),
            Err(error) => Err(error),
        }
    }

    /// Puts rows in the place of those of their names, in the order of the registry. Rows that no longer
    /// exist leave.
    pub fn replace(&mut self, new: Vec<Row>) {
        let is_new = |row: &Row| new.iter().any(|other| other.name == row.name);
        self.rows.retain(|row| !is_new(row));
        self.rows.extend(new);
        let place = |row: &Row| ROWS.iter().position(|known| known.name == row.name);
        self.rows.retain(|row| place(row).is_some());
        self.rows.sort_by_key(place);
    }

    /// Returns the file's text: a line for each figure, so that a change is seen in a comparison.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("names and numbers only");
        let mut out = String::with_capacity(text.len());
        let mut inside = false;
        for line in text.lines() {
            let trimmed = line.trim();
            out.push_str(if inside { trimmed } else { line });
            inside |= line.ends_with("\"runs\": [");
            inside &= !trimmed.starts_with(']');
            out.push_str(if inside && trimmed.ends_with(',') {
                " "
            } else if inside {
                ""
            } else {
                "\n"
            });
        }
        out
    }

    pub fn case(&self, row: &str, case: &str) -> Option<&Case> {
        let row = self.rows.iter().find(|one| one.name == row)?;
        row.cases.iter().find(|one| one.name == case)
    }
}

impl Row {
    pub fn of(outcome: &Outcome, origin: &Origin) -> Row {
        let (left_out, cases) = match &outcome.cases {
            Ok(cases) => (None, cases.iter().map(Case::of).collect()),
            Err(why) => (Some(why.clone()), Vec::new()),
        };
        Row { name: outcome.row.name.to_owned(), origin: origin.clone(), by_rule: true, left_out, cases }
    }
}

impl Case {
    fn of(case: &measure::Case) -> Case {
        let figure = |figure: &measure::Figure| Figure {
            quantity: figure.quantity.name.to_owned(),
            unit: figure.quantity.unit.to_owned(),
            runs: figure.runs.iter().copied().map(four_decimals).collect(),
        };
        let line = |line: &measure::Line| Line {
            subject: line.subject.clone(),
            figures: line.figures.iter().map(figure).collect(),
        };
        Case {
            name: case.name.clone(),
            discarded: case.discarded,
            disturbed: case.disturbed,
            lines: case.lines.iter().map(line).collect(),
        }
    }

    /// Returns the quotient of a figure's median and that of the first subject with the quantity; `None` for
    /// that subject itself.
    pub fn ratio(&self, figure: &Figure) -> Option<f64> {
        let first = self.lines.iter().find_map(|line| line.figure(&figure.quantity))?;
        let base = first.median();
        (!std::ptr::eq(first, figure) && base != 0.0).then(|| figure.median() / base)
    }

    /// Returns a case with only these subjects, in this order, and one quantity; `None` if one is missing.
    pub fn only(&self, subjects: &[&str], quantity: &str) -> Option<Case> {
        let line = |subject: &&str| {
            let figures = vec![self.line(subject)?.figure(quantity)?.clone()];
            Some(Line { subject: (*subject).to_owned(), figures })
        };
        let lines = subjects.iter().map(line).collect::<Option<_>>()?;
        Some(Case { name: self.name.clone(), discarded: self.discarded, disturbed: self.disturbed, lines })
    }

    pub fn line(&self, subject: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.subject == subject)
    }
}

impl Line {
    pub fn figure(&self, quantity: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == quantity)
    }
}

impl Figure {
    pub fn median(&self) -> f64 {
        measure::median(&self.runs)
    }

    pub fn interval(&self) -> (f64, f64) {
        measure::interval(&self.runs)
    }

    /// Returns the quantity's name with its unit.
    pub fn head(&self) -> String {
        match &*self.unit {
            "" => self.quantity.clone(),
            unit => format!("{}, {unit}", self.quantity),
        }
    }

    /// Returns whether more is better.
    pub fn is_rate(&self) -> bool {
        self.quantity == measure::RATE.name
    }
}

/// Returns a number as the file keeps it; JSON has no infinite ones.
fn four_decimals(value: f64) -> f64 {
    if value.is_finite() { (value * 1e4).round() / 1e4 } else { 0.0 }
}

/// Returns a number with three digits, and all digits before the point.
pub fn shown(value: f64) -> String {
    match value.abs() {
        x if !x.is_finite() => "–".to_owned(),
        x if x >= 100.0 || x == 0.0 => format!("{value:.0}"),
        x if x >= 10.0 => format!("{value:.1}"),
        x if x >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn figure(quantity: &str, runs: &[f64]) -> Figure {
        Figure { quantity: quantity.to_owned(), unit: "µs".to_owned(), runs: runs.to_vec() }
    }

    pub fn case(name: &str, lines: &[(&str, &[f64])]) -> Case {
        let line = |(subject, runs): &(&str, &[f64])| Line {
            subject: (*subject).to_owned(),
            figures: vec![figure("CPU", runs)],
        };
        Case {
            name: name.to_owned(),
            discarded: 0,
            disturbed: false,
            lines: lines.iter().map(line).collect(),
        }
    }

    pub fn row(name: &str, date: &str, cases: Vec<Case>) -> Row {
        let origin = Origin { date: date.to_owned(), commit: "c0ffee00".to_owned(), machine: "m".to_owned() };
        Row { name: name.to_owned(), origin, by_rule: true, left_out: None, cases }
    }

    #[test]
    fn a_ratio_is_the_quotient_of_the_medians_beside() {
        let case = case("c", &[("a", &[10.0, 100.0, 20.0]), ("b", &[5.0, 50.0, 9.0])]);
        assert_eq!(case.ratio(&case.lines[0].figures[0]), None);
        assert_eq!(case.ratio(&case.lines[1].figures[0]), Some(9.0 / 20.0));
    }

    #[test]
    fn a_run_replaces_its_rows_and_keeps_the_others() {
        let mut results = Results::default();
        let old = ["pool", "small", "gone"].map(|name| row(name, "2026-01-01", Vec::new()));
        results.replace(old.into());
        results.replace(vec![row("small", "2026-01-02", Vec::new())]);
        let rows: Vec<_> = results.rows.iter().map(|row| (&*row.name, &*row.origin.date)).collect();
        assert_eq!(rows, [("small", "2026-01-02"), ("pool", "2026-01-01")]);
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut results = Results::default();
        let cases = vec![case("\"quoted\"", &[("a", &[1.5, 2.25]), ("b", &[3.0])])];
        results.replace(vec![row("small", "2026-01-02", cases)]);
        let text = results.text();
        assert!(text.contains("\"runs\": [1.5, 2.25]\n"), "{text}");
        let again: Results = serde_json::from_str(&text).unwrap();
        assert_eq!(again.text(), text);
    }
}
