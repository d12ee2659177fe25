//! The picture of a run: a row for each transfer, with its phases to scale, and a chip in the colour of the
//! connection that it used, with the stream where it shared that; below them the same by connections. SVG, or
//! a page around it when the file's name ends in `.html`.

use std::time::Duration;

use super::lanes::{Lane, lanes};
use super::redact::shown_place;
use super::units::{counted, size, time};
use super::{PHASES, Record};

/// Colours of the phases, in their order.
const COLOURS: [&str; 7] = ["#d4d4d4", "#c98686", "#4e9a9a", "#e0a030", "#9060c0", "#70b050", "#4070c0"];
/// Colours of connections; they come round.
const CHIPS: [&str; 8] =
    ["#2f6f8f", "#8f4f2f", "#5f7f2f", "#7f3f7f", "#2f7f5f", "#8f7f2f", "#4f4f9f", "#9f3f4f"];

/// Places of the columns and sizes, in pixels.
const ROW: f64 = 24.0;
const TOP: f64 = 78.0;
const NAME: f64 = 12.0;
const NAME_LETTERS: usize = 44;
const STATUS: f64 = 346.0;
const CHIP: f64 = 384.0;
const SIZE: f64 = 492.0;
const TIME: f64 = 564.0;
const CHART: f64 = 580.0;
const WIDTH: f64 = 640.0;
const MARGIN: f64 = 24.0;
/// Spacing in the part about connections: above it, and between streams.
const GAP: f64 = 44.0;
const STREAM: f64 = 12.0;
/// At least so many pixels between two ticks of the time axis.
const TICK_ROOM: f64 = 70.0;

/// The picture, in a page if the file's name asks for one.
pub fn timeline(records: &[Record], file: &[u8]) -> String {
    let picture = svg(records);
    if file.ends_with(b".html") || file.ends_with(b".htm") {
        return format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Timeline</title>\n\
             {picture}</html>\n"
        );
    }
    picture
}

fn svg(records: &[Record]) -> String {
    let end = records.iter().map(|record| record.began + record.total()).max().unwrap_or_default();
    let seconds = end.as_secs_f64().max(1e-6);
    let bottom = TOP + ROW * records.len() as f64;
    let lanes = lanes(records);
    let streams: usize = lanes.iter().map(|lane| lane.streams).sum();
    let below = if lanes.is_empty() { 0.0 } else { GAP + STREAM * streams as f64 + 8.0 * lanes.len() as f64 };
    let (width, height) = (CHART + WIDTH + MARGIN, bottom + below + 16.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    out.push_str(&summary(records, end));
    out.push_str(&legend());
    out.push_str(&axis(seconds, bottom + below));
    for (at, record) in records.iter().enumerate() {
        out.push_str(&row(record, TOP + ROW * at as f64, WIDTH / seconds));
    }
    let mut y = bottom + GAP;
    if !lanes.is_empty() {
        out.push_str(&label(NAME, y - 12.0, "start", "font-weight=\"bold\"", "Connections"));
    }
    for lane in &lanes {
        out.push_str(&connection(records, lane, y, WIDTH / seconds));
        y += STREAM * lane.streams as f64 + 8.0;
    }
    out.push_str("</svg>\n");
    out
}

fn summary(records: &[Record], end: Duration) -> String {
    let mut connections: Vec<i64> =
        records.iter().map(|record| record.connection).filter(|id| *id >= 0).collect();
    connections.sort_unstable();
    connections.dedup();
    let bytes: i64 = records.iter().map(|record| record.download.saturating_add(record.upload)).sum();
    let failed = records.iter().filter(|record| record.code != 0).count();
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    let text = format!(
        "{} over {}, {} in {}{failed}",
        counted(records.len(), "transfer"),
        counted(connections.len(), "connection"),
        size(bytes),
        time(end)
    );
    label(NAME, 22.0, "start", "font-size=\"14\" font-weight=\"bold\"", &text)
}

fn legend() -> String {
    let mut out = String::new();
    for (at, (name, colour)) in PHASES.iter().zip(COLOURS).enumerate() {
        let x = CHART + 90.0 * at as f64;
        out.push_str(&format!(
            "<rect x=\"{x}\" y=\"12\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{colour}\"/>"
        ));
        out.push_str(&label(x + 17.0, 22.0, "start", "", name));
    }
    out
}

/// Ticks at round times, with lines down through the rows.
fn axis(seconds: f64, bottom: f64) -> String {
    let step = round_step(seconds * TICK_ROOM / WIDTH);
    let mut out = String::new();
    let mut at = 0.0;
    while at <= seconds {
        let x = CHART + at * WIDTH / seconds;
        out.push_str(&format!(
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#e4e4e4\"/>",
            TOP - 8.0
        ));
        out.push_str(&label(x, TOP - 14.0, "middle", "fill=\"#707070\"", &time(Duration::from_secs_f64(at))));
        at += step;
    }
    out
}

/// The next of 1, 2 and 5 times a power of ten. Counted up: logarithms would make every start load libm.
fn round_step(least: f64) -> f64 {
    let powers = (0..20).scan(1e-9, |power, _| Some(std::mem::replace(power, *power * 10.0)));
    let mut steps = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|round| round * power));
    steps.find(|step| *step >= least).unwrap_or(1e12)
}

