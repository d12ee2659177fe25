//! The counts of programs and suites of other projects (tests/judges/results.tsv, which their run writes).

use std::fmt::Write;

/// The file of the counts.
pub const RESULTS: &str = "tests/judges/results.tsv";

/// The counts of one judge.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    judge: &'a str,
    /// Passed, failed, left out.
    counts: [usize; 3],
    about: &'a str,
}

fn rows(text: &str) -> Result<Vec<Row<'_>>, String> {
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn row(line: &str) -> Result<Row<'_>, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [judge, passed, failed, left, about] = fields[..] else {
        return Err(format!("{RESULTS}: a line needs five fields: {line}"));
    };
    let number = |text: &str| text.parse().map_err(|_| format!("{RESULTS}: no number: {text}"));
    Ok(Row { judge, counts: [number(passed)?, number(failed)?, number(left)?], about })
}

/// Returns the table for the report. A judge with failures is an error.
pub fn table(text: &str) -> Result<String, String> {
    let rows = rows(text)?;
    let mut out = String::from(
        "\n## Judges of other projects\n\nCounted by `make judges`.\n\n\
         | judge | passed | failed | left out | what it tests |\n| --- | --: | --: | --: | --- |\n",
    );
    for Row { judge, counts: [passed, failed, left], about } in &rows {
        writeln!(out, "| {judge} | {passed} | {failed} | {left} | {about} |").expect("writes to a string");
    }
    match rows.iter().find(|row| row.counts[1] > 0) {
        Some(row) => Err(format!("{RESULTS}: {} counts {} failures", row.judge, row.counts[1])),
        None => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_a_table() {
        let table = table("# head\nssh-audit\t22\t0\t1\tThe offer.\n").expect("a good line");
        assert!(table.ends_with("| ssh-audit | 22 | 0 | 1 | The offer. |\n"), "{table}");
    }

    #[test]
    fn failures_and_bad_lines_are_errors() {
        assert!(table("ssh-audit\t22\t1\t0\tThe offer.\n").is_err());
        assert!(table("ssh-audit\t22\t0\n").is_err());
        assert!(table("ssh-audit\tall\t0\t0\tThe offer.\n").is_err());
    }

    #[test]
    fn the_checked_in_counts_are_good() {
        assert!(table(&crate::files::text(RESULTS)).is_ok());
    }
}
