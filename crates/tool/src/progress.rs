//! Progress output: the bar, the meter of parallel transfers, and a bar for each transfer. The meter of one
//! transfer is the library's.
//!
//! These functions only format text; `operate` decides when to show it. Widths and layouts are those of curl
//! 8.22, since programs parse them.

use crate::text::harmless;
use std::time::Duration;

pub use warmwire::meter::{Counts, Meter, rate};
use warmwire::meter::{percent, size6};

/// The line above the meter of parallel transfers.
pub const PARALLEL_HEAD: &str = "DL% UL%  Dled  Uled  Xfers  Live Total     Current  Left    Speed\n";

/// At most five columns.
fn size5(bytes: i64) -> String {
    let bytes = bytes.max(0);
    if bytes < 100_000 {
        return format!("{bytes:5}");
    }
    let mut scaled = bytes;
    for letter in ['k', 'M', 'G', 'T'] {
        if scaled < 100 * 1024 && letter != 'k' {
            return format!("{:2}.{}{letter}", scaled / 1024, scaled % 1024 * 10 / 1024);
        }
        if scaled < 10_000 * 1024 {
            return format!("{:4}{letter}", scaled / 1024);
        }
        scaled /= 1024;
    }
    format!("{:4}P", scaled / 1024)
}

/// Eight columns.
fn time8(seconds: i64) -> String {
    let (hours, days) = (seconds / 3600, seconds / 86_400);
    match seconds {
        ..=0 => "--:--:--".to_string(),
        1..=359_999 => format!("{hours:2}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
        _ if days <= 999 => format!("{days:3}d {:02}h", hours % 24),
        _ => format!("{:7}d", days.min(9_999_999)),
    }
}

/// The simple bar.
#[derive(Debug)]
pub struct Bar {
    width: usize,
    initial: i64,
    previous: Option<i64>,
    shown_at: Duration,
    tick: usize,
    pub shown: bool,
}

/// How often the bar moves.
const BAR_PAUSE: Duration = Duration::from_millis(100);
const WIDEST_BAR: usize = 400;

impl Bar {
    /// Creates a bar; `initial` is the existing part of a resumed transfer.
    pub fn new(columns: usize, initial: i64) -> Bar {
        let width = columns.clamp(20, WIDEST_BAR);
        Bar { width, initial, previous: None, shown_at: Duration::ZERO, tick: 0, shown: false }
    }

    pub fn line(&mut self, counts: Counts, spent: Duration) -> Option<String> {
        let total = counts.total().saturating_add(self.initial);
        let point = counts.moved().saturating_add(self.initial);
        let known = counts.total() > 0;
        let soon = self.previous.is_some() && spent.saturating_sub(self.shown_at) < BAR_PAUSE;
        if soon && !(known && point >= total) || self.shown && known && self.previous == Some(point) {
            return None;
        }
        if known && point == 0 && !self.shown {
            return None;
        }
        // At the first call it is unknown whether there will be a size, so nothing moves yet.
        let first = self.previous.is_none();
        self.shown_at = spent;
        self.previous = Some(point);
        if first && !known {
            return None;
        }
        self.shown = true;
        Some(if known { self.filled(point, total.max(point)) } else { self.flying() })
    }

    fn filled(&self, point: i64, total: i64) -> String {
        let room = self.width - 7;
        let fraction = point as f64 / total as f64;
        let marks = ((room as f64 * fraction) as usize).min(room);
        format!("\r{:<room$} {:5.1}%", "#".repeat(marks), fraction * 100.0)
    }

    /// Returns the line of a transfer without a known size: a mark that moves to and fro.
    fn flying(&mut self) -> String {
        let room = self.width - 6;
        let place = self.tick % (2 * room);
        self.tick += 1;
        let at = if place < room { place } else { 2 * room - place };
        let mut line = vec![b' '; self.width - 1];
        for wave in 0..4 {
            let tick = (self.tick + 5 * wave) % 200;
            // A parabola is near enough to a wave, and needs no library of mathematics.
            let half = (tick % 100) as i64;
            let height = half * (100 - half) / 25; // 0 to 100
            let place = if tick < 100 { 100 + height } else { 100 - height };
            line[(place as usize * (self.width - 3)) / 200] = b'#';
        }
        line[at..at + 5].copy_from_slice(b"-=O=-");
        format!("\r{}", String::from_utf8_lossy(&line))
    }
}

/// The sums for the meter of parallel transfers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub counts: Counts,
    pub download_known: bool,
    pub upload_known: bool,
    pub transfers: usize,
    pub running: usize,
    pub speed: i64,
}

