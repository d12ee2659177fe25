//! The pool that threads share (a share's, the process's), in thousands of orders of their steps:
//! src/pool/shared.rs and its table compiled once more, with shuttle's lock and fake connections. Every
//! connection taken matches the request, is alive, fresh enough and belongs to the right key; none is
//! lost or closed without its goodbye, the limits hold, and no code is called under the lock (which would be
//! a deadlock here).
//!
//! `INTERLEAVINGS=n` sets how many orders of each kind are run (400). A failure prints the order to replay.

#[path = "../src/pool/chain.rs"]
#[allow(dead_code)]
mod chain;
#[path = "../src/pool/pooled.rs"]
#[allow(dead_code)]
mod pooled;
#[path = "../src/pool/request.rs"]
#[allow(dead_code)]
mod request;
#[path = "../src/pool/shared.rs"]
#[allow(dead_code)]
mod shared;
#[path = "../src/pool/table.rs"]
#[allow(dead_code)]
mod table;

mod sync {
    pub use shuttle::sync::{Arc, Mutex, MutexGuard, atomic};
    pub use std::sync::PoisonError;
}

mod connection_key {
    use std::hash::{Hash, Hasher};

    use super::pooled::PoolKey;

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Origin(pub u64);

    /// Two keys may be of one origin.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HashedKey {
        pub number: u64,
        pub origin: Origin,
    }

    impl HashedKey {
        pub fn of(number: u64) -> HashedKey {
            HashedKey { number, origin: Origin(number / 2) }
        }
    }

    impl PoolKey for HashedKey {
        type Origin = Origin;

        fn origin(&self) -> &Origin {
            &self.origin
        }
    }

    impl Hash for HashedKey {
        fn hash<H: Hasher>(&self, state: &mut H) {
            state.write_u64(self.number);
        }
    }
}

mod connection {
    use std::time::{Duration, Instant};

    use super::connection_key::HashedKey;
    use super::pooled::{Ahead, Pooled};
    use super::sync::Arc;
    use super::{Fate, Ledger};

    pub struct About {
        pub key: HashedKey,
    }

    pub struct Carrier {
        pub is_attached: bool,
    }

    pub struct Connection {
        pub about: About,
        pub carrier: Carrier,
        pub ahead: Ahead,
        pub last_used: Instant,
        pub kept_up: Instant,
        /// The memory of its protocol: the owner.
        pub memory: u64,
        pub lives: bool,
        pub is_private: bool,
        pub is_inherited: bool,
        /// The number of the connection and of its next record, as TLS counts them.
        pub next_record: (usize, u64),
        /// The connection goes on in another process: nothing ends with this value.
        pub is_moved: bool,
        pub ledger: Arc<Ledger>,
        said_goodbye: bool,
    }

    impl Connection {
        pub fn new(ledger: &Arc<Ledger>, number: u64) -> Connection {
            let mut opened = 0;
            ledger.note(|fates| {
                fates.opened += 1;
                opened = fates.opened;
            });
            Connection {
                about: About { key: HashedKey::of(number) },
                carrier: Carrier { is_attached: true },
                ahead: if number % 2 == 1 { Ahead::Ready } else { Ahead::Nothing },
                last_used: ledger.now(),
                kept_up: ledger.now(),
                memory: number,
                lives: true,
                is_private: false,
                is_inherited: false,
                next_record: (opened, 0),
                is_moved: false,
                ledger: ledger.clone(),
                said_goodbye: false,
            }
        }
    }

    impl Pooled for Box<Connection> {
        type Key = HashedKey;
        type Listed = u64;

        fn key(&self) -> &HashedKey {
            &self.about.key
        }

        fn number(&self) -> u64 {
            self.about.key.number
        }

        fn set_number(&mut self, _: u64) {}

        fn count_use(&mut self) {}

        fn created(&self) -> Instant {
            self.last_used
        }

        fn last_used(&self) -> Instant {
            self.last_used
        }

        fn set_last_used(&mut self, now: Instant) {
            self.last_used = now;
        }

        fn ahead(&self) -> Ahead {
            self.ahead
        }

        fn is_by_quic(&self) -> bool {
            false
        }

        fn is_inherited(&self) -> bool {
            self.is_inherited
        }

