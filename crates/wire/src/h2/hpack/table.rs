//! The dynamic table of header compression (RFC 7541 §2.3.2, §4), for both directions.
//!
//! Entries are consecutive in one buffer and are evicted from its front, so no entry needs an allocation.

use std::collections::VecDeque;

/// Size that an entry counts for beside its bytes (RFC 7541 §4.1).
pub const OVERHEAD: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Offset of its first byte, counted from the first byte ever inserted.
    start: u64,
    name: u32,
    value: u32,
}

impl Entry {
    fn size(&self) -> usize {
        self.name as usize + self.value as usize + OVERHEAD
    }
}

/// A dynamic table as a plain value. Its fields may contain secrets, such as cookies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableState {
    pub max: usize,
    /// Name and value of each entry, the oldest first.
    pub entries: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Entries, the youngest first by index.
#[derive(Debug)]
pub(super) struct Table {
    /// Oldest first.
    entries: VecDeque<Entry>,
    bytes: Vec<u8>,
    /// Offset of the first of `bytes`, counted like those of entries.
    base: u64,
    size: usize,
    max: usize,
}

impl Table {
    pub fn new(max: usize) -> Table {
        Table { entries: VecDeque::new(), bytes: Vec::new(), base: 0, size: 0, max }
    }

    /// Returns the table of a state; `None` if it is larger than `limit`, or its entries do not fit.
    pub fn restore(state: &TableState, limit: usize) -> Option<Table> {
        if state.max > limit {
            return None;
        }
        let mut table = Table::new(state.max);
        for (name, value) in &state.entries {
            table.insert(name, value);
        }
        (table.entries.len() == state.entries.len()).then_some(table)
    }

    pub fn state(&self) -> TableState {
        let owned = |(name, value): (&[u8], &[u8])| (name.to_vec(), value.to_vec());
        TableState {
            max: self.max,
            entries: self.entries.iter().map(|entry| owned(self.parts(entry))).collect(),
        }
    }

    pub fn max(&self) -> usize {
        self.max
    }

    #[cfg(test)]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Evicts entries that no longer fit.
    pub fn resize(&mut self, max: usize) {
        self.max = max;
        self.make_room(0);
    }

    /// Enters a field. One that is larger than the table empties it (RFC 7541 §4.4).
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + OVERHEAD;
        self.make_room(size);
        if size > self.max {
            return;
        }
        self.compact();
        let start = self.base + self.bytes.len() as u64;
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.entries.push_back(Entry { start, name: name.len() as u32, value: value.len() as u32 });
        self.size += size;
    }

    /// Name and value of an entry, 0 being the youngest.
    pub fn entry(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let at = self.entries.len().checked_sub(index + 1)?;
        Some(self.parts(&self.entries[at]))
    }

    /// Returns the index of a pair and `true`, or else that of its name and `false`.
    pub fn find(&self, name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
        let mut named = None;
        // Most entries differ in their lengths.
        let candidates =
            self.entries.iter().rev().enumerate().filter(|(_, entry)| entry.name as usize == name.len());
        for (index, entry) in candidates {
            let has_length = entry.value as usize == value.len();
            if (!has_length && named.is_some()) || self.parts(entry).0 != name {
                continue;
            }
            if has_length && self.parts(entry).1 == value {
                return Some((index, true));
            }
            named.get_or_insert((index, false));
        }
        named
    }

    fn parts(&self, entry: &Entry) -> (&[u8], &[u8]) {
        let from = (entry.start - self.base) as usize;
        let both = &self.bytes[from..from + entry.name as usize + entry.value as usize];
        both.split_at(entry.name as usize)
    }

    fn make_room(&mut self, size: usize) {
        while self.size + size > self.max {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.size -= oldest.size();
        }
    }

    /// Frees the bytes of evicted entries once they are as many as the table holds.
    fn compact(&mut self) {
        let live = self.entries.front().map_or(self.base + self.bytes.len() as u64, |oldest| oldest.start);
        let gone = (live - self.base) as usize;
        if gone > self.max || gone == self.bytes.len() {
            self.bytes.drain(..gone);
            self.base = live;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leave_and_bytes_stay_bounded() {
        let mut table = Table::new(100);
        for round in 0..10_000u32 {
            let value = round.to_string();
            table.insert(b"name", value.as_bytes());
            assert!(table.size() <= 100);
            assert!(table.bytes.len() <= 220, "{}", table.bytes.len());
            assert_eq!(table.entry(0), Some((&b"name"[..], value.as_bytes())));
        }
        assert_eq!(table.entry(1), Some((&b"name"[..], &b"9998"[..])));
        assert_eq!(table.entry(2), None);
        table.insert(b"name", &[b'x'; 80]);
        assert_eq!((table.entry(0), table.size()), (None, 0), "what does not fit empties it");
    }

    #[test]
    fn a_smaller_table_keeps_the_youngest() {
        let mut table = Table::new(4096);
        (0..5u8).for_each(|n| table.insert(b"n", &[n]));
        table.resize(34 * 2);
        assert_eq!(table.entry(1), Some((&b"n"[..], &[3][..])));
        assert_eq!(table.entry(2), None);
        assert_eq!(table.find(b"n", &[3]), Some((1, true)));
        assert_eq!(table.find(b"n", &[0]), Some((0, false)));
        table.resize(0);
        assert_eq!(table.find(b"n", &[4]), None);
    }
}