pub fn parallel_line(totals: Totals, spent: Duration, end: bool) -> String {
    let counts = totals.counts;
    let share = |known: bool, now: i64, total: i64| {
        if known && total > 0 { format!("{:3}", percent(now, total)) } else { "-- ".to_string() }
    };
    let known = totals.download_known && totals.speed > 0;
    let seconds = |bytes: i64| if known { time8(bytes / totals.speed) } else { time8(0) };
    format!(
        "\r{} {} {} {} {:5} {:5}  {} {} {} {} {}",
        share(totals.download_known, counts.download, counts.download_total),
        share(totals.upload_known, counts.upload, counts.upload_total),
        size5(counts.download),
        size5(counts.upload),
        totals.transfers,
        totals.running,
        seconds(counts.download_total),
        time8(spent.as_secs() as i64),
        seconds(counts.download_total.saturating_sub(counts.download)),
        size5(totals.speed),
        if end { "    \n" } else { "     " }
    )
}

/// How a transfer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The exit code.
    pub code: i32,
    /// The status over HTTP, or 0.
    pub status: i64,
}

impl End {
    /// Returns whether the transfer succeeded with an error page.
    pub fn is_http_error(self) -> bool {
        self.code == 0 && self.status >= 400
    }
}

/// Formats one bar of several: name, fill, size, rate and time left, within the terminal's width. An ended
/// transfer shows its duration, or its code.
pub fn bar(name: &str, counts: Counts, spent: Duration, end: Option<End>, columns: usize) -> String {
    let (now, total) = (counts.moved(), counts.total());
    let speed = rate(now, spent);
    let left = match end {
        Some(end) if end.is_http_error() => format!("HTTP {}", end.status),
        Some(End { code: 0, .. }) => format!("in {:.1} s", spent.as_secs_f64()),
        Some(End { code, .. }) => format!("failed ({code})"),
        None if total > 0 && speed > 0 => time_left((total - now).max(0) / speed),
        None => String::new(),
    };
    let tail = tail(now, speed, &left);
    let room = columns.saturating_sub(tail.len() + 2);
    let (name_columns, width) = match room {
        41.. => (24, room - 27),
        18..=40 => (room - 13, 10),
        // Neither bar nor figures except the time.
        _ => return cut(&format!("{} {left:<11}", fitted(name, columns.saturating_sub(13))), columns),
    };
    let went_well = end.is_some_and(|end| end.code == 0 && !end.is_http_error());
    let (now, total) = if went_well { (1, 1) } else { (now, total) };
    let total = if end.is_some_and(End::is_http_error) { 0 } else { total };
    let marks = if total > 0 { (width as i128 * i128::from(now) / i128::from(total)) as usize } else { 0 };
    let fill = "=".repeat(marks.min(width));
    cut(&format!("{} [{fill:<width$}] {tail}", fitted(name, name_columns)), columns)
}

/// Formats the line below bars, with their columns.
pub fn sums(text: &str, moved: i64, speed: i64, left: &str, columns: usize) -> String {
    let tail = tail(moved, speed, left);
    let room = columns.saturating_sub(tail.len() + 2);
    match width(text) <= room {
        true => cut(&format!("{} {tail}", fitted(text, room)), columns),
        false => cut(&format!("{text} {left}"), columns),
    }
}

fn tail(moved: i64, speed: i64, left: &str) -> String {
    format!("{} {}/s {left:<11}", size6(moved), size6(speed))
}

/// Cuts a line. The last column stays free: terminals differ in what they do after it.
fn cut(line: &str, columns: usize) -> String {
    fitted(line, columns.saturating_sub(1)).trim_end().to_owned()
}

pub fn time_left(seconds: i64) -> String {
    time8(seconds.max(1))
}

