//! The callbacks of a transfer: received data is buffered, and upload data comes from a buffer.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::rc::Rc;

use engine::callbacks::{Callbacks, Endpoints, ReadAnswer, SeekAnswer, WriteAnswer};

use super::data::{BodyMemory, PiecePosition, Placed, Sink, Upload, allocation};
use super::outcome::Outcome;

/// The transfers that have news, each listed once.
#[derive(Default)]
pub(super) struct News(pub(super) RefCell<VecDeque<usize>>);

/// The callbacks of one transfer.
pub(super) struct App {
    pub(super) state: RefCell<State>,
    pub(super) news: Rc<News>,
    pub(super) memory: Option<Rc<dyn BodyMemory>>,
    /// Whether the transfer is listed among those with news.
    pub(super) is_listed: Cell<bool>,
    pub(super) follows: Cell<bool>,
    pub(super) authenticates: Cell<bool>,
    /// Whether a 101 ends the head: frames of a WebSocket follow, as they are.
    pub(super) upgrades: Cell<bool>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) id: usize,
    pub(super) sink: Sink,
    pub(super) window: usize,
    pub(super) reports_connection: bool,
    pub(super) connected: bool,
    pub(super) head: Vec<u8>,
    /// Offset of the last head.
    pub(super) last_head: usize,
    pub(super) head_is_final: bool,
    pub(super) has_cookies: bool,
    pub(super) body: Vec<u8>,
    /// The body in memory of the caller. Bytes beyond its announced length are in `body`.
    pub(super) placed: Option<Placed>,
    pub(super) waits_for_reader: bool,
    pub(super) upload: Upload,
    /// Where the next bytes of an upload from memory are.
    pub(super) unsent: PiecePosition,
    pub(super) fed: VecDeque<u8>,
    pub(super) fed_all: bool,
    pub(super) waits_for_upload: bool,
    pub(super) outcome: Option<Outcome>,
    pub(super) write_error: Option<io::Error>,
}

impl State {
    /// Returns whether nothing of the body is read before its end. Other bodies have no memory of the caller.
    fn is_read_at_end(&self) -> bool {
        self.window == usize::MAX && matches!(self.sink, Sink::Memory)
    }
}

impl App {
    /// Takes the memory of the body out of the state, or allocates it.
    fn placed(&self, left: u64) -> Option<Placed> {
        let memory = self.memory.as_ref()?;
        let mut state = self.state.borrow_mut();
        if let Some(placed) = state.placed.take() {
            return Some(placed);
        }
        let length = allocation(state.body.len(), left)?;
        let arrived = std::mem::take(&mut state.body);
        drop(state);
        match memory.allocate(length) {
            Some(buffer) => Some(Placed::new(buffer, length, &arrived)),
            None => {
                self.state.borrow_mut().body = arrived;
                None
            }
        }
    }

    /// Lists the transfer among those with news.
    pub(super) fn list(&self) {
        if !self.is_listed.replace(true) {
            self.news.0.borrow_mut().push_back(self.state.borrow().id);
        }
    }

    /// Returns whether the head itself shows that it is the last one. Otherwise the first byte of body does.
    fn is_last_head(&self, head: &[u8]) -> bool {
        let status = head.get(9..12).and_then(|s| std::str::from_utf8(s).ok()?.parse().ok()).unwrap_or(0);
        match status {
            101 => self.upgrades.get(),
            0..=199 => false,
            300..=399 => !self.follows.get(),
            401 | 407 => !self.authenticates.get(),
            _ => true,
        }
    }
}

impl Callbacks for App {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        let mut guard = self.state.borrow_mut();
        let state = &mut *guard;
        if let Sink::File(file) = &mut state.sink {
            if let Err(error) = file.write_all(data) {
                state.write_error = Some(error);
                return WriteAnswer::Failed(0);
            }
            state.head_is_final = true;
            return WriteAnswer::All;
        }
        state.head_is_final = true;
        if state.body.len() >= state.window {
            state.waits_for_reader = true;
            return WriteAnswer::Pause;
        }
        let data = state.placed.as_mut().map_or(data, |placed| placed.append(data));
        state.body.extend_from_slice(data);
        let streams = state.window < usize::MAX;
        drop(guard);
        if streams {
            self.list();
        }
        WriteAnswer::All
    }

    fn lends(&self) -> bool {
        self.memory.is_some() && self.state.borrow().is_read_at_end()
    }

    fn lend(&self, left: u64, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> bool {
        let Some(mut placed) = self.placed(left) else { return false };
        // The state is not borrowed while the engine receives.
        let count = placed.room(left).map(fill);
        placed.advance(count.unwrap_or(0));
        let mut state = self.state.borrow_mut();
        state.placed = Some(placed);
        state.head_is_final = true;
        count.is_some()
    }

    fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
        let mut guard = self.state.borrow_mut();
        let state = &mut *guard;
        if line.starts_with(b"HTTP/") {
            state.last_head = state.head.len();
            state.head.reserve(512); // most heads are smaller, and grow without copies
        }
        state.head.extend_from_slice(line);
        state.has_cookies |= is_cookie(line);
        let ends = state.window < usize::MAX && matches!(line, b"\r\n" | b"\n");
        if ends && self.is_last_head(&state.head[state.last_head..]) {
            state.head_is_final = true;
            drop(guard);
            self.list();
        }
        Some(WriteAnswer::All)
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        let mut guard = self.state.borrow_mut();
        let state = &mut *guard;
        match &state.upload {
            Upload::Nothing => ReadAnswer::Bytes(0),
            Upload::Memory(pieces) => ReadAnswer::Bytes(state.unsent.read(pieces, buf)),
            Upload::Fed if state.fed.is_empty() && !state.fed_all => {
                state.waits_for_upload = true;
                drop(guard);
                self.list();
                ReadAnswer::Pause
            }
            Upload::Fed => {
                let count = io::Read::read(&mut state.fed, buf).unwrap_or(0);
                ReadAnswer::Bytes(count)
            }
        }
    }

    fn prereq(&self, _ends: &Endpoints) -> bool {
        let mut state = self.state.borrow_mut();
        let first = !std::mem::replace(&mut state.connected, true);
        let reports = first && state.reports_connection;
        drop(state);
        if reports {
            self.list();
        }
        true
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        let mut state = self.state.borrow_mut();
        let position = match &state.upload {
            Upload::Memory(pieces) => PiecePosition::of_offset(pieces, offset),
            Upload::Nothing | Upload::Fed => None,
        };
        let Some(position) = position else { return SeekAnswer::Cannot };
        state.unsent = position;
        SeekAnswer::Done
    }
}

/// Returns whether a header line sets a cookie.
fn is_cookie(line: &[u8]) -> bool {
    matches!(line.first(), Some(b's' | b'S'))
        && line.get(..11).is_some_and(|name| name.eq_ignore_ascii_case(b"set-cookie:"))
}
