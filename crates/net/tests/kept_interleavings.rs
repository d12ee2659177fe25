//! The cache of parsed files (trust anchors) under thousands of orders of its threads' steps:
//! src/file_cache.rs compiled with shuttle's locks and a manual clock. No caller gets a value older than its
//! request, callers share one copy while it is current, each state of a file is read once, and no wait lasts
//! forever.
//!
//! `INTERLEAVINGS=n` says how many orders (400) of each kind. A failure prints the one to be replayed.

#[path = "../src/file_cache.rs"]
#[allow(dead_code)]
mod file_cache;

mod sync {
    pub use shuttle::sync::{Arc, Mutex, MutexGuard};
    pub use std::sync::TryLockError;

    use std::cell::Cell;
    use std::time::Duration;

    // shuttle runs all threads of one execution on the thread that began it.
    thread_local! {
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static FASTER: Cell<u32> = const { Cell::new(1) };
    }

    /// Starts the clock, which runs this many times faster for waiting threads.
    pub fn begin(faster: u32) {
        NOW.set(Duration::ZERO);
        FASTER.set(faster);
    }

    #[derive(Clone, Copy)]
    pub struct Instant(Duration);

    impl Instant {
        pub fn now() -> Instant {
            Instant(NOW.get())
        }

        pub fn elapsed(&self) -> Duration {
            NOW.get() - self.0
        }
    }

    /// Lets other threads run meanwhile.
    pub fn pause(time: Duration) {
        NOW.set(NOW.get() + time * FASTER.get());
        shuttle::thread::yield_now();
    }
}

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use file_cache::FileCache;
use shuttle::thread;

/// A file whose state is a number, and a cache in front of it.
#[derive(Default)]
struct World {
    state: AtomicU64,
    reads: AtomicU64,
    kept: Option<FileCache<u8, u64, u64>>,
}

impl World {
    fn new(faster: u32) -> Arc<World> {
        sync::begin(faster);
        Arc::new(World { kept: Some(FileCache::new()), ..World::default() })
    }

    /// Returns the cached state of the file, which must not be outdated.
    fn ask(&self, keep: Option<Duration>) -> Arc<u64> {
        let before = self.state.load(SeqCst);
        let stamp = || {
            thread::yield_now();
            self.state.load(SeqCst)
        };
        let read = || {
            self.reads.fetch_add(1, SeqCst);
            thread::yield_now();
            let state = self.state.load(SeqCst);
            thread::yield_now();
            Ok::<_, Infallible>(state)
        };
        let Ok(value) = self.kept.as_ref().expect("it is there").get(&0, keep, stamp, read);
        assert!(*value >= before, "{value} was true before {before}");
        value
    }
}

fn explore(body: fn()) {
    let count = std::env::var("INTERLEAVINGS").map_or(400, |text| text.parse().expect("a number"));
    shuttle::check_random(body, count);
    shuttle::check_pct(body, count, 3);
}

#[test]
fn unchanged_files_are_read_once() {
    explore(|| {
        let world = World::new(1);
        let askers: Vec<_> = (0..4)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || world.ask(None))
            })
            .collect();
        let values: Vec<_> = askers.into_iter().map(|asker| asker.join().unwrap()).collect();
        assert!(values.iter().all(|value| Arc::ptr_eq(value, &values[0])), "two copies");
        assert_eq!(world.reads.load(SeqCst), 1);
    });
}

#[test]
fn nobody_gets_what_was_true_before() {
    explore(|| {
        let world = World::new(1);
        let changes = {
            let world = world.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    thread::yield_now();
                    world.state.fetch_add(1, SeqCst);
                }
            })
        };
        let askers: Vec<_> = (0..3)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || [world.ask(None), world.ask(None)])
            })
            .collect();
        askers.into_iter().for_each(|asker| drop(asker.join().unwrap()));
        changes.join().unwrap();
        assert_eq!(*world.ask(None), 2);
        let reads = world.reads.load(SeqCst);
        world.ask(None);
        assert_eq!(world.reads.load(SeqCst), reads, "read again for nothing");
        // Each reading is for one state that was seen, or for one that changed while it was read.
        assert!(reads <= 3, "{reads} readings of three states");
    });
}

/// A thread that is lost in a fork holds the lock forever: the others do without.
#[test]
fn lost_threads_hold_up_no_others() {
    explore(|| {
        let world = World::new(500);
        let lost = {
            let world = world.clone();
            thread::spawn(move || {
                let kept = world.kept.as_ref().expect("it is there");
                let forever = || {
                    while world.reads.load(SeqCst) < 2 {
                        thread::yield_now();
                    }
                    Ok::<_, Infallible>(9)
                };
                let _ = kept.get(&0, None, || 7, forever);
            })
        };
        world.ask(None);
        world.ask(Some(Duration::ZERO));
        lost.join().unwrap();
    });
}
