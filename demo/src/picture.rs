//! The distributions as an SVG picture: a row of dots for each mode and library, one dot for each poll, on a
//! logarithmic axis. A library has one colour throughout.

use std::fmt::Write;
use std::time::Duration;

use crate::measure::{Outcome, Scenario, WINDOW_MS};
use crate::programs::{Library, Programs};
use crate::report::in_order;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 170.0;
const ROW: f64 = 30.0;
/// Space between the modes of a panel.
const MODE_GAP: f64 = 12.0;
const HEAD: f64 = 84.0;
const GAP: f64 = 70.0;

/// The axis runs over these times.
struct Axis {
    low: f64,
    high: f64,
}

pub fn draw(outcomes: &[Outcome], programs: &Programs, round_trip: Duration) -> String {
    let times = || outcomes.iter().flat_map(|outcome| outcome.times_ms.iter().copied());
    let axis = Axis {
        low: times().fold(f64::MAX, f64::min).clamp(0.1, 5.0) / 1.2,
        high: times().fold(WINDOW_MS, f64::max) * 1.2,
    };
    let panels = [(Scenario::Ftp, "60 FTP servers"), (Scenario::Https, "one HTTPS server, 300 requests")];
    let (mut body, mut top) = (String::new(), HEAD);
    for (scenario, title) in panels {
        top = panel(&mut body, &axis, top, title, &in_order(outcomes, scenario));
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let title = format!("Time to poll a 2 KB file over a link of {} ms", round_trip.as_millis());
    text(&mut svg, 20.0, 30.0, "start", 17, &title);
    let mut x = 20.0;
    for library in programs.libraries() {
        let name = programs.library_name(library);
        let _ =
            writeln!(svg, "<circle cx=\"{:.1}\" cy=\"51\" r=\"5\" fill=\"{}\"/>", x + 5.0, colour(library));
        text(&mut svg, x + 16.0, 55.0, "start", 13, name);
        x += 40.0 + 8.0 * name.len() as f64;
    }
    let legend = "one dot a poll, logarithmic axis; the bar is the median, the red line the 200 ms window";
    text(&mut svg, 20.0, 76.0, "start", 12, legend);
    svg + &body + "</svg>\n"
}

fn colour(library: Library) -> &'static str {
    match library {
        Library::Distribution => "#868e96",
        Library::Warmwire => "#1c7ed6",
    }
}

/// Draws one scenario and returns where the next begins.
fn panel(svg: &mut String, axis: &Axis, top: f64, title: &str, outcomes: &[&Outcome]) -> f64 {
    text(svg, 20.0, top + 18.0, "start", 14, title);
    let modes: Vec<&[&Outcome]> = outcomes.chunk_by(|one, next| one.mode == next.mode).collect();
    let begin = top + 30.0;
    let end = begin + outcomes.len() as f64 * ROW + modes.len() as f64 * MODE_GAP;
    for tick in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0] {
        if (axis.low..axis.high).contains(&tick) {
            let (x, window) = (axis.place(tick), tick == WINDOW_MS);
            let (colour, width) = if window { ("#c0392b", 1.5) } else { ("#e3e6ea", 1.0) };
            line(svg, x, begin, x, end, colour, width);
            text(svg, x, end + 16.0, "middle", 11, &format!("{tick} ms"));
        }
    }
    let mut y = begin + MODE_GAP / 2.0;
    for rows in modes {
        let middle = y + rows.len() as f64 * ROW / 2.0;
        text(svg, LEFT - 12.0, middle - 2.0, "end", 13, rows[0].mode.name());
        text(svg, LEFT - 12.0, middle + 12.0, "end", 11, rows[0].mode.about());
        for outcome in rows {
            row(svg, axis, y + ROW / 2.0, outcome);
            y += ROW;
        }
        y += MODE_GAP;
    }
    end + GAP - 30.0
}

fn row(svg: &mut String, axis: &Axis, middle: f64, outcome: &Outcome) {
    let _ = writeln!(svg, "<g fill=\"{}\" fill-opacity=\"0.4\">", colour(outcome.library));
    for (index, time) in outcome.times_ms.iter().enumerate() {
        // A fixed scatter: the same figures give the same picture.
        let scatter = ((index * 37) % 31) as f64 / 30.0 - 0.5;
        let (x, y) = (axis.place(*time), middle + scatter * ROW * 0.6);
        let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\"/>");
    }
    *svg += "\n</g>\n";
    let (p50, p99) = (outcome.quantile_ms(0.5), outcome.quantile_ms(0.99));
    if p50.is_finite() {
        let x = axis.place(p50);
        line(svg, x, middle - ROW * 0.42, x, middle + ROW * 0.42, "#0b2b40", 3.0);
    }
    text(svg, WIDTH - RIGHT + 14.0, middle + 4.0, "start", 12, &format!("p50 {p50:.1}  p99 {p99:.1} ms"));
}

impl Axis {
    fn place(&self, time: f64) -> f64 {
        let share = (time.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, size: u32, content: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"#1b2730\">{content}</text>"
    );
}

fn line(svg: &mut String, x1: f64, y1: f64, x2: f64, y2: f64, colour: &str, width: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
    );
}
