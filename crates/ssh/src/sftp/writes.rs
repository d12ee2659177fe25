//! A file written by many requests at once: how many bytes may be under way grows as they are confirmed.

use std::collections::VecDeque;

use super::{Client, Request, Status};
use crate::error::Error;

const FIRST_WINDOW: u64 = 1 << 20;
/// Maximum amount in memory until the channel accepts it.
const MAX_WAITING: usize = 256 << 10;
const MAX_WINDOW: u64 = 8 << 20;

/// A file that is being written.
pub struct Writes {
    handle: Vec<u8>,
    offset: u64,
    window: u64,
    under_way: u64,
    asked: VecDeque<(u32, u32)>,
}

impl Writes {
    pub fn new(handle: &[u8], offset: u64) -> Writes {
        Writes { handle: handle.to_vec(), offset, window: FIRST_WINDOW, under_way: 0, asked: VecDeque::new() }
    }

    /// How many bytes may be written now.
    pub fn room(&self, client: &Client) -> usize {
        if client.waiting() > MAX_WAITING {
            return 0;
        }
        let room = self.window.saturating_sub(self.under_way);
        room.min(u64::from(client.write_piece())) as usize
    }

    /// Writes a piece, no longer than there was room for.
    pub fn write(&mut self, client: &mut Client, data: &[u8]) {
        let id = client.ask(&Request::Write { handle: &self.handle, offset: self.offset, data });
        self.offset += data.len() as u64;
        self.under_way += data.len() as u64;
        self.asked.push_back((id, data.len() as u32));
    }

    /// A request was answered.
    pub fn answered(&mut self, id: u32, status: Status) -> Result<Result<(), Status>, Error> {
        let at = self.asked.iter().position(|(asked, _)| *asked == id);
        let (_, length) = at.and_then(|at| self.asked.remove(at)).ok_or(Error::Protocol(UNASKED))?;
        self.under_way -= u64::from(length);
        self.window = (self.window + u64::from(length)).min(MAX_WINDOW);
        Ok(if status == Status::OK { Ok(()) } else { Err(status) })
    }

    /// Whether all has been confirmed.
    pub fn is_done(&self) -> bool {
        self.asked.is_empty()
    }

    /// Ignores all outstanding replies.
    pub fn leave(&mut self, client: &mut Client) {
        self.asked.drain(..).for_each(|(id, _)| client.forget(id));
    }
}

const UNASKED: &str = "SFTP status that nobody has asked for";
