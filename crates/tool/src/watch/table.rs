//! The table of a watch on a terminal: a row for each URL, rewritten in place.

use crate::bars::Screen;
use crate::text::harmless;
use std::time::Duration;
use warmwire::watch::Status;

/// Columns of the figures, with the blanks between them.
const FIGURES: usize = 61;
/// Narrowest column of URLs.
const NARROWEST: usize = 10;

/// A URL with its state.
pub struct State<'s> {
    pub url: &'s str,
    pub status: Status<'s>,
}

/// The table as the terminal shows it.
#[derive(Default)]
pub struct Table(Screen);

impl Table {
    /// Returns the output that shows the state of all URLs, with messages that stay above it.
    pub fn draw(&mut self, above: &[u8], states: &[State<'_>], columns: usize, rows: usize) -> Vec<u8> {
        self.0.update(above, lines(states, columns, rows), columns)
    }
}

/// Returns the lines of the table. Rows beyond the terminal's height are counted in the last line.
fn lines(states: &[State<'_>], columns: usize, rows: usize) -> Vec<String> {
    let width = columns.saturating_sub(FIGURES + 1).max(NARROWEST);
    let head = row(["URL", "state", "age", "changed", "p50 ms", "p99 ms", "in time", "missed"], width);
    let room = rows.saturating_sub(3).max(1);
    let shown = if states.len() > room { room.saturating_sub(1) } else { states.len() };
    let mut lines = vec![head];
    lines.extend(states[..shown].iter().map(|state| line_of(state, width)));
    if shown < states.len() {
        lines.push(format!("... and {} more", states.len() - shown));
    }
    lines.into_iter().map(|line| line.chars().take(columns.max(1)).collect()).collect()
}

fn line_of(state: &State<'_>, width: usize) -> String {
    let status = &state.status;
    let word = match status {
        Status { failure: Some(_), .. } => "failed",
        Status { streams: true, .. } => "stream",
        Status { exists: None, .. } => "waits",
        Status { exists: Some(false), .. } => "gone",
        _ => "ok",
    };
    let span = |time: Option<Duration>| time.map_or("-".to_owned(), span);
    let ms =
        |time: Option<Duration>| time.map_or("-".to_owned(), |t| format!("{:.1}", t.as_secs_f64() * 1e3));
    let windows = status.windows;
    row(
        [
            &harmless(state.url),
            word,
            &span(status.age),
            &span(status.since_change),
            &ms(status.p50),
            &ms(status.p99),
            &windows.met.to_string(),
            &windows.missed.to_string(),
        ],
        width,
    )
}

fn row(cells: [&str; 8], width: usize) -> String {
    let [url, state, age, changed, p50, p99, met, missed] = cells;
    let long = url.chars().count();
    // The end of a URL says more than its beginning.
    let url: String = url.chars().skip(long.saturating_sub(width)).collect();
    format!("{url:<width$} {state:<6} {age:>5} {changed:>7} {p50:>8} {p99:>8} {met:>9} {missed:>7}")
}

/// A time in two or three digits with its unit.
fn span(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{}ms", time.as_millis()),
        s if s < 100 => format!("{s}s"),
        s if s < 6000 => format!("{}m", s / 60),
        s if s < 360_000 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmwire::watch::Watcher;

    fn states(watcher: &Watcher) -> Vec<State<'_>> {
        let all = (0..watcher.len()).filter_map(|at| watcher.status(at));
        all.map(|status| State { url: status.url, status }).collect()
    }

    #[test]
    fn rows_fit_the_terminal() {
        let mut watcher = Watcher::new(Duration::from_secs(1));
        (0..50).for_each(|n| drop(watcher.add(&format!("http://a.example/a/long/path/to/{n}"))));
        let states = states(&watcher);
        for (columns, rows) in [(80, 24), (40, 10), (200, 100), (1, 1)] {
            let lines = lines(&states, columns, rows);
            assert!(lines.len() <= rows.max(3), "{columns} x {rows}: {} lines", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= columns), "{lines:?}");
        }
        let lines = lines(&states, 80, 24);
        assert_eq!(lines.last().unwrap(), "... and 30 more");
        assert!(lines[1].starts_with("ng/path/to/0 ") || lines[1].contains("/to/0 waits"), "{}", lines[1]);
    }

    #[test]
    fn control_characters_of_a_url_do_not_reach_the_terminal() {
        let mut watcher = Watcher::new(Duration::from_secs(1));
        watcher.add("http://a.example/").unwrap();
        let status = watcher.status(0).unwrap();
        let lines = lines(&[State { url: "http://a/\x1b[2J", status }], 200, 24);
        assert!(!lines[1].contains('\x1b'), "{lines:?}");
    }

    #[test]
    fn times_are_short() {
        let rows = [(0, "0ms"), (999, "999ms"), (1000, "1s"), (99_999, "99s"), (100_000, "1m")];
        for (ms, wanted) in rows {
            assert_eq!(span(Duration::from_millis(ms)), wanted);
        }
        assert_eq!(span(Duration::from_secs(6000)), "1h");
        assert_eq!(span(Duration::from_secs(360_000)), "4d");
    }
}
