//! The pools: reuse, limits, waiting, closed by the peer, sharing between threads.

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use crate::common::{block_on, bytes, key_of, listener, of_host, open, runtime, wish};
use netkit::mute;
use runtime::{Clock, Runtime};
use warmwire_net::connection_key::Zone;
use warmwire_net::{
    AcquireRequest, Acquired, Ages, Connection, ConnectionKey, HashedKey, Lease, Limits, Pool, SharedPool,
};

/// One leased connection, made or found.
fn lease(rt: &Runtime, pool: &Pool, to: SocketAddr, port: u16) -> Lease {
    let (reactor, pool) = (rt.reactor().clone(), pool.clone());
    block_on(rt, async move { acquire(&pool, reactor, to, port).await })
}

fn whole(lease: &mut Lease) -> &mut Connection {
    lease.whole().unwrap().connection()
}

async fn acquire(pool: &Pool, reactor: Arc<runtime::Reactor>, to: SocketAddr, port: u16) -> Lease {
    let key = key_of(port);
    match pool.acquire(wish(&key)).await {
        Acquired::Reused(lease) => bytes(lease),
        Acquired::Vacant(slot) => slot.fill(open(reactor, key.clone(), to).await),
    }
}

#[test]
fn a_released_connection_serves_again_and_keeps_its_number() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    let first = lease(&rt, &pool, to, 1);
    assert_eq!((first.about().id, first.is_reused(), pool.in_use()), (0, false, 1));
    first.release();
    assert_eq!((pool.in_use(), pool.list().len(), rt.reactor().interests().len()), (0, 1, 0));
    let again = lease(&rt, &pool, to, 1);
    assert_eq!((again.about().id, again.is_reused()), (0, true));
    let other = lease(&rt, &pool, to, 2);
    assert_eq!((other.about().id, other.is_reused()), (1, false));
}

