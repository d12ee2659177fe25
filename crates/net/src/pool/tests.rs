//! The pool with numbers in place of connections: searching, limits, lists and closing are independent of
//! protocols.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use runtime::{Clock, Reactor, Runtime};

use super::{
    AcquireRequest, Acquired, Ages, Ahead, Lease, Limits, Pool, PoolKey, Pooled, Session, SharedPool,
};

impl PoolKey for u64 {
    type Origin = u64;

    /// Ten keys lead to one origin.
    fn origin(&self) -> &u64 {
        const ORIGINS: [u64; 4] = [0, 1, 2, 3];
        &ORIGINS[usize::try_from(self / 10).expect("a small key")]
    }
}

/// A connection that is a number.
struct Number {
    key: u64,
    number: u64,
    uses: u64,
    by_quic: bool,
    lives: bool,
    at: Instant,
    /// How many were closed politely.
    retired: Arc<AtomicU64>,
}

impl Pooled for Number {
    type Key = u64;
    type Listed = (u64, u64);

    fn key(&self) -> &u64 {
        &self.key
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn set_number(&mut self, number: u64) {
        self.number = number;
    }

    fn count_use(&mut self) {
        self.uses += 1;
    }

    fn created(&self) -> Instant {
        self.at
    }

    fn last_used(&self) -> Instant {
        self.at
    }

    fn set_last_used(&mut self, now: Instant) {
        self.at = now;
    }

    fn ahead(&self) -> Ahead {
        Ahead::Nothing
    }

    fn is_by_quic(&self) -> bool {
        self.by_quic
    }

    fn is_inherited(&self) -> bool {
        false
    }

    fn is_shareable(&self) -> bool {
        self.key.is_multiple_of(2)
    }

    fn is_for_one_use(&self) -> bool {
        self.key == 9
    }

    fn is_alive(&mut self) -> bool {
        self.lives
    }

    fn keep_up(&mut self, _: Duration, _: Instant) -> bool {
        self.lives
    }

    fn attach(&mut self, _: &Arc<Reactor>, _: u64) {}

    fn set_owner(&mut self, _: u64) {}

    fn detach(&mut self) {}

    fn quieten(&mut self) {}

    fn retire(self) {
        self.retired.fetch_add(1, Ordering::Relaxed);
    }

    fn listed(&self, _: Instant) -> (u64, u64) {
        (self.key, self.uses)
    }
}

/// A session whose places are numbers.
struct Places {
    most: u64,
    taken: Cell<u64>,
}

impl Session for Places {
    type Connection = Number;
    type Place = u64;

    fn is_by_quic(&self) -> bool {
        false
    }

    fn vacancies(&self) -> usize {
        usize::try_from(self.most - self.taken.get()).expect("a small number")
    }

    fn place(self: Rc<Self>) -> u64 {
        self.taken.set(self.taken.get() + 1);
        self.taken.get()
    }
}

struct World {
    runtime: Runtime,
    pool: Pool<Places>,
    retired: Arc<AtomicU64>,
}

impl World {
    fn new() -> World {
        let runtime = Runtime::new(Clock::system());
        let pool = Pool::new(runtime.reactor());
        World { runtime, pool, retired: Arc::default() }
    }

    fn number(&self, key: u64) -> Number {
        let at = self.runtime.reactor().now();
        Number { key, number: 0, uses: 0, by_quic: false, lives: true, at, retired: self.retired.clone() }
    }

    fn acquire(&self, key: &u64) -> Option<Acquired<Places>> {
        self.pool.try_acquire(request(key), self.pool.now())
    }

    /// Opens a connection.
    fn open(&self, key: u64) -> Lease<Places> {
        let Some(Acquired::Vacant(slot)) = self.acquire(&key) else { panic!("{key}: no vacant slot") };
        slot.fill(self.number(key))
    }

    fn retired(&self) -> u64 {
        self.retired.load(Ordering::Relaxed)
    }
}

fn request(key: &u64) -> AcquireRequest<'_, u64> {
    let ages = Ages::default();
    AcquireRequest {
        key,
        fresh: false,
        streams: true,
        by_tcp: false,
        patience: 0,
        ages,
        owner: 0,
        refusal: None,
    }
}

fn is_vacant(acquired: Option<Acquired<Places>>) -> bool {
    matches!(acquired, Some(Acquired::Vacant(_)))
}

