//! A scripted HTTP/2 peer that works frame by frame (RFC 9113), for behaviour that no good server has.
//!
//! It knows frames and the plainest encoding of fields (RFC 7541 §6.2.2), and does not interpret a request's
//! fields. It replies to SETTINGS and PING itself, and updates windows if a body is read to its end.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::ServerConfig;

use crate::stop::{Signal, Stop, Woken};
use crate::stream::Stream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames (RFC 9113 §6).
pub mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// Flags of frames.
pub mod flag {
    pub const END_STREAM: u8 = 1;
    /// Of SETTINGS and PING.
    pub const ACK: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const PADDED: u8 = 8;
    pub const PRIORITY: u8 = 32;
}

/// A received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Whether it is one of this type on this stream.
    pub fn is(&self, kind: u8, stream: u32) -> bool {
        (self.kind, self.stream) == (kind, stream)
    }

    /// Returns whether the frame ends its sender's side of the stream.
    pub fn ends(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.flags & flag::END_STREAM != 0
    }

    /// The four bytes at `at` as a number: a code, an increment.
    pub fn number(&self, at: usize) -> u32 {
        self.payload[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
    }
}

/// The peer's script for one connection, which is closed afterwards; an error, such as an unexpected end,
/// ends it.
type Play = dyn Fn(&mut Talk) -> io::Result<()> + Send + Sync;

/// A listening peer.
pub struct FramePeer {
    address: SocketAddr,
    stop: Stop,
    shared: Arc<Shared>,
}

struct Shared {
    play: Box<Play>,
    tls: Option<Arc<ServerConfig>>,
    /// Frames received on each connection, in order of acceptance.
    frames: Mutex<Vec<Vec<Frame>>>,
    /// How many connections the peer has closed.
    ended: AtomicUsize,
}

impl FramePeer {
    /// A peer in clear; each connection plays the same, and may ask which one it is.
    pub fn start(play: impl Fn(&mut Talk) -> io::Result<()> + Send + Sync + 'static) -> FramePeer {
        FramePeer::over(None, Box::new(play))
    }

    /// Starts a peer with TLS; `config` has the ALPN protocols.
    pub fn tls(
        config: Arc<ServerConfig>,
        play: impl Fn(&mut Talk) -> io::Result<()> + Send + Sync + 'static,
    ) -> FramePeer {
        FramePeer::over(Some(config), Box::new(play))
    }

    fn over(tls: Option<Arc<ServerConfig>>, play: Box<Play>) -> FramePeer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a listener can be non-blocking");
        let stop = Stop::new().expect("a process may open a pipe");
        let shared = Arc::new(Shared { play, tls, frames: Mutex::default(), ended: AtomicUsize::new(0) });
        let (signal, for_thread) = (stop.signal(), shared.clone());
        thread::spawn(move || accept_all(&listener, &signal, &for_thread));
        FramePeer { address, stop, shared }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there have been.
    pub fn accepts(&self) -> usize {
        self.shared.frames.lock().expect("never poisoned").len()
    }

    /// How many connections the peer itself has closed by now.
    pub fn ended(&self) -> usize {
        self.shared.ended.load(Ordering::SeqCst)
    }

    /// Returns the frames received on a connection so far.
    pub fn frames(&self, connection: usize) -> Vec<Frame> {
        self.shared.frames.lock().expect("never poisoned")[connection].clone()
    }

    /// How many streams a connection has opened.
    pub fn requests(&self, connection: usize) -> usize {
        let begins = |frame: &&Frame| frame.kind == kind::HEADERS && frame.stream % 2 == 1;
        let mut streams: Vec<u32> = self.frames(connection).iter().filter(begins).map(|f| f.stream).collect();
        streams.dedup();
        streams.sort_unstable();
        streams.dedup();
        streams.len()
    }
}

