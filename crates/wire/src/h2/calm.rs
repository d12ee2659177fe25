//! How much a peer may send that moves nothing: SETTINGS, PING, resets, empty DATA, priorities, updates of
//! windows that nobody waits for. Each is legal and cheap for whom sends it; floods of them have been attacks
//! on every server and client there is (CVE-2019-9511 to 9518, CVE-2023-44487, CVE-2024-27316 and their kin).

/// This many at once.
const BURST: u32 = 10_000;
/// So many more each second.
const PER_SECOND: u64 = 330;

/// For so many bytes that were sent, one more: a peer may give back what it has read in small pieces, for the
/// stream and for the connection, as often as it reads.
const EARNING: usize = 512;

/// A bucket of patience that fills with time, and with what is sent.
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
    /// What time it is, in milliseconds from any fixed moment.
    pub fn tell(&mut self, now_ms: u64) {
        let more = now_ms.saturating_sub(self.seen_ms).min(60_000) * PER_SECOND / 1000;
        if more > 0 {
            self.left = self.left.saturating_add(more as u32).min(BURST);
            self.seen_ms = now_ms;
        }
    }

    /// So much of bodies was sent, which the peer will acknowledge.
    pub fn earn(&mut self, sent: usize) {
        self.left = self.left.saturating_add(sent.div_ceil(EARNING) as u32).min(BURST);
    }

    /// One more frame that moves nothing; `false` when it was one too many.
    #[must_use]
    pub fn bear(&mut self) -> bool {
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
        assert_eq!((0..20_000).take_while(|_| calm.bear()).count(), BURST as usize - 1);
        let mut calm = Calm::default();
        assert!((0..3_600_000).step_by(10).all(|ms| {
            calm.tell(ms);
            calm.bear()
        }));
    }

    #[test]
    fn what_is_sent_may_be_acknowledged_in_pieces() {
        let mut calm = Calm::default();
        // A body of 400 MB, read by 4 KiB; each time the stream's window and the connection's are given back.
        assert!((0..100_000).all(|_| {
            calm.earn(4096);
            calm.bear() && calm.bear()
        }));
        assert_eq!((0..20_000).take_while(|_| calm.bear()).count(), BURST as usize - 3);
    }
}
