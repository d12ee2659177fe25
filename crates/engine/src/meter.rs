//! curl's progress meter, shown for CURLOPT_NOPROGRESS(3) set to 0 without a progress function, and by the
//! command line tool.
//!
//! It only formats text. Widths and layouts are those of curl 8.22, since programs parse them.

use std::time::Duration;

/// Bytes moved and expected; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Expected download.
    pub download_total: i64,
    /// Downloaded.
    pub download: i64,
    /// Expected upload.
    pub upload_total: i64,
    /// Uploaded.
    pub upload: i64,
}

impl Counts {
    /// Returns the bytes moved in both directions; a peer can announce as much as it likes.
    pub fn moved(&self) -> i64 {
        self.download.saturating_add(self.upload)
    }

    /// Expected in both directions.
    pub fn total(&self) -> i64 {
        self.download_total.saturating_add(self.upload_total)
    }

    /// Both added up.
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

/// How many moments back the current speed looks.
const MOMENTS: usize = 6;

/// The meter of one transfer.
#[derive(Debug, Default)]
pub struct Meter {
    /// Offset of a resumed transfer, which is shown above the head.
    from: i64,
    head_shown: bool,
    /// When and how much, for the speed of the last seconds.
    moments: Vec<(Duration, i64)>,
    last_second: Option<u64>,
}

impl Meter {
    /// Creates the meter of a transfer that starts at this byte; zero or negative: at the first, or not known
    /// yet.
    pub fn resumed(from: i64) -> Meter {
        Meter { from, ..Meter::default() }
    }

    /// Returns the meter of the next attempt of this transfer.
    pub fn again(&self) -> Meter {
        Meter::resumed(self.from)
    }

    /// Returns the text to show now: once a second, and at the end.
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
            if self.from > 0 {
                out.push_str(&format!("** Resuming transfer from byte position {}\n", self.from));
            }
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

/// At most six columns: plain below 100,000, then with one of the letters k, M, G, T, P, E.
pub fn size6(bytes: i64) -> String {
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

/// Formats a time in seven columns; blank for zero.
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

/// How much of it is done, at most 100.
pub fn percent(now: i64, total: i64) -> i64 {
    if total <= 0 { 0 } else { (i128::from(now.max(0)) * 100 / i128::from(total)).min(100) as i64 }
}

/// Bytes per second.
pub fn rate(bytes: i64, time: Duration) -> i64 {
    let micros = time.as_micros().max(1);
    (i128::from(bytes.max(0)) * 1_000_000 / micros as i128).min(i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_fit_their_columns() {
        for shift in 0..63 {
            for off in [-1, 0, 1] {
                let bytes = (1i64 << shift) + off;
                assert_eq!(size6(bytes).len(), 6, "{bytes}");
            }
        }
        assert_eq!(size6(54_587), " 54587");
        assert_eq!(size6(243_000), "237.3k");
        assert_eq!(size6(2 << 20), " 2.00M");
        for seconds in [0, 1, 59, 60, 3599, 3600, 35_999, 36_000, 359_999, 360_000, 86_400_000, i64::MAX / 2]
        {
            assert_eq!(time7(seconds).len(), 7, "{seconds}");
        }
        assert_eq!(time7(17), "  00:17");
    }

    #[test]
    fn a_resumed_transfer_says_from_where() {
        let mut meter = Meter::resumed(51);
        for _ in 0..2 {
            let first = meter.line(Counts::default(), Duration::ZERO, false).unwrap();
            assert!(first.starts_with("** Resuming transfer from byte position 51\n  % Total"), "{first:?}");
            assert!(!meter.line(Counts::default(), Duration::ZERO, true).unwrap().contains("Resuming"));
            meter = meter.again();
        }
        assert!(
            !Meter::resumed(-1).line(Counts::default(), Duration::ZERO, false).unwrap().contains("Resuming")
        );
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
}
