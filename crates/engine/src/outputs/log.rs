//! WARMWIRE_LOG: one JSON object a line for each decision, request and transfer, written as it happens. The
//! members are those of `--why=json`; secrets in URLs are omitted.
//!
//! The file is opened for each line, so that it may be moved away, and that a program which closes all
//! descriptors does no harm. Lines of several processes and threads do not mix, because each is one write at
//! the file's end.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use runtime::{LockFreeOnce, environment};
use tables::Code;
use tables::environment::{LOG, LOG_LEVELS};
use wire::json::Writer;

use super::destination::Destination;
use crate::archive::{iso, redact};
use crate::sys::with_mode;
use crate::why::{Event, Outcome, Request, json};

/// The levels, in the order of [`LOG_LEVELS`]: each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Transfers that failed.
    Error,
    /// All requests and transfers.
    Info,
    /// Each decision.
    Debug,
}

fn settings() -> &'static (Level, Destination) {
    static SETTINGS: LockFreeOnce<(Level, Destination)> = LockFreeOnce::new();
    SETTINGS.get(|| {
        let value = environment::value(&LOG);
        value.and_then(parse).unwrap_or((Level::Error, Destination::Nowhere))
    })
}

/// Splits the value into the level and the file.
fn parse(value: OsString) -> Option<(Level, Destination)> {
    let levels = [Level::Error, Level::Info, Level::Debug];
    LOG_LEVELS.iter().zip(levels).find_map(|(word, level)| {
        let rest = value.as_encoded_bytes().strip_prefix(word.as_bytes())?.strip_prefix(b":")?;
        Some((level, Destination::named(from_bytes(rest))))
    })
}

/// Returns the rest of a value of the environment, behind a prefix of ASCII.
fn from_bytes(rest: &[u8]) -> OsString {
    crate::sys::path(rest).as_os_str().to_owned()
}

/// Returns whether the environment requests a log.
pub fn is_wanted() -> bool {
    settings().1 != Destination::Nowhere
}

/// Logs a decision of a transfer, made that long after its start.
#[cold]
pub fn event(transfer: i64, at: Duration, event: &Event) {
    if settings().0 < Level::Debug {
        return;
    }
    line(transfer, |json| {
        json::time(json, "at_ms", at);
        match event {
            Event::Redirected { status, to } => {
                json::event(json, &Event::Redirected { status: *status, to: redact::url(to) });
            }
            Event::Strict { url } => json::event(json, &Event::Strict { url: redact::url(url) }),
            event => json::event(json, event),
        }
    });
}

/// Logs a request that has ended.
#[cold]
pub fn request(transfer: i64, request: &Request) {
    if settings().0 >= Level::Info {
        line(transfer, |json| {
            json.key("event").text("request");
            let url = redact::url(&request.url);
            json::facts(json, &Request { url, ..request.clone() });
        });
    }
}

/// Logs a transfer that has ended. `url` is that of its last request.
#[cold]
pub fn end(transfer: i64, url: &str, outcome: &Outcome) {
    if settings().0 >= Level::Info || outcome.code != Code::Ok {
        line(transfer, |json| {
            json.key("event").text(if outcome.code == Code::Ok { "end" } else { "failure" });
            json.key("url").text(redact::url(url));
            json::outcome(json, outcome);
        });
    }
}

/// Writes a line.
fn line(transfer: i64, members: impl FnOnce(&mut Writer)) {
    static FAILED: AtomicBool = AtomicBool::new(false);
    let mut json = Writer::default();
    json.object(|json| {
        json.key("time").text(iso(SystemTime::now()));
        json.key("pid").number(std::process::id());
        json.key("transfer").number(transfer);
        members(json);
    });
    let text = json.into_string() + "\n";
    // One failure is reported, not each.
    settings().1.write(&LOG, "log", &text, |path, text| match append(path, text) {
        Err(_) if FAILED.swap(true, Ordering::Relaxed) => Ok(()),
        result => result,
    });
}

fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    with_mode(OpenOptions::new().append(true).create(true), 0o600).open(path)?.write_all(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_value_is_a_level_and_a_file() {
        let file = std::env::temp_dir().join("no such:file");
        for (word, level) in LOG_LEVELS.iter().zip([Level::Error, Level::Info, Level::Debug]) {
            let value = [OsStr::new(word), OsStr::new(":"), file.as_os_str()].into_iter().collect();
            assert_eq!(parse(value), Some((level, Destination::File(file.clone()))));
        }
        assert_eq!(parse("info:stderr".into()), Some((Level::Info, Destination::StandardError)));
        assert_eq!(parse("infos:x".into()), None);
    }
}
