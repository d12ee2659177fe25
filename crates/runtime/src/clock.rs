//! Sources of time: the system's monotonic clock, or one that a test advances.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of moments. Clones of a manual clock show the same time.
#[derive(Clone, Debug)]
pub struct Clock(Option<Arc<Manual>>);

/// Moves the clocks made together with it.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Manual>);

#[derive(Debug)]
struct Manual {
    start: Instant,
    elapsed_ns: AtomicU64,
}

impl Clock {
    /// The system's monotonic clock.
    pub fn system() -> Clock {
        Clock(None)
    }

    /// Returns a clock that does not advance until [`ManualClock::advance`].
    pub fn manual() -> (Clock, ManualClock) {
        let manual = Arc::new(Manual { start: epoch(), elapsed_ns: AtomicU64::new(0) });
        (Clock(Some(manual.clone())), ManualClock(manual))
    }

    /// The present moment.
    pub fn now(&self) -> Instant {
        match &self.0 {
            None => Instant::now(),
            Some(manual) => manual.now(),
        }
    }

    pub(crate) fn is_manual(&self) -> bool {
        self.0.is_some()
    }
}

impl ManualClock {
    /// Moves the time forward.
    pub fn advance(&self, by: Duration) {
        let ns = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.0.elapsed_ns.fetch_add(ns, Ordering::SeqCst);
    }
}

impl Manual {
    fn now(&self) -> Instant {
        self.start + Duration::from_nanos(self.elapsed_ns.load(Ordering::SeqCst))
    }
}

/// Returns the seconds since 1970 by the system's clock, for times that are stored, sent or signed; 0 before
/// 1970.
pub fn seconds_since_1970() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// All manual clocks of a process start at the same moment, so that tests can compare them.
fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_time_moves_only_by_hand() {
        let (clock, hand) = Clock::manual();
        let before = clock.now();
        assert_eq!(clock.now(), before);
        hand.advance(Duration::from_secs(3));
        assert_eq!(clock.clone().now() - before, Duration::from_secs(3));
    }
}
