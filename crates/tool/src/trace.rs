//! The lines of `-v`, `--trace` and `--trace-ascii`.

use crate::bytes::Bytes;
use crate::writeout::Moment;
use std::time::SystemTime;

/// The form of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceKind {
    #[default]
    None,
    Hex,
    Ascii,
    Plain,
}

/// The subject of a trace line (curl_infotype).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    HeaderIn,
    HeaderOut,
    DataIn,
    DataOut,
    TlsIn,
    TlsOut,
}

/// The layers with trace lines: the name, and its group in `--trace-config`.
const LAYERS: [(&str, &str); 21] = [
    ("auth", ""),
    ("dns", "network"),
    ("ftp", "protocol"),
    ("happy-eyeballs", "network"),
    ("h2-proxy", "proxy"),
    ("h3-proxy", "proxy"),
    ("haproxy", "proxy"),
    ("http-proxy", "proxy"),
    ("http/1", "protocol"),
    ("http/2", "protocol"),
    ("imap", "protocol"),
    ("multi", "network"),
    ("pop3", "protocol"),
    ("read", ""),
    ("rtsp", "protocol"),
    ("smtp", "protocol"),
    ("socks", "proxy"),
    ("ssl", "network"),
    ("tcp", "network"),
    ("timer", "network"),
    ("write", ""),
];

/// The layers whose trace lines are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers(u32);

impl Layers {
    /// Sets a layer, a group or `all`. Other names are ignored.
    pub fn set(&mut self, name: &str, on: bool) {
        for (at, (layer, group)) in LAYERS.iter().enumerate() {
            if name == "all" || name == *layer || name == *group {
                self.0 = if on { self.0 | 1 << at } else { self.0 & !(1 << at) };
            }
        }
    }

    pub fn includes(self, layer: &str) -> bool {
        self.0 != 0
            && LAYERS.iter().position(|(name, _)| *name == layer).is_some_and(|at| self.0 & 1 << at != 0)
    }
}

/// Makes the text of a trace; remembers the position in the line.
#[derive(Debug, Default)]
pub struct Tracer {
    kind: TraceKind,
    times: bool,
    ids: bool,
    /// The last thing written in plain form did not end its line.
    open_line: bool,
    /// Data was mentioned already; further pieces are not until something else comes.
    data_mentioned: bool,
}

impl Tracer {
    pub fn new(kind: TraceKind, times: bool, ids: bool) -> Tracer {
        Tracer { kind, times, ids, ..Tracer::default() }
    }

    /// The text for one event. `shows_data` is false when the data itself goes to the same terminal.
    pub fn text(&mut self, kind: Kind, data: &[u8], ids: (i64, i64), shows_data: bool) -> Bytes {
        let mut prefix = String::new();
        if self.times {
            prefix = clock(SystemTime::now());
        }
        if self.ids {
            prefix.push_str(&numbers(ids));
        }
        match self.kind {
            TraceKind::None => Bytes::new(),
            TraceKind::Plain => self.plain(&prefix, kind, data, shows_data),
            TraceKind::Hex => dump(&prefix, kind, data, false),
            TraceKind::Ascii => dump(&prefix, kind, data, true),
        }
    }

    fn plain(&mut self, prefix: &str, kind: Kind, data: &[u8], shows_data: bool) -> Bytes {
        let mut out = Bytes::new();
        let mark = match kind {
            Kind::Text => '*',
            Kind::HeaderIn => '<',
            Kind::HeaderOut => '>',
            Kind::DataIn | Kind::TlsIn => '{',
            Kind::DataOut | Kind::TlsOut => '}',
        };
        if matches!(kind, Kind::Text | Kind::HeaderIn | Kind::HeaderOut) {
            for line in data.split_inclusive(|byte| *byte == b'\n') {
                if !self.open_line {
                    out.extend(format!("{prefix}{mark} ").bytes());
                }
                out.extend(line);
                self.open_line = !line.ends_with(b"\n");
            }
            self.data_mentioned = false;
        } else if !self.data_mentioned && shows_data {
            if !self.open_line {
                out.extend(format!("{prefix}{mark} ").bytes());
            }
            out.extend(format!("[{} bytes data]\n", data.len()).bytes());
            self.open_line = false;
            self.data_mentioned = true;
        }
        out
    }
}

/// `HH:MM:SS.micros `.
fn clock(time: SystemTime) -> String {
    let at = Moment::at(time);
    format!("{:02}:{:02}:{:02}.{:06} ", at.hour, at.minute, at.second, at.micros)
}

