//! Forms with streams among their parts: the layout of the form, as one stream.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use engine::mime::boundary;
use futures_core::Stream;
use wire::mime::{self, Content, Escape, Piece};

use super::{Form, Part, PartContent};
use crate::client::body::{Body, Boxed, Kind, Source};

/// The source of a part's bytes.
enum PartSource {
    File(PathBuf),
    Stream(Body),
}

impl Form {
    /// Converts the form to the value of Content-Type and a stream.
    pub(in crate::client) fn into_stream(self) -> io::Result<(Vec<u8>, Body)> {
        let convert = |(name, part): (std::borrow::Cow<'static, str>, Part)| part.with_source(&name);
        let parts = self.0.into_iter().map(convert).collect::<io::Result<Vec<_>>>()?;
        let laid_out = mime::form(parts, None, Escape::Percent, &mut boundary);
        let laid_out = laid_out.map_err(|_| io::Error::other("a part's field contains a line break"))?;
        let convert = |piece| match piece {
            Piece::Bytes(bytes) => Step::Bytes(Bytes::copy_from_slice(&bytes)),
            Piece::Source { source: PartSource::File(path), size, .. } => Step::File(path, size),
            Piece::Source { source: PartSource::Stream(body), size, .. } => Step::Stream(body, size),
        };
        let steps = laid_out.pieces.into_iter().map(convert).collect();
        let body = Body::wrap_stream(Steps { steps, current: None });
        let body = match laid_out.size {
            Some(size) => body.with_length(size),
            None => body,
        };
        Ok((laid_out.content_type, body))
    }
}

impl Part {
    fn with_source(self, name: &str) -> io::Result<mime::Part<PartSource>> {
        self.laid_out(name, |content| {
            Ok(match content {
                PartContent::Bytes(bytes) => Content::Memory(std::rc::Rc::from(&*bytes)),
                PartContent::File(path) => {
                    let size = std::fs::metadata(&path).map(|meta| meta.is_file().then_some(meta.len()));
                    let size = size.map_err(|e| about(&path, &e))?;
                    let name = engine::sys::name_of(path.as_os_str()).into_owned();
                    Content::Source { source: PartSource::File(path), size, path: Some(name) }
                }
                PartContent::Stream(body, size) => {
                    Content::Source { source: PartSource::Stream(body), size, path: None }
                }
            })
        })
    }
}

/// Names the file in an error.
fn about(path: &std::path::Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot open {}: {error}", path.display()))
}

/// A run of the form.
enum Step {
    Bytes(Bytes),
    File(PathBuf, Option<u64>),
    Stream(Body, Option<u64>),
}

/// The form, piece by piece.
struct Steps {
    steps: VecDeque<Step>,
    current: Option<Current>,
}

/// The part that is being read, and the bytes that it still has if its size is known.
struct Current(Source, Option<u64>);

impl Steps {
    fn begin(&mut self, body: Body, size: Option<u64>) {
        self.current = match body.0 {
            Kind::Stream(source, _) => Some(Current(source, size)),
            Kind::Nothing | Kind::Bytes(_) | Kind::Pieces(_) => None,
        };
    }
}

impl Stream for Steps {
    type Item = Result<Bytes, Boxed>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(Current(source, rest)) = &mut self.current {
                let piece = match Pin::new(source).poll_next(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(piece) => piece.transpose()?,
                };
                let length = piece.as_ref().map_or(0, Bytes::len) as u64;
                match (piece, rest) {
                    (None, Some(1..)) => {
                        return Poll::Ready(Some(Err("a part ends before its length".into())));
                    }
                    (None, _) => self.current = None,
                    (Some(_), Some(rest)) if length > *rest => {
                        return Poll::Ready(Some(Err("a part is longer than its length".into())));
                    }
                    (Some(piece), rest) => {
                        rest.iter_mut().for_each(|rest| *rest -= length);
                        return Poll::Ready(Some(Ok(piece)));
                    }
                }
                continue;
            }
            match self.steps.pop_front() {
                None => return Poll::Ready(None),
                Some(Step::Bytes(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                Some(Step::Stream(body, size)) => self.begin(body, size),
                Some(Step::File(path, size)) => {
                    let file = File::open(&path).map_err(|e| about(&path, &e))?;
                    self.begin(Body::new(file), size);
                }
            }
        }
    }
}