impl Drop for FramePeer {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn accept_all(listener: &TcpListener, signal: &Signal, shared: &Arc<Shared>) {
    while signal.wait(listener, None) == Woken::Readable {
        let Ok((socket, _)) = listener.accept() else { continue };
        let number = {
            let mut frames = shared.frames.lock().expect("never poisoned");
            frames.push(Vec::new());
            frames.len() - 1
        };
        let (shared, signal) = (shared.clone(), signal.clone());
        thread::spawn(move || {
            let _ = socket.set_nonblocking(false);
            let Ok(stream) = Stream::accept(socket, shared.tls.as_ref()) else { return };
            let mut talk = Talk { stream, number, shared: shared.clone(), signal, unread: Vec::new() };
            match (shared.play)(&mut talk) {
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => talk.stream.reset(),
                _ => talk.stream.finish(),
            }
            shared.ended.fetch_add(1, Ordering::SeqCst);
        });
    }
}

/// A connection.
pub struct Talk {
    stream: Stream,
    /// Which one it is, from 0.
    pub number: usize,
    shared: Arc<Shared>,
    signal: Signal,
    unread: Vec<u8>,
}

impl Talk {
    /// Reads the client's preface and says our SETTINGS. A client that speaks HTTP/1 gets its head handed
    /// back as an error of kind `Unsupported`.
    pub fn greet(&mut self, settings: &[(u16, u32)]) -> io::Result<()> {
        while self.unread.len() < PREFACE.len() {
            self.more()?;
        }
        if !self.unread.starts_with(PREFACE) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.unread.drain(..PREFACE.len());
        self.settings(settings)
    }

    /// The head of a request by HTTP/1.
    pub fn http1_head(&mut self) -> io::Result<String> {
        loop {
            if let Some(at) = self.unread.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = self.unread.drain(..at + 4).collect();
                return String::from_utf8(head).map_err(io::Error::other);
            }
            self.more()?;
        }
    }

