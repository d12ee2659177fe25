//! `-Z --progress=bars`: a line for each transfer, up to the terminal's height, and sums below.
//!
//! A transfer keeps its line. If the terminal is full, a new transfer takes the line of the one that ended
//! first, so that only messages scroll. `Bars` decides the contents of the lines, `Screen` what to write to a
//! terminal that shows older ones: changed lines, each overwritten in one piece. Neither reads a clock or
//! writes anything.

use crate::progress::{Counts, End, bar, rate, sums, time_left, width};
use std::time::Duration;

/// Lines that are no transfer's: the rest, the sums, and the cursor's.
const OTHER_LINES: usize = 3;
/// Period over which the current rate is computed.
const WINDOW: Duration = Duration::from_secs(3);

/// A transfer in its line.
#[derive(Clone, Debug)]
struct Slot {
    /// Identifies the transfer.
    id: u64,
    name: String,
    counts: Counts,
    /// Since its first attempt began.
    spent: Duration,
    /// The result, and how many transfers had ended before it.
    ended: Option<(End, usize)>,
}

/// A transfer, as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Running<'n> {
    pub id: u64,
    pub name: &'n str,
    pub counts: Counts,
    pub spent: Duration,
}

/// The state of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// How many transfers there will be, if that is known.
    pub all: Option<usize>,
    /// Whether all transfers have started.
    pub begun: bool,
    pub spent: Duration,
    /// All is over.
    pub end: bool,
}

#[derive(Debug, Default)]
pub struct Bars {
    slots: Vec<Slot>,
    ended: usize,
    failed: usize,
    /// Brought an error's page.
    http_errors: usize,
    /// Bytes moved by ended transfers.
    moved: i64,
    /// Samples of the bytes moved, for the rate.
    samples: std::collections::VecDeque<(Duration, i64)>,
}

impl Bars {
    /// Shows a transfer that has ended. It stays in its line, or takes one if there is room.
    pub fn ended(&mut self, one: Running, end: End, rows: usize) {
        let before = self.ended;
        self.ended += 1;
        self.failed += usize::from(end.code != 0);
        self.http_errors += usize::from(end.is_http_error());
        self.moved = self.moved.saturating_add(one.counts.moved());
        if let Some(slot) = self.slot(one, rows) {
            slot.ended = Some((end, before));
        }
    }

    /// The line of a transfer, brought up to date; none where there is no room.
    fn slot(&mut self, one: Running, rows: usize) -> Option<&mut Slot> {
        let known = self.slots.iter().position(|slot| slot.id == one.id);
        let at = known.or_else(|| self.room(rows))?;
        let name =
            if known.is_some() { std::mem::take(&mut self.slots[at].name) } else { one.name.to_owned() };
        let slot = Slot { id: one.id, name, counts: one.counts, spent: one.spent, ended: None };
        match self.slots.get_mut(at) {
            Some(there) => *there = slot,
            None => self.slots.push(slot),
        }
        self.slots.get_mut(at)
    }

    /// Returns a free line, or that of the transfer that ended first.
    fn room(&self, rows: usize) -> Option<usize> {
        if self.slots.len() < rows.saturating_sub(OTHER_LINES) {
            return Some(self.slots.len());
        }
        let over = self.slots.iter().enumerate().filter_map(|(at, slot)| Some((slot.ended?.1, at)));
        over.min().map(|(_, at)| at)
    }

    /// Returns the lines for a terminal of that size.
    pub fn lines(&mut self, running: &[Running], run: Run, columns: usize, rows: usize) -> Vec<String> {
        // The terminal may have become smaller.
        self.slots.truncate(rows.saturating_sub(OTHER_LINES));
        let (mut rest, mut rest_moved, mut rest_rate) = (0, 0_i64, 0_i64);
        let mut moved = self.moved;
        for one in running {
            moved = moved.saturating_add(one.counts.moved());
            if self.slot(*one, rows).is_none() {
                rest += 1;
                rest_moved = rest_moved.saturating_add(one.counts.moved());
                rest_rate = rest_rate.saturating_add(rate(one.counts.moved(), one.spent));
            }
        }
        let line = |slot: &Slot| {
            let end = slot.ended.map(|(end, _)| end);
            bar(&slot.name, slot.counts, slot.spent, end, columns)
        };
        let mut lines: Vec<String> = self.slots.iter().map(line).collect();
        if rest > 0 && !run.end {
            lines.push(sums(&format!("and {rest} more"), rest_moved, rest_rate, "", columns));
        }
        lines.push(self.last_line(running, run, moved, columns));
        lines
    }