        fn is_shareable(&self) -> bool {
            !self.is_private
        }

        fn is_for_one_use(&self) -> bool {
            false
        }

        fn is_alive(&mut self) -> bool {
            self.ledger.foreign();
            self.lives
        }

        fn keep_up(&mut self, interval: Duration, now: Instant) -> bool {
            if now.saturating_duration_since(self.kept_up) < interval {
                return true;
            }
            self.kept_up = now;
            self.is_alive()
        }

        fn attach(&mut self, _: &std::sync::Arc<runtime::Reactor>, _: u64) {
            self.carrier.is_attached = true;
        }

        fn set_owner(&mut self, _: u64) {}

        fn detach(&mut self) {
            self.carrier.is_attached = false;
        }

        fn quieten(&mut self) {}

        fn retire(mut self) {
            self.ledger.foreign();
            self.said_goodbye = true;
        }

        fn listed(&self, _: Instant) -> u64 {
            self.about.key.number
        }
    }

    impl Drop for Connection {
        fn drop(&mut self) {
            if self.is_moved {
                return;
            }
            let may_be_short = !self.lives || self.is_inherited || self.ledger.is_old(self.last_used);
            let fate = Fate { polite: self.said_goodbye || may_be_short };
            self.ledger.note(|fates| fates.closed.push(fate));
        }
    }
}

use std::collections::HashSet;
use std::time::{Duration, Instant};

use connection::Connection;
use connection_key::{HashedKey, Origin};
use pooled::{Broker, GiveOutcome, Pooled};
use request::{AcquireRequest, Ages, NoneFromBroker};
use shared::SharedPool;
use shuttle::thread;
use sync::Arc;

/// Maximum number and age of kept connections.
const KEPT: usize = 3;
const IDLE_AGE: Duration = Duration::from_secs(10);
/// All that is opened here has one of so many keys.
const KEYS: u64 = 4;

/// The history of a connection.
pub struct Fate {
    polite: bool,
}

#[derive(Default)]
pub struct Fates {
    opened: usize,
    closed: Vec<Fate>,
    /// The records that were sealed.
    records: HashSet<(usize, u64)>,
}

/// The history of all connections, and the time.
pub struct Ledger {
    fates: std::sync::Mutex<Fates>,
    began: Instant,
    passed: std::sync::Mutex<Duration>,
    pool: std::sync::OnceLock<std::sync::Weak<SharedPool<Box<Connection>>>>,
}

impl Ledger {
    fn note(&self, what: impl FnOnce(&mut Fates)) {
        what(&mut self.fates.lock().unwrap());
    }

    fn now(&self) -> Instant {
        self.began + *self.passed.lock().unwrap()
    }

    fn pass(&self, time: Duration) {
        *self.passed.lock().unwrap() += time;
    }

    fn is_old(&self, last_used: Instant) -> bool {
        self.now().saturating_duration_since(last_used) > IDLE_AGE
    }

    /// Lets other threads run, and calls the pool from outside.
    fn foreign(&self) {
        thread::yield_now();
        if let Some(pool) = self.pool.get().and_then(std::sync::Weak::upgrade) {
            assert!(pool.len() <= 64);
        }
    }
}

/// A request that demands no more than the age.
fn wish(key: &HashedKey) -> AcquireRequest<'_, HashedKey> {
    let ages = Ages { idle: IDLE_AGE, lifetime: Duration::ZERO };
    AcquireRequest {
        key,
        fresh: false,
        streams: false,
        by_tcp: false,
        patience: 0,
        ages,
        owner: 0,
        refusal: None,
    }
}

struct World {
    pool: Arc<SharedPool<Box<Connection>>>,
    ledger: Arc<Ledger>,
}

impl World {
    fn new() -> Arc<World> {
        let ledger = Arc::new(Ledger {
            fates: Default::default(),
            began: Instant::now(),
            passed: Default::default(),
            pool: Default::default(),
        });
        let pool = Arc::new(SharedPool::new(KEPT, IDLE_AGE));
        ledger.pool.set(Arc::downgrade(&pool)).unwrap();
        Arc::new(World { pool, ledger })
    }

