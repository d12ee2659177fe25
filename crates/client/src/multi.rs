//! The engine's multi handle: simultaneous transfers of several [`Easy`] handles, on one thread.

use std::io;
use std::time::{Duration, Instant};

use engine::multi::Limits;
use engine::{Descriptor, ExtraFd};
use tables::{Code, MultiCode};

use crate::Easy;

/// Runs the transfers of several handles on the caller's thread.
///
/// ```no_run
/// # fn run(first: warmwire::Easy, second: warmwire::Easy) -> std::io::Result<()> {
/// let multi = warmwire::Multi::default();
/// multi.add(&first);
/// multi.add(&second);
/// while multi.perform().1 > 0 {
///     multi.wait(&mut [], std::time::Duration::from_secs(1), false)?;
/// }
/// while let Some((message, _)) = multi.next_message() {
///     println!("{:?}", message.code);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Multi(engine::Multi);

/// The end of a transfer.
pub struct Message {
    /// The handle.
    pub easy: Easy,
    /// curl's code.
    pub code: Code,
}

impl Multi {
    /// Adds a handle, whose transfer begins with the next [`perform`](Self::perform).
    pub fn add(&self, easy: &Easy) -> MultiCode {
        self.0.add(&easy.0)
    }

    /// Removes a handle. A transfer under way is cancelled.
    pub fn remove(&self, easy: &Easy) -> MultiCode {
        self.0.remove(&easy.0)
    }

    /// Runs what is ready and returns how many transfers are still running. Never blocks.
    pub fn perform(&self) -> (MultiCode, usize) {
        self.0.perform()
    }

    /// Returns the next transfer that has ended, and how many messages are left.
    pub fn next_message(&self) -> Option<(Message, usize)> {
        let (message, left) = self.0.next_message()?;
        Some((Message { easy: Easy(message.easy), code: message.code }, left))
    }

    /// Returns whether [`next_message`](Self::next_message) would return a message.
    pub fn has_messages(&self) -> bool {
        self.0.has_messages()
    }

    /// Waits at most `max` for the transfers' descriptors and for `extra`; returns how many are ready. With
    /// `may_wake` the [`waker`](Self::waker) ends the wait.
    pub fn wait(&self, extra: &mut [ExtraFd], max: Duration, may_wake: bool) -> io::Result<usize> {
        self.0.wait(extra, max, may_wake)
    }

    /// Returns a function that ends [`wait`](Self::wait) from any thread.
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        self.0.waker()
    }

    /// Returns one descriptor that is readable when there is something to [`perform`](Self::perform).
    pub fn descriptor(&self) -> io::Result<Descriptor> {
        self.0.descriptor()
    }

    /// Returns how long to wait before [`perform`](Self::perform) is due even if nothing is readable.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout()
    }

    /// Returns when the next timer expires.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }

    /// Returns how many transfers have not ended.
    pub fn running(&self) -> usize {
        self.0.running()
    }

    /// Sets which pool idle connections go to. Call it before the first transfer.
    #[cfg(feature = "download")]
    pub(crate) fn set_pool(&self, kind: engine::process_pool::Pool) {
        self.0.set_pool_kind(kind);
    }

    /// Sets the limits on the number of connections.
    pub fn set_limits(&self, limits: Limits) {
        self.0.set_limits(limits);
    }

    /// Returns the limits.
    pub fn limits(&self) -> Limits {
        self.0.limits()
    }

    /// Closes idle connections.
    pub fn close_idle(&self) {
        self.0.close_idle();
    }

    /// Cancels all transfers and closes all connections.
    pub fn close(&self) {
        self.0.close();
    }
}
