//! The resolve cache of a multi handle or a share: answers with their age, failures for half as long, pinned entries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::pins::Pin;
use super::{Addresses, IpVersion, ResolveOptions};
use crate::error::NetError;

/// As many entries as curl keeps; beyond it the old ones go.
const ENTRIES: usize = 29_999;

/// A cache that may be shared between threads.
#[derive(Default)]
pub struct ResolveCache(Mutex<Table>);

#[derive(Default)]
struct Table {
    entries: HashMap<(String, u16), Entry>,
    /// Entries for every host, by port (`*:PORT:ADDRESS`).
    wildcards: HashMap<u16, Entry>,
}

#[derive(Clone)]
struct Entry {
    /// Empty: the name has no address.
    addresses: Arc<Addresses>,
    ip_version: IpVersion,
    /// `None`: never goes stale.
    made: Option<Instant>,
    /// Nobody looked it up: an application said so.
    pinned: bool,
}

impl ResolveCache {
    /// An empty cache.
    pub fn new() -> ResolveCache {
        ResolveCache::default()
    }

    /// Applies one CURLOPT_RESOLVE entry: `[+]HOST:PORT:ADDRESS[,ADDRESS]...` or `-HOST:PORT`.
    pub fn pin(&self, entry: &str, now: Instant) -> Result<(), NetError> {
        let pin = Pin::parse(entry)?;
        let mut table = self.table();
        match pin {
            Pin::Remove { host, port } => {
                table.remove(&host, port);
            }
            Pin::Nothing => {}
            Pin::Add { host, port, addresses, lasting } => {
                let made = (!lasting).then_some(now);
                table.insert(
                    &host,
                    port,
                    Entry { addresses, ip_version: IpVersion::Any, made, pinned: true },
                );
            }
        }
        Ok(())
    }

    /// Whether the addresses of this host are an application's word.
    pub fn is_pinned(&self, host: &str, port: u16, wildcards: bool) -> bool {
        self.table().get(&host.to_ascii_lowercase(), port, wildcards).is_some_and(|entry| entry.pinned)
    }

    /// `Some(None)` is a remembered failure.
    pub(super) fn find(
        &self,
        name: &str,
        port: u16,
        options: &ResolveOptions,
        now: Instant,
    ) -> Option<Option<Arc<Addresses>>> {
        let mut table = self.table();
        let entry = table.get(name, port, options.wildcards)?;
        if entry.is_stale(options.ttl, now) {
            table.remove(name, port);
            return None;
        }
        if entry.ip_version != options.ip_version && entry.ip_version != IpVersion::Any {
            return None; // asked for another family then
        }
        let found = entry.admitted(options.ip_version);
        Some(if options.shuffle && entry.made.is_none() { found.map(shuffled) } else { found })
    }

    /// Keeps an answer and returns it, shuffled if wanted.
    pub(super) fn remember(
        &self,
        name: &str,
        port: u16,
        mut addresses: Addresses,
        options: &ResolveOptions,
        now: Instant,
    ) -> Arc<Addresses> {
        if options.shuffle {
            shuffle(&mut addresses.list);
        }
        let addresses = Arc::new(addresses);
        self.keep(name, port, addresses.clone(), options, now);
        addresses
    }

    pub(super) fn remember_failure(&self, name: &str, port: u16, options: &ResolveOptions, now: Instant) {
        self.keep(name, port, Arc::default(), options, now);
    }

    /// How many entries there are, pinned ones included.
    pub fn len(&self) -> usize {
        let table = self.table();
        table.entries.len() + table.wildcards.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything, pinned entries too.
    pub fn clear(&self) {
        *self.table() = Table::default();
    }

    fn keep(&self, name: &str, port: u16, addresses: Arc<Addresses>, options: &ResolveOptions, now: Instant) {
        if options.ttl == Some(Duration::ZERO) {
            return;
        }
        let mut table = self.table();
        table.make_room(options.ttl, now);
        let entry = Entry { addresses, ip_version: options.ip_version, made: Some(now), pinned: false };
        table.insert(name, port, entry);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn get(&self, name: &str, port: u16, wildcards: bool) -> Option<Entry> {
        let own = self.entries.get(&(name.to_owned(), port));
        own.or_else(|| self.wildcards.get(&port).filter(|_| wildcards)).cloned()
    }

    fn insert(&mut self, name: &str, port: u16, entry: Entry) {
        match name {
            "*" => self.wildcards.insert(port, entry),
            _ => self.entries.insert((name.to_owned(), port), entry),
        };
    }

    fn remove(&mut self, name: &str, port: u16) {
        match name {
            "*" => self.wildcards.remove(&port),
            _ => self.entries.remove(&(name.to_owned(), port)),
        };
    }

    /// Drops what is stale, and when that is not enough the older half of what would ever become so.
    fn make_room(&mut self, ttl: Option<Duration>, now: Instant) {
        if self.entries.len() < ENTRIES {
            return;
        }
        self.entries.retain(|_, entry| !entry.is_stale(ttl, now));
        if self.entries.len() < ENTRIES {
            return;
        }
        let mut made: Vec<Instant> = self.entries.values().filter_map(|entry| entry.made).collect();
        made.sort_unstable();
        let middle = made.get(made.len() / 2).copied();
        self.entries.retain(|_, entry| entry.made.is_none() || entry.made > middle);
    }
}

impl Entry {
    /// Failures age twice as fast, as in curl.
    fn is_stale(&self, ttl: Option<Duration>, now: Instant) -> bool {
        let (Some(made), Some(ttl)) = (self.made, ttl) else { return false };
        let age = now.saturating_duration_since(made);
        let age = if self.addresses.list.is_empty() { age * 2 } else { age };
        age >= ttl
    }

    /// The addresses of a wanted family; none is the same as a failure.
    fn admitted(&self, wanted: IpVersion) -> Option<Arc<Addresses>> {
        if self.addresses.list.iter().all(|a| wanted.admits(&a.ip())) {
            return (!self.addresses.list.is_empty()).then(|| self.addresses.clone());
        }
        let list: Vec<_> = self.addresses.list.iter().filter(|a| wanted.admits(&a.ip())).copied().collect();
        (!list.is_empty()).then(|| Arc::new(Addresses { list }))
    }
}

/// Pinned addresses are put in another order at each use: nobody looks them up.
fn shuffled(addresses: Arc<Addresses>) -> Arc<Addresses> {
    let mut list = addresses.list.clone();
    shuffle(&mut list);
    Arc::new(Addresses { list })
}

/// Fisher-Yates, with the randomness that std's hash maps are seeded with: order, not secrecy, depends on it.
fn shuffle<T>(list: &mut [T]) {
    use std::hash::{BuildHasher, RandomState};
    let seed = RandomState::new();
    for last in (1..list.len()).rev() {
        let other = (seed.hash_one(last) % (last as u64 + 1)) as usize;
        list.swap(last, other);
    }
}
