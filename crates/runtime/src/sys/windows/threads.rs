//! Helper threads.

use std::io;
use std::thread::Builder;

/// Starts a detached thread. There are no signals to block.
pub fn spawn_helper(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Builder::new().name(name.to_owned()).spawn(body).map(drop)
}

/// Starts a thread by `start`. There are no signals to block.
pub fn without_signals<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    start()
}
