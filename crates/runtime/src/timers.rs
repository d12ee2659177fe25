//! The timers of one reactor, in order of their deadlines, and the future that waits for one.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::reactor::Reactor;

/// A deadline made unique by a serial number.
pub(crate) type TimerKey = (Instant, u64);

#[derive(Default)]
pub(crate) struct Timers {
    pending: BTreeMap<TimerKey, Waker>,
    serial: u64,
}

impl Timers {
    pub(crate) fn add(&mut self, at: Instant, waker: Waker) -> TimerKey {
        self.serial += 1;
        let key = (at, self.serial);
        self.pending.insert(key, waker);
        key
    }

    /// Replaces the waker of a pending timer; false when it has fired.
    pub(crate) fn update(&mut self, key: &TimerKey, waker: &Waker) -> bool {
        match self.pending.get_mut(key) {
            Some(slot) => {
                slot.clone_from(waker);
                true
            }
            None => false,
        }
    }

    pub(crate) fn remove(&mut self, key: &TimerKey) -> Option<Waker> {
        self.pending.remove(key)
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.pending.first_key_value().map(|(key, _)| key.0)
    }

    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Waker> {
        let first = self.pending.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

/// Completes at its deadline; dropping it removes its timer.
pub struct Sleep {
    reactor: Arc<Reactor>,
    at: Instant,
    key: Option<TimerKey>,
}

impl Sleep {
    pub(crate) fn new(reactor: Arc<Reactor>, at: Instant) -> Sleep {
        Sleep { reactor, at, key: None }
    }

    /// The moment it waits for.
    pub fn deadline(&self) -> Instant {
        self.at
    }

    /// Moves the deadline; the waiting task must poll it again.
    pub fn reset(&mut self, at: Instant) {
        self.disarm();
        self.at = at;
    }

    /// Moves the deadline to `delay` from now.
    pub fn reset_after(&mut self, delay: Duration) {
        self.reset(self.reactor.now() + delay);
    }

    fn disarm(&mut self) {
        if let Some(key) = self.key.take() {
            self.reactor.remove_timer(&key);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.at <= self.reactor.now() {
            self.disarm();
            return Poll::Ready(());
        }
        if let Some(key) = self.key
            && self.reactor.update_timer(&key, cx.waker())
        {
            return Poll::Pending;
        }
        self.key = Some(self.reactor.add_timer(self.at, cx.waker().clone()));
        Poll::Pending
    }
}

/// Completes in the next run, after events were collected. For a task with much work that lets new events be
/// processed; waking itself would only give it another round of the same run.
pub struct NextRun {
    reactor: Arc<Reactor>,
    key: Option<TimerKey>,
}

impl NextRun {
    pub(crate) fn new(reactor: Arc<Reactor>) -> NextRun {
        NextRun { reactor, key: None }
    }
}

impl Future for NextRun {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &self.key {
            Some(key) if self.reactor.update_timer(key, cx.waker()) => Poll::Pending,
            Some(_) => {
                self.key = None;
                Poll::Ready(())
            }
            None => {
                self.key = Some(self.reactor.add_timer(self.reactor.now(), cx.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl Drop for NextRun {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.reactor.remove_timer(&key);
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.disarm();
    }
}
