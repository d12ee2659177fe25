//! `--har` and `--timeline`: what a run did, as an HTTP Archive (HAR 1.2) and as a picture.
//!
//! A record is made for each transfer when it ends; a transfer that followed redirects is one record, of its last
//! request.

use crate::message::shown;
use crate::outcome::Ended;
use crate::request::Bytes;
use crate::text::json_escape;
use crate::writeout::{Moment, Outcome};
use std::time::{Duration, Instant, SystemTime};

/// Names of the phases and their colours in the picture.
const PHASES: [(&str, &str); 6] = [
    ("queued", "#d0d0d0"),
    ("name", "#4e9a9a"),
    ("connect", "#e0a030"),
    ("TLS", "#9060c0"),
    ("wait", "#70b050"),
    ("receive", "#4070c0"),
];

/// One finished transfer.
#[derive(Clone, Debug)]
pub struct Record {
    pub url: String,
    pub method: String,
    pub status: i64,
    pub code: i32,
    /// Since the run began, and on the calendar.
    pub began: Duration,
    pub date: SystemTime,
    /// Lengths of the phases, in the order of [`PHASES`].
    pub phases: [Duration; 6],
    pub connection: i64,
    pub reused: bool,
    pub address: String,
    pub version: String,
    pub request_head: Bytes,
    pub headers: Vec<(Bytes, Bytes)>,
    pub sizes: Sizes,
    pub mime_type: String,
    pub redirect: String,
}

/// Bytes of heads and bodies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    pub request: i64,
    pub header: i64,
    pub upload: i64,
    pub download: i64,
}

impl Record {
    pub fn of(ended: &Ended, began: Duration, date: SystemTime) -> Record {
        let number = |name: &str| ended.number(name).unwrap_or(0);
        let text = |name: &str| ended.text(name).map(|text| shown(&text)).unwrap_or_default();
        let headers = ended.headers();
        let last = headers.iter().map(|(.., request)| *request).max().unwrap_or(0);
        let headers = headers.into_iter().filter(|(.., request)| *request == last);
        let version = match number("HTTP_VERSION") {
            1 => "HTTP/1.0",
            2 => "HTTP/1.1",
            3 => "HTTP/2",
            30 => "HTTP/3",
            _ => "unknown",
        };
        Record {
            url: text("EFFECTIVE_URL"),
            method: text("EFFECTIVE_METHOD"),
            status: number("RESPONSE_CODE"),
            code: ended.exit_code(),
            began,
            date,
            phases: phases(&number),
            connection: ended.number("CONN_ID").unwrap_or(-1),
            reused: number("NUM_CONNECTS") == 0,
            address: text("PRIMARY_IP"),
            version: version.to_string(),
            request_head: ended.transfer.request_head.borrow().clone(),
            headers: headers.map(|(name, value, _)| (name, value)).collect(),
            sizes: Sizes {
                request: number("REQUEST_SIZE"),
                header: number("HEADER_SIZE"),
                upload: number("SIZE_UPLOAD_T"),
                download: number("SIZE_DOWNLOAD_T"),
            },
            mime_type: text("CONTENT_TYPE"),
            redirect: text("REDIRECT_URL"),
        }
    }

    fn total(&self) -> Duration {
        self.phases.iter().sum()
    }
}

/// From moments since the start to lengths; a moment that was not reached has no length.
fn phases(number: &dyn Fn(&str) -> i64) -> [Duration; 6] {
    let moments = [
        "QUEUE_TIME_T",
        "NAMELOOKUP_TIME_T",
        "CONNECT_TIME_T",
        "APPCONNECT_TIME_T",
        "STARTTRANSFER_TIME_T",
        "TOTAL_TIME_T",
    ];
    let mut lengths = [Duration::ZERO; 6];
    let mut before = 0;
    for (length, moment) in lengths.iter_mut().zip(moments) {
        let at = number(moment).max(before);
        *length = Duration::from_micros((at - before) as u64);
        before = at;
    }
    lengths
}

fn quoted(text: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(&json_escape(text, false)))
}

