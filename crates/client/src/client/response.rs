//! A reply: its head, and its body piece by piece.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use engine::info::TransferInfo;
use futures_core::Stream;
use tables::Code;

use super::call::{Piece, Running};
use super::error::{Error, Reached};

/// Times, sizes and addresses of a transfer; times count from its beginning.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The name had an address.
    pub name_lookup: Duration,
    /// There was a connection.
    pub connect: Duration,
    /// TLS stood on it; zero without.
    pub tls: Duration,
    /// The first byte of the reply came.
    pub first_byte: Duration,
    /// All of it.
    pub total: Duration,
    /// Bytes of body received, as they came.
    pub downloaded: u64,
    /// Bytes of body sent.
    pub uploaded: u64,
    /// Redirects that were followed.
    pub redirects: u64,
    /// Connections that were made for it: none where a kept one served.
    pub connects: u64,
    /// The peer.
    pub remote: Option<SocketAddr>,
    /// This side's end.
    pub local: Option<SocketAddr>,
}

impl Metrics {
    pub(super) fn of(info: &TransferInfo) -> Metrics {
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        Metrics {
            name_lookup: info.name_lookup.into(),
            connect: info.connect.into(),
            tls: info.app_connect.into(),
            first_byte: info.start_transfer.into(),
            total: info.total.into(),
            downloaded: count(info.downloaded),
            uploaded: count(info.uploaded),
            redirects: count(info.redirect_count),
            connects: count(info.connects),
            remote: info.ends.remote,
            local: info.ends.local,
        }
    }
}

/// The fields of a head, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, Vec<u8>)>);

impl Fields {
    /// The lines of a head, each `name: value`. What is no field is left out; a folded line is part of the one before (RFC 9112, 5.2).
    fn parse(lines: &[u8]) -> Fields {
        let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
        for line in lines.split(|byte| *byte == b'\n') {
            if let (true, Some((_, value))) =
                (line.starts_with(b" ") || line.starts_with(b"\t"), fields.last_mut())
            {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
                continue;
            }
            let colon = line.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0);
            if let Some(colon) = colon {
                let name = String::from_utf8_lossy(&line[..colon]).into_owned();
                fields.push((name, line[colon + 1..].trim_ascii().to_vec()));
            }
        }
        Fields(fields)
    }

    /// The first value under a name, whose case is of no account, where it is text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_all(name).find_map(|value| std::str::from_utf8(value).ok())
    }

    /// All values under a name.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self.0.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_slice())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The version of HTTP that a server answered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// HTTP/1.0, or none at all: another protocol.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

/// The last head of a transfer, and what else is known when it has come.
pub(super) struct Head {
    status: u16,
    version: Version,
    fields: Fields,
    url: String,
    ends: (Option<SocketAddr>, Option<SocketAddr>),
    length: Option<u64>,
}

impl Head {
    /// Of all lines received so far: interim replies and redirects come before the last head.
    pub fn of(lines: &[u8], info: &TransferInfo) -> Head {
        let starts = |at: &usize| lines[*at..].starts_with(b"HTTP/") && (*at == 0 || lines[at - 1] == b'\n');
        let begins = (0..lines.len()).rev().find(starts).unwrap_or(0);
        let version = match info.http_version {
            2 => Version::Http11,
            3 => Version::Http2,
            30 => Version::Http3,
            _ => Version::Http10,
        };
        Head {
            status: u16::try_from(info.response_code).unwrap_or(0),
            version,
            fields: Fields::parse(&lines[begins..]),
            url: url_of(info),
            ends: (info.ends.remote, info.ends.local),
            length: u64::try_from(info.announced.max(info.download_total)).ok(),
        }
    }
}

/// The URL that a transfer last asked for.
pub(super) fn url_of(info: &TransferInfo) -> String {
    info.effective_url.as_ref().map(|url| String::from_utf8_lossy(url).into_owned()).unwrap_or_default()
}

/// A reply. Its body comes as it is asked for: by [`chunk`](Self::chunk), as a [`Stream`], or all at once by [`bytes`](Self::bytes).
/// Whoever does not ask holds the sender up, and dropping the response breaks the transfer off.
pub struct Response {
    head: Head,
    /// Until the body has ended.
    running: Option<Running>,
    metrics: Option<Metrics>,
    trailers: Fields,
}

impl Response {
    pub(super) fn new(head: Head, running: Running) -> Response {
        Response { head, running: Some(running), metrics: None, trailers: Fields::default() }
    }

    /// The status: HTTP's, or the last reply code of another protocol; 0 where there is none.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Whether the status is one of success: HTTP's 200 to 299, FTP's likewise, and none.
    pub fn is_success(&self) -> bool {
        matches!(self.head.status, 0 | 100..=299)
    }

    /// The version of HTTP.
    pub fn version(&self) -> Version {
        self.head.version
    }

    /// The fields of the last head.
    pub fn headers(&self) -> &Fields {
        &self.head.fields
    }

    /// The first value under a name, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.fields.get(name)
    }

    /// The URL that was asked for last, after redirects.
    pub fn url(&self) -> &str {
        &self.head.url
    }

    /// How many bytes of body were announced.
    pub fn content_length(&self) -> Option<u64> {
        self.head.length
    }

    /// Who has answered.
    pub fn remote_addr(&self) -> Option<SocketAddr> {
        self.head.ends.0
    }

    /// This side's end of the connection.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.head.ends.1
    }

    /// The reply, unless its status is 400 or above.
    pub fn error_for_status(self) -> Result<Response, Error> {
        match self.head.status {
            status @ 400.. => {
                let message = format!("The requested URL returned error: {status}");
                Err(Error::of(Code::HttpReturnedError, message).at(&*self.head.url, Reached::Answered))
            }
            _ => Ok(self),
        }
    }

    /// The next piece of the body; `None` is its end. What comes after an error is the end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Error> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    /// The whole body, or what is left of it.
    pub async fn bytes(mut self) -> Result<Vec<u8>, Error> {
        let Some(mut all) = self.chunk().await? else { return Ok(Vec::new()) };
        while let Some(piece) = self.chunk().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// The whole body as text; what is not UTF-8 is replaced.
    pub async fn text(self) -> Result<String, Error> {
        let bytes = self.bytes().await?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    /// The whole body as JSON.
    #[cfg(feature = "json")]
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, Error> {
        let url = self.head.url.clone();
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(|e| {
            let message = format!("the body is not the JSON asked for: {e}");
            let error = Error::new(super::error::ErrorKind::Decode, Code::BadContentEncoding, message);
            error.at(url, Reached::Answered).because(e)
        })
    }

    /// Times and sizes, once the body has ended.
    pub fn metrics(&self) -> Option<&Metrics> {
        self.metrics.as_ref()
    }

    /// The fields that followed the body, once it has ended.
    pub fn trailers(&self) -> &Fields {
        &self.trailers
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, Error>>> {
        let Some(running) = &mut self.running else { return Poll::Ready(None) };
        let told = match running.poll_body(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(Piece::Body(bytes))) => return Poll::Ready(Some(Ok(bytes))),
            Poll::Ready(Ok(Piece::End(metrics, trailers))) => {
                self.metrics = Some(metrics);
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
