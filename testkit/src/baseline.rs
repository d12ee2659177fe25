//! The distribution's libraries that ours is compared with, and whether they have the versions whose
//! behaviour was recorded.
//!
//! Comparisons record the behaviour of another library. A security update of Debian may change it, which is
//! not a fault of ours.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use crate::needs::changed;

const RECORDED: &str = include_str!("../../tests/baseline.tsv");
/// Subjects of comparisons, and the digest of what the recorded versions did with each.
const BEHAVIOUR: &str = include_str!("../../tests/baseline-behaviour.tsv");
/// The variable that has the digests of a run written down.
const WRITE: &str = "RECORD_BASELINE";

/// A test's comparisons with the distribution's library.
///
/// With the recorded versions each difference is a fault of ours. With others, a difference is one only if
/// the distribution's library did what the recorded versions did; else it is reported.
pub struct Comparison {
    test: &'static str,
    packages: Vec<String>,
    faults: Vec<String>,
    changes: Vec<String>,
    digests: BTreeMap<String, String>,
}

impl Comparison {
    pub fn new(test: &'static str) -> Comparison {
        Comparison::with(test, changed_packages())
    }

    fn with(test: &'static str, packages: Vec<String>) -> Comparison {
        Comparison { test, packages, faults: Vec::new(), changes: Vec::new(), digests: BTreeMap::new() }
    }

    /// Adds the differences of one subject, and all that the distribution's library did there.
    pub fn add(&mut self, subject: &str, theirs: &str, differences: impl IntoIterator<Item = String>) {
        let (name, digest) = (format!("{}/{subject}", self.test), digest(theirs));
        let is_theirs = !self.packages.is_empty() && recorded(BEHAVIOUR, &name) != Some(&digest);
        if is_theirs { &mut self.changes } else { &mut self.faults }.extend(differences);
        self.digests.insert(name, digest);
    }

    /// Adds differences of a subject whose behaviour is not recorded.
    pub fn add_unrecorded(&mut self, differences: impl IntoIterator<Item = String>) {
        if self.packages.is_empty() { &mut self.faults } else { &mut self.changes }.extend(differences);
    }

    /// Fails with the faults; if there are only changes of the distribution's, leaves the test out with them.
    #[track_caller]
    pub fn judge(self) {
        if std::env::var_os(WRITE).is_some() {
            self.write();
        }
        assert!(self.faults.is_empty(), "{} differences:\n{}", self.faults.len(), self.faults.join("\n"));
        if !self.changes.is_empty() {
            println!("{}", self.changes.join("\n"));
            changed(format!("{} differences; {}", self.changes.len(), self.packages.join("; ")));
        }
    }

    /// Replaces the rows of this test in the record.
    fn write(&self) {
        static WRITING: Mutex<()> = Mutex::new(());
        let _alone = WRITING.lock().unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/baseline-behaviour.tsv");
        let text = std::fs::read_to_string(&path).unwrap();
        let own = format!("{}/", self.test);
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.starts_with(&own)).map(str::to_owned).collect();
        lines.extend(self.digests.iter().map(|(name, digest)| format!("{name}\t{digest}")));
        lines.sort_by_key(|line| (!line.starts_with('#')).then(|| line.clone()));
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
    }
}

fn recorded<'a>(rows: &'a str, subject: &str) -> Option<&'a str> {
    rows.lines().filter_map(|line| line.split_once('\t')).find(|(name, _)| *name == subject).map(|row| row.1)
}

/// FNV-1a, 64 bits: the record compares behaviour and protects nothing.
fn digest(text: &str) -> String {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// Returns a line for each recorded package that is installed in another version, or not at all.
pub fn changed_packages() -> Vec<String> {
    changes(RECORDED, installed)
}

fn changes(recorded: &str, installed: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let rows =
        recorded.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let changed = rows.filter_map(|(package, version)| {
        let found = installed(package);
        let text = found.as_deref().unwrap_or("not installed");
        (text != version).then(|| format!("{package} is {text}, recorded was {version}"))
    });
    changed.collect()
}

fn installed(package: &str) -> Option<String> {
    let output = Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_in_another_version_is_named_and_one_that_is_missing() {
        let recorded = "# a comment\nlibssh2-1\t1.10.0-3\ncurl\t7.88.1\nlibssl3\t3.0.19\n";
        let found = changes(recorded, |package| match package {
            "libssh2-1" => Some("1.10.0-3+deb12u1".to_owned()),
            "curl" => Some("7.88.1".to_owned()),
            _ => None,
        });
        assert_eq!(
            found,
            [
                "libssh2-1 is 1.10.0-3+deb12u1, recorded was 1.10.0-3",
                "libssl3 is not installed, recorded was 3.0.19"
            ]
        );
    }

    fn comparison(packages: &[&str]) -> Comparison {
        Comparison::with("sample", packages.iter().map(|line| (*line).to_owned()).collect())
    }

    fn ends(comparison: Comparison) -> Result<(), String> {
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| comparison.judge()));
        judged.map_err(|text| text.downcast_ref::<String>().unwrap().clone())
    }

    #[test]
    fn a_difference_is_a_fault_unless_the_distribution_changed() {
        let differences = || ["one".to_owned()];
        let (same, other) = ("as it was recorded", "otherwise");
        let row = format!("sample/s\t{}", digest(same));
        assert_eq!(
            recorded(BEHAVIOUR, "sample/s"),
            Some(row.split_once('\t').unwrap().1),
            "the example's row"
        );
        for (packages, theirs, word) in [
            (&[][..], same, "1 differences"),
            (&[], other, "1 differences"),
            (&["curl is 9"], same, "1 differences:\none"),
            (&["curl is 9"], other, "left out for a change: 1 differences; curl is 9"),
        ] {
            let mut comparison = comparison(packages);
            comparison.add("s", theirs, differences());
            assert!(ends(comparison).unwrap_err().starts_with(word), "{packages:?} {theirs}");
        }
        let mut both = comparison(&["curl is 9"]);
        both.add("s", other, differences());
        both.add("s", same, ["two".to_owned()]);
        assert_eq!(ends(both).unwrap_err(), "1 differences:\ntwo", "a fault is not hidden by a change");
        let mut none = comparison(&["curl is 9"]);
        none.add("s", other, []);
        assert_eq!(ends(none), Ok(()));
    }

    #[test]
    fn the_record_has_rows() {
        assert!(changes(RECORDED, |_| None).len() > 3);
    }
}
