//! The part of README.md that shows a run: the picture of CPU time and a short table, between two marks.

use std::io;

use crate::context::{OURS, SYSTEM, root};
use crate::measure::{CALLS, CPU, CPU_PER_GB, Case, Figure, INSTRUCTIONS, Line, Quantity};
use crate::rows::Outcome;

const BEGIN: &str = "<!-- measured: `make bench README=1` writes what follows -->\n";
const END: &str = "<!-- measured: end -->\n";
/// Rows whose cases are shown, each by the first of these quantities that it has.
const SHOWN: [&str; 13] = [
    "small", "multi", "fresh", "crowd", "large", "cold", "family", "http2", "tool", "ftp", "mail", "perl",
    "php",
];
const QUANTITIES: [Quantity; 6] = [
    CPU,
    CPU_PER_GB,
    Quantity { name: "CPU per event", unit: "µs" },
    Quantity { name: "CPU from hello to request", unit: "µs" },
    Quantity { name: "median of a file", unit: "ms" },
    Quantity { name: "median of those after", unit: "ms" },
];

/// The link whose FTP cases are shown in full.
const FTP_LINK: &str = "10 ms";

/// Puts it where the marks are.
pub fn write(machine: &str, outcomes: &[Outcome]) -> io::Result<()> {
    let file = root().join("README.md");
    let text = std::fs::read_to_string(&file)?;
    let shown = format!(
        "Measured on {machine}, beside Debian's libcurl (CPU of the client; trust the ratios; all of it is in `bench/RESULTS.md`):\n\n\
         ![CPU beside the distribution's libcurl](bench/cpu.svg)\n\n{}{}",
        table(outcomes),
        files_by_ftp(outcomes)
    );
    let marks = || io::Error::other("README.md lacks the marks of what was measured");
    std::fs::write(file, between(&text, &shown).ok_or_else(marks)?)
}

fn between(text: &str, shown: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{shown}\n{END}{after}"))
}

fn table(outcomes: &[Outcome]) -> String {
    let mut out =
        "| | ours | distribution | ratio | system calls, ours and distribution | user instructions, ours and distribution |\n\
         |---|---|---|---|---|---|\n"
            .to_owned();
    for outcome in outcomes.iter().filter(|outcome| SHOWN.contains(&outcome.row.name)) {
        let cases = outcome.cases.iter().flatten();
        out.extend(cases.filter_map(|case| line(outcome.row.name, case)));
    }
    out
}

/// A table line from the first measured line of either side, which may name its mode; `None` if one of the
/// two has no such figure.
fn line(row: &str, case: &Case) -> Option<String> {
    let of = |name: &str| case.lines.iter().find(|line| line.subject.split(',').next() == Some(name));
    let (ours, system) = (of(OURS)?, of(SYSTEM)?);
    let both = |quantity: Quantity| Some((ours.figure(quantity)?, system.figure(quantity)?));
    let (quantity, (own, theirs)) = QUANTITIES.into_iter().find_map(|q| Some((q, both(q)?)))?;
    let calls = both(CALLS).map(|(own, theirs)| format!("{:.1}, {:.1}", own.median(), theirs.median()));
    let instructions =
        both(INSTRUCTIONS).map(|(own, theirs)| format!("{:.0}, {:.0}", own.median(), theirs.median()));
    let figure = |figure: &Figure| format!("{:.1} {}", figure.median(), quantity.unit);
    let what = if quantity == CPU { String::new() } else { format!(", {}", quantity.name) };
    let ratio = own.ratio_to(theirs)?;
    let (calls, instructions) = (calls.unwrap_or_default(), instructions.unwrap_or_default());
    Some(format!(
        "| {row}: {}{what} | {} | {} | {ratio:.2} | {calls} | {instructions} |\n",
        case.name,
        figure(own),
        figure(theirs)
    ))
}