/// The beginning of a text that has so many columns, filled with blanks.
fn fitted(text: &str, columns: usize) -> String {
    let mut room = columns;
    let fits = |c: &char| {
        let needed = columns_of(*c);
        let fits = needed <= room;
        room = room.saturating_sub(if fits { needed } else { room });
        fits
    };
    let mut out: String = harmless(text).chars().take_while(fits).collect();
    out.push_str(&" ".repeat(columns.saturating_sub(width(&out))));
    out
}

/// Columns that a text needs at most.
pub fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Returns the width of a character. East Asian letters and emoji may take two columns. Zero-width marks are
/// counted as one: a line that is too short does no harm.
fn columns_of(c: char) -> usize {
    if (c as u32) < 0x1100 { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_their_columns() {
        for shift in 0..63 {
            for off in [-1, 0, 1] {
                let bytes = (1i64 << shift) + off;
                assert_eq!(size5(bytes).len(), 5, "{bytes}: {}", size5(bytes));
            }
        }
        assert_eq!(size5(10_000 * 1024), " 9.7M");
    }

    #[test]
    fn times_fit_their_columns() {
        for seconds in [0, 1, 59, 60, 3599, 3600, 35_999, 36_000, 359_999, 360_000, 86_400_000, i64::MAX / 2]
        {
            assert_eq!(time8(seconds).len(), 8, "{seconds}");
        }
        assert_eq!(time8(3661), " 1:01:01");
    }

    #[test]
    fn the_bar_grows_and_flies() {
        let mut bar = Bar::new(79, 0);
        let half = Counts { download_total: 100, download: 50, ..Counts::default() };
        let line = bar.line(half, Duration::ZERO).unwrap();
        assert_eq!(line.len(), 80);
        assert!(line.starts_with("\r####") && line.ends_with(" 50.0%"));
        assert!(bar.line(half, Duration::from_secs(1)).is_none());
        let mut bar = Bar::new(30, 0);
        for tick in 0..500 {
            let line =
                bar.line(Counts { download: tick, ..Counts::default() }, Duration::from_secs(tick as u64));
            assert_eq!(line.is_some_and(|line| line.contains("-=O=-")), tick > 0, "{tick}");
        }
    }

    #[test]
    fn parallel_lines() {
        let line =
            parallel_line(Totals { transfers: 2, running: 2, ..Totals::default() }, Duration::ZERO, false);
        assert_eq!(line, "\r--  --      0     0     2     2  --:--:-- --:--:-- --:--:--     0      ");
    }

    #[test]
    fn bars_fit_every_terminal() {
        assert!(bar("a\x1b[31m", Counts::default(), Duration::ZERO, None, 80).starts_with("a?[31m"));
        let done = Counts { download: 2000, ..Counts::default() };
        let line = bar("x", done, Duration::from_millis(1500), Some(End { code: 0, status: 200 }), 80);
        let missing = bar("x", done, Duration::from_millis(1500), Some(End { code: 0, status: 404 }), 80);
        assert!(missing.ends_with("HTTP 404") && !missing.contains('='), "{missing}");
        assert!(line.contains("==]   2000   1333/s in 1.5 s"), "{line}");
        let half = Counts { download_total: 1_000_000, download: 500_000, ..Counts::default() };
        for columns in 0..300 {
            for name in [
                "short",
                "a name that is longer than its place is wide",
                "名前が長いファイルの名前が長いファイル",
            ] {
                for end in [None, Some(0), Some(28)].map(|code| code.map(|code| End { code, status: 0 })) {
                    let line = bar(name, half, Duration::from_secs(1), end, columns);
                    assert!(width(&line) < columns.max(1), "{columns}: {line:?}");
                }
                assert!(width(&sums(name, i64::MAX, i64::MAX, "--:--:--", columns)) < columns.max(1));
            }
        }
        let line = bar("f", half, Duration::from_secs(1), None, 80);
        assert!(line.contains(" [============            ] 488.2k 488.2k/s "), "{line}");
        assert!(line.starts_with("f   ") && line.ends_with("/s  0:00:01"), "{line}");
        let narrow = bar("f", half, Duration::from_secs(1), None, 45);
        assert_eq!(narrow, format!("{:<32}  0:00:01", "f"));
    }
}
