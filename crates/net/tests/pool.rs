//! The pools: reuse, limits, waiting, closed by the peer, sharing between threads.

mod common;

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use common::{block_on, identity, listener, open, runtime};
use runtime::{Clock, Runtime};
use warmwire_net::{Acquired, Connection, Lease, Limits, Pool, SharedPool};

/// One leased connection, made or found.
fn lease(rt: &Runtime, pool: &Pool, to: SocketAddr, port: u16) -> Lease {
    let (reactor, pool) = (rt.reactor().clone(), pool.clone());
    block_on(rt, async move { acquire(&pool, reactor, to, port).await })
}

async fn acquire(pool: &Pool, reactor: Arc<runtime::Reactor>, to: SocketAddr, port: u16) -> Lease {
    match pool.acquire(&identity(port), false, 1).await {
        Acquired::Reused(lease) => lease,
        Acquired::Vacant(slot) => slot.fill(open(reactor, identity(port), to).await),
    }
}

#[test]
fn a_released_connection_serves_again_and_keeps_its_number() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    let first = lease(&rt, &pool, to, 1);
    assert_eq!((first.id, first.uses, first.is_reused(), pool.in_use()), (0, 1, false, 1));
    first.release();
    assert_eq!((pool.in_use(), pool.list().len(), rt.reactor().interests().len()), (0, 1, 0));
    let again = lease(&rt, &pool, to, 1);
    assert_eq!((again.id, again.uses, again.is_reused()), (0, 2, true));
    let other = lease(&rt, &pool, to, 2);
    assert_eq!((other.id, other.is_reused()), (1, false));
}

#[test]
fn what_the_peer_closed_or_wrote_on_is_not_used_again() {
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

    pool.set_limits(Limits { lifetime: Duration::from_secs(100), ..Limits::default() });
    lease(&rt, &pool, to, 2).release();
    for (after, alive) in [(60, true), (60, false)] {
        hand.advance(Duration::from_secs(after));
        let l = lease(&rt, &pool, to, 2);
        assert_eq!(l.is_reused(), alive);
        l.release();
    }
}

#[test]
fn retiring_says_goodbye() {
    let (rt, (listener, to)) = (runtime(), listener());
    let pool = Pool::new(rt.reactor());
    let mut l = lease(&rt, &pool, to, 1);
    l.farewell = b"QUIT\r\n".to_vec();
    l.release();
    drop(pool);
    let (mut peer, _) = listener.accept().unwrap();
    let mut said = String::new();
    peer.read_to_string(&mut said).unwrap();
    assert_eq!(said, "QUIT\r\n");
}

/// Twenty transfers on a pool of so many connections; returns the most that were in use at once, and the order.
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
    // Those two that are under way together may overtake each other: one connects, the other finds a connection.
    assert!(order.iter().enumerate().all(|(at, i)| at.abs_diff(usize::from(*i)) <= 2), "{order:?}");
    assert_eq!(most, 2);
    let (most, _) = crowd(Limits { kept: 0, total: 3, ..Limits::default() }, 7);
    assert_eq!(most, 3);
    let (most, _) = crowd(Limits { kept: 0, per_host: 1, total: 4, ..Limits::default() }, 3);
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
    rt.cancel(first); // which is gone before it runs
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
        assert_eq!((l.is_reused(), l.uses), (round > 0, round + 1));
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
    assert!(lease.filter.poll_write(&mut cx, b"x").is_ready());
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
    l.private = true;
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
    let connections: Vec<Connection> = (1..=3)
        .map(|port| {
            let reactor = rt.reactor().clone();
            block_on(&rt, open(reactor, identity(port), to))
        })
        .collect();
    connections.into_iter().for_each(|c| shared.put(Box::new(c), rt.reactor().now()));
    assert_eq!(shared.list(rt.reactor().now()).len(), 2);
    assert!(shared.take(&identity(1), &Limits::default(), rt.reactor().now()).is_none());
    assert!(shared.take(&identity(2), &Limits::default(), rt.reactor().now()).is_some());
    hand.advance(Duration::from_secs(11));
    assert!(shared.take(&identity(3), &Limits::default(), rt.reactor().now()).is_none());
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
                        l.write_all(&[byte]).await.unwrap();
                        let mut answer = [0; 1];
                        assert_eq!(l.read(&mut answer).await.unwrap(), 1);
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
