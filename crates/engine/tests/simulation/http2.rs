//! An HTTP/2 server (RFC 9113) with prior knowledge. Its pages are those of `http`; the bodies of many
//! streams are sent in pieces, in random order, within the client's windows, and its own windows are small.

use std::collections::BTreeMap;

use testkit::frames::{block, flag, frame, kind};

use super::fields::Fields;
use super::hpack::Decoder;
use super::http::HOME;
use super::network::{Peer, Say, Shared, content, sum};

/// Where it listens.
pub const PORT: u16 = 82;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
/// A client's settings before it has said any (RFC 9113 §6.5.2).
const USUAL_WINDOW: i64 = 65_535;
/// Error codes (§7).
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

#[derive(Default)]
struct Stream {
    path: String,
    body: Vec<u8>,
    /// The unsent reply, once it was requested.
    answer: Option<Vec<u8>>,
    window: i64,
    /// Bytes received whose window was not returned yet.
    owed: u32,
}

pub struct Server {
    host: u8,
    heard: Vec<u8>,
    greeted: bool,
    decoder: Decoder,
    streams: BTreeMap<u32, Stream>,
    window: i64,
    initial: i64,
    owed: u32,
    last: u32,
    /// No stream after this one is heard.
    going: Option<u32>,
}

impl Server {
    pub fn new(host: u8) -> Server {
        Server {
            host,
            heard: Vec::new(),
            greeted: false,
            decoder: Decoder::new(4096),
            streams: BTreeMap::new(),
            window: USUAL_WINDOW,
            initial: USUAL_WINDOW,
            owed: 0,
            last: 0,
            going: None,
        }
    }

    fn greet(&mut self, world: &mut Shared, say: &mut Say) {
        if !self.heard.starts_with(PREFACE) {
            world.faults.push("a client that does not begin with its preface".to_owned());
        }
        self.heard.drain(..PREFACE.len());
        self.greeted = true;
        let mut settings = Vec::new();
        let mut set = |number: u16, value: u32| {
            settings.extend(number.to_be_bytes());
            settings.extend(value.to_be_bytes());
        };
        set(MAX_CONCURRENT_STREAMS, [1, 2, 100][world.dice.roll(3)]);
        set(INITIAL_WINDOW_SIZE, [1, 900, 65_535][world.dice.roll(3)]);
        say.bytes.extend(frame(kind::SETTINGS, 0, 0, &settings));
    }

    fn next_frame(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let head: [u8; 9] = self.heard.get(..9)?.try_into().ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let payload = self.heard.get(9..9 + length)?.to_vec();
        self.heard.drain(..9 + length);
        Some((head[3], head[4], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload))
    }

    fn receive(
        &mut self,
        (kind, flags, id, payload): (u8, u8, u32, Vec<u8>),
        world: &mut Shared,
        say: &mut Say,
    ) {
        let number = |at: usize| payload[at..at + 4].iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
        match kind {
            kind::SETTINGS if flags & flag::ACK == 0 => {
                for pair in payload.chunks(6).filter(|pair| pair[..2] == INITIAL_WINDOW_SIZE.to_be_bytes()) {
                    let size = pair[2..].iter().fold(0, |n, byte| n << 8 | i64::from(*byte));
                    let more = size - std::mem::replace(&mut self.initial, size);
                    self.streams.values_mut().for_each(|stream| stream.window += more);
                }
                say.bytes.extend(frame(kind::SETTINGS, flag::ACK, 0, &[]));
            }
            kind::PING if flags & flag::ACK == 0 => {
                say.bytes.extend(frame(kind::PING, flag::ACK, 0, &payload))
            }
            kind::WINDOW_UPDATE => match self.streams.get_mut(&id) {
                Some(stream) => stream.window += i64::from(number(0)),
                None if id == 0 => self.window += i64::from(number(0)),
                None => {}
            },
            kind::RST_STREAM => drop(self.streams.remove(&id)),
            kind::HEADERS => self.open(flags, id, &payload, world),
            kind::DATA => {
                self.owed += payload.len() as u32;
                if let Some(stream) = self.streams.get_mut(&id) {
                    stream.owed += payload.len() as u32;
                    stream.body.extend(&payload);
                }
            }
            _ => {}
        }
        if matches!(kind, kind::HEADERS | kind::DATA) && flags & flag::END_STREAM != 0 {
            self.answer(id, world, say);
        }
    }

    fn open(&mut self, flags: u8, id: u32, payload: &[u8], world: &mut Shared) {
        let skip = if flags & flag::PRIORITY != 0 { 5 } else { 0 };
        let mut fields = Fields::default();
        let is_read = self.decoder.decode(&payload[skip..], &mut fields, 1 << 16).is_ok();
        if !is_read || flags & flag::END_HEADERS == 0 || id <= self.last {
            world.faults.push(format!("a head on stream {id} that is none"));
        }
        self.last = self.last.max(id);
        if self.host != HOME && fields.value(b"authorization").is_some() {
            world.faults.push(format!("credentials at host {} by HTTP/2", self.host));
        }
        if self.going.is_some_and(|last| id > last) {
            return;
        }
        let path = String::from_utf8_lossy(fields.value(b":path").unwrap_or_default()).into_owned();
        self.streams.insert(id, Stream { path, window: self.initial, ..Stream::default() });
    }

