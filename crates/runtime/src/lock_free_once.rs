//! Values of the process that are made on first use, without a lock.

use std::fmt;

use once_cell::race::OnceBox;

/// A value made on first use. Threads that come first together each make one, and the first to be stored
/// stays. No thread waits, so a forked child never waits for a thread that only its parent has, however many
/// forks lie between the two. A child keeps what its parent had stored before the fork.
pub struct LockFreeOnce<T>(OnceBox<T>);

impl<T> LockFreeOnce<T> {
    /// Returns an empty one.
    pub const fn new() -> LockFreeOnce<T> {
        LockFreeOnce(OnceBox::new())
    }

    /// Returns the value, made by `make` where no thread has stored one yet.
    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(|| Box::new(make()))
    }
}

impl<T> Default for LockFreeOnce<T> {
    fn default() -> LockFreeOnce<T> {
        LockFreeOnce::new()
    }
}

impl<T> fmt::Debug for LockFreeOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockFreeOnce")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A thread that never ends making its value, as one that a forked child does not have, holds up no
    /// other.
    #[test]
    fn no_thread_waits_for_another() {
        static VALUE: LockFreeOnce<u8> = LockFreeOnce::new();
        let (begun, has_begun) = mpsc::channel();
        let (end, may_end) = mpsc::channel::<()>();
        let slow = thread::spawn(move || {
            *VALUE.get(|| {
                begun.send(()).unwrap();
                let _ = may_end.recv();
                1
            })
        });
        has_begun.recv().unwrap();
        let (found, is_found) = mpsc::channel();
        thread::spawn(move || found.send(*VALUE.get(|| 2)));
        assert_eq!(is_found.recv_timeout(Duration::from_secs(20)), Ok(2));
        end.send(()).unwrap();
        assert_eq!(slow.join().unwrap(), 2, "the first to be stored stays");
    }

    #[test]
    fn threads_that_come_together_find_one_value() {
        for _ in 0..100 {
            let once: &'static LockFreeOnce<usize> = Box::leak(Box::default());
            let threads: Vec<_> =
                (0..4).map(|n| thread::spawn(move || std::ptr::from_ref(once.get(|| n)).addr())).collect();
            let places: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
        }
    }
}