#[test]
fn a_released_connection_serves_its_key_alone() {
    let world = World::new();
    world.open(1).release();
    assert_eq!(world.pool.list(), [(1, 1)]);
    assert!(is_vacant(world.acquire(&2)), "another key");
    let fresh = AcquireRequest { fresh: true, ..request(&1) };
    assert!(is_vacant(world.pool.try_acquire(fresh, world.pool.now())), "a fresh one is demanded");
    let Some(Acquired::Reused(lease)) = world.acquire(&1) else { panic!("it is idle") };
    assert!(lease.is_reused());
    lease.release();
    assert_eq!(world.pool.list(), [(1, 2)]);
    world.open(9).release();
    assert_eq!((world.pool.idle(), world.retired()), (1, 1), "one for one use is closed");
}

#[test]
fn dead_and_wrongly_carried_connections_are_passed_over() {
    let world = World::new();
    let mut lease = world.open(1);
    lease.whole().expect("a whole connection").connection().by_quic = true;
    lease.release();
    let by_tcp = AcquireRequest { by_tcp: true, ..request(&1) };
    assert!(is_vacant(world.pool.try_acquire(by_tcp, world.pool.now())));
    assert_eq!(world.pool.idle(), 1, "others may use it");
    let mut lease = world.open(2);
    lease.whole().expect("a whole connection").connection().lives = false;
    lease.release();
    assert!(is_vacant(world.acquire(&2)));
    assert_eq!((world.pool.counters().dead, world.pool.idle()), (1, 1));
}

#[test]
fn limits_count_by_origin_and_in_total() {
    let world = World::new();
    world.pool.set_limits(Limits { kept: 5, per_host: 1, total: 2 });
    let first = world.open(1);
    assert!(world.acquire(&2).is_none(), "1 and 2 have one origin");
    let second = world.open(11);
    assert!(world.acquire(&21).is_none(), "two in total");
    first.release();
    assert!(is_vacant(world.acquire(&21)), "an idle one makes room");
    assert_eq!((world.retired(), world.pool.idle()), (1, 0));
    drop(second);
    assert_eq!(world.pool.in_use(), 0);
}

#[test]
fn transfers_take_places_of_a_session() {
    let world = World::new();
    let Some(Acquired::Vacant(slot)) = world.acquire(&1) else { panic!("nothing is open") };
    let mut owner = None;
    let first = slot.host(world.number(1), |whole| {
        owner = Some(whole);
        Rc::new(Places { most: 2, taken: Cell::new(0) })
    });
    let Some(Acquired::Reused(second)) = world.acquire(&1) else { panic!("there is room") };
    let place = |lease: &Lease<Places>| match lease {
        Lease::Stream(share) => share.place,
        Lease::Whole(_) => panic!("a whole connection"),
    };
    assert_eq!((place(&first), place(&second)), (1, 2));
    assert!(is_vacant(world.acquire(&1)), "a full session has no room");
    let alone = AcquireRequest { streams: false, ..request(&1) };
    assert!(is_vacant(world.pool.try_acquire(alone, world.pool.now())));
    owner.expect("the session owns its connection").release();
    assert_eq!(
        (world.pool.sessions().len(), world.pool.idle()),
        (0, 1),
        "a parked session is an idle connection"
    );
}

#[test]
fn a_shared_pool_takes_what_may_be_shared() {
    let world = World::new();
    let shared = Arc::new(SharedPool::new(1, Duration::from_secs(9)));
    world.pool.set_in_front(Some(shared.clone()));
    world.open(1).release();
    assert_eq!((shared.len(), world.pool.idle()), (0, 1), "odd numbers are private");
    world.open(2).release();
    world.open(4).release();
    assert_eq!((shared.list(world.runtime.reactor().now()), world.retired()), (vec![(4, 1)], 1));
    let Some(Acquired::Reused(_found)) = world.acquire(&4) else { panic!("the shared pool has it") };
    assert!(shared.is_empty());
}

/// A small generator of numbers, the same ones for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % most
    }
}