fn row(record: &Record, y: f64, scale: f64) -> String {
    let failed = record.code != 0;
    let ink = if failed { "fill=\"#b02020\"" } else { "" };
    let base = y + 16.0;
    // A picture is shown around: login and query are no part of it.
    let url = shown_place(&record.url);
    let full = marked_up(&url);
    let mut out = format!("<g><title>{full}</title>");
    out.push_str(&label(NAME, base, "start", ink, &shortened(&url)));
    let result = if failed { format!("({})", record.code) } else { record.status.to_string() };
    out.push_str(&label(STATUS, base, "middle", ink, &result));
    out.push_str("</g>");
    out.push_str(&chip(record, y));
    out.push_str(&label(SIZE, base, "end", "fill=\"#505050\"", &size(record.download.max(record.upload))));
    out.push_str(&label(TIME, base, "end", "fill=\"#505050\"", &time(record.total())));
    let began = CHART + record.began.as_secs_f64() * scale;
    if !record.before.is_zero() {
        let (left, width) =
            (began - record.before.as_secs_f64() * scale, record.before.as_secs_f64() * scale);
        out.push_str(&format!(
            "<rect x=\"{left:.2}\" y=\"{}\" width=\"{width:.2}\" height=\"4\" fill=\"#b02020\">\
             <title>attempts before {}</title></rect>",
            y + 10.0,
            time(record.before)
        ));
    }
    let x = phases(record, 0, began, (y + 4.0, 16.0), scale, &mut out);
    if failed {
        let shown = if record.error.is_empty() { "failed" } else { &record.error };
        out.push_str(&format!(
            "<g stroke=\"#b02020\" stroke-width=\"2\"><title>{}</title>",
            marked_up(shown)
        ));
        let (left, top) = (x - 4.0, y + 8.0);
        out.push_str(&format!("<path d=\"M{left:.1} {top} l8 8 m0 -8 l-8 8\"/></g>"));
    }
    out.push('\n');
    out
}

/// Draws the phases from `first` on, in a bar with this top and height; returns its end.
fn phases(record: &Record, first: usize, mut x: f64, bar: (f64, f64), scale: f64, out: &mut String) -> f64 {
    let (top, height) = bar;
    for ((name, colour), length) in PHASES.iter().zip(COLOURS).zip(record.phases).skip(first) {
        let width = length.as_secs_f64() * scale;
        if width > 0.0 {
            out.push_str(&format!(
                "<rect x=\"{x:.2}\" y=\"{top}\" width=\"{:.2}\" height=\"{height}\" \
                 fill=\"{colour}\"><title>{name} {}</title></rect>",
                width.max(0.5),
                time(length)
            ));
        }
        x += width;
    }
    x
}

/// Draws a connection: its transfers over time, one line for each concurrent stream.
fn connection(records: &[Record], lane: &Lane, y: f64, scale: f64) -> String {
    let first = &records[lane.rows[0].record];
    let together = match lane.streams {
        1 => "one at a time".to_owned(),
        count => format!("up to {count} at a time"),
    };
    let text = format!(
        "#{} to {}: {}, {together}",
        lane.connection,
        first.address,
        counted(lane.rows.len(), "transfer")
    );
    let mut out = label(NAME, y + 10.0, "start", "", &text);
    for carried in &lane.rows {
        let record = &records[carried.record];
        let stream = record.stream().map_or(String::new(), |stream| format!("stream {stream}: "));
        out.push_str(&format!("<g><title>{stream}{}</title>", marked_up(&shown_place(&record.url))));
        let (x, top) = (CHART + carried.from.as_secs_f64() * scale, y + STREAM * carried.line as f64);
        phases(record, super::lanes::FIRST_PHASE, x, (top, STREAM - 2.0), scale, &mut out);
        out.push_str("</g>");
    }
    out.push('\n');
    out
}

