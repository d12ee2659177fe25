//! A share handle used by several threads, in thousands of orders of their steps: src/share.rs compiled once
//! more, with shuttle's locks. No thread's change is lost; the application's lock is held by one thread at a
//! time whenever its data is used, released by the thread that took it, with the functions that took it; and
//! it is never requested while one of our locks is held.
//!
//! `INTERLEAVINGS=n` sets how many orders of each kind are run (400). A failure prints the order to replay.

#[allow(dead_code)]
#[path = "../src/share.rs"]
mod share;

mod sync {
    pub use shuttle::sync::{Mutex, atomic};
    pub use std::sync::Arc;

    use std::cell::Cell;

    shuttle::thread_local! {
        static HELD: Cell<usize> = Cell::new(0);
    }

    /// While it lives, this thread has a lock of ours, or is about to.
    pub struct Held;

    pub fn held() -> Held {
        HELD.with(|held| held.set(held.get() + 1));
        Held
    }

    impl Drop for Held {
        fn drop(&mut self) {
            HELD.with(|held| held.set(held.get() - 1));
        }
    }

    pub fn none_is_borrowed() {
        assert_eq!(HELD.with(Cell::get), 0, "the application is called under a lock of ours");
    }
}

mod process_pool {
    /// The pool of the process is off.
    pub fn heir() -> Option<super::sync::Arc<net::SharedPool>> {
        None
    }
}

use share::{Locks, Share};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread::{self, ThreadId};
use sync::Arc;
use tables::share::LockData;

/// An application's locks: a mutex for each kind, as C programs have them.
#[derive(Default)]
struct Application {
    owners: Mutex<Vec<(usize, ThreadId)>>,
    free: Condvar,
}

impl Locks for Application {
    fn lock(&self, data: LockData, _: usize) {
        let mut owners = self.owners.lock().unwrap();
        while owners.iter().any(|(kind, _)| *kind == data as usize) {
            owners = self.free.wait(owners).unwrap();
        }
        owners.push((data as usize, thread::current().id()));
    }

    fn unlock(&self, data: LockData, _: usize) {
        let mut owners = self.owners.lock().unwrap();
        let own = (data as usize, thread::current().id());
        let at = owners.iter().position(|one| *one == own).expect("let go by who did not take it");
        owners.swap_remove(at);
        drop(owners);
        self.free.notify_all();
    }
}

impl Application {
    fn holds(&self, data: LockData) -> bool {
        self.owners.lock().unwrap().contains(&(data as usize, thread::current().id()))
    }

    fn is_free(&self) -> bool {
        self.owners.lock().unwrap().is_empty()
    }
}

fn explore(body: fn()) {
    let count = std::env::var("INTERLEAVINGS").map_or(400, |text| text.parse().expect("a number"));
    shuttle::check_random(body, count);
    shuttle::check_pct(body, count, 3);
}

/// A cookie more, as a reply brings it.
fn keep(share: &Share, name: usize, look: impl Fn()) {
    let line = format!("Set-Cookie: n{name}=v; domain=a.example; path=/");
    share.with_cookies(name, |jar| {
        look();
        thread::yield_now();
        jar.as_mut().expect("a share has a jar").add_line(line.as_bytes(), 0).expect("a good cookie");
        thread::yield_now();
        look();
    });
}

fn cookies(share: &Share) -> usize {
    share.with_cookies(0, |jar| jar.as_ref().map_or(0, |jar| jar.cookies().count()))
}

/// Several threads, each with a number.
fn threads(count: usize, work: impl Fn(usize) + Send + Sync + 'static) {
    let work = Arc::new(work);
    let running: Vec<_> = (0..count)
        .map(|number| {
            let work = work.clone();
            thread::spawn(move || work(number))
        })
        .collect();
    running.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn no_cookie_is_lost_with_locks_and_without() {
    explore(|| {
        let share = Share::default();
        share.set_kind(LockData::Cookie, true);
        let own = share.clone();
        threads(3, move |number| (0..2).for_each(|more| keep(&own, number * 2 + more, || ())));
        assert_eq!(cookies(&share), 6);
    });
    explore(|| {
        let (share, locks) = (Share::default(), Arc::new(Application::default()));
        share.set_kind(LockData::Cookie, true);
        share.set_locks(Some(locks.clone()));
        let (own, of) = (share.clone(), locks.clone());
        threads(3, move |number| {
            let look = || assert!(of.holds(LockData::Cookie), "used without the application's lock");
            keep(&own, number, look);
            own.with_hsts(number, |_| assert!(of.holds(LockData::Hsts)));
        });
        assert_eq!(cookies(&share), 3);
        assert!(locks.is_free(), "a lock is kept");
    });
}

#[test]
fn changed_lock_functions_leave_no_lock() {
    explore(|| {
        let share = Share::default();
        share.set_kind(LockData::Cookie, true);
        let both = [(); 2].map(|()| Arc::new(Application::default()));
        share.set_locks(Some(both[0].clone()));
        let (own, second) = (share.clone(), both[1].clone());
        threads(4, move |number| match number {
            0 => own.set_locks(Some(second.clone())),
            1 => own.set_locks(None),
            _ => keep(&own, number, || ()),
        });
        share.set_locks(None);
        assert_eq!(cookies(&share), 2);
        assert!(both.iter().all(|locks| locks.is_free()), "a lock is kept");
    });
}

#[test]
fn shares_are_in_use_until_the_last_handle_leaves() {
    explore(|| {
        let share = Share::default();
        let own = share.clone();
        threads(3, move |_| {
            own.attach_handle();
            assert!(own.in_use());
            thread::yield_now();
            assert!(own.in_use());
            own.detach_handle();
        });
        assert!(!share.in_use());
    });
}
