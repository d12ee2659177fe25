//! Rate limit for frames that make no progress: SETTINGS, PING, resets, empty DATA, priorities, useless
//! window updates. Each is legal and cheap for the sender; floods of them were used against every server and
//! client (CVE-2019-9511 to 9518, CVE-2023-44487, CVE-2024-27316 and similar).

/// This many at once.
const BURST: u32 = 10_000;
/// So many more each second.
const PER_SECOND: u64 = 330;

/// Bytes sent that allow one more such frame: a peer may update the windows of stream and connection in small
/// steps, as often as it reads.
const EARNING: usize = 512;

/// A token bucket, refilled by time and by bytes sent.
#[derive(Debug)]
pub(super) struct Calm {
    left: u32,
    /// The moment up to which it was filled.
    seen_ms: u64,
}

impl Default for Calm {
    fn default() -> Calm {
        Calm { left: BURST, seen_ms: 0 }
    }
}

impl Calm {
    /// Sets the time, in milliseconds from any fixed instant.
    pub fn set_time(&mut self, now_ms: u64) {
        let more = now_ms.saturating_sub(self.seen_ms).min(60_000) * PER_SECOND / 1000;
        if more > 0 {
            self.left = self.left.saturating_add(more as u32).min(BURST);
            self.seen_ms = now_ms;
        }
    }

    /// Returns what is left, and the time of the last refill.
    pub fn parts(&self) -> (u32, u64) {
        (self.left, self.seen_ms)
    }

    /// Returns the limit of that value; `None` if more is left than is ever granted.
    pub fn of_parts((left, seen_ms): (u32, u64)) -> Option<Calm> {
        (left <= BURST).then_some(Calm { left, seen_ms })
    }

    /// So much of bodies was sent, which the peer will acknowledge.
    pub fn earn(&mut self, sent: usize) {
        self.left = self.left.saturating_add(sent.div_ceil(EARNING) as u32).min(BURST);
    }

    /// Counts a frame that makes no progress. Returns `false` if it is one too many.
    #[must_use]
    pub fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floods_end_and_steady_ones_do_not() {
        let mut calm = Calm::default();
        assert_eq!((0..20_000).take_while(|_| calm.take()).count(), BURST as usize - 1);
        let mut calm = Calm::default();
        assert!((0..3_600_000).step_by(10).all(|ms| {
            calm.set_time(ms);
            calm.take()
        }));
    }

    #[test]
    fn window_updates_in_proportion_to_data_are_allowed() {
        let mut calm = Calm::default();
        // A body of 400 MB, read by 4 KiB; each read updates the windows of stream and connection.
        assert!((0..100_000).all(|_| {
            calm.earn(4096);
            calm.take() && calm.take()
        }));
        assert_eq!((0..20_000).take_while(|_| calm.take()).count(), BURST as usize - 3);
    }
}
