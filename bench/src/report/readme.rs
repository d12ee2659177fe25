//! The part of README.md that shows a run: five reasons for the speed, each with one figure of ours and one
//! of the distribution's, between two marks, and a picture of at most twelve rows. The figures are medians of
//! bench/results.json.

use std::io;
use std::path::Path;

use super::picture::{Bar, Group, Style, draw};
use super::results::{Origin, Results};
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

/// A line of README.md's picture.
struct Shown {
    title: &'static str,
    row: &'static str,
    case: &'static str,
    ours: &'static str,
    theirs: &'static str,
    quantity: &'static str,
}

const fn shown(
    title: &'static str,
    (row, case): (&'static str, &'static str),
    (theirs, ours): (&'static str, &'static str),
    quantity: &'static str,
) -> Shown {
    Shown { title, row, case, ours, theirs, quantity }
}

/// Rows of the picture, one without a kept connection among them.
const SHOWN: [Shown; 12] = [
    shown("HTTPS, a new handle for each GET", ("fresh", "https, 1 KB, threads: 1"), FRESH, "CPU"),
    shown("HTTP, a new handle for each GET", ("fresh", "http, 1 KB, threads: 1"), FRESH, "CPU"),
    shown(
        "HTTP, a new handle for each GET, without the pool",
        ("fresh", "http, 1 KB, threads: 1"),
        ("libcurl, a handle each", "ours, a handle each"),
        "CPU",
    ),
    shown("HTTP, GETs of 1 KB on a kept handle", ("small", "http, 1024 bytes"), BOTH, "CPU"),
    shown("HTTPS, GETs of 1 KB on a kept handle", ("small", "https, 1024 bytes"), BOTH, "CPU"),
    shown("HTTP, 1,000 GETs at once", ("multi", "http, 1,000 at once"), BOTH, "CPU"),
    shown("HTTP/2, 100 GETs at once", ("http2", "1024 bytes, 100 at once"), BOTH, "CPU"),
    shown("1,000 idle transfers, an event", ("crowd", "http, 1000 by poll"), BOTH, "CPU per event"),
    shown("1 GB by HTTPS", ("large", "https, 1000000000 bytes down to nothing"), BOTH, "CPU per GB"),
    shown("The first HTTPS request of a process", ("cold", "the tool"), BOTH, "CPU from hello to request"),
    shown(
        "60 FTP servers, 10 ms away, a handle for each file",
        ("ftp", "10 ms, servers: 60"),
        ("libcurl, a handle each", "ours, a handle each, process pool"),
        "median of a file",
    ),
    shown(
        "POST by WWW::Curl",
        ("perl", "POST, urlencoded"),
        ("libcurl, WWW::Curl", "ours, WWW::Curl"),
        "CPU",
    ),
];
const BOTH: (&str, &str) = ("libcurl", "ours");
const FRESH: (&str, &str) = ("libcurl, a handle each", "ours, a handle each, process-wide pool");
const PICTURE: &str = "overview.svg";

/// Writes the reasons between the marks of README.md, with the figures of the results, and the picture beside
/// them.
pub fn write(results: &Results, folder: &Path) -> io::Result<()> {
    let file = root().join("README.md");
    let text = std::fs::read_to_string(&file)?;
    let part = section(results).map_err(io::Error::other)?;
    let marks = || io::Error::other("README.md lacks the marks of what was measured");
    std::fs::write(folder.join(PICTURE), picture(results).map_err(io::Error::other)?)?;
    std::fs::write(file, between(&text, &part).ok_or_else(marks)?)
}

/// Draws the rows of README.md.
fn picture(results: &Results) -> Result<String, String> {
    let groups: Result<Vec<Group>, String> = SHOWN
        .iter()
        .map(|Shown { title, row, case, ours, theirs, quantity }| {
            let missing = || format!("no figure: {title}");
            let whole = results.case(row, case).ok_or_else(missing)?;
            let pair = whole.only(&[theirs, ours], quantity).ok_or_else(missing)?;
            let bars = pair.lines.iter().map(|line| Bar::of(&pair, &line.subject, &line.figures[0]));
            Ok(Group { title: format!("{title} ({quantity})"), bars: bars.collect() })
        })
        .collect();
    Ok(draw("Warmwire beside Debian's libcurl", &groups?, Style::Compact))
}

/// Returns the list of reasons with the machines and commits of their rows, or the name of a figure that the
/// results lack.
fn section(results: &Results) -> Result<String, String> {
    let mut origins: Vec<String> = Vec::new();
    for row in results.rows.iter().filter(|row| REASONS.iter().any(|reason| reason.row == row.name)) {
        let Origin { date, commit, machine } = &row.origin;
        let origin = format!("{machine}, on {date}, commit {commit}");
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    let reasons: Result<String, String> = REASONS.iter().map(|reason| bullet(reason, results)).collect();
    let picture = "![Warmwire beside Debian's libcurl](bench/overview.svg)";
    Ok(format!("Measured on {}:\n\n{}\n{picture}\n", origins.join(";\n"), reasons?))
}

fn bullet(reason: &Reason, results: &Results) -> Result<String, String> {
    let Reason { title, how, what, unit, decimals, .. } = reason;
    let of = |subject: &str| {
        let line = results.case(reason.row, reason.case).and_then(|case| case.line(subject));
        let figure = line.and_then(|line| line.figure(reason.quantity));
        let median = figure.ok_or(format!("no figure: {title} {subject}"))?.median();
        Ok::<_, String>(format!("{median:.decimals$}"))
    };
    let (ours, theirs) = (of(reason.ours)?, of(reason.theirs)?);
    Ok(format!("- **{title}** {how}\n  {what} {ours}{unit},\n  with Debian's libcurl {theirs}.\n"))
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
    fn readme_and_its_picture_show_the_figures_of_results_json() {
        let results = Results::read(&root().join("bench/results.json")).unwrap();
        let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
        let shown = section(&results).unwrap();
        assert!(read("README.md").contains(&shown), "README.md lacks:\n{shown}");
        assert_eq!(read("bench/overview.svg"), picture(&results).unwrap(), "`make bench README=1` draws it");
    }

    #[test]
    fn a_missing_figure_is_named() {
        let empty = Results::default();
        let expected = "no figure: Connections outlive handles. ours, a handle each, process-wide pool";
        assert_eq!(section(&empty).unwrap_err(), expected);
        assert_eq!(picture(&empty).unwrap_err(), "no figure: HTTPS, a new handle for each GET");
    }
}
