//! Event streams: the format text/event-stream of server-sent events (HTML standard, section 9.2.6).

/// Longest line, and longest data of an event.
const LIMIT: usize = 1 << 20;

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamEvent {
    /// Its type; `message` if the server names none.
    pub kind: String,
    /// Its data, without the last line end.
    pub data: String,
    /// The ID of the last event that had one.
    pub id: String,
}

/// The error of a server that sends a line or an event without end.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// Reads an event stream piece by piece.
#[derive(Debug, Default)]
pub struct EventStream {
    line: Vec<u8>,
    /// The last octet was a CR: a following LF belongs to it.
    after_cr: bool,
    /// Whether the first line has been read.
    begun: bool,
    kind: String,
    data: String,
    id: String,
    retry_ms: Option<u64>,
}

impl EventStream {
    /// Reads a piece of the stream, and passes each event that is complete to `take`.
    pub fn read(&mut self, piece: &[u8], mut take: impl FnMut(StreamEvent)) -> Result<(), TooLong> {
        for byte in piece {
            let after_cr = std::mem::replace(&mut self.after_cr, *byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\r' | b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    self.take_line(&line, &mut take)?;
                }
                _ if self.line.len() >= LIMIT => return Err(TooLong),
                byte => self.line.push(*byte),
            }
        }
        Ok(())
    }

    /// Begins a new stream after a connection has ended. The ID and the pause stay.
    pub fn restart(&mut self) {
        let (id, retry_ms) = (std::mem::take(&mut self.id), self.retry_ms);
        *self = EventStream { id, retry_ms, ..EventStream::default() };
    }

    /// Returns the ID of the last event, which Last-Event-ID names at the next connection.
    pub fn last_id(&self) -> &str {
        &self.id
    }

    /// Returns the pause before the next connection that the server has asked for, in milliseconds.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    fn take_line(&mut self, line: &[u8], take: &mut impl FnMut(StreamEvent)) -> Result<(), TooLong> {
        let text = String::from_utf8_lossy(line);
        let begun = std::mem::replace(&mut self.begun, true);
        let line = if begun { &text } else { text.strip_prefix('\u{feff}').unwrap_or(&text) };
        if line.is_empty() {
            self.end_event(take);
            return Ok(());
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.kind),
            "data" if self.data.len() + value.len() >= LIMIT => return Err(TooLong),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            "retry" if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
                self.retry_ms = value.parse().ok();
            }
            _ => {} // a comment, or a field of another version
        }
        Ok(())
    }

    fn end_event(&mut self, take: &mut impl FnMut(StreamEvent)) {
        let kind = std::mem::take(&mut self.kind);
        let mut data = std::mem::take(&mut self.data);
        if data.pop().is_none() {
            return;
        }
        let kind = if kind.is_empty() { "message".to_owned() } else { kind };
        take(StreamEvent { kind, data, id: self.id.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &mut EventStream, pieces: &[&[u8]]) -> Vec<(String, String, String)> {
        let mut events = Vec::new();
        for piece in pieces {
            stream.read(piece, |event| events.push((event.kind, event.data, event.id))).unwrap();
        }
        events
    }

    /// The examples of the HTML standard, section 9.2.6, among others.
    #[test]
    fn events_are_read_as_the_standard_says() {
        type Wanted<'a> = &'a [(&'a str, &'a str, &'a str)];
        let rows: [(&str, &str, Wanted<'_>); 9] = [
            ("three lines", "data: YHOO\ndata: +2\ndata: 10\n\n", &[("message", "YHOO\n+2\n10", "")]),
            (
                "comment, ID, empty ID",
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
                &[("message", "first event", "1"), ("message", "second event", "")],
            ),
            ("empty data", "data\n\ndata\ndata\n\ndata:", &[("message", "", ""), ("message", "\n", "")]),
            ("one blank", "data:test\n\ndata: test\n\n", &[("message", "test", ""), ("message", "test", "")]),
            ("a type", "event: add\ndata: 73857293\n\n", &[("add", "73857293", "")]),
            ("a type without data", "event: add\n\ndata: x\n\n", &[("message", "x", "")]),
            (
                "CR, CRLF",
                "data: a\r\rdata: b\r\n\r\ndata: c\n\r\n",
                &[("message", "a", ""), ("message", "b", ""), ("message", "c", "")],
            ),
            ("a byte order mark", "\u{feff}data: x\n\n", &[("message", "x", "")]),
            (
                "an ID with NUL",
                "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n",
                &[("message", "a", "1"), ("message", "b", "1")],
            ),
        ];
        for (name, text, wanted) in rows {
            let wanted: Vec<_> =
                wanted.iter().map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string())).collect();
            assert_eq!(read(&mut EventStream::default(), &[text.as_bytes()]), wanted, "{name}");
            let octets: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(read(&mut EventStream::default(), &octets), wanted, "{name}: octet by octet");
        }
    }

    #[test]
    fn a_new_connection_keeps_id_and_pause_and_drops_half_an_event() {
        let mut stream = EventStream::default();
        read(&mut stream, &[b"id: 7\nretry: 1500\ndata: a\n\nretry: soon\ndata: half"]);
        stream.restart();
        assert_eq!((stream.last_id(), stream.retry_ms()), ("7", Some(1500)));
        assert_eq!(read(&mut stream, &[b"data: b\n\n"]), [("message".into(), "b".into(), "7".into())]);
    }

    #[test]
    fn endless_lines_and_events_are_errors() {
        let mut stream = EventStream::default();
        let long = vec![b'x'; LIMIT + 1];
        assert_eq!(stream.read(&long, |_| ()), Err(TooLong));
        let mut stream = EventStream::default();
        let line = [&b"data: "[..], &[b'x'; 1000], b"\n"].concat();
        let end = (0..2000).map(|_| stream.read(&line, |_| ())).find(Result::is_err);
        assert_eq!(end, Some(Err(TooLong)));
    }
}
