//! The table of a pool: bundles by connection key, and the idle connections of each.
//!
//! An idle connection is in three lists, by age: of all, of its origin, of its bundle. So the most recently
//! used one, the one to close for lack of room, and the one to close for its host's limit are each found in
//! one step. A bundle lives as long as it has an idle connection or a reference; an origin as long as its
//! bundles.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use slab::Slab;

use super::chain::{Chained, Ends};
use super::pooled::{Ahead, PoolKey, Pooled};
use super::request::{AcquireRequest, Neighbour};

/// Number of connections in a bundle that are compared for the cheapest one, if commands were sent ahead on
/// them.
const MAX_EXAMINED: usize = 32;

/// Most keys of one origin that are listed to explain why none of them serves a request.
const MAX_NEIGHBOURS: usize = 32;

/// Most entries for which an unused table has storage.
const SMALL: usize = 16;

/// The lists of an idle connection.
const ALL: usize = 0;
const ORIGIN: usize = 1;
const BUNDLE: usize = 2;

/// Bundles, with additional data of each and of each origin.
pub(super) struct Table<C: Pooled, B, O> {
    /// An idle connection that is the only content. It has no entry below: a program that makes one request
    /// after the other, with a handle each, would make and remove the same entries for each of them.
    alone: Option<C>,
    idle: Chained<Idle<C>, 3>,
    all: Ends,
    bundles: Slab<Bundle<C::Key, B>>,
    origins: Slab<OriginEntry<OriginOf<C>, O>>,
    by_key: HashMap<C::Key, usize, BuildHasherDefault<KeyHasher>>,
    by_origin: HashMap<OriginOf<C>, usize>,
    /// Idle connections looked at so far, to find one.
    pub looks: u64,
    /// Idle connections so far.
    numbers: u64,
}

/// The origin to which a connection leads.
type OriginOf<C> = <<C as Pooled>::Key as PoolKey>::Origin;

struct Idle<C> {
    /// `None` while it is being checked.
    connection: Option<C>,
    bundle: usize,
    number: u64,
}

/// The place of a connection that is out. Another may have it when that comes back.
pub(super) struct Loan {
    at: usize,
    number: u64,
}

/// The data of one key.
pub(super) struct Bundle<K, B> {
    key: K,
    pub origin: usize,
    idle: Ends,
    holds: usize,
    pub live: B,
}

/// The data of one origin.
struct OriginEntry<N, O> {
    name: N,
    idle: Ends,
    bundles: usize,
    live: O,
}

/// The hash of a key has been computed when it was made.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a key gives its number")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl<C: Pooled, B, O> Default for Table<C, B, O> {
    fn default() -> Self {
        Table {
            alone: None,
            idle: Chained::default(),
            all: Ends::default(),
            bundles: Slab::new(),
            origins: Slab::new(),
            by_key: HashMap::default(),
            by_origin: HashMap::new(),
            looks: 0,
            numbers: 0,
        }
    }
}

impl<C: Pooled, B: Default, O: Default> Table<C, B, O> {
    /// Returns whether there is no connection, and nobody holds a bundle.
    pub fn is_empty(&self) -> bool {
        self.alone.is_none() && self.bundles.is_empty()
    }

    /// Whether it has no entry, and little storage.
    pub fn is_unused(&self) -> bool {
        let empty = self.is_empty() && self.all.len() == 0 && self.origins.is_empty();
        empty && self.idle.capacity().max(self.bundles.capacity()) <= SMALL
    }

    /// Adds an idle connection to an empty table, without entries; returns it if the table is not empty.
    pub fn put_alone(&mut self, connection: C) -> Result<(), C> {
        if !self.is_empty() {
            return Err(connection);
        }
        self.alone = Some(connection);
        Ok(())
    }

    /// Takes out the connection without entries, if there is one and it matches the request.
    pub fn take_alone(&mut self, wish: AcquireRequest<'_, C::Key>) -> Option<C> {
        let matches = |c: &mut C| wish.admits(c.is_by_quic()) && c.key() == wish.key;
        let found = self.alone.take_if(matches)?;
        self.looks += 1;
        Some(found)
    }

    /// Takes out the connection without entries, whatever its key.
    pub fn take_only(&mut self) -> Option<C> {
        self.alone.take()
    }

    /// Returns the connection without entries.
    pub fn only(&self) -> Option<&C> {
        self.alone.as_ref()
    }

    /// Gives the connection without entries its entries. All methods below see entries alone.
    #[inline]
    pub fn settle(&mut self) {
        if self.alone.is_some() {
            self.enter_alone();
        }
    }

    #[cold]
    fn enter_alone(&mut self) {
        if let Some(connection) = self.alone.take() {
            self.put(connection);
        }
    }

