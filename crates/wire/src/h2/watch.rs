//! Describes frames to an observer, in the format of curl's trace (`--trace-config http/2`).

use super::error::ErrorCode;
use super::frame::{HEADER, Header, PREFACE, flag, kind, number, whole_number};

/// So much of a payload is looked at: numbers, and the reason of a goodbye.
const SEEN: usize = 8 + 127;

/// A direction of a connection, seen from its first byte on, or from the first of a frame.
#[derive(Debug, Default)]
pub struct Watch {
    /// The part of a frame's header and payload that has passed and is needed.
    seen: Vec<u8>,
    /// Payload bytes that remain to be skipped.
    rest: usize,
}

impl Watch {
    /// Observes passing bytes. Reports stream and description of each frame once enough of it has passed.
    pub fn observe(&mut self, mut bytes: &[u8], mut report: impl FnMut(u32, String)) {
        if self.seen.is_empty() && self.rest == 0 {
            bytes = bytes.strip_prefix(PREFACE).unwrap_or(bytes);
        }
        while !bytes.is_empty() {
            if self.rest > 0 {
                let n = self.rest.min(bytes.len());
                (self.rest, bytes) = (self.rest - n, &bytes[n..]);
                continue;
            }
            let wanted = self.header().map_or(HEADER, |header| HEADER + header.length.min(SEEN));
            let n = bytes.len().min(wanted - self.seen.len());
            self.seen.extend_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            let Some(header) = self.header() else { continue };
            let payload = header.length.min(SEEN);
            if self.seen.len() == HEADER + payload {
                report(header.stream, words(&header, &self.seen[HEADER..]));
                self.rest = header.length - payload;
                self.seen.clear();
            }
        }
    }

    fn header(&self) -> Option<Header> {
        self.seen.first_chunk().map(Header::parse)
    }
}

fn words(header: &Header, payload: &[u8]) -> String {
    let Header { length, kind, flags, .. } = *header;
    let has = |flag| u8::from(header.has(flag));
    let at = |at: usize| if payload.len() >= at + 4 { whole_number(payload, at) } else { 0 };
    let what = match kind {
        kind::DATA => {
            let padding = payload.first().filter(|_| header.has(flag::PADDED));
            let padding = padding.map_or(0, |padding| u32::from(*padding) + 1);
            format!("DATA, len={length}, eos={}, padlen={padding}", has(flag::END_STREAM))
        }
        kind::HEADERS => {
            format!("HEADERS, len={length}, hend={}, eos={}", has(flag::END_HEADERS), has(flag::END_STREAM))
        }
        kind::PRIORITY => format!("PRIORITY, len={length}, flags={flags}"),
        kind::RST_STREAM => format!("RST_STREAM, len={length}, flags={flags}, error={}", at(0)),
        kind::SETTINGS if header.has(flag::ACK) => "SETTINGS, ack=1".to_owned(),
        kind::SETTINGS => format!("SETTINGS, len={length}"),
        kind::PUSH_PROMISE => format!("PUSH_PROMISE, len={length}, hend={}", has(flag::END_HEADERS)),
        kind::PING => format!("PING, len={length}, ack={}", has(flag::ACK)),
        kind::GOAWAY if payload.len() >= 8 => {
            let reason = String::from_utf8_lossy(&payload[8..]);
            let code = ErrorCode(at(4)).0;
            format!("GOAWAY, error={code}, reason='{reason}', last_stream={}", number(payload, 0))
        }
        kind::WINDOW_UPDATE => format!("WINDOW_UPDATE, incr={}", at(0) & 0x7fff_ffff),
        _ => format!("{kind}, len={length}, flags={flags}"),
    };
    format!("FRAME[{what}]")
}

#[cfg(test)]
mod tests {
    use super::super::frame::{write, write_goaway, write_reset, write_window_update};
    use super::*;

    #[test]
    fn frames_are_reported_for_any_division_of_the_bytes() {
        let mut bytes = PREFACE.to_vec();
        write(&mut bytes, kind::SETTINGS, 0, 0, &[0; 18]);
        write(&mut bytes, kind::SETTINGS, flag::ACK, 0, &[]);
        write(&mut bytes, kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &[0x82]);
        write(&mut bytes, kind::DATA, flag::PADDED, 1, &[[3; 1].as_slice(), &[0; 999]].concat());
        write(&mut bytes, kind::DATA, flag::END_STREAM, 1, &[]);
        write_reset(&mut bytes, 3, ErrorCode::CANCEL);
        write_window_update(&mut bytes, 0, 1_048_510_465);
        write_goaway(&mut bytes, 7, ErrorCode::NO_ERROR, b"bye");
        write(&mut bytes, 200, 9, 0, &[1]);
        let wanted = [
            "0 FRAME[SETTINGS, len=18]",
            "0 FRAME[SETTINGS, ack=1]",
            "1 FRAME[HEADERS, len=1, hend=1, eos=1]",
            "1 FRAME[DATA, len=1000, eos=0, padlen=4]",
            "1 FRAME[DATA, len=0, eos=1, padlen=0]",
            "3 FRAME[RST_STREAM, len=4, flags=0, error=8]",
            "0 FRAME[WINDOW_UPDATE, incr=1048510465]",
            "0 FRAME[GOAWAY, error=0, reason='bye', last_stream=7]",
            "0 FRAME[200, len=1, flags=9]",
        ];
        for piece in [24, 25, 100, 10_000] {
            let (mut watch, mut reported) = (Watch::default(), Vec::new());
            bytes.chunks(piece).for_each(|piece| {
                watch.observe(piece, |stream, words| reported.push(format!("{stream} {words}")));
            });
            assert_eq!(reported, wanted, "in pieces of {piece}");
        }
    }
}
