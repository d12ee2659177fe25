//! RESULTS.md: a table for each row, a line for each subject.

use super::picture::wrapped;
use super::results::{Case, Figure, Results, Row, shown};
use crate::measure::PRECISE;
use crate::quiet::MOST_BY_OTHERS;
use crate::rows::{ROWS, Row as Task};

/// Most letters of a line that is no row of a table.
const COLUMNS: usize = 100;

pub fn text(results: &Results, pictures: &[String]) -> String {
    let mut out = format!("# Measured\n\n{}", method());
    for row in &results.rows {
        out.push_str(&section(row, pictures.contains(&row.name)));
    }
    out
}

/// Describes how the figures come about.
fn method() -> String {
    let (others, precise) = (MOST_BY_OTHERS * 100.0, PRECISE * 100.0);
    let paragraphs = [
        "`make bench` wrote this file from results.json, and the pictures. `make bench ROWS=small` measures \
         one row again and keeps the others; each row names its date, commit and machine."
            .to_owned(),
        "The subjects of a case run in turns, in changing order, against the same servers. A figure is the \
         median of its turns. The brackets hold the interval that contains the true median with a \
         confidence of 95 %; below six turns they hold the least and the most. × is the quotient of the \
         figure and that of the first subject in the table."
            .to_owned(),
        format!(
            "A case goes on until the interval of its first quantity is within {precise:.0} % of the median \
             for each subject, or until it has had 25 turns or 20 seconds. A turn during which other \
             processes or the host took more than {others:.0} % of the processors' time is discarded. If too \
             few turns remain, the disturbed ones count, and the case is marked as disturbed."
        ),
        "In rows whose client uses one thread, client and servers have a processor each. Instructions are \
         counted by valgrind, without the kernel's. Cycles are missing: the virtual machine has no \
         performance counters."
            .to_owned(),
    ];
    paragraphs.map(|text| filled(&text)).join("\n")
}

/// Breaks a paragraph into lines of Markdown.
fn filled(text: &str) -> String {
    wrapped(text, COLUMNS).join("\n") + "\n"
}

/// Returns only the tables of some rows.
pub fn tables(rows: &[Row]) -> String {
    rows.iter().map(|row| introduction(row) + &body(row)).collect()
}

/// Returns a row's part of the file. Pages of the guide include a table by its anchor.
fn section(row: &Row, pictured: bool) -> String {
    let mut out = introduction(row);
    if pictured {
        out.push_str(&format!("![{0}](pictures/{0}.svg)\n\n", row.name));
    }
    out + &format!("<!-- ANCHOR: {0} -->\n\n{1}\n<!-- ANCHOR_END: {0} -->\n", row.name, body(row))
}

fn introduction(row: &Row) -> String {
    let task = ROWS.iter().find(|task| task.name == row.name);
    let about = task.map_or(String::new(), |Task { about, limit, .. }| {
        format!("{}. Held against {limit}.", capital(about))
    });
    let origin = &row.origin;
    let older = if row.by_rule { "" } else { " Older than the rule above: five turns, none discarded." };
    let measured =
        format!("{about} Measured on {}, commit {}, {}.{older}", origin.date, origin.commit, origin.machine);
    format!("\n## {}\n\n{}\n", row.name, filled(measured.trim()))
}

/// Returns the table, or why there is none.
fn body(row: &Row) -> String {
    match &row.left_out {
        Some(why) => format!("Left out: {why}.\n"),
        None => table(&row.cases),
    }
}

fn table(cases: &[Case]) -> String {
    let heads = heads(cases);
    let titles: String = heads.iter().map(|head| format!(" {head} |")).collect();
    let mut out = format!("| | |{titles}\n|---|---|{}\n", "---|".repeat(heads.len()));
    for case in cases {
        for (number, line) in case.lines.iter().enumerate() {
            let name = if number == 0 { name(case) } else { String::new() };
            let of = |head: &String| line.figures.iter().find(|figure| figure.head() == *head);
            let cells = heads.iter().map(|head| of(head).map_or(String::new(), |f| cell(case, f)));
            let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
            out.push_str(&format!("| {name} | {} |{cells}\n", line.subject));
        }
    }
    out
}

/// Returns a case's name with a remark about turns that were disturbed.
fn name(case: &Case) -> String {
    match (case.disturbed, case.discarded) {
        (true, _) => format!("{} (disturbed)", case.name),
        (false, 0) => case.name.clone(),
        (false, 1) => format!("{} (1 turn discarded)", case.name),
        (false, discarded) => format!("{} ({discarded} turns discarded)", case.name),
    }
}

/// Returns all quantities of the lines, in the order in which they first come.
fn heads(cases: &[Case]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for figure in cases.iter().flat_map(|case| &case.lines).flat_map(|line| &line.figures) {
        if !all.contains(&figure.head()) {
            all.push(figure.head());
        }
    }
    all
}

fn cell(case: &Case, figure: &Figure) -> String {
    let mut text = shown(figure.median());
    if figure.runs.len() > 1 {
        let (least, most) = figure.interval();
        text.push_str(&format!(" ({}–{})", shown(least), shown(most)));
    }
    if let Some(ratio) = case.ratio(figure) {
        text.push_str(&format!(" ×{ratio:.2}"));
    }
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::tests::{case, row};

    #[test]
    fn a_table_shows_medians_intervals_and_quotients() {
        let mut one = case("c", &[("a", &[10.0, 100.0, 20.0]), ("b", &[5.0, 50.0, 9.0])]);
        one.discarded = 2;
        let shown = section(&row("small", "2026-01-02", vec![one]), true);
        let joined = shown.replace('\n', " ");
        assert!(joined.contains("Measured on 2026-01-02, commit c0ffee00, m. "), "{shown}");
        assert!(shown.contains("![small](pictures/small.svg)\n"), "{shown}");
        assert!(shown.contains("\n<!-- ANCHOR: small -->\n\n| | |"), "{shown}");
        assert!(shown.ends_with(" ×0.45 |\n\n<!-- ANCHOR_END: small -->\n"), "{shown}");
        assert!(shown.contains("| c (2 turns discarded) | a | 20.0 (10.0–100) |\n"), "{shown}");
        assert!(shown.contains("|  | b | 9.00 (5.00–50.0) ×0.45 |\n"), "{shown}");
    }

    #[test]
    fn a_row_that_was_left_out_says_why() {
        let mut one = row("small", "2026-01-02", Vec::new());
        one.left_out = Some("no nginx".to_owned());
        assert!(tables(&[one]).ends_with("Left out: no nginx.\n"));
    }
}
