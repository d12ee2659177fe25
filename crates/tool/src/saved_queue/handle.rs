//! An entry of a queue while it is transferred: what it reports is written to the queue's file.

use super::journal::Journal;
use super::record::{Id, Part, Record};
use crate::bytes::Bytes;
use crate::raw::segments::Marks;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The queue's file, and what happened in this run.
pub struct Shared {
    pub journal: RefCell<Journal>,
    /// Entries that have been started and have not ended.
    pub running: Cell<usize>,
    /// The last exit code that was no success.
    pub last_failure: Cell<i32>,
    /// Why the file can't be written any more.
    pub write_error: RefCell<Option<String>>,
}

impl Shared {
    pub fn new(journal: Journal) -> Shared {
        Shared {
            journal: RefCell::new(journal),
            running: Cell::new(0),
            last_failure: Cell::new(0),
            write_error: RefCell::default(),
        }
    }

    /// Writes a record. An error ends the run at the next entry.
    pub fn record(&self, record: Record) {
        if self.write_error.borrow().is_none()
            && let Err(why) = self.journal.borrow_mut().append(record)
        {
            self.write_error.replace(Some(why));
        }
    }
}

/// An entry that is being transferred.
pub struct EntryHandle {
    shared: Rc<Shared>,
    id: Id,
    has_ended: Cell<bool>,
    /// The file of the last attempt, once it was open.
    opened: RefCell<Option<Part>>,
}

impl EntryHandle {
    /// Records that an entry starts.
    pub fn start(shared: &Rc<Shared>, id: Id) -> EntryHandle {
        shared.record(Record::Started(id));
        shared.running.set(shared.running.get() + 1);
        EntryHandle { shared: shared.clone(), id, has_ended: Cell::new(false), opened: RefCell::default() }
    }

    /// Records the file of a transfer. It must be empty up to what this reply brings: what is in it when the
    /// process is killed is then a part of a file with these marks.
    pub fn open(&self, name: &[u8], marks: &Marks) {
        let part = Part { name: Bytes::from(name), marks: marks.clone() };
        if self.opened.borrow().as_ref() != Some(&part) {
            self.opened.replace(Some(part.clone()));
            self.shared.record(Record::Opened(self.id, part));
        }
    }

    /// Records that the transfer has ended.
    pub fn end(&self, code: i32) {
        if self.has_ended.replace(true) {
            return;
        }
        self.shared.running.set(self.shared.running.get() - 1);
        match code {
            0 => self.shared.record(Record::Done(self.id)),
            code => {
                self.shared.last_failure.set(code);
                self.shared.record(Record::Failed(self.id, code));
            }
        }
    }
}

/// An entry that is dropped without an end was interrupted: it is started again by the next run.
impl Drop for EntryHandle {
    fn drop(&mut self) {
        if !self.has_ended.get() {
            self.shared.running.set(self.shared.running.get() - 1);
        }
    }
}
