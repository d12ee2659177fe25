//! Pictures of what was measured: for each case a bar for each subject, as long as its quotient to the first.
//!
//! A side has one colour in all pictures. The pictures are narrow, so that a phone shows them without making
//! the letters small, and a label is above its bar, where it has the whole width.

use std::fmt::Write;

use super::results::{Case, Figure, Row, shown};

const WIDTH: f64 = 480.0;
const MARGIN: f64 = 14.0;
const INNER: f64 = WIDTH - 2.0 * MARGIN;
/// A bar and the label above it.
const LABEL: f64 = 15.0;
const BAR: f64 = 9.0;
/// A bar with its figure at its end, and the room for the figure.
const COMPACT: f64 = 12.0;
const FIGURE: f64 = 110.0;
const HEADING: f64 = 18.0;
const GAP: f64 = 12.0;
/// A bar this many times as long as the first subject's ends the picture.
const MOST: f64 = 2.0;
/// Letters that fit into a line of the title and into one of a group's heading.
const TITLE_LETTERS: usize = 48;
const HEADING_LETTERS: usize = 56;

/// The owner of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Theirs,
    Ours,
    Limit,
    Other,
}

/// The subjects that do the least that the task needs.
const LIMITS: [&str; 5] = ["bare", "true", "the link", "send and receive alone", "AES-256-GCM alone"];

impl Side {
    fn of(subject: &str) -> Side {
        match subject {
            _ if subject.starts_with("ours") => Side::Ours,
            _ if subject.starts_with("libcurl") || subject == "given" => Side::Theirs,
            _ if LIMITS.contains(&subject) => Side::Limit,
            _ => Side::Other,
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Side::Theirs => "#868e96",
            Side::Ours => "#1c7ed6",
            Side::Limit => "#2f9e44",
            Side::Other => "#e0a458",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Side::Theirs => "libcurl",
            Side::Ours => "Warmwire",
            Side::Limit => "limit",
            Side::Other => "others",
        }
    }
}

/// How a group is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A label above each bar.
    Labelled,
    /// A figure at the end of each bar; the colour says whose it is.
    Compact,
}

impl Style {
    fn step(self) -> f64 {
        match self {
            Style::Labelled => LABEL + BAR + 4.0,
            Style::Compact => COMPACT + 2.0,
        }
    }
}

pub struct Group {
    pub title: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    subject: String,
    /// The figure with its unit and quotient.
    figure: String,
    side: Side,
    ratio: f64,
    /// Exactly one bar of a group is the measure of the others.
    first: bool,
}

impl Bar {
    /// Returns the bar of a subject's figure.
    pub fn of(case: &Case, subject: &str, figure: &Figure) -> Bar {
        let ratio = case.ratio(figure);
        let quotient = ratio.map_or(String::new(), |ratio| format!(", ×{ratio:.2}"));
        let (median, unit) = (shown(figure.median()), &figure.unit);
        Bar {
            subject: subject.to_owned(),
            figure: format!("{median} {unit}{quotient}"),
            side: Side::of(subject),
            ratio: ratio.unwrap_or(1.0),
            first: ratio.is_none(),
        }
    }
}

/// Draws a row by the first quantity of each case; `None` if nothing can be compared.
pub fn of_row(row: &Row) -> Option<String> {
    let groups: Vec<Group> = row.cases.iter().filter_map(group).collect();
    let about = crate::rows::ROWS.iter().find(|task| task.name == row.name)?.about;
    (!groups.is_empty()).then(|| draw(&format!("{}: {about}", row.name), &groups, Style::Labelled))
}

fn group(case: &Case) -> Option<Group> {
    let quantity = case.lines.iter().flat_map(|line| &line.figures).find(|figure| !figure.is_rate())?;
    let figures = case.lines.iter().filter_map(|line| Some((line, line.figure(&quantity.quantity)?)));
    let bars: Vec<Bar> = figures.map(|(line, figure)| Bar::of(case, &line.subject, figure)).collect();
    (bars.len() > 1).then(|| Group { title: format!("{} ({})", case.name, quantity.quantity), bars })
}

