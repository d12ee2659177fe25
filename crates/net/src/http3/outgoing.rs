//! Output of a stream: frames, as far as QUIC has room for them.

use quinn_proto::StreamId;
use wire::h3::{Field, data_header, headers};

use crate::quic::Machine;

/// The bytes of a stream that wait to be sent.
#[derive(Default)]
pub struct OutgoingBytes {
    /// Frame headers and fields that wait for room.
    out: Vec<u8>,
    /// Remaining length of the current DATA frame.
    frame: usize,
    /// The last piece of body found no room.
    blocked: bool,
    /// Whether nothing follows.
    closing: bool,
    pub finished: bool,
    /// Set when the peer wants nothing more.
    pub stopped: Option<u64>,
}

impl OutgoingBytes {
    /// Queues a head, or the fields behind a body.
    pub fn fields<'a>(&mut self, fields: impl IntoIterator<Item = Field<'a>>) {
        headers(&mut self.out, fields);
    }

    /// Ends the stream after the queued data.
    pub fn end(&mut self) {
        self.closing = true;
    }

    /// Returns whether a piece of body may be queued. After `false`, the waiting task is woken when there is
    /// room.
    pub fn has_room(&mut self) -> bool {
        self.out.is_empty() && !std::mem::take(&mut self.blocked)
    }

    /// Queues as much of a piece of body as there is room for, and returns the length.
    pub fn queue(&mut self, machine: &mut Machine, id: StreamId, bytes: &[u8]) -> usize {
        if self.stopped.is_some() {
            return bytes.len();
        }
        if self.frame == 0 {
            data_header(&mut self.out, bytes.len());
            self.frame = bytes.len();
        }
        self.push(machine, id);
        if !self.out.is_empty() {
            return 0;
        }
        match machine.write(id, &bytes[..bytes.len().min(self.frame)]) {
            Ok(n) => {
                self.frame -= n;
                self.blocked = n == 0;
                n
            }
            Err(code) => {
                self.stopped = Some(code);
                bytes.len()
            }
        }
    }

    /// Passes queued data to QUIC, as far as there is room.
    pub fn push(&mut self, machine: &mut Machine, id: StreamId) {
        if !self.out.is_empty() {
            match machine.write(id, &self.out) {
                Ok(n) => drop(self.out.drain(..n)),
                Err(code) => {
                    self.stopped = Some(code);
                    self.out.clear();
                }
            }
        }
        if self.closing && self.out.is_empty() && !self.finished {
            self.finished = true;
            machine.finish(id);
        }
    }
}
