//! The head of a request: its parts, and the text that is shown to an application. HTTP/1 sends that text;
//! other versions send the parts, and the text is never parsed again.

use std::ops::Range;

/// The part after the head of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestBody {
    /// Nothing.
    #[default]
    None,
    /// A body whose length is in the head, or that the exchange delimits itself.
    Plain,
    /// A body in HTTP/1's chunks, as a field of the head item.
    Chunked,
}

/// A request line and its fields.
#[derive(Debug, Default)]
pub struct RequestHead {
    text: Vec<u8>,
    scheme: &'static str,
    method: usize,
    target: Range<usize>,
    /// Positions of names and values in the text, if the head is sent as fields.
    fields: Option<Vec<(Range<usize>, Range<usize>)>>,
    /// The kind of body that follows.
    pub body: RequestBody,
    /// The protocol that a CONNECT starts on its stream (RFC 8441).
    pub protocol: Option<&'static str>,
    /// A line of the application's that is no field, in a head that is sent as fields.
    stray: bool,
}

/// Why a head cannot be sent as fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHead {
    /// Method or target has a control character or a blank.
    RequestLine,
    /// A name or a value has an octet that RFC 9113 §8.2.1 and RFC 9114 §4.2 forbid, or a line has no colon.
    Field,
}

/// Returns whether a field may be sent in HTTP/2 and HTTP/3 (RFC 9113 §8.2.1, RFC 9114 §4.2). A gateway to
/// HTTP/1 would turn a line break in a value into another field, or a request.
pub fn is_sendable(name: &[u8], value: &[u8]) -> bool {
    let token = |b: &u8| b.is_ascii_graphic() && *b != b':';
    !name.is_empty() && name.iter().all(token) && !value.iter().any(|b| matches!(b, 0 | b'\r' | b'\n'))
}

impl RequestHead {
    /// Creates a head. `write_target` writes the text between method and version ("HTTP/1.1", "HTTP/2").
    pub fn new(
        method: &[u8],
        scheme: &'static str,
        write_target: impl FnOnce(&mut Vec<u8>),
        version: &str,
    ) -> RequestHead {
        let mut text = Vec::with_capacity(512);
        text.extend_from_slice(method);
        text.push(b' ');
        write_target(&mut text);
        let target = method.len() + 1..text.len();
        for part in [" ", version, "\r\n"] {
            text.extend_from_slice(part.as_bytes());
        }
        let fields = matches!(version, "HTTP/2" | "HTTP/3").then(|| Vec::with_capacity(16));
        let body = RequestBody::None;
        RequestHead { text, scheme, method: method.len(), target, fields, body, protocol: None, stray: false }
    }