    fn more(&mut self) -> io::Result<()> {
        let mut scratch = [0; 16_384];
        match self.stream.read(&mut scratch)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                self.unread.extend_from_slice(&scratch[..n]);
                Ok(())
            }
        }
    }

    /// Returns the next frame of any type.
    pub fn frame(&mut self) -> io::Result<Frame> {
        while self.unread.len() < 9 {
            self.more()?;
        }
        let length = self.unread[..3].iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
        while self.unread.len() < 9 + length {
            self.more()?;
        }
        let bytes: Vec<u8> = self.unread.drain(..9 + length).collect();
        let stream = u32::from_be_bytes([bytes[5], bytes[6], bytes[7], bytes[8]]);
        let frame = Frame { kind: bytes[3], flags: bytes[4], stream, payload: bytes[9..].to_vec() };
        self.shared.frames.lock().expect("never poisoned")[self.number].push(frame.clone());
        if matches!(frame.kind, kind::SETTINGS | kind::PING) && frame.flags & flag::ACK == 0 {
            let echo = if frame.kind == kind::PING { &frame.payload[..] } else { &[] };
            self.send(frame.kind, flag::ACK, 0, echo)?;
        }
        Ok(frame)
    }

    /// Reads up to a frame that is wanted.
    pub fn until(&mut self, mut wanted: impl FnMut(&Frame) -> bool) -> io::Result<Frame> {
        loop {
            let frame = self.frame()?;
            if wanted(&frame) {
                return Ok(frame);
            }
        }
    }

    /// The next request's stream, once its head has arrived.
    pub fn request(&mut self) -> io::Result<u32> {
        Ok(self.until(|frame| frame.kind == kind::HEADERS)?.stream)
    }

    /// Returns the next request, or `None` after this time without one.
    pub fn request_within(&mut self, patience: std::time::Duration) -> io::Result<Option<u32>> {
        while !self.is_quiet(patience) {
            let frame = self.frame()?;
            if frame.kind == kind::HEADERS {
                return Ok(Some(frame.stream));
            }
        }
        Ok(None)
    }

    /// Reads a request's body to its end, updating the windows; returns its length.
    pub fn body(&mut self, stream: u32) -> io::Result<usize> {
        let mut length = 0;
        loop {
            let frame = self.frame()?;
            if frame.is(kind::RST_STREAM, stream) {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if frame.is(kind::DATA, stream) && !frame.payload.is_empty() {
                length += frame.payload.len();
                self.give(0, frame.payload.len() as u32)?;
                if !frame.ends() {
                    self.give(stream, frame.payload.len() as u32)?;
                }
            }
            if frame.stream == stream && frame.ends() {
                return Ok(length);
            }
        }
    }

    /// Sends a frame.
    pub fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        self.raw(&frame(kind, flags, stream, payload))
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    pub fn settings(&mut self, settings: &[(u16, u32)]) -> io::Result<()> {
        let bytes = |(id, value): &(u16, u32)| id.to_be_bytes().into_iter().chain(value.to_be_bytes());
        let payload: Vec<u8> = settings.iter().flat_map(bytes).collect();
        self.send(kind::SETTINGS, 0, 0, &payload)
    }

    /// More window for a stream, or for all with 0.
    pub fn give(&mut self, stream: u32, more: u32) -> io::Result<()> {
        self.send(kind::WINDOW_UPDATE, 0, stream, &more.to_be_bytes())
    }

    /// A head or trailers.
    pub fn head(&mut self, stream: u32, fields: &[(&str, &str)], ends: bool) -> io::Result<()> {
        let flags = flag::END_HEADERS | if ends { flag::END_STREAM } else { 0 };
        self.send(kind::HEADERS, flags, stream, &block(fields))
    }

    /// A piece of body, in frames of the usual size.
    pub fn data(&mut self, stream: u32, body: &[u8], ends: bool) -> io::Result<()> {
        let mut pieces = body.chunks(16_384).peekable();
        if pieces.peek().is_none() {
            return self.send(kind::DATA, u8::from(ends), stream, &[]);
        }
        while let Some(piece) = pieces.next() {
            self.send(kind::DATA, u8::from(ends && pieces.peek().is_none()), stream, piece)?;
        }
        Ok(())
    }

    /// A whole small reply.
    pub fn answer(&mut self, stream: u32, status: u16, body: &[u8]) -> io::Result<()> {
        self.head(stream, &[(":status", &status.to_string())], false)?;
        self.data(stream, body, true)
    }

    pub fn reset(&mut self, stream: u32, code: u32) -> io::Result<()> {
        self.send(kind::RST_STREAM, 0, stream, &code.to_be_bytes())
    }

    pub fn go_away(&mut self, last_stream: u32, code: u32) -> io::Result<()> {
        let payload = [last_stream.to_be_bytes(), code.to_be_bytes()].concat();
        self.send(kind::GOAWAY, 0, 0, &payload)
    }

    /// Reads on until the client closes. One read may have brought several frames.
    pub fn hold(&mut self) -> io::Result<()> {
        while !self.unread.is_empty() || self.signal.wait(self.stream.socket(), None) == Woken::Readable {
            self.frame()?;
        }
        Ok(())
    }

    /// Returns whether the client is silent for this time.
    pub fn is_quiet(&mut self, time: std::time::Duration) -> bool {
        self.unread.is_empty() && self.signal.wait(self.stream.socket(), Some(time)) == Woken::TimedOut
    }

    /// Ends the connection by RST, when the play ends with it.
    pub fn break_off(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}

/// A frame's bytes.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes fields as a header block of literals that are not indexed.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            length_of(text.len(), &mut block);
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// A length with a prefix of seven bits (RFC 7541 §5.1).
fn length_of(length: usize, out: &mut Vec<u8>) {
    let Some(mut rest) = length.checked_sub(127) else { return out.push(length as u8) };
    out.push(127);
    while rest >= 128 {
        out.push((rest % 128) as u8 | 128);
        rest /= 128;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_any_size() {
        let bytes = |length| {
            let mut out = Vec::new();
            length_of(length, &mut out);
            out
        };
        assert_eq!((bytes(5), bytes(126), bytes(127)), (vec![5], vec![126], vec![127, 0]));
        assert_eq!(bytes(127 + 300), [127, 172, 2]);
    }

    #[test]
    fn frames_and_field_blocks_are_encoded() {
        assert_eq!(frame(kind::PING, flag::ACK, 0, &[7; 8])[..9], [0, 0, 8, 6, 1, 0, 0, 0, 0]);
        assert_eq!(block(&[(":status", "200")]), b"\0\x07:status\x03200");
    }
}
