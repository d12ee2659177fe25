//! Helper threads: started with every signal blocked, so that the application's handlers never run on them.

use std::io;
use std::thread::Builder;

use nix::sys::signal::{SigSet, SigmaskHow};

/// Starts a detached thread with all signals blocked. A new thread inherits the mask of its maker, hence the
/// swap.
pub fn spawn_helper(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    without_signals(|| Builder::new().name(name.to_owned()).spawn(body)).map(drop)
}

/// Starts a thread by `start` while all signals are blocked.
pub fn without_signals<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let started = start();
    before.thread_set_mask()?;
    started
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::Signal;

    #[test]
    fn helper_blocks_signals_and_maker_does_not() {
        let (sender, receiver) = std::sync::mpsc::channel();
        spawn_helper("t", move || sender.send(SigSet::thread_get_mask().unwrap()).unwrap()).unwrap();
        assert!(receiver.recv().unwrap().contains(Signal::SIGALRM));
        assert!(!SigSet::thread_get_mask().unwrap().contains(Signal::SIGALRM));
    }
}
