//! The cost of taking a connection from a pool and giving it back, with ten idle ones and with ten thousand:
//! it is the same. No server and no socket is involved; the connections stay alive and silent.

use std::io;
use std::time::Instant;

use net::{Acquired, HashedKey, Limits, Pool};
use netkit::{mute, of_host, wish};
use runtime::{Clock, Runtime};

use crate::context::Bench;
use crate::measure::{Case, Quantity};

/// Idle connections in the pool.
const SIZES: [usize; 2] = [10, 10_000];
const ROUNDS: usize = 200_000;
const EACH: Quantity = Quantity { name: "time", unit: "ns" };

/// For each size, in nanoseconds of this process.
pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let names = SIZES.map(|idle| format!("{idle} idle"));
    let case = Case::in_turns("taken and given back", bench.turns(), &names, &[EACH], |at| {
        Ok(vec![take_and_give_back(SIZES[at])])
    });
    Ok(vec![case?])
}

fn take_and_give_back(idle: usize) -> f64 {
    let runtime = Runtime::new(Clock::system());
    let pool = Pool::new(runtime.reactor());
    pool.set_limits(Limits { kept: 0, ..Limits::default() });
    let keys: Vec<HashedKey> = (0..idle).map(|n| of_host(&format!("host{n}.test"), 443)).collect();
    let made: Vec<_> = keys.iter().map(|key| acquire(&pool, key)).collect();
    made.into_iter().zip(&keys).for_each(|(acquired, key)| give_back(acquired, &runtime, key));
    // Ten keys in turn at every size of the pool, so that the processor's caches hold equally much.
    let asked: Vec<&HashedKey> = keys.iter().step_by(idle / 10).collect();
    let started = Instant::now();
    for round in 0..ROUNDS {
        let key = asked[round % asked.len()];
        give_back(acquire(&pool, key), &runtime, key);
    }
    started.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64
}

fn acquire(pool: &Pool, key: &HashedKey) -> Acquired {
    pool.try_acquire(wish(key), pool.now()).expect("there is no limit")
}

fn give_back(acquired: Acquired, runtime: &Runtime, key: &HashedKey) {
    match acquired {
        Acquired::Reused(lease) => lease.release(),
        Acquired::Vacant(slot) => slot.fill(mute(runtime, key)).release(),
    }
}
