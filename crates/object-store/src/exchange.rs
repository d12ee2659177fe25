//! Requests of object_store as those of a client, and responses as object_store reads them.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http::header::CONTENT_LENGTH;
use http::{Method, request};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use warmwire::{Body, Client, Error, Request};

/// Collects the pieces of a request's body, which are in memory, without copying them.
pub(crate) async fn collect<B>(mut body: B) -> Result<Body, B::Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
{
    let mut pieces = Vec::new();
    while let Some(frame) = body.frame().await {
        pieces.extend(frame?.into_data());
    }
    Ok(pieces.into_iter().collect())
}

/// Sends a request, and returns its response once the head has arrived.
pub(crate) async fn send(
    client: &Client,
    head: request::Parts,
    body: Body,
) -> Result<http::Response<ResponseBody>, Error> {
    let has_body = head.method != Method::HEAD;
    let mut request = Request::try_from(http::Request::from_parts(head, body))?;
    request.headers_mut().remove(CONTENT_LENGTH); // the engine knows the length of the pieces
    let mut response = client.execute(request).await?;
    let mut reply = http::Response::new(());
    *reply.status_mut() = response.status();
    *reply.version_mut() = response.version();
    *reply.headers_mut() = std::mem::take(response.headers_mut());
    let left = if has_body { response.content_length() } else { Some(0) };
    let pieces = Mutex::new(Box::new(response.bytes_stream()) as Pieces);
    Ok(reply.map(|()| ResponseBody { pieces, left }))
}

type Pieces = Box<dyn Stream<Item = Result<Bytes, Error>> + Send + Unpin>;

/// The body of a response, which arrives while it is read.
pub(crate) struct ResponseBody {
    /// Never locked: object_store asks for `Sync`, and reads by an exclusive reference.
    pieces: Mutex<Pieces>,
    /// How many bytes are still to come, if the head says so.
    left: Option<u64>,
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let pieces = self.pieces.get_mut().unwrap_or_else(PoisonError::into_inner);
        let piece = ready!(Pin::new(pieces).poll_next(cx));
        if let (Some(left), Some(Ok(piece))) = (&mut self.left, &piece) {
            *left = left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