    /// Takes a connection of that key, as a transfer does.
    fn take(&self, number: u64) -> Option<Box<Connection>> {
        let key = HashedKey::of(number);
        let now = self.ledger.now();
        let found = self.pool.take(wish(&key), now)?;
        assert_eq!((found.memory, found.about.key.number), (number, number), "somebody else's");
        assert!(found.lives && !found.is_inherited, "a dead one");
        assert!(now.saturating_duration_since(found.last_used) <= IDLE_AGE, "an old one");
        assert!(!found.carrier.is_attached, "another loop still hears of it");
        Some(found)
    }

    /// Runs one transfer: on an existing connection, or on a new one, which is idle afterwards.
    fn transfer(&self, number: u64) {
        let key = HashedKey::of(number);
        let of_broker = || self.pool.take_from_broker(wish(&key), self.ledger.now());
        let mut connection = match self.take(number).or_else(of_broker) {
            Some(connection) => connection,
            None => Box::new(Connection::new(&self.ledger, number)),
        };
        connection.carrier.is_attached = true;
        let record = connection.next_record;
        self.ledger.note(|fates| assert!(fates.records.insert(record), "record {record:?} comes twice"));
        thread::yield_now();
        connection.next_record.1 += 1;
        self.pool.put(connection, self.ledger.now());
    }

    fn put(&self, number: u64, change: impl FnOnce(&mut Connection)) {
        let mut connection = Box::new(Connection::new(&self.ledger, number));
        change(&mut connection);
        self.pool.put(connection, self.ledger.now());
    }

    /// Checks the invariants when all threads are done.
    fn settled(&self) {
        let all = self.pool.list(self.ledger.now());
        assert_eq!(all.len(), self.pool.len(), "one is out that nobody has");
        assert!(all.len() <= KEPT, "{} are kept", all.len());
        {
            let fates = self.ledger.fates.lock().unwrap();
            assert_eq!(fates.closed.len() + all.len(), fates.opened, "one is lost");
            let rude = fates.closed.iter().filter(|fate| !fate.polite).count();
            assert_eq!(rude, 0, "ended without a word");
        }
        // Each is found by who wants it, until there is none.
        let whose = all.into_iter().chain(0..KEYS);
        for found in whose.filter_map(|number| self.take(number)) {
            found.retire();
        }
        assert!(self.pool.is_empty(), "who wants it does not find it");
    }
}

type Part = fn(&World);

