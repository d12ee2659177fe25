//! The events of a watch, and those of a mirror, as lines of JSON.

use crate::raw::archive::iso;
use crate::raw::json::Writer;
use std::time::{Duration, SystemTime};
use warmwire::watch::{Event, EventKind, Stamp, Status};

/// Returns the line of an event.
pub fn of_event(event: &Event, url: &str, saved: Option<&str>) -> Vec<u8> {
    line(|json| {
        begin(json, event.kind, event.time, url);
        if !event.latency.is_zero() {
            json.key("latency_ms").number(ms(event.latency));
        }
        marks(json, &event.stamp, saved);
        if let Some(message) = &event.message {
            json.key("type").text(&message.kind);
            json.key("data").text(&message.data);
            json.key("id").text(&message.id);
        }
        if let Some(failure) = &event.failure {
            ending(json, failure.code.id(), &failure.message);
        }
    })
}

/// Returns the line about a file of a mirror.
pub fn of_file(kind: EventKind, url: &str, stamp: &Stamp, saved: Option<&str>) -> Vec<u8> {
    line(|json| {
        begin(json, kind, SystemTime::now(), url);
        marks(json, stamp, saved);
    })
}

/// Returns the line about a failure of a mirror.
pub fn of_failure(url: &str, code: i32, reason: &str) -> Vec<u8> {
    line(|json| {
        begin(json, EventKind::Failed, SystemTime::now(), url);
        ending(json, code, reason);
    })
}

fn begin(json: &mut Writer, kind: EventKind, time: SystemTime, url: &str) {
    json.key("event").text(kind.name());
    json.key("time").text(iso(time));
    json.key("url").text(url);
}

fn marks(json: &mut Writer, stamp: &Stamp, saved: Option<&str>) {
    if let Some(modified) = stamp.modified {
        let since = Duration::from_secs(modified.unsigned_abs());
        json.key("modified").text(iso(SystemTime::UNIX_EPOCH + since));
    }
    if let Some(size) = stamp.size {
        json.key("size").number(size);
    }
    if let Some(etag) = &stamp.etag {
        json.key("etag").text(String::from_utf8_lossy(etag).as_bytes());
    }
    if let Some(file) = saved {
        json.key("file").text(file);
    }
}

fn ending(json: &mut Writer, code: i32, reason: &str) {
    json.key("code").number(code);
    json.key("error").text(reason);
}

/// Returns the line about a URL at the end of the watch.
pub fn of_end(url: &str, status: &Status<'_>) -> Vec<u8> {
    line(|json| {
        json.key("event").text("end");
        json.key("time").text(iso(SystemTime::now()));
        json.key("url").text(url);
        json.key("in_time").number(status.windows.met);
        json.key("missed").number(status.windows.missed);
        for (name, latency) in [("p50_ms", status.p50), ("p99_ms", status.p99)] {
            if let Some(latency) = latency {
                json.key(name).number(ms(latency));
            }
        }
        if let Some(failure) = status.failure {
            ending(json, failure.code.id(), &failure.message);
        }
    })
}

fn line(members: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut json = Writer::default();
    json.object(members);
    let mut line = json.into_string().into_bytes();
    line.push(b'\n');
    line
}

/// Milliseconds with three decimal places.
fn ms(time: Duration) -> String {
    let micros = time.as_micros();
    format!("{}.{:03}", micros / 1000, micros % 1000)
}
