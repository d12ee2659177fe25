//! Remembers when a step of `make test-deep` was last whole. Each whole run of a step is a line at the end of
//! target/steps/whole.tsv; the last line of a step counts. Lines are only added, so that two runs at once
//! do not lose each other's.
//!
//! The file belongs to the build: it says what this machine has seen, and `cargo clean` removes it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where a step was last whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastPass {
    pub date: String,
    /// The commit; a checkout with changes has `+` behind it, and is never equal to another.
    pub commit: String,
}

/// The record of all steps.
pub struct Record {
    file: PathBuf,
    seen: BTreeMap<String, LastPass>,
}

impl Record {
    pub fn read(folder: &Path) -> Record {
        let file = folder.join("whole.tsv");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let row = |line: &str| {
            let mut columns = line.split('\t').map(str::to_owned);
            Some((columns.next()?, LastPass { date: columns.next()?, commit: columns.next()? }))
        };
        Record { seen: text.lines().filter_map(row).collect(), file }
    }

    pub fn last(&self, step: &str) -> Option<&LastPass> {
        self.seen.get(step)
    }

    /// Returns whether the step was whole in exactly this checkout.
    pub fn is_done(&self, step: &str, now: &LastPass) -> bool {
        !now.commit.ends_with('+') && self.last(step).is_some_and(|seen| seen.commit == now.commit)
    }

    /// Writes a step down as whole; at once, so that a run that is stopped can be resumed.
    pub fn add(&mut self, step: &str, seen: LastPass) -> Result<(), String> {
        let line = format!("{step}\t{}\t{}\n", seen.date, seen.commit);
        self.seen.insert(step.to_owned(), seen);
        let file = OpenOptions::new().create(true).append(true).open(&self.file);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

impl LastPass {
    /// Marks the commit as changed if the checkout is no longer what it was at the beginning of the step.
    pub fn until(mut self, end: &LastPass) -> LastPass {
        if self.commit != end.commit && !self.commit.ends_with('+') {
            self.commit.push('+');
        }
        self
    }
}

/// The time and the commit of this checkout.
pub fn now() -> LastPass {
    let output = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(crate::files::root()).output();
        output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let date = output("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]).unwrap_or_default();
    let mut commit = output("git", &["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    if commit.is_empty() || output("git", &["status", "--porcelain"]).is_none_or(|text| !text.is_empty()) {
        commit.push('+');
    }
    LastPass { date, commit }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(commit: &str) -> LastPass {
        LastPass { date: "2026-11-27T03:00:00Z".to_owned(), commit: commit.to_owned() }
    }

    #[test]
    fn a_step_is_done_only_at_the_commit_where_it_was_whole() {
        let folder = std::env::temp_dir().join(format!("warmwire-record-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut record = Record::read(&folder);
        assert_eq!(record.last("miri"), None);
        record.add("miri", seen("abc")).unwrap();
        record.add("soak", seen("abc+")).unwrap();
        let record = Record::read(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(record.last("miri"), Some(&seen("abc")));
        assert!(record.is_done("miri", &seen("abc")) && !record.is_done("miri", &seen("abd")));
        assert!(!record.is_done("soak", &seen("abc+")), "changes have no name");
    }

    #[test]
    fn two_runs_at_once_keep_the_steps_of_both() {
        let folder = std::env::temp_dir().join(format!("warmwire-records-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (mut one, mut other) = (Record::read(&folder), Record::read(&folder));
        one.add("miri", seen("abc")).unwrap();
        other.add("soak", seen("abc")).unwrap();
        other.add("soak", seen("abd")).unwrap();
        let both = Record::read(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(both.last("miri"), Some(&seen("abc")));
        assert_eq!(both.last("soak"), Some(&seen("abd")));
    }

    #[test]
    fn a_checkout_that_changes_during_a_step_has_no_name() {
        assert_eq!(seen("abc").until(&seen("abc")), seen("abc"));
        for end in ["abc+", "abd"] {
            assert_eq!(seen("abc").until(&seen(end)), seen("abc+"));
        }
        assert_eq!(seen("abc+").until(&seen("abd")), seen("abc+"));
    }
}