    /// Returns whether a reference to that bundle is all that there is.
    pub fn has_only(&self, bundle: usize) -> bool {
        let few = self.bundles.len() == 1 && self.all.len() == 0 && self.alone.is_none();
        few && self.bundles.get(bundle).is_some_and(|bundle| bundle.holds == 1)
    }

    /// Makes an unused table as new, and keeps its storage.
    pub fn renew(&mut self) {
        (self.looks, self.numbers) = (0, 0);
    }

    /// The bundle of a key, if there is one.
    pub fn find(&self, key: &C::Key) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    /// The table's own copy of a key.
    pub fn known(&self, key: &C::Key) -> Option<C::Key> {
        self.find(key).map(|at| self.bundles[at].key.clone())
    }

    /// Returns the bundle of a key with a new reference; it lives until all references are released.
    pub fn hold(&mut self, key: &C::Key) -> usize {
        let at = self.enter(key);
        self.bundles[at].holds += 1;
        at
    }

    /// Releases a reference.
    pub fn let_go(&mut self, bundle: usize) {
        let Some(held) = self.bundles.get_mut(bundle) else { return };
        held.holds = held.holds.saturating_sub(1);
        self.prune(bundle);
    }

    pub fn bundle(&mut self, at: usize) -> Option<&mut Bundle<C::Key, B>> {
        self.bundles.get_mut(at)
    }

    /// All bundles.
    pub fn bundles(&mut self) -> impl Iterator<Item = (usize, &mut Bundle<C::Key, B>)> {
        self.bundles.iter_mut()
    }

    pub fn origin(&mut self, at: usize) -> Option<&mut O> {
        self.origins.get_mut(at).map(|place| &mut place.live)
    }

    /// All origins.
    pub fn origins(&mut self) -> impl Iterator<Item = (usize, &mut O)> {
        self.origins.iter_mut().map(|(at, place)| (at, &mut place.live))
    }

    /// How many idle connections there are.
    pub fn idle_len(&self) -> usize {
        self.all.len()
    }

    /// How many of them belong to that origin.
    pub fn idle_of(&self, origin: usize) -> usize {
        self.origins.get(origin).map_or(0, |place| place.idle.len())
    }

    /// Adds an idle connection; the bundle in which it is.
    pub fn put(&mut self, connection: C) -> usize {
        let bundle = self.enter(connection.key());
        self.numbers += 1;
        let at = self.idle.insert(Idle { connection: Some(connection), bundle, number: self.numbers });
        let held = &mut self.bundles[bundle];
        self.idle.append(ALL, &mut self.all, at);
        self.idle.append(ORIGIN, &mut self.origins[held.origin].idle, at);
        self.idle.append(BUNDLE, &mut held.idle, at);
        bundle
    }

    /// Returns the most recently used idle connection of a bundle that is not being checked. If commands were
    /// sent ahead, prefers one that is ready, or that had the most time to become so.
    pub fn best(&mut self, bundle: usize, wish: AcquireRequest<'_, C::Key>) -> Option<usize> {
        let ends = self.bundles.get(bundle)?.idle;
        let last = ends.last()?;
        self.looks += 1;
        let fits = self.fits(last, wish);
        if fits && self.rank(last) == Ahead::Nothing {
            return Some(last);
        }
        let mut best = (fits.then_some(last), Ahead::Nothing);
        for at in self.idle.walk(BUNDLE, ends).take(MAX_EXAMINED) {
            self.looks += 1;
            let rank = self.rank(at);
            if (rank > best.1 || best.0.is_none()) && self.fits(at, wish) {
                best = (Some(at), rank);
            }
        }
        best.0
    }

    /// Returns the one that has been idle for longest.
    pub fn oldest(&self) -> Option<usize> {
        self.all.first()
    }

    /// Returns the longest idle one that is not being checked.
    pub fn oldest_at_hand(&self) -> Option<usize> {
        let at_hand = |at: &usize| self.idle.get(*at).is_some_and(|idle| idle.connection.is_some());
        self.idle.walk(ALL, self.all).find(at_hand)
    }

    /// Returns the longest idle one of an origin that is not being checked.
    pub fn oldest_of(&self, origin: usize) -> Option<usize> {
        self.origins.get(origin)?.idle.first()
    }

    /// The origin of an idle connection.
    pub fn origin_of(&self, at: usize) -> Option<usize> {
        Some(self.bundles.get(self.idle.get(at)?.bundle)?.origin)
    }

    /// Returns the connections to one origin, by key.
    pub fn neighbours(&self, origin: &OriginOf<C>) -> Vec<Neighbour<C::Key>> {
        let of_origin = self.bundles.iter().filter(|(_, bundle)| bundle.key.origin() == origin);
        let row = |bundle: &Bundle<C::Key, B>| Neighbour {
            key: bundle.key.clone(),
            idle: bundle.idle.len(),
            used: bundle.holds,
        };
        of_origin.map(|(_, bundle)| row(bundle)).take(MAX_NEIGHBOURS).collect()
    }