/// `[transfer-connection] `, as far as they are known.
fn numbers((transfer, connection): (i64, i64)) -> String {
    match (transfer, connection) {
        (..0, _) => "[x-x] ".to_string(),
        (_, ..0) => format!("[{transfer}-x] "),
        _ => format!("[{transfer}-{connection}] "),
    }
}

const HEX_WIDTH: usize = 16;
const ASCII_WIDTH: usize = 64;

fn dump(prefix: &str, kind: Kind, data: &[u8], ascii: bool) -> Bytes {
    let title = match kind {
        Kind::Text => {
            let mut out = format!("{prefix}== Info: ").into_bytes();
            out.extend(data);
            return out;
        }
        Kind::HeaderIn => "<= Recv header",
        Kind::HeaderOut => "=> Send header",
        Kind::DataIn => "<= Recv data",
        Kind::DataOut => "=> Send data",
        Kind::TlsIn => "<= Recv SSL data",
        Kind::TlsOut => "=> Send SSL data",
    };
    let size = data.len();
    let mut out = format!("{prefix}{title}, {size} bytes (0x{size:x})\n").into_bytes();
    let mut at = 0;
    while at < size {
        out.extend(format!("{at:04x}: ").bytes());
        if ascii {
            at += ascii_line(&data[at..], &mut out);
        } else {
            let row = &data[at..size.min(at + HEX_WIDTH)];
            for place in 0..HEX_WIDTH {
                let cell = row.get(place).map_or("   ".to_string(), |byte| format!("{byte:02x} "));
                out.extend(cell.bytes());
            }
            out.extend(row.iter().map(|byte| printable(*byte)));
            at += row.len();
        }
        out.push(b'\n');
    }
    out
}

/// Writes a line up to CRLF or the width; returns the number of bytes that it shows.
fn ascii_line(data: &[u8], out: &mut Bytes) -> usize {
    for (at, byte) in data.iter().take(ASCII_WIDTH).enumerate() {
        if data[at..].starts_with(b"\r\n") {
            return at + 2;
        }
        out.push(printable(*byte));
    }
    let shown = data.len().min(ASCII_WIDTH);
    // A line end right after a full line does not make an empty one.
    if data[shown..].starts_with(b"\r\n") { shown + 2 } else { shown }
}

fn printable(byte: u8) -> u8 {
    if (0x20..0x7f).contains(&byte) { byte } else { b'.' }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(kind: TraceKind, events: &[(Kind, &str)]) -> String {
        let mut tracer = Tracer { kind, ..Tracer::default() };
        let pieces = events.iter().map(|(event, data)| tracer.text(*event, data.as_bytes(), (0, 0), true));
        String::from_utf8(pieces.collect::<Vec<_>>().concat()).unwrap()
    }

    #[test]
    fn plain() {
        let text = traced(
            TraceKind::Plain,
            &[
                (Kind::Text, "Connected\n"),
                (Kind::HeaderOut, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
                (Kind::DataIn, "abc"),
                (Kind::DataIn, "abc"),
                (Kind::HeaderIn, "HTTP/1.1 200\r\n"),
            ],
        );
        let expected =
            "* Connected\n> GET / HTTP/1.1\r\n> Host: x\r\n> \r\n{ [3 bytes data]\n< HTTP/1.1 200\r\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn hex() {
        let text = traced(TraceKind::Hex, &[(Kind::DataIn, "abc\n"), (Kind::Text, "note\n")]);
        let expected =
            format!("<= Recv data, 4 bytes (0x4)\n0000: 61 62 63 0a {}abc.\n== Info: note\n", " ".repeat(36));
        assert_eq!(text, expected);
    }

    #[test]
    fn ascii() {
        let text = traced(TraceKind::Ascii, &[(Kind::HeaderOut, "GET /\r\nHost: x\r\n\r\n")]);
        assert_eq!(text, "=> Send header, 18 bytes (0x12)\n0000: GET /\n0007: Host: x\n0010: \n");
        let long = "x".repeat(64) + "\r\ny";
        let text = traced(TraceKind::Ascii, &[(Kind::DataOut, &long)]);
        assert!(text.ends_with("\n0042: y\n"), "{text}");
    }

    #[test]
    fn layers() {
        let mut layers = Layers::default();
        layers.set("network", true);
        layers.set("-tcp", false);
        layers.set("dns", false);
        assert!(
            layers.includes("tcp")
                && layers.includes("ssl")
                && !layers.includes("dns")
                && !layers.includes("ftp")
        );
        layers.set("all", false);
        assert_eq!(layers, Layers::default());
    }

    #[test]
    fn ids() {
        assert_eq!(numbers((3, 1)), "[3-1] ");
        assert_eq!(numbers((3, -1)), "[3-x] ");
        assert_eq!(numbers((-1, -1)), "[x-x] ");
    }
}