    fn last_line(&mut self, running: &[Running], run: Run, moved: i64, columns: usize) -> String {
        self.samples.push_back((run.spent, moved));
        while self.samples.len() > 2 && run.spent.saturating_sub(self.samples[0].0) > WINDOW {
            self.samples.pop_front();
        }
        let (since, before) = if run.end { (Duration::ZERO, 0) } else { self.samples[0] };
        let recent = rate(moved.saturating_sub(before), run.spent.saturating_sub(since));
        // The first time there is nothing to compare with.
        let recent = if self.samples.len() < 2 { rate(moved, run.spent) } else { recent };
        let mut text = match run.all {
            Some(all) => format!("{} of {all} done", self.ended),
            None => format!("{} done", self.ended),
        };
        if self.failed > 0 {
            text.push_str(&format!(", {} failed", self.failed));
        }
        match self.http_errors {
            0 => {}
            1 => text.push_str(", 1 HTTP error"),
            count => text.push_str(&format!(", {count} HTTP errors")),
        }
        if !run.end {
            text.push_str(&format!(", {} running", running.len()));
        }
        let left = match run.end {
            true => format!("in {:.1} s", run.spent.as_secs_f64()),
            false => self.left(running, run, recent).map_or(String::new(), time_left),
        };
        sums(&text, moved, recent, &left, columns)
    }

    /// Estimates the remaining time in seconds: by missing bytes if all sizes are known, otherwise by missing
    /// transfers.
    fn left(&self, running: &[Running], run: Run, rate: i64) -> Option<i64> {
        let sized = |one: &Running| one.counts.total() > 0;
        if run.begun && rate > 0 && running.iter().all(sized) {
            let missing = |one: &Running| (one.counts.total() - one.counts.moved()).max(0);
            return Some(running.iter().map(missing).fold(0, i64::saturating_add) / rate);
        }
        let part = |one: &Running| one.counts.moved() as f64 / one.counts.total() as f64;
        let parts: f64 = running.iter().filter(|one| sized(one)).map(part).sum();
        let (all, done) = (run.all? as f64, self.ended as f64 + parts);
        (done > 0.0).then(|| (run.spent.as_secs_f64() * (all - done).max(0.0) / done) as i64)
    }
}

/// A part at the bottom of a terminal, with the cursor in the line below it.
#[derive(Debug, Default)]
pub struct Screen {
    shown: Vec<String>,
    columns: usize,
}

impl Screen {
    /// Returns the output that updates the screen, with whole lines that stay above it.
    pub fn update(&mut self, above: &[u8], lines: Vec<String>, columns: usize) -> Vec<u8> {
        let resized = std::mem::replace(&mut self.columns, columns) != columns;
        let out = match above.is_empty() && !resized {
            true => self.changes(&lines),
            false => self.anew(above, &lines, resized),
        };
        self.shown = lines;
        out
    }

    fn changes(&self, lines: &[String]) -> Vec<u8> {
        let mut out = String::new();
        let mut at = self.shown.len();
        for (line, text) in lines.iter().enumerate() {
            if self.shown.get(line) == Some(text) {
                continue;
            }
            out.push_str(&moved(at, line));
            out.push_str(&format!("\r{text}\x1b[K\n"));
            at = line + 1;
        }
        out.push_str(&moved(at, lines.len()));
        if lines.len() < self.shown.len() {
            out.push_str("\r\x1b[J");
        }
        out.into_bytes()
    }

    fn anew(&self, above: &[u8], lines: &[String], resized: bool) -> Vec<u8> {
        // A terminal that has become narrower has wrapped wider lines.
        let broken = |line: &String| width(line).div_ceil(self.columns.max(1)).max(1);
        let up: usize = if resized { self.shown.iter().map(broken).sum() } else { self.shown.len() };
        let mut out = format!("{}\r", moved(up, 0)).into_bytes();
        if resized {
            out.extend(b"\x1b[J");
        }
        let above = above.split_inclusive(|byte| *byte == b'\n');
        for line in above.chain(lines.iter().map(String::as_bytes)) {
            out.extend(line.strip_suffix(b"\n").unwrap_or(line));
            out.extend(b"\x1b[K\n");
        }
        // Other text may be where lines were.
        out.extend(b"\x1b[J");
        out
    }
}

