//! Responses: a head, and a body that arrives piece by piece.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tables::Code;

use super::error::{Error, RequestPhase};
use super::head::{Fields, Head, Version};
use super::metrics::Metrics;
use super::running::{Piece, Running};
use crate::Why;

/// A response. The body is read by [`chunk`](Self::chunk), as a [`Stream`], or all at once by
/// [`bytes`](Self::bytes). An unread body makes the sender wait. Dropping the response aborts the transfer.
pub struct Response {
    head: Head,
    /// The transfer, until its body has ended.
    running: Option<Running>,
    metrics: Option<Metrics>,
    why: Option<Box<Why>>,
    trailers: Fields,
}

impl Response {
    pub(super) fn new(head: Head, running: Running) -> Response {
        Response { head, running: Some(running), metrics: None, why: None, trailers: Fields::default() }
    }

    /// Returns the HTTP status, or the last reply code of another protocol; 0 if there is none.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Returns whether the status is a success: 200 to 299 in HTTP, likewise in FTP, or no status at all.
    pub fn is_success(&self) -> bool {
        matches!(self.head.status, 0 | 100..=299)
    }

    /// Returns the HTTP version.
    pub fn version(&self) -> Version {
        self.head.version
    }

    /// Returns the fields of the last head.
    pub fn headers(&self) -> &Fields {
        &self.head.fields
    }

    /// Returns the first value of a field, if it is valid UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.fields.get(name)
    }

    /// Returns the last URL requested, after redirects.
    pub fn url(&self) -> &str {
        &self.head.url
    }

    /// Returns the announced size of the body in bytes.
    pub fn content_length(&self) -> Option<u64> {
        self.head.length
    }

    /// Returns the address of the peer.
    pub fn remote_addr(&self) -> Option<SocketAddr> {
        self.head.ends.0
    }

    /// Returns the local address of the connection.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.head.ends.1
    }

    /// Returns an error if the status is 400 or above, otherwise the response.
    pub fn error_for_status(self) -> Result<Response, Error> {
        match self.head.status {
            status @ 400.. => {
                let message = format!("The requested URL returned error: {status}");
                Err(Error::of(Code::HttpReturnedError, message).at(&*self.head.url, RequestPhase::Answered))
            }
            _ => Ok(self),
        }
    }

    /// Returns the next piece of the body; `None` is the end. After an error, the next call returns the end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Error> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    /// Returns the rest of the body.
    pub async fn bytes(mut self) -> Result<Vec<u8>, Error> {
        let Some(mut all) = self.chunk().await? else { return Ok(Vec::new()) };
        while let Some(piece) = self.chunk().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// Returns the rest of the body as text. Invalid UTF-8 is replaced.
    pub async fn text(self) -> Result<String, Error> {
        let bytes = self.bytes().await?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    /// Parses the rest of the body as JSON.
    #[cfg(feature = "json")]
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, Error> {
        let url = self.head.url.clone();
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(|e| {
            let message = format!("the body is not the JSON asked for: {e}");
            let error = Error::new(super::error::ErrorKind::Decode, Code::BadContentEncoding, message);
            error.at(url, RequestPhase::Answered).because(e)
        })
    }

    /// Returns times and sizes, once the body has ended.
    pub fn metrics(&self) -> Option<&Metrics> {
        self.metrics.as_ref()
    }

    /// Returns the reasons of the transfer, once the body has ended, if
    /// [`RequestBuilder::explain`](crate::RequestBuilder::explain) was set.
    pub fn why(&self) -> Option<&Why> {
        self.why.as_deref()
    }

    /// Returns the trailer fields, once the body has ended.
    pub fn trailers(&self) -> &Fields {
        &self.trailers
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, Error>>> {
        let Some(running) = &mut self.running else { return Poll::Ready(None) };
        let told = match running.poll_body(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(Piece::Body(bytes))) => return Poll::Ready(Some(Ok(bytes))),
            Poll::Ready(Ok(Piece::End(metrics, trailers, why))) => {
                (self.metrics, self.why) = (Some(metrics), why);
                self.trailers = Fields::parse(&trailers);
                None
            }
            Poll::Ready(Err(error)) => Some(Err(error)),
        };
        self.running = None;
        Poll::Ready(told)
    }
}

impl Stream for Response {
    type Item = Result<Vec<u8>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_chunk(cx)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.head.status)
            .field("version", &self.head.version)
            .field("url", &self.head.url)
            .field("headers", &self.head.fields)
            .finish_non_exhaustive()
    }
}
