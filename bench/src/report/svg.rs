//! A picture of one quantity: for each case a bar for each subject, as long as its ratio to the first.

use super::ratio;
use crate::measure::Quantity;
use crate::rows::Outcome;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 300.0;
const BAR: f64 = 14.0;
/// A bar this many times as long as the first subject's ends the picture.
const MOST: f64 = 2.0;
const COLOURS: [&str; 5] = ["#9aa5b1", "#d9480f", "#1c7ed6", "#2f9e44", "#7048e8"];

/// Draws the picture; `None` if nothing can be compared.
pub fn picture(outcomes: &[Outcome], quantity: Quantity) -> Option<String> {
    let mut groups = Vec::new();
    for outcome in outcomes {
        for case in outcome.cases.iter().flatten() {
            let figures = case.lines.iter().filter_map(|line| Some((&*line.subject, line.figure(quantity)?)));
            let bars: Vec<(&str, f64)> =
                figures.map(|(subject, figure)| (subject, ratio(case, figure).unwrap_or(1.0))).collect();
            if bars.len() > 1 {
                groups.push((format!("{}: {}", outcome.row.name, case.name), bars));
            }
        }
    }
    if groups.is_empty() {
        return None;
    }
    let lines: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    let height = 40.0 + lines as f64 * BAR + groups.len() as f64 * BAR;
    let scale = (WIDTH - LEFT - 60.0) / MOST;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\">{}: the first of each group is 1, shorter is better</text>\n",
        escaped(quantity.name)
    );
    let mut y = 36.0;
    for (name, bars) in &groups {
        out.push_str(&format!("<text x=\"10\" y=\"{}\">{}</text>\n", y + 10.0, escaped(name)));
        for (at, (subject, ratio)) in bars.iter().enumerate() {
            let (length, colour) = (ratio.min(MOST) * scale, COLOURS[at % COLOURS.len()]);
            out.push_str(&format!(
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{}\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{}\">{} {ratio:.2}</text>\n",
                BAR - 3.0,
                LEFT + length + 4.0,
                y + 10.0,
                escaped(subject)
            ));
            y += BAR;
        }
        y += BAR;
    }
    out.push_str("</svg>\n");
    Some(out)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