/// Draws groups of bars below a title and the legend.
pub fn draw(title: &str, groups: &[Group], style: Style) -> String {
    let ratios = || groups.iter().flat_map(|group| &group.bars).map(|bar| bar.ratio);
    let scale = INNER / ratios().fold(1.0, f64::max).min(MOST);
    let mut body = String::new();
    let mut y = MARGIN + 4.0;
    for line in wrapped(title, TITLE_LETTERS) {
        text(&mut body, MARGIN, y + 12.0, "font-size=\"15\" font-weight=\"bold\"", &line);
        y += 20.0;
    }
    legend(&mut body, y, groups);
    y += 20.0;
    let remark = match style {
        Style::Labelled => "Shorter is better. The line marks the first subject's figure.",
        Style::Compact => "Shorter is better.",
    };
    text(&mut body, MARGIN, y + 10.0, "font-size=\"12\" fill=\"#495057\"", remark);
    y += 16.0 + GAP;
    for group in groups {
        for line in wrapped(&group.title, HEADING_LETTERS) {
            text(&mut body, MARGIN, y + 12.0, "font-size=\"13\" font-weight=\"bold\"", &line);
            y += HEADING;
        }
        for bar in &group.bars {
            match style {
                Style::Labelled => labelled(&mut body, y, scale, bar),
                Style::Compact => compact(&mut body, y, scale, bar),
            }
            y += style.step();
        }
        y += GAP;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{y}\" \
         viewBox=\"0 0 {WIDTH} {y}\" font-family=\"sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Names the sides that the picture shows.
fn legend(out: &mut String, y: f64, groups: &[Group]) {
    let mut sides: Vec<Side> = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.side).collect();
    sides.sort_unstable();
    sides.dedup();
    let mut x = MARGIN;
    for side in sides {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"11\" height=\"11\" fill=\"{}\"/>",
            y + 1.0,
            side.colour()
        );
        text(out, x + 16.0, y + 11.0, "font-size=\"12\"", side.name());
        x += 96.0;
    }
}

/// Draws a bar below its label, with a line where the first bar of the group ends.
fn labelled(out: &mut String, y: f64, scale: f64, bar: &Bar) {
    text(out, MARGIN, y + 12.0, "font-size=\"12\"", &format!("{}: {}", bar.subject, bar.figure));
    rectangle(out, y + LABEL, scale, BAR, bar);
    if !bar.first {
        let x = MARGIN + scale;
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{}\" stroke=\"#212529\"/>",
            y + LABEL - 1.0,
            y + LABEL + BAR + 1.0
        );
    }
}

/// Draws a bar with its figure behind it, or in its end if there is no room.
fn compact(out: &mut String, y: f64, scale: f64, bar: &Bar) {
    let end = MARGIN + rectangle(out, y, scale, COMPACT, bar);
    let (x, style) = match end + FIGURE > WIDTH {
        true => (end - 4.0, "font-size=\"11\" text-anchor=\"end\" fill=\"white\""),
        false => (end + 4.0, "font-size=\"11\""),
    };
    text(out, x, y + COMPACT - 2.0, style, &bar.figure);
}

/// Draws the rectangle of a bar and returns its length.
fn rectangle(out: &mut String, y: f64, scale: f64, height: f64, bar: &Bar) -> f64 {
    let length = (bar.ratio.min(MOST) * scale).clamp(1.0, INNER);
    let colour = bar.side.colour();
    let _ = writeln!(
        out,
        "<rect x=\"{MARGIN}\" y=\"{y}\" width=\"{length:.1}\" height=\"{height}\" fill=\"{colour}\"/>"
    );
    if bar.ratio > MOST {
        text(out, WIDTH - MARGIN - 10.0, y + height - 1.0, "font-size=\"12\" fill=\"white\"", "»");
    }
    length
}

/// Breaks a text into lines of at most so many letters.
pub fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= letters {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

fn text(out: &mut String, x: f64, y: f64, style: &str, text: &str) {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" {style}>{escaped}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::tests::{case, row};

    #[test]
    fn a_side_has_one_colour_wherever_it_stands() {
        let sides = ["ours", "libcurl, kept handle", "ours, kept handle", "bare", "aria2"].map(Side::of);
        assert_eq!(sides, [Side::Ours, Side::Theirs, Side::Ours, Side::Limit, Side::Other]);
    }

    #[test]
    fn bars_end_within_the_picture() {
        let cases = vec![case("c", &[("libcurl", &[1.0]), ("ours", &[40.0]), ("bare", &[0.5])])];
        let drawn = of_row(&row("small", "2026-01-02", cases)).unwrap();
        assert!(drawn.contains("ours: 40.0 µs, ×40.00"), "{drawn}");
        let widths = drawn.split(" width=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok());
        let widths: Vec<f64> = widths.collect();
        assert!(widths.len() > 3, "{drawn}");
        assert!(widths.iter().all(|width| *width <= WIDTH), "{widths:?}");
    }

    #[test]
    fn one_subject_alone_makes_no_picture() {
        assert!(of_row(&row("small", "2026-01-02", vec![case("c", &[("libcurl", &[1.0])])])).is_none());
    }

    #[test]
    fn no_letter_of_a_heading_is_cut_off() {
        let title = "word ".repeat(40);
        let lines = wrapped(title.trim(), 48);
        assert!(lines.iter().all(|line| line.len() <= 48), "{lines:?}");
        assert_eq!(lines.join(" "), title.trim());
    }
}
