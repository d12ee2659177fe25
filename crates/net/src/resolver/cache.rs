//! The resolve cache of a multi handle or a share: answers with their age, by address family; negative
//! answers for half as long; pinned entries.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wire::dns::Binding;

use super::candidate::Part;
use super::family::Family;
use super::options::{Addresses, IpVersion, ResolveOptions};
use super::pins::Pin;
use crate::error::NetError;

/// Maximum number of entries, as in curl; beyond it old ones are removed.
const ENTRIES: usize = 29_999;

/// Minimum lifetime of an answer, even with a TTL of zero: for the transfer that asked, and for concurrent
/// ones.
const LEAST: Duration = Duration::from_secs(1);

/// A cache that may be shared between threads.
#[derive(Default)]
pub struct ResolveCache(Mutex<Table>);

#[derive(Default)]
struct Table {
    entries: HashMap<(String, u16), Entry>,
    /// Entries for every host, by port (`*:PORT:ADDRESS`).
    wildcards: HashMap<u16, Entry>,
    /// Whether the application has ever set an entry. In most programs it never does.
    has_pins: bool,
}

#[derive(Clone)]
enum Entry {
    /// Set by the application. `None`: it never becomes stale.
    Pinned(Arc<Addresses>, Option<Instant>),
    /// Looked up.
    Parts(Parts),
}

/// The answers for each family, and for services.
#[derive(Clone, Default)]
pub(super) struct Parts {
    addresses: [Option<CachedAnswer<SocketAddr>>; 2],
    pub services: Option<CachedAnswer<Binding>>,
}

/// The answer to one query.
pub(super) struct CachedAnswer<T> {
    /// Empty: a negative answer. `None`: the query was sent, and nobody waited for the answer.
    pub list: Option<Arc<[T]>>,
    /// The time of the answer.
    pub at: Instant,
    /// The TTL of the name server.
    pub ttl: Option<Duration>,
}

impl<T> Clone for CachedAnswer<T> {
    fn clone(&self) -> CachedAnswer<T> {
        CachedAnswer { list: self.list.clone(), ..*self }
    }
}

/// A list, with the TTL of the name server.
pub(super) type Lasting<T> = (Vec<T>, Option<Duration>);

/// The cached state of a name.
pub(super) enum CachedName {
    Pinned(Arc<Addresses>),
    Parts(Parts),
}

