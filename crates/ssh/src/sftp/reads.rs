//! A file read by many requests at once. The window of what is under way grows with each piece that comes, up
//! to what covers a long and fast link; pieces may come in any order and are handed out in theirs.

use std::collections::VecDeque;

use super::{Client, Request, Status};
use crate::error::Error;

/// What is asked for at first, before anything has come: a long link that is faster shall not wait for the
/// next question.
const FIRST_WINDOW: u64 = 1 << 20;
/// 8 MiB are under way at most: half a gigabit per second over 130 milliseconds.
const MAX_WINDOW: u64 = 8 << 20;

/// A file that is being read.
pub struct Reads {
    handle: Vec<u8>,
    /// Where the next request begins, and where the file ends, if that is known.
    next: u64,
    end: Option<u64>,
    window: u64,
    asked: VecDeque<Asked>,
    /// Bytes under way.
    under_way: u64,
    finished: bool,
}

struct Asked {
    id: u32,
    offset: u64,
    length: u32,
    /// What came, while something before it has not.
    came: Option<Vec<u8>>,
    end: bool,
    /// It was asked by a handle that nobody had been given yet.
    ahead: bool,
}

/// A piece of a file that is being opened, asked for by the handle that it will probably have.
pub struct Ahead {
    pub(super) id: u32,
    handle: Vec<u8>,
    offset: u64,
    length: u32,
}

impl Ahead {
    /// Behind the request to open a file, when the server's next handle can be told
    /// ([`Client::expect_handle`]). What comes is the file's if the handle is ([`Reads::take`]), for a server
    /// keeps the order of what it is asked of one handle.
    pub fn ask(client: &mut Client, offset: u64) -> Option<Ahead> {
        let handle = client.expected_handle()?.to_vec();
        let length = client.read_piece();
        let id = client.ask(&Request::Read { handle: &handle, offset, length });
        Some(Ahead { id, handle, offset, length })
    }

    /// Nobody wants it.
    pub fn leave(self, client: &mut Client) {
        if client.kept(self.id, |_| ()).is_none() {
            client.forget(self.id);
        }
    }
}

impl Asked {
    fn is_awaited(&self) -> bool {
        self.came.is_none() && !self.end
    }
}

/// What a reply means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its bytes are the next ones of the file.
    Next,
    /// It is kept, or has nothing to hand out.
    Kept,
    /// The request failed.
    Failed(Status),
}

impl Reads {
    /// From `offset` up to `end`, or to where the file is found to end.
    pub fn new(handle: &[u8], offset: u64, end: Option<u64>) -> Reads {
        Reads {
            handle: handle.to_vec(),
            next: offset,
            end,
            window: FIRST_WINDOW,
            asked: VecDeque::new(),
            under_way: 0,
            finished: end.is_some_and(|end| end <= offset),
        }
    }

    /// Makes a piece the first one that is read, if it is this file's and was not answered before its turn.
    pub fn take(&mut self, client: &mut Client, ahead: Ahead) {
        let fits = ahead.handle == self.handle && ahead.offset == self.next && self.asked.is_empty();
        if !fits || self.finished || client.kept(ahead.id, |_| ()).is_some() {
            return ahead.leave(client);
        }
        let Ahead { id, offset, length, .. } = ahead;
        self.asked.push_back(Asked { id, offset, length, came: None, end: false, ahead: true });
        self.next += u64::from(length);
        self.under_way += u64::from(length);
    }

    /// Asks for as much as the window allows.
    pub fn ask(&mut self, client: &mut Client) {
        let piece = client.read_piece();
        while !self.finished && self.under_way < self.window {
            let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(self.next));
            if left == 0 {
                return;
            }
            let length = u64::from(piece).min(left) as u32;
            self.ask_for(client, self.next, length, self.asked.len());
            self.next += u64::from(length);
        }
    }

    fn ask_for(&mut self, client: &mut Client, offset: u64, length: u32, at: usize) {
        let id = client.ask(&Request::Read { handle: &self.handle, offset, length });
        self.asked.insert(at, Asked { id, offset, length, came: None, end: false, ahead: false });
        self.under_way += u64::from(length);
    }

    /// Where the request with this number stands, if it was not answered yet.
    pub(super) fn position(&self, id: u32) -> Option<usize> {
        self.asked.iter().position(|asked| asked.id == id && asked.is_awaited())
    }

    /// So many bytes came for a request. With [`Answer::Next`] they are to be handed out at once; what was
    /// kept and stands behind them is to be taken afterwards ([`Reads::kept`]). Of a piece that was asked for
    /// ahead they may reach beyond the end.
    pub fn data(&mut self, client: &mut Client, id: u32, bytes: &[u8]) -> Result<Answer, Error> {
        let at = self.position(id).ok_or(Error::Protocol("SFTP data that nobody has asked for"))?;
        let (offset, length) = (self.asked[at].offset, self.asked[at].length);
        let came = u32::try_from(bytes.len()).ok().filter(|came| *came <= length && *came > 0);
        let came = came.ok_or(Error::Protocol("more SFTP data than was asked for"))?;
        self.under_way -= u64::from(length);
        self.window = (self.window + u64::from(came)).min(MAX_WINDOW);
        // The rest is asked for again; where the file ends, that says so.
        let behind = offset + u64::from(came);
        let rest = self.end.map_or(u64::MAX, |end| end.saturating_sub(behind)).min(u64::from(length - came));
        if rest > 0 {
            self.ask_for(client, behind, rest as u32, at + 1);
        }
        if at == 0 {
            self.asked.pop_front();
            return Ok(Answer::Next);
        }
        self.asked[at].came = Some(bytes.to_vec());
        Ok(Answer::Kept)
    }

    /// A request was answered by a status.
    pub fn status(&mut self, client: &mut Client, id: u32, status: Status) -> Result<Answer, Error> {
        let at = self.position(id).ok_or(Error::Protocol("SFTP status that nobody has asked for"))?;
        if self.asked[at].ahead {
            // It came too early, perhaps.
            let Asked { offset, length, .. } = self.asked[at];
            self.asked.remove(at);
            self.under_way -= u64::from(length);
            let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(offset));
            self.ask_for(client, offset, u64::from(length).min(left) as u32, at);
            return Ok(Answer::Kept);
        }
        if status != Status::EOF {
            return Ok(Answer::Failed(status));
        }
        self.under_way -= u64::from(self.asked[at].length);
        self.asked[at].end = true;
        // What lies behind will say the same.
        for behind in self.asked.drain(at + 1..) {
            if behind.is_awaited() {
                client.forget(behind.id);
                self.under_way -= u64::from(behind.length);
            }
        }
        self.end = Some(self.end.map_or(self.asked[at].offset, |end| end.min(self.asked[at].offset)));
        self.finished = true;
        Ok(Answer::Kept)
    }

    /// What was kept and is next.
    pub fn kept(&mut self) -> Option<Vec<u8>> {
        while self.asked.front().is_some_and(|asked| asked.end) {
            self.asked.clear();
        }
        match self.asked.front() {
            Some(asked) if asked.came.is_some() => self.asked.pop_front().and_then(|asked| asked.came),
            _ => None,
        }
    }

    /// Whether all has been handed out.
    pub fn is_done(&self) -> bool {
        let asked_all = self.finished || self.end.is_some_and(|end| self.next >= end);
        asked_all && self.asked.iter().all(|asked| asked.end)
    }

    /// The window as it is.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Nobody waits for what is under way.
    pub fn leave(&mut self, client: &mut Client) {
        self.asked.drain(..).filter(Asked::is_awaited).for_each(|a| client.forget(a.id));
    }
}
