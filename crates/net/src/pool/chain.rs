//! Linked lists through the entries of one slab. An entry is in several lists at once, and leaves each in
//! constant time.

use slab::Slab;

/// Of no entry.
const NONE: usize = usize::MAX;

/// Entries, each of which may be in that many lists.
pub(super) struct Chained<T, const LISTS: usize>(Slab<Node<T, LISTS>>);

struct Node<T, const LISTS: usize> {
    value: T,
    links: [Link; LISTS],
}

#[derive(Clone, Copy)]
struct Link {
    before: usize,
    after: usize,
}

/// The ends of one list.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    first: usize,
    last: usize,
    len: usize,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends { first: NONE, last: NONE, len: 0 }
    }
}

impl Ends {
    pub fn first(&self) -> Option<usize> {
        (self.first != NONE).then_some(self.first)
    }

    pub fn last(&self) -> Option<usize> {
        (self.last != NONE).then_some(self.last)
    }

    pub fn len(&self) -> usize {
        self.len
    }
}

impl<T, const LISTS: usize> Default for Chained<T, LISTS> {
    fn default() -> Self {
        Chained(Slab::new())
    }
}

impl<T, const LISTS: usize> Chained<T, LISTS> {
    /// Returns the number of entries for which there is storage.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// A new entry, in no list yet.
    pub fn insert(&mut self, value: T) -> usize {
        self.0.insert(Node { value, links: [Link { before: NONE, after: NONE }; LISTS] })
    }

    /// Removes an entry that has left its lists.
    pub fn remove(&mut self, at: usize) -> T {
        self.0.remove(at).value
    }

    pub fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at).map(|node| &node.value)
    }

    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.0.get_mut(at).map(|node| &mut node.value)
    }

    /// Puts an entry at the end of a list.
    pub fn append(&mut self, list: usize, ends: &mut Ends, at: usize) {
        self.0[at].links[list] = Link { before: ends.last, after: NONE };
        match ends.last {
            NONE => ends.first = at,
            last => self.0[last].links[list].after = at,
        }
        ends.last = at;
        ends.len += 1;
    }

    /// Removes an entry from a list that contains it.
    pub fn unlink(&mut self, list: usize, ends: &mut Ends, at: usize) {
        let Link { before, after } = self.0[at].links[list];
        match before {
            NONE => ends.first = after,
            before => self.0[before].links[list].after = after,
        }
        match after {
            NONE => ends.last = before,
            after => self.0[after].links[list].before = before,
        }
        ends.len -= 1;
    }

    /// A list from its beginning.
    pub fn walk(&self, list: usize, ends: Ends) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(ends.first(), move |at| {
            let after = self.0[*at].links[list].after;
            (after != NONE).then_some(after)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_leaves_one_list_and_stays_in_the_other() {
        let (mut all, mut ends) = (Chained::<char, 2>::default(), [Ends::default(); 2]);
        let at = ['a', 'b', 'c'].map(|c| all.insert(c));
        for at in at {
            all.append(0, &mut ends[0], at);
            all.append(1, &mut ends[1], at);
        }
        let contents = |all: &Chained<char, 2>, list, ends| {
            all.walk(list, ends).filter_map(|at| all.get(at)).collect::<String>()
        };
        all.unlink(0, &mut ends[0], at[1]);
        assert_eq!((contents(&all, 0, ends[0]), contents(&all, 1, ends[1])), ("ac".into(), "abc".into()));
        for (list, at) in [(0, at[0]), (0, at[2]), (1, at[0])] {
            all.unlink(list, &mut ends[list], at);
        }
        assert_eq!((ends[0].len(), ends[0].first(), ends[0].last()), (0, None, None));
        assert_eq!(
            (contents(&all, 1, ends[1]), ends[1].first(), ends[1].last()),
            ("bc".into(), Some(at[1]), Some(at[2]))
        );
        all.append(0, &mut ends[0], at[2]);
        assert_eq!((contents(&all, 0, ends[0]), ends[0].len()), ("c".into(), 1));
    }
}