/// Runs several threads at once, on a pool with some connections.
fn together(parts: &'static [Part]) {
    let world = World::new();
    world.transfer(0);
    world.put(1, |_| ());
    let threads: Vec<_> = parts
        .iter()
        .map(|part| {
            let world = world.clone();
            thread::spawn(move || part(&world))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    world.settled();
}

fn explore(body: fn()) {
    let count = std::env::var("INTERLEAVINGS").map_or(400, |text| text.parse().expect("a number"));
    shuttle::check_random(body, count);
    shuttle::check_pct(body, count, 3);
}

fn looks_after(world: &World) {
    world.pool.upkeep(Duration::ZERO, world.ledger.now());
}

#[test]
fn taken_connections_have_the_requested_key() {
    explore(|| {
        together(&[
            |world| (0..KEYS).for_each(|number| world.transfer(number)),
            |world| (0..KEYS).rev().for_each(|number| world.transfer(number)),
            |world| (0..2).for_each(|_| world.transfer(0)),
        ]);
    });
}

/// curl_easy_upkeep in one thread while others take and return connections.
#[test]
fn upkeep_mixes_up_no_connections() {
    explore(|| {
        together(&[
            looks_after,
            |world| {
                world.transfer(0);
                world.transfer(2);
            },
            |world| world.put(3, |_| ()),
        ]);
    });
}

#[test]
fn connections_end_once_and_politely() {
    explore(|| {
        together(&[
            looks_after,
            |world| world.pool.close_all(),
            |world| world.transfer(2),
            |world| {
                let closed = world.pool.close_where(|origin| *origin == Origin(0));
                assert!(closed <= 2);
            },
        ]);
    });
}

/// Some are dead, some too old, some of other keys.
#[test]
fn the_dead_the_old_and_the_private_are_for_nobody() {
    explore(|| {
        together(&[
            |world| world.put(2, |c| c.lives = false),
            |world| world.put(2, |c| c.is_private = true),
            |world| world.put(2, |c| c.is_inherited = true),
            |world| {
                world.ledger.pass(IDLE_AGE + Duration::from_secs(1));
                world.transfer(2);
            },
            looks_after,
        ]);
    });
}

/// Beyond the limit, a check of one connection does not prevent others from being closed.
#[test]
fn no_more_is_kept_than_may_be() {
    explore(|| {
        together(&[
            looks_after,
            |world| (0..3).for_each(|number| world.put(number, |_| ())),
            |world| (0..3).for_each(|number| world.put(number, |_| ())),
        ]);
    });
}

/// A broker between processes: a connection is there as the numbers from which another process makes it anew.
struct Parking {
    parked: shuttle::sync::Mutex<Vec<Parked>>,
    ledger: Arc<Ledger>,
    /// Every so manieth giver is killed before the message is sent: the connection is closed without a word.
    kills: u64,
    gives: std::sync::atomic::AtomicU64,
}

struct Parked {
    number: u64,
    next_record: (usize, u64),
    last_used: Instant,
}

/// One process's way to it.
struct Door(Arc<Parking>);

impl Broker<Box<Connection>> for Door {
    fn take(&self, key: &HashedKey, _: Instant) -> Result<Box<Connection>, NoneFromBroker> {
        let found = {
            let mut parked = self.0.parked.lock().unwrap();
            let at = parked.iter().rposition(|parked| parked.number == key.number);
            parked.remove(at.ok_or(NoneFromBroker::Nothing)?)
        };
        thread::yield_now();
        let mut connection = Connection::new(&self.0.ledger, found.number);
        self.0.ledger.note(|fates| fates.opened -= 1);
        (connection.next_record, connection.last_used) = (found.next_record, found.last_used);
        connection.carrier.is_attached = false;
        Ok(Box::new(connection))
    }

    fn give(&self, mut connection: Box<Connection>, _: Instant, _: Instant) -> GiveOutcome<Box<Connection>> {
        if !connection.lives {
            return GiveOutcome::Stays(connection);
        }
        connection.is_moved = true;
        let (number, next_record) = (connection.memory, connection.next_record);
        let last_used = connection.last_used;
        drop(connection);
        thread::yield_now();
        let give = self.0.gives.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if give % self.0.kills == self.0.kills - 1 {
            self.0.ledger.note(|fates| fates.closed.push(Fate { polite: true }));
            return GiveOutcome::Gone;
        }
        self.0.parked.lock().unwrap().push(Parked { number, next_record, last_used });
        GiveOutcome::Gone
    }
}

/// Two processes and a broker: a connection has one owner at any time, whichever of them is killed while it
/// gives, and no number of a record comes twice.
#[test]
fn a_connection_moves_between_processes_and_is_never_in_two() {
    explore(|| {
        let first = World::new();
        let second = World { pool: Arc::new(SharedPool::new(KEPT, IDLE_AGE)), ledger: first.ledger.clone() };
        let parking = Arc::new(Parking {
            parked: Default::default(),
            ledger: first.ledger.clone(),
            kills: 3,
            gives: Default::default(),
        });
        let worlds = [first, Arc::new(second)];
        worlds.iter().for_each(|world| world.pool.set_broker(|| Box::new(Door(parking.clone()))));
        let parts: [Part; 4] = [
            |world| (0..2).for_each(|number| world.transfer(number)),
            |world| {
                world.transfer(0);
                world.ledger.pass(Duration::from_secs(1));
                world.transfer(1);
                world.put(0, |c| c.lives = false);
            },
            |world| world.pool.give_all(world.ledger.now(), Instant::now()),
            looks_after,
        ];
        let threads: Vec<_> = (0..parts.len() * 2)
            .map(|at| {
                let world = worlds[at % 2].clone();
                thread::spawn(move || parts[at / 2](&world))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let left: usize = worlds.iter().map(|world| world.pool.len()).sum();
        let parked = parking.parked.lock().unwrap().len();
        let fates = worlds[0].ledger.fates.lock().unwrap();
        assert_eq!(fates.closed.len() + left + parked, fates.opened, "one is lost, or in two places");
        let count = worlds.iter().map(|world| world.pool.list(world.ledger.now()).len()).sum::<usize>();
        assert_eq!(count, left, "one is out that nobody has");
    });
}
