//! RESULTS.md: a table for each row, a line for each subject.

use super::ratio;
use crate::measure::{Case, Figure, Quantity};
use crate::rows::Outcome;

pub fn text(machine: &str, outcomes: &[Outcome], pictures: &[(Quantity, &str)]) -> String {
    let mut out = format!(
        "# Measured\n\n`make bench` wrote this file, results.json and the pictures, on {machine}.\n\nA figure is the \
         median of its runs, with the least and the most in brackets.\n\n× is not the quotient of the \
         medians. The subjects run in turn, and each run is divided by the run of the first subject of \
         that turn; × is the median of these quotients. A machine that becomes slower for a while changes \
         both runs of a turn, so × is more reliable than the figures.\n"
    );
    for (quantity, file) in pictures {
        out.push_str(&format!("\n![{}]({file})\n", quantity.name));
    }
    out.push_str(&tables(outcomes));
    out
}

/// Only the tables.
pub fn tables(outcomes: &[Outcome]) -> String {
    outcomes.iter().map(table).collect()
}

fn table(outcome: &Outcome) -> String {
    let row = outcome.row;
    let mut out = format!("\n## {}\n\n{}. Held against {}.\n\n", row.name, capital(row.about), row.limit);
    let cases = match &outcome.cases {
        Ok(cases) => cases,
        Err(why) => return out + &format!("Left out: {why}.\n"),
    };
    let quantities = quantities(cases);
    let heads: String = quantities.iter().map(|q| format!(" {} |", head(q))).collect();
    out.push_str(&format!("| | |{heads}\n|---|---|{}\n", "---|".repeat(quantities.len())));
    for case in cases {
        for (number, line) in case.lines.iter().enumerate() {
            let name = if number == 0 { &*case.name } else { "" };
            let cells = quantities.iter().map(|q| line.figure(*q).map_or(String::new(), |f| cell(case, f)));
            let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
            out.push_str(&format!("| {name} | {} |{cells}\n", line.subject));
        }
    }
    out
}

/// All that any line has, in the order in which they first come.
fn quantities(cases: &[Case]) -> Vec<Quantity> {
    let mut all: Vec<Quantity> = Vec::new();
    for figure in cases.iter().flat_map(|case| &case.lines).flat_map(|line| &line.figures) {
        if !all.contains(&figure.quantity) {
            all.push(figure.quantity);
        }
    }
    all
}

fn head(quantity: &Quantity) -> String {
    match quantity.unit {
        "" => quantity.name.to_owned(),
        unit => format!("{}, {unit}", quantity.name),
    }
}

fn cell(case: &Case, figure: &Figure) -> String {
    let mut text = shown(figure.median());
    if figure.runs.len() > 1 {
        text.push_str(&format!(" ({}–{})", shown(figure.least()), shown(figure.most())));
    }
    if let Some(ratio) = ratio(case, figure) {
        text.push_str(&format!(" ×{ratio:.2}"));
    }
    text
}

/// Three digits, and all digits before the point.
fn shown(value: f64) -> String {
    match value.abs() {
        x if !x.is_finite() => "–".to_owned(),
        x if x >= 100.0 || x == 0.0 => format!("{value:.0}"),
        x if x >= 10.0 => format!("{value:.1}"),
        x if x >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{CPU, Line};

    #[test]
    fn a_ratio_is_that_of_the_runs_beside() {
        let line = |subject: &str, runs: &[f64]| Line {
            subject: subject.to_owned(),
            figures: vec![Figure { quantity: CPU, runs: runs.to_vec() }],
        };
        let case = Case {
            name: "c".into(),
            lines: vec![line("a", &[10.0, 100.0, 20.0]), line("b", &[5.0, 50.0, 9.0])],
        };
        assert_eq!(cell(&case, &case.lines[0].figures[0]), "20.0 (10.0–100)");
        assert_eq!(cell(&case, &case.lines[1].figures[0]), "9.00 (5.00–50.0) ×0.50");
    }
}
