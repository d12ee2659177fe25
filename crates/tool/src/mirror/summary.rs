//! Counts of a mirror, for its last lines.

use super::scope::Outside;
use crate::raw::archive::units::{counted, size};
use std::collections::BTreeMap;

/// Counts of a mirror.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub fetched: usize,
    pub bytes: u64,
    pub unchanged: usize,
    /// Fetched by the run that was interrupted.
    pub continued: usize,
    pub removed: usize,
    pub refused_by_robots: usize,
    pub beyond_limit: usize,
    /// In listings; they are not followed.
    pub symbolic_links: usize,
    /// Links that are not followed, by reason.
    pub outside: BTreeMap<Outside, usize>,
    /// Failures by reason.
    pub failed: BTreeMap<String, usize>,
}

impl Counts {
    /// Adds a failure.
    pub fn fail(&mut self, reason: &str) {
        /// More kinds are counted as one, so that memory has a bound.
        const MOST_KINDS: usize = 50;
        let reason = match self.failed.len() < MOST_KINDS || self.failed.contains_key(reason) {
            true => reason,
            false => "other failures",
        };
        *self.failed.entry(reason.to_owned()).or_default() += 1;
    }

    /// Returns the lines for the user.
    pub fn text(&self) -> String {
        let failed: usize = self.failed.values().sum();
        let bytes = size(i64::try_from(self.bytes).unwrap_or(i64::MAX));
        let mut text = format!("mirror: {} fetched ({bytes})", counted(self.fetched, "file"));
        for (count, what) in [
            (self.unchanged, "unchanged"),
            (self.continued, "fetched before"),
            (self.removed, "removed"),
            (self.refused_by_robots, "refused by robots.txt"),
            (failed, "failed"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text.push('\n');
        for (reason, count) in &self.failed {
            text.push_str(&format!("mirror: failed: {count} × {reason}\n"));
        }
        let left_out = self.outside.iter().map(|(reason, count)| (*count, reason.text()));
        for (count, reason) in left_out.chain([
            (self.beyond_limit, "beyond --max-files or --max-total"),
            (self.symbolic_links, "that a listing calls symbolic"),
        ]) {
            if count > 0 {
                text.push_str(&format!("mirror: not followed: {} {reason}\n", counted(count, "link")));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_what_happened() {
        let mut counts = Counts { fetched: 1, bytes: 2048, unchanged: 3, ..Counts::default() };
        counts.fail("HTTP status 404");
        counts.fail("HTTP status 404");
        counts.outside.insert(Outside::Host, 4);
        let text = counts.text();
        assert!(text.starts_with("mirror: 1 file fetched ("), "{text}");
        for part in
            [", 3 unchanged", ", 2 failed\n", "failed: 2 × HTTP status 404\n", "4 links on other hosts\n"]
        {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("robots"), "{text}");
        (0..1000).for_each(|number| counts.fail(&number.to_string()));
        assert!(counts.failed.len() < 60);
    }
}
