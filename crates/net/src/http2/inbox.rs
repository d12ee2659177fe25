//! Unread data of one stream: heads, a piece of body no larger than the stream's window, and its end.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::task::Waker;

use wire::h2::{ErrorCode, Event, Failure, Fields, StreamId};

use crate::exchange::Head;

/// So many heads wait at most: interim ones count in no window.
const HEADS: usize = 16;
/// Largest body buffer that is kept.
const KEPT: usize = 256 << 10;

/// Why a stream ended before its reply did.
#[derive(Debug)]
pub enum StreamError {
    /// Reset by the peer, or by us for an error of the peer, described by `why`.
    Reset { code: ErrorCode, why: Option<&'static str> },
    /// The peer has not processed the request, which may be sent again.
    Refused,
    /// The peer takes no CONNECT with `:protocol` (RFC 8441), without which there is no such request.
    NotExtended,
    /// The peer closed the connection.
    Closed,
    /// The transport failed.
    Io(io::Error),
    /// The peer broke the protocol, and the connection ended for it.
    Failed(Failure),
}

impl StreamError {
    /// Returns a copy.
    pub(super) fn copy(&self) -> StreamError {
        match self {
            StreamError::Reset { code, why } => StreamError::Reset { code: *code, why: *why },
            StreamError::Refused => StreamError::Refused,
            StreamError::NotExtended => StreamError::NotExtended,
            StreamError::Closed => StreamError::Closed,
            StreamError::Failed(failure) => StreamError::Failed(*failure),
            StreamError::Io(e) => {
                StreamError::Io(e.raw_os_error().map_or(e.kind().into(), io::Error::from_raw_os_error))
            }
        }
    }
}

/// A fault with the number of the stream, for use in an [`io::Error`].
#[derive(Debug)]
pub struct NumberedError {
    pub stream: u32,
    pub fault: StreamError,
    /// Whether the peer's GOAWAY says that it has started to process this stream: the request must not be
    /// sent again.
    pub begun: bool,
}

impl fmt::Display for NumberedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP/2 stream {}: {:?}", self.stream, self.fault)
    }
}

impl std::error::Error for NumberedError {}

/// A promised push: its stream, its inbox, and the request.
pub(super) struct Promise {
    pub id: StreamId,
    pub inbox: usize,
    pub fields: Fields,
}

#[derive(Default)]
pub(super) struct Inbox {
    /// Promises that were not taken.
    pub promises: VecDeque<Promise>,
    heads: VecDeque<Head>,
    body: Vec<u8>,
    taken: usize,
    pub trailers: Option<Fields>,
    /// The reply is whole.
    pub ended: bool,
    pub fault: Option<StreamError>,
    /// Nothing more will arrive, whether that was reported or not.
    pub over: bool,
    /// Whether any of a reply has come.
    pub any: bool,
    pub reader: Option<Waker>,
    pub writer: Option<Waker>,
}

impl Inbox {
    /// Takes in an event; `false` when it is one too many.
    pub fn put(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::Writable { .. } => {
                wake(&mut self.writer);
                return true;
            }
            Event::Informational { status, fields, .. } => {
                self.heads.push_back(Head { status, fields: fields.clone(), end: false });
            }
            Event::Head { status, fields, end, .. } => {
                self.heads.push_back(Head { status, fields: fields.clone(), end });
                self.ended = end;
            }
            Event::Data { data, end, .. } => {
                self.body.extend_from_slice(data);
                self.ended = end;
            }
            Event::Trailers { fields, .. } => {
                self.trailers = Some(fields.clone());
                self.ended = true;
            }
            Event::Reset { code, why, .. } => self.end(StreamError::Reset { code, why }),
            Event::Refused { .. } => self.end(StreamError::Refused),
            _ => {}
        }
        self.any |= !self.heads.is_empty();
        wake(&mut self.reader);
        self.heads.len() <= HEADS
    }

    /// Ends the stream. A complete response stays valid: a server may reset the rest of an upload.
    pub fn end(&mut self, fault: StreamError) {
        if !self.ended {
            self.fault.get_or_insert(fault);
        }
        self.over = true;
        wake(&mut self.reader);
        wake(&mut self.writer);
    }

    pub fn head(&mut self) -> Option<Head> {
        self.heads.pop_front()
    }

    /// Moves as much as fits to `buf`.
    pub fn take(&mut self, buf: &mut [u8]) -> usize {
        let rest = &self.body[self.taken..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.body.len() {
            self.taken = 0;
            self.body.clear();
            if self.body.capacity() > KEPT {
                self.body = Vec::new();
            }
        }
        n
    }
}

pub(super) fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
