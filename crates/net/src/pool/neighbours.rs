//! Facts about a pool's contents, for an explanation why a request found no connection in it.

use std::collections::VecDeque;

use super::Pool;
use super::pooled::{PoolKey, Session};
use super::queue::KeyOf;
use super::request::{Eviction, Neighbour};

/// Most evictions that are remembered.
const MAX_EVICTIONS: usize = 32;

/// The last evictions, oldest first.
pub(super) struct Evictions<K>(VecDeque<(K, Eviction)>);

impl<K> Default for Evictions<K> {
    fn default() -> Self {
        Evictions(VecDeque::new())
    }
}

impl<K: PartialEq> Evictions<K> {
    /// Records one.
    pub fn note(&mut self, key: K, why: Eviction) {
        if self.0.len() == MAX_EVICTIONS {
            self.0.pop_front();
        }
        self.0.push_back((key, why));
    }

    /// Takes the last eviction of a key.
    fn take(&mut self, key: &K) -> Option<Eviction> {
        let at = self.0.iter().rposition(|(known, _)| known == key)?;
        self.0.remove(at).map(|(_, why)| why)
    }
}

impl<S: Session + ?Sized> Pool<S> {
    /// Returns the connections to an origin, by key: those here, and those of the pools that are searched,
    /// too.
    pub fn neighbours(&self, origin: &<KeyOf<S> as PoolKey>::Origin) -> Vec<Neighbour<KeyOf<S>>> {
        let (mut all, pools) = {
            let state = self.0.state();
            (state.table.neighbours(origin), [state.in_front.clone(), state.behind.clone()])
        };
        pools.iter().flatten().for_each(|pool| all.extend(pool.neighbours(origin)));
        all
    }

    /// Remembers evictions from now on.
    pub fn watch_evictions(&self) {
        self.0.cell.borrow_mut().evictions.get_or_insert_default();
    }

    /// Takes the reason why a connection of that key was closed to make room, if it is known.
    pub fn take_eviction(&self, key: &KeyOf<S>) -> Option<Eviction> {
        self.0.cell.borrow_mut().evictions.as_mut()?.take(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_eviction_of_a_key_is_returned_once() {
        let mut evictions = Evictions::default();
        evictions.note(1, Eviction::Idle);
        evictions.note(1, Eviction::Kept(5));
        evictions.note(2, Eviction::Limit);
        assert_eq!(evictions.take(&1), Some(Eviction::Kept(5)));
        assert_eq!(evictions.take(&1), Some(Eviction::Idle));
        assert_eq!((evictions.take(&1), evictions.take(&3)), (None, None));
        (0..MAX_EVICTIONS).for_each(|n| evictions.note(10 + n, Eviction::Idle));
        assert_eq!(evictions.take(&2), None, "an old one is forgotten");
    }
}
