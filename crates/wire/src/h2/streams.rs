//! The streams of a session by number, and a record of those that were reset: frames from the peer may still
//! arrive for them (RFC 9113 §5.1).

use std::collections::VecDeque;

use super::stream::{Stream, StreamId};

/// How many streams that were reset are remembered.
const REMEMBERED: usize = 1024;

/// The side that reset a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reset {
    Here,
    There,
}

#[derive(Debug)]
struct ClosedStream {
    number: u32,
    reset: Reset,
    /// Bytes that its peer may still send: what was in transit is limited by the stream's window.
    left: u32,
}

/// The state of a stream number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamState {
    Live(StreamId),
    /// We reset it, so late frames for it are not an error.
    ResetHere,
    /// A frame for it is an error of the stream.
    ResetThere,
    /// Both sides had ended it, or more was received than its window allowed.
    Closed,
    /// It was never opened.
    Idle,
}

#[derive(Debug, Default)]
pub(super) struct Streams {
    slots: Vec<Option<Stream>>,
    free: Vec<u32>,
    /// Number and slot of each live one, by number.
    live: Vec<(u32, u32)>,
    gone: VecDeque<ClosedStream>,
    /// Streams that are no longer recorded have at most this number.
    forgotten: u32,
    /// The largest numbers in use, of our streams and of the peer's.
    pub highest: [u32; 2],
}

impl Streams {
    /// Puts in a new stream, larger in number than all others of its side.
    pub fn add(&mut self, number: u32, make: impl FnOnce(StreamId) -> Stream) -> StreamId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        let id = StreamId { number, slot };
        self.slots[slot as usize] = Some(make(id));
        let at = self.live.partition_point(|(known, _)| *known < number);
        self.live.insert(at, (number, slot));
        self.use_number(number);
        id
    }

    /// Uses up a number.
    pub fn use_number(&mut self, number: u32) {
        let highest = &mut self.highest[side(number)];
        *highest = number.max(*highest);
    }

    pub fn at(&mut self, id: StreamId) -> Option<&mut Stream> {
        self.slots.get_mut(id.slot())?.as_mut().filter(|stream| stream.id == id)
    }

    pub fn peek(&self, id: StreamId) -> Option<&Stream> {
        self.slots.get(id.slot())?.as_ref().filter(|stream| stream.id == id)
    }

    /// Takes out a stream that has ended.
    pub fn remove(&mut self, id: StreamId) -> Option<Stream> {
        let stream = self.slots.get_mut(id.slot())?.take_if(|stream| stream.id == id)?;
        self.free.push(id.slot);
        if let Ok(at) = self.live.binary_search_by_key(&id.number, |(number, _)| *number) {
            self.live.remove(at);
        }
        Some(stream)
    }

    /// Takes out a stream that was reset.
    pub fn remove_reset(&mut self, id: StreamId, reset: Reset) {
        if let Some(stream) = self.remove(id) {
            self.remember(id.number, reset, stream.receive.left());
        }
    }

    /// Records a closed or refused stream for which data may still arrive.
    pub fn remember(&mut self, number: u32, reset: Reset, left: u32) {
        if self.gone.len() == REMEMBERED
            && let Some(oldest) = self.gone.pop_front()
        {
            self.forgotten = self.forgotten.max(oldest.number);
        }
        self.gone.push_back(ClosedStream { number, reset, left });
    }

    pub fn place(&self, number: u32) -> StreamState {
        if let Ok(at) = self.live.binary_search_by_key(&number, |(known, _)| *known) {
            return StreamState::Live(StreamId { number, slot: self.live[at].1 });
        }
        if number > self.highest[side(number)] {
            return StreamState::Idle;
        }
        match self.gone.iter().rev().find(|gone| gone.number == number) {
            Some(ClosedStream { reset: Reset::Here, .. }) => StreamState::ResetHere,
            Some(_) => StreamState::ResetThere,
            None if number <= self.forgotten => StreamState::ResetThere,
            None => StreamState::Closed,
        }
    }

    /// Counts late bytes for a stream that we reset; `false` if they exceed its window.
    pub fn count_late(&mut self, number: u32, bytes: usize) -> bool {
        let Some(gone) = self.gone.iter_mut().rev().find(|gone| gone.number == number) else { return true };
        let left = usize::try_from(gone.left).unwrap_or(usize::MAX).checked_sub(bytes);
        gone.left = left.unwrap_or(0) as u32;
        left.is_some()
    }

    /// How many streams of one side live.
    pub fn count(&self, ours: bool) -> usize {
        self.live.iter().filter(|(number, _)| side(*number) == usize::from(!ours)).count()
    }

    /// Returns the streams of a session whose earlier ones all ended in order, with these numbers as the
    /// largest.
    pub fn after(highest: [u32; 2]) -> Streams {
        Streams { highest, ..Streams::default() }
    }

    /// Whether no stream lives, and none was reset.
    pub fn is_untouched(&self) -> bool {
        self.is_empty() && self.gone.is_empty() && self.forgotten == 0
    }

    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// All of them, by number.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = StreamId> {
        self.live.iter().map(|(number, slot)| StreamId { number: *number, slot: *slot })
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.slots.iter_mut().flatten()
    }
}

/// 0 for our streams, which are odd, 1 for the peer's.
fn side(number: u32) -> usize {
    usize::from(number.is_multiple_of(2))
}
