//! CURLOPT_MAX_RECV_SPEED_LARGE and CURLOPT_MAX_SEND_SPEED_LARGE: bytes are granted by the second; who
//! has used more than was granted waits until the average is met again.

use std::time::{Duration, Instant};

/// Pieces in which a second's bytes are moved.
const PIECES_PER_S: u64 = 16;

/// A direction's limit, if there is one. Few transfers have one, so it is in a box.
#[derive(Debug, Clone)]
pub struct RateLimit(Option<Box<Pace>>);

/// The pace of a limited direction.
#[derive(Debug, Clone)]
struct Pace {
    bytes_per_s: u64,
    since: Option<Instant>,
    moved: u64,
}

impl RateLimit {
    /// A limit in bytes per second; 0 is none.
    pub fn new(bytes_per_s: i64) -> RateLimit {
        let limit = u64::try_from(bytes_per_s).ok().filter(|limit| *limit > 0);
        RateLimit(limit.map(|bytes_per_s| Box::new(Pace { bytes_per_s, since: None, moved: 0 })))
    }

    /// The application may set another limit while the transfer runs, which then counts from now on; whether
    /// it did.
    pub fn adopt(&mut self, bytes_per_s: i64) -> bool {
        let changed = self.0.as_ref().map_or(0, |pace| pace.bytes_per_s) != bytes_per_s.max(0) as u64;
        if changed {
            *self = RateLimit::new(bytes_per_s);
        }
        changed
    }

    /// Returns whether there is a limit.
    pub fn limited(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the largest piece to move at once, so that the rate is smooth, also in short transfers: there
    /// is no wait after the last piece, so it costs no time.
    pub fn piece(&self, room: usize) -> usize {
        let Some(pace) = &self.0 else { return room };
        room.min(usize::try_from(pace.bytes_per_s / PIECES_PER_S).unwrap_or(usize::MAX)).max(1)
    }

    /// Records moved bytes, and returns until when to wait.
    pub fn moved(&mut self, bytes: usize, now: Instant) -> Option<Instant> {
        let pace = self.0.as_mut()?;
        let since = *pace.since.get_or_insert(now);
        pace.moved += bytes as u64;
        let due_us = u128::from(pace.moved) * 1_000_000 / u128::from(pace.bytes_per_s);
        let due = since + Duration::from_micros(due_us.min(u128::from(u32::MAX) * 1_000_000) as u64);
        (due > now).then_some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_a_sixteenth_of_a_second() {
        let rows = [
            ("CURLOPT_MAX_RECV_SPEED_LARGE(3): no limit", 0, 4096, 4096),
            ("CURLOPT_MAX_RECV_SPEED_LARGE(3): 1,600 a second", 1600, 4096, 100),
            ("CURLOPT_MAX_RECV_SPEED_LARGE(3): the buffer is smaller", 1 << 30, 4096, 4096),
            ("CURLOPT_MAX_RECV_SPEED_LARGE(3): at least one byte", 1, 4096, 1),
            ("CURLOPT_MAX_RECV_SPEED_LARGE(3): a number that is none", -5, 4096, 4096),
        ];
        for (name, limit, room, wanted) in rows {
            assert_eq!(RateLimit::new(limit).piece(room), wanted, "{name}");
        }
    }

    #[test]
    fn a_burst_after_silence_is_granted() {
        let t0 = Instant::now();
        let mut limit = RateLimit::new(100);
        assert_eq!(limit.moved(100, t0), Some(t0 + Duration::from_secs(1)), "the clock begins");
        let later = t0 + Duration::from_secs(5);
        assert_eq!(limit.moved(300, later), None, "what was granted meanwhile");
        assert_eq!(limit.moved(200, later), Some(t0 + Duration::from_secs(6)), "and no more");
    }

    #[test]
    fn a_huge_amount_makes_no_endless_wait() {
        let t0 = Instant::now();
        let mut limit = RateLimit::new(1);
        let due = limit.moved(usize::MAX, t0).unwrap();
        assert_eq!(due - t0, Duration::from_secs(u64::from(u32::MAX)), "136 years at most");
    }

    #[test]
    fn waits_for_the_average() {
        let t0 = Instant::now();
        let mut r = RateLimit::new(1000);
        assert_eq!(r.moved(500, t0), Some(t0 + Duration::from_millis(500)));
        assert_eq!(r.moved(0, t0 + Duration::from_millis(500)), None);
        assert_eq!(r.moved(1000, t0 + Duration::from_secs(1)), Some(t0 + Duration::from_millis(1500)));
        assert_eq!(RateLimit::new(0).moved(1 << 40, t0), None);
        assert_eq!(r.piece(1 << 20), 62, "a sixteenth of a second's");
        assert_eq!((RateLimit::new(3).piece(100), RateLimit::new(0).piece(100)), (1, 100));
        assert!(!r.adopt(1000) && r.adopt(10));
        assert_eq!(r.moved(10, t0), Some(t0 + Duration::from_secs(1)));
    }
}
