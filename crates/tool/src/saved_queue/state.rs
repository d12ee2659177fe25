//! The state of a queue, which its records lead to, and which entry is next.

use super::record::{Added, Id, Part, Record};
use crate::bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Waiting,
    /// Started; if no process has the queue, it was interrupted.
    Running,
    Done,
    Failed(i32),
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Waiting => "waiting",
            Status::Running => "running",
            Status::Done => "done",
            Status::Failed(_) => "failed",
        }
    }
}

/// An entry without its URLs and options, which are read again from the file when they are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryState {
    /// Where its record is in the file, and how long that is.
    pub place: Place,
    pub setup: Id,
    pub key: u64,
    pub status: Status,
    pub tries: u64,
    pub part: Option<Box<Part>>,
}

/// The place of a line in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub offset: u64,
    pub length: u32,
}

/// Options that entries share, and the folder in which they were added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    pub folder: Bytes,
    pub options: Vec<Bytes>,
}

/// The state of a queue after its records.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct State {
    pub setups: BTreeMap<Id, Rc<Setup>>,
    pub entries: BTreeMap<Id, EntryState>,
    /// The entry of each key.
    keys: HashMap<u64, Id>,
    /// The highest numbers so far.
    last_setup: Id,
    last_entry: Id,
    /// Bytes of the lines of setups and entries, which a shorter file would have, too.
    pub needed_bytes: u64,
}

/// A record that contradicts those before it.
#[derive(Debug, PartialEq, Eq)]
pub struct Contradiction;

impl State {
    /// Applies a record, whose line is at this place.
    pub fn apply(&mut self, record: Record, place: Place) -> Result<(), Contradiction> {
        match record {
            Record::Title(_) => return Err(Contradiction),
            Record::Setup { id, folder, options } => {
                self.last_setup = self.last_setup.max(id);
                self.needed_bytes += u64::from(place.length);
                self.setups.insert(id, Rc::new(Setup { folder, options }));
            }
            Record::Added(added) => self.add(&added, place)?,
            Record::Started(id) => {
                let entry = self.entry(id)?;
                entry.status = Status::Running;
                entry.tries += 1;
            }
            Record::Opened(id, part) => self.entry(id)?.part = Some(Box::new(part)),
            Record::Done(id) => {
                let entry = self.entry(id)?;
                (entry.status, entry.part) = (Status::Done, None);
            }
            Record::Failed(id, code) => self.entry(id)?.status = Status::Failed(code),
            Record::Tries(id, tries) => self.entry(id)?.tries = tries,
            Record::Removed(id) => {
                let removed = self.entries.remove(&id).ok_or(Contradiction)?;
                self.keys.remove(&removed.key);
                self.needed_bytes -= u64::from(removed.place.length);
            }
        }
        Ok(())
    }

    fn add(&mut self, added: &Added, place: Place) -> Result<(), Contradiction> {
        if self.entries.contains_key(&added.id) || !self.setups.contains_key(&added.setup) {
            return Err(Contradiction);
        }
        self.last_entry = self.last_entry.max(added.id);
        self.needed_bytes += u64::from(place.length);
        self.keys.insert(added.key, added.id);
        let (setup, key) = (added.setup, added.key);
        let entry = EntryState { place, setup, key, status: Status::Waiting, tries: 0, part: None };
        self.entries.insert(added.id, entry);
        Ok(())
    }

    fn entry(&mut self, id: Id) -> Result<&mut EntryState, Contradiction> {
        self.entries.get_mut(&id).ok_or(Contradiction)
    }

    /// Returns a number that no setup has.
    pub fn fresh_setup(&self) -> Id {
        self.last_setup + 1
    }

    /// Returns a number that no entry has had since the file was rewritten.
    pub fn fresh_entry(&self) -> Id {
        self.last_entry + 1
    }

    /// Returns whether an entry with this URL and output is there already.
    pub fn has_key(&self, key: u64) -> bool {
        self.keys.contains_key(&key)
    }

    /// Returns the setup with this folder and these options.
    pub fn setup_like(&self, setup: &Setup) -> Option<Id> {
        self.setups.iter().find(|(_, known)| ***known == *setup).map(|(id, _)| *id)
    }

    /// Returns the first entry after this one that is not done. Each is started once in a run.
    pub fn next_after(&self, last: Id) -> Option<Id> {
        let rest = self.entries.range(last + 1..);
        rest.into_iter().find(|(_, entry)| entry.status != Status::Done).map(|(id, _)| *id)
    }

