//! The resolver's queue and its threads, in thousands of orders of their steps: src/resolver/lookup.rs
//! compiled once more, with shuttle's threads and locks and a fake clock. Every waiter gets its answer
//! (otherwise there would be a deadlock here), also while other names are stuck and queries are cancelled,
//! and no thread remains.
//!
//! `INTERLEAVINGS=n` sets how many orders of each kind are run (400). A failure prints the order to replay.

#[allow(dead_code)]
#[path = "../src/resolver/family.rs"]
mod family;
#[allow(dead_code)]
#[path = "../src/resolver/lookup.rs"]
mod lookup;

/// Small, so that they are met.
mod limits {
    pub const THREADS: usize = 2;
    pub const MOST_THREADS: usize = 4;
}

mod system {
    use super::family::{Family, LookupResult};

    pub fn ask(_: &str, _: Family) -> LookupResult {
        unreachable!("nobody asks the system here")
    }
}

mod sync {
    pub use shuttle::sync::{Arc, Mutex, MutexGuard};
    pub use std::sync::PoisonError;

    use std::cell::{Cell, RefCell};
    use std::io;
    use std::sync::LockResult;
    use std::time::Duration;

    // shuttle runs all threads of one execution on the thread that began it.
    thread_local! {
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static WAITED_FOR: RefCell<Vec<Arc<shuttle::sync::Condvar>>> = const { RefCell::new(Vec::new()) };
    }

    /// Resets the state of the previous execution.
    pub fn begin() {
        NOW.set(Duration::ZERO);
        WAITED_FOR.take();
    }

    /// Advances the clock by ten seconds, which ends all shorter waits.
    pub fn pass() {
        NOW.set(NOW.get() + Duration::from_secs(10));
        let waited_for = WAITED_FOR.with_borrow(Clone::clone);
        waited_for.iter().for_each(|condition| condition.notify_all());
    }

    #[derive(Clone, Copy)]
    pub struct Instant(Duration);

    impl Instant {
        pub fn now() -> Instant {
            Instant(NOW.get())
        }

        pub fn saturating_duration_since(self, earlier: Instant) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    /// shuttle's never times out.
    pub struct Condvar(Arc<shuttle::sync::Condvar>);

    pub struct WaitTimeoutResult(bool);

    impl WaitTimeoutResult {
        pub fn timed_out(&self) -> bool {
            self.0
        }
    }

    impl Condvar {
        pub fn new() -> Condvar {
            let condition = Arc::new(shuttle::sync::Condvar::new());
            WAITED_FOR.with_borrow_mut(|list| list.push(condition.clone()));
            Condvar(condition)
        }

        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            most: Duration,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            let since = Instant::now();
            let guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
            let is_late = Instant::now().saturating_duration_since(since) >= most;
            Ok((guard, WaitTimeoutResult(is_late)))
        }
    }

    pub fn spawn_helper(_: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        shuttle::thread::spawn(body);
        Ok(())
    }
}

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};

use family::Family;
use lookup::Resolver;
use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use shuttle::thread;
use sync::Arc;

/// Returns the answer to a name: an address with its first letter.
fn address(name: &str) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, name.as_bytes()[0]).into()
}

/// A resolver whose names that begin with "stuck" are answered when the gate is open.
fn resolver(gate: &Arc<AtomicBool>) -> Arc<Resolver> {
    sync::begin();
    let gate = gate.clone();
    Arc::new(Resolver::with_lookup(Arc::new(move |name, _| {
        while name.starts_with("stuck") && !gate.load(SeqCst) {
            thread::yield_now();
        }
        Ok(vec![(address(name), 0)])
    })))
}

fn wait_for(resolver: &Resolver, name: &str) {
    let mut ticket = resolver.ask(name, Family::V4, false).expect("threads can be started");
    let answer = block_on(poll_fn(|cx| ticket.poll(cx))).expect("every name has an answer");
    assert_eq!(*answer.0, [(address(name), 0)]);
}

/// Sends a query, polls it once and cancels it.
fn give_up(resolver: &Resolver, name: &str) {
    let mut ticket = resolver.ask(name, Family::V4, false).expect("threads can be started");
    block_on(poll_fn(|cx| {
        let _ = ticket.poll(cx);
        std::task::Poll::Ready(())
    }));
}

/// Several threads send queries; time passes until they are answered; then all threads end.
fn answers(askers: &[fn(&Resolver)]) {
    let gate = Arc::new(AtomicBool::new(false));
    let resolver = resolver(&gate);
    let left = Arc::new(AtomicUsize::new(askers.len()));
    for asker in askers {
        let (asker, resolver, left) = (*asker, resolver.clone(), left.clone());
        thread::spawn(move || {
            asker(&resolver);
            left.fetch_sub(1, SeqCst);
        });
    }
    while left.load(SeqCst) > 0 {
        sync::pass();
        resolver.hurry(); // as who waits does, four times in a second
        assert!(resolver.threads() <= limits::MOST_THREADS);
        thread::yield_now();
    }
    gate.store(true, SeqCst);
    while resolver.threads() > 0 {
        sync::pass();
        thread::yield_now();
    }
    assert_eq!(resolver.queued(), 0);
}

fn explore(body: fn()) {
    let count = std::env::var("INTERLEAVINGS").map_or(400, |text| text.parse().expect("a number"));
    shuttle::check_random(body, count);
    shuttle::check_pct(body, count, 3);
}

#[test]
fn every_question_is_answered() {
    explore(|| {
        answers(&[
            |resolver| wait_for(resolver, "a"),
            |resolver| wait_for(resolver, "a"),
            |resolver| {
                wait_for(resolver, "b");
                wait_for(resolver, "a");
            },
            |resolver| wait_for(resolver, "c"),
        ]);
    });
}

#[test]
fn abandoned_look_ups_delay_no_others() {
    explore(|| {
        answers(&[
            |resolver| give_up(resolver, "a"),
            |resolver| wait_for(resolver, "a"),
            |resolver| {
                give_up(resolver, "b");
                wait_for(resolver, "b");
            },
        ]);
    });
}

#[test]
fn stuck_names_delay_nobody() {
    explore(|| {
        answers(&[
            |resolver| give_up(resolver, "stuck"),
            |resolver| give_up(resolver, "stuck too"),
            |resolver| wait_for(resolver, "a"),
            |resolver| wait_for(resolver, "b"),
        ]);
    });
}