    /// The name of that origin.
    pub fn name_of(&self, at: usize) -> Option<&OriginOf<C>> {
        Some(self.bundles.get(self.idle.get(at)?.bundle)?.key.origin())
    }

    /// Returns an idle connection, unless it is being checked.
    pub fn examine(&mut self, at: usize) -> Option<&C> {
        self.looks += 1;
        self.idle.get(at)?.connection.as_ref()
    }

    /// Takes out an idle connection.
    pub fn take(&mut self, at: usize) -> Option<C> {
        let bundle = self.idle.get(at)?.bundle;
        let held = &mut self.bundles[bundle];
        self.idle.unlink(ALL, &mut self.all, at);
        self.idle.unlink(ORIGIN, &mut self.origins[held.origin].idle, at);
        self.idle.unlink(BUNDLE, &mut held.idle, at);
        self.prune(bundle);
        self.idle.remove(at).connection
    }

    /// The places of all idle connections, the longest idle first.
    pub fn places(&self) -> Vec<usize> {
        self.idle.walk(ALL, self.all).collect()
    }

    /// Returns the place of the idle connection with this number.
    pub fn place_of(&self, number: u64) -> Option<usize> {
        let is_it = |connection: &C| connection.number() == number;
        self.idle
            .walk(ALL, self.all)
            .find(|at| self.idle.get(*at).is_some_and(|idle| idle.connection.as_ref().is_some_and(is_it)))
    }

    /// Returns the idle connections of a bundle.
    pub fn places_of(&self, bundle: usize) -> Vec<usize> {
        let ends = self.bundles.get(bundle).map_or_else(Ends::default, |b| b.idle);
        self.idle.walk(BUNDLE, ends).collect()
    }

    /// All idle connections, the longest idle first.
    pub fn all(&self) -> impl Iterator<Item = &C> {
        self.idle.walk(ALL, self.all).filter_map(|at| self.idle.get(at)?.connection.as_ref())
    }

    /// Lends an idle connection, which keeps its place.
    pub fn lend(&mut self, at: usize) -> Option<(Loan, C)> {
        let idle = self.idle.get_mut(at)?;
        Some((Loan { at, number: idle.number }, idle.connection.take()?))
    }

    /// Takes back a lent connection, or `None` if it is closed. If its place was removed meanwhile, returns
    /// the connection.
    pub fn put_back(&mut self, loan: Loan, connection: Option<C>) -> Option<C> {
        let own = self.idle.get_mut(loan.at).filter(|idle| idle.number == loan.number);
        match (own, connection) {
            (Some(idle), Some(connection)) => idle.connection.replace(connection),
            (Some(_), None) => self.take(loan.at),
            (None, left_over) => left_over,
        }
    }

    /// Takes out everything that is idle, the longest idle first.
    pub fn drain(&mut self) -> VecDeque<C> {
        let places = self.places();
        places.into_iter().filter_map(|at| self.take(at)).collect()
    }

    fn fits(&self, at: usize, wish: AcquireRequest<'_, C::Key>) -> bool {
        let connection = self.idle.get(at).and_then(|idle| idle.connection.as_ref());
        connection.is_some_and(|connection| wish.admits(connection.is_by_quic()))
    }

    fn rank(&self, at: usize) -> Ahead {
        let connection = self.idle.get(at).and_then(|idle| idle.connection.as_ref());
        connection.map_or(Ahead::Nothing, Pooled::ahead)
    }

    fn enter(&mut self, key: &C::Key) -> usize {
        if let Some(at) = self.by_key.get(key) {
            return *at;
        }
        let origin = self.enter_origin(key.origin());
        self.origins[origin].bundles += 1;
        let bundle = Bundle { key: key.clone(), origin, idle: Ends::default(), holds: 0, live: B::default() };
        let at = self.bundles.insert(bundle);
        self.by_key.insert(key.clone(), at);
        at
    }

    fn enter_origin(&mut self, name: &OriginOf<C>) -> usize {
        if let Some(at) = self.by_origin.get(name) {
            return *at;
        }
        let place = OriginEntry { name: name.clone(), idle: Ends::default(), bundles: 0, live: O::default() };
        let at = self.origins.insert(place);
        self.by_origin.insert(name.clone(), at);
        at
    }

    /// Removes an unused bundle, and its origin with the last one.
    fn prune(&mut self, bundle: usize) {
        let held = &self.bundles[bundle];
        if held.holds > 0 || held.idle.len() > 0 {
            return;
        }
        let gone = self.bundles.remove(bundle);
        self.by_key.remove(&gone.key);
        let place = &mut self.origins[gone.origin];
        place.bundles -= 1;
        if place.bundles == 0 {
            let gone = self.origins.remove(gone.origin);
            self.by_origin.remove(&gone.name);
        }
    }
}
