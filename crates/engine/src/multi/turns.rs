//! Runs of an application that never waits between them, counted for the report.

use std::cell::Cell;
use std::time::Instant;

use crate::outputs::report;

/// Counts runs without a wait between them.
#[derive(Default)]
pub(crate) struct Turns {
    /// Whether the application has waited, or asked how long to wait, since the last run.
    waited: Cell<bool>,
    /// Instant of the first run without a wait after it, and the number of such runs.
    unwaited: Cell<Option<(Instant, u32)>>,
}

impl Turns {
    /// Records a call that waits, or asks how long to wait.
    pub fn note_wait(&self, waits: bool) {
        self.waited.set(waits);
    }

    /// Records a run with that many transfers.
    #[cold]
    pub fn note_run(&self, running: usize) {
        let now = Instant::now();
        let before = self.unwaited.get().filter(|_| !self.waited.take() && running > 0);
        self.unwaited.set(match before {
            Some((since, count)) if count == report::BUSY => {
                report::add_busy(now.saturating_duration_since(since));
                Some((now, 1))
            }
            Some((since, count)) => Some((since, count + 1)),
            None => Some((now, 1)),
        });
    }
}