fn pairs<'p>(pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> String {
    let rows =
        pairs.map(|(name, value)| format!("{{\"name\":{},\"value\":{}}}", quoted(name), quoted(value)));
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

/// The header lines of a request, without its first line.
fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

fn query(url: &str) -> String {
    let text = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or_default());
    let words = text.split('&').filter(|word| !word.is_empty());
    pairs(
        words
            .map(|word| word.split_once('=').unwrap_or((word, "")))
            .map(|(a, b)| (a.as_bytes(), b.as_bytes())),
    )
}

fn date(time: SystemTime) -> String {
    let at = Moment::at(time);
    let (micros, second) = (at.micros / 1000, at.second);
    format!(
        "{}-{:02}-{:02}T{:02}:{:02}:{second:02}.{micros:03}Z",
        at.year, at.month, at.day, at.hour, at.minute
    )
}

fn millis(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1000.0)
}

/// The archive.
pub fn har(records: &[Record], version: &str) -> String {
    let entries: Vec<String> = records.iter().map(entry).collect();
    format!(
        "{{\"log\":{{\"version\":\"1.2\",\"creator\":{{\"name\":\"Warmwire\",\"version\":{}}},\"entries\":[\n{}\n]}}}}\n",
        quoted(version.as_bytes()),
        entries.join(",\n")
    )
}

fn entry(record: &Record) -> String {
    let [queued, name, connect, tls, wait, receive] = record.phases.map(millis);
    let response_headers = pairs(record.headers.iter().map(|(n, v)| (n.as_slice(), v.as_slice())));
    let sizes = record.sizes;
    format!(
        "{{\"startedDateTime\":\"{}\",\"time\":{},\"request\":{{\"method\":{},\"url\":{},\"httpVersion\":{},\
         \"cookies\":[],\"headers\":{},\"queryString\":{},\"headersSize\":{},\"bodySize\":{}}},\
         \"response\":{{\"status\":{},\"statusText\":\"\",\"httpVersion\":{},\"cookies\":[],\"headers\":{},\
         \"content\":{{\"size\":{},\"mimeType\":{}}},\"redirectURL\":{},\"headersSize\":{},\"bodySize\":{}}},\
         \"cache\":{{}},\"timings\":{{\"blocked\":{queued},\"dns\":{name},\"connect\":{connect},\"ssl\":{tls},\
         \"send\":0,\"wait\":{wait},\"receive\":{receive}}},\"serverIPAddress\":{},\"connection\":\"{}\",\
         \"_exitCode\":{}}}",
        date(record.date),
        millis(record.total()),
        quoted(record.method.as_bytes()),
        quoted(record.url.as_bytes()),
        quoted(record.version.as_bytes()),
        pairs(fields(&record.request_head)),
        query(&record.url),
        sizes.request,
        sizes.upload,
        record.status,
        quoted(record.version.as_bytes()),
        response_headers,
        sizes.download,
        quoted(record.mime_type.as_bytes()),
        quoted(record.redirect.as_bytes()),
        sizes.header,
        sizes.download,
        quoted(record.address.as_bytes()),
        record.connection,
        record.code
    )
}

/// Sizes of the picture, in pixels.
const WIDTH: f64 = 700.0;
const LEFT: f64 = 320.0;
const ROW: f64 = 22.0;
const TOP: f64 = 50.0;

/// The picture: a row for each transfer.
pub fn svg(records: &[Record]) -> String {
    let end = records.iter().map(|record| record.began + record.total()).max().unwrap_or_default();
    let scale = WIDTH / end.as_secs_f64().max(1e-6);
    let height = TOP + ROW * records.len() as f64 + 20.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        LEFT + WIDTH + 140.0
    );
    for (at, (name, colour)) in PHASES.iter().enumerate() {
        let x = LEFT + 90.0 * at as f64;
        out.push_str(&format!(
            "<rect x=\"{x}\" y=\"10\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"21\">{name}</text>\n",
            x + 16.0
        ));
    }
    for (row, record) in records.iter().enumerate() {
        out.push_str(&row_of(record, TOP + ROW * row as f64, scale));
    }
    out.push_str("</svg>\n");
    out
}

