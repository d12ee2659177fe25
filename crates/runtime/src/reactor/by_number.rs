//! The entries of a reactor's table by descriptor number.
//!
//! Most handles have one descriptor at a time. A tree allocates and frees its node with each of them; a short
//! list keeps its storage.

use std::collections::BTreeSet;

use rustix::fd::RawFd;

/// Most entries in the list: with more, moving them costs more than a tree.
const FEW: usize = 16;

/// Pairs of number and slot in their order. Several entries may have one number.
#[derive(Default)]
pub(super) struct ByNumber {
    /// Sorted; empty while there are many.
    few: Vec<(RawFd, usize)>,
    many: BTreeSet<(RawFd, usize)>,
}

impl ByNumber {
    /// Adds an entry.
    pub fn insert(&mut self, raw: RawFd, slot: usize) {
        if self.few.len() == FEW {
            self.many.extend(self.few.drain(..));
        }
        if !self.many.is_empty() {
            self.many.insert((raw, slot));
        } else if let Err(at) = self.few.binary_search(&(raw, slot)) {
            self.few.insert(at, (raw, slot));
        }
    }

    /// Removes an entry.
    pub fn remove(&mut self, raw: RawFd, slot: usize) {
        match self.few.binary_search(&(raw, slot)) {
            Ok(at) => drop(self.few.remove(at)),
            Err(_) => drop(self.many.remove(&(raw, slot))),
        }
    }

    /// Returns the slots of a number, from this slot on.
    pub fn slots(&self, raw: RawFd, from: usize) -> impl Iterator<Item = usize> + '_ {
        let range = (raw, from)..=(raw, usize::MAX);
        let first = self.few.partition_point(|pair| pair < range.start());
        let few = self.few[first..].iter().take_while(move |pair| pair.0 == raw);
        few.chain(self.many.range(range)).map(|(_, slot)| *slot)
    }

    /// Returns all pairs in their order.
    pub fn iter(&self) -> impl Iterator<Item = (RawFd, usize)> + '_ {
        self.few.iter().chain(&self.many).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_entries_are_found_alike() {
        let (mut found, mut all) = (ByNumber::default(), BTreeSet::new());
        let pair = |n: i32| (n * 7 % 50, (n % 3) as usize);
        let check = |found: &ByNumber, all: &BTreeSet<(i32, usize)>| {
            assert!(found.iter().eq(all.iter().copied()));
            for (raw, from) in (0..50).flat_map(|raw| [(raw, 0), (raw, 1)]) {
                let expected = all.range((raw, from)..=(raw, usize::MAX)).map(|(_, slot)| *slot);
                assert!(found.slots(raw, from).eq(expected), "{raw} from {from}: {all:?}");
            }
        };
        // Up to many, down to none, and up again.
        for (adds, steps) in [(true, 0..60), (false, 0..60), (true, 20..30), (false, 22..25)] {
            for (raw, slot) in steps.map(pair) {
                match adds {
                    true => (found.insert(raw, slot), all.insert((raw, slot))).1,
                    false => (found.remove(raw, slot), all.remove(&(raw, slot))).1,
                };
                check(&found, &all);
            }
            assert_eq!(found.few.is_empty(), all.len() > FEW || all.is_empty());
        }
    }
}
