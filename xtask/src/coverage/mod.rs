//! `cargo xtask coverage`: writes COVERAGE.md, which parts of curl's interface are done, refused, idle,
//! partial or missing.
//!
//! No status is entered by hand. It follows from two lists:
//! - `covers:` comments in tests (evidence.rs) list names without which the test would fail, and so do the
//!   command lines of curl's published cases that the tool passes (cases.rs); `refuses:` and `idles:`
//!   comments list names for which a test expects the reply of a curl without the protocol or feature;
//! - xtask/refused.txt lists what the library and the tool refuse (probe.rs asks them).
//!
//! Refused without a test: missing. Accepted without a test: partial.

mod cases;
mod evidence;
mod judges;
mod probe;

use crate::{Report, files};
use evidence::{Claim, Evidence};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tables::{Code, EasyOption, Info, MultiOption, constant, export, flag, version};

const REFUSED: &str = "xtask/refused.txt";

/// One of the interface's lists.
struct Section {
    title: &'static str,
    names: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Status {
    Missing,
    Partial,
    Idle,
    Refused,
    Done,
}

impl Status {
    /// The best first, in the order of the report's columns.
    const ALL: [Status; 5] = [Status::Done, Status::Refused, Status::Idle, Status::Partial, Status::Missing];

    fn word(self) -> &'static str {
        match self {
            Status::Missing => "missing",
            Status::Partial => "partial",
            Status::Idle => "idle",
            Status::Refused => "refused",
            Status::Done => "done",
        }
    }

    fn of(word: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.word() == word)
    }
}

/// Asks the library and the tool when they are built, then writes COVERAGE.md; with `check` it only looks
/// whether the report claims too much.
pub fn run(check: bool) -> Report {
    report(check, probe::subjects())
}

fn report(check: bool, subjects: Vec<probe::Subject>) -> Report {
    let sections = sections();
    let known: BTreeSet<String> = sections.iter().flat_map(|s| s.names.iter().cloned()).collect();
    let mut named = known.clone();
    named.extend(constant::ALL.iter().map(|c| c.name.to_owned()));
    named.extend(Code::ALL.iter().map(|c| format!("CURLE_{}", c.name())));
    let mut evidence = Evidence::collect(&named)?;
    for (flag, case) in cases::covered(check)? {
        evidence.add(&flag, format!("curl's case {case}"));
    }
    let mut asked = Vec::new();
    let mut refused = read_refused(&known)?;
    for subject in subjects {
        asked.push(subject.name());
        let now = subject.refused()?;
        refused.retain(|name| !subject.answers_for(name));
        refused.extend(now);
    }
    let asked = if asked.is_empty() { "nothing built was".to_owned() } else { asked.join(" and ") };
    let judges = judges::table(&files::text(judges::RESULTS))?;
    if check {
        if !files::text("COVERAGE.md").ends_with(&judges) {
            return Err("COVERAGE.md: other counts of judges; run `cargo xtask coverage`".to_owned());
        }
        let behind = no_more_than_so(&sections, &evidence, &refused)?;
        return Ok(format!("coverage: true, {behind} names behind ({asked} asked)"));
    }
    let list: String = refused.iter().map(|name| format!("{name}\n")).collect();
    files::generated(REFUSED, &format!("{HEAD}{list}"), false)?;
    files::generated("COVERAGE.md", &(markdown(&sections, &evidence, &refused) + &judges), false)?;
    Ok(format!("coverage: fresh ({asked} asked)"))
}