fn row_of(record: &Record, y: f64, scale: f64) -> String {
    let label: String = record.url.chars().rev().take(46).collect::<Vec<_>>().into_iter().rev().collect();
    let mut out = format!("<text x=\"8\" y=\"{}\">{}</text>", y + 13.0, marked_up(&label));
    let mut x = LEFT + record.began.as_secs_f64() * scale;
    for ((name, colour), length) in PHASES.iter().zip(record.phases) {
        let width = length.as_secs_f64() * scale;
        if width > 0.0 {
            let title = format!("{name} {} ms", millis(length));
            out.push_str(&format!(
                "<rect x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"16\" fill=\"{colour}\"><title>{title}</title></rect>",
                width.max(0.5)
            ));
        }
        x += width;
    }
    let how = if record.reused { "reused" } else { "new" };
    let result =
        if record.code == 0 { record.status.to_string() } else { format!("failed ({})", record.code) };
    out.push_str(&format!(
        "<text x=\"{:.2}\" y=\"{}\" fill=\"#505050\">{result}, {} ms, connection {} {how}</text>\n",
        (x + 6.0).min(LEFT + WIDTH - 60.0),
        y + 13.0,
        millis(record.total()),
        record.connection
    ));
    out
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

/// The picture, in a page if the file's name asks for one.
pub fn timeline(records: &[Record], file: &[u8]) -> String {
    let picture = svg(records);
    if file.ends_with(b".html") || file.ends_with(b".htm") {
        return format!("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Timeline</title>\n{picture}");
    }
    picture
}

/// The records of a run.
pub struct Reports {
    pub records: Vec<Record>,
    began: Instant,
}

impl Reports {
    pub fn new() -> Reports {
        Reports { records: Vec::new(), began: Instant::now() }
    }

    pub fn add(&mut self, ended: &Ended) {
        let total = Duration::from_micros(ended.number("TOTAL_TIME_T").unwrap_or(0).max(0) as u64);
        let began = self.began.elapsed().saturating_sub(total);
        let date = SystemTime::now().checked_sub(total).unwrap_or(SystemTime::UNIX_EPOCH);
        self.records.push(Record::of(ended, began, date));
        self.records.sort_by_key(|record| record.began);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            url: "http://x/a?b=c&<d>".into(),
            method: "GET".into(),
            status: 200,
            code: 0,
            began: Duration::from_millis(5),
            date: SystemTime::UNIX_EPOCH,
            phases: [0, 1, 2, 0, 30, 4].map(Duration::from_millis),
            connection: 0,
            reused: false,
            address: "127.0.0.1".into(),
            version: "HTTP/1.1".into(),
            request_head: b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
            headers: vec![(b"Server".to_vec(), b"\"y\"".to_vec())],
            sizes: Sizes::default(),
            mime_type: "text/plain".into(),
            redirect: String::new(),
        }
    }

    #[test]
    fn an_archive() {
        let text = har(&[record(), record()], "1");
        assert!(text.contains("\"startedDateTime\":\"1970-01-01T00:00:00.000Z\",\"time\":37.000"));
        assert!(text.contains("{\"name\":\"Host\",\"value\":\"x\"}"));
        assert!(text.contains("{\"name\":\"Server\",\"value\":\"\\\"y\\\"\"}"));
        assert!(text.contains("{\"name\":\"b\",\"value\":\"c\"}"));
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }

    #[test]
    fn a_picture() {
        let text = svg(&[record()]);
        assert_eq!(text.matches("<title>").count(), 4);
        assert!(text.contains("&lt;d&gt;") && text.contains("connection 0 new"));
        assert!(timeline(&[record()], b"x.html").starts_with("<!DOCTYPE html>"));
    }

    #[test]
    fn moments_become_lengths() {
        let moment = |name: &str| match name {
            "NAMELOOKUP_TIME_T" => 10,
            "CONNECT_TIME_T" => 30,
            "STARTTRANSFER_TIME_T" => 100,
            "TOTAL_TIME_T" => 150,
            _ => 0,
        };
        assert_eq!(phases(&moment), [0, 10, 20, 0, 70, 50].map(Duration::from_micros));
    }
}
