//! HTTP Archive (HAR 1.2, the format of the browsers' network panels): an entry for each request and its
//! reply. Secrets in fields, cookies, queries and forms are omitted, see `redact`.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wire::date::{Civil, parse as parse_date};
use wire::json::Writer;

use super::redact::Secrets;
use super::{Exchange, Record};

/// The end of the year 9999, the last that the format can write.
const LATEST_S: i64 = 253_402_300_799;

/// Returns the archive. `left_out` is the number of transfers that are not among the records.
pub fn har(records: &[Record], secrets: Secrets, left_out: u64) -> String {
    let mut json = Writer::default();
    json.object(|json| {
        json.key("log").object(|json| {
            json.key("version").text("1.2");
            json.key("creator").object(|json| {
                json.key("name").text("Warmwire");
                json.key("version").text(env!("CARGO_PKG_VERSION"));
            });
            json.key("entries").array(|json| {
                records.iter().for_each(|record| entries(json, record, secrets));
                json.line();
            });
            if left_out > 0 {
                json.key("comment").text(format!("{left_out} transfers were left out"));
            }
        });
    });
    json.into_string() + "\n"
}

/// Writes the entries of a transfer: earlier ones are redirects or logins.
fn entries(json: &mut Writer, record: &Record, secrets: Secrets) {
    let Some((last, before)) = record.exchanges.split_last() else {
        let pair = Pair { secrets, ..Pair::default() };
        return entry(json, record, &pair, &record.url, record.date, &times(record));
    };
    let start = record.exchanges[0].sent;
    let mut url = record.url.clone();
    let mut earlier = Vec::new();
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
        earlier.push((exchange, url.clone(), date, times));
    }
    for (exchange, url, date, times) in earlier.iter().rev() {
        entry(json, record, &Pair::of(exchange, secrets), url, *date, times);
    }
    entry(json, record, &Pair::of(last, secrets), &record.url, record.date, &times(record));
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

    /// Writes the fields, each with what `shown` leaves of its value.
    fn write(&self, json: &mut Writer, shown: impl Fn(&str, &str) -> String) {
        pairs(json, self.fields.iter().map(|(name, value)| (name.as_str(), shown(name, value))));
    }
}

/// A request and its reply.
#[derive(Default)]
struct Pair {
    secrets: Secrets,
    asked: Head,
    body: Vec<u8>,
    body_length: usize,
    answered: Head,
    stream: Option<u32>,
    cache: Option<&'static str>,
}

impl Pair {
    fn of(exchange: &Exchange, secrets: Secrets) -> Pair {
        Pair {
            secrets,
            asked: Head::of(&exchange.request),
            body: exchange.body.clone(),
            body_length: exchange.body_length,
            answered: Head::of(&exchange.reply),
            stream: exchange.stream,
            cache: exchange.cache,
        }
    }
}

/// Writes an entry. Facts about the transfer belong to its last request.
fn entry(json: &mut Writer, record: &Record, pair: &Pair, url: &str, date: SystemTime, times: &Times) {
    let last = url == record.url;
    json.line();
    json.object(|json| {
        json.key("startedDateTime").text(iso(date));
        json.key("time").number(Millis(times.total()));
        json.key("request").object(|json| request(json, &record.method, pair, url));
        json.key("response").object(|json| response(json, record, pair, last));
        json.key("cache").object(|_| {});
        json.key("timings").object(|json| timings(json, times));
        if record.connection >= 0 {
            json.key("serverIPAddress").text(&record.address);
            json.key("connection").text(record.connection.to_string());
        }
        if let Some(cache) = pair.cache {
            json.key("_cache").text(cache);
        }
        if let Some(stream) = pair.stream {
            json.key("_stream").number(stream);
        }
        json.key("_exitCode").number(record.code);
        json.key("_error").text(&record.error);
    });
}

/// Writes the request, with the requested method if none was sent.
fn request(json: &mut Writer, method: &str, pair: &Pair, url: &str) {
    let head = &pair.asked;
    let method = if head.words.is_empty() { method } else { head.word(0) };
    let url = &pair.secrets.url(url);
    let cookies = head.all("cookie").flat_map(|line| line.split("; "));
    let cookies = cookies.filter_map(|cookie| cookie.split_once('='));
    let cookies = cookies.map(|(name, value)| (name, pair.secrets.cookie(value)));
    json.key("method").text(method);
    json.key("url").text(url);
    json.key("httpVersion").text(head.word(2));
    pairs(json.key("cookies"), cookies);
    head.write(json.key("headers"), |name, value| pair.secrets.sent(name, value));
    query(json.key("queryString"), url);
    json.key("headersSize").number(head.size());
    json.key("bodySize").number(if head.length == 0 { -1 } else { pair.body_length as i64 });
    if pair.body_length > 0 {
        json.key("postData").object(|json| posted(json, pair));
    }
}

/// Writes a posted body, if it was kept. The format has only text: for binary or truncated bodies, the size
/// is given.
fn posted(json: &mut Writer, pair: &Pair) {
    let kind = pair.asked.field("content-type").unwrap_or_default();
    json.key("mimeType").text(kind);
    if pair.body.is_empty() {
        return;
    }
    let mut text = Cow::Borrowed(std::str::from_utf8(&pair.body).unwrap_or_default());
    if kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
        text = pair.secrets.form(&text).into();
    }
    json.key("text").text(text.as_bytes());
}

