//! An HTTP Archive (HAR 1.2, the format of the browsers' network panels): an entry for each request and its reply.

use super::{Exchange, Record};
use crate::text::json_escape;
use crate::writeout::Moment;
use std::time::{Duration, SystemTime};

/// The archive.
pub fn har(records: &[Record], version: &str) -> String {
    let entries: Vec<String> = records.iter().flat_map(entries).collect();
    let version = quoted(version.as_bytes());
    let entries = entries.join(",\n");
    format!(
        "{{\"log\":{{\"version\":\"1.2\",\"creator\":{{\"name\":\"Warmwire\",\"version\":{version}}},\
         \"entries\":[\n{entries}\n]}}}}\n"
    )
}

/// The entries of a transfer: those before the last led to it by redirects or logins.
fn entries(record: &Record) -> Vec<String> {
    let Some((last, before)) = record.exchanges.split_last() else {
        return vec![entry(
            record,
            &Head::default(),
            &Head::default(),
            &record.url,
            record.date,
            &times(record),
        )];
    };
    let start = record.exchanges[0].sent;
    let mut url = record.url.clone();
    let mut written = vec![one(record, last, &url, record.date, &times(record))];
    for (at, exchange) in before.iter().enumerate().rev() {
        let next = record.exchanges[at + 1].sent;
        let answered = exchange.answered.unwrap_or(next);
        let times = Times {
            wait: answered - exchange.sent,
            receive: next.saturating_duration_since(answered),
            ..Times::default()
        };
        let date = record.date + (exchange.sent - start);
        url = absolute(exchange, &url);
        written.push(one(record, exchange, &url, date, &times));
    }
    written.reverse();
    written
}

fn one(record: &Record, exchange: &Exchange, url: &str, date: SystemTime, times: &Times) -> String {
    entry(record, &Head::of(&exchange.request), &Head::of(&exchange.reply), url, date, times)
}

/// The URL of an earlier request: its own target, at its own host.
fn absolute(exchange: &Exchange, later: &str) -> String {
    let head = Head::of(&exchange.request);
    let scheme = later.split_once("://").map_or("http", |(scheme, _)| scheme);
    let host = head.field("host").unwrap_or_default();
    match head.words.get(1) {
        Some(target) if target.contains("://") => target.to_string(),
        Some(target) => format!("{scheme}://{host}{target}"),
        None => later.to_string(),
    }
}

/// Lengths of the phases of one exchange; a phase that did not happen has none.
#[derive(Default)]
struct Times {
    blocked: Option<Duration>,
    dns: Option<Duration>,
    connect: Option<Duration>,
    ssl: Option<Duration>,
    wait: Duration,
    receive: Duration,
}

/// The phases of the last exchange. TLS is part of connecting, in the format's eyes.
fn times(record: &Record) -> Times {
    let [queued, redirects, name, connect, tls, wait, receive] = record.phases;
    let new = |length: Duration| (!record.reused).then_some(length);
    let blocked = if record.exchanges.len() > 1 { queued } else { queued + redirects };
    Times {
        blocked: Some(if record.reused { blocked + name + connect + tls } else { blocked }),
        dns: new(name),
        connect: new(connect + tls),
        ssl: new(tls).filter(|tls| !tls.is_zero()),
        wait,
        receive,
    }
}

impl Times {
    fn total(&self) -> Duration {
        [self.blocked, self.dns, self.connect].into_iter().flatten().sum::<Duration>()
            + self.wait
            + self.receive
    }
}

/// A head taken apart.
#[derive(Default)]
struct Head {
    size: usize,
    /// Of its first line.
    words: Vec<String>,
    fields: Vec<(String, String)>,
}

