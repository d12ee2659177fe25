//! Responses: a head, and a body that arrives piece by piece.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::HeaderMap;
use tables::Code;

use super::body::Body;
use super::error::{Error, RequestPhase};
use super::head::{Head, parse_fields};
use super::host::Host;
use super::options::WINDOW;
use super::running::{Piece, Running};
use super::timings::Timings;
use crate::Why;

/// A response. The body is read by [`chunk`](Self::chunk), as a [`bytes_stream`](Self::bytes_stream), or all
/// at once by [`bytes`](Self::bytes), [`text`](Self::text) or `json`. An unread body makes the sender wait.
/// Dropping the response aborts the transfer.
///
/// ```no_run
/// # async fn save(client: warmwire::Client, mut file: std::fs::File) -> Result<(), warmwire::Error> {
/// let response = client.get("https://example.com/").send().await?;
/// let mut response = response.error_for_status()?;
/// println!("{} {:?}", response.status(), response.headers().get("content-type"));
/// response.copy_to(&mut file).await?;
/// println!("{:?}", response.timings().map(|timings| timings.total));
/// # Ok(())
/// # }
/// ```
pub struct Response {
    pub(crate) parts: Parts,
    /// The transfer, until its body has ended.
    running: Option<Running>,
    /// The part of a piece that a reader has left.
    pub(crate) unread: Bytes,
}

/// The part of a response that needs no waiting.
pub(crate) struct Parts {
    pub head: Box<Head>,
    pub timings: Option<Timings>,
    pub why: Option<Box<Why>>,
    pub trailers: HeaderMap,
}

impl Parts {
    /// Returns an error if the status is 400 or above.
    pub fn check_status(&self) -> Result<(), Error> {
        let status = self.head.status;
        if status.as_u16() < 400 {
            return Ok(());
        }
        let message = format!("The requested URL returned error: {}", status.as_u16());
        let error = Error::of(Code::HttpReturnedError, message).with_status(status);
        Err(error.at(self.head.url.clone(), RequestPhase::Answered))
    }
}