/// The ways to fetch small files by FTP, over the link of the middle length.
fn files_by_ftp(outcomes: &[Outcome]) -> String {
    let row = outcomes.iter().find(|outcome| outcome.row.name == "ftp");
    let cases: Vec<&Case> = row
        .into_iter()
        .flat_map(|outcome| outcome.cases.iter().flatten())
        .filter(|case| case.name.starts_with(FTP_LINK))
        .collect();
    let Some(first) = cases.first() else { return String::new() };
    let heads: String = cases.iter().map(|case| format!(" {} | |", case.name)).collect();
    let mut out = format!(
        "\nSmall files by FTP, 2 KB each from vsftpd, in milliseconds for a file, median and 99th percentile; `WARMWIRE_FTP` or \
         `warmwire_ftp_pipeline` asks for what is pipelined:\n\n| |{heads}\n|---|{}\n",
        "---|---|".repeat(cases.len())
    );
    for line in &first.lines {
        let of_case = |case: &&Case| case.lines.iter().find(|other| other.subject == line.subject).map(cells);
        let cells: String = cases.iter().filter_map(of_case).collect();
        out.push_str(&format!("| {} |{cells}\n", line.subject));
    }
    out
}

/// Its first two figures.
fn cells(line: &Line) -> String {
    line.figures.iter().take(2).map(|figure| format!(" {:.1} |", figure.median())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let new = between(&text, "new\n").unwrap();
        assert_eq!(new, format!("before\n{BEGIN}\nnew\n\n{END}after\n"));
        assert_eq!(between(&new, "new\n"), Some(new), "again it is the same");
        assert_eq!(between("no marks", "new"), None);
    }

    #[test]
    fn ours_stands_beside_the_distributions() {
        let subject = |name: &str, cpu: f64, calls: f64| Line {
            subject: name.to_owned(),
            figures: vec![
                Figure { quantity: CPU, runs: vec![cpu] },
                Figure { quantity: CALLS, runs: vec![calls] },
            ],
        };
        let lines = vec![subject(SYSTEM, 100.0, 12.0), subject(OURS, 50.0, 4.0)];
        let case = Case { name: "http".into(), lines };
        assert_eq!(
            line("small", &case).unwrap(),
            "| small: http | 50.0 µs | 100.0 µs | 0.50 | 4.0, 12.0 |  |\n"
        );
        let subject_in = |how: &str, cpu| subject(how, cpu, 4.0);
        let lines = vec![
            subject_in("libcurl, kept", 100.0),
            subject_in("ours, kept", 25.0),
            subject_in("ours, new", 1.0),
        ];
        let case = Case { name: "in ways".into(), lines };
        assert_eq!(
            line("ftp", &case).unwrap(),
            "| ftp: in ways | 25.0 µs | 100.0 µs | 0.25 | 4.0, 4.0 |  |\n"
        );
        let alone = Case { name: "http".into(), lines: vec![subject(OURS, 1.0, 1.0)] };
        assert_eq!(line("small", &alone), None);
    }
    #[test]
    fn ways_by_ftp_stand_side_by_side() {
        let quantity = |name| Quantity { name, unit: "ms" };
        let line = |subject: &str, middle: f64| Line {
            subject: subject.to_owned(),
            figures: vec![
                Figure { quantity: quantity("median of a file"), runs: vec![middle] },
                Figure { quantity: quantity("99th percentile"), runs: vec![middle * 2.0] },
            ],
        };
        let case = |name: &str, factor: f64| Case {
            name: name.to_owned(),
            lines: vec![line("libcurl, kept", 10.0 * factor), line("ours, kept", 5.0 * factor)],
        };
        let row = crate::rows::ROWS.iter().find(|row| row.name == "ftp").unwrap();
        let cases = vec![
            case("0 ms, servers: 1", 9.0),
            case("10 ms, servers: 1", 1.0),
            case("10 ms, servers: 60", 2.0),
        ];
        let text = files_by_ftp(&[Outcome { row, cases: Ok(cases) }]);
        assert!(
            text.contains("\n| | 10 ms, servers: 1 | | 10 ms, servers: 60 | |\n|---|---|---|---|---|\n"),
            "{text}"
        );
        assert!(
            text.ends_with(
                "| libcurl, kept | 10.0 | 20.0 | 20.0 | 40.0 |\n| ours, kept | 5.0 | 10.0 | 10.0 | 20.0 |\n"
            ),
            "{text}"
        );
        assert_eq!(files_by_ftp(&[]), "");
    }
}