    /// Returns the records that stand for the history of an entry in a file that is rewritten.
    pub fn history(&self, id: Id) -> Vec<Record> {
        let Some(entry) = self.entries.get(&id) else { return Vec::new() };
        let (tries, status) = match entry.status {
            Status::Waiting => (entry.tries, None),
            Status::Running => (entry.tries - 1, Some(Record::Started(id))),
            Status::Done => (entry.tries, Some(Record::Done(id))),
            Status::Failed(code) => (entry.tries, Some(Record::Failed(id, code))),
        };
        let tries = (tries > 0).then_some(Record::Tries(id, tries));
        let part = entry.part.as_ref().map(|part| Record::Opened(id, (**part).clone()));
        tries.into_iter().chain(part).chain(status).collect()
    }

    /// Returns whether a file of this length is so much longer than needed that it is rewritten.
    pub fn is_wasteful(&self, length: u64) -> bool {
        const SPARE: u64 = 64 << 10;
        length > 3 * self.needed_bytes + SPARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::segments::Marks;

    fn setup() -> Record {
        Record::Setup { id: 1, folder: b"/".to_vec(), options: Vec::new() }
    }

    fn added(id: Id) -> Record {
        Record::Added(Added { id, setup: 1, key: 100 + id, urls: vec![b"u".to_vec()], options: Vec::new() })
    }

    fn part() -> Part {
        Part { name: b"f".to_vec(), marks: Marks::default() }
    }

    fn state(records: &[Record]) -> State {
        let mut state = State::default();
        for record in [setup(), added(2), added(3)].iter().chain(records) {
            state.apply(record.clone(), Place { offset: 0, length: 10 }).unwrap();
        }
        state
    }

    #[test]
    fn records_come_to_a_state() {
        use Record as R;
        for (records, status, tries, has_part, next) in [
            (&[][..], Status::Waiting, 0, false, Some(2)),
            (&[R::Started(2)][..], Status::Running, 1, false, Some(2)),
            (&[R::Started(2), R::Opened(2, part())], Status::Running, 1, true, Some(2)),
            (&[R::Started(2), R::Failed(2, 22)], Status::Failed(22), 1, false, Some(2)),
            (&[R::Started(2), R::Opened(2, part()), R::Failed(2, 18)], Status::Failed(18), 1, true, Some(2)),
            (&[R::Started(2), R::Opened(2, part()), R::Done(2)], Status::Done, 1, false, Some(3)),
            (&[R::Failed(2, 22), R::Started(2)], Status::Running, 1, false, Some(2)),
            (&[R::Tries(2, 5), R::Started(2)], Status::Running, 6, false, Some(2)),
            (&[R::Done(2), R::Removed(3)], Status::Done, 0, false, None),
        ] {
            let state = state(records);
            let entry = &state.entries[&2];
            assert_eq!(
                (entry.status, entry.tries, entry.part.is_some()),
                (status, tries, has_part),
                "{records:?}"
            );
            assert_eq!(state.next_after(0), next, "{records:?}");
        }
        assert_eq!((state(&[]).next_after(2), state(&[]).next_after(3)), (Some(3), None));
    }

    #[test]
    fn records_that_contradict_are_refused() {
        for record in [Record::Done(9), Record::Started(9), Record::Removed(1), added(2), Record::Title(1)] {
            assert_eq!(state(&[]).apply(record, Place::default()), Err(Contradiction));
        }
        let mut empty = State::default();
        assert_eq!(empty.apply(added(2), Place::default()), Err(Contradiction), "without its setup");
    }

    #[test]
    fn keys_and_numbers() {
        let state = state(&[Record::Removed(3)]);
        assert!(state.has_key(102) && !state.has_key(103));
        assert_eq!((state.fresh_setup(), state.fresh_entry(), state.needed_bytes), (2, 4, 20));
        let like = |folder: &str| state.setup_like(&Setup { folder: folder.into(), options: Vec::new() });
        assert_eq!((like("/"), like("/a")), (Some(1), None));
        assert!(!state.is_wasteful(1000) && state.is_wasteful(100_000));
    }

    /// A rewritten file has the same state.
    #[test]
    fn the_history_of_an_entry_comes_to_its_state() {
        use Record as R;
        for records in [
            vec![],
            vec![R::Started(2), R::Failed(2, 5), R::Started(2), R::Opened(2, part()), R::Failed(2, 7)],
            vec![R::Started(2), R::Opened(2, part()), R::Done(2)],
            vec![R::Started(2), R::Opened(2, part())],
            vec![R::Failed(2, 5), R::Tries(2, 4), R::Started(2)],
        ] {
            let before = state(&records);
            assert_eq!(state(&before.history(2)), before, "{records:?}");
        }
    }
}