/// Defines the methods of a response that do not wait. `$parts` leads to its [`Parts`].
macro_rules! response_facts {
    ($response:ident, $($parts:ident).+) => {
        impl $response {
            /// Returns the HTTP status. A transfer by another protocol has none: it is 200 once data
            /// arrives, and [`reply_code`](Self::reply_code) is the server's own.
            pub fn status(&self) -> http::StatusCode {
                self.$($parts).+.head.status
            }

            /// Returns the last reply code of the server: HTTP's status, FTP's 226, or 0 if there is none.
            pub fn reply_code(&self) -> i64 {
                self.$($parts).+.head.reply_code
            }

            /// Returns the HTTP version; HTTP/0.9 stands for a protocol other than HTTP.
            pub fn version(&self) -> http::Version {
                self.$($parts).+.head.version
            }

            /// Returns the header fields of the last head. If the body is decoded, its Content-Encoding and
            /// Content-Length are not among them.
            pub fn headers(&self) -> &http::HeaderMap {
                self.$($parts).+.head.headers()
            }

            /// Returns the header fields, to change them.
            pub fn headers_mut(&mut self) -> &mut http::HeaderMap {
                self.$($parts).+.head.headers_mut()
            }

            /// Returns all header lines as received: interim replies and redirects come before the last
            /// head. FTP and mail servers' replies are among them.
            pub fn header_lines(&self) -> &[u8] {
                &self.$($parts).+.head.lines
            }

            /// Returns the informational replies (1xx) that came before the last head: early hints (103)
            /// and the like.
            pub fn informational(&self) -> Vec<Informational> {
                self.$($parts).+.head.informational()
            }

            /// Returns the cookies that the head sets.
            pub fn cookies(&self) -> impl Iterator<Item = Cookie<'_>> {
                self.$($parts).+.head.cookies()
            }

            /// Returns the last URL requested, after redirects.
            pub fn url(&self) -> &Url {
                &self.$($parts).+.head.url
            }

            /// Returns the size of the body in bytes, if the head announces it and the body is not decoded.
            pub fn content_length(&self) -> Option<u64> {
                self.$($parts).+.head.length
            }

            /// Returns the address of the peer.
            pub fn remote_addr(&self) -> Option<SocketAddr> {
                self.$($parts).+.head.ends.0
            }

            /// Returns the local address of the connection.
            pub fn local_addr(&self) -> Option<SocketAddr> {
                self.$($parts).+.head.ends.1
            }

            /// Returns an error if the status is 400 or above, otherwise the response.
            pub fn error_for_status(self) -> Result<Self, Error> {
                self.$($parts).+.check_status()?;
                Ok(self)
            }

            /// Returns an error if the status is 400 or above, otherwise a reference to the response.
            pub fn error_for_status_ref(&self) -> Result<&Self, Error> {
                self.$($parts).+.check_status()?;
                Ok(self)
            }

            /// Returns times and sizes, once the body has ended.
            pub fn timings(&self) -> Option<&Timings> {
                self.$($parts).+.timings.as_ref()
            }

            /// Returns the reasons of the transfer, once the body has ended, if `explain` was set for the
            /// client or the request.
            pub fn why(&self) -> Option<&Why> {
                self.$($parts).+.why.as_deref()
            }

            /// Returns the trailer fields, once the body has ended.
            pub fn trailers(&self) -> &http::HeaderMap {
                &self.$($parts).+.trailers
            }
        }

        impl fmt::Debug for $response {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let head = &self.$($parts).+.head;
                f.debug_struct("Response")
                    .field("url", &head.url)
                    .field("status", &head.status)
                    .field("version", &head.version)
                    .field("headers", head.headers())
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use response_facts;

/// The names that [`response_facts`] needs where it is used.
pub(crate) mod names {
    pub(crate) use super::super::cookie::Cookie;
    pub(crate) use super::super::error::Error;
    pub(crate) use super::super::head::Informational;
    pub(crate) use super::super::timings::Timings;
    pub(crate) use crate::{Url, Why};
    pub(crate) use std::fmt;
    pub(crate) use std::net::SocketAddr;
}

mod facts {
    use super::Response;
    use super::names::*;

    response_facts!(Response, parts);
}

impl Response {
    /// Returns the engine that a waiting thread runs; `None` if there is nothing to wait for.
    pub(crate) fn host(&self) -> Option<Arc<Host>> {
        self.running.as_ref().and_then(Running::host)
    }

    pub(super) fn new(head: Box<Head>, running: Running) -> Response {
        let parts = Parts { head, timings: None, why: None, trailers: HeaderMap::new() };
        Response { parts, running: Some(running), unread: Bytes::new() }
    }

    /// Returns the next piece of the body; `None` is the end. After an error, the next call returns the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    /// Returns the rest of the body as a stream.
    pub fn bytes_stream(self) -> impl Stream<Item = Result<Bytes, Error>> + Send + Unpin + 'static {
        Chunks(self)
    }

    /// Returns the rest of the body.
    pub async fn bytes(mut self) -> Result<Bytes, Error> {
        let is_large = self.parts.head.length.is_none_or(|length| length > WINDOW as u64);
        if let Some(running) = self.running.as_mut().filter(|_| is_large) {
            running.collect();
        }
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.chunk().await? else { return Ok(first) };
        let mut all = BytesMut::from(first);
        all.extend_from_slice(&second);
        while let Some(piece) = self.chunk().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all.freeze())
    }

    /// Returns the rest of the body as text, in the charset of Content-Type with the feature `charset`, and
    /// otherwise in UTF-8. Invalid octets are replaced.
    pub async fn text(self) -> Result<String, Error> {
        let charset = self.parts.head.charset().map(str::to_owned);
        Ok(text_of(self.bytes().await?, charset.as_deref()))
    }

    /// Returns the rest of the body as text, in the charset of Content-Type or else in this one. Invalid
    /// octets are replaced.
    #[cfg(feature = "charset")]
    pub async fn text_with_charset(self, default: &str) -> Result<String, Error> {
        let charset = self.parts.head.charset().unwrap_or(default).to_owned();
        Ok(text_of(self.bytes().await?, Some(&charset)))
    }

    /// Parses the rest of the body as JSON.
    #[cfg(feature = "json")]
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, Error> {
        let url = self.parts.head.url.clone();
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(|e| {
            let message = format!("the body is not the JSON asked for: {e}");
            let error = Error::new(super::error::ErrorKind::Decode, Code::BadContentEncoding, message);
            error.at(url, RequestPhase::Answered).because(e)
        })
    }

    /// Writes the rest of the body, and returns its length. The writer is called where the task is polled, as
    /// is fit for files and buffers.
    pub async fn copy_to<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> Result<u64, Error> {
        let mut length = 0;
        while let Some(piece) = self.chunk().await? {
            writer.write_all(&piece).map_err(|e| {
                let error = Error::of(Code::WriteError, format!("the body is not written: {e}"));
                error.at(self.parts.head.url.clone(), RequestPhase::Answered).because(e)
            })?;
            length += piece.len() as u64;
        }
        Ok(length)
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if !self.unread.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.unread))));
        }
        let Some(running) = &mut self.running else { return Poll::Ready(None) };
        let last = match running.poll_body(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(Piece::Body(bytes))) => return Poll::Ready(Some(Ok(bytes.into()))),
            Poll::Ready(Ok(Piece::End(timings, trailers, why))) => {
                (self.parts.timings, self.parts.why) = (Some(timings), why);
                self.parts.trailers = parse_fields(&trailers.into());
                None
            }
            Poll::Ready(Err(error)) => Some(Err(error)),
        };
        self.running = None;
        Poll::Ready(last)
    }
}

/// Decodes text, in UTF-8 if the charset is unknown or the feature is off.
#[cfg_attr(not(feature = "charset"), expect(unused_variables))]
fn text_of(bytes: Bytes, charset: Option<&str>) -> String {
    #[cfg(feature = "charset")]
    if let Some(encoding) = charset.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()))
        && encoding != encoding_rs::UTF_8
    {
        return encoding.decode(&bytes).0.into_owned();
    }
    match String::from_utf8(bytes.into()) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// The body of a response as a stream.
struct Chunks(Response);

impl Stream for Chunks {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_chunk(cx)
    }
}

/// The body of a response is sent on as it arrives.
impl From<Response> for Body {
    fn from(response: Response) -> Body {
        let length = response.content_length();
        let body = Body::wrap_stream(response.bytes_stream());
        match length {
            Some(length) => body.with_length(length),
            None => body,
        }
    }
}
