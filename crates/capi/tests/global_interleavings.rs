//! curl_global_init_mem and curl_global_cleanup by several threads, in thousands of orders of their steps:
//! src/users.rs compiled once more, with shuttle's atomics. A thread that has entered finds functions
//! installed, which nobody replaces until all have left.
//!
//! `INTERLEAVINGS=n` sets how many orders of each kind are run (400). A failure prints the order to replay.

#[allow(dead_code)]
#[path = "../src/users.rs"]
mod users;

mod sync {
    use std::cell::Cell;

    pub use shuttle::sync::atomic::{AtomicU64, AtomicUsize};
    pub use shuttle::thread::yield_now;

    // shuttle runs all threads of one execution on the thread that began it.
    thread_local! {
        pub static GENERATION: Cell<u64> = const { Cell::new(0) };
    }

    pub fn fork_generation() -> u64 {
        GENERATION.get()
    }
}

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use shuttle::sync::atomic::AtomicUsize;
use shuttle::thread;
use users::Users;

const THREADS: usize = 3;

/// The state of the process.
#[derive(Default)]
struct Process {
    users: Users,
    /// The owner of the functions in use; 0: the C library's.
    functions: AtomicUsize,
    installed: AtomicUsize,
    ends: AtomicUsize,
}

impl Process {
    fn visit(&self, number: usize) {
        self.users.enter(|| {
            self.installed.fetch_add(1, SeqCst);
            self.functions.store(number, SeqCst);
        });
        let with = self.functions.load(SeqCst);
        assert_ne!(with, 0, "came in before anything was installed");
        for _ in 0..2 {
            thread::yield_now();
            assert_eq!(self.functions.load(SeqCst), with, "a block is freed by other functions than gave it");
        }
        if self.users.leave() {
            self.ends.fetch_add(1, SeqCst);
        }
    }
}

fn explore(body: fn()) {
    let count = std::env::var("INTERLEAVINGS").map_or(400, |text| text.parse().expect("a number"));
    shuttle::check_random(body, count);
    shuttle::check_pct(body, count, 3);
}

#[test]
fn functions_are_replaced_under_nobody() {
    explore(|| {
        let process = Arc::new(Process::default());
        let running: Vec<_> = (1..=THREADS)
            .map(|number| {
                let process = process.clone();
                thread::spawn(move || process.visit(number))
            })
            .collect();
        running.into_iter().for_each(|one| one.join().unwrap());
        let (installed, ends) = (process.installed.load(SeqCst), process.ends.load(SeqCst));
        assert!(
            installed == ends && (1..=THREADS).contains(&ends),
            "{installed} first ones, {ends} last ones"
        );
        assert!(process.users.leave(), "who never counted is at its end");
    });
}

/// A child is forked while a thread of its parent installs the functions; no thread of the child completes
/// that.
#[test]
fn a_child_installs_for_itself() {
    explore(|| {
        sync::GENERATION.set(0);
        let process = Arc::new(Process::default());
        process.users.enter(|| {
            sync::GENERATION.set(1);
            let running: Vec<_> = (1..=THREADS)
                .map(|number| {
                    let process = process.clone();
                    thread::spawn(move || process.visit(number))
                })
                .collect();
            running.into_iter().for_each(|one| one.join().unwrap());
        });
        assert_eq!(process.installed.load(SeqCst), process.ends.load(SeqCst));
        sync::GENERATION.set(0);
    });
}
