//! The head of a request: its parts, and the text in which an application is shown them. HTTP/1 sends that text as it
//! stands; where a head is sent otherwise, it is sent from the parts, and nobody takes the text apart again.

use std::ops::Range;

/// What follows the head of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestBody {
    /// Nothing.
    #[default]
    None,
    /// A body that the head has told the length of, or that the exchange delimits by itself.
    Plain,
    /// A body in HTTP/1's chunks, as a field of the head says.
    Chunked,
}

/// A request line and its fields.
#[derive(Debug, Default)]
pub struct RequestHead {
    text: Vec<u8>,
    scheme: &'static str,
    method: usize,
    target: Range<usize>,
    /// Where names and values stand, in a head that is sent as fields.
    fields: Option<Vec<(Range<usize>, Range<usize>)>>,
    /// What follows it.
    pub body: RequestBody,
    /// What a CONNECT begins on its stream (RFC 8441).
    pub protocol: Option<&'static str>,
}

impl RequestHead {
    /// Begins one. `write_target` writes what stands between method and version ("HTTP/1.1", "HTTP/2").
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
        RequestHead { text, scheme, method: method.len(), target, fields, body, protocol: None }
    }

    /// Adds a field.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        self.line(&[name.as_bytes(), b": ", value]);
    }

    /// Adds a field as the line that somebody else wrote for it, in pieces, without its ending: shown and sent as it is.
    pub fn line(&mut self, pieces: &[&[u8]]) {
        let start = self.text.len();
        for piece in pieces {
            self.text.extend_from_slice(piece);
        }
        let line = &self.text[start..];
        if let Some(fields) = &mut self.fields
            && let Some(colon) = line.iter().position(|b| *b == b':')
        {
            let value = line[colon + 1..].trim_ascii();
            let before = line[colon + 1..].len() - line[colon + 1..].trim_ascii_start().len();
            let from = start + colon + 1 + before;
            fields.push((start..start + colon, from..from + value.len()));
        }
        self.text.extend_from_slice(b"\r\n");
    }

    /// Ends it with what follows it.
    pub fn end(&mut self, body: RequestBody) {
        self.text.extend_from_slice(b"\r\n");
        self.body = body;
        // It may be kept for the next request: ten thousand handles keep what they need of it.
        self.text.shrink_to_fit();
        self.fields.iter_mut().for_each(Vec::shrink_to_fit);
    }

    /// HTTP/1's bytes; those an application is shown.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The method.
    pub fn method(&self) -> &[u8] {
        &self.text[..self.method]
    }

    /// The scheme of what is asked for.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// A path with its query, "*", or the whole URL for a proxy.
    pub fn target(&self) -> &[u8] {
        &self.text[self.target.clone()]
    }

    /// Names and values of all fields, in the order in which they are sent; none where the text is what is sent. Host is the
    /// authority. What an application wrote in a line of its own, line breaks in a value, too, stands here as it is.
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
        head.line(&[b"no field"]);
        head.end(RequestBody::Plain);
        let text = b"PUT /a?b HTTP/2\r\nHost: h\r\nX-Own:  a: b \r\nEmpty:\r\nno field\r\n\r\n";
        assert_eq!(head.text(), text);
        assert_eq!((head.method(), head.scheme(), head.target()), (&b"PUT"[..], "https", &b"/a?b"[..]));
        let fields: Vec<(&[u8], &[u8])> = head.fields().collect();
        assert_eq!(fields, [(&b"Host"[..], &b"h"[..]), (b"X-Own", b"a: b"), (b"Empty", b"")]);
    }
}
