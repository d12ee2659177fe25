//! Reads a file with many requests at once. The window of outstanding bytes grows with each piece received,
//! up to the size for a long and fast link. Pieces may arrive in any order and are returned in file order.

use std::collections::VecDeque;

use super::{Client, Request, Status};
use crate::error::Error;

/// Initial window, before anything has been received: a long, fast link should not idle until the next
/// request.
const FIRST_WINDOW: u64 = 1 << 20;
/// 8 MiB are under way at most: half a gigabit per second over 130 milliseconds.
const MAX_WINDOW: u64 = 8 << 20;

/// A file that is being read.
pub struct Reads {
    handle: Vec<u8>,
    /// Offset of the next request, and the end of the file if it is known.
    next: u64,
    end: Option<u64>,
    window: u64,
    asked: VecDeque<PendingRead>,
    /// Bytes under way.
    under_way: u64,
    finished: bool,
}

struct PendingRead {
    id: u32,
    offset: u64,
    length: u32,
    /// A received piece that waits for an earlier one.
    came: Option<Vec<u8>>,
    end: bool,
    /// Whether it was requested with a predicted handle.
    ahead: bool,
}

/// A piece of a file that is being opened, requested with the handle that it will probably get.
pub struct EarlyRead {
    pub(super) id: u32,
    handle: Vec<u8>,
    offset: u64,
    length: u32,
}

impl EarlyRead {
    /// Sends it right after the request to open a file, if the next handle can be predicted
    /// ([`Client::expect_handle`]). If the handle was right, the data belongs to the file ([`Reads::take`]),
    /// because a server keeps the order of requests for one handle.
    pub fn ask(client: &mut Client, offset: u64) -> Option<EarlyRead> {
        let handle = client.expected_handle()?.to_vec();
        let length = client.read_piece();
        let id = client.ask(&Request::Read { handle: &handle, offset, length });
        Some(EarlyRead { id, handle, offset, length })
    }

    /// Ignores its reply.
    pub fn leave(self, client: &mut Client) {
        if client.kept(self.id, |_| ()).is_none() {
            client.forget(self.id);
        }
    }
}

impl PendingRead {
    fn is_awaited(&self) -> bool {
        self.came.is_none() && !self.end
    }
}

/// The meaning of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its bytes are the next ones of the file.
    Next,
    /// It is kept, or there is nothing to return.
    Kept,
    /// The request failed.
    Failed(Status),
}

impl Reads {
    /// Creates the reads from `offset` up to `end`, or to the end of the file.
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
    pub fn take(&mut self, client: &mut Client, ahead: EarlyRead) {
        let fits = ahead.handle == self.handle && ahead.offset == self.next && self.asked.is_empty();
        if !fits || self.finished || client.kept(ahead.id, |_| ()).is_some() {
            return ahead.leave(client);
        }
        let EarlyRead { id, offset, length, .. } = ahead;
        self.asked.push_back(PendingRead { id, offset, length, came: None, end: false, ahead: true });
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
        self.asked.insert(at, PendingRead { id, offset, length, came: None, end: false, ahead: false });
        self.under_way += u64::from(length);
    }

    /// Returns the position of the request with this number, if its reply is outstanding.
    pub(super) fn position(&self, id: u32) -> Option<usize> {
        self.asked.iter().position(|asked| asked.id == id && asked.is_awaited())
    }

    /// Processes the data of a request. [`Answer::Next`]: deliver it at once, and then what was kept after it
    /// ([`Reads::kept`]). Data of a predicted request may extend beyond the end.
    pub fn data(&mut self, client: &mut Client, id: u32, bytes: &[u8]) -> Result<Answer, Error> {
        let at = self.position(id).ok_or(Error::Protocol("SFTP data that nobody has asked for"))?;
        let (offset, length) = (self.asked[at].offset, self.asked[at].length);
        let came = u32::try_from(bytes.len()).ok().filter(|came| *came <= length && *came > 0);
        let came = came.ok_or(Error::Protocol("more SFTP data than was asked for"))?;
        self.under_way -= u64::from(length);
        self.window = (self.window + u64::from(came)).min(MAX_WINDOW);
        // The rest is requested again; at the end of the file, the reply says so.
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
            // The predicted request may have been processed before the file was open.
            let PendingRead { offset, length, .. } = self.asked[at];
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
        // Later pieces will be at the end, too.
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

    /// Returns the next kept piece.
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

    /// Ignores all outstanding replies.
    pub fn leave(&mut self, client: &mut Client) {
        self.asked.drain(..).filter(PendingRead::is_awaited).for_each(|a| client.forget(a.id));
    }
}
