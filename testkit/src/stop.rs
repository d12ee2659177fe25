//! One signal that ends many blocked threads: a pair of which one end is closed.
//!
//! Each thread polls its own descriptor together with the other end, so that waiting costs no wake-ups.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

/// The owner's side: dropping it, or calling `stop`, ends every wait.
pub struct Stop {
    kept: Mutex<Option<OwnedFd>>,
    signal: Signal,
}

/// The waiting side.
#[derive(Clone)]
pub struct Signal(Arc<OwnedFd>);

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    Readable,
    Stopped,
    TimedOut,
}

impl Stop {
    pub fn new() -> io::Result<Stop> {
        let (end, kept) = pair()?;
        Ok(Stop { kept: Mutex::new(Some(kept)), signal: Signal(Arc::new(end)) })
    }

    pub fn signal(&self) -> Signal {
        self.signal.clone()
    }

    pub fn stop(&self) {
        self.kept.lock().expect("no thread panics while closing it").take();
    }
}

#[cfg(unix)]
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// Sockets, because nothing else can be polled there.
#[cfg(windows)]
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let kept = std::net::TcpStream::connect(listener.local_addr()?)?;
    Ok((listener.accept()?.0.into(), kept.into()))
}

/// The poll flag for an end by the peer: without RDHUP it is HUP, which is always reported.
#[cfg(unix)]
const ENDED: PollFlags = PollFlags::RDHUP;
#[cfg(windows)]
const ENDED: PollFlags = PollFlags::empty();

impl Signal {
    /// Waits until `fd` is readable, the signal is set, or `limit` has passed.
    pub fn wait(&self, fd: &impl AsFd, limit: Option<Duration>) -> Woken {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        loop {
            let mut fds = [PollFd::new(fd, PollFlags::IN), PollFd::new(&*self.0, PollFlags::IN)];
            match poll(&mut fds, limit.as_ref()) {
                Ok(0) => return Woken::TimedOut,
                Ok(_) if !fds[1].revents().is_empty() => return Woken::Stopped,
                Ok(_) => return Woken::Readable,
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return Woken::Stopped,
            }
        }
    }

    /// Waits until one of them is readable; returns which, or `None` if the signal is set.
    pub fn wait_any(&self, fds: &[BorrowedFd<'_>]) -> Option<usize> {
        loop {
            let all = fds.iter().copied().chain([self.0.as_fd()]);
            let mut all: Vec<_> = all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
            match poll(&mut all, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
                Ok(_) => {
                    let first = all.iter().rposition(|fd| !fd.revents().is_empty())?;
                    return (first < fds.len()).then_some(first);
                }
            }
        }
    }

    /// Waits until the other side has closed a connection, or the signal is set. Nothing is read.
    pub fn wait_for_end(&self, fd: &impl AsFd) {
        loop {
            let mut fds = [PollFd::new(fd, ENDED), PollFd::new(&*self.0, PollFlags::IN)];
            if !matches!(poll(&mut fds, None), Err(rustix::io::Errno::INTR)) {
                return;
            }
        }
    }

    /// Sleeps unless the signal is set; false if it was.
    pub fn sleep(&self, time: Duration) -> bool {
        self.wait(&*self.0, Some(time)) == Woken::TimedOut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn stopping_ends_a_wait_without_a_limit() {
        let stop = Stop::new().unwrap();
        let signal = stop.signal();
        let waiter = std::thread::spawn(move || {
            let quiet = TcpListener::bind("127.0.0.1:0").unwrap();
            signal.wait(&quiet, None)
        });
        stop.stop();
        assert_eq!(waiter.join().unwrap(), Woken::Stopped);
    }
}
