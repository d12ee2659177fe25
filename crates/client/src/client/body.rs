//! The body of a request.

use std::error::Error as StdError;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

type Boxed = Box<dyn StdError + Send + Sync>;
type Pieces = Pin<Box<dyn Stream<Item = Result<Vec<u8>, Boxed>> + Send>>;

/// The body of a request: bytes, or a stream of them.
#[derive(Default)]
pub struct Body(pub(super) Kind);

#[derive(Default)]
pub(super) enum Kind {
    #[default]
    Nothing,
    Bytes(Vec<u8>),
    Stream(Source, Option<u64>),
}

impl Body {
    /// Creates a body from a stream of pieces. A piece is requested when the previous one has been sent.
    /// `size` is the length in bytes if it is known; without it HTTP/1.1 uses the chunked coding.
    ///
    /// A stream cannot be read twice. If a redirect or an authentication challenge requires the body again,
    /// the request ends with [`Code::SendFailRewind`](crate::Code::SendFailRewind).
    pub fn stream<S, B, E>(pieces: S, size: Option<u64>) -> Body
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: AsRef<[u8]>,
        E: Into<Boxed>,
    {
        Body(Kind::Stream(Source(Box::pin(Plain(Box::pin(pieces)))), size))
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body(Kind::Bytes(bytes))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        Body(Kind::Bytes(text.into_bytes()))
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Body {
        Body(Kind::Bytes(text.as_bytes().to_vec()))
    }
}

impl From<&[u8]> for Body {
    fn from(bytes: &[u8]) -> Body {
        Body(Kind::Bytes(bytes.to_vec()))
    }
}

/// The stream of a request body, with the caller's types erased.
pub(super) struct Source(Pieces);

impl Source {
    pub fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, Boxed>>> {
        self.get_mut().0.as_mut().poll_next(cx)
    }
}

/// Adapts a stream of the caller's types to [`Source`].
struct Plain<S>(Pin<Box<S>>);

impl<S, B, E> Stream for Plain<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    E: Into<Boxed>,
{
    type Item = Result<Vec<u8>, Boxed>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.0.as_mut().poll_next(cx);
        next.map(|piece| piece.map(|piece| piece.map(|bytes| bytes.as_ref().to_vec()).map_err(Into::into)))
    }
}