/// Does one step, and returns its result as text.
fn step(world: &World, leases: &mut Vec<Lease<Places>>, kind: usize, dice: usize) -> String {
    const KEYS: [u64; 4] = [2, 2, 4, 11];
    let key = KEYS[dice % KEYS.len()];
    let number = |lease: &mut Lease<Places>| lease.whole().map(|whole| whole.connection().number);
    let mut pick = || if leases.is_empty() { None } else { Some(leases.swap_remove(dice % leases.len())) };
    match kind {
        0..4 => match world.acquire(&key) {
            Some(Acquired::Reused(mut lease)) => {
                let text = format!("{key} again: {:?}", number(&mut lease));
                leases.push(lease);
                text
            }
            Some(Acquired::Vacant(slot)) => {
                let lease = slot.fill(world.number(key));
                leases.push(lease);
                format!("{key} opened")
            }
            None => format!("{key} has no room"),
        },
        4..8 => pick().map_or_else(String::new, |mut lease| {
            let text = format!("back: {:?}", number(&mut lease));
            if let Some(whole) = lease.whole() {
                whole.connection().lives = !dice.is_multiple_of(5);
            }
            lease.release();
            text
        }),
        8 => pick().map_or_else(String::new, |mut lease| format!("dropped: {:?}", number(&mut lease))),
        9 => {
            let limit = dice % 3;
            world.pool.set_limits(Limits { kept: 3, per_host: limit, total: limit + dice % 2 });
            format!("limit {limit}")
        }
        10 => {
            world.pool.give_up();
            "given up".to_owned()
        }
        _ => {
            world.pool.set_limits(Limits { kept: 1 + dice % 3, per_host: 0, total: 0 });
            "no limit".to_owned()
        }
    }
}

/// A connection that is alone in its pool has no entry in the table. Two pools do the same; one of them makes
/// the entry after each step.
#[test]
fn a_connection_without_an_entry_changes_no_outcome() {
    for seed in 0..400 {
        let (quick, entered) = (World::new(), World::new());
        for world in [&quick, &entered] {
            let shared = Arc::new(SharedPool::new(2, Duration::from_secs(9)));
            match seed % 3 {
                0 => world.pool.set_behind(Some(shared)),
                1 => world.pool.set_in_front(Some(shared)),
                _ => {}
            }
        }
        let (mut of_quick, mut of_entered, mut dice) = (Vec::new(), Vec::new(), Dice(seed));
        for at in 0..60 {
            let (kind, number) = (dice.below(12), dice.below(1000));
            let done = step(&quick, &mut of_quick, kind, number);
            assert_eq!(done, step(&entered, &mut of_entered, kind, number), "seed {seed}, step {at}");
            drop(entered.pool.0.state());
            assert_eq!(quick.retired(), entered.retired(), "seed {seed}, step {at}: {done}");
        }
        let facts = |world: &World| {
            let counters = world.pool.counters();
            let counts = (counters.opened, counters.reused, counters.dead, counters.evicted);
            (counts, world.pool.in_use(), world.pool.list())
        };
        assert_eq!(facts(&quick), facts(&entered), "seed {seed}");
        drop((of_quick, of_entered));
        assert_eq!((quick.pool.in_use(), entered.pool.in_use()), (0, 0), "seed {seed}");
    }
}

#[test]
fn a_pool_with_one_connection_has_no_entry_for_it() {
    let world = World::new();
    let alone = || world.pool.0.cell.borrow().table.only().is_some();
    world.open(2).release();
    assert!(alone());
    let Some(Acquired::Reused(lease)) = world.acquire(&2) else { panic!("it is idle") };
    assert!(!alone() && world.pool.0.cell.borrow().table.is_empty(), "its lease has none either");
    lease.release();
    assert!(alone());
    assert_eq!(world.pool.known(2), 2);
    assert_eq!((world.pool.list(), alone()), (vec![(2, 2)], false), "whoever asks for more sees an entry");
    let shared = Arc::new(SharedPool::new(1, Duration::from_secs(9)));
    world.pool.set_behind(Some(shared.clone()));
    world.pool.give_up();
    assert!(shared.len() == 1 && world.pool.renew(), "nothing is left in the handle's own pool");
    world.pool.set_behind(Some(shared));
    let Some(Acquired::Reused(lease)) = world.acquire(&2) else { panic!("the shared pool has it") };
    let second = world.open(4);
    assert_eq!(world.pool.in_use(), 2);
    drop((lease, second));
    assert_eq!(world.pool.in_use(), 0);
}
