//! Reads a request as it is on the wire. Deliberately lenient: a test examines what was really sent.

use std::io::{self, Read};

use super::server::Wire;

/// No test sends a longer head.
const HEAD_LIMIT: usize = 4 << 20;
/// No test sends a longer body.
const BODY_LIMIT: usize = 1 << 30;

/// A request, with everything that a test may want to see of it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    /// The request target as sent.
    pub target: String,
    /// The head's bytes, up to and including the empty line.
    pub head: Vec<u8>,
    /// Name and value of each field, in order, as sent.
    pub fields: Vec<(String, String)>,
    /// The body without its chunked coding.
    pub body: Vec<u8>,
    /// How many reads it took to get head and body: 1 when the client sent both in one write.
    pub reads: usize,
    /// Number of the connection, from 0 in the order of acceptance.
    pub connection: usize,
    /// Number of the request on its connection, from 0.
    pub serial: usize,
}

impl Request {
    /// The value of the first field of this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// All values of this name.
    pub fn all(&self, name: &str) -> Vec<&str> {
        let named = self.fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }

    /// Returns the target's path: without scheme and host (in a request to a proxy), without query.
    pub fn path(&self) -> &str {
        let target = match self.target.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => &self.target,
        };
        target.split('?').next().unwrap_or(target)
    }

    /// The value of one query parameter, not decoded.
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| match pair.split_once('=') {
            Some((key, value)) if key == name => Some(value),
            _ => None,
        })
    }

    /// Whether the client will wait for 100 before it sends the body.
    pub fn expects_continue(&self) -> bool {
        self.field("Expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    }

    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Reads one head; None when the peer closed between requests.
    pub(super) fn read_head(wire: &mut Wire) -> io::Result<Option<Request>> {
        let mut reads = usize::from(!wire.pending.is_empty());
        let length = loop {
            if let Some(length) = head_length(&wire.pending) {
                break length;
            }
            if wire.pending.len() > HEAD_LIMIT {
                return Err(io::Error::other("head too long"));
            }
            reads += 1;
            if !wire.fill()? {
                return if wire.pending.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        };
        let head: Vec<u8> = wire.pending.drain(..length).collect();
        Ok(Some(parse_head(head, reads)))
    }

    /// Reads the body that the head announced.
    pub(super) fn read_body(&mut self, wire: &mut Wire) -> io::Result<()> {
        if self.field("Transfer-Encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            return self.read_chunked(wire);
        }
        let length = self.field("Content-Length").and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        self.body = self.take(wire, length)?;
        Ok(())
    }

    fn read_chunked(&mut self, wire: &mut Wire) -> io::Result<()> {
        loop {
            let line = self.take_line(wire)?;
            let size = line.split(';').next().unwrap_or("").trim();
            let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
            if size == 0 {
                while !self.take_line(wire)?.is_empty() {}
                return Ok(());
            }
            let chunk = self.take(wire, size)?;
            self.body.extend(chunk);
            self.take_line(wire)?;
        }
    }

    fn take(&mut self, wire: &mut Wire, length: usize) -> io::Result<Vec<u8>> {
        if length > BODY_LIMIT || self.body.len() > BODY_LIMIT {
            return Err(io::Error::other("body too long"));
        }
        while wire.pending.len() < length {
            self.read_more(wire)?;
        }
        Ok(wire.pending.drain(..length).collect())
    }

    fn take_line(&mut self, wire: &mut Wire) -> io::Result<String> {
        loop {
            if let Some(end) = wire.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = wire.pending.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_string());
            }
            self.read_more(wire)?;
        }
    }

    fn read_more(&mut self, wire: &mut Wire) -> io::Result<()> {
        self.reads += 1;
        if wire.fill()? { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

impl Wire {
    /// Reads once; returns false at the end of the stream.
    fn fill(&mut self) -> io::Result<bool> {
        let mut scratch = [0; 65_536];
        let length = self.stream.read(&mut scratch)?;
        self.pending.extend_from_slice(&scratch[..length]);
        Ok(length > 0)
    }
}

fn head_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|start| start + 4)
}

fn parse_head(head: Vec<u8>, reads: usize) -> Request {
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or("").split(' ');
    let method = first.next().unwrap_or("").to_string();
    let target = first.next().unwrap_or("").to_string();
    let fields = lines.take_while(|line| !line.is_empty()).map(|line| match line.split_once(':') {
        Some((name, value)) => (name.to_string(), value.trim().to_string()),
        None => (line.to_string(), String::new()),
    });
    Request { method, target, fields: fields.collect(), head, reads, ..Request::default() }
}
