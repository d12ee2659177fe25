//! Unread data of one stream: heads, a piece of body no larger than the stream's window, and its end.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::task::Waker;

use wire::h2::{ErrorCode, Event, Failure, Fields, StreamId};

use crate::exchange::Head;

/// So many heads wait at most: interim ones count in no window.
const HEADS: usize = 16;
/// Most bytes of body buffers that a session keeps. What one read of the socket brings for its streams.
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

/// Body buffers that a session's inboxes take turns in. With a buffer of its own, each of a hundred streams
/// keeps as much memory as its largest burst took.
#[derive(Default)]
pub(super) struct SpareBuffers {
    /// Empty buffers with a capacity.
    buffers: Vec<Vec<u8>>,
    /// The sum of the capacities.
    bytes: usize,
}

impl SpareBuffers {
    /// Returns the buffer that was kept last, or one without a capacity.
    fn lend(&mut self) -> Vec<u8> {
        let buffer = self.buffers.pop().unwrap_or_default();
        self.bytes -= buffer.capacity();
        buffer
    }

    /// Keeps a buffer whose content has been read. Drops it where the session has enough.
    fn keep(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        if buffer.capacity() > 0 && buffer.capacity() <= KEPT - self.bytes {
            self.bytes += buffer.capacity();
            self.buffers.push(buffer);
        }
    }
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
    /// Whether any byte of a reply has arrived.
    pub any: bool,
    pub reader: Option<Waker>,
    pub writer: Option<Waker>,
}

impl Inbox {
    /// Takes in an event; `false` when it is one too many.
    pub fn put(&mut self, event: Event<'_>, spares: &mut SpareBuffers) -> bool {
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
                self.add(data, spares);
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

    /// Adds bytes to the body.
    fn add(&mut self, data: &[u8], spares: &mut SpareBuffers) {
        if self.body.capacity() == 0 && !data.is_empty() {
            self.body = spares.lend();
        }
        self.body.extend_from_slice(data);
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
    pub fn take(&mut self, buf: &mut [u8], spares: &mut SpareBuffers) -> usize {
        let rest = &self.body[self.taken..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.body.len() {
            self.taken = 0;
            spares.keep(std::mem::take(&mut self.body));
        }
        n
    }
}

pub(super) fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of body buffers that a session has.
    fn capacity(inboxes: &[Inbox], spares: &SpareBuffers) -> usize {
        let kept: usize = spares.buffers.iter().map(Vec::capacity).sum();
        assert_eq!(kept, spares.bytes);
        kept + inboxes.iter().map(|inbox| inbox.body.capacity()).sum::<usize>()
    }

    #[test]
    fn streams_that_are_read_between_their_bursts_share_buffers() {
        let mut spares = SpareBuffers::default();
        let mut inboxes: Vec<Inbox> = (0..100).map(|_| Inbox::default()).collect();
        let (burst, mut buf) = (vec![7; 60_000], vec![0; 40_000]);
        for _ in 0..3 {
            for inbox in &mut inboxes {
                inbox.add(&burst, &mut spares);
                let pieces = [(); 3].map(|()| inbox.take(&mut buf, &mut spares));
                assert_eq!(pieces, [40_000, 20_000, 0]);
            }
        }
        assert_eq!(capacity(&inboxes, &spares), 60_000);
    }

    #[test]
    fn a_session_keeps_no_more_than_its_limit() {
        let mut spares = SpareBuffers::default();
        let mut inboxes: Vec<Inbox> = (0..100).map(|_| Inbox::default()).collect();
        inboxes.iter_mut().for_each(|inbox| inbox.add(&[7; 60_000], &mut spares));
        assert_eq!(capacity(&inboxes, &spares), 6_000_000);
        inboxes.iter_mut().for_each(|inbox| assert_eq!(inbox.take(&mut [0; 60_000], &mut spares), 60_000));
        assert_eq!(capacity(&inboxes, &spares), 240_000);
        inboxes[0].add(&vec![7; KEPT + 1], &mut spares);
        inboxes[0].take(&mut vec![0; KEPT + 1], &mut spares);
        assert!(capacity(&inboxes, &spares) <= KEPT);
    }
}
