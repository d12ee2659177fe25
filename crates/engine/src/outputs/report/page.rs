//! The report as text: findings first, then totals and a row for each host.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::findings::findings;
use super::totals::{Host, Totals};
use crate::why::Stage;
use crate::why::story::{bytes, time_text};

/// Most findings and hosts that are shown.
const MAX_FINDINGS: usize = 20;
const MAX_ROWS: usize = 40;

/// Writes the report of a process.
pub fn text(totals: &Totals, now: Instant, uncounted: u64) -> String {
    let mut out = String::new();
    let program = std::env::args_os().next().unwrap_or_default();
    let _ = writeln!(
        out,
        "warmwire: report on {} (process {})",
        program.to_string_lossy().escape_debug(),
        std::process::id()
    );
    let found = findings(totals);
    if found.is_empty() {
        out.push_str("No findings.\n");
    }
    for finding in found.iter().take(MAX_FINDINGS) {
        let lost = match finding.lost {
            Duration::ZERO => String::new(),
            lost if finding.lower_bound => format!("; at least {} lost", time_text(lost)),
            lost => format!("; about {} lost", time_text(lost)),
        };
        let _ = writeln!(out, "- {}: {}{lost}\n  remedy: {}", finding.host, finding, finding.remedy);
    }
    sums(&mut out, totals, now, uncounted);
    rows(&mut out, totals);
    out
}

fn sums(out: &mut String, totals: &Totals, now: Instant, uncounted: u64) {
    let sum = |of: fn(&Host) -> u64| totals.hosts.values().map(of).sum::<u64>();
    let time = time_text(now.saturating_duration_since(totals.started));
    let _ = writeln!(
        out,
        "Totals: {} transfers ({} failed) in {time}, {} connections opened, {} reused, {} full and {} \
         resumed handshakes, {} received, {} sent",
        totals.transfers,
        totals.failed,
        sum(|host| host.opened),
        sum(|host| host.reused),
        sum(|host| host.full),
        sum(|host| host.resumed),
        bytes(sum(|host| host.received) as i64),
        bytes(sum(|host| host.sent) as i64)
    );
    if uncounted > 0 {
        let _ = writeln!(out, "{uncounted} transfers were not counted");
    }
}

/// A row for each host, the busiest first.
fn rows(out: &mut String, totals: &Totals) {
    let mut hosts: Vec<(&String, &Host)> = totals.hosts.iter().collect();
    hosts.sort_by_key(|(_, host)| std::cmp::Reverse(host.requests));
    let width = hosts.iter().take(MAX_ROWS).map(|(name, _)| name.len()).max().unwrap_or(0).max(4);
    let _ = write!(
        out,
        "{:<width$} {:>8} {:>6} {:>6} {:>6} {:>7}",
        "host", "requests", "opened", "reused", "full", "resumed"
    );
    Stage::ALL.iter().for_each(|stage| {
        let _ = write!(out, " {:>8}", stage.name());
    });
    out.push('\n');
    for (name, host) in hosts.iter().take(MAX_ROWS) {
        let Host { requests, opened, reused, full, resumed, .. } = host;
        let _ = write!(out, "{name:<width$} {requests:>8} {opened:>6} {reused:>6} {full:>6} {resumed:>7}");
        for stage in Stage::ALL {
            let _ = write!(out, " {:>8}", time_text(host.stages[stage as usize]));
        }
        out.push('\n');
    }
    if hosts.len() > MAX_ROWS {
        let _ = writeln!(out, "and {} more hosts", hosts.len() - MAX_ROWS);
    }
}

#[cfg(test)]
mod tests {
    use super::super::totals::Sum;
    use super::*;

    #[test]
    fn findings_stand_before_the_totals() {
        let mut totals = Totals::new(Instant::now());
        totals.transfers = 300;
        let forgotten = Sum { count: 299, time: Duration::from_secs(12) };
        let mut host = Host::default();
        (host.requests, host.opened, host.forgotten) = (300, 300, forgotten);
        totals.hosts.insert("h.test:443".to_owned(), host);
        let text = text(&totals, Instant::now(), 1);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("warmwire: report on "), "{text}");
        assert!(lines[1].starts_with("- h.test:443: 299 connections were opened"), "{text}");
        assert!(lines[1].ends_with("; about 12.00 s lost"), "{text}");
        assert_eq!(lines[2], "  remedy: set WARMWIRE_POOL=process in the environment, or reuse one handle");
        assert!(lines[3].starts_with("Totals: 300 transfers (0 failed) in "), "{text}");
        assert_eq!(lines[4], "1 transfers were not counted");
        assert!(lines[6].starts_with("h.test:443      300    300      0      0       0 "), "{text}");
    }
}
