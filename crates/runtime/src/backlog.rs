//! Size of the send buffer on systems that report the buffer needed to fill a link and leave it to the
//! program to provide it (Windows' SIO_IDEAL_SEND_BACKLOG_QUERY). A smaller buffer fills only part of a link
//! with long delay: 64 KiB at 200 ms are 320 KB/s.

use std::time::{Duration, Instant};

/// Minimum time between two queries of the system.
const PAUSE: Duration = Duration::from_millis(100);
/// Minimum number of bytes sent between two queries: less fits into any buffer.
const WORTH_IT: usize = 64 << 10;
/// Maximum size for one socket, whatever the system reports.
const MOST: usize = 16 << 20;

/// State of one socket's buffer.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    /// Size of the buffer.
    room: usize,
    /// Bytes sent since the last query.
    sent: usize,
    asked: Option<Instant>,
}

impl Backlog {
    /// Creates the state of a socket with this buffer size.
    pub(crate) fn new(room: usize) -> Backlog {
        Backlog { room, sent: 0, asked: None }
    }

    /// Adds sent bytes and returns whether to query the system now.
    pub(crate) fn sent(&mut self, bytes: usize, now: Instant) -> bool {
        self.sent = self.sent.saturating_add(bytes);
        let rested = self.asked.is_none_or(|asked| now.saturating_duration_since(asked) >= PAUSE);
        if self.sent < WORTH_IT || !rested {
            return false;
        }
        (self.sent, self.asked) = (0, Some(now));
        true
    }

    /// Processes the system's answer and returns the size to set, if the buffer is too small. The buffer
    /// never shrinks: its content would stop the program from sending until it has been sent.
    pub(crate) fn answered(&mut self, ideal: usize) -> Option<usize> {
        let wanted = ideal.min(MOST);
        if wanted <= self.room {
            return None;
        }
        self.room = wanted;
        Some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: usize = 1 << 10;

    /// The system's ideal size, and the size that is set for it.
    type Answer = (usize, Option<usize>);

    #[test]
    fn buffers_grow_with_the_link_and_never_shrink() {
        // The buffer's size, and the answers one after the other.
        let rows: [(usize, &[Answer]); 6] = [
            (64 * K, &[(64 * K, None), (64 * K, None)]),
            (64 * K, &[(128 * K, Some(128 * K)), (256 * K, Some(256 * K)), (256 * K, None)]),
            (64 * K, &[(512 * K, Some(512 * K)), (128 * K, None), (513 * K, Some(513 * K))]),
            (64 * K, &[(0, None), (1, None), (65 * K, Some(65 * K))]),
            (64 * K, &[(u32::MAX as usize, Some(MOST)), (usize::MAX, None)]),
            (32 << 20, &[(MOST, None), (64 << 20, None)]),
        ];
        for (room, answers) in rows {
            let mut backlog = Backlog::new(room);
            for (ideal, set) in answers {
                assert_eq!(backlog.answered(*ideal), *set, "{room}: {answers:?}");
            }
        }
    }

    #[test]
    fn the_system_is_asked_seldom() {
        let start = Instant::now();
        // When how much is sent, and whether that is worth a question.
        let rows = [
            (0, 1, false),
            (0, 64 * K - 2, false),
            (0, 1, true),
            (1, 1 << 20, false),
            (99, 1 << 20, false),
            (100, 1, true),
            (300, 64 * K - 1, false),
            (10_000, 1, true),
            (10_000, usize::MAX, false),
            (10_100, usize::MAX, true),
        ];
        let mut backlog = Backlog::new(64 * K);
        for (at, bytes, due) in rows {
            let now = start + Duration::from_millis(at);
            assert_eq!(backlog.sent(bytes, now), due, "{bytes} at {at} ms");
        }
    }
}
