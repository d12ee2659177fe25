//! Process-wide cache of parsed files (trust anchors, hosts, resolv.conf), invalidated when the file changes.
//!
//! Threads that need an entry wait for the one that reads it. In a forked child the thread that held a lock
//! may not exist, so every wait is bounded; after that the caller reads the file itself.
//!
//! tests/kept_interleavings.rs compiles this file once more, with locks and a clock whose order of steps a
//! seed decides.

use std::time::Duration;

use crate::sync::{Arc, Instant, Mutex, MutexGuard, TryLockError, pause};

/// Maximum number of entries; an application rarely needs more than one.
const MOST: usize = 16;
/// Longest waits for the list and for a thread that reads.
const FOR_LIST: Duration = Duration::from_millis(50);
const FOR_READER: Duration = Duration::from_secs(2);

/// Values that were read, by key, each with a stamp of the state in which its source was read.
pub(crate) struct FileCache<K, S, V>(Mutex<Vec<(K, Slot<S, V>)>>);

type Slot<S, V> = Arc<Mutex<Option<CachedFile<S, V>>>>;

struct CachedFile<S, V> {
    stamp: S,
    at: Instant,
    value: Arc<V>,
}

impl<K: Clone + PartialEq, S: PartialEq, V> FileCache<K, S, V> {
    pub const fn new() -> FileCache<K, S, V> {
        FileCache(Mutex::new(Vec::new()))
    }

    /// Returns the cached value if it is younger than `keep` and its stamp is unchanged; otherwise reads it.
    pub fn get<E>(
        &self,
        key: &K,
        keep: Option<Duration>,
        stamp: impl FnOnce() -> S,
        read: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        let slot = if keep == Some(Duration::ZERO) { None } else { self.slot(key) };
        let Some(slot) = slot else { return read().map(Arc::new) };
        let Some(mut known) = patiently(&slot, FOR_READER) else { return read().map(Arc::new) };
        // Taken before reading: a change during the read is noticed the next time.
        let stamp = stamp();
        let is_good = |known: &&CachedFile<S, V>| {
            known.stamp == stamp && keep.is_none_or(|keep| known.at.elapsed() < keep)
        };
        if let Some(known) = known.as_ref().filter(is_good) {
            return Ok(known.value.clone());
        }
        let value = Arc::new(read()?);
        *known = Some(CachedFile { stamp, at: Instant::now(), value: value.clone() });
        Ok(value)
    }

    /// Returns the value that was read last, current or not.
    pub fn last(&self, key: &K) -> Option<Arc<V>> {
        let slot = self.slot(key)?;
        let known = patiently(&slot, FOR_READER)?;
        known.as_ref().map(|known| known.value.clone())
    }

    fn slot(&self, key: &K) -> Option<Slot<S, V>> {
        let mut list = patiently(&self.0, FOR_LIST)?;
        if let Some((_, slot)) = list.iter().find(|(known, _)| known == key) {
            return Some(slot.clone());
        }
        if list.len() == MOST {
            list.remove(0);
        }
        let slot = Slot::new(Mutex::new(None));
        list.push((key.clone(), slot.clone()));
        Some(slot)
    }
}

fn patiently<T>(lock: &Mutex<T>, limit: Duration) -> Option<MutexGuard<'_, T>> {
    let start = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(p)) => return Some(p.into_inner()),
            Err(TryLockError::WouldBlock) if start.elapsed() > limit => return None,
            Err(TryLockError::WouldBlock) => pause(Duration::from_micros(200)),
        }
    }
}