impl Head {
    fn of(bytes: &[u8]) -> Head {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let words = lines.next().unwrap_or_default().splitn(3, ' ').map(str::to_string).collect();
        let fields = lines.filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_string(), value.trim().to_string())).collect();
        Head { size: bytes.len(), words, fields }
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let named = self.fields.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    fn pairs(&self) -> String {
        pairs(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

fn entry(
    record: &Record,
    asked: &Head,
    answered: &Head,
    url: &str,
    date: SystemTime,
    times: &Times,
) -> String {
    let last = url == record.url;
    let status: i64 = answered.word(1).parse().unwrap_or(if last { record.status } else { 0 });
    let (upload, download) = if last { (record.upload, record.download) } else { (0, 0) };
    let mime_type = answered.field("content-type").unwrap_or(if last { &record.mime_type } else { "" });
    let fields = [
        ("startedDateTime", quoted(iso(date).as_bytes())),
        ("time", millis(times.total())),
        ("request", request(asked, url, upload)),
        ("response", response(answered, status, mime_type, download)),
        ("cache", "{}".to_string()),
        ("timings", timings(times)),
        ("serverIPAddress", quoted(record.address.as_bytes())),
        ("connection", format!("\"{}\"", record.connection)),
        ("_exitCode", record.code.to_string()),
        ("_error", quoted(record.error.as_bytes())),
    ];
    object(&fields)
}

fn request(head: &Head, url: &str, upload: i64) -> String {
    let cookies =
        head.all("cookie").flat_map(|line| line.split("; ")).filter_map(|pair| pair.split_once('='));
    let mut fields = vec![
        ("method", quoted(head.word(0).as_bytes())),
        ("url", quoted(url.as_bytes())),
        ("httpVersion", quoted(head.word(2).as_bytes())),
        ("cookies", pairs(cookies)),
        ("headers", head.pairs()),
        ("queryString", query(url)),
        ("headersSize", head.size.to_string()),
        ("bodySize", upload.to_string()),
    ];
    if upload > 0 {
        let kind = head.field("content-type").unwrap_or_default();
        fields.push(("postData", object(&[("mimeType", quoted(kind.as_bytes())), ("text", quoted(b""))])));
    }
    object(&fields)
}

fn response(head: &Head, status: i64, mime_type: &str, download: i64) -> String {
    let cookies = head.all("set-cookie").filter_map(|line| line.split(';').next()?.split_once('='));
    object(&[
        ("status", status.to_string()),
        ("statusText", quoted(head.word(2).as_bytes())),
        ("httpVersion", quoted(head.word(0).as_bytes())),
        ("cookies", pairs(cookies)),
        ("headers", head.pairs()),
        ("content", object(&[("size", download.to_string()), ("mimeType", quoted(mime_type.as_bytes()))])),
        ("redirectURL", quoted(head.field("location").unwrap_or_default().as_bytes())),
        ("headersSize", head.size.to_string()),
        ("bodySize", download.to_string()),
    ])
}

/// -1 stands for what did not happen.
fn timings(times: &Times) -> String {
    let maybe = |length: Option<Duration>| length.map_or("-1".to_string(), millis);
    object(&[
        ("blocked", maybe(times.blocked)),
        ("dns", maybe(times.dns)),
        ("connect", maybe(times.connect)),
        ("ssl", maybe(times.ssl)),
        ("send", "0".to_string()),
        ("wait", millis(times.wait)),
        ("receive", millis(times.receive)),
    ])
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

fn quoted(text: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(&json_escape(text, false)))
}

fn pairs<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> String {
    let rows = pairs.map(|(name, value)| {
        object(&[("name", quoted(name.as_bytes())), ("value", quoted(value.as_bytes()))])
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

fn query(url: &str) -> String {
    let text = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or_default());
    let words = text.split('&').filter(|word| !word.is_empty());
    pairs(words.map(|word| word.split_once('=').unwrap_or((word, ""))))
}

fn iso(time: SystemTime) -> String {
    let at = Moment::at(time);
    let (year, month, day) = (at.year, at.month, at.day);
    let (hour, minute, second, millis) = (at.hour, at.minute, at.second, at.micros / 1000);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

fn millis(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    #[test]
    fn an_entry_for_each_exchange() {
        let text = har(&[record()], "1");
        assert_eq!(text.matches("\"startedDateTime\":\"1970-01-01T00:00:00.0").count(), 2, "{text}");
        for piece in [
            "\"url\":\"http://x/r\"",
            "\"status\":302,\"statusText\":\"Found\"",
            "\"redirectURL\":\"/a?b=c&<d>\"",
            "\"cookies\":[{\"name\":\"k\",\"value\":\"v\"}]",
            "\"cookies\":[{\"name\":\"k\",\"value\":\"v\"},{\"name\":\"l\",\"value\":\"w\"}]",
            "\"method\":\"POST\",\"url\":\"http://x/a?b=c&<d>\",\"httpVersion\":\"HTTP/1.1\"",
            "\"status\":200,\"statusText\":\"All right\"",
            "{\"name\":\"Server\",\"value\":\"\\\"y\\\"\"}",
            "\"queryString\":[{\"name\":\"b\",\"value\":\"c\"},{\"name\":\"<d>\",\"value\":\"\"}]",
            "\"timings\":{\"blocked\":0.000,\"dns\":1.000,\"connect\":2.000,\"ssl\":-1,\"send\":0,\"wait\":30.000,\"receive\":4.000}",
        ] {
            assert!(text.contains(piece), "{piece}: {text}");
        }
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }

    #[test]
    fn a_transfer_without_a_request() {
        let text = har(&[Record { exchanges: Vec::new(), code: 7, status: 0, ..record() }], "1");
        assert!(text.contains("\"status\":0,") && text.contains("\"_exitCode\":7"), "{text}");
    }
}
