//! What taking a connection from a pool and giving it back costs, with ten idle ones and with ten thousand: the same. No
//! server and no socket is in it; the connections are alive and say nothing.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use net::connect::Endpoints;
use net::identity::Origin;
use net::{Acquired, Ages, Connection, Filter, Identity, Idle, Key, Limits, Pool, Wish};
use runtime::{Clock, Reactor, Runtime, Socket};

/// Idle connections in the pool.
const SIZES: [usize; 2] = [10, 10_000];
const ROUNDS: usize = 200_000;

/// Microseconds for each size.
pub fn measure() -> Vec<(usize, f64)> {
    SIZES.iter().map(|idle| (*idle, take_and_give_back(*idle))).collect()
}

pub fn table(rows: &[(usize, f64)]) {
    for (idle, us) in rows {
        println!("{:<28} {us:>10.3}", format!("pool, {idle} idle"));
    }
}

fn take_and_give_back(idle: usize) -> f64 {
    let runtime = Runtime::new(Clock::system());
    let pool = Pool::new(runtime.reactor());
    pool.set_limits(Limits { kept: 0, ..Limits::default() });
    let keys: Vec<Key> = (0..idle).map(key).collect();
    let made: Vec<_> = keys.iter().map(|key| acquire(&pool, key)).collect();
    made.into_iter().zip(&keys).for_each(|(acquired, key)| give_back(acquired, &runtime, key));
    // The same ten in turn, so that it is the pool's size that differs and not what the caches hold.
    let asked: Vec<&Key> = keys.iter().step_by(idle / 10).collect();
    let started = Instant::now();
    for round in 0..ROUNDS {
        let key = asked[round % asked.len()];
        give_back(acquire(&pool, key), &runtime, key);
    }
    started.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64
}

fn key(number: usize) -> Key {
    let origin = Origin::new(&format!("host{number}.test"), 443);
    Key::from(Identity { scheme: "http".to_owned(), origin, ..Identity::default() })
}

fn acquire(pool: &Pool, identity: &Key) -> Acquired {
    let wish =
        Wish { identity, fresh: false, streams: false, patient: false, ages: Ages::default(), owner: 1 };
    pool.try_acquire(wish).expect("there is no limit")
}

fn give_back(acquired: Acquired, runtime: &Runtime, key: &Key) {
    match acquired {
        Acquired::Reused(lease) => lease.release(),
        Acquired::Vacant(slot) => {
            let now = runtime.reactor().now();
            slot.fill(Connection::new(key.clone(), Box::new(Mute), Endpoints::default(), now)).release();
        }
    }
}

/// The bottom of a connection. All have one socket.
struct Mute;

thread_local! {
    static SOCKET: &'static Socket = Box::leak(Box::new(Socket::new(
        std::fs::File::open("/dev/null").expect("every system has one").into(),
    )));
}

impl Filter for Mute {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_write(&mut self, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn retire(&mut self) {}

    fn idle_state(&mut self) -> Idle {
        Idle::Alive
    }

    fn attach(&mut self, _: &Arc<Reactor>, _: u64) {}

    fn detach(&mut self) {}

    fn socket(&self) -> &Socket {
        SOCKET.with(|socket| *socket)
    }
}