fn response(json: &mut Writer, record: &Record, pair: &Pair, last: bool) {
    let (head, secrets) = (&pair.answered, pair.secrets);
    let status: i64 = head.word(1).parse().unwrap_or(if last { record.status } else { 0 });
    let mime_type = head.field("content-type").unwrap_or(if last { &record.mime_type } else { "" });
    let (download, delivered) = if last { (record.download, record.delivered) } else { (0, 0) };
    json.key("status").number(status);
    json.key("statusText").text(head.word(2));
    json.key("httpVersion").text(head.word(0));
    json.key("cookies").array(|json| head.all("set-cookie").for_each(|line| cookie(json, line, secrets)));
    head.write(json.key("headers"), |name, value| secrets.received(name, value));
    json.key("content").object(|json| {
        json.key("size").number(delivered);
        json.key("mimeType").text(mime_type);
        if delivered > download {
            json.key("compression").number(delivered - download);
        }
    });
    json.key("redirectURL").text(secrets.url(head.field("location").unwrap_or_default()));
    json.key("headersSize").number(head.size());
    json.key("bodySize").number(if status == 0 { -1 } else { download });
}

/// Writes a Set-Cookie field with the attributes that the format knows; nothing if it names no cookie.
fn cookie(json: &mut Writer, line: &str, secrets: Secrets) {
    let mut parts = line.split(';').map(str::trim);
    let Some((name, value)) = parts.next().and_then(|first| first.split_once('=')) else { return };
    json.object(|json| {
        json.key("name").text(name);
        json.key("value").text(secrets.cookie(value));
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match name.to_ascii_lowercase().as_str() {
                "path" => json.key("path").text(value),
                "domain" => json.key("domain").text(value),
                "httponly" => json.key("httpOnly").boolean(true),
                "secure" => json.key("secure").boolean(true),
                "expires" => {
                    if let Some(at) = parse_date(value.as_bytes()) {
                        json.key("expires").text(expiry(at));
                    }
                }
                _ => {}
            }
        }
    });
}

fn expiry(seconds: i64) -> String {
    let length = Duration::from_secs(seconds.clamp(0, LATEST_S) as u64);
    iso(SystemTime::UNIX_EPOCH + length)
}

/// Writes times; -1 means that the step did not happen.
fn timings(json: &mut Writer, times: &Times) {
    let phases =
        [("blocked", times.blocked), ("dns", times.dns), ("connect", times.connect), ("ssl", times.ssl)];
    for (name, length) in phases {
        match length {
            Some(length) => json.key(name).number(Millis(length)),
            None => json.key(name).number(-1),
        }
    }
    json.key("send").number(0);
    json.key("wait").number(Millis(times.wait));
    json.key("receive").number(Millis(times.receive));
}

/// Writes an array of objects of a name and a value each.
fn pairs<'p>(json: &mut Writer, pairs: impl Iterator<Item = (&'p str, impl AsRef<[u8]>)>) {
    json.array(|json| {
        for (name, value) in pairs {
            json.object(|json| {
                json.key("name").text(name);
                json.key("value").text(value);
            });
        }
    });
}

fn query(json: &mut Writer, url: &str) {
    let text = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or_default());
    let words = text.split('&').filter(|word| !word.is_empty());
    pairs(json, words.map(|word| word.split_once('=').unwrap_or((word, ""))));
}

/// Returns a time by RFC 3339, with milliseconds.
pub fn iso(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = Civil::from_seconds(since.as_secs() as i64);
    let (year, month, day) = (at.year, at.month, at.day);
    format!("{year}-{month:02}-{day:02}T{}.{:03}Z", at.clock(), since.subsec_millis())
}

/// A length of time in milliseconds.
struct Millis(Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0.as_secs_f64() * 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    #[test]
    fn an_entry_for_each_exchange() {
        let text = har(&[record()], Secrets::Omitted, 0);
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
    fn secrets_are_kept_on_request() {
        let text = har(&[record()], Secrets::Kept, 3);
        for piece in [
            "\"cookies\":[{\"name\":\"k\",\"value\":\"v\",\"path\":\"/\"}]",
            "\"cookies\":[{\"name\":\"k\",\"value\":\"v\"},{\"name\":\"l\",\"value\":\"w\"}]",
            "{\"name\":\"Cookie\",\"value\":\"k=v; l=w\"}",
            "],\"comment\":\"3 transfers were left out\"}",
        ] {
            assert!(text.contains(piece), "{piece}: {text}");
        }
        assert!(!text.contains("redacted"), "{text}");
    }

    #[test]
    fn a_transfer_without_a_request() {
        let failed = Record { exchanges: Vec::new(), code: 7, status: 0, connection: -1, ..record() };
        let text = har(&[failed], Secrets::Omitted, 0);
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
        let expected = "{\"name\":\"a\",\"value\":\"(redacted)\",\"path\":\"/x\",\"domain\":\"d\",\
                        \"httpOnly\":true,\
                        \"secure\":true,\"expires\":\"1994-11-06T08:49:37.000Z\"}";
        let written = |line: &str| {
            let mut json = Writer::default();
            cookie(&mut json, line, Secrets::Omitted);
            json.into_string()
        };
        assert_eq!(written(line), expected);
        let endless = written("a=b; expires=Fri, 31 Dec 99999 23:59:59 GMT");
        assert!(endless.starts_with("{\"name\":\"a\""), "{endless}");
        assert_eq!(written("nothing"), "");
    }
}
