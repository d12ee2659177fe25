//! The output of a run: the verdict of each case that did not simply pass, the sums by server, the agreement
//! with a column of expected.tsv, and the last line for scripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::run::{Outcome, Verdict};

/// The project's own list of cases that are not meant to pass yet: number to reason.
#[derive(Default)]
pub struct SkipList(BTreeMap<u64, String>);

impl SkipList {
    pub fn read(path: &Path) -> Result<SkipList, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut list = SkipList::default();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let (number, reason) = line.split_once(' ').ok_or_else(|| format!("no reason given: {line}"))?;
            let number = number.parse().map_err(|_| format!("no case number: {line}"))?;
            list.0.insert(number, reason.trim().to_owned());
        }
        Ok(list)
    }

    /// A case on the list counts as skipped while it fails, and as failed once it passes.
    pub fn judge(&self, number: u64, verdict: Verdict) -> Verdict {
        match (self.0.get(&number), verdict) {
            (Some(_), Verdict::Passed) => Verdict::Failed(TAKE_OFF.into()),
            (Some(reason), Verdict::Failed(_)) => Verdict::Skipped(format!("skip list: {reason}")),
            (_, verdict) => verdict,
        }
    }
}

/// The complaint about a case on the skip list that passes.
const TAKE_OFF: &str = "passes: take it off the skip list";

/// Removes passing cases from a skip list, and keeps every other line.
pub fn prune_list(path: &Path, outcomes: &BTreeMap<u64, Outcome>) -> Result<(), String> {
    let describe = |e: std::io::Error| format!("{}: {e}", path.display());
    let text = fs::read_to_string(path).map_err(describe)?;
    let stays = |line: &&str| {
        let number = line.split(' ').next().and_then(|n| n.parse().ok());
        let outcome = number.and_then(|n: u64| outcomes.get(&n));
        outcome.is_none_or(|o| o.verdict != Verdict::Failed(TAKE_OFF.into()))
    };
    let kept: String = text.lines().filter(stays).map(|line| format!("{line}\n")).collect();
    fs::write(path, kept).map_err(describe)
}

/// The numbers of the cases that passed, one per line.
pub fn write_passed(path: &Path, outcomes: &BTreeMap<u64, Outcome>) -> Result<(), String> {
    let passed = outcomes.iter().filter(|(_, outcome)| outcome.verdict == Verdict::Passed);
    let text: String = passed.map(|(number, _)| format!("{number}\n")).collect();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a new skip list with the failing cases, each with its first failure.
pub fn write_list(path: &Path, head: &str, outcomes: &BTreeMap<u64, Outcome>) -> Result<(), String> {
    let mut text = head.to_owned();
    for (number, outcome) in outcomes {
        if let Verdict::Failed(why) = &outcome.verdict {
            let why = why.lines().next().unwrap_or_default().replace(" (- expected, + got):", "");
            text += &format!("{number} [{}] {}\n", outcome.name, why.trim());
        }
    }
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// A column of expected.tsv: case number to pass, fail or skip.
pub struct Expected(BTreeMap<u64, String>);

impl Expected {
    /// Reads the column from the file beside the cases; `None` if there is no such file.
    pub fn read(cases: &Path, column: &str) -> Option<Expected> {
        let beside = [cases.join("expected.tsv"), cases.parent()?.join("expected.tsv")];
        let text = beside.iter().find_map(|p| fs::read_to_string(p).ok())?;
        let mut lines = text.lines();
        let at = lines.next()?.split('\t').position(|name| name == column)?;
        let rows = lines.filter_map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            Some((fields.first()?.parse().ok()?, (*fields.get(at)?).to_owned()))
        });
        Some(Expected(rows.collect()))
    }

    pub fn of(&self, number: u64) -> Option<&str> {
        self.0.get(&number).map(String::as_str)
    }
}

/// Passed, failed and skipped.
#[derive(Default, Clone, Copy)]
pub struct Tally(pub usize, pub usize, pub usize);

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => self.0 += 1,
            Verdict::Failed(_) => self.1 += 1,
            Verdict::Skipped(_) => self.2 += 1,
        }
    }
}

/// Returns the output about one case; `None` if it passed and `verbose` is off.
pub fn tell(number: u64, outcome: &Outcome, verbose: bool) -> Option<String> {
    let mut text = match &outcome.verdict {
        Verdict::Passed if !verbose => return None,
        Verdict::Passed => format!("pass {number} [{}] {:.1} s", outcome.name, outcome.seconds),
        Verdict::Skipped(why) => format!("skip {number} [{}] {why}", outcome.name),
        Verdict::Failed(why) => format!("FAIL {number} [{}]\n  {}", outcome.name, why.replace('\n', "\n  ")),
    };
    if verbose {
        text = format!("{text}\n{}", outcome.conversation);
    }
    Some(text.trim_end().to_owned())
}

/// The tally by server and the closing line; returns the sums.
pub fn sum_up(outcomes: &BTreeMap<u64, Outcome>) -> Tally {
    let mut servers: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    for outcome in outcomes.values() {
        let server = outcome.server.split_whitespace().next().unwrap_or("none");
        servers.entry(server).or_default().add(&outcome.verdict);
        all.add(&outcome.verdict);
    }
    println!("\n{:<14} {:>7} {:>7} {:>8}", "first server", "passed", "failed", "skipped");
    for (server, Tally(passed, failed, skipped)) in servers {
        println!("{server:<14} {passed:>7} {failed:>7} {skipped:>8}");
    }
    all
}

/// Prints how the verdicts agree with the column, over the cases that can be played here.
pub fn agreement(outcomes: &BTreeMap<u64, Outcome>, expected: &Expected, column: &str) {
    let (mut agreeing, mut judged) = (0, 0);
    println!("\nagainst {column} of expected.tsv:");
    for (number, outcome) in outcomes.iter().filter(|(_, o)| o.playable) {
        let Some(wanted) = expected.of(*number) else { continue };
        let got = match outcome.verdict {
            Verdict::Passed => "pass",
            Verdict::Failed(_) => "fail",
            Verdict::Skipped(_) => "skip",
        };
        judged += 1;
        if got == wanted {
            agreeing += 1;
        } else {
            println!("  {number}: {got} here, {wanted} there [{}]", outcome.name);
        }
    }
    let share = 100.0 * agreeing as f64 / f64::from(judged.max(1));
    println!("{agreeing} of {judged} cases whose servers are played agree: {share:.1} %");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_case_that_passes_fails() {
        let list = SkipList([(3, "later".to_owned())].into());
        assert!(matches!(list.judge(3, Verdict::Passed), Verdict::Failed(_)));
        assert!(matches!(list.judge(3, Verdict::Failed(String::new())), Verdict::Skipped(_)));
        assert_eq!(list.judge(4, Verdict::Passed), Verdict::Passed);
        assert!(matches!(list.judge(4, Verdict::Failed(String::new())), Verdict::Failed(_)));
    }
}
