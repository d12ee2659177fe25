//! Early data, sent before the handshake completes (RFC 9001 §4.6). It is kept until the server has accepted
//! it. A server that refuses it has seen none of it, and all streams are gone. Then they are opened again,
//! with the same numbers, and the same data is sent: the layers above see no difference.

use quinn_proto::{Connection, Dir, StreamId, VarInt};

/// Maximum number of early bytes, whatever a server accepts.
const MOST: usize = 64 * 1024;

/// The early data of all streams.
pub struct Early {
    streams: Vec<EarlyStream>,
    /// Still to be said, at most.
    room: usize,
    refused: bool,
}

/// On one stream.
struct EarlyStream {
    stream: StreamId,
    bytes: Vec<u8>,
    /// Up to here it has been said again.
    again: usize,
    finished: bool,
    reset: Option<VarInt>,
    stopped: Option<VarInt>,
}

impl EarlyStream {
    /// Continues to send the data again, as far as there is room.
    fn go_on(&mut self, connection: &mut Connection) {
        let mut stream = connection.send_stream(self.stream);
        if let Ok(n) = stream.write(&self.bytes[self.again..]) {
            self.again += n;
        }
        if self.finished && self.is_done() {
            let _ = stream.finish(); // the peer may have stopped it
        }
    }

    fn is_done(&self) -> bool {
        self.again == self.bytes.len()
    }
}

impl Early {
    pub fn new() -> Early {
        Early { streams: Vec::new(), room: MOST, refused: false }
    }

    pub fn opened(&mut self, stream: StreamId) {
        let queued =
            EarlyStream { stream, bytes: Vec::new(), again: 0, finished: false, reset: None, stopped: None };
        if !self.refused {
            self.streams.push(queued);
        }
    }

    fn of(&mut self, stream: StreamId) -> Option<&mut EarlyStream> {
        self.streams.iter_mut().find(|queued| queued.stream == stream)
    }

    /// Returns how much may be written on a stream now: nothing new before the early data has been sent
    /// again.
    pub fn room(&mut self, stream: StreamId) -> usize {
        if !self.refused {
            return self.room;
        }
        if self.of(stream).is_some() { 0 } else { usize::MAX }
    }

    /// Records the bytes sent on a stream: they are sent again if the server refuses early data.
    pub fn record(&mut self, stream: StreamId, bytes: &[u8]) {
        if !self.refused {
            self.room -= bytes.len();
            self.of(stream).into_iter().for_each(|queued| queued.bytes.extend_from_slice(bytes));
        }
    }

    /// Records the end of a stream; returns whether it can be sent at once.
    pub fn finished(&mut self, stream: StreamId) -> bool {
        let at_once = !self.refused;
        self.of(stream).is_none_or(|queued| {
            queued.finished = true;
            at_once
        })
    }

    pub fn stopped(&mut self, stream: StreamId, code: VarInt) {
        self.of(stream).into_iter().for_each(|queued| queued.stopped = Some(code));
    }

    /// Drops the remaining data of a stream that was reset.
    pub fn reset(&mut self, stream: StreamId, code: VarInt) {
        if self.refused {
            self.streams.retain(|queued| queued.stream != stream);
        }
        self.of(stream).into_iter().for_each(|queued| queued.reset = Some(code));
    }

    /// How many bytes.
    pub fn amount(&self) -> usize {
        MOST - self.room
    }

    /// The server has refused it all. Says it again, as far as there is room; false where the server allows
    /// fewer streams now than it did.
    pub fn say_again(&mut self, connection: &mut Connection) -> bool {
        self.refused = true;
        for queued in &mut self.streams {
            let dir = queued.stream.dir();
            if connection.streams().open(dir) != Some(queued.stream) {
                return false;
            }
            if let (Some(code), Dir::Bi) = (queued.stopped, dir) {
                let _ = connection.recv_stream(queued.stream).stop(code); // new as it is
            }
            if let Some(code) = queued.reset {
                let _ = connection.send_stream(queued.stream).reset(code);
            }
        }
        self.streams.retain(|queued| queued.reset.is_none());
        self.go_on(connection);
        true
    }

    /// Whether all has been said.
    pub fn is_done(&self) -> bool {
        self.streams.is_empty()
    }

    /// Continues to send the data again; returns whether all of it was sent.
    pub fn go_on(&mut self, connection: &mut Connection) -> bool {
        self.streams.iter_mut().for_each(|queued| queued.go_on(connection));
        self.streams.retain(|queued| !queued.is_done());
        self.is_done()
    }
}
