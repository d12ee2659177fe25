//! HTTP Archive (HAR 1.2, the format of the browsers' network panels): an entry for each request and its
//! reply. Secrets in fields, cookies, queries and forms are omitted, see `redact`.

use super::{Exchange, Record};
use crate::bytes::Bytes;
use crate::raw::parse_date;
use crate::redact::{self, REDACTED};
use crate::text::json_escape;
use crate::writeout::Moment;
use std::borrow::Cow;
use std::time::{Duration, SystemTime};

/// The end of the year 9999, the last that the format can write.
const LATEST_S: i64 = 253_402_300_799;

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

/// Returns the entries of a transfer: earlier ones are redirects or logins.
fn entries(record: &Record) -> Vec<String> {
    let Some((last, before)) = record.exchanges.split_last() else {
        let nothing = Pair::default();
        return vec![entry(record, &nothing, &record.url, record.date, &times(record))];
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
    let (asked, answered) = (Head::of(&exchange.request), Head::of(&exchange.reply));
    let pair = Pair {
        asked,
        body: exchange.body.clone(),
        body_length: exchange.body_length,
        answered,
        stream: exchange.stream,
        cache: exchange.cache,
    };
    entry(record, &pair, url, date, times)
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
    length: usize,
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
        Head { length: bytes.len(), words, fields }
    }

    /// -1 when there was none.
    fn size(&self) -> i64 {
        if self.length == 0 { -1 } else { self.length as i64 }
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

    /// Formats the fields, each with the displayable part of its value.
    fn pairs(&self, shown: fn(&str, &str) -> String) -> String {
        let fields: Vec<_> = self.fields.iter().map(|(name, value)| (name, shown(name, value))).collect();
        pairs(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

/// A request and its reply.
#[derive(Default)]
struct Pair {
    asked: Head,
    body: Bytes,
    body_length: usize,
    answered: Head,
    stream: Option<u32>,
    cache: Option<&'static str>,
}

/// Formats an entry. Facts about the transfer belong to its last request.
fn entry(record: &Record, pair: &Pair, url: &str, date: SystemTime, times: &Times) -> String {
    let last = url == record.url;
    let mut fields = vec![
        ("startedDateTime", quoted(iso(date).as_bytes())),
        ("time", millis(times.total())),
        ("request", request(&record.method, pair, url)),
        ("response", response(record, &pair.answered, last)),
        ("cache", "{}".to_string()),
        ("timings", timings(times)),
    ];
    if record.connection >= 0 {
        fields.push(("serverIPAddress", quoted(record.address.as_bytes())));
        fields.push(("connection", format!("\"{}\"", record.connection)));
    }
    fields.extend(pair.cache.map(|cache| ("_cache", quoted(cache.as_bytes()))));
    fields.extend(pair.stream.map(|stream| ("_stream", stream.to_string())));
    fields.push(("_exitCode", record.code.to_string()));
    fields.push(("_error", quoted(record.error.as_bytes())));
    object(&fields)
}

/// Formats a request, with the requested method if none was sent.
fn request(method: &str, pair: &Pair, url: &str) -> String {
    let head = &pair.asked;
    let method = if head.words.is_empty() { method } else { head.word(0) };
    let url = &redact::url(url);
    let cookies = head.all("cookie").flat_map(|line| line.split("; "));
    let cookies = cookies.filter_map(|pair| Some((pair.split_once('=')?.0, REDACTED)));
    let mut fields = vec![
        ("method", quoted(method.as_bytes())),
        ("url", quoted(url.as_bytes())),
        ("httpVersion", quoted(head.word(2).as_bytes())),
        ("cookies", pairs(cookies)),
        ("headers", head.pairs(redact::sent)),
        ("queryString", query(url)),
        ("headersSize", head.size().to_string()),
        ("bodySize", if head.length == 0 { -1 } else { pair.body_length as i64 }.to_string()),
    ];
    if pair.body_length > 0 {
        fields.push(("postData", posted(head, &pair.body)));
    }
    object(&fields)
}

/// Formats a posted body. The format has only text: for binary or truncated bodies, the size is given.
fn posted(head: &Head, body: &[u8]) -> String {
    let kind = head.field("content-type").unwrap_or_default();
    let mut text = Cow::Borrowed(std::str::from_utf8(body).unwrap_or_default());
    if kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
        text = redact::form(&text).into();
    }
    object(&[("mimeType", quoted(kind.as_bytes())), ("text", quoted(text.as_bytes()))])
}

fn response(record: &Record, head: &Head, last: bool) -> String {
    let status: i64 = head.word(1).parse().unwrap_or(if last { record.status } else { 0 });
    let mime_type = head.field("content-type").unwrap_or(if last { &record.mime_type } else { "" });
    let (download, delivered) = if last { (record.download, record.delivered) } else { (0, 0) };
    let mut content = vec![("size", delivered.to_string()), ("mimeType", quoted(mime_type.as_bytes()))];
    if delivered > download {
        content.push(("compression", (delivered - download).to_string()));
    }
    object(&[
        ("status", status.to_string()),
        ("statusText", quoted(head.word(2).as_bytes())),
        ("httpVersion", quoted(head.word(0).as_bytes())),
        ("cookies", format!("[{}]", head.all("set-cookie").filter_map(cookie).collect::<Vec<_>>().join(","))),
        ("headers", head.pairs(redact::received)),
        ("content", object(&content)),
        ("redirectURL", quoted(redact::url(head.field("location").unwrap_or_default()).as_bytes())),
        ("headersSize", head.size().to_string()),
        ("bodySize", if status == 0 { -1 } else { download }.to_string()),
    ])
}

/// A Set-Cookie field with the attributes that the format knows.
fn cookie(line: &str) -> Option<String> {
    let mut parts = line.split(';').map(str::trim);
    let (name, _) = parts.next()?.split_once('=')?;
    let mut fields = vec![("name", quoted(name.as_bytes())), ("value", quoted(REDACTED.as_bytes()))];
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match name.to_ascii_lowercase().as_str() {
            "path" => fields.push(("path", quoted(value.as_bytes()))),
            "domain" => fields.push(("domain", quoted(value.as_bytes()))),
            "httponly" => fields.push(("httpOnly", "true".to_string())),
            "secure" => fields.push(("secure", "true".to_string())),
            "expires" => fields.extend(parse_date(value.as_bytes()).map(|at| ("expires", expiry(at)))),
            _ => {}
        }
    }
    Some(object(&fields))
}

fn expiry(seconds: i64) -> String {
    let length = Duration::from_secs(seconds.clamp(0, LATEST_S) as u64);
    quoted(iso(SystemTime::UNIX_EPOCH + length).as_bytes())
}

/// Formats times; -1 means that the step did not happen.
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
            "\"cookies\":[{\"name\":\"k\",\"value\":\"(redacted)\",\"path\":\"/\"}]",
            "\"connection\":\"0\",\"_stream\":5,",
            "\"postData\":{\"mimeType\":\"\",\"text\":\"a=b\"}",
            "\"content\":{\"size\":9,\"mimeType\":\"text/plain\",\"compression\":2}",
            "\"cookies\":[{\"name\":\"k\",\"value\":\"(redacted)\"},{\"name\":\"l\",\"value\":\"(redacted)\"}]",
            "{\"name\":\"Cookie\",\"value\":\"(redacted)\"}",
            "{\"name\":\"Set-Cookie\",\"value\":\"(redacted)\"}",
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
        let failed = Record { exchanges: Vec::new(), code: 7, status: 0, connection: -1, ..record() };
        let text = har(&[failed], "1");
        for piece in
            ["\"method\":\"POST\"", "\"status\":0,", "\"headersSize\":-1,\"bodySize\":-1", "\"_exitCode\":7"]
        {
            assert!(text.contains(piece), "{piece}: {text}");
        }
        assert!(!text.contains("serverIPAddress") && !text.contains("\"connection\""), "{text}");
    }

    #[test]
    fn attributes_of_cookies() {
        let line =
            "a=b=c; Path=/x; Domain=d; HttpOnly; Secure; Expires=Sun, 06 Nov 1994 08:49:37 GMT; SameSite=Lax";
        let expected = "{\"name\":\"a\",\"value\":\"(redacted)\",\"path\":\"/x\",\"domain\":\"d\",\"httpOnly\":true,\
                        \"secure\":true,\"expires\":\"1994-11-06T08:49:37.000Z\"}";
        assert_eq!(cookie(line).as_deref(), Some(expected));
        let endless = cookie("a=b; expires=Fri, 31 Dec 99999 23:59:59 GMT").unwrap_or_default();
        assert!(endless.starts_with("{\"name\":\"a\""), "{endless}");
        assert_eq!(cookie("nothing"), None);
    }
}
