//! The distributions as an SVG picture: a row of dots for each mode, one dot for each poll, on a logarithmic
//! axis.

use std::fmt::Write;
use std::time::Duration;

use crate::measure::{Outcome, Scenario, WINDOW_MS};
use crate::report::in_order;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 170.0;
const ROW: f64 = 54.0;
const HEAD: f64 = 70.0;
const GAP: f64 = 70.0;

/// The axis runs over these times.
struct Axis {
    low: f64,
    high: f64,
}

pub fn draw(outcomes: &[Outcome], round_trip: Duration) -> String {
    let times = || outcomes.iter().flat_map(|outcome| outcome.times_ms.iter().copied());
    let axis = Axis {
        low: times().fold(f64::MAX, f64::min).clamp(0.1, 5.0) / 1.2,
        high: times().fold(WINDOW_MS, f64::max) * 1.2,
    };
    let panels = [(Scenario::Ftp, "60 FTP servers"), (Scenario::Https, "one HTTPS server, 300 requests")];
    let rows: usize = panels.iter().map(|(scenario, _)| in_order(outcomes, *scenario).len()).sum();
    let height = HEAD + rows as f64 * ROW + panels.len() as f64 * GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    text(
        &mut svg,
        20.0,
        30.0,
        "start",
        17,
        &format!("Time to poll a 2 KB file over a link of {} ms", round_trip.as_millis()),
    );
    text(
        &mut svg,
        20.0,
        50.0,
        "start",
        12,
        "one dot a poll, logarithmic axis; the bar is the median, the line the 200 ms window",
    );
    let mut top = HEAD;
    for (scenario, title) in panels {
        top = panel(&mut svg, &axis, top, title, &in_order(outcomes, scenario));
    }
    svg += "</svg>\n";
    svg
}

/// Draws one scenario and returns where the next begins.
fn panel(svg: &mut String, axis: &Axis, top: f64, title: &str, outcomes: &[&Outcome]) -> f64 {
    text(svg, 20.0, top + 18.0, "start", 14, title);
    let (begin, end) = (top + 30.0, top + 30.0 + outcomes.len() as f64 * ROW);
    for tick in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0] {
        if (axis.low..axis.high).contains(&tick) {
            let (x, window) = (axis.place(tick), tick == WINDOW_MS);
            let (colour, width) = if window { ("#c0392b", 1.5) } else { ("#e3e6ea", 1.0) };
            line(svg, x, begin, x, end, colour, width);
            text(svg, x, end + 16.0, "middle", 11, &format!("{tick} ms"));
        }
    }
    for (index, outcome) in outcomes.iter().enumerate() {
        row(svg, axis, begin + (index as f64 + 0.5) * ROW, outcome);
    }
    end + GAP - 30.0
}

fn row(svg: &mut String, axis: &Axis, middle: f64, outcome: &Outcome) {
    text(svg, LEFT - 12.0, middle + 4.0, "end", 13, outcome.mode.name());
    for (index, time) in outcome.times_ms.iter().enumerate() {
        // A fixed scatter: the same figures give the same picture.
        let scatter = ((index * 37) % 31) as f64 / 30.0 - 0.5;
        let (x, y) = (axis.place(*time), middle + scatter * ROW * 0.6);
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.2\" fill=\"#2a6f97\" fill-opacity=\"0.45\"/>"
        );
    }
    let (p50, p99) = (outcome.quantile_ms(0.5), outcome.quantile_ms(0.99));
    if p50.is_finite() {
        let x = axis.place(p50);
        line(svg, x, middle - ROW * 0.38, x, middle + ROW * 0.38, "#0b2b40", 3.0);
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
