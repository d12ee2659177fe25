//! What is shown while data moves: the meter in curl's columns, the bar, the meter of parallel transfers, and a
//! bar for each transfer.
//!
//! These only make text; `operate` decides when to show it. Widths and layouts are those of curl 8.22, since
//! programs read them.

use std::time::Duration;

/// Bytes moved and expected; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub download_total: i64,
    pub download: i64,
    pub upload_total: i64,
    pub upload: i64,
}

impl Counts {
    /// In both directions; a peer can announce as much as it likes.
    pub fn moved(&self) -> i64 {
        self.download.saturating_add(self.upload)
    }

    pub fn total(&self) -> i64 {
        self.download_total.saturating_add(self.upload_total)
    }

    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            download_total: self.download_total.saturating_add(other.download_total),
            download: self.download.saturating_add(other.download),
            upload_total: self.upload_total.saturating_add(other.upload_total),
            upload: self.upload.saturating_add(other.upload),
        }
    }
}

/// The lines above the meter.
pub const METER_HEAD: &str = "  % Total    % Received % Xferd  Average Speed  Time    Time    Time   Current\n\
                              \x20                                Dload  Upload  Total   Spent   Left   Speed\n";

/// The line above the meter of parallel transfers.
pub const PARALLEL_HEAD: &str = "DL% UL%  Dled  Uled  Xfers  Live Total     Current  Left    Speed\n";

/// At most six columns: plain below 100,000, then with one of the letters k, M, G, T, P, E.
fn size6(bytes: i64) -> String {
    let bytes = bytes.max(0);
    if bytes < 100_000 {
        return format!("{bytes:6}");
    }
    let (mut rest, mut whole, mut unit) = (bytes % 1024, bytes / 1024, 0);
    while whole >= 1000 {
        (rest, whole, unit) = (whole % 1024, whole / 1024, unit + 1);
    }
    let letter = char::from(b"kMGTPE"[unit.min(5)]);
    if whole <= 99 {
        format!("{whole:2}.{:02}{letter}", rest * 100 / 1024)
    } else {
        format!("{whole:3}.{}{letter}", rest * 10 / 1024)
    }
}

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

/// Seven columns; nothing for no time.
fn time7(seconds: i64) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match seconds {
        ..=0 => " ".repeat(7),
        1..=3599 => format!("  {minutes:02}:{:02}", seconds % 60),
        3600..=35_999 => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
        36_000..=359_999 => format!("{hours:2}h {minutes:02}m"),
        360_000..=8_639_999 => format!("{:2}d {:02}h", seconds / 86_400, hours % 24),
        _ => format!("{:6}d", (seconds / 86_400).min(999_999)),
    }
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

fn percent(now: i64, total: i64) -> i64 {
    if total <= 0 { 0 } else { (i128::from(now.max(0)) * 100 / i128::from(total)).min(100) as i64 }
}

fn rate(bytes: i64, time: Duration) -> i64 {
    let micros = time.as_micros().max(1);
    (i128::from(bytes.max(0)) * 1_000_000 / micros as i128).min(i64::MAX.into()) as i64
}

/// How many moments back the current speed looks.
const MOMENTS: usize = 6;

/// The meter of one transfer.
#[derive(Debug, Default)]
pub struct Meter {
    head_shown: bool,
    /// When and how much, for the speed of the last seconds.
    moments: Vec<(Duration, i64)>,
    last_second: Option<u64>,
}

impl Meter {
    /// What to show at this moment: once a second, or at the end.
    pub fn line(&mut self, counts: Counts, spent: Duration, end: bool) -> Option<String> {
        if end && !self.head_shown {
            return None; // it never got as far as moving anything
        }
        let second = spent.as_secs();
        if !end && self.last_second == Some(second) {
            return None;
        }
        self.last_second = Some(second);
        let mut out = String::new();
        if !self.head_shown {
            self.head_shown = true;
            out.push_str(METER_HEAD);
        }
        let current = self.current(counts.moved(), spent);
        out.push_str(&meter_line(counts, spent, current));
        if end {
            out.push('\n');
        }
        Some(out)
    }

    fn current(&mut self, moved: i64, spent: Duration) -> i64 {
        self.moments.push((spent, moved));
        if self.moments.len() > MOMENTS {
            self.moments.remove(0);
        }
        let (since, before) = self.moments[0];
        if self.moments.len() == 1 {
            rate(moved, spent)
        } else {
            rate(moved - before, spent.saturating_sub(since))
        }
    }
}

