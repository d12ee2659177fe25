//! One stream: the state of both sides (RFC 9113 §5.1), its windows, and its queued output.

use super::fields::Fields;
use super::window::{ReceiveWindow, SendWindow};

/// A stream of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamId {
    pub(super) number: u32,
    pub(super) slot: u32,
}

impl StreamId {
    /// Its number on the wire; a client's are odd.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns a small number that no other live stream of the session has, for use as an index.
    pub fn slot(self) -> usize {
        self.slot as usize
    }
}

/// The state of the peer's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remote {
    /// Nothing received yet, or heads of status 1xx.
    Head,
    Body,
    Ended,
}

/// The effect of a frame on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// A head, perhaps one of status 1xx.
    Head,
    Trailers,
    Data,
    /// It belongs to no message (RFC 9113 §8.1): PROTOCOL_ERROR.
    Misplaced,
    /// The peer has ended it before: STREAM_CLOSED.
    Closed,
}

impl Remote {
    /// A HEADERS frame.
    pub fn on_headers(self, end: bool) -> Fate {
        match self {
            Remote::Head => Fate::Head,
            Remote::Body if end => Fate::Trailers,
            Remote::Body => Fate::Misplaced,
            Remote::Ended => Fate::Closed,
        }
    }

    /// A DATA frame.
    pub fn on_data(self) -> Fate {
        match self {
            Remote::Head => Fate::Misplaced,
            Remote::Body => Fate::Data,
            Remote::Ended => Fate::Closed,
        }
    }
}

/// Output queued after the head.
#[derive(Debug, Default)]
pub(super) struct Upload {
    bytes: Vec<u8>,
    start: usize,
    filled: usize,
    /// Whether nothing follows the queued bytes.
    pub last: bool,
    pub trailers: Option<Box<Fields>>,
    /// END_STREAM has been sent.
    pub ended: bool,
}

impl Upload {
    /// Creates the upload of a request without a body.
    pub fn none() -> Upload {
        Upload { last: true, ended: true, ..Upload::default() }
    }

    pub fn queued(&self) -> &[u8] {
        &self.bytes[self.start..self.filled]
    }

    /// Returns room for `len` bytes after the queued ones.
    pub fn space(&mut self, len: usize) -> &mut [u8] {
        if self.start == self.filled {
            (self.start, self.filled) = (0, 0);
        } else if self.filled + len > self.bytes.len() && self.start > 0 {
            self.bytes.copy_within(self.start..self.filled, 0);
            (self.start, self.filled) = (0, self.filled - self.start);
        }
        if self.bytes.len() < self.filled + len {
            self.bytes.resize(self.filled + len, 0);
        }
        &mut self.bytes[self.filled..self.filled + len]
    }

    pub fn fill(&mut self, len: usize) {
        self.filled = (self.filled + len).min(self.bytes.len());
    }

    /// Swaps in other storage if nothing is queued.
    pub fn trade(&mut self, storage: &mut Vec<u8>, start: usize, end: usize) -> bool {
        if !self.queued().is_empty() || start > end || end > storage.len() {
            return false;
        }
        std::mem::swap(&mut self.bytes, storage);
        (self.start, self.filled) = (start, end);
        true
    }

    pub fn take(&mut self, len: usize) {
        self.start += len;
    }
}

/// A stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub id: StreamId,
    pub remote: Remote,
    pub send: SendWindow,
    pub receive: ReceiveWindow,
    /// How much of the announced length is still to come.
    pub expected: Option<u64>,
    /// The reply to HEAD announces a length and has no body.
    pub head_only: bool,
    pub upload: Upload,
    /// Whether it is among the streams that have something to send.
    pub in_turn: bool,
    /// Its owner found no room, and wants to know of it.
    pub starved: bool,
}

impl Stream {
    /// Whether there is something that may be sent now, the connection's window permitting.
    pub fn can_send(&self) -> bool {
        if self.upload.ended {
            return false;
        }
        match self.upload.queued().is_empty() {
            true => self.upload.last,
            false => self.send.available() > 0,
        }
    }

    /// Counts bytes of the body that have arrived; `false` if they are more than announced.
    pub fn count(&mut self, bytes: usize) -> bool {
        match &mut self.expected {
            Some(left) if *left < bytes as u64 => false,
            Some(left) => {
                *left -= bytes as u64;
                true
            }
            None => true,
        }
    }

    /// Whether the body has the announced length.
    pub fn complete(&self) -> bool {
        self.expected.is_none_or(|left| left == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every state with every frame that carries a message.
    #[test]
    fn states_of_the_peers_side() {
        use {Fate::*, Remote as R};
        for (remote, headers, last_headers, data) in [
            (R::Head, Head, Head, Misplaced),
            (R::Body, Misplaced, Trailers, Data),
            (R::Ended, Closed, Closed, Closed),
        ] {
            let got = (remote.on_headers(false), remote.on_headers(true), remote.on_data());
            assert_eq!(got, (headers, last_headers, data), "{remote:?}");
        }
    }

    #[test]
    fn an_upload_is_a_queue_whose_storage_stays_small() {
        let mut upload = Upload::default();
        for round in 0..1000u32 {
            upload.space(10)[..4].copy_from_slice(&round.to_be_bytes());
            upload.fill(4);
            if round % 2 == 1 {
                assert_eq!(upload.queued()[..4], (round - 1).to_be_bytes());
                upload.take(4);
                upload.take(4);
            }
        }
        assert!(upload.bytes.len() <= 32, "{}", upload.bytes.len());
        assert!(upload.queued().is_empty());
    }
}
