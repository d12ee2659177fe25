//! The body of a request.

use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

pub(crate) type Boxed = Box<dyn StdError + Send + Sync>;
type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, Boxed>> + Send>>;

/// Size of the pieces in which a reader is read.
const PIECE: usize = 64 * 1024;

/// The body of a request: bytes, a stream of them, or a reader.
///
/// Bytes can be sent again when a redirect or an authentication challenge requires it. A stream and a reader
/// cannot: the request then ends with [`Code::SendFailRewind`](crate::Code::SendFailRewind).
///
/// Pieces that lie in several places are collected to a body without copying them:
///
/// ```
/// use bytes::Bytes;
/// let pieces = [Bytes::from_static(b"head,"), Bytes::from_static(b"rows")];
/// let body: warmwire::Body = pieces.into_iter().collect();
/// assert_eq!(format!("{body:?}"), "Body(9 bytes)");
/// ```
#[derive(Default)]
pub struct Body(pub(crate) Kind);

#[derive(Default)]
pub(crate) enum Kind {
    #[default]
    Nothing,
    Bytes(Bytes),
    Pieces(Vec<Bytes>),
    Stream(Source, Option<u64>),
}

impl Body {
    /// Creates a body from a stream of pieces, whose length is unknown: HTTP/1.1 uses the chunked coding. A
    /// piece is requested when the previous one has been sent.
    pub fn wrap_stream<S, B, E>(pieces: S) -> Body
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: Into<Bytes>,
        E: Into<Boxed>,
    {
        Body(Kind::Stream(Source(Box::pin(Plain(Box::pin(pieces)))), None))
    }

    /// Creates a body from a reader of unknown length. It is read where the request is polled: use it with
    /// [`blocking`](crate::blocking), or if reading is quick.
    pub fn new(reader: impl Read + Send + 'static) -> Body {
        Body::wrap_stream(ReaderPieces(reader))
    }

    /// Creates a body from a reader of this length; see [`new`](Self::new).
    pub fn sized(reader: impl Read + Send + 'static, length: u64) -> Body {
        Body::new(reader).with_length(length)
    }

    /// Sets the length of a stream or reader, which is then sent as Content-Length.
    pub fn with_length(self, length: u64) -> Body {
        match self.0 {
            Kind::Stream(source, _) => Body(Kind::Stream(source, Some(length))),
            other => Body(other),
        }
    }

    /// Returns the bytes, unless the body is a stream, a reader or several pieces.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            Kind::Nothing => Some(&[]),
            Kind::Bytes(bytes) => Some(bytes),
            Kind::Pieces(_) | Kind::Stream(..) => None,
        }
    }

    /// Copies the body, unless it is a stream or a reader.
    pub(crate) fn try_clone(&self) -> Option<Body> {
        match &self.0 {
            Kind::Nothing => Some(Body::default()),
            Kind::Bytes(bytes) => Some(Body(Kind::Bytes(bytes.clone()))),
            Kind::Pieces(pieces) => Some(Body(Kind::Pieces(pieces.clone()))),
            Kind::Stream(..) => None,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Body {
        Body(Kind::Bytes(bytes))
    }
}

/// Without a piece there is no body.
impl FromIterator<Bytes> for Body {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Body {
        let mut pieces: Vec<Bytes> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        Body(match pieces.len() {
            0 => Kind::Nothing,
            1 => Kind::Bytes(pieces.remove(0)),
            _ => Kind::Pieces(pieces),
        })
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        Bytes::from(text).into()
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Body {
        Bytes::copy_from_slice(text.as_bytes()).into()
    }
}

impl From<&[u8]> for Body {
    fn from(bytes: &[u8]) -> Body {
        Bytes::copy_from_slice(bytes).into()
    }
}

/// The rest of the file. A regular file has a length.
impl From<File> for Body {
    fn from(mut file: File) -> Body {
        let length = file.metadata().ok().filter(|meta| meta.is_file()).map(|meta| meta.len());
        let position = file.stream_position().unwrap_or(0);
        match length {
            Some(length) => Body::sized(file, length.saturating_sub(position)),
            None => Body::new(file),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Nothing => f.write_str("Body(empty)"),
            Kind::Bytes(bytes) => write!(f, "Body({} bytes)", bytes.len()),
            Kind::Pieces(pieces) => write!(f, "Body({} bytes)", total(pieces)),
            Kind::Stream(_, Some(length)) => write!(f, "Body(stream of {length} bytes)"),
            Kind::Stream(_, None) => f.write_str("Body(stream)"),
        }
    }
}

/// Returns the length of all pieces.
pub(super) fn total(pieces: &[Bytes]) -> u64 {
    pieces.iter().map(|piece| piece.len() as u64).sum()
}

/// The stream of a request body, with the caller's types erased.
pub(crate) struct Source(Pieces);

impl Source {
    pub fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Boxed>>> {
        self.get_mut().0.as_mut().poll_next(cx)
    }
}

/// Adapts a stream of the caller's types to [`Source`].
struct Plain<S>(Pin<Box<S>>);

impl<S, B, E> Stream for Plain<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
    E: Into<Boxed>,
{
    type Item = Result<Bytes, Boxed>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.0.as_mut().poll_next(cx);
        next.map(|piece| piece.map(|piece| piece.map(Into::into).map_err(Into::into)))
    }
}

/// A reader in pieces of 64 KiB.
struct ReaderPieces<R>(R);

impl<R> Unpin for ReaderPieces<R> {}

impl<R: Read> Stream for ReaderPieces<R> {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut piece = vec![0; PIECE];
        loop {
            return Poll::Ready(match self.0.read(&mut piece) {
                Ok(0) => None,
                Ok(count) => {
                    piece.truncate(count);
                    Some(Ok(piece.into()))
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Some(Err(error)),
            });
        }
    }
}