impl Parts {
    pub(super) fn of(&self, family: Family) -> Option<&CachedAnswer<SocketAddr>> {
        self.addresses[family as usize].as_ref()
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
                table.has_pins = true;
                let made = (!lasting).then_some(now);
                table.insert(&host, port, Entry::Pinned(addresses, made));
            }
        }
        Ok(())
    }

    /// Whether the addresses of this host are an application's word.
    pub fn is_pinned(&self, host: &str, port: u16, wildcards: bool) -> bool {
        let table = self.table();
        let entry = || table.get(&host.to_ascii_lowercase(), port, wildcards);
        table.has_pins && matches!(entry(), Some(Entry::Pinned(..)))
    }

    /// Returns the cached answers for a name that are not stale.
    pub(super) fn find(&self, name: &str, port: u16, options: &ResolveOptions, now: Instant) -> CachedName {
        let mut table = self.table();
        match table.get(name, port, options.wildcards) {
            Some(Entry::Pinned(addresses, made)) if !is_old(*made, options.ttl, now) => {
                let admitted = admitted(addresses.clone(), options.ip_version);
                CachedName::Pinned(if options.shuffle && made.is_none() {
                    shuffled(&admitted)
                } else {
                    admitted
                })
            }
            Some(Entry::Parts(parts)) => {
                let mut parts = parts.clone();
                parts.forget_stale(options.ttl, now);
                CachedName::Parts(parts)
            }
            Some(Entry::Pinned(..)) => {
                table.remove(name, port);
                CachedName::Parts(Parts::default())
            }
            None => CachedName::Parts(Parts::default()),
        }
    }

    /// Stores the answer for one family and returns it, shuffled if requested.
    pub(super) fn remember(
        &self,
        at: (&str, u16),
        family: Family,
        (mut list, ttl): Lasting<SocketAddr>,
        options: &ResolveOptions,
        now: Instant,
    ) -> Arc<[SocketAddr]> {
        if options.shuffle {
            shuffle(&mut list);
        }
        let list: Arc<[SocketAddr]> = list.into();
        let known = CachedAnswer { list: Some(list.clone()), at: now, ttl };
        self.keep(at, options, now, |parts| parts.addresses[family as usize] = Some(known));
        list
    }

    /// Stores the answer about HTTPS records.
    pub(super) fn remember_services(
        &self,
        at: (&str, u16),
        (list, ttl): Lasting<Binding>,
        options: &ResolveOptions,
        now: Instant,
    ) -> Arc<[Binding]> {
        let list: Arc<[Binding]> = list.into();
        let known = CachedAnswer { list: Some(list.clone()), at: now, ttl };
        self.keep(at, options, now, |parts| parts.services = Some(known));
        list
    }

    /// Records that a query was sent whose answer nobody waited for.
    pub(super) fn note_asked(&self, at: (&str, u16), part: Part, options: &ResolveOptions, now: Instant) {
        self.keep(at, options, now, |parts| match part {
            Part::Addresses(family) => {
                parts.addresses[family as usize].get_or_insert(CachedAnswer {
                    list: None,
                    at: now,
                    ttl: None,
                });
            }
            Part::Services => {
                parts.services.get_or_insert(CachedAnswer { list: None, at: now, ttl: None });
            }
        });
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
        let mut table = self.table();
        if !table.entries.is_empty() || !table.wildcards.is_empty() {
            *table = Table::default();
        }
    }

    fn keep(
        &self,
        (name, port): (&str, u16),
        options: &ResolveOptions,
        now: Instant,
        change: impl FnOnce(&mut Parts),
    ) {
        if options.ttl == Some(Duration::ZERO) {
            return;
        }
        let mut table = self.table();
        table.make_room(options.ttl, now);
        match table.entries.entry((name.to_owned(), port)).or_insert_with(Entry::nothing) {
            Entry::Parts(parts) => change(parts),
            Entry::Pinned(..) => {} // while it was looked up, the application has said it
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn get(&self, name: &str, port: u16, wildcards: bool) -> Option<&Entry> {
        let any = !self.entries.is_empty();
        let own = any.then(|| self.entries.get(&(name.to_owned(), port))).flatten();
        own.or_else(|| self.wildcards.get(&port).filter(|_| wildcards))
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

    /// Removes stale entries and, if that is not enough, the older half of the others that can become stale.
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
    /// Returns an entry without answers.
    fn nothing() -> Entry {
        Entry::Parts(Parts::default())
    }

    /// Returns the time of the entry; `None` if it never becomes stale.
    fn made(&self) -> Option<Instant> {
        match self {
            Entry::Pinned(_, made) => *made,
            Entry::Parts(parts) => {
                let services = parts.services.iter().map(|known| known.at);
                parts.addresses.iter().flatten().map(|known| known.at).chain(services).max()
            }
        }
    }

    fn is_stale(&self, ttl: Option<Duration>, now: Instant) -> bool {
        match self {
            Entry::Pinned(_, made) => is_old(*made, ttl, now),
            Entry::Parts(parts) => {
                let mut parts = parts.clone();
                parts.forget_stale(ttl, now);
                parts.services.is_none() && parts.addresses.iter().all(Option::is_none)
            }
        }
    }
}

impl Parts {
    fn forget_stale(&mut self, ttl: Option<Duration>, now: Instant) {
        self.addresses.iter_mut().for_each(|known| {
            known.take_if(|known| known.is_stale(ttl, now));
        });
        self.services.take_if(|known| known.is_stale(ttl, now));
    }
}

impl<T> CachedAnswer<T> {
    /// Returns whether the entry is stale. Negative answers age twice as fast, as in curl. A shorter TTL of
    /// the name server counts; an unlimited cache time overrides it.
    fn is_stale(&self, ttl: Option<Duration>, now: Instant) -> bool {
        let Some(ttl) = ttl else { return false };
        let nothing = self.list.as_ref().is_none_or(|list| list.is_empty());
        let limit = if nothing { ttl / 2 } else { ttl };
        now.saturating_duration_since(self.at) >= lifetime(limit, self.ttl)
    }
}

/// Returns how long an answer is used: its TTL, which counts as [`LEAST`] if it is shorter, within a limit.
fn lifetime(limit: Duration, ttl: Option<Duration>) -> Duration {
    ttl.map_or(limit, |own| own.max(LEAST).min(limit))
}

/// Returns when an answer with addresses becomes stale, at least [`LEAST`] after it came; `None` is never.
pub(super) fn fresh_until(at: Instant, limit: Option<Duration>, ttl: Option<Duration>) -> Option<Instant> {
    at.checked_add(lifetime(limit?, ttl).max(LEAST))
}

fn is_old(made: Option<Instant>, ttl: Option<Duration>, now: Instant) -> bool {
    let (Some(made), Some(ttl)) = (made, ttl) else { return false };
    now.saturating_duration_since(made) >= ttl
}

/// Returns the addresses of a requested family.
fn admitted(addresses: Arc<Addresses>, wanted: IpVersion) -> Arc<Addresses> {
    if addresses.list.iter().all(|a| wanted.admits(&a.ip())) {
        return addresses;
    }
    let list = addresses.list.iter().filter(|a| wanted.admits(&a.ip())).copied().collect();
    Arc::new(Addresses { list })
}

/// Returns pinned addresses in a new order at each use, because no look-up shuffles them.
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
