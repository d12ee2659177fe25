//! Records whether name servers answer queries for HTTPS records at all. If names come from another source,
//! or a middlebox drops unknown types, each new name would cost the resolution delay for nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of successive queries without an answer after which none is sent.
const PATIENCE: u8 = 3;
/// How long none is sent. Then one query shows whether they answer again.
const QUIET: Duration = Duration::from_secs(60);

/// The state of the servers.
#[derive(Default)]
pub struct Silence(Mutex<State>);

#[derive(Default)]
struct State {
    unanswered: u8,
    since: Option<Instant>,
}

impl Silence {
    /// Whether asking is worth while.
    pub fn is_over(&self, now: Instant) -> bool {
        let state = self.state();
        state.unanswered < PATIENCE
            || state.since.is_none_or(|since| now.saturating_duration_since(since) >= QUIET)
    }

    /// Records an answer of any content.
    pub(super) fn answered(&self) {
        *self.state() = State::default();
    }

    /// Records that nobody received an answer while waiting for it.
    pub(super) fn unanswered(&self, now: Instant) {
        let mut state = self.state();
        state.unanswered = state.unanswered.saturating_add(1).min(PATIENCE);
        state.since = Some(now);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_a_row_are_silence_for_a_minute() {
        let (silence, start) = (Silence::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        silence.unanswered(at(0));
        silence.unanswered(at(0));
        silence.answered();
        silence.unanswered(at(1));
        silence.unanswered(at(1));
        assert!(silence.is_over(at(1)), "never three in a row");
        silence.unanswered(at(2));
        assert!(!silence.is_over(at(61)) && silence.is_over(at(62)));
        silence.unanswered(at(62));
        assert!(!silence.is_over(at(121)), "one is enough after that");
        silence.answered();
        assert!(silence.is_over(at(121)));
    }
}