/// Returns the codes that move the cursor between two lines of the part.
fn moved(from: usize, to: usize) -> String {
    match (from, to) {
        _ if from > to => format!("\x1b[{}A", from - to),
        _ if from < to => format!("\x1b[{}B", to - from),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: End = End { code: 0, status: 200 };

    /// A list that was longer than the screen leaves no orphaned row, and an error page is not a success.
    #[test]
    fn every_row_has_a_name_and_errors_are_shown() {
        let mut bars = Bars::default();
        let all: Vec<Running> = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")]
            .map(|(id, name)| running(id, name, 50, 100))
            .into();
        assert!(bars.lines(&all, run(1, 5), 80, 6)[3].starts_with("and 2 more "));
        for done in &all[..3] {
            bars.ended(*done, End { code: 0, status: 404 }, 6);
        }
        let lines = bars.lines(&all[3..], run(2, 5), 80, 6);
        assert!(lines.len() == 4 && lines.iter().all(|line| !line.starts_with(' ')), "{lines:?}");
        assert!(lines.iter().any(|line| line.ends_with("HTTP 404")), "{lines:?}");
        assert!(lines[3].starts_with("3 of 5 done, 3 HTTP errors, 2 running"), "{lines:?}");
    }

    fn running(id: u64, name: &str, now: i64, total: i64) -> Running<'_> {
        let counts = Counts { download: now, download_total: total, ..Counts::default() };
        Running { id, name, counts, spent: Duration::from_secs(1) }
    }

    fn run(seconds: u64, all: usize) -> Run {
        Run { all: Some(all), spent: Duration::from_secs(seconds), ..Run::default() }
    }

    #[test]
    fn a_transfer_stays_in_its_line() {
        let mut bars = Bars::default();
        let lines = bars.lines(&[running(1, "a", 0, 100), running(2, "b", 0, 100)], run(1, 5), 80, 6);
        assert!(lines.len() == 3 && lines[0].starts_with("a ") && lines[1].starts_with("b "), "{lines:?}");
        bars.ended(running(2, "b", 100, 100), OK, 6);
        // One takes a free line, the next that of an ended transfer, and for two there is none.
        let running: Vec<Running> = [(1, "a"), (3, "c"), (4, "d"), (5, "e"), (6, "f")]
            .map(|(id, name)| running(id, name, 50, 100))
            .into();
        let lines = bars.lines(&running, run(2, 9), 80, 6);
        let begins: Vec<&str> = lines.iter().map(|line| line.split("  ").next().unwrap()).collect();
        assert_eq!(begins, ["a", "d", "c", "and 2 more", "1 of 9 done, 5 running"]);
        assert!(lines[3].contains("   100    100/s"), "{lines:?}");
        assert!(lines[4].contains("   350"), "{lines:?}");
    }

    #[test]
    fn the_remaining_time_follows_from_bytes_or_counts() {
        let mut bars = Bars::default();
        let half = [running(1, "a", 500, 1000), running(2, "b", 500, 1000)];
        let begun = Run { begun: true, ..run(10, 2) };
        assert!(bars.lines(&half, begun, 80, 24)[2].ends_with(" 0:00:10"), "at 100 bytes a second");
        // One of ten is there, and half of each of two: eight of ten are missing after 10 s.
        bars.ended(running(3, "c", 1, 1), OK, 24);
        assert!(bars.lines(&half, run(10, 10), 80, 24).last().unwrap().ends_with(" 0:00:40"));
        let unknown = Run { all: None, ..run(10, 0) };
        assert!(!bars.lines(&half, unknown, 80, 24).last().unwrap().contains("0:00"));
        let over = bars.lines(&[], Run { end: true, ..run(10, 1) }, 80, 24).pop().unwrap();
        assert!(over.starts_with("1 of 1 done ") && over.ends_with(" in 10.0 s"), "{over}");
    }

    #[test]
    fn only_what_has_changed_is_written() {
        let mut screen = Screen::default();
        let lines = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut update = |above: &str, words: &str, columns: usize| {
            String::from_utf8(screen.update(above.as_bytes(), lines(words), columns)).unwrap()
        };
        assert_eq!(update("", "a b c", 80), "\r\x1b[Ja\x1b[K\nb\x1b[K\nc\x1b[K\n\x1b[J");
        assert_eq!(update("", "a b c", 80), "");
        assert_eq!(update("", "a B c", 80), "\x1b[2A\rB\x1b[K\n\x1b[1B");
        assert_eq!(update("", "a B c d", 80), "\rd\x1b[K\n");
        assert_eq!(update("", "a B", 80), "\x1b[2A\r\x1b[J");
        assert_eq!(update("said\n", "a B", 80), "\x1b[2A\rsaid\x1b[K\na\x1b[K\nB\x1b[K\n\x1b[J");
        // Each of two lines of three columns has become two.
        assert!(update("", "abc def", 80).ends_with("def\x1b[K\n"));
        assert!(update("", "abc def", 2).starts_with("\x1b[4A\r\x1b[J"));
    }
}
