//! Ctrl-C while reports are still to be written: the run stops at its next step and writes them, and the
//! process then ends by the signal, as it would have without them.

use nix::sys::signal::{SigSet, Signal, raise};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Whether the signal has arrived, for threads that sleep until it does.
type State = Arc<(Mutex<bool>, Condvar)>;

/// A watch on SIGINT.
pub struct Interrupt {
    state: State,
}

impl Interrupt {
    /// Catches SIGINT from now on, and calls `wake` for it. A second one ends the process at once. Returns
    /// `None` if the signal is ignored, as in the background of a shell.
    pub fn watch(wake: impl Fn() + Send + 'static) -> Option<Interrupt> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        if is_ignored(&status) {
            return None;
        }
        // Blocked before the thread is made, which inherits that: only the wait below takes the signal.
        interrupts().thread_block().ok()?;
        let state = State::default();
        let seen = state.clone();
        let watching = Builder::new().name("interrupt".into()).spawn(move || {
            if interrupts().wait().is_err() {
                return;
            }
            *seen.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            seen.1.notify_all();
            wake();
            if interrupts().wait().is_ok() {
                end_process();
            }
        });
        if watching.is_err() {
            let _ = interrupts().thread_unblock();
            return None;
        }
        Some(Interrupt { state })
    }

    /// Returns whether the signal has arrived.
    pub fn has_come(&self) -> bool {
        *self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until the signal comes, but no longer than this.
    pub fn sleep(&self, most: Duration) {
        let come = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.state.1.wait_timeout_while(come, most, |come| !*come));
    }
}

/// Ends the process by SIGINT, so that a shell sees why it ended.
pub fn end_process() {
    let _ = interrupts().thread_unblock();
    let _ = raise(Signal::SIGINT);
}

fn interrupts() -> SigSet {
    SigSet::from(Signal::SIGINT)
}

/// Returns whether the mask of ignored signals in proc(5)'s status has SIGINT, or cannot be read.
fn is_ignored(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 << (Signal::SIGINT as u32 - 1) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals() {
        let status = |mask: &str| format!("Name:\tcurl\nSigBlk:\t0000000000000002\nSigIgn:\t{mask}\n");
        assert!(!is_ignored(&status("0000000000001000")));
        assert!(is_ignored(&status("0000000000001002")));
        assert!(is_ignored(&status("nonsense")) && is_ignored(""));
    }
}
