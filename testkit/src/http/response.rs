//! A handler's reply, and how it is sent, including faults.

use std::io::{self, Write};
use std::time::Duration;

use super::server::Wire;

/// How the body is delimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    #[default]
    Length,
    /// Chunks of this size.
    Chunked(usize),
    /// Until the connection ends.
    Close,
}

/// The state of the connection after the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum After {
    #[default]
    Keep,
    /// close_notify where there is TLS, then FIN.
    Finish,
    /// Only FIN.
    Cut,
    Reset,
}

#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub framing: Framing,
    pub after: After,
    /// Wait before the head.
    pub delay: Duration,
    /// Send the body in pieces of this size with a pause after each.
    pub drip: Option<(usize, Duration)>,
    /// Send only this many bytes of the whole message (head included), then do as `after` says.
    pub cut_at: Option<usize>,
    /// Bytes sent as they are instead of everything above.
    pub raw: Option<Vec<u8>>,
}

impl Default for Response {
    fn default() -> Self {
        Response {
            status: 200,
            fields: Vec::new(),
            body: Vec::new(),
            framing: Framing::Length,
            after: After::Keep,
            delay: Duration::ZERO,
            drip: None,
            cut_at: None,
            raw: None,
        }
    }
}

impl Response {
    pub fn ok(body: impl Into<Vec<u8>>) -> Response {
        Response { body: body.into(), ..Response::default() }
    }

    pub fn status(status: u16) -> Response {
        Response { status, body: format!("{status}\n").into_bytes(), ..Response::default() }
    }

    pub fn raw(bytes: impl Into<Vec<u8>>, after: After) -> Response {
        Response { raw: Some(bytes.into()), after, ..Response::default() }
    }

    pub fn with(mut self, name: &str, value: impl Into<String>) -> Response {
        self.fields.push((name.to_string(), value.into()));
        self
    }

    /// The message as it would be sent in full.
    pub fn message(&self, head_only: bool) -> Vec<u8> {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let mut message = self.head();
        if !head_only && self.has_body() {
            message.extend(self.framed_body());
        }
        message
    }

    pub(super) fn send(&self, wire: &mut Wire, head_only: bool) -> io::Result<()> {
        if !self.delay.is_zero() && !wire.signal.sleep(self.delay) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut message = self.message(head_only);
        message.truncate(self.cut_at.unwrap_or(usize::MAX));
        match self.drip {
            None => wire.stream.write_all(&message)?,
            Some((piece, pause)) => drip(wire, &message, self.head().len(), piece, pause)?,
        }
        wire.stream.flush()
    }

    fn has_body(&self) -> bool {
        !matches!(self.status, 100..=199 | 204 | 304)
    }

    fn head(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.fields {
            head += &format!("{name}: {value}\r\n");
        }
        match self.framing {
            Framing::Length if self.has_body() => head += &format!("Content-Length: {}\r\n", self.body.len()),
            Framing::Length => {}
            Framing::Chunked(_) => head += "Transfer-Encoding: chunked\r\n",
            Framing::Close => head += "Connection: close\r\n",
        }
        head += "\r\n";
        head.into_bytes()
    }

    fn framed_body(&self) -> Vec<u8> {
        let Framing::Chunked(size) = self.framing else { return self.body.clone() };
        let mut framed = Vec::with_capacity(self.body.len() + 64);
        for chunk in self.body.chunks(size.max(1)) {
            framed.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            framed.extend_from_slice(chunk);
            framed.extend_from_slice(b"\r\n");
        }
        framed.extend_from_slice(b"0\r\n\r\n");
        framed
    }
}

fn drip(wire: &mut Wire, message: &[u8], head: usize, piece: usize, pause: Duration) -> io::Result<()> {
    let (head, body) = message.split_at(head.min(message.len()));
    wire.stream.write_all(head)?;
    for bytes in body.chunks(piece.max(1)) {
        wire.stream.write_all(bytes)?;
        wire.stream.flush()?;
        if !wire.signal.sleep(pause) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    Ok(())
}

fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        407 => "Proxy Authentication Required",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Whatever",
    }
}