#[test]
fn closed_or_readable_connections_are_not_reused() {
    let (rt, (listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    for farewell in [&b""[..], b"421 going away\r\n"] {
        lease(&rt, &pool, to, 1).release();
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(farewell).unwrap();
        if farewell.is_empty() {
            drop(peer);
        }
        std::thread::sleep(Duration::from_millis(30));
        assert!(!lease(&rt, &pool, to, 1).is_reused());
        listener.accept().unwrap();
    }
    assert_eq!(pool.counters().dead, 2);
}

#[test]
fn dropping_a_lease_closes_and_frees() {
    let (rt, (listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    drop(lease(&rt, &pool, to, 1));
    let (mut peer, _) = listener.accept().unwrap();
    assert_eq!(peer.read(&mut [0; 9]).unwrap(), 0);
    assert_eq!((pool.in_use(), pool.list().len(), rt.reactor().registrations()), (0, 0, 0));
}

#[test]
fn the_oldest_idle_one_goes_when_there_are_too_many() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    pool.set_limits(Limits { kept: 2, ..Limits::default() });
    let all: Vec<_> = (1..=3).map(|port| lease(&rt, &pool, to, port)).collect();
    all.into_iter().for_each(Lease::release);
    let left: Vec<u16> = pool.list().iter().map(|row| row.origin.port).collect();
    assert_eq!(left, [2, 3]);
    assert_eq!(pool.counters().evicted, 1);
    pool.set_limits(Limits { kept: 1, ..Limits::default() });
    assert_eq!(pool.list().len(), 1);
}

#[test]
fn idle_age_and_lifetime_end_a_connection() {
    let (clock, hand) = Clock::manual();
    let (rt, (_listener, to)) = (Runtime::new(clock), listener());
    let pool = Pool::new(rt.reactor());
    lease(&rt, &pool, to, 1).release();
    hand.advance(Duration::from_secs(118));
    let reused = lease(&rt, &pool, to, 1);
    assert!(reused.is_reused());
    reused.release();
    hand.advance(Duration::from_secs(119));
    assert!(!lease(&rt, &pool, to, 1).is_reused());

    lease(&rt, &pool, to, 2).release();
    let key = key_of(2);
    let ages = Ages { lifetime: Duration::from_secs(100), ..Ages::default() };
    for (after, alive) in [(60, true), (60, false)] {
        hand.advance(Duration::from_secs(after));
        let found = pool.try_acquire(AcquireRequest { ages, ..wish(&key) }, pool.now());
        assert_eq!(matches!(found, Some(Acquired::Reused(_))), alive);
        if let Some(Acquired::Reused(lease)) = found {
            lease.release();
        }
    }
}

/// One handle's limits close nothing that another may still use.
#[test]
fn ages_are_the_handles_own() {
    let (clock, hand) = Clock::manual();
    let (rt, (_listener, to)) = (Runtime::new(clock), listener());
    let pool = Pool::new(rt.reactor());
    let patient = Ages { idle: Duration::from_secs(1000), ..Ages::default() };
    let strict = Ages { idle: Duration::from_secs(1), lifetime: Duration::from_secs(1) };
    let (first, second) = (key_of(1), key_of(2));
    for (ages, key) in [(patient, &first), (strict, &second)] {
        let Some(Acquired::Vacant(slot)) = pool.try_acquire(AcquireRequest { ages, ..wish(key) }, pool.now())
        else {
            panic!()
        };
        slot.fill(block_on(&rt, open(rt.reactor().clone(), key.clone(), to))).release();
    }
    hand.advance(Duration::from_secs(500));
    let found = pool.try_acquire(AcquireRequest { ages: strict, ..wish(&second) }, pool.now());
    assert!(matches!(found, Some(Acquired::Vacant(_))));
    drop(found);
    let found = pool.try_acquire(AcquireRequest { ages: patient, ..wish(&first) }, pool.now());
    assert!(matches!(found, Some(Acquired::Reused(_))));
}

#[test]
fn retiring_says_goodbye() {
    let (rt, (listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    let mut l = lease(&rt, &pool, to, 1);
    whole(&mut l).farewell = b"QUIT\r\n".to_vec();
    l.release();
    drop(pool);
    let (mut peer, _) = listener.accept().unwrap();
    let mut received = String::new();
    peer.read_to_string(&mut received).unwrap();
    assert_eq!(received, "QUIT\r\n");
}

/// Twenty transfers on a pool of so many connections; returns the most that were in use at once, and the
/// order.
fn crowd(limits: Limits, ports: u16) -> (usize, Vec<u16>) {
    let (rt, (_listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    pool.set_limits(limits);
    let (now, most) = (Rc::new(Cell::new(0usize)), Rc::new(Cell::new(0usize)));
    let order = Rc::new(RefCell::new(Vec::new()));
    for i in 0..20u16 {
        let (pool, reactor, now, most, order) =
            (pool.clone(), rt.reactor().clone(), now.clone(), most.clone(), order.clone());
        rt.spawn(Box::pin(async move {
            let l = acquire(&pool, reactor.clone(), to, 1 + i % ports).await;
            order.borrow_mut().push(i);
            now.set(now.get() + 1);
            most.set(most.get().max(now.get()));
            reactor.sleep(Duration::from_millis(5)).await;
            now.set(now.get() - 1);
            match i % 3 {
                0 => drop(l),
                1 => l.retire(),
                _ => l.release(),
            }
        }));
    }
    block_on(&rt, {
        let (order, reactor) = (order.clone(), rt.reactor().clone());
        async move {
            while order.borrow().len() < 20 {
                reactor.sleep(Duration::from_millis(5)).await;
            }
        }
    });
    (most.get(), order.take())
}

#[test]
fn limits_make_transfers_wait_in_line() {
    let (most, order) = crowd(Limits { kept: 0, per_host: 2, ..Limits::default() }, 1);
    // Two concurrent requests may overtake each other: one connects, the other finds a connection.
    assert!(order.iter().enumerate().all(|(at, i)| at.abs_diff(usize::from(*i)) <= 2), "{order:?}");
    assert_eq!(most, 2);
    let (most, _) = crowd(Limits { kept: 0, total: 3, ..Limits::default() }, 7);
    assert_eq!(most, 3);
    let (most, _) = crowd(Limits { kept: 0, per_host: 1, total: 4 }, 3);
    assert_eq!(most, 3);
}

#[test]
fn a_cancelled_waiter_passes_its_turn_on() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    pool.set_limits(Limits { total: 1, ..Limits::default() });
    let held = lease(&rt, &pool, to, 1);
    let served = Rc::new(Cell::new(false));
    let wait = |pool: Pool, reactor: Arc<runtime::Reactor>, served: Rc<Cell<bool>>| async move {
        let _l = acquire(&pool, reactor, to, 2).await;
        served.set(true);
    };
    let first = rt.spawn(Box::pin(wait(pool.clone(), rt.reactor().clone(), Rc::default())));
    rt.spawn(Box::pin(wait(pool.clone(), rt.reactor().clone(), served.clone())));
    rt.run().unwrap();
    assert!(pool.has_waiters());
    drop(held); // wakes the first
    rt.cancel(first); // it is gone before it runs
    block_on(&rt, {
        let (served, reactor) = (served.clone(), rt.reactor().clone());
        async move {
            while !served.get() {
                reactor.sleep(Duration::from_millis(5)).await;
            }
        }
    });
    assert!(!pool.has_waiters());
}

#[test]
fn the_pool_behind_serves_the_next_handle() {
    let shared = Arc::new(SharedPool::new(256, Duration::from_secs(118)));
    let (_listener, to) = listener();
    for round in 0..3u64 {
        let rt = runtime();
        let pool = Pool::new(rt.reactor());
        pool.set_behind(Some(shared.clone()));
        let mut l = lease(&rt, &pool, to, 1);
        assert_eq!((l.is_reused(), whole(&mut l).uses), (round > 0, round + 1));
        block_on_write(&rt, &mut l);
        l.release();
        pool.give_up();
        assert_eq!(rt.reactor().registrations(), 0, "nothing of a shared connection stays here");
    }
    assert_eq!(shared.list(std::time::Instant::now())[0].uses, 3);
}

fn block_on_write(rt: &Runtime, lease: &mut Lease) {
    // A write that fits needs no reactor.
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(whole(lease).filter().poll_write(&mut cx, b"x").is_ready());
    rt.run().unwrap();
}

#[test]
fn private_and_owned_connections_are_never_shared() {
    let shared = Arc::new(SharedPool::new(256, Duration::from_secs(118)));
    let (rt, (_listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    pool.set_in_front(Some(shared.clone()));
    pool.set_behind(Some(shared.clone()));
    let mut l = lease(&rt, &pool, to, 1);
    whole(&mut l).private = true;
    l.release();
    assert_eq!((pool.list().len(), shared.list(rt.reactor().now()).len()), (1, 0));
    pool.give_up();
    assert_eq!(shared.list(rt.reactor().now()).len(), 0);
    lease(&rt, &pool, to, 2).release();
    assert_eq!((pool.list().len(), shared.list(rt.reactor().now()).len()), (0, 1));
}

#[test]
fn a_shared_pool_keeps_what_it_may_and_no_longer() {
    let (clock, hand) = Clock::manual();
    let (rt, (_listener, to)) = (Runtime::new(clock), listener());
    let shared = SharedPool::new(2, Duration::from_secs(10));
    let connections: Vec<Box<Connection>> = (1..=3)
        .map(|port| {
            let reactor = rt.reactor().clone();
            block_on(&rt, open(reactor, key_of(port), to))
        })
        .collect();
    connections.into_iter().for_each(|c| shared.put(c.into(), rt.reactor().now()));
    assert_eq!(shared.list(rt.reactor().now()).len(), 2);
    assert!(shared.take(wish(&key_of(1)), rt.reactor().now()).is_none());
    assert!(shared.take(wish(&key_of(2)), rt.reactor().now()).is_some());
    hand.advance(Duration::from_secs(11));
    assert!(shared.take(wish(&key_of(3)), rt.reactor().now()).is_none());
}

/// Answers one byte with one byte, and counts connections.
fn echo_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap();
    let accepted = Arc::new(AtomicUsize::new(0));
    let counter = accepted.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counter.fetch_add(1, SeqCst);
            std::thread::spawn(move || echo(stream));
        }
    });
    (to, accepted)
}

fn echo(mut stream: TcpStream) {
    let mut byte = [0; 1];
    while stream.read(&mut byte).is_ok_and(|n| n == 1) && stream.write_all(&byte).is_ok() {}
}

#[test]
fn sixteen_threads_on_one_shared_pool() {
    let (to, accepted) = echo_server();
    let shared = Arc::new(SharedPool::new(64, Duration::from_secs(118)));
    let threads: Vec<_> = (0..16u8)
        .map(|me| {
            let shared = shared.clone();
            std::thread::spawn(move || {
                let rt = runtime();
                let pool = Pool::new(rt.reactor());
                pool.set_in_front(Some(shared));
                for round in 0..200u8 {
                    let (reactor, pool) = (rt.reactor().clone(), pool.clone());
                    let byte = me ^ round;
                    let answer = block_on(&rt, async move {
                        let mut l = acquire(&pool, reactor, to, 1).await;
                        whole(&mut l).write_all(&[byte]).await.unwrap();
                        let mut answer = [0; 1];
                        assert_eq!(whole(&mut l).read(&mut answer).await.unwrap(), 1);
                        l.release();
                        answer[0]
                    });
                    assert_eq!(answer, byte);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert!(accepted.load(SeqCst) <= 16, "{} connections", accepted.load(SeqCst));
}

/// Two for each of so many keys, half of them at one origin.
fn filled(rt: &Runtime, idle: usize) -> (Pool, Vec<HashedKey>) {
    let pool = Pool::new(rt.reactor());
    pool.set_limits(Limits { kept: 0, ..Limits::default() });
    let host = |i: usize| if i.is_multiple_of(2) { "one.test".to_owned() } else { format!("host{i}.test") };
    let key = |i| ConnectionKey { zone: Zone::Scope(i as i64), ..(*of_host(&host(i), 80)).clone() };
    let keys: Vec<HashedKey> = (0..idle / 2).map(|i| HashedKey::from(key(i))).collect();
    let leases: Vec<Lease> = keys.iter().chain(&keys).map(|key| fresh(rt, &pool, key)).collect();
    leases.into_iter().for_each(Lease::release);
    assert_eq!(pool.idle(), idle);
    (pool, keys)
}

fn fresh(rt: &Runtime, pool: &Pool, key: &HashedKey) -> Lease {
    match pool.try_acquire(AcquireRequest { fresh: true, ..wish(key) }, pool.now()) {
        Some(Acquired::Vacant(slot)) => slot.fill(mute(rt, key)),
        _ => panic!("there is no limit"),
    }
}

/// Returns how many idle connections are examined while one is taken and returned, once for each of some
/// keys.
fn looks_of_taking(idle: usize) -> u64 {
    let rt = runtime();
    let (pool, keys) = filled(&rt, idle);
    let before = pool.counters().looks;
    for key in keys.iter().step_by(keys.len() / 5) {
        let Some(Acquired::Reused(lease)) = pool.try_acquire(wish(key), pool.now()) else { panic!() };
        lease.release();
    }
    pool.counters().looks - before
}

#[test]
fn taking_and_giving_back_cost_the_same_with_ten_thousand() {
    assert_eq!(looks_of_taking(10), looks_of_taking(10_000));
}

/// Checks the limits if one must be closed for each new one: for the total, and for its host.
#[test]
fn making_room_costs_the_same_with_ten_thousand() {
    let looks = |idle: usize, limits: Limits| {
        let rt = runtime();
        let (pool, _) = filled(&rt, idle);
        pool.set_limits(limits);
        let before = (pool.counters().looks, pool.counters().evicted);
        let key = of_host("one.test", 80);
        let _leases: Vec<Lease> = (0..3).map(|_| fresh(&rt, &pool, &key)).collect();
        assert_eq!(pool.counters().evicted - before.1, 3);
        pool.counters().looks - before.0
    };
    let none = Limits { kept: 0, ..Limits::default() };
    let total = |n| Limits { total: n, ..none };
    assert_eq!(looks(10, total(10)), looks(10_000, total(10_000)));
    let at_one = |n: usize| Limits { per_host: n.div_ceil(4) * 2, ..none };
    assert_eq!(looks(12, at_one(12)), looks(10_000, at_one(10_000)));
}

#[test]
fn a_shared_pool_costs_the_same_with_ten_thousand() {
    let looks = |idle: usize| {
        let rt = runtime();
        let shared = SharedPool::new(idle, Duration::from_secs(118));
        let keys: Vec<HashedKey> = (0..idle).map(|i| of_host(&format!("host{i}.test"), 80)).collect();
        let now = rt.reactor().now();
        keys.iter().for_each(|key| shared.put(mute(&rt, key).into(), now));
        let before = shared.looks();
        for key in keys.iter().step_by(idle / 5) {
            let found = shared.take(wish(key), now).unwrap();
            shared.put(found, now);
        }
        shared.looks() - before
    };
    assert_eq!(looks(10), looks(10_000));
}

/// Each end of a transfer wakes one waiter, and none is woken twice.
#[test]
fn eight_thousand_wait_and_each_is_woken_once() {
    for limits in [Limits { kept: 0, per_host: 3, total: 0 }, Limits { kept: 0, per_host: 0, total: 3 }] {
        let rt = runtime();
        let pool = Pool::new(rt.reactor());
        pool.set_limits(limits);
        let key = key_of(1);
        let held: Vec<Lease> = (0..3).map(|_| fresh(&rt, &pool, &key)).collect();
        let served = Rc::new(RefCell::new(Vec::new()));
        for i in 0..8000u32 {
            let (pool, served, key) = (pool.clone(), served.clone(), key.clone());
            rt.spawn(Box::pin(async move {
                let Acquired::Reused(lease) = pool.acquire(wish(&key)).await else { panic!("{i}") };
                served.borrow_mut().push(i);
                lease.release();
            }));
        }
        rt.run().unwrap();
        assert_eq!((pool.waiting(), served.borrow().len()), (8000, 0));
        let before = pool.counters();
        held.into_iter().for_each(Lease::release);
        while served.borrow().len() < 8000 {
            rt.run().unwrap();
        }
        let after = pool.counters();
        assert_eq!((pool.waiting(), pool.in_use(), pool.idle()), (0, 0, 3));
        assert!(served.borrow().is_sorted(), "in the order of arrival");
        assert_eq!(after.reused - before.reused, 8000);
        assert!(after.wakes - before.wakes <= 8000, "{} wakes", after.wakes - before.wakes);
    }
}

/// Waiters for a host at its limit do not delay waiters for another.
#[test]
fn a_full_host_holds_up_no_other() {
    let rt = runtime();
    let pool = Pool::new(rt.reactor());
    pool.set_limits(Limits { kept: 0, per_host: 1, total: 2 });
    let (one, two) = (of_host("one.test", 80), of_host("two.test", 80));
    let held = [fresh(&rt, &pool, &one), fresh(&rt, &pool, &two)];
    let served = Rc::new(RefCell::new(Vec::new()));
    for key in [&one, &one, &two] {
        let (pool, served, key) = (pool.clone(), served.clone(), key.clone());
        rt.spawn(Box::pin(async move {
            let _acquired = pool.acquire(wish(&key)).await;
            served.borrow_mut().push(key.origin.host.to_string());
        }));
    }
    rt.run().unwrap();
    let [_first, second] = held;
    second.retire();
    rt.run().unwrap();
    assert_eq!((served.take(), pool.waiting()), (vec!["two.test".to_owned()], 2));
}
