//! The part of README.md that shows a run: five reasons for the speed, each with one figure of ours and one
//! of the distribution's, between two marks. The figures are medians of bench/results.json.

use std::io;

use crate::context::root;

const BEGIN: &str = "<!-- measured: `make bench README=1` writes what follows -->\n";
const END: &str = "<!-- measured: end -->\n";

/// A reason for the speed, and the figures that show it.
struct Reason {
    title: &'static str,
    /// The sentence before the figures.
    how: &'static str,
    /// The subject of the sentence with both figures.
    what: &'static str,
    row: &'static str,
    case: &'static str,
    ours: &'static str,
    theirs: &'static str,
    quantity: &'static str,
    unit: &'static str,
    decimals: usize,
}

const REASONS: [Reason; 5] = [
    Reason {
        title: "Connections outlive handles.",
        how: "The pool of the process keeps them open.",
        what: "An HTTPS request with a fresh handle costs",
        row: "fresh",
        case: "https, 1 KB, threads: 1",
        ours: "ours, a handle each, process-wide pool",
        theirs: "libcurl, a handle each",
        quantity: "CPU",
        unit: " µs of CPU time",
        decimals: 0,
    },
    Reason {
        title: "Few system calls.",
        how: "Head and small body leave in one write.",
        what: "A GET of 1 KB on a kept handle makes",
        row: "small",
        case: "http, 1024 bytes",
        ours: "ours",
        theirs: "libcurl",
        quantity: "system calls",
        unit: " calls",
        decimals: 1,
    },
    Reason {
        title: "Events cost the same in a crowd.",
        how: "Waiting transfers are not visited.",
        what: "With 1,000 transfers in one multi handle an event costs",
        row: "crowd",
        case: "http, 1000 by poll",
        ours: "ours",
        theirs: "libcurl",
        quantity: "CPU per event",
        unit: " µs of CPU time",
        decimals: 0,
    },
    Reason {
        title: "A cold start is cheap.",
        how: "Trust anchors are indexed by name and parsed in full only for a chain.",
        what: "From the hello to the first HTTPS request, with 150 anchors, the tool needs",
        row: "cold",
        case: "the tool",
        ours: "ours",
        theirs: "libcurl",
        quantity: "CPU from hello to request",
        unit: " µs of CPU time",
        decimals: 0,
    },
    Reason {
        title: "FTP commands leave together.",
        how: "`WARMWIRE_FTP=turns` also opens the next data connection ahead.",
        what: "A file of 2 KB from one of 60 servers, 10 ms away, takes",
        row: "ftp",
        case: "10 ms, servers: 60",
        ours: "ours, kept, pipelined in turn",
        theirs: "libcurl, kept handle",
        quantity: "median of a file",
        unit: " ms",
        decimals: 0,
    },
];

/// Writes the reasons between the marks of README.md, with the figures that this run has put into
/// `results.json`.
pub fn write(machine: &str, results: &str) -> io::Result<()> {
    let file = root().join("README.md");
    let text = std::fs::read_to_string(&file)?;
    let shown = section(results).map_err(io::Error::other)?;
    let shown = format!("Measured on {machine}:\n\n{shown}");
    let marks = || io::Error::other("README.md lacks the marks of what was measured");
    std::fs::write(file, between(&text, &shown).ok_or_else(marks)?)
}

/// Returns the list of reasons, or the name of a figure that the results lack.
fn section(results: &str) -> Result<String, String> {
    REASONS.iter().map(|reason| bullet(reason, results)).collect()
}

fn bullet(reason: &Reason, results: &str) -> Result<String, String> {
    let Reason { title, how, what, unit, decimals, .. } = reason;
    let of = |subject: &str| {
        let median = median(results, reason, subject).ok_or(format!("no figure: {title} {subject}"))?;
        Ok::<_, String>(format!("{median:.decimals$}"))
    };
    let (ours, theirs) = (of(reason.ours)?, of(reason.theirs)?);
    Ok(format!("- **{title}** {how}\n  {what} {ours}{unit},\n  with Debian's libcurl {theirs}.\n"))
}

/// Finds the median of one quantity in the lines of results.json.
fn median(results: &str, reason: &Reason, subject: &str) -> Option<f64> {
    let Reason { row, case, quantity, .. } = reason;
    let begin = format!(
        "{{\"row\": \"{row}\", \"case\": \"{case}\", \"subject\": \"{subject}\", \"quantity\": \"{quantity}\","
    );
    let line = results.lines().find(|line| line.trim_start().starts_with(&begin))?;
    line.split_once("\"median\": ")?.1.split(',').next()?.parse().ok()
}

fn between(text: &str, shown: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{shown}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_the_marks_is_replaced() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let new = between(&text, "new\n").unwrap();
        assert_eq!(new, format!("before\n{BEGIN}\nnew\n\n{END}after\n"));
        assert_eq!(between(&new, "new\n"), Some(new), "a second run changes nothing");
        assert_eq!(between("no marks", "new"), None);
    }

    #[test]
    fn readme_shows_the_figures_of_results_json() {
        let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
        let (readme, results) = (read("README.md"), read("bench/results.json"));
        let shown = section(&results).unwrap();
        assert!(readme.contains(&shown), "README.md lacks:\n{shown}");
    }

    #[test]
    fn a_missing_figure_is_named() {
        assert_eq!(
            section("[]").unwrap_err(),
            "no figure: Connections outlive handles. ours, a handle each, process-wide pool"
        );
    }
}