/// Checks that the checked-in report lists every name and claims nothing untrue. A status that has improved
/// since is not an error; returns their count.
fn no_more_than_so(
    sections: &[Section],
    evidence: &Evidence,
    refused: &BTreeSet<String>,
) -> Result<usize, String> {
    let text = files::text("COVERAGE.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let claims: BTreeMap<&str, &str> =
        rows.map(|(name, rest)| (name, rest.split(' ').next().unwrap_or(""))).collect();
    let (mut wrong, mut behind) = (Vec::new(), 0);
    for name in sections.iter().flat_map(|section| &section.names) {
        let is = status(name, evidence, refused);
        match claims.get(name.as_str()).and_then(|word| Status::of(word)) {
            None => wrong.push(format!("{name} has no row")),
            Some(claimed) if claimed > is => {
                wrong.push(format!("{name} is {} and said to be {}", is.word(), claimed.word()))
            }
            Some(claimed) => behind += usize::from(claimed < is),
        }
    }
    if wrong.is_empty() {
        Ok(behind)
    } else {
        Err(format!("COVERAGE.md: {}; run `cargo xtask coverage`", wrong.join("; ")))
    }
}

const HEAD: &str = "# What the library and the tool refuse. Made by `cargo xtask coverage` from the built ones; not written by hand.\n";

fn sections() -> Vec<Section> {
    vec![
        Section { title: "Exported functions", names: export::EXPORTS.map(str::to_owned).to_vec() },
        Section {
            title: "Options of an easy handle",
            names: EasyOption::ALL.iter().map(|o| format!("CURLOPT_{}", o.name())).collect(),
        },
        Section {
            title: "Options of a multi handle",
            names: MultiOption::ALL.iter().map(|o| format!("CURLMOPT_{}", o.name())).collect(),
        },
        Section {
            title: "Infos",
            names: Info::ALL.iter().map(|i| format!("CURLINFO_{}", i.name())).collect(),
        },
        Section {
            title: "Flags of the command line",
            names: flag::FLAGS.iter().map(|f| format!("--{}", f.long)).collect(),
        },
    ]
}

fn read_refused(known: &BTreeSet<String>) -> Result<BTreeSet<String>, String> {
    let text = files::text(REFUSED);
    let names = text.lines().filter(|line| !line.starts_with('#'));
    names
        .map(|name| {
            if known.contains(name) {
                Ok(name.to_owned())
            } else {
                Err(format!("{REFUSED}: what is {name}?"))
            }
        })
        .collect()
}

/// Returns the status of a name and the test that proves it.
fn judged(name: &str, evidence: &Evidence, refused: &BTreeSet<String>) -> (Status, Option<String>) {
    let claims: &[(Claim, Status)] = if refused.contains(name) {
        &[(Claim::Refuses, Status::Refused)]
    } else {
        &[(Claim::Covers, Status::Done), (Claim::Idles, Status::Idle)]
    };
    let proven = claims.iter().find_map(|(claim, status)| Some((*status, evidence.test(*claim, name)?)));
    match proven {
        Some((status, test)) => (status, Some(test)),
        None if refused.contains(name) => (Status::Missing, None),
        None => (Status::Partial, None),
    }
}

fn status(name: &str, evidence: &Evidence, refused: &BTreeSet<String>) -> Status {
    judged(name, evidence, refused).0
}

/// The text before the report's tables.
const PREFACE: &str = "\
Made by `cargo xtask coverage`. Done: the named test fails without it. Refused: its protocol or feature is not built, and
the named test sees it refused in curl's own words and with its exit code. Idle: it is taken, as curl takes it whatever is
built, and the named test sees the protocol that it is about refused. Partial: it is taken, and no test says that it works.
Missing: it is refused (`CURLE_UNKNOWN_OPTION`, `CURLE_NOT_BUILT_IN`, exit code 2) or not there.
";

fn markdown(sections: &[Section], evidence: &Evidence, refused: &BTreeSet<String>) -> String {
    let words = Status::ALL.map(Status::word).join(" | ");
    let mut out = format!(
        "# Coverage of curl {}\n\n{PREFACE}\n| | {words} | of |\n| --- |{} --: |\n",
        version::CURL,
        " --: |".repeat(Status::ALL.len())
    );
    let mut tables = String::new();
    for section in sections {
        let judged: Vec<_> =
            section.names.iter().map(|name| (name, judged(name, evidence, refused))).collect();
        let count = |wanted| judged.iter().filter(|(_, (status, _))| *status == wanted).count().to_string();
        let counts = Status::ALL.map(count).join(" | ");
        writeln!(out, "| {} | {counts} | {} |", section.title, judged.len()).expect("writes to a string");
        tables += &format!("\n## {}\n\n| name | status | test |\n| --- | --- | --- |\n", section.title);
        for (name, (status, test)) in judged {
            tables += &format!("| `{name}` | {} | {} |\n", status.word(), test.unwrap_or_default());
        }
    }
    out + &tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_in_report_claims_nothing_that_is_not_so() {
        // A build may be older than the checkout; `make test-all` runs this after it has built.
        if let Err(error) = report(true, Vec::new()) {
            panic!("{error}");
        }
    }

    #[test]
    fn a_refusal_weighs_more_than_silence() {
        let known: BTreeSet<String> =
            ["CURLOPT_URL", "CURLOPT_PORT", "CURLOPT_ECH", "--ech", "--pubkey"].map(str::to_owned).into();
        let mut evidence = Evidence::default();
        evidence
            .read("tests/a.c", "/* covers: CURLOPT_URL */\nint main(void) {", &known)
            .expect("names are known");
        let text = "// refuses: --ech, --pubkey\n// idles: --pubkey\nfn one() {";
        evidence.read("tests/a.rs", text, &known).expect("names are known");
        let refused: BTreeSet<String> = ["CURLOPT_ECH", "--ech"].map(str::to_owned).into();
        assert_eq!(status("CURLOPT_URL", &evidence, &refused), Status::Done);
        assert_eq!(status("CURLOPT_PORT", &evidence, &refused), Status::Partial);
        assert_eq!(status("CURLOPT_ECH", &evidence, &refused), Status::Missing);
        assert_eq!(status("--ech", &evidence, &refused), Status::Refused);
        assert_eq!(status("--pubkey", &evidence, &refused), Status::Idle);
    }
}