    /// Adds a field.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        self.line(&[name.as_bytes(), b": ", value]);
    }

    /// Adds a field as a complete line, in pieces, without its line ending. It is shown and sent unchanged.
    pub fn line(&mut self, pieces: &[&[u8]]) {
        let start = self.text.len();
        for piece in pieces {
            self.text.extend_from_slice(piece);
        }
        self.note_field(start..self.text.len());
        self.text.extend_from_slice(b"\r\n");
    }

    /// Adds a line written by an application (CURLOPT_HTTPHEADER). It may contain several lines, each ended
    /// by CR LF, which HTTP/1 sends unchanged; otherwise each becomes a field.
    pub fn application_line(&mut self, line: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(line);
        let mut from = start;
        let end = start + line.trim_ascii_end().len();
        while self.fields.is_some() && from < end {
            let rest = &self.text[from..end];
            let length = rest.windows(2).position(|pair| pair == b"\r\n").unwrap_or(rest.len());
            self.note_field(from..from + length);
            from += length + 2;
        }
        self.text.extend_from_slice(b"\r\n");
    }

    /// Records the position of name and value in a line of the text, if heads are sent as fields.
    fn note_field(&mut self, place: Range<usize>) {
        let Some(fields) = &mut self.fields else { return };
        let line = &self.text[place.clone()];
        let Some(colon) = line.iter().position(|b| *b == b':') else {
            self.stray = true;
            return;
        };
        let value = line[colon + 1..].trim_ascii();
        let before = line[colon + 1..].len() - line[colon + 1..].trim_ascii_start().len();
        let from = place.start + colon + 1 + before;
        fields.push((place.start..place.start + colon, from..from + value.len()));
    }

    /// Checks a head that is sent as fields; one that is sent as text is the application's own matter.
    pub fn check(&self) -> Result<(), BadHead> {
        if self.fields.is_none() {
            return Ok(());
        }
        let unfit = |b: &u8| b.is_ascii_control() || *b == b' ';
        if self.method().iter().any(unfit) || self.target().iter().any(unfit) {
            return Err(BadHead::RequestLine);
        }
        match !self.stray && self.fields().all(|(name, value)| is_sendable(name, value)) {
            true => Ok(()),
            false => Err(BadHead::Field),
        }
    }

    /// Ends the head. `body` item what follows.
    pub fn end(&mut self, body: RequestBody) {
        self.text.extend_from_slice(b"\r\n");
        self.body = body;
        // It may be kept for the next request: ten thousand handles keep only what they need.
        self.text.shrink_to_fit();
        self.fields.iter_mut().for_each(Vec::shrink_to_fit);
    }

    /// Returns the bytes of HTTP/1, which are also shown to an application.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The method.
    pub fn method(&self) -> &[u8] {
        &self.text[..self.method]
    }

    /// Returns the scheme of the request's URL.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// A path with its query, "*", or the whole URL for a proxy.
    pub fn target(&self) -> &[u8] {
        &self.text[self.target.clone()]
    }

    /// Returns names and values of all fields, in the order of sending; none if the text is sent. Host is the
    /// authority. Fields of the application are unmodified; [`RequestHead::check`] item whether they can be
    /// sent.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let places = self.fields.iter().flatten();
        places.map(|(name, value)| (&self.text[name.clone()], &self.text[value.clone()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_text_are_one() {
        let mut head = RequestHead::new(b"PUT", "https", |out| out.extend_from_slice(b"/a?b"), "HTTP/2");
        head.field("Host", b"h");
        head.line(&[b"X-Own:  a: b "]);
        head.line(&[b"Empty:"]);
        head.end(RequestBody::Plain);
        let text = b"PUT /a?b HTTP/2\r\nHost: h\r\nX-Own:  a: b \r\nEmpty:\r\n\r\n";
        assert_eq!(head.text(), text);
        assert_eq!((head.method(), head.scheme(), head.target()), (&b"PUT"[..], "https", &b"/a?b"[..]));
        let fields: Vec<(&[u8], &[u8])> = head.fields().collect();
        assert_eq!(fields, [(&b"Host"[..], &b"h"[..]), (b"X-Own", b"a: b"), (b"Empty", b"")]);
    }
    #[test]
    fn lines_that_are_no_fields_are_found() {
        let head = |version: &str, method: &str, target: &str, lines: &[&str]| {
            let target = |out: &mut Vec<u8>| out.extend_from_slice(target.as_bytes());
            let mut head = RequestHead::new(method.as_bytes(), "https", target, version);
            lines.iter().for_each(|line| head.application_line(line.as_bytes()));
            head
        };
        let fields = |lines: &[&str]| {
            let head = head("HTTP/2", "GET", "/", lines);
            let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
            head.check().map(|()| head.fields().map(|(n, v)| text(n) + "=" + &text(v)).collect::<Vec<_>>())
        };
        assert_eq!(fields(&["A: b\r\nC: d"]).unwrap(), ["A=b", "C=d"]);
        assert_eq!(fields(&["A: b\r\n", "C: d\n", "E: \x01\u{e4}"]).unwrap(), ["A=b", "C=d", "E=\x01\u{e4}"]);
        for bad in [
            "A: b\nC: d",
            "A: b\rC: d",
            "A: b\0c",
            "A: b\r\n folded",
            "A: b\r\nnone",
            "A: b\r\n:path: /",
            "A : b",
            "A\nB: c",
            "\u{e4}: b",
        ] {
            assert_eq!(fields(&[bad]), Err(BadHead::Field), "{bad:?}");
            assert_eq!(head("HTTP/3", "GET", "/", &[bad]).check(), Err(BadHead::Field), "{bad:?}");
            assert_eq!(head("HTTP/1.1", "GET", "/", &[bad]).check(), Ok(()), "{bad:?}");
        }
        for (method, target) in
            [("G\nT", "/"), ("G T", "/"), ("GET", "/a\r\nb"), ("GET", "/a b"), ("GET", "/\0")]
        {
            assert_eq!(head("HTTP/2", method, target, &[]).check(), Err(BadHead::RequestLine), "{method:?}");
        }
    }
}
