//! Events: the changes that a watcher hands over.

use std::time::{Duration, SystemTime};

use super::detect::Stamp;
use super::event_stream::StreamEvent;
use crate::error::Failure;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The first poll was answered. Later ones are compared with it.
    First,
    /// The content or its marks differ.
    Changed,
    /// The file does not exist any more.
    Gone,
    /// The file exists again, or now.
    Appeared,
    /// The server has sent a message: an event of an event stream, or a report about a mailbox.
    Message,
    /// A poll failed after one that did not. Further failures are no events.
    Failed,
    /// A poll was answered after one that failed.
    Recovered,
}

impl EventKind {
    /// Returns its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::First => "first",
            EventKind::Changed => "changed",
            EventKind::Gone => "gone",
            EventKind::Appeared => "appeared",
            EventKind::Message => "message",
            EventKind::Failed => "failed",
            EventKind::Recovered => "recovered",
        }
    }
}

/// An event of one URL.
#[derive(Debug)]
#[non_exhaustive]
pub struct Event {
    /// The number of the URL, as [`Watcher::add`](super::Watcher::add) has returned it.
    pub index: usize,
    /// The kind of the event.
    pub kind: EventKind,
    /// When the answer arrived.
    pub time: SystemTime,
    /// How long the poll took, with the content where that was fetched. Zero for a message.
    pub latency: Duration,
    /// The marks of the version that the poll has seen.
    pub stamp: Stamp,
    /// The content, if it was fetched and the watcher keeps contents.
    pub body: Option<Vec<u8>>,
    /// The message of the server.
    pub message: Option<StreamEvent>,
    /// The error of a poll that failed.
    pub failure: Option<Failure>,
}