    /// A request is whole.
    fn answer(&mut self, id: u32, world: &mut Shared, say: &mut Say) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let path: Vec<&str> = stream.path.trim_start_matches('/').split('/').collect();
        let size = path.get(1).and_then(|size| size.parse().ok()).unwrap_or(0);
        let (status, place, mut body) = match path[0] {
            "to" => {
                let place = format!("http://10.0.0.{size}:{PORT}/{}", path[2..].join("/"));
                ("302", Some(place), b"no\n".to_vec())
            }
            "sum" => ("200", None, sum(&stream.body).into_bytes()),
            _ => ("200", None, content(size)),
        };
        let length = body.len().to_string();
        let mut fields = vec![(":status", status), ("content-length", length.as_str())];
        fields.extend(place.as_deref().map(|place| ("location", place)));
        if world.odd(60) {
            body.truncate(body.len() / 2);
        }
        if world.dice.roll(8) == 0 {
            let early = block(&[(":status", "103"), ("link", "</x>")]);
            say.bytes.extend(frame(kind::HEADERS, flag::END_HEADERS, id, &early));
        }
        let ends = if body.is_empty() { flag::END_STREAM } else { 0 };
        say.bytes.extend(frame(kind::HEADERS, flag::END_HEADERS | ends, id, &block(&fields)));
        match body.is_empty() {
            true => drop(self.streams.remove(&id)),
            false => stream.answer = Some(body),
        }
        if self.going.is_none() && world.dice.roll(12) == 0 {
            self.going = Some(self.last);
            say.bytes.extend(frame(kind::GOAWAY, 0, 0, &[self.last.to_be_bytes(), [0; 4]].concat()));
        }
    }

    /// A piece of one body, as far as the windows go.
    fn speak(&mut self, world: &mut Shared, say: &mut Say) {
        let may = |stream: &Stream| stream.answer.is_some() && stream.window > 0;
        let mut ready: Vec<u32> = self.streams.iter().filter(|(_, s)| may(s)).map(|(id, _)| *id).collect();
        if ready.is_empty() {
            return;
        }
        let id = ready.swap_remove(world.dice.roll(ready.len()));
        if world.odd(150) {
            let code = [INTERNAL_ERROR, REFUSED_STREAM][world.dice.roll(2)];
            self.streams.remove(&id);
            return say.bytes.extend(frame(kind::RST_STREAM, 0, id, &code.to_be_bytes()));
        }
        let Some(Stream { answer: Some(rest), window, .. }) = self.streams.get_mut(&id) else { return };
        let room = (*window).min(self.window).clamp(0, 16_384) as usize;
        let n = rest.len().min(room).min(1 + world.dice.roll(16_384));
        if n == 0 {
            return;
        }
        let piece: Vec<u8> = rest.drain(..n).collect();
        (*window, self.window) = (*window - n as i64, self.window - n as i64);
        let ends = if rest.is_empty() { flag::END_STREAM } else { 0 };
        say.bytes.extend(frame(kind::DATA, ends, id, &piece));
        if ends != 0 {
            self.streams.remove(&id);
        }
    }

    /// Updates windows at random times.
    fn give(&mut self, world: &mut Shared, say: &mut Say) {
        let owed = self.streams.iter_mut().map(|(id, stream)| (*id, &mut stream.owed));
        for (id, owed) in owed.chain([(0, &mut self.owed)]).filter(|(_, owed)| **owed > 0) {
            if world.dice.roll(2) == 0 {
                let more = std::mem::take(owed) + world.dice.roll(5000) as u32;
                say.bytes.extend(frame(kind::WINDOW_UPDATE, 0, id, &more.to_be_bytes()));
            }
        }
    }
}

impl Peer for Server {
    fn turn(&mut self, heard: &[u8], _: bool, world: &mut Shared) -> Say {
        let mut say = Say::default();
        self.heard.extend(heard);
        if !self.greeted {
            if self.heard.len() < PREFACE.len() {
                return say;
            }
            self.greet(world, &mut say);
        }
        if world.odd(600) {
            return Say { bytes: frame(kind::DATA, 0, 0, b"nonsense"), ends: true, ..say };
        }
        while let Some(one) = self.next_frame() {
            self.receive(one, world, &mut say);
        }
        self.give(world, &mut say);
        self.speak(world, &mut say);
        say.ends = self.going.is_some() && self.streams.is_empty();
        say
    }
}
