//! Responses whose body is read by a thread that waits.

use std::io::{self, Read};

use bytes::{Buf, Bytes};

use super::wait::wait;
use crate::client::response::names::*;

/// A response. The body is read through [`Read`], piece by piece with [`chunk`](Self::chunk), or all at once
/// by [`bytes`](Self::bytes), [`text`](Self::text) or `json`. An unread body makes the sender wait. Dropping
/// the response aborts the transfer.
///
/// ```no_run
/// let mut response = warmwire::blocking::get("https://example.com/")?.error_for_status()?;
/// let mut file = std::fs::File::create("page.html")?;
/// std::io::copy(&mut response, &mut file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Response {
    inner: crate::Response,
}

crate::client::response::response_facts!(Response, inner.parts);

impl Response {
    pub(super) fn new(inner: crate::Response) -> Response {
        Response { inner }
    }

    /// Returns the next piece of the body; `None` is the end. After an error, the next call returns the end.
    pub fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        wait(self.inner.host(), self.inner.chunk())
    }

    /// Returns the rest of the body.
    pub fn bytes(self) -> Result<Bytes, Error> {
        wait(self.inner.host(), self.inner.bytes())
    }

    /// Returns the rest of the body as text, in the charset of Content-Type with the feature `charset`, and
    /// otherwise in UTF-8. Invalid octets are replaced.
    pub fn text(self) -> Result<String, Error> {
        wait(self.inner.host(), self.inner.text())
    }

    /// Returns the rest of the body as text, in the charset of Content-Type or else in this one. Invalid
    /// octets are replaced.
    #[cfg(feature = "charset")]
    pub fn text_with_charset(self, default: &str) -> Result<String, Error> {
        wait(self.inner.host(), self.inner.text_with_charset(default))
    }

    /// Parses the rest of the body as JSON.
    #[cfg(feature = "json")]
    pub fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, Error> {
        wait(self.inner.host(), self.inner.json())
    }

    /// Writes the rest of the body, and returns its length.
    pub fn copy_to<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> Result<u64, Error> {
        wait(self.inner.host(), self.inner.copy_to(writer))
    }
}

impl Read for Response {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let mut piece = wait(self.inner.host(), self.inner.chunk()).map_err(into_io)?.unwrap_or_default();
        let count = piece.len().min(buffer.len());
        piece.copy_to_slice(&mut buffer[..count]);
        self.inner.unread = piece;
        Ok(count)
    }
}

fn into_io(error: Error) -> io::Error {
    let kind = if error.is_timeout() { io::ErrorKind::TimedOut } else { io::ErrorKind::Other };
    io::Error::new(kind, error)
}

/// The body is read by waiting from now on.
impl From<crate::Response> for Response {
    fn from(inner: crate::Response) -> Response {
        Response { inner }
    }
}

/// The body of a response is sent on as it arrives.
impl From<Response> for super::Body {
    fn from(response: Response) -> super::Body {
        response.inner.into()
    }
}
