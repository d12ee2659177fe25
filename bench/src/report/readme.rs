//! What README.md shows of a run: the picture of CPU and a short table, between two marks.

use std::io;

use crate::context::{OURS, SYSTEM, root};
use crate::measure::{CALLS, CPU, CPU_PER_GB, Case, Figure, Quantity};
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

/// Puts it where the marks are.
pub fn write(machine: &str, outcomes: &[Outcome]) -> io::Result<()> {
    let file = root().join("README.md");
    let text = std::fs::read_to_string(&file)?;
    let shown = format!(
        "Measured on {machine}, beside Debian's libcurl (CPU of the client; trust the ratios; all of it is in `bench/RESULTS.md`):\n\n\
         ![CPU beside the distribution's libcurl](bench/cpu.svg)\n\n{}",
        table(outcomes)
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
        "| | ours | distribution | ratio | system calls, ours and distribution |\n|---|---|---|---|---|\n"
            .to_owned();
    for outcome in outcomes.iter().filter(|outcome| SHOWN.contains(&outcome.row.name)) {
        let cases = outcome.cases.iter().flatten();
        out.extend(cases.filter_map(|case| line(outcome.row.name, case)));
    }
    out
}

/// The first line of either, which may say how it goes about it; none where one of the two has no such figure.
fn line(row: &str, case: &Case) -> Option<String> {
    let of = |name: &str| case.lines.iter().find(|line| line.subject.split(',').next() == Some(name));
    let (ours, system) = (of(OURS)?, of(SYSTEM)?);
    let both = |quantity: Quantity| Some((ours.figure(quantity)?, system.figure(quantity)?));
    let (quantity, (own, theirs)) = QUANTITIES.into_iter().find_map(|q| Some((q, both(q)?)))?;
    let calls = both(CALLS).map(|(own, theirs)| format!("{:.1}, {:.1}", own.median(), theirs.median()));
    let figure = |figure: &Figure| format!("{:.1} {}", figure.median(), quantity.unit);
    let what = if quantity == CPU { String::new() } else { format!(", {}", quantity.name) };
    let ratio = own.ratio_to(theirs)?;
    let calls = calls.unwrap_or_default();
    Some(format!(
        "| {row}: {}{what} | {} | {} | {ratio:.2} | {calls} |\n",
        case.name,
        figure(own),
        figure(theirs)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Line;

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
            "| small: http | 50.0 µs | 100.0 µs | 0.50 | 4.0, 12.0 |\n"
        );
        let subject_in = |how: &str, cpu| subject(how, cpu, 4.0);
        let lines = vec![
            subject_in("libcurl, kept", 100.0),
            subject_in("ours, kept", 25.0),
            subject_in("ours, new", 1.0),
        ];
        let case = Case { name: "in ways".into(), lines };
        assert_eq!(line("ftp", &case).unwrap(), "| ftp: in ways | 25.0 µs | 100.0 µs | 0.25 | 4.0, 4.0 |\n");
        let alone = Case { name: "http".into(), lines: vec![subject(OURS, 1.0, 1.0)] };
        assert_eq!(line("small", &alone), None);
    }
}
