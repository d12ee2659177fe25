//! The distribution's libraries that ours is compared with, and whether they have the versions whose
//! behaviour was recorded.
//!
//! Comparisons record the behaviour of another library. A security update of Debian may change it, which is
//! not a fault of ours.

use std::process::Command;

const RECORDED: &str = include_str!("../../tests/baseline.tsv");

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

    #[test]
    fn the_record_has_rows() {
        assert!(changes(RECORDED, |_| None).len() > 3);
    }
}