/// Filled for a connection that this transfer made, hollow for one that it found.
fn chip(record: &Record, y: f64) -> String {
    if record.connection < 0 {
        return String::new();
    }
    let colour = CHIPS[record.connection as usize % CHIPS.len()];
    let (fill, ink, how) = if record.reused { ("white", colour, "reused") } else { (colour, "white", "new") };
    let (top, id) = (y + 4.0, record.connection);
    let (stream, shown) = match record.stream() {
        Some(stream) => (format!(", stream {stream}"), format!("#{id}/{stream}")),
        None => (String::new(), format!("#{id}")),
    };
    // As wide as its digits need.
    let width = 16.0 + 7.0 * shown.len() as f64;
    format!(
        "<g><title>connection {id}, {how}{stream}</title><rect x=\"{CHIP}\" y=\"{top}\" \
         width=\"{width}\" height=\"16\" rx=\"8\" \
         fill=\"{fill}\" stroke=\"{colour}\"/>{}</g>",
        label(CHIP + width / 2.0, y + 16.0, "middle", &format!("fill=\"{ink}\" font-size=\"11\""), &shown)
    )
}

fn label(x: f64, y: f64, anchor: &str, style: &str, text: &str) -> String {
    let text = marked_up(text);
    format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\" {style}>{text}</text>\n")
}

/// The end of a long URL says more than its start.
fn shortened(url: &str) -> String {
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    let letters = url.chars().count();
    if letters <= NAME_LETTERS {
        return url.to_string();
    }
    let host: String = url.chars().take_while(|letter| *letter != '/').take(NAME_LETTERS / 2).collect();
    let rest = NAME_LETTERS - host.chars().count() - 2;
    let tail: String = url.chars().skip(letters - rest).collect();
    format!("{host}/…{tail}")
}

fn marked_up(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_string(),
            '<' => "&lt;".to_string(),
            '>' => "&gt;".to_string(),
            c if c.is_control() => "?".to_string(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    #[test]
    fn a_timeline_is_drawn_as_svg() {
        let record = || Record { url: "http://me:pw@x/<d>?b=secret".into(), ..record() };
        let reused = Record { reused: true, began: Duration::from_millis(60), ..record() };
        let failed = Record {
            code: 7,
            connection: -1,
            before: Duration::from_millis(3),
            error: "no <way>".into(),
            ..record()
        };
        let text = svg(&[record(), reused, failed]);
        assert!(text.contains("3 transfers over 1 connection, 30 B in 107 ms, 1 failed"), "{text}");
        // In three rows, and on the connection that two of them share.
        assert_eq!(text.matches("<title>wait 30 ms</title>").count(), 5);
        assert!(text.contains("<title>attempts before 3 ms</title>"));
        assert!(text.contains("connection 0, new, stream 5") && text.contains("connection 0, reused"));
        assert!(text.contains("#0 to 127.0.0.1: 2 transfers, one at a time"), "{text}");
        assert!(text.contains("&lt;d&gt;") && text.contains("no &lt;way&gt;") && !text.contains("<d>"));
        assert!(!text.contains("pw") && !text.contains("secret") && text.contains("x/&lt;d&gt;?…"), "{text}");
        assert_eq!(text.matches("<g").count(), text.matches("</g>").count());
        assert!(timeline(&[record()], b"x.html").starts_with("<!DOCTYPE html>"));
        assert!(timeline(&[], b"x.svg").starts_with("<svg "));
    }

    #[test]
    fn steps_are_round() {
        for (least, step) in [(0.07, 0.1), (0.11, 0.2), (3.0, 5.0), (6.0, 10.0)] {
            assert!((round_step(least) - step).abs() < 1e-9, "{least}");
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!((time(Duration::from_micros(1234)), size(1_234_567)), ("1.23 ms".into(), "1.2 MB".into()));
        assert_eq!((time(Duration::from_millis(3062)), size(999)), ("3.06 s".into(), "999 B".into()));
        assert_eq!(shortened("http://x/a"), "x/a");
        assert_eq!(shortened(&format!("http://host/{}/end", "y".repeat(90))).chars().count(), NAME_LETTERS);
    }
}
