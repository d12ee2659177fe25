//! `--write-out`: text in which `%{name}` is replaced by a fact about the transfer.
//!
//! The variables are rows in `variables.rs`. They are read from an [`Outcome`], so that they can be tested
//! without a transfer. See curl(1) under `--write-out`.

mod clock;
mod json;
mod outcome;
mod variables;

pub use clock::Moment;
pub use outcome::Outcome;

use crate::bytes::Bytes;
use std::time::SystemTime;

/// The destinations of the text; the format can switch between them.
pub trait Streams {
    fn write(&mut self, bytes: &[u8]);
    /// Writes text from others: escape sequences are not passed to a terminal.
    fn show(&mut self, bytes: &[u8]) {
        self.write(bytes);
    }
    fn to_stdout(&mut self);
    fn to_stderr(&mut self);
    fn to_file(&mut self, name: &[u8], append: bool);
    /// Writes a remark on standard error, whatever the current destination.
    fn remark(&mut self, line: &str);
}

/// Returns the names of all variables, each with a sentence for the manual.
pub fn described_variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    let facts = variables::ALL.iter().chain(variables::EXTRA);
    facts.map(|variable| (variable.name, variable.about)).chain(variables::NAMES.iter().copied())
}

/// Returns whether the format has the variable of a transfer's reasons.
pub fn asks_why(format: &[u8]) -> bool {
    [variables::WHY, variables::REQUESTS].iter().any(|name| has(format, name))
}

/// Returns whether the format shows the server's certificates. They are kept with a connection on request
/// alone, and one with them serves no transfer without.
pub fn asks_for_certificates(format: &[u8]) -> bool {
    ["certs", "num_certs", "json"].iter().any(|name| has(format, name))
}

/// Returns whether the format has that variable.
fn has(format: &[u8], variable: &str) -> bool {
    let name = format!("%{{{variable}}}");
    format.windows(name.len()).any(|part| part == name.as_bytes())
}

/// Writes the format out.
pub fn write_out(format: &[u8], outcome: &dyn Outcome, streams: &mut dyn Streams) {
    let mut rest = format;
    while let Some((first, tail)) = rest.split_first() {
        rest = match first {
            b'%' => match percent(tail, outcome, streams) {
                Some(after) => after,
                None => return,
            },
            b'\\' => escape(tail, streams),
            _ => {
                let end = rest.iter().position(|byte| matches!(byte, b'%' | b'\\')).unwrap_or(rest.len());
                streams.write(&rest[..end]);
                &rest[end..]
            }
        };
    }
}

fn escape<'f>(tail: &'f [u8], streams: &mut dyn Streams) -> &'f [u8] {
    let Some((letter, after)) = tail.split_first() else {
        streams.write(b"\\");
        return tail;
    };
    match escaped(*letter) {
        Some(byte) => streams.write(&[byte]),
        None => streams.write(&[b'\\', *letter]),
    }
    after
}

/// Processes the text after a percent sign; `None` if nothing more is to be written.
fn percent<'f>(tail: &'f [u8], outcome: &dyn Outcome, streams: &mut dyn Streams) -> Option<&'f [u8]> {
    for (keyword, handler) in KEYWORDS {
        let Some(inside) = tail.strip_prefix(keyword.as_bytes()) else { continue };
        let Some((argument, after)) = braced(inside) else {
            streams.write(b"%");
            streams.write(keyword.as_bytes());
            return Some(inside);
        };
        return handler(&argument, outcome, streams).then_some(after);
    }
    let Some((letter, after)) = tail.split_first() else {
        streams.write(b"%");
        return Some(tail);
    };
    match letter {
        b'%' => streams.write(b"%"),
        other => streams.write(&[b'%', *other]),
    }
    Some(after)
}

type Handler = fn(&[u8], &dyn Outcome, &mut dyn Streams) -> bool;

const KEYWORDS: &[(&str, Handler)] = &[
    ("{", variable),
    ("header{", |argument, outcome, streams| {
        header(argument, outcome, streams);
        true
    }),
    ("output{", |argument, _, streams| {
        match argument.strip_prefix(b">>") {
            Some(name) => streams.to_file(name, true),
            None => streams.to_file(argument, false),
        }
        true
    }),
    ("time{", |argument, _, streams| {
        streams.write(&clock::format(argument, SystemTime::now()));
        true
    }),
];

/// Text up to the closing brace, in which `\}` is a brace.
fn braced(text: &[u8]) -> Option<(Bytes, &[u8])> {
    let mut inside = Bytes::new();
    let mut at = 0;
    loop {
        match *text.get(at)? {
            b'}' => return Some((inside, &text[at + 1..])),
            b'\\' if text.get(at + 1) == Some(&b'}') => {
                inside.push(b'}');
                at += 1;
            }
            byte => inside.push(byte),
        }
        at += 1;
    }
}

/// `%{name}`; false when the rest is for errors only and there was none.
fn variable(name: &[u8], outcome: &dyn Outcome, streams: &mut dyn Streams) -> bool {
    match name {
        b"onerror" => return outcome.exit_code() != 0,
        b"stdout" => streams.to_stdout(),
        b"stderr" => streams.to_stderr(),
        b"json" => streams.write(&json::all(outcome)),
        b"header_json" => streams.write(&json::headers(outcome)),
        name => match variables::find(name) {
            Some(found) => streams.show(&found.plain(outcome)),
            None => {
                let name = String::from_utf8_lossy(name);
                streams.remark(&format!("curl: unknown --write-out variable: '{name}'"));
            }
        },
    }
    true
}

/// `%header{name}`: the first value in the last reply; `%header{name:all:separator}`: those in all replies.
/// Nothing else may follow a colon.
fn header(argument: &[u8], outcome: &dyn Outcome, streams: &mut dyn Streams) {
    let end = argument.iter().position(|byte| *byte == b':').unwrap_or(argument.len());
    let (name, rest) = argument.split_at(end);
    let separator = rest.strip_prefix(b":all:");
    if !rest.is_empty() && separator.is_none() {
        return;
    }
    let all = separator.is_some();
    let headers = outcome.headers();
    let last = headers.iter().map(|(.., request)| *request).max().unwrap_or(0);
    let mut found = headers
        .iter()
        .filter(|(own, _, request)| own.eq_ignore_ascii_case(name) && (all || *request == last))
        .map(|(_, value, _)| value.as_slice());
    if let Some(separator) = separator {
        let values: Vec<&[u8]> = found.collect();
        streams.show(&values.join(unescaped(separator).as_slice()));
    } else if let Some(value) = found.next() {
        streams.show(value);
    }
}

/// A text with its escapes undone: the letters that the format itself knows.
fn unescaped(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let known = tail.first().filter(|_| *first == b'\\').and_then(|letter| escaped(*letter));
        out.push(known.unwrap_or(*first));
        rest = if known.is_some() { &tail[1..] } else { tail };
    }
    out
}

/// Returns the character for a backslash escape.
fn escaped(letter: u8) -> Option<u8> {
    match letter {
        b'r' => Some(b'\r'),
        b'n' => Some(b'\n'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
