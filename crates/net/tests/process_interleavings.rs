//! Process-wide state in thousands of orders of its threads' steps and through two forks: src/process.rs
//! compiled once more. All threads of one process have the same value; a child has none of its
//! parent's, and its own child none of either's, whichever of them used it first. (Tests with real forks
//! check that a child neither hangs nor writes to connections.)
//!
//! `INTERLEAVINGS=n` sets how many orders of each kind are run (400). A failure prints the order to replay.

#[path = "../src/process.rs"]
#[allow(dead_code)]
mod process;

mod sync {
    pub use std::sync::Arc;

    use std::cell::Cell;
    use std::sync::{Mutex, PoisonError};

    // shuttle runs all threads of one execution on the thread that began it.
    thread_local! {
        static GENERATION: Cell<u64> = const { Cell::new(0) };
        pub static MADE: Cell<u64> = const { Cell::new(0) };
    }

    pub fn set_generation(generation: u64) {
        GENERATION.set(generation);
    }

    pub fn fork_generation() -> u64 {
        shuttle::thread::yield_now();
        GENERATION.get()
    }

    /// Like the runtime's, for shuttle, where statics are reset for each execution.
    pub struct LockFreeOnce<T: 'static> {
        stored: shuttle::sync::Once,
        value: Mutex<Option<&'static T>>,
    }

    impl<T> LockFreeOnce<T> {
        pub const fn new() -> LockFreeOnce<T> {
            LockFreeOnce { stored: shuttle::sync::Once::new(), value: Mutex::new(None) }
        }

        pub fn get(&self, make: impl FnOnce() -> T) -> &T {
            if !self.stored.is_completed() {
                shuttle::thread::yield_now();
                let made = Box::leak(Box::new(make()));
                shuttle::thread::yield_now();
                self.stored.call_once(|| {
                    *self.value.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
                });
            }
            self.value.lock().unwrap_or_else(PoisonError::into_inner).expect("it was stored just now")
        }
    }
}

mod session {
    use std::time::Duration;

    pub struct SharedPool;

    impl SharedPool {
        pub fn new(_: usize, _: Duration) -> SharedPool {
            crate::sync::MADE.set(crate::sync::MADE.get() + 1);
            SharedPool
        }
    }
}

mod resolver {
    #[derive(Default)]
    pub struct Silence;
    pub struct Resolver;

    impl Resolver {
        pub fn system() -> Resolver {
            Resolver
        }
    }
}

use std::sync::Mutex;

use process::process;
use shuttle::thread;

/// Where the pool is that a process has, as its threads see it; none where none of them asks.
fn asked_by(threads: usize) -> Option<usize> {
    let ask = || std::sync::Arc::as_ptr(&process().pool) as usize;
    let running: Vec<_> = (0..threads).map(|_| thread::spawn(move || [ask(), ask()])).collect();
    let seen: Vec<usize> = running.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert!(seen.windows(2).all(|two| two[0] == two[1]), "threads of one process have two");
    seen.first().copied()
}

/// A process, its child and its grandchild, with so many threads that ask.
fn family(askers: [usize; 3]) {
    sync::MADE.set(0);
    let mut seen = Vec::new();
    for (generation, threads) in askers.into_iter().enumerate() {
        sync::set_generation(generation as u64);
        let own = asked_by(threads);
        assert!(own.is_none_or(|own| !seen.contains(&own)), "a child uses its parent's");
        seen.extend(own);
    }
    // Threads that come together may each make one, of which one stays.
    let most = askers.iter().sum::<usize>() as u64;
    assert!((seen.len() as u64..=most).contains(&sync::MADE.get()), "{} were made", sync::MADE.get());
}

/// Runs one test at a time, because statics are shared by all tests.
fn explore(body: fn()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    let count = std::env::var("INTERLEAVINGS").map_or(400, |text| text.parse().expect("a number"));
    shuttle::check_random(body, count);
    shuttle::check_pct(body, count, 3);
}

#[test]
fn all_threads_share_one_value_and_children_get_their_own() {
    explore(|| family([3, 2, 2]));
}

#[test]
fn a_grandchild_gets_its_own_value_if_its_parent_made_none() {
    explore(|| family([2, 0, 3]));
    explore(|| family([0, 2, 2]));
}