fn meter_line(counts: Counts, spent: Duration, current: i64) -> String {
    let (down, up) = (rate(counts.download, spent), rate(counts.upload, spent));
    let estimate = |total: i64, speed: i64| if speed > 0 { total / speed } else { 0 };
    let seconds = estimate(counts.download_total, down).max(estimate(counts.upload_total, up));
    let spent = spent.as_secs() as i64;
    let left = if seconds > 0 { seconds - spent } else { 0 };
    let expected = |total: i64, now: i64| if total > 0 { total } else { now };
    let total = expected(counts.download_total, counts.download)
        .saturating_add(expected(counts.upload_total, counts.upload));
    let known = counts.download_total > 0 || counts.upload_total > 0;
    let moved = counts.moved();
    format!(
        "\r{:3} {} {:3} {} {:3} {} {} {} {} {} {} {}",
        if known { percent(moved, total) } else { i64::from(moved > 0) * 100 },
        size6(total),
        percent(counts.download, counts.download_total),
        size6(counts.download),
        percent(counts.upload, counts.upload_total),
        size6(counts.upload),
        size6(down),
        size6(up),
        time7(seconds),
        time7(spent),
        time7(left),
        size6(current)
    )
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
    /// `initial` is what a resumed transfer has already.
    pub fn new(columns: usize, initial: i64) -> Bar {
        let width = columns.clamp(20, WIDEST_BAR);
        Bar { width, initial, previous: None, shown_at: Duration::ZERO, tick: 0, shown: false }
    }

    pub fn line(&mut self, counts: Counts, spent: Duration) -> Option<String> {
        let total = counts.total().saturating_add(self.initial);
        let point = counts.moved().saturating_add(self.initial);
        let known = counts.total() > 0;
        let soon = self.shown && spent.saturating_sub(self.shown_at) < BAR_PAUSE;
        if self.shown && (soon && !(known && point >= total) || known && self.previous == Some(point)) {
            return None;
        }
        if known && point == 0 && !self.shown {
            return None;
        }
        self.shown = true;
        self.shown_at = spent;
        self.previous = Some(point);
        Some(if known { self.filled(point, total.max(point)) } else { self.flying() })
    }

    fn filled(&self, point: i64, total: i64) -> String {
        let room = self.width - 7;
        let fraction = point as f64 / total as f64;
        let marks = ((room as f64 * fraction) as usize).min(room);
        format!("\r{:<room$} {:5.1}%", "#".repeat(marks), fraction * 100.0)
    }

    /// Without a known size something flies to and fro.
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

/// What the meter of parallel transfers adds up.
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

/// One bar of several: name, fill, size, rate and time left, in a given width.
pub fn named_bar(name: &str, counts: Counts, spent: Duration, columns: usize) -> String {
    let (now, total) = (counts.moved(), counts.total());
    let speed = rate(now, spent);
    let left =
        if total > 0 && speed > 0 { time8((total - now).max(0) / speed) } else { "        ".to_string() };
    let tail = format!("{} {}/s {left}", size6(now), size6(speed).trim_start());
    let width = columns.saturating_sub(tail.chars().count() + 30).max(5);
    let marks = if total > 0 { (width as i128 * i128::from(now) / i128::from(total)) as usize } else { 0 };
    let short: String = harmless(name).chars().take(24).collect();
    format!("{short:<24} [{:<width$}] {tail}", "=".repeat(marks.min(width)))
}

/// Text for a terminal: control characters become question marks.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || ('\u{80}'..='\u{9f}').contains(&c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_their_columns() {
        for shift in 0..63 {
            for off in [-1, 0, 1] {
                let bytes = (1i64 << shift) + off;
                assert_eq!(size6(bytes).len(), 6, "{bytes}");
                assert_eq!(size5(bytes).len(), 5, "{bytes}: {}", size5(bytes));
            }
        }
        assert_eq!(size6(54_587), " 54587");
        assert_eq!(size6(243_000), "237.3k");
        assert_eq!(size6(2 << 20), " 2.00M");
        assert_eq!(size5(10_000 * 1024), " 9.7M");
    }

    #[test]
    fn times_fit_their_columns() {
        for seconds in [0, 1, 59, 60, 3599, 3600, 35_999, 36_000, 359_999, 360_000, 86_400_000, i64::MAX / 2]
        {
            assert_eq!(time7(seconds).len(), 7, "{seconds}");
            assert_eq!(time8(seconds).len(), 8, "{seconds}");
        }
        assert_eq!(time7(17), "  00:17");
        assert_eq!(time8(3661), " 1:01:01");
    }

    #[test]
    fn the_meter_shows_itself_once_a_second() {
        let mut meter = Meter::default();
        let first = meter.line(Counts::default(), Duration::ZERO, false).unwrap();
        let line = "\r  0      0   0      0   0      0      0      0                              0";
        assert_eq!(first, format!("{METER_HEAD}{line}"));
        assert!(meter.line(Counts::default(), Duration::from_millis(10), false).is_none());
        let counts = Counts { download_total: 243_000, download: 243_000, ..Counts::default() };
        let last = meter.line(counts, Duration::from_millis(2282), true).unwrap();
        assert!(
            last.starts_with("\r100 237.3k 100 237.3k   0      0 103.9k      0   00:02   00:02         "),
            "{last:?}"
        );
        assert!(last.ends_with('\n'));
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
            assert!(line.unwrap().contains("-=O=-"));
        }
    }

    #[test]
    fn parallel_lines() {
        let line =
            parallel_line(Totals { transfers: 2, running: 2, ..Totals::default() }, Duration::ZERO, false);
        assert_eq!(line, "\r--  --      0     0     2     2  --:--:-- --:--:-- --:--:--     0      ");
        assert!(named_bar("a\x1b[31m", Counts::default(), Duration::ZERO, 80).starts_with("a?[31m"));
    }
}
