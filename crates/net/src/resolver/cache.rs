//! The resolve cache of a multi handle or a share: answers with their age, family by
//! family, what is not there for half as long, pinned entries.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lookup::Family;
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
enum Entry {
    /// An application's word. `None`: it never goes stale.
    Pinned(Arc<Addresses>, Option<Instant>),
    /// Looked up.
    Parts(Parts),
}

/// What is known of each family.
#[derive(Clone, Default)]
pub(super) struct Parts([Option<Known>; 2]);

/// What came of one question.
#[derive(Clone)]
pub(super) struct Known {
    /// Empty: the name has no such address. `None`: it was asked and nobody waited for the answer.
    pub list: Option<Arc<[SocketAddr]>>,
    /// When it came.
    pub at: Instant,
}

/// What the cache has of a name.
pub(super) enum Kept {
    Pinned(Arc<Addresses>),
    Parts(Parts),
}

impl Parts {
    pub(super) fn of(&self, family: Family) -> Option<&Known> {
        self.0[family as usize].as_ref()
    }
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
                table.insert(&host, port, Entry::Pinned(addresses, made));
            }
        }
        Ok(())
    }

    /// Whether the addresses of this host are an application's word.
    pub fn is_pinned(&self, host: &str, port: u16, wildcards: bool) -> bool {
        let entry = self.table().get(&host.to_ascii_lowercase(), port, wildcards);
        matches!(entry, Some(Entry::Pinned(..)))
    }

    /// What is known of a name, as far as it is not too old.
    pub(super) fn find(&self, name: &str, port: u16, options: &ResolveOptions, now: Instant) -> Kept {
        let mut table = self.table();
        match table.get(name, port, options.wildcards) {
            Some(Entry::Pinned(addresses, made)) if !is_old(made, options.ttl, now) => {
                let admitted = admitted(addresses, options.ip_version);
                Kept::Pinned(if options.shuffle && made.is_none() { shuffled(&admitted) } else { admitted })
            }
            Some(Entry::Parts(mut parts)) => {
                parts.0.iter_mut().for_each(|known| {
                    known.take_if(|known| known.is_stale(options.ttl, now));
                });
                Kept::Parts(parts)
            }
            Some(Entry::Pinned(..)) => {
                table.remove(name, port);
                Kept::Parts(Parts::default())
            }
            None => Kept::Parts(Parts::default()),
        }
    }

    /// Keeps the answer for one family and returns it, shuffled if wanted.
    pub(super) fn remember(
        &self,
        name: &str,
        port: u16,
        family: Family,
        mut list: Vec<SocketAddr>,
        options: &ResolveOptions,
        now: Instant,
    ) -> Arc<[SocketAddr]> {
        if options.shuffle {
            shuffle(&mut list);
        }
        let list: Arc<[SocketAddr]> = list.into();
        self.keep((name, port), family, Known { list: Some(list.clone()), at: now }, options);
        list
    }

    /// Keeps in mind that a question was asked whose answer nobody waited for.
    pub(super) fn note_asked(
        &self,
        name: &str,
        port: u16,
        family: Family,
        options: &ResolveOptions,
        now: Instant,
    ) {
        self.keep((name, port), family, Known { list: None, at: now }, options);
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

    fn keep(&self, (name, port): (&str, u16), family: Family, known: Known, options: &ResolveOptions) {
        if options.ttl == Some(Duration::ZERO) {
            return;
        }
        let mut table = self.table();
        table.make_room(options.ttl, known.at);
        match table.entries.get_mut(&(name.to_owned(), port)) {
            Some(Entry::Parts(parts)) => parts.0[family as usize] = Some(known),
            Some(Entry::Pinned(..)) => {} // while it was looked up, the application has said it
            None => {
                let mut parts = Parts::default();
                parts.0[family as usize] = Some(known);
                table.insert(name, port, Entry::Parts(parts));
            }
        }
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
        let mut made: Vec<Instant> = self.entries.values().filter_map(Entry::made).collect();
        made.sort_unstable();
        let middle = made.get(made.len() / 2).copied();
        self.entries.retain(|_, entry| entry.made().is_none() || entry.made() > middle);
    }
}

impl Entry {
    /// When it was; `None` for what stays.
    fn made(&self) -> Option<Instant> {
        match self {
            Entry::Pinned(_, made) => *made,
            Entry::Parts(parts) => parts.0.iter().flatten().map(|known| known.at).max(),
        }
    }

    fn is_stale(&self, ttl: Option<Duration>, now: Instant) -> bool {
        match self {
            Entry::Pinned(_, made) => is_old(*made, ttl, now),
            Entry::Parts(parts) => parts.0.iter().flatten().all(|known| known.is_stale(ttl, now)),
        }
    }
}

impl Known {
    /// That there is nothing ages twice as fast, as in curl.
    fn is_stale(&self, ttl: Option<Duration>, now: Instant) -> bool {
        let Some(ttl) = ttl else { return false };
        let age = now.saturating_duration_since(self.at);
        let nothing = self.list.as_ref().is_none_or(|list| list.is_empty());
        (if nothing { age * 2 } else { age }) >= ttl
    }
}

fn is_old(made: Option<Instant>, ttl: Option<Duration>, now: Instant) -> bool {
    let (Some(made), Some(ttl)) = (made, ttl) else { return false };
    now.saturating_duration_since(made) >= ttl
}

/// Those of a wanted family.
fn admitted(addresses: Arc<Addresses>, wanted: IpVersion) -> Arc<Addresses> {
    if addresses.list.iter().all(|a| wanted.admits(&a.ip())) {
        return addresses;
    }
    let list = addresses.list.iter().filter(|a| wanted.admits(&a.ip())).copied().collect();
    Arc::new(Addresses { list })
}

/// Pinned addresses are put in another order at each use: nobody looks them up.
fn shuffled(addresses: &Addresses) -> Arc<Addresses> {
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
