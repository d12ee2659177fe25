//! Values for C that are created on first use and live forever.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value created on first use, without a lock: concurrent first users each create one, and the first one
/// stored stays. There is no waiting, so a forked child never waits for a thread that only its parent has.
pub struct Lasting<T>(AtomicPtr<T>);

impl<T> Lasting<T> {
    /// A value that has not been made.
    pub const fn new() -> Lasting<T> {
        Lasting(AtomicPtr::new(ptr::null_mut()))
    }
}

impl<T: Send + Sync + 'static> Lasting<T> {
    /// Returns the value, created by `make` if none is stored yet.
    pub fn get(&self, make: impl FnOnce() -> T) -> &'static T {
        let mut known = self.0.load(Ordering::Acquire);
        if known.is_null() {
            let made = Box::into_raw(Box::new(make()));
            match self.0.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => known = made,
                Err(first) => {
                    // SAFETY: created above, and never published.
                    drop(unsafe { Box::from_raw(made) });
                    known = first;
                }
            }
        }
        // SAFETY: stored once, from a box that is never freed.
        unsafe { &*known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_come_together_find_one_value() {
        for _ in 0..100 {
            let lasting: &'static Lasting<usize> = Box::leak(Box::new(Lasting::new()));
            let threads: Vec<_> =
                (0..4).map(|n| std::thread::spawn(move || ptr::from_ref(lasting.get(|| n)).addr())).collect();
            let places: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
        }
    }
}
